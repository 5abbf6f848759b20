//! Reads the catalogue of sentences (`messages/`, a folder per language) and writes it as code: the languages, their sentences as data, and
//! one typed function per sentence.
//!
//! Everything that knows which languages there are comes from here, so that a folder is all a language needs.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::sentence::{self, Kind, Piece};

/// The language that says which parameters a sentence has, and of what kind. The first in the list.
const REFERENCE: &str = "en";

/// Files whose sentences are looked up by a value's code or by a path, and so have no functions.
const LOOKED_UP: [&str; 5] = ["codes", "format", "help", "reply", "web"];

/// By id: the file it stands in, and the sentence.
type Sentences = BTreeMap<String, (String, Vec<Piece>)>;

/// By table: key, id and sentence.
type Tables<'s> = BTreeMap<&'s str, Vec<(&'s str, &'s str, &'s [Piece])>>;

/// What `[language]` in `format.toml` says of a language, and its sentences.
struct Language {
    /// The folder: `zh`.
    folder: String,
    sentences: Sentences,
}

impl Language {
    fn about(&self, key: &str) -> Result<&str, Box<dyn Error>> {
        match self.sentences.get(&format!("language.{key}")) {
            Some((_, pieces)) => match pieces.as_slice() {
                [Piece::Text(text)] => Ok(text),
                _ => Err(format!("`language.{key}` in messages/{} has parameters", self.folder).into()),
            },
            None => Err(format!("messages/{}/format.toml needs `{key}` in [language]", self.folder).into()),
        }
    }
}

/// The code for the languages in the folders of `root`.
pub(crate) fn generate(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut languages = Vec::new();
    for path in entries(root)? {
        languages.push(Language {
            folder: name(&path)?,
            sentences: read(&path)?,
        });
    }
    languages.sort_by_key(|language| language.folder != REFERENCE);
    let (reference, others) = languages.split_first().ok_or("messages/ is empty")?;
    if reference.folder != REFERENCE {
        return Err(format!("messages/{REFERENCE} is missing").into());
    }
    for other in others {
        compare(&other.folder, &reference.sentences, &other.sentences)?;
    }
    let mut code = locale(&languages)?;
    writeln!(code, "pub(super) const LANGUAGES: &[Language] = &[")?;
    for Language { folder, sentences } in &languages {
        writeln!(code, "Language {{ tag: {folder:?}, sentences: &[")?;
        for (id, (_, pieces)) in sentences {
            let pieces: Vec<String> = pieces.iter().map(data).collect();
            writeln!(code, "({id:?}, &[{}]),", pieces.join(", "))?;
        }
        writeln!(code, "] }},")?;
    }
    writeln!(code, "];")?;
    functions(&mut code, &reference.sentences)?;
    Ok(code)
}

/// `enum Locale` with a variant per language.
fn locale(languages: &[Language]) -> Result<String, Box<dyn Error>> {
    let (mut variants, mut tags, mut all) = (String::new(), String::new(), String::new());
    for language in languages {
        let (folder, variant, tag) = (
            &language.folder,
            language.about("variant")?,
            language.about("tag")?,
        );
        let is_name = variant.starts_with(|c: char| c.is_ascii_uppercase())
            && variant.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_name {
            return Err(
                format!("`{variant}` in messages/{folder}/format.toml is not a name for a variant").into(),
            );
        }
        let alias = if tag == folder {
            String::new()
        } else {
            format!(", alias = {tag:?}")
        };
        writeln!(
            variants,
            "/// {}, `messages/{folder}`.\n#[serde(rename = {folder:?}{alias})]\n{variant},",
            language.about("name")?
        )?;
        writeln!(tags, "Self::{variant} => {folder:?},")?;
        write!(all, "Self::{variant}, ")?;
    }
    let count = languages.len();
    Ok(format!(
        "/// A language people are asked in: a folder of `messages/`.\n\
         #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]\n\
         pub enum Locale {{\n{variants}}}\n\
         impl Locale {{\n\
         /// Every language.\n\
         pub const ALL: [Self; {count}] = [{all}];\n\
         /// Its folder under `messages/`.\n\
         pub const fn tag(self) -> &'static str {{ match self {{\n{tags}}} }}\n\
         }}\n"
    ))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> Result<String, Box<dyn Error>> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    Ok(stem.ok_or("a name under messages/ is not UTF-8")?.to_owned())
}

/// The sentences of a language.
fn read(folder: &Path) -> Result<Sentences, Box<dyn Error>> {
    let mut sentences = Sentences::new();
    for path in entries(folder)? {
        let file = name(&path)?;
        let table: toml::Table = fs::read_to_string(&path)?
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        collect(&mut sentences, &file, "", table)?;
    }
    Ok(sentences)
}

fn collect(
    sentences: &mut Sentences,
    file: &str,
    above: &str,
    table: toml::Table,
) -> Result<(), Box<dyn Error>> {
    for (key, value) in table {
        let id = if above.is_empty() {
            key
        } else {
            format!("{above}.{key}")
        };
        match value {
            toml::Value::Table(inner) => collect(sentences, file, &id, inner)?,
            toml::Value::String(text) if !text.trim().is_empty() => {
                let sentence = (file.to_owned(), sentence::pieces(&text));
                if sentences.insert(id.clone(), sentence).is_some() {
                    return Err(format!("`{id}` stands twice under messages/").into());
                }
            }
            _ => return Err(format!("`{id}` in {file}.toml is not a sentence").into()),
        }
    }
    Ok(())
}

/// Every language has the same sentences, in files of the same names, with parameters of the same names and kinds.
fn compare(tag: &str, reference: &Sentences, own: &Sentences) -> Result<(), Box<dyn Error>> {
    let ids = |sentences: &Sentences| sentences.keys().cloned().collect::<BTreeSet<_>>();
    let (wanted, found) = (ids(reference), ids(own));
    if let Some(id) = wanted.symmetric_difference(&found).next() {
        return Err(format!("`{id}` is in only one of messages/{REFERENCE} and messages/{tag}").into());
    }
    for (id, (file, pieces)) in reference {
        let Some((own_file, own_pieces)) = own.get(id) else {
            continue;
        };
        if file != own_file {
            return Err(format!("`{id}` is in {file}.toml and in {tag}/{own_file}.toml").into());
        }
        let (kinds, own_kinds) = (sentence::parameters(pieces), sentence::parameters(own_pieces));
        if kinds != own_kinds || nested(pieces) != nested(own_pieces) {
            return Err(format!(
                "`{id}` has other parameters in {tag} than in {REFERENCE}: {own_kinds:?} and {kinds:?}"
            )
            .into());
        }
    }
    Ok(())
}

fn nested(pieces: &[Piece]) -> BTreeSet<&str> {
    let tables = pieces.iter().filter_map(|piece| match piece {
        Piece::Nested(table) => Some(table.as_str()),
        _ => None,
    });
    tables.collect()
}

/// A piece as a constant.
fn data(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => format!("Piece::Text({text:?})"),
        Piece::Parameter(name, kind) => format!("Piece::Parameter({name:?}, Kind::{kind:?})"),
        Piece::Plural(name, one, other) => format!("Piece::Plural({name:?}, {one:?}, {other:?})"),
        Piece::Nested(table) => format!("Piece::Nested({table:?})"),
    }
}

/// One function per sentence, in a module per table.
fn functions(code: &mut String, sentences: &Sentences) -> Result<(), Box<dyn Error>> {
    let mut tables = Tables::new();
    for (id, (file, pieces)) in sentences {
        if LOOKED_UP.contains(&file.as_str()) {
            continue;
        }
        let (table, key) = id
            .split_once('.')
            .ok_or_else(|| format!("`{id}` is in no table"))?;
        if key.contains('.') {
            return Err(format!("`{id}` is nested too deeply").into());
        }
        tables.entry(table).or_default().push((key, id, pieces));
    }
    for (table, sentences) in tables {
        writeln!(
            code,
            "/// Sentences of `[{table}]`.\npub mod {table} {{\nuse super::Message;"
        )?;
        for (key, id, pieces) in sentences {
            let (mut arguments, mut calls) = (String::new(), String::new());
            for (name, kind) in sentence::parameters(pieces) {
                let (of, with) = match kind {
                    Kind::Text => ("impl std::fmt::Display", format!("text({name:?}, &{name})")),
                    Kind::Number => (
                        "impl TryInto<u64>",
                        format!("number({name:?}, {name}.try_into().ok())"),
                    ),
                    Kind::Duration => ("super::Millis", format!("duration({name:?}, {name})")),
                    Kind::List => (
                        "impl IntoIterator<Item: std::fmt::Display>",
                        format!("list({name:?}, {name})"),
                    ),
                    Kind::Message => ("Message", format!("message({name:?}, &{name})")),
                };
                write!(arguments, "{name}: {of}, ")?;
                write!(calls, ".{with}")?;
            }
            let shown: String = pieces.iter().map(shown).collect();
            let shown = shown.replace('\n', " ");
            writeln!(
                code,
                "/// “{shown}”\npub fn {key}({arguments}) -> Message {{ Message::new({id:?}){calls} }}"
            )?;
        }
        writeln!(code, "}}")?;
    }
    Ok(())
}

/// A piece as documentation shows it.
fn shown(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.replace('[', "\\[").replace('<', "\\<"),
        Piece::Parameter(name, _) | Piece::Nested(name) => format!("{{{}}}", name.replace('_', " ")),
        Piece::Plural(_, _, other) => other.clone(),
    }
}
