//! Commands of a conversation. What they change goes through the broker, under the person's name, and is in the journal.

use placet_agent::ResumeError;
use placet_channels::terminal::line::{Line, Role};
use placet_core::ids::SessionId;
use placet_core::policy::Mode;
use placet_core::render::SafeText;
use placet_core::standing::StandingGrant;
use placet_core::time::Millis;
use placet_store::{Clock as _, StoreError, SystemClock};

use super::command::Command;
use super::talk::{Talk, Then};
use super::{show, words};

/// So many sessions are looked through for conversations,
const SESSIONS_SEEN_MAX: usize = 200;
/// and so many are listed.
const LISTED_MAX: usize = 10;

impl Talk {
    pub(super) async fn obey(&mut self, command: Command) -> anyhow::Result<Then> {
        match command {
            Command::Help => {
                let help = words::help(self.seated.locale).join("\n");
                self.notice(&help)?;
            }
            Command::Mode(mode) => self.change_mode(mode).await?,
            Command::Tools => self.list_tools()?,
            Command::Grants => self.list_grants().await?,
            Command::Revoke(number) => self.revoke(number).await?,
            Command::Resume(None) => self.list_conversations().await?,
            Command::Resume(Some(session)) => self.switch_to(session).await?,
            Command::New => self.begin_anew().await?,
            Command::Exit => return Ok(Then::Leave),
        }
        Ok(Then::GoOn)
    }

    async fn change_mode(&mut self, mode: Option<Mode>) -> anyhow::Result<()> {
        if let Some(mode) = mode {
            let broker = self.seated.agent.engine().broker();
            let set = broker.set_mode(&self.session, mode, &self.seated.person).await;
            if let Err(refusal) = set {
                return self.notice(&refusal.to_string());
            }
        }
        let mode = self.mode().await?;
        self.notice(&words::mode_is(mode, self.seated.locale))
    }

    fn list_tools(&mut self) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        for spec in self.seated.tools.specs() {
            let Some(tool) = self.seated.tools.get(&spec.name) else {
                continue;
            };
            let first = show::first_sentence(&spec.description);
            let name = SafeText::line(&spec.name);
            lines.push(
                Line::new(Role::Key, format!("{:<15} ", name.as_str()))
                    .and(Role::Faint, format!("{:<7} ", tool.category().as_str()))
                    .and(Role::Plain, SafeText::line(first).as_str()),
            );
        }
        lines.push(Line::default());
        self.print(&lines)
    }

    /// The standing grants in force.
    async fn in_force(&self) -> Result<Vec<(StandingGrant, u32)>, StoreError> {
        let all = self.seated.agent.engine().broker().standing().await?;
        let in_force = all.into_iter().filter_map(|(grant, uses, revoked)| {
            let used_up = grant.uses_max.is_some_and(|max| uses >= max);
            (!revoked && !used_up).then_some((grant, uses))
        });
        Ok(in_force.collect())
    }

    async fn list_grants(&mut self) -> anyhow::Result<()> {
        let (grants, locale) = (self.in_force().await?, self.seated.locale);
        if grants.is_empty() {
            return self.notice(words::no_grants(locale));
        }
        let now = SystemClock.wall();
        let mut lines = Vec::new();
        for (n, (grant, uses)) in grants.iter().enumerate() {
            let left = u64::try_from(grant.ends_at.as_millis() - now.as_millis()).unwrap_or(0);
            let covers = SafeText::line(&grant.scope.describe_in(locale));
            lines.push(
                Line::new(Role::Key, format!("{} ", n + 1))
                    .and(Role::Plain, covers.as_str())
                    .and(
                        Role::Faint,
                        format!(
                            "  {} · {} · {uses}×",
                            SafeText::line(grant.by.as_str()),
                            Millis::from_secs(left / 1000)
                        ),
                    ),
            );
        }
        lines.push(Line::default());
        self.print(&lines)
    }

    async fn revoke(&mut self, number: usize) -> anyhow::Result<()> {
        let (grants, locale) = (self.in_force().await?, self.seated.locale);
        let Some((grant, _)) = number.checked_sub(1).and_then(|at| grants.get(at)) else {
            return self.notice(words::no_such_grant(locale));
        };
        let broker = self.seated.agent.engine().broker();
        match broker.revoke_standing(&grant.id, &self.seated.person).await {
            Ok(()) => self.notice(words::revoked(locale)),
            Err(refusal) => self.notice(&refusal.to_string()),
        }
    }

    async fn list_conversations(&mut self) -> anyhow::Result<()> {
        let person = self.seated.person.clone();
        let store = self.seated.agent.engine().store();
        let found = store.read(move |view, _| {
            let mut own = Vec::new();
            for (_, session) in view.sessions_before(None, SESSIONS_SEEN_MAX)? {
                if view.run_owner(&session)?.as_ref() == Some(&person)
                    && let Some(span) = view.session_span(&session)?
                {
                    own.push((session, span.last_at));
                }
            }
            Ok(own)
        });
        let locale = self.seated.locale;
        let found: Vec<_> = found.await?;
        if found.is_empty() {
            return self.notice(words::no_others(locale));
        }
        let mut lines: Vec<Line> = found
            .into_iter()
            .take(LISTED_MAX)
            .map(|(session, last)| {
                let here = if session == self.session {
                    words::this_one(locale)
                } else {
                    ""
                };
                Line::new(Role::Key, SafeText::line(session.as_str()).as_str())
                    .and(Role::Faint, format!("  {last} {here}"))
            })
            .collect();
        lines.push(Line::default());
        self.print(&lines)
    }

    async fn switch_to(&mut self, session: SessionId) -> anyhow::Result<()> {
        match self.seated.agent.owner(&session).await? {
            Some(owner) if owner == self.seated.person => match self.seated.agent.resume(&session).await {
                Ok(()) => self.go_on_with(session).await,
                Err(ResumeError::Store(error)) => Err(error.into()),
                Err(left_alone) => self.notice(&words::left_alone(&left_alone, self.seated.locale)),
            },
            _ => self.notice(&words::not_yours(&session, self.seated.locale)),
        }
    }
}
