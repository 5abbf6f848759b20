//! The schema: versioned migrations, and how a connection is set up.

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::server::Server;
use crate::error::{OpenError, StoreError};

/// Our tables are in a schema of their own, so that the database can have others.
pub(crate) const SCHEMA: &str = "placet";
/// Each migration takes the schema from its index to the next version.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001.sql"),
    include_str!("../../migrations/postgres/0002.sql"),
    include_str!("../../migrations/postgres/0003.sql"),
    include_str!("../../migrations/postgres/0004.sql"),
    include_str!("../../migrations/postgres/0005.sql"),
    include_str!("../../migrations/postgres/0006.sql"),
];
/// The oldest server that is tested and that its makers still maintain.
const SERVER_MIN: i32 = 140_000;
/// Begins a transaction while which no other process writes. The number is "Plct", and 1.
pub(super) const WRITER_LOCK: &str =
    "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(1349280628, 1)";
/// After so many milliseconds the server ends the transaction of a writer that was stopped in the middle: before the writers behind it
/// give up ([`Options::busy`](crate::Options)).
const STOPPED_AFTER: u32 = 4000;
/// Held by the process that changes the format.
const MIGRATION_LOCK: &str = "BEGIN; SELECT pg_advisory_xact_lock(1349280628, 2)";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Writing: brings the schema up to date first.
    Writing,
    /// Reading, and nothing else.
    Reading,
    /// Comparing everything with what this version would have written.
    Verifying,
}

/// Connects, and checks that the server and what it holds can be used.
pub(super) async fn connect(server: &Server, purpose: Purpose) -> Result<Client, OpenError> {
    let client = server.connect().await?;
    set_up(&client, server, purpose).await?;
    Ok(client)
}

async fn set_up(client: &Client, server: &Server, purpose: Purpose) -> Result<(), OpenError> {
    let sql = "SELECT current_setting('server_version_num')::int4, current_setting('server_version')";
    let row = client.query_one(sql, &[]).await?;
    if row.try_get::<_, i32>(0)? < SERVER_MIN {
        return Err(OpenError::OldServer(row.try_get(1)?));
    }
    // A server that was told to be lax about durability is not lax with us.
    let wait = server.busy().as_millis();
    let read_only = if purpose == Purpose::Reading { "on" } else { "off" };
    let settings = format!(
        "SET search_path = {SCHEMA}; SET lock_timeout = {wait}; SET idle_in_transaction_session_timeout = {STOPPED_AFTER};
         SET default_transaction_read_only = {read_only};
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    );
    client.batch_execute(&settings).await?;
    match purpose {
        Purpose::Writing => migrate(client, server).await,
        Purpose::Reading | Purpose::Verifying => match version(client, server).await? {
            0 => Err(OpenError::EmptyDatabase(server.to_string())),
            found if found < known() => Err(OpenError::Older {
                found,
                known: known(),
            }),
            _ => Ok(()),
        },
    }
}

fn known() -> u32 {
    u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX)
}

/// The version of the schema; 0 when it is not there. Refuses a newer one, and a schema of this name that is not ours.
async fn version(client: &Client, server: &Server) -> Result<u32, OpenError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
               to_regclass($1 || '.format') IS NOT NULL";
    let row = client.query_one(sql, &[&SCHEMA]).await?;
    match (row.try_get(0)?, row.try_get(1)?) {
        (false, _) => return Ok(0),
        (true, false) => return Err(OpenError::ForeignSchema(server.to_string())),
        (true, true) => {}
    }
    let Some(found) = written_version(client).await? else {
        return Err(OpenError::ForeignSchema(server.to_string()));
    };
    if found > known() {
        return Err(OpenError::Newer {
            found,
            known: known(),
        });
    }
    Ok(found)
}

/// What the table `format` says; nothing when another program made it.
async fn written_version(client: &Client) -> Result<Option<u32>, OpenError> {
    let rows = match client.query("SELECT version FROM format", &[]).await {
        Ok(rows) => rows,
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_COLUMN) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let [only] = rows.as_slice() else { return Ok(None) };
    // A number of another type is not ours either.
    let found: Option<i64> = only.try_get(0).ok();
    Ok(found.and_then(|found| u32::try_from(found).ok()))
}

async fn migrate(client: &Client, server: &Server) -> Result<(), OpenError> {
    if version(client, server).await? == known() {
        return Ok(());
    }
    // Several processes may start at once. The one that gets the lock migrates; the others find it done.
    client.batch_execute(MIGRATION_LOCK).await?;
    let found = version(client, server).await?;
    for migration in MIGRATIONS.get(found as usize..).unwrap_or_default() {
        client.batch_execute(migration).await?;
    }
    let sql = "UPDATE format SET version = $1";
    client.execute(sql, &[&i64::from(known())]).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Store(StoreError::from(error))
    }
}
