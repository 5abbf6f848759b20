//! Arguments as a person edits them: as JSON, with secrets masked, and the secrets put back afterwards.

use placet_core::call::Args;
use placet_core::render::mask::{self, EditError};

/// The argument that holds a line for a shell.
const COMMAND: &str = "command";

/// The command line among the arguments, when there is one that fits on a line: then that is what is edited.
pub(crate) fn command(args: &Args) -> Option<String> {
    let masked = mask::json(args.as_value());
    let line = masked.get(COMMAND)?.as_str()?;
    (!line.contains('\n')).then(|| line.to_owned())
}

/// Reads an edited command line; the other arguments stay.
pub(crate) fn read_command(line: &str, original: &Args) -> Result<Args, EditError> {
    let mut masked = mask::json(original.as_value());
    if let Some(command) = masked.get_mut(COMMAND) {
        *command = line.into();
    }
    mask::put_back(&Args::from_value(masked)?, original)
}

/// The arguments on one line.
pub(crate) fn on_one_line(args: &Args) -> String {
    mask::json(args.as_value()).to_string()
}

/// The arguments on several lines, for an editor.
pub(crate) fn on_lines(args: &Args) -> String {
    let masked = mask::json(args.as_value());
    // A JSON value with text keys always serialises.
    serde_json::to_string_pretty(&masked).map_or_else(|_| masked.to_string(), |text| text + "\n")
}

/// Reads edited arguments. A masked value that was left alone is the secret it stands for.
pub(crate) fn read(text: &str, original: &Args) -> Result<Args, EditError> {
    let edited = Args::parse(text.as_bytes())?;
    mask::put_back(&edited, original)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args() -> Args {
        Args::from_value(json!({
            "token": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "command": "ls",
        }))
        .unwrap()
    }

    #[test]
    fn a_secret_is_neither_shown_nor_lost_by_an_edit() {
        let text = on_one_line(&args());
        assert!(!text.contains("0123456789abcdef"), "{text}");
        let edited = read(&text.replace("ls", "ls -l"), &args()).unwrap();
        assert_eq!(edited.text("command"), Some("ls -l"));
        assert_eq!(edited.text("token"), args().text("token"));
    }

    #[test]
    fn a_command_is_edited_as_a_line_and_everything_else_stays() {
        assert_eq!(command(&args()).as_deref(), Some("ls"));
        let edited = read_command("ls \"-l\"", &args()).unwrap();
        assert_eq!(edited.text("command"), Some("ls \"-l\""));
        assert_eq!(edited.text("token"), args().text("token"));
        let lines = Args::from_value(json!({ "command": "ls\npwd" })).unwrap();
        assert_eq!(command(&lines), None);
        assert_eq!(command(&Args::from_value(json!({ "path": "x" })).unwrap()), None);
    }

    #[test]
    fn a_mask_that_would_run_as_if_it_were_the_secret_is_refused() {
        let text = on_one_line(&args()).replace("ghp_", "ghx_");
        assert_eq!(read(&text, &args()), Err(EditError::Masked("token".into())));
        let moved = on_lines(&args()).replace("\"token\"", "\"other\"");
        assert_eq!(read(&moved, &args()), Err(EditError::Masked("other".into())));
    }

    #[test]
    fn what_is_not_a_json_object_is_refused_in_words() {
        assert!(
            read("{\"a\": ", &args())
                .unwrap_err()
                .to_string()
                .contains("not valid JSON")
        );
        assert!(
            read("[]", &args())
                .unwrap_err()
                .to_string()
                .contains("must be a JSON object")
        );
    }
}
