//! Looking at runs of the built-in agent.

use placet_core::ids::{PersonId, SessionId};
use placet_core::run::RunStarted;
use placet_core::time::Timestamp;
use placet_core::variables::Variables;
use serde::Deserialize;

use super::{View, stored};
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Params, Row};

/// The newest run of a session, as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunHead {
    /// The journal row that began it.
    pub(crate) row: u64,
    /// How often the model has spoken.
    pub(crate) turns: u32,
    /// How many messages came in meanwhile.
    pub(crate) said: u32,
    /// The journal row that ended it, when it has ended.
    pub(crate) ended: Option<u64>,
    /// The journal row that says that a person stopped it, if one did.
    pub(crate) interrupted: Option<u64>,
    /// When it has to be over, less the shift.
    until: Option<i64>,
    /// The journal row that last changed its variables.
    variables: Option<u64>,
}

impl RunHead {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            row: row.get(0)?,
            turns: row.get(1)?,
            said: row.get(2)?,
            ended: row.get(3)?,
            interrupted: row.get(4)?,
            until: row.get(5)?,
            variables: row.get(6)?,
        })
    }
}

impl View<'_> {
    /// The newest run of a session.
    pub(crate) fn run(&self, session: &SessionId) -> Result<Option<RunHead>, StoreError> {
        let sql = "SELECT row, turns, said, ended, interrupted, until, variables FROM runs
                   WHERE session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY row DESC LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_row([session.as_str()], RunHead::read).optional()
    }

    /// The sessions whose run has not ended, the longest open first.
    pub(crate) fn open_runs(&self) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT name FROM runs JOIN sessions ON sessions.id = runs.session
                   WHERE runs.ended IS NULL ORDER BY runs.row";
        self.names(sql, [])
    }

    /// Sessions, by a query for their names.
    pub(super) fn names(&self, sql: &str, params: impl Params) -> Result<Vec<SessionId>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next()? {
            sessions.push(stored(SessionId::new(row.get::<String>(0)?))?);
        }
        Ok(sessions)
    }

    /// The person a session of the built-in agent belongs to: the person who started its first run.
    pub(crate) fn run_owner(&self, session: &SessionId) -> Result<Option<PersonId>, StoreError> {
        let sql = "SELECT person FROM runs
                   WHERE session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY row LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let person: Option<Option<String>> = statement
            .query_row([session.as_str()], |row| row.get(0))
            .optional()?;
        person
            .flatten()
            .map(|person| stored(PersonId::new(person)))
            .transpose()
    }

    /// How a run began, and until when it may go on by now.
    pub(crate) fn run_started(&self, run: &RunHead) -> Result<RunStarted, StoreError> {
        let mut started: RunStarted = self.fields(run.row, "runStarted")?;
        if let Some(until) = run.until {
            started.until = Some(Timestamp::from_millis(until) + self.shift()?);
        }
        Ok(started)
    }

    /// The variables of a run's workflow, as they are now.
    pub(crate) fn run_variables(&self, run: &RunHead, started: &RunStarted) -> Result<Variables, StoreError> {
        #[derive(Deserialize)]
        struct Changed {
            after: Variables,
        }
        let workflow = started.workflow.as_ref();
        match run.variables {
            Some(row) => Ok(self.fields::<Changed>(row, "variablesChanged")?.after),
            None => Ok(workflow.map_or_else(Variables::new, |workflow| workflow.variables.clone())),
        }
    }

    /// The sessions whose open run does a call of this session's run, the longest open first.
    pub(crate) fn children(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT name FROM runs JOIN sessions ON sessions.id = runs.session
                   WHERE runs.parent = (SELECT id FROM sessions WHERE name = ?1) AND runs.ended IS NULL
                   ORDER BY runs.row";
        self.names(sql, [session.as_str()])
    }

    /// The same with their children, and theirs.
    pub(crate) fn descendants(&self, session: &SessionId) -> Result<Vec<SessionId>, StoreError> {
        let mut family = self.children(session)?;
        let mut seen = 0;
        while let Some(next) = family.get(seen).cloned() {
            family.extend(self.children(&next)?);
            seen += 1;
        }
        Ok(family)
    }

    /// The session of the run a person began, to which a session's run hands its results in the end: itself, unless its run does
    /// a call of another one.
    pub(crate) fn root_of(&self, session: &SessionId) -> Result<SessionId, StoreError> {
        let sql = "SELECT name FROM runs JOIN sessions ON sessions.id = runs.parent
                   WHERE runs.session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY runs.row DESC LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut root = session.clone();
        loop {
            let parent: Option<String> = statement
                .query_row([root.as_str()], |row| row.get(0))
                .optional()?;
            match parent {
                Some(parent) => root = stored(SessionId::new(parent))?,
                None => return Ok(root),
            }
        }
    }

    /// The session in which a person last began a run. Runs that do a call of another one are not begun by people.
    pub(crate) fn newest_run_of(&self, person: &PersonId) -> Result<Option<SessionId>, StoreError> {
        let sql = "SELECT name FROM runs JOIN sessions ON sessions.id = runs.session
                   WHERE person = ?1 AND runs.parent IS NULL ORDER BY runs.row DESC LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let name: Option<String> = statement
            .query_row([person.as_str()], |row| row.get(0))
            .optional()?;
        name.map(|name| stored(SessionId::new(name))).transpose()
    }
}
