//! A language is a folder of `messages/`, and nothing else has to change: the generator of the build, run over copies of the catalogue.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "reads and writes catalogues, as the build script does"
)]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../build/catalogue.rs"]
mod catalogue;
#[path = "../build/sentence.rs"]
mod sentence;

/// A copy of the catalogue, removed again.
struct Copy(PathBuf);

impl Copy {
    fn new(test: &str) -> Self {
        let root = std::env::temp_dir().join(format!("placet-languages-{test}-{}", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../messages");
        for language in fs::read_dir(source).unwrap() {
            let language = language.unwrap();
            copy(&language.path(), &root.join(language.file_name()));
        }
        Self(root)
    }

    /// German, in the words of English: only `[language]` is its own.
    fn with_german(self) -> Self {
        copy(&self.0.join("en"), &self.0.join("de"));
        self.change("de/format.toml", "name = \"English\"", "name = \"Deutsch\"");
        self.change("de/format.toml", "variant = \"English\"", "variant = \"German\"");
        self.change("de/format.toml", "tag = \"en\"", "tag = \"de-DE\"");
        self
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.0.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} is not in {file}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    fn code(&self) -> String {
        catalogue::generate(&self.0).unwrap()
    }

    fn error(&self) -> String {
        catalogue::generate(&self.0).unwrap_err().to_string()
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_language_is_one_more_folder() {
    let code = Copy::new("more").with_german().code();
    // English is first; the others follow by name.
    for part in [
        "pub const ALL: [Self; 3] = [Self::English, Self::German, Self::Chinese, ];",
        "/// Deutsch, `messages/de`.\n#[serde(rename = \"de\", alias = \"de-DE\")]\nGerman,",
        "Self::German => \"de\",",
        "Language { tag: \"de\", sentences: &[",
    ] {
        assert!(code.contains(part), "{part}");
    }
    let functions = |code: &str| code.matches("pub fn ").count();
    let without = Copy::new("less").code();
    assert!(!without.contains("German"));
    assert_eq!(functions(&code), functions(&without), "one function per sentence");
}

#[test]
fn a_language_that_is_not_whole_does_not_build() {
    let copy = Copy::new("whole").with_german();
    copy.change("de/web.toml", "close = \"Close\"\n", "");
    assert!(
        copy.error().contains("`web.close` is in only one of"),
        "{}",
        copy.error()
    );

    let copy = Copy::new("table").with_german();
    copy.change("de/format.toml", "tag = \"de-DE\"\n", "");
    assert!(copy.error().contains("language.tag"), "{}", copy.error());

    let copy = Copy::new("variant").with_german();
    copy.change("de/format.toml", "\"German\"", "\"de-DE\"");
    assert!(copy.error().contains("`de-DE`"), "{}", copy.error());
}

#[test]
fn languages_agree_on_the_names_and_the_kinds_of_parameters() {
    for (from, to) in [
        ("{late_by:duration}", "{late_by:number}"),
        ("{late_by:duration}", "{late_by}"),
        ("{late_by:duration}", "{late:duration}"),
    ] {
        let copy = Copy::new("kinds");
        copy.change("zh/refusal.toml", from, to);
        let error = copy.error();
        assert!(
            error.starts_with("`refusal.too_late` has other parameters in zh"),
            "{error}"
        );
    }
}
