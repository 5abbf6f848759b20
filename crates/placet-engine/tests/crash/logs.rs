//! What a history leaves on disk beside the journal: the effects of calls, and what the worker was told.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use placet_core::call::CallDigest;
use placet_core::ids::{InteractionId, ToolName};
use placet_core::interaction::CallKey;
use placet_core::outcome::CallStatus;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The journal.
pub(crate) const DATABASE: &str = "placet.db";
/// One [`SideEffect`] a line.
pub(crate) const EFFECTS: &str = "effects.log";
/// One [`Ack`] a line.
pub(crate) const ACKS: &str = "acks.log";

/// How long every line is.
const LINE_BYTES: usize = 512;

/// A call that really ran: written between claim and result, by the call itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SideEffect {
    pub(crate) call: CallKey,
    pub(crate) tool: ToolName,
    pub(crate) grant: u32,
    /// Of the call as it ran, not as the permit says.
    pub(crate) digest: CallDigest,
}

/// Something the engine acknowledged: written after its future returned, so the journal must never lose it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ack")]
pub(crate) enum Ack {
    /// A call was parked on a question.
    Parked { call: CallKey, question: InteractionId },
    /// A call was settled at once.
    Settled { call: CallKey, status: CallStatus },
    /// A person's approval was counted.
    Voted { question: InteractionId, by: String },
    /// A person's answer decided.
    Decided {
        question: InteractionId,
        by: String,
        option: String,
    },
    /// A person's edit led to another question.
    AskedAnew {
        question: InteractionId,
        next: InteractionId,
    },
    /// A grant was claimed.
    Claimed { call: CallKey, grant: u32 },
    /// A result was taken.
    Finished { call: CallKey, grant: u32 },
    /// An agent heard that its call does not run.
    Told { call: CallKey, status: CallStatus },
}

/// A file that is only ever appended to, a line at a time.
pub(crate) struct Log(File);

impl Log {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(OpenOptions::new().append(true).create(true).open(path)?))
    }

    /// One write and one sync. A kill can cut a write short where a page of the file begins, so lines have a length that divides
    /// a page: whatever happens, a whole line is there or none of it.
    pub(crate) fn append(&self, line: &impl Serialize) -> io::Result<()> {
        let line = format!(
            "{:<width$}\n",
            serde_json::to_string(line)?,
            width = LINE_BYTES - 1
        );
        if line.len() != LINE_BYTES {
            return Err(io::Error::other(format!("more than {LINE_BYTES} bytes: {line}")));
        }
        (&self.0).write_all(line.as_bytes())?;
        self.0.sync_data()
    }
}

/// Reads the lines after byte `from`, and moves it on.
pub(crate) fn lines_after<T: DeserializeOwned>(path: &Path, from: &mut u64) -> Result<Vec<T>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(*from))?;
    let mut text = String::new();
    *from += u64::try_from(file.read_to_string(&mut text)?)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
