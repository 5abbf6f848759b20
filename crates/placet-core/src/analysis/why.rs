//! Why something is risky, or never allowed: values, which `words` and `phrases` say in the reader's language.
//!
//! What is quoted in backticks comes from the call. What a parser of a library complains about is in its own English, and is
//! quoted as such.

mod phrases;
#[cfg(test)]
pub(super) mod tests;
mod words;

pub use self::phrases::{AddressConcern, Deed, Doubt, PathConcern, UrlOddity};

/// Why a fact has the risk it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// An argument that should be a text is something else.
    NotText {
        /// Its name.
        arg: String,
    },
    /// A shell line of too many commands.
    TooManyCommands(usize),
    /// The line, or a part of it, cannot be read for certain.
    Doubtful(Doubt),
    /// Which command it is depends on what happens before.
    CommandLater {
        /// As written.
        word: String,
    },
    /// In the place of a command stands something else.
    NoCommand {
        /// As written.
        word: String,
    },
    /// The command, or the word, does this.
    Does {
        /// The command's name, or the word.
        what: String,
        /// What it does.
        deed: Deed,
    },
    /// The command may do this, once all its words are known.
    MayDo {
        /// Its name.
        name: String,
        /// What it may do.
        deed: Deed,
    },
    /// An operator that another shell reads differently here.
    OperatorInTest {
        /// The operator.
        operator: String,
        /// Where.
        inside: String,
    },
    /// A builtin that evaluates a text as code.
    Evaluates {
        /// The builtin.
        name: String,
        /// The text.
        word: String,
    },
    /// A variable that changes what other commands run.
    Variable {
        /// Its name.
        name: String,
    },
    /// A function that could be taken for a command.
    StandsIn {
        /// Its name.
        name: String,
    },
    /// Where a redirection leads depends on what happens before.
    LeadsLater {
        /// As written.
        word: String,
    },
    /// A redirection may leave the workspace.
    MaybeOutside {
        /// As written.
        word: String,
    },
    /// Something about a path.
    Path(PathConcern),
    /// Something about SQL.
    Sql(SqlConcern),
    /// Something about a URL.
    Url(UrlConcern),
}

/// Why a statement has the risk it has, or why SQL could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlConcern {
    /// It changes something, and is not alone.
    OneOfSeveral,
    /// A function with effects beyond the tables.
    ReachesBeyond {
        /// The function.
        function: String,
    },
    /// A function nobody here knows.
    UnknownFunction {
        /// The function.
        function: String,
    },
    /// An operator, a type, an option or a clause that is not known to only read.
    Unproven {
        /// As it is written.
        what: String,
    },
    /// `SELECT … FOR UPDATE`.
    LocksRows,
    /// `SELECT … INTO`.
    StoresElsewhere,
    /// A table of passwords or keys.
    HoldsCredentials {
        /// The table.
        table: String,
    },
    /// `BEGIN`, `COMMIT`, …
    Transaction,
    /// Structure, rights, settings or files.
    MoreThanRows {
        /// The statement's first word.
        verb: String,
    },
    /// All rows of a table.
    NoCondition {
        /// `UPDATE`, `DELETE` or `MERGE`.
        verb: String,
    },
    /// A setting of the database.
    Pragma {
        /// Its name.
        name: String,
    },
    /// There is nothing in the text.
    Empty,
    /// More text than is read.
    TooLong {
        /// The most that is.
        bytes_max: usize,
    },
    /// Deeper than is followed.
    TooDeep,
    /// A character that servers read differently.
    OddCharacter(char),
    /// A comment that is none to one server.
    ExecutableComment,
    /// A quote that ends a string for one server and not for another.
    EscapedQuote,
    /// A string right after a string.
    StringRunsOn,
    /// `U&"…"`, a name in escapes.
    EscapedName,
    /// `$a(…)`, which is one name to SQLite.
    VariableWithBrackets,
    /// The dialects read it differently.
    Ambiguous,
    /// A statement goes on after its end.
    Trailing {
        /// What follows.
        token: String,
    },
    /// The parser gave up.
    Unparsed {
        /// In the parser's own words.
        error: String,
    },
}

/// Why a URL is more than a request to some public host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UrlConcern {
    /// More text than is read.
    TooLong {
        /// The most that is.
        bytes_max: usize,
    },
    /// The parser gave up.
    Unparsed {
        /// In the parser's own words.
        error: String,
    },
    /// Neither `http` nor `https`.
    NotWeb {
        /// What it is instead.
        scheme: String,
    },
    /// `https://good@evil`.
    NameBeforeAt,
    /// Clients do not agree on where it leads.
    Odd(UrlOddity),
    /// Something about the address.
    Address(AddressConcern),
    /// A name without a dot.
    Nearby,
    /// A zone of names nearby.
    LocalZone {
        /// The zone.
        zone: String,
    },
    /// A zone whose names stand for any address.
    WildcardZone {
        /// The zone.
        zone: String,
    },
    /// A name that is none.
    InvalidName,
    /// A part of the name in several scripts.
    MixedScripts {
        /// The part.
        label: String,
    },
    /// A part of the name that looks like another.
    LookAlike {
        /// The part.
        label: String,
    },
}

/// Why nobody may allow a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ban {
    /// `rm -r /`.
    DeletesAll {
        /// As written.
        path: String,
    },
    /// `chmod -R /`.
    ChangesAll {
        /// The command.
        name: String,
        /// As written.
        path: String,
    },
    /// `dd of=/dev/sda`.
    OverwritesDisk {
        /// The disk.
        device: String,
    },
    /// `mkfs /dev/sda`.
    ErasesDisk {
        /// The command.
        name: String,
        /// The disk.
        device: String,
    },
    /// `> /dev/sda`.
    WritesOverDisk {
        /// The operator.
        operator: String,
        /// As written.
        device: String,
    },
    /// `placet inbox answer`.
    AnswersForPeople,
    /// `:(){ :|:& };:`.
    ForkBomb {
        /// The function.
        name: String,
    },
}

impl From<Doubt> for Why {
    fn from(doubt: Doubt) -> Self {
        Self::Doubtful(doubt)
    }
}
