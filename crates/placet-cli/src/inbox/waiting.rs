//! Pending questions, looked up and summed up in a line.

use anyhow::{Context as _, bail};
use placet_client::{Client, Error};
use placet_core::ids::{GroupId, InteractionId, SessionId};
use placet_core::interaction::{Asked, Audience, Code, Locale};
use placet_core::messages::{self, refused};
use placet_core::question::Question;
use placet_core::render::{Block, Document, SafeText};
use placet_core::standing::{ProposedRule, Scope};
use placet_core::time::{Millis, Timestamp};
use placet_core::tool::Risk;
use placet_core::wire::local::QuestionRecord;
use placet_engine::review::{Covered, GrantPreview};
use serde_json::{Value, json};

use crate::locale;

/// One pending question.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) question: Question,
    /// What "don't ask again" may cover for the person who looks, narrowest first.
    pub(super) scopes: Vec<Scope>,
    pub(super) asked_at: Timestamp,
    pub(super) gist: SafeText,
}

impl Waiting {
    pub(super) fn asked(&self) -> &Asked {
        self.question.interaction.asked()
    }

    pub(super) fn id(&self) -> &InteractionId {
        &self.asked().id
    }

    pub(super) fn code(&self) -> Code {
        self.asked().code
    }

    pub(super) fn risk(&self) -> Option<Risk> {
        self.asked().stated_risk()
    }

    pub(super) fn session(&self) -> &SessionId {
        &self.asked().session
    }

    pub(super) fn group(&self) -> Option<(&SessionId, &GroupId)> {
        Some((self.session(), self.asked().group.as_ref()?))
    }

    /// The tool, or the kind of question.
    pub(super) fn about(&self) -> SafeText {
        match &self.question.call {
            Some(record) => SafeText::line(record.call.tool.as_str()),
            None => SafeText::line(&name_of(self.asked())),
        }
    }

    /// How long there was when it was looked up.
    pub(super) fn remaining(&self) -> Millis {
        self.asked().deadline.remaining_from(self.question.now)
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let asked = self.asked();
        let waits_for = match &asked.audience {
            Audience::Inbox => json!("inbox"),
            Audience::People(people) => json!(people),
        };
        json!({
            "requestId": asked.id,
            "code": asked.code,
            "type": asked.kind(),
            "risk": asked.stated_risk(),
            "sessionId": asked.session,
            "about": self.about(),
            "gist": self.gist,
            "group": asked.group,
            "askedAt": self.asked_at.to_string(),
            "remainingSeconds": self.remaining().get() / 1000,
            "waitsFor": waits_for,
            "quorum": asked.quorum,
        })
    }
}

fn name_of(asked: &Asked) -> String {
    let name = serde_json::to_value(asked.kind()).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// What a look-up found.
#[derive(Default)]
pub(super) struct Found {
    /// Most urgent first.
    pub(super) waiting: Vec<Waiting>,
    /// Pending questions that cannot be read.
    pub(super) damaged: Vec<InteractionId>,
}

impl Found {
    /// Says that something cannot be read, if so.
    pub(super) fn warning(&self, locale: Locale) -> Option<String> {
        let ids: Vec<_> = self.damaged.iter().map(ToString::to_string).collect();
        (!ids.is_empty()).then(|| messages::inbox::damaged(ids).say(locale))
    }
}

/// All pending questions.
pub(super) async fn all(client: &Client, locale: Locale) -> anyhow::Result<Found> {
    let records = client.pending().await?;
    let waiting = |record: QuestionRecord| Waiting {
        gist: record.question.gist(locale),
        question: record.question,
        scopes: record.scopes,
        asked_at: record.asked_at,
    };
    let mut found = Found {
        waiting: records.items.into_iter().map(waiting).collect(),
        damaged: records.damaged,
    };
    found
        .waiting
        .sort_by_key(|waiting| (waiting.asked().deadline, waiting.id().clone()));
    Ok(found)
}

/// The question meant by an id, or by a code: of one that waits, else of the newest that did.
pub(super) async fn find(client: &Client, name: &str) -> anyhow::Result<QuestionRecord> {
    if let Ok(id) = InteractionId::new(name)
        && let Some(record) = client.question(&id).await?
    {
        return Ok(record);
    }
    let named = match Code::parse(name) {
        Some(_) => client.with_code(name).await?,
        None => Vec::new(),
    };
    match named.as_slice() {
        [] => bail!(locale::error(&refused::no_request(name))),
        [id] => client
            .question(id)
            .await?
            .with_context(|| locale::say(&refused::request_gone(name))),
        several => {
            // A code is unique in its chat only.
            let ids: Vec<_> = several.iter().map(ToString::to_string).collect();
            bail!(locale::error(&refused::several_requests(ids.join(", "), name)))
        }
    }
}

/// What became of a question, in a sentence; empty while it waits.
pub(super) async fn came_to(client: &Client, id: &InteractionId, locale: Locale) -> anyhow::Result<String> {
    let record = client.question(id).await?;
    let document = record.and_then(|record| record.question.decided(locale));
    Ok(document.map(|document| heading(&document)).unwrap_or_default())
}

/// A wide scope as a person is shown it before they agree. None for a scope that no rule can say.
pub(crate) async fn preview(
    client: &Client,
    question: &Question,
    scope: &Scope,
) -> Result<Option<GrantPreview>, Error> {
    let rule = ProposedRule::new(scope.clone(), &placet_inspect::builtin());
    let (Some(mut rule), Some(record)) = (rule, &question.call) else {
        return Ok(None);
    };
    rule.add_example(&record.call.args);
    let last_week = client.last_week(&question.interaction.asked().id, scope).await?;
    Ok(last_week.map(|counted| GrantPreview {
        rule,
        last_week: Covered {
            calls: counted.calls,
            approved: counted.approved,
            refused: counted.refused,
            ..Covered::default()
        },
    }))
}

fn heading(document: &Document) -> String {
    let mut headings = document.head.iter().filter_map(|block| match block {
        Block::Heading { text, .. } => Some(text.to_string()),
        _ => None,
    });
    headings.next().unwrap_or_default()
}
