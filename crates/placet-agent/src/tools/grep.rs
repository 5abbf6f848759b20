//! `grep`: which lines match, in which files.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use async_trait::async_trait;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use placet_core::verdict::Decision;
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::resolved_path;
use super::unasked::Unasked;
use super::walk::{self, OUTPUT_BYTES_MAX, Start};
use super::{Tool, object, text};

/// The most lines around a match.
const CONTEXT_MAX: u64 = 20;
/// What is shown of one line.
const LINE_CHARS_MAX: usize = 400;
/// What one line may take in memory while it is searched.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Searches files.
#[derive(Clone)]
pub struct Grep {
    workspace: Workspace,
}

impl Grep {
    /// Searches in this folder. What policy would ask about is left out; until a configuration is in force, that is what asks
    /// when nothing is configured.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

/// What a search asks for.
struct Search {
    matcher: RegexMatcher,
    names: Option<GlobMatcher>,
    context: usize,
    files_only: bool,
}

impl Search {
    fn read(args: &Args) -> Result<Self, String> {
        let set = |name| args.get(name).and_then(Value::as_bool).unwrap_or(false);
        let context = args.get("context").and_then(Value::as_u64).unwrap_or(0);
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(set("ignoreCase"))
            .line_terminator(Some(b'\n'))
            .build(text(args, "pattern")?)
            .map_err(|error| format!("the pattern is no regular expression: {error}"))?;
        Ok(Self {
            matcher,
            names: args.text("glob").map(walk::pattern).transpose()?,
            context: usize::try_from(context.min(CONTEXT_MAX)).unwrap_or(0),
            files_only: set("filesOnly"),
        })
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LINE_BYTES_MAX))
            .build()
    }
}

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn description(&self) -> &'static str {
        "Searches text files for a regular expression and returns the lines as `file:line:text`. `glob` narrows it to names such \
         as `*.rs`, `context` adds lines around each match, `filesOnly` lists only the files. What `.gitignore` leaves out is \
         left out, links are not followed, and files that may hold secrets are searched only when `path` names them."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "pattern": { "type": "string", "minLength": 1 },
            "path": files::path_schema(),
            "glob": { "type": "string", "minLength": 1 },
            "ignoreCase": { "type": "boolean" },
            "context": { "type": "integer", "minimum": 0, "maximum": CONTEXT_MAX },
            "filesOnly": { "type": "boolean" },
        });
        object(&["pattern"], properties)
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.workspace.place(&call.args).await
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let (grep, call, shown) = (self.clone(), call.clone(), shown.to_vec());
        files::blocking(move || grep.search(&call, &shown)).await
    }

    fn reload(&self, config: &Config) {
        self.workspace.reload(config);
    }
}

impl Grep {
    fn search(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let wanted = Search::read(&call.args)?;
        let start = Start::new(&self.workspace, call, shown)?;
        let unasked = Unasked::new(self.workspace.in_force(), start.workspace(), call, "read")?;
        // A file that was named was judged under its name, and of a folder outside people were asked about all of it. What must
        // not be read is not searched either, even when the search is approved.
        let may_read = |file: &Path| match unasked.decide(file) {
            Decision::Allow => true,
            Decision::Ask(_) => start.is_file(file) || !start.is_inside(),
            Decision::Deny => false,
        };
        let (mut searcher, mut report) = (wanted.searcher(), Report::default());
        let went = start.files(|file| {
            let named = wanted.names.as_ref();
            if !named.is_none_or(|names| names.is_match(start.below(file))) {
                return;
            }
            if may_read(file) {
                report.search(&mut searcher, &wanted, file, &start.shown(file));
            } else {
                report.withheld += 1;
            }
        });
        if start.named_a_file() && report.withheld > 0 {
            return Err("this file was not searched: reading it is denied".into());
        }
        let mut text = report.text(&wanted);
        if let Some(note) = went.note() {
            let _ = write!(text, "\n{note}");
        }
        Ok(text)
    }
}

/// What was found so far.
#[derive(Default)]
struct Report {
    text: String,
    shown: u64,
    matches: u64,
    files: u64,
    withheld: u64,
    unreadable: u64,
}

impl Report {
    fn search(&mut self, searcher: &mut Searcher, wanted: &Search, file: &Path, name: &str) {
        let before = self.matches;
        let lines = Lines {
            report: self,
            wanted,
            name,
        };
        let outcome = resolved_path::open(file).and_then(|file| {
            if !file.metadata()?.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            searcher.search_file(&wanted.matcher, &file, lines)
        });
        if outcome.is_err() {
            self.unreadable += 1;
        }
        if before < self.matches {
            self.files += 1;
        }
    }

    fn has_room(&self) -> bool {
        self.text.len() < OUTPUT_BYTES_MAX
    }

    fn text(mut self, wanted: &Search) -> String {
        let mut notes = Vec::new();
        if self.matches == 0 {
            notes.push("[nothing matches]".to_owned());
        } else if self.shown < self.matches {
            let what = if wanted.files_only { "files" } else { "matches" };
            notes.push(format!(
                "[{} of {} {what} in {} files are shown; narrow the search]",
                self.shown, self.matches, self.files
            ));
        }
        if self.withheld > 0 {
            notes.push(format!(
                "[{} files were not searched, because reading them needs approval; name one as `path`]",
                self.withheld
            ));
        }
        if self.unreadable > 0 {
            notes.push(format!("[{} files could not be read]", self.unreadable));
        }
        self.text.push_str(&notes.join("\n"));
        self.text.trim_end().to_owned()
    }
}

/// Takes the lines of one file.
struct Lines<'a> {
    report: &'a mut Report,
    wanted: &'a Search,
    name: &'a str,
}

impl Lines<'_> {
    /// `file:12:text` for a match, `file-12-text` beside it.
    fn line(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = walk::printable(line.trim_end_matches(['\r', '\n']));
        let cut: String = line.chars().take(LINE_CHARS_MAX).collect();
        let more = if cut.len() < line.len() { " […]" } else { "" };
        let (name, number) = (self.name, number.unwrap_or(0));
        let _ = writeln!(self.report.text, "{name}{mark}{number}{mark}{cut}{more}");
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.report.matches += 1;
        if self.report.has_room() {
            self.report.shown += 1;
            if self.wanted.files_only {
                let _ = writeln!(self.report.text, "{}", self.name);
            } else {
                self.line(':', found.line_number(), found.bytes());
            }
        }
        Ok(!self.wanted.files_only)
    }

    fn context(&mut self, _: &Searcher, beside: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.report.has_room() {
            self.line('-', beside.line_number(), beside.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.report.has_room() {
            self.report.text.push_str("--\n");
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
