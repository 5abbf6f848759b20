//! The person's own editor, for arguments too long to edit on a line.

use std::io::Write as _;
use std::process::Command;

use placet_core::interaction::Locale;
use placet_core::messages::editor;

/// Lets them edit a text in `$VISUAL` or `$EDITOR`; or says why not.
pub fn edit(text: &str, locale: Locale) -> Result<String, String> {
    let program = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    let Some(program) = program else {
        return Err(editor::unset().say(locale));
    };
    in_file(&program, text).map_err(|error| editor::failed(error).say(locale))
}

fn in_file(editor: &str, text: &str) -> std::io::Result<String> {
    // Only this user can read the file: arguments may hold secrets.
    let mut file = tempfile::Builder::new()
        .prefix("placet-")
        .suffix(".json")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // `$EDITOR` is a command line and not a program (`code --wait`), so a shell reads it, as git does.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg(editor)
        .arg(file.path())
        .status()?;
    if !status.success() {
        return Err(std::io::Error::other(format!("`{editor}` ended with {status}")));
    }
    // By its path: many editors write a new file and put it in place of the old one.
    std::fs::read_to_string(file.path())
}
