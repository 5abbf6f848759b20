//! Commands of a conversation. What they change goes through the broker, under the person's name, and is in the journal.

use placet_channels::terminal::line::{Line, SpanStyle};
use placet_client::Error;
use placet_core::ids::{SessionId, ToolName};
use placet_core::messages::{allow_list, talk};
use placet_core::policy::Mode;
use placet_core::render::SafeText;
use placet_core::standing::StandingGrant;
use placet_core::time::Millis;
use placet_store::{Clock as _, SystemClock};

use super::command::Command;
use super::talk::{Talk, Then};
use super::{show, words};

/// Conversations that are listed.
const LISTED_MAX: usize = 10;

impl Talk {
    pub(super) async fn run_command(&mut self, command: Command) -> anyhow::Result<Then> {
        match command {
            Command::Help => {
                self.notice(&words::help(self.seated.locale))?;
            }
            Command::Mode(mode) => self.change_mode(mode).await?,
            Command::Allow(tools) => self.allow(tools).await?,
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
            match self.client().set_mode(&self.session, mode).await {
                Err(Error::Refused(problem)) => return self.notice(&problem.detail),
                set => set?,
            }
        }
        let mode = self.mode().await?;
        self.notice(&words::mode_is(mode).say(self.seated.locale))
    }

    /// Shows which tools run unasked in this conversation, after adding these.
    async fn allow(&mut self, tools: Vec<ToolName>) -> anyhow::Result<()> {
        if !tools.is_empty() {
            match self.client().allow_tools(&self.session, tools).await {
                Err(Error::Refused(problem)) => return self.notice(&problem.detail),
                added => added?,
            }
        }
        let tools = self.client().approval_tools(&self.session).await?;
        let said = if tools.is_empty() {
            allow_list::none()
        } else {
            allow_list::listed(&tools)
        };
        self.notice(&said.say(self.seated.locale))
    }

    fn list_tools(&mut self) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        for tool in self.seated.owner.body.agent.iter().flat_map(|agent| &agent.tools) {
            let first = show::first_sentence(&tool.description);
            let name = SafeText::line(&tool.name);
            lines.push(
                Line::new(SpanStyle::Key, format!("{:<15} ", name.as_str()))
                    .and(
                        SpanStyle::Faint,
                        format!("{:<7} ", SafeText::line(&tool.category).as_str()),
                    )
                    .and(SpanStyle::Plain, SafeText::line(first).as_str()),
            );
        }
        lines.push(Line::default());
        self.print(&lines)
    }

    /// The standing grants in force.
    async fn in_force(&self) -> Result<Vec<(StandingGrant, u32)>, Error> {
        let all = self.client().grants().await?;
        let in_force = all.into_iter().filter(|row| row.state() == "inForce");
        Ok(in_force.map(|row| (row.grant, row.uses)).collect())
    }

    async fn list_grants(&mut self) -> anyhow::Result<()> {
        let (grants, locale) = (self.in_force().await?, self.seated.locale);
        if grants.is_empty() {
            return self.notice(&talk::no_grants().say(locale));
        }
        let now = SystemClock.wall();
        let mut lines = Vec::new();
        for (n, (grant, uses)) in grants.iter().enumerate() {
            let left = u64::try_from(grant.ends_at.as_millis() - now.as_millis()).unwrap_or(0);
            let covers = SafeText::line(&grant.scope.describe_in(locale));
            lines.push(
                Line::new(SpanStyle::Key, format!("{} ", n + 1))
                    .and(SpanStyle::Plain, covers.as_str())
                    .and(
                        SpanStyle::Faint,
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
            return self.notice(&talk::no_such_grant().say(locale));
        };
        match self.client().revoke(&grant.id).await {
            Ok(()) => self.notice(&talk::revoked().say(locale)),
            Err(Error::Refused(problem)) => self.notice(&problem.detail),
            Err(error) => Err(error.into()),
        }
    }

    async fn list_conversations(&mut self) -> anyhow::Result<()> {
        let locale = self.seated.locale;
        let found = self.client().conversations().await?;
        if found.is_empty() {
            return self.notice(&talk::no_others().say(locale));
        }
        let mut lines: Vec<Line> = found
            .into_iter()
            .take(LISTED_MAX)
            .map(|conversation| {
                let (session, last) = (conversation.session_id, conversation.last_at);
                let here = if session == self.session {
                    talk::this_one().say(locale)
                } else {
                    String::new()
                };
                Line::new(SpanStyle::Key, SafeText::line(session.as_str()).as_str())
                    .and(SpanStyle::Faint, format!("  {last} {here}"))
            })
            .collect();
        lines.push(Line::default());
        self.print(&lines)
    }

    async fn switch_to(&mut self, session: SessionId) -> anyhow::Result<()> {
        match self.client().resume_run(&session).await {
            Ok(_) => self.go_on_with(session).await,
            Err(Error::Refused(problem)) if problem.code == "no-such-session" => {
                self.notice(&talk::not_yours(&session).say(self.seated.locale))
            }
            Err(Error::Refused(problem)) => self.notice(&problem.detail),
            Err(error) => Err(error.into()),
        }
    }
}
