//! The person's own editor, for arguments too long to edit on a line.

use std::io::Write as _;
use std::process::Command;

use placet_core::interaction::Locale;

/// Lets them edit a text in `$VISUAL` or `$EDITOR`; or says why not.
pub fn edit(text: &str, locale: Locale) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    let Some(editor) = editor else {
        let words = locale.pick(
            "$EDITOR is not set; press e to edit here",
            "未设置 $EDITOR；按 e 可在此修改",
        );
        return Err(words.to_owned());
    };
    in_file(&editor, text).map_err(|error| {
        let words = locale.pick("the editor did not work", "编辑器未能正常工作");
        format!("{words}: {error}")
    })
}

fn in_file(editor: &str, text: &str) -> std::io::Result<String> {
    // Only this user can read the file: arguments are nobody else's business.
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
