//! Why something is risky, or never allowed: a code and its parameters.
//!
//! Each enum is a table of the catalogue ([`crate::messages`]), each variant a sentence in it and each field a parameter. A parser's
//! complaint (`error`) is in the English of its library, and every language quotes it.

#![expect(missing_docs, reason = "`messages/en/codes.toml` says each variant in words")]

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::interaction::Locale;
use crate::messages::{Explain, Message};

/// Why a fact has the risk it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Why {
    NotText { arg: String },
    TooManyCommands { count: usize },
    Doubtful(Doubt), // The line, or a part of it, cannot be read for certain.
    CommandLater { word: String },
    NoCommand { word: String },
    Does { what: String, deed: Deed },
    MayDo { name: String, deed: Deed }, // The command does this, depending on words that are not known yet.
    Evaluates { name: String, word: String },
    Variable { name: String },
    StandsIn { name: String }, // A function that could be taken for a command.
    LeadsLater { word: String },
    MaybeOutside { word: String },
    Path { path: PathConcern },
    Sql(SqlConcern),
    Url(UrlConcern),
}

/// Why no approver can allow a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ban", rename_all = "snake_case")]
pub enum Ban {
    DeletesAll { path: String },                         // `rm -r /`.
    ChangesAll { name: String, path: String },           // `chmod -R /`.
    OverwritesDisk { device: String },                   // `dd of=/dev/sda`.
    ErasesDisk { name: String, device: String },         // `mkfs /dev/sda`.
    WritesOverDisk { operator: String, device: String }, // `> /dev/sda`.
    AnswersForPeople,                                    // `placet inbox answer`.
    ForkBomb { name: String },                           // `:(){ :|:& };:`.
}

/// Why a shell line, or a command in it, cannot be read for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    TooLong,
    TooDeep,
    ControlCharacters,
    Unparsed,
    WordsUnclear,
    HiddenCommand,
    RunsVariable,
    ShellsDiffer,
    HereDocumentEnd,
    InnerUnclear,
    InnerLater,
    InnerInput,
    TooManyWords,
    TooManyValues,
}

/// What a command does that needs approval every time. Records in `programs.toml` name them, and the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    MayAnswer,
    OtherUser,
    NotFollowed,
    OtherMachine,
    RawConnection,
    RunsOrDeletes,
    SendsOrObeysFile,
    SendsFile,
    SendsFileOrRuns,
    DeletesFolders,
    DestroysContent,
    WorksOnDisks,
    TouchesOutside,
    WritesOutside,
    ChangesFolders,
    RunsAsOwner,
    ChangesProtections,
    DeletesOrWrites,
    RunsCommands,
    EndsProcesses,
    StartsOrStops,
    ChangesMounts,
    RunsLater,
    ChangesNetwork,
    ChangesUsers,
    ChangesKernel,
    ChangesPackages,
    ChangesPrograms,
    LeavesContainer,
    MountsMachine,
    ChangesContainers,
    ChangesCluster,
    ChangesInfrastructure,
    ChangesMachines,
    ChangesCloud,
    ReadsCredentials,
    ReadsCredentialsOrHistory,
    RevealsKeys,
    SettingsNameCommands,
    ChangesDestination,
    RunsArgument,
    OverwritesRemote,
    ThrowsAway,
    ChangesHistory,
    ChangesRepositoryHome,
    Publishes,
    RunsArgumentOrLeaves,
    Edits,
    ListensToNetwork,
    ProbesMachines,
    UnreadDatabase,
    LoadsCode,
    RunsOrWrites,
    ChangesMeaning,
    ChangesVariables,
    CodeLater,
    CodeOnLine,
    RunsGiven,
    RunsInput,
    TouchesCredentials,
    OpensConnection,
    ChangesGuarded,
    TouchesStartup,
}

/// What is wrong with a path, or special about the place it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathConcern {
    Outside,
    Secrets,
    RunsInGit,
    RunsAtStart,
    RunsInCi,
    RunsInBuild,
    SteersAgents,
    DriveLetter,
    Url,
    Backslash,
    NoHome,
    OtherHome,
    Empty,
    ControlCharacters,
    FileUrl,
}

/// Why a statement has the risk it has, or why SQL could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "sql", rename_all = "snake_case")]
pub enum SqlConcern {
    OneOfSeveral,
    ReachesBeyond { function: String }, // A function with effects beyond the tables.
    UnknownFunction { function: String },
    Unproven { what: String }, // An operator, a type, an option or a clause that is not known to only read.
    MayCall { name: String },  // A qualified name that PostgreSQL may take for a function.
    LocksRows,                 // `SELECT … FOR UPDATE`.
    StoresElsewhere,           // `SELECT … INTO`.
    HoldsCredentials { table: String },
    Transaction,                   // `BEGIN`, `COMMIT`, …
    MoreThanRows { verb: String }, // Structure, rights, settings or files.
    NoCondition { verb: String },
    Pragma { name: String },
    Empty,
    TooLong { bytes_max: usize },
    TooDeep,
    OddCharacter { character: String }, // A character that servers read differently, escaped.
    ExecutableComment,
    EscapedQuote,
    StringRunsOn,
    EscapedName,          // `U&"…"`.
    VariableWithBrackets, // `$a(…)`, which is one name to SQLite.
    Ambiguous,
    Trailing { token: String }, // A statement goes on after its end.
    Unparsed { error: String },
}

/// Why a URL is more than a request to some public host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "url", rename_all = "snake_case")]
pub enum UrlConcern {
    TooLong { bytes_max: usize },
    Unparsed { error: String },
    NotWeb { scheme: String },
    NameBeforeAt, // `https://good@evil`.
    Odd,          // Clients read it differently.
    Address(AddressConcern),
    Nearby, // A name without a dot.
    LocalZone { zone: String },
    WildcardZone { zone: String }, // A zone whose names stand for any address.
    InvalidName,
    OtherScript, // A name that is not written in ASCII.
}

/// Why an address is not a public host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "address", rename_all = "snake_case")]
pub enum AddressConcern {
    HandsOutCredentials,
    ThisMachine,
    Private,
    LinkLocal,
    Reserved,
    Disguised, // IPv4 in IPv6
}

impl Why {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        self.message().say(locale)
    }
}

impl Ban {
    /// In words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        self.message().say(locale)
    }
}

impl Explain for Why {
    fn message(&self) -> Message {
        Message::of("why", self)
    }
}

impl Explain for Ban {
    fn message(&self) -> Message {
        Message::of("ban", self)
    }
}

crate::display_in_english!(Why, Ban);

impl From<Doubt> for Why {
    fn from(doubt: Doubt) -> Self {
        Self::Doubtful(doubt)
    }
}
