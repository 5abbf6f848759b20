//! A question as a document: what would happen first, then why it is asked, by whom, and how to answer.

mod facts;
mod gist;

pub use gist::{GistOf, gist};

use std::borrow::Cow;

use serde_json::Value;

use super::document::{Arg, ArgValue, Block, Document, OptionLine, Weight};
use super::safe::SafeText;
use super::{diff, mask};
use crate::analysis::Location;
use crate::call::{Args, ToolCall};
use crate::canonical;
use crate::findings::Findings;
use crate::ids::PersonId;
use crate::interaction::{Asked, Edited, InteractionRequest, Locale, Subject};
use crate::messages::{Message, location, request, risk};
use crate::reply::OpenQuestion;
use crate::time::Millis;
use crate::tool::Risk;
use crate::verdict::{Reason, Verdict};

/// All that is known about a question when it is shown.
#[derive(Debug, Clone, Copy)]
pub struct QuestionView<'a> {
    /// The question.
    pub asked: &'a Asked,
    /// The call it is about, if it is about one, as the agent proposed it. What an approver changed it to is in the question.
    pub call: Option<&'a ToolCall>,
    /// Why policy asked.
    pub verdict: Option<&'a Verdict>,
    /// What the call would do, as it was found when it was proposed. Absent when an older version asked.
    pub findings: Option<&'a Findings>,
    /// How long there is.
    pub remaining: Millis,
    /// Who has approved already.
    pub votes_so_far: &'a [PersonId],
}

/// The document of a question.
pub fn question(view: &QuestionView<'_>, locale: Locale) -> Document {
    let mut writer = Writer {
        locale,
        masked: false,
    };
    let head = writer.head(view);
    let mut body = writer.body(view);
    if writer.masked {
        body.push(Block::Warning {
            text: writer.say(&request::secrets_hidden()),
        });
    }
    Document {
        locale,
        head,
        body,
        foot: writer.foot(view),
    }
}

struct Writer {
    locale: Locale,
    /// Whether a mask has been used anywhere.
    masked: bool,
}

impl Writer {
    fn say(&self, message: &Message) -> SafeText {
        SafeText::line(&message.say(self.locale))
    }

    fn field(&self, label: &Message, value: &str) -> Block {
        Block::Field {
            label: self.say(label),
            value: SafeText::line(value),
        }
    }

    fn mask<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        self.masked |= matches!(text, Cow::Owned(_));
        text
    }

    fn prose(&mut self, text: &str) -> SafeText {
        SafeText::block(&self.mask(mask::text(text)))
    }

    fn code(&mut self, text: &str) -> SafeText {
        SafeText::code_block(&self.mask(mask::command(text)))
    }

    /// A command with its secrets masked, unless that would hide which program it runs.
    fn command(&mut self, text: &str, program: Option<&String>) -> SafeText {
        let masked = mask::command(text);
        let hides = program
            .is_some_and(|program| text.contains(program.as_str()) && !masked.contains(program.as_str()));
        if hides {
            SafeText::code_block(text)
        } else {
            SafeText::code_block(&self.mask(masked))
        }
    }

    fn head(&mut self, view: &QuestionView<'_>) -> Vec<Block> {
        let mut head = vec![Block::Heading {
            text: self.heading(view),
            risk: view
                .asked
                .stated_risk()
                .filter(|_| view.call.is_some() || matches!(view.asked.subject, Subject::Request { .. })),
        }];
        head.extend(self.location(view));
        head.extend(view.verdict.map(|verdict| self.why(verdict)));
        match &view.asked.subject {
            Subject::Request { request, .. } => {
                head.push(Block::Text {
                    label: None,
                    text: self.prose(&request.message),
                });
            }
            Subject::UnknownOutcome { .. } => head.push(Block::Warning {
                text: self.say(&request::interrupted()),
            }),
            Subject::Call { .. } | Subject::Breaker { .. } => {}
        }
        match view.findings {
            Some(findings) => self.facts(findings, &mut head),
            None if view.call.is_some() => head.push(Block::Warning {
                text: self.say(&request::older_version()),
            }),
            None => {}
        }
        for evidence in &view.asked.evidence {
            head.extend(self.evidence(evidence));
        }
        self.confinement(view, &mut head);
        if let (Some(edited), Some(call)) = (edited(view.asked), view.call) {
            head.push(self.field(&request::changed_by(), edited.by.as_str()));
            head.push(self.args_diff(&call.args, &edited.args));
        }
        if let Some(args) = args_to_run(view).filter(|_| args_are_all_there_is(view)) {
            head.push(self.args(self.say(&request::arguments()), args.as_value()));
        }
        head
    }

    /// Where the call would work, on one line.
    fn location(&mut self, view: &QuestionView<'_>) -> Option<Block> {
        let Location {
            folder,
            repository,
            branch,
            database,
            host,
            environment,
        } = view.findings?.location.as_deref()?;
        let parts = [
            environment.as_ref().map(location::environment),
            host.as_ref().map(location::host),
            database.as_ref().map(location::database),
            repository.as_ref().map(location::repository),
            branch.as_ref().map(location::branch),
            folder.as_ref().map(location::folder),
        ];
        let parts: Vec<String> = parts.iter().flatten().map(|part| part.say(self.locale)).collect();
        let value = self.mask(mask::text(&parts.join(" · "))).into_owned();
        Some(self.field(&request::location(), &value))
    }

    /// What confines the call, and what it asks for beyond that. An edited call is another one, and judged without.
    fn confinement(&mut self, view: &QuestionView<'_>, head: &mut Vec<Block>) {
        let confinement = view.verdict.and_then(|verdict| verdict.confinement.as_ref());
        let Some(confinement) = confinement.filter(|_| edited(view.asked).is_none()) else {
            return;
        };
        if let Some(wants) = confinement.wants(self.locale) {
            let wants = self.mask(mask::text(&wants)).into_owned();
            head.push(self.field(&request::asks_for(), &wants));
        }
        if let Some(limits) = confinement.words(self.locale) {
            head.push(self.field(&request::confined(), &limits));
        }
    }

    /// What an approver changed, for those who must agree to the change.
    fn args_diff(&mut self, before: &Args, after: &Args) -> Block {
        let is_masked = |args: &Args| mask::json(args.as_value()) != *args.as_value();
        self.masked |= is_masked(before) || is_masked(after);
        args_diff(before, after, self.locale)
    }

    fn heading(&self, view: &QuestionView<'_>) -> SafeText {
        let tool = view.call.map_or("?", |call| call.tool.as_str());
        let text = match &view.asked.subject {
            Subject::Call { .. } => {
                return gist::GistOf::of(view)
                    .map_or_else(|| SafeText::line("?"), |of| gist::gist(&of, self.locale));
            }
            Subject::UnknownOutcome { .. } => request::may_have_run(tool).say(self.locale),
            Subject::Breaker { rejections, .. } => request::breaker(*rejections).say(self.locale),
            Subject::Request { request, .. } => request.title.clone(),
        };
        SafeText::line(&mask::text(&text))
    }

    fn body(&mut self, view: &QuestionView<'_>) -> Vec<Block> {
        let mut body = Vec::new();
        if let Some(from) = asked_by(view) {
            body.push(self.field(&request::asked_by(), &from));
        }
        if let Some(person) = &view.asked.requester {
            body.push(self.field(&request::on_behalf_of(), person.as_str()));
        }
        if let Some(call) = view.call {
            if let Some(description) = &view.asked.tool_description {
                body.push(Block::Text {
                    label: Some(self.say(&request::tool_description())),
                    text: self.prose(description),
                });
            }
            if let Some(description) = &call.description {
                body.push(Block::Text {
                    label: Some(self.say(&request::agent_note())),
                    text: self.prose(description),
                });
            }
            if !args_are_all_there_is(view) {
                let args = args_to_run(view).unwrap_or(&call.args);
                body.push(self.args(self.say(&request::arguments()), args.as_value()));
            }
        }
        if let Subject::Request { request, .. } = &view.asked.subject {
            self.request(request, &mut body);
        }
        body
    }

    /// A reason in the operator's words does not name its rule.
    fn why(&self, verdict: &Verdict) -> Block {
        let reason = verdict.reason.words(self.locale);
        let value = match (&verdict.reason, &verdict.rule) {
            (Reason::Written(_), Some(rule)) => request::written_reason(reason, rule).say(self.locale),
            _ => reason,
        };
        self.field(&request::why(), &value)
    }

    fn request(&mut self, request: &InteractionRequest, body: &mut Vec<Block>) {
        if let Some(details) = &request.details {
            body.push(Block::Text {
                label: Some(self.say(&request::details())),
                text: self.prose(details),
            });
        }
        if !request.context.is_empty() {
            body.push(self.args(
                self.say(&request::context()),
                &Value::from(request.context.clone()),
            ));
        }
    }

    /// Every argument, complete: those that name a target first, the others in canonical order.
    fn args(&mut self, label: SafeText, value: &Value) -> Block {
        let masked = mask::json(value);
        self.masked |= masked != *value;
        let mut fields: Vec<_> = masked.as_object().into_iter().flatten().collect();
        fields.sort_by(|(a, _), (b, _)| {
            let ranks = gist::rank(a).cmp(&gist::rank(b));
            ranks.then_with(|| a.encode_utf16().cmp(b.encode_utf16()))
        });
        let args = fields
            .into_iter()
            .map(|(name, value)| Arg {
                name: SafeText::line(name),
                value: match value {
                    Value::String(text) if text.contains('\n') => ArgValue::Text(SafeText::block(text)),
                    other => ArgValue::Json(SafeText::block(&pretty(other, 0))),
                },
            })
            .collect();
        Block::Args { label, args }
    }

    fn foot(&self, view: &QuestionView<'_>) -> Vec<Block> {
        let mut foot = Vec::new();
        if view.asked.quorum > 1 {
            let names: Vec<_> = view.votes_so_far.iter().map(PersonId::as_str).collect();
            let so_far = if names.is_empty() {
                String::new()
            } else {
                format!(" ({})", names.join(", "))
            };
            let value = format!("{}/{}{so_far}", names.len(), view.asked.quorum);
            foot.push(self.field(&request::approvals(), &value));
        }
        if view.asked.not_requester {
            let who = request::not_requester().say(self.locale);
            foot.push(self.field(&request::who_may_approve(), &who));
        }
        foot.push(self.options(view.asked));
        foot.push(Block::Countdown {
            label: self.say(&request::time_left()),
            remaining: view.remaining.in_seconds(),
        });
        foot
    }

    fn options(&self, asked: &Asked) -> Block {
        let question = OpenQuestion::of(asked, self.locale);
        let line = |text: Option<&str>| SafeText::line(text.unwrap_or_default());
        let options = question
            .options
            .iter()
            .map(|option| OptionLine {
                option_id: option.option_id.clone(),
                label: SafeText::line(&option.label),
                description: line(option.description.as_deref()),
                say: line(question.how_to_say(option, self.locale).as_deref()),
                // What may be left empty is not asked for where people type.
                prompt: line(option.input_prompt.as_deref().filter(|_| option.needs_text())),
                weight: match (option.is_dangerous, option.is_default) {
                    (true, _) => Weight::Dangerous,
                    (false, true) => Weight::Default,
                    (false, false) => Weight::Plain,
                },
            })
            .collect();
        Block::Options {
            code: asked.code,
            label: self.say(&request::reply()),
            options,
        }
    }
}

/// Arguments before and after a change, secrets masked.
pub(super) fn args_diff(before: &Args, after: &Args, locale: Locale) -> Block {
    let pretty = |args: &Args| serde_json::to_string_pretty(&mask::json(args.as_value())).unwrap_or_default();
    Block::Diff {
        label: SafeText::line(&request::changed_arguments().say(locale)),
        hunks: diff::hunks(&pretty(before), &pretty(after), locale),
    }
}

/// What an approver changed the call to.
fn edited(asked: &Asked) -> Option<&Edited> {
    match &asked.subject {
        Subject::Call { edited, .. } => edited.as_deref(),
        Subject::UnknownOutcome { .. } | Subject::Breaker { .. } | Subject::Request { .. } => None,
    }
}

/// The arguments an approval would let run.
fn args_to_run<'a>(view: &QuestionView<'a>) -> Option<&'a Args> {
    view.asked.edited_args().or_else(|| Some(&view.call?.args))
}

/// Where nothing could be read out of the arguments, they are themselves what would happen.
fn args_are_all_there_is(view: &QuestionView<'_>) -> bool {
    view.findings
        .is_none_or(|findings| findings.analysis.facts.is_empty())
}

fn asked_by(view: &QuestionView<'_>) -> Option<String> {
    match (view.call, &view.asked.subject) {
        (Some(call), _) => {
            let path = call.origin.agent_path.iter().map(String::as_str);
            let names: Vec<_> = std::iter::once(call.origin.agent.as_str()).chain(path).collect();
            Some(names.join(" › "))
        }
        (None, Subject::Request { agent, .. }) => Some(agent.to_string()),
        (None, _) => None,
    }
}

impl Risk {
    /// The word for it.
    pub fn label(self, locale: Locale) -> String {
        let label = match self {
            Self::Low => risk::low(),
            Self::Medium => risk::medium(),
            Self::High => risk::high(),
        };
        label.say(locale)
    }
}

/// JSON over several lines, names in canonical order.
fn pretty(value: &Value, depth: usize) -> String {
    let pad = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items
                .iter()
                .map(|item| format!("{pad}{}", pretty(item, depth + 1)))
                .collect();
            format!("[\n{}\n{end}]", items.join(",\n"))
        }
        Value::Object(fields) if !fields.is_empty() => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            let fields: Vec<_> = fields
                .into_iter()
                .map(|(name, value)| {
                    let name = canonical::to_string(&Value::from(name.as_str()));
                    format!("{pad}{name}: {}", pretty(value, depth + 1))
                })
                .collect();
            format!("{{\n{}\n{end}}}", fields.join(",\n"))
        }
        flat => canonical::to_string(flat),
    }
}
