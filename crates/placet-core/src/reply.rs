//! Reading a typed reply: what a person's message says about the questions open in their chat.
//!
//! A message is read as a whole, never by substring: it is one of the forms below or it is something else. Keyword search
//! is how "不执行", "not ok" and "why?" came to approve things elsewhere.
//!
//! | form | example |
//! |---|---|
//! | a word | `yes`, `批准`, `no`, `跳过`, `stop` |
//! | a word and a code, in either order | `yes K7QP`, `K7QP yes`, `批准 #K7QP` |
//! | a refusal with its reason | `no: it is production`, `拒绝 K7QP 太危险` |
//! | feedback | `retry K7QP: use mv`, `重试：先备份` |
//! | an option by number, id or label | `2`, `K7QP 2`, `blue` |
//! | all of them | `approve all`, `全部批准`, `reject all` |
//! | free text, when one question asks for it | `the staging database` |
//! | any of these after our own name | `@placet yes` |
//!
//! **Invariant.** A tool runs only on a yes-word of the table in [`words`], alone or with one code: appending or
//! prepending anything else makes the message something else, which approves nothing. "@wei ok" is said to wei: it answers
//! nothing and refuses nothing.

use crate::interaction::{Action, Asked, Code, InteractionKind, InteractionOption, Locale, Subject};

mod normal;
mod pick;
pub mod words;

#[cfg(test)]
mod tests;

use normal::Addressee;
use pick::Pick;
use words::Meaning;

/// A question this person may answer in this chat.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenQuestion {
    /// By what it is named.
    pub code: Code,
    /// Which kind: it decides whether words, numbers or free text answer it.
    pub kind: InteractionKind,
    /// The ways to answer, in the order shown.
    pub options: Vec<InteractionOption>,
}

/// What a message says. Only [`Reading::Choose`] and [`Reading::ChooseAll`] answer anything.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// An answer to one question.
    Choose {
        /// Which question.
        code: Code,
        /// How that is known.
        meant: Meant,
        /// Which of its options.
        option_id: String,
        /// What they add, in their own words.
        feedback: Option<String>,
    },
    /// The same answer to every open question that offers it. The caller leaves out what must not be approved in bulk
    /// (risk HIGH): a person who says "all" has not looked at each.
    ChooseAll {
        /// What is meant.
        action: Action,
        /// Each question with its option.
        choices: Vec<(Code, String)>,
        /// What they add, in their own words.
        feedback: Option<String>,
    },
    /// An answer, but to which question or with which option is not clear: show these again and ask.
    WhichOne {
        /// The questions it may mean.
        codes: Vec<Code>,
    },
    /// An answer to a question that is not open (any more). It answers nothing else instead.
    UnknownCode {
        /// The code they gave.
        given: Code,
    },
    /// Anything else: by `on_other_reply` a refusal with this reason, or a message for the agent.
    Other {
        /// What they wrote.
        text: String,
    },
    /// It starts with another name: an answer to them, not to us, and no refusal either.
    ToAnother,
    /// No question is open; the message is not for us.
    NothingOpen,
}

/// How it is known which question an answer is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// They named it by its code.
    Named,
    /// It was the only one of those given that could be.
    OnlyOne,
}

impl OpenQuestion {
    /// The question as it was asked in `locale`.
    pub fn of(asked: &Asked, locale: Locale) -> Self {
        let kind = match &asked.subject {
            Subject::Call { .. } => InteractionKind::ToolApproval,
            // A bare "yes" to "it may have happened" could mean "it did" as well as "run it": these want the option.
            Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => InteractionKind::Custom,
            Subject::Request { request, .. } => request.kind,
        };
        Self {
            code: asked.code,
            kind,
            options: asked.options(locale),
        }
    }
}

/// Reads a whole message against the questions this person may answer in this chat, where we go by `own_names`.
pub fn read(text: &str, open: &[OpenQuestion], own_names: &[&str]) -> Reading {
    let text = text.trim();
    let text = match normal::addressee(text, own_names) {
        Addressee::Nobody => text,
        Addressee::Us(rest) => rest,
        Addressee::Another => return Reading::ToAnother,
    };
    let phrases = phrases(text);
    if open.is_empty() {
        let stale = phrases
            .iter()
            .find_map(|phrase| unknown_code(phrase, Suspicion::Certain));
        return stale.unwrap_or(Reading::NothingOpen);
    }
    phrases
        .iter()
        .find_map(|phrase| read_phrase(phrase, open))
        .or_else(|| free_text(text, open))
        .unwrap_or_else(|| Reading::Other {
            text: text.to_owned(),
        })
}

/// One way to take a message apart: what is said, and what is added in the person's own words.
struct Phrase<'t> {
    form: Form,
    said: String,
    feedback: Option<&'t str>,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The message, and nothing but it.
    Whole,
    /// `said: feedback`.
    Colon,
    /// `word CODE feedback`; only the code tells it from a sentence.
    Coded,
}

/// The ways to take a message apart, the plainest first.
fn phrases(text: &str) -> Vec<Phrase<'_>> {
    let colon = text
        .split_once([':', '：'])
        .map(|(said, rest)| (Form::Colon, said, rest.trim()));
    let coded = normal::after_two_words(text).map(|(said, rest)| (Form::Coded, said, rest));
    [Some((Form::Whole, text, "")), colon, coded]
        .into_iter()
        .flatten()
        .filter(|(form, _, rest)| *form == Form::Whole || !rest.is_empty())
        .filter_map(|(form, said, rest)| {
            let said = normal::line(said)?;
            let feedback = (!rest.is_empty()).then_some(rest);
            Some(Phrase { form, said, feedback })
        })
        .collect()
}

fn read_phrase(phrase: &Phrase<'_>, open: &[OpenQuestion]) -> Option<Reading> {
    if let Some(meaning) = words::meaning_for_all(&phrase.said) {
        return choose_all(meaning, phrase, open);
    }
    for (code, said, _) in normal::codes(&phrase.said) {
        if let Some(question) = open.iter().find(|question| question.code == code) {
            return in_question(question, said, phrase.feedback);
        }
    }
    let suspicion = match phrase.form {
        Form::Whole => Suspicion::Likely,
        Form::Colon | Form::Coded => Suspicion::Certain,
    };
    unknown_code(phrase, suspicion).or_else(|| match phrase.form {
        Form::Whole | Form::Colon => without_code(phrase, open),
        Form::Coded => None,
    })
}

/// How sure we must be that four letters are meant as a code: "no need" is not about a question NEED.
#[derive(Clone, Copy, PartialEq)]
enum Suspicion {
    Likely,
    Certain,
}

fn unknown_code(phrase: &Phrase<'_>, suspicion: Suspicion) -> Option<Reading> {
    normal::codes(&phrase.said)
        .into_iter()
        .find(|(_, said, written)| {
            let certain = written.starts_with('#') || written.contains(|c: char| c.is_ascii_digit());
            words::meaning(said).is_some() && (certain || suspicion == Suspicion::Likely)
        })
        .map(|(given, ..)| Reading::UnknownCode { given })
}

/// The person named the question.
fn in_question(question: &OpenQuestion, said: &str, feedback: Option<&str>) -> Option<Reading> {
    match question.pick(said, feedback) {
        Some(Pick::Option(option)) => Some(question.choose(option, Meant::Named, feedback)),
        Some(Pick::Unclear) => Some(Reading::WhichOne {
            codes: vec![question.code],
        }),
        None if said.is_empty() && feedback.is_none() => Some(Reading::WhichOne {
            codes: vec![question.code],
        }),
        None => None,
    }
}

/// The person did not name a question, which is enough when only one can be meant.
fn without_code(phrase: &Phrase<'_>, open: &[OpenQuestion]) -> Option<Reading> {
    let mut taking = open.iter().filter_map(|question| {
        let pick = question.pick(&phrase.said, phrase.feedback)?;
        Some((question, pick))
    });
    let (question, pick) = taking.next()?;
    // "yes" and "no" could be meant for any open question, even one that does not offer them.
    let only = open.len() == 1 || (words::meaning(&phrase.said).is_none() && taking.next().is_none());
    match pick {
        Pick::Option(option) if only => Some(question.choose(option, Meant::OnlyOne, phrase.feedback)),
        Pick::Option(_) | Pick::Unclear => Some(Reading::WhichOne {
            codes: codes_of(open),
        }),
    }
}

fn choose_all(meaning: Meaning, phrase: &Phrase<'_>, open: &[OpenQuestion]) -> Option<Reading> {
    if meaning == Meaning::Approve && phrase.feedback.is_some() {
        return None;
    }
    let choices: Vec<_> = open
        .iter()
        .filter_map(|question| match question.pick_meaning(meaning) {
            Pick::Option(option) => Some((question.code, option.option_id.clone())),
            Pick::Unclear => None,
        })
        .collect();
    if choices.is_empty() {
        return Some(Reading::WhichOne {
            codes: codes_of(open),
        });
    }
    Some(Reading::ChooseAll {
        action: meaning.action(),
        choices,
        feedback: phrase.feedback.map(str::to_owned),
    })
}

/// A text for the one question that asks for a text.
fn free_text(text: &str, open: &[OpenQuestion]) -> Option<Reading> {
    if text.is_empty() {
        return None;
    }
    let given = |question: &OpenQuestion, meant, text: &str| {
        Some(question.choose(question.text_option()?, meant, Some(text.trim())))
    };
    if let Some((first, rest)) = text.split_once(|c: char| c.is_whitespace() || matches!(c, ':' | '：'))
        && let Some(code) = Code::parse(first.trim_start_matches('#'))
        && let Some(question) = open.iter().find(|question| question.code == code)
    {
        return given(question, Meant::Named, rest.trim_start_matches([':', '：', ' ']));
    }
    let mut asking = open.iter().filter(|question| question.text_option().is_some());
    match (asking.next(), asking.next()) {
        (Some(question), None) => given(question, Meant::OnlyOne, text),
        _ => None,
    }
}

fn codes_of(open: &[OpenQuestion]) -> Vec<Code> {
    open.iter().map(|question| question.code).collect()
}

impl OpenQuestion {
    fn choose(&self, option: &InteractionOption, meant: Meant, feedback: Option<&str>) -> Reading {
        Reading::Choose {
            code: self.code,
            meant,
            option_id: option.option_id.clone(),
            feedback: feedback.map(str::to_owned),
        }
    }
}
