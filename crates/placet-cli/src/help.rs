//! `--help` in the language of the user: the sentences of `messages/*/help.toml`, put into the commands that [`args`](crate::args) defines.

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, Command, CommandFactory as _};
use placet_core::interaction::Locale;
use placet_core::messages::{self, Message, usage};

use crate::args::Cli;
use crate::style;

/// The whole command line, built, with every text in place.
pub(crate) fn command(locale: Locale) -> Command {
    let mut command = Cli::command();
    // Before the texts are put in, so that what clap adds itself (`help`, `--help`, `--version`) gets its text too.
    command.build();
    translated(command, "help.placet", &Texts(locale))
}

/// The sentences of one language.
struct Texts(Locale);

impl Texts {
    fn say(&self, message: &Message) -> String {
        message.say(self.0)
    }

    fn heading(&self, message: &Message) -> String {
        let colon = messages::colon(self.0);
        let heading = format!("{}{}", self.say(message), colon.trim_end());
        let gap = colon.strip_prefix(colon.trim_end()).unwrap_or_default();
        format!("{}{gap}", style::paint(style::SECTION, heading))
    }

    fn argument(&self, table: &str, argument: &str) -> Option<&'static str> {
        places(table, argument).find_map(|id| messages::text(self.0, &id))
    }
}

/// Where the text of an argument may be: with its own command, with one above that shares it with its subcommands, or with those of all
/// commands.
fn places(table: &str, argument: &str) -> impl Iterator<Item = String> {
    let above = std::iter::successors(Some(table), |table| Some(table.rsplit_once('.')?.0));
    let own = above
        .filter(|table| *table != "help")
        .map(move |table| format!("{table}.{argument}"));
    own.chain([format!("help.any.{argument}")])
}

/// The table of a command's texts. Below every `help` command there is a copy of each command beside it, whose texts are the same.
fn table(path: &str) -> String {
    if path.rsplit('.').next() == Some("help") {
        return "help.placet.help".to_owned();
    }
    path.replace(".help.", ".")
}

fn translated(command: Command, path: &str, texts: &Texts) -> Command {
    let below = |command: Command| {
        let path = format!("{path}.{}", command.get_name());
        translated(command, &path, texts)
    };
    let table = &table(path);
    let about = messages::text(texts.0, &format!("{table}.about")).unwrap_or_default();
    let command = command
        .about(about)
        .mut_subcommands(below)
        .mut_args(|argument| described(argument, table, texts));
    let after = after_help(&command, table, texts);
    let template = template(&command, texts);
    let mut command = command.after_help(after).help_template(template);
    let line = command.render_usage().ansi().to_string();
    let line = line.split_once(' ').map_or("", |(_, line)| line);
    let own = line
        .replace("[OPTIONS]", &texts.say(&usage::any_options()))
        .replace("COMMAND", &texts.say(&usage::command()));
    if own != line {
        command = command.override_usage(StyledStr::from(own));
    }
    command
}

/// The argument with its text, and what clap would say of its values in English.
fn described(argument: Arg, path: &str, texts: &Texts) -> Arg {
    let mut text = texts
        .argument(path, argument.get_id().as_str())
        .unwrap_or_default()
        .to_owned();
    let mut note = |message: Message| {
        text.push(' ');
        text.push_str(&texts.say(&message));
    };
    if let Some(name) = argument.get_env() {
        note(usage::environment(name.display()));
    }
    let takes_value = argument.get_action().takes_values();
    if let Some(value) = argument.get_default_values().first()
        && takes_value
    {
        note(usage::default(value.display()));
    }
    let possible = argument.get_possible_values();
    let possible: Vec<&str> = possible
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(PossibleValue::get_name)
        .collect();
    if !possible.is_empty() && takes_value {
        note(usage::values(possible.join(", ")));
    }
    argument
        .help(text)
        .hide_env(true)
        .hide_default_value(true)
        .hide_possible_values(true)
}

/// The examples, and what else there is to know.
fn after_help(command: &Command, path: &str, texts: &Texts) -> StyledStr {
    let mut parts = Vec::new();
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines: Vec<String> = examples.lines().map(|line| format!("  {line}")).collect();
        let heading = texts.heading(&usage::examples(lines.len()));
        parts.push(format!("{}\n{}", heading.trim_end(), lines.join("\n")));
    }
    if let Some(after) = messages::text(texts.0, &format!("{path}.after")) {
        parts.push(after.to_owned());
    }
    StyledStr::from(parts.join("\n\n"))
}

fn template(command: &Command, texts: &Texts) -> StyledStr {
    let mut template = format!(
        "{{about-with-newline}}\n{}{{usage}}",
        texts.heading(&usage::heading())
    );
    let is_visible = |argument: &Arg| !argument.is_hide_set();
    let sections = [
        (
            command.get_subcommands().next().is_some(),
            usage::commands(),
            "subcommands",
        ),
        (
            command.get_positionals().any(is_visible),
            usage::arguments(),
            "positionals",
        ),
        (
            command
                .get_arguments()
                .any(|argument| !argument.is_positional() && is_visible(argument)),
            usage::options(),
            "options",
        ),
    ];
    for (_, heading, tag) in sections.into_iter().filter(|(is_there, ..)| *is_there) {
        let heading = texts.heading(&heading);
        template.extend(["\n\n", heading.trim_end(), "\n{", tag, "}"]);
    }
    template += "{after-help}";
    StyledStr::from(template)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const LOCALES: [Locale; 2] = [Locale::English, Locale::Chinese];

    /// Every command with its path.
    fn walk<'c>(command: &'c Command, path: &str, visit: &mut dyn FnMut(&'c Command, &str)) {
        visit(command, path);
        for below in command.get_subcommands() {
            walk(below, &format!("{path}.{}", below.get_name()), visit);
        }
    }

    #[test]
    fn every_command_and_argument_has_a_text_in_every_language_and_every_text_is_used() {
        for locale in LOCALES {
            let mut unused: BTreeSet<&str> = messages::templates(locale, "help.").map(|(id, _)| id).collect();
            let command = command(locale);
            let mut missing = Vec::new();
            walk(&command, "help.placet", &mut |command, path| {
                let path = &table(path);
                let about = format!("{path}.about");
                if messages::text(locale, &about).is_none() {
                    missing.push(about.clone());
                }
                unused.remove(about.as_str());
                unused.remove(format!("{path}.after").as_str());
                for argument in command.get_arguments() {
                    let id = argument.get_id().as_str();
                    let texts = Texts(locale);
                    match texts.argument(path, id) {
                        None => missing.push(format!("{path}.{id}")),
                        Some(text) => assert!(argument.get_help().unwrap().to_string().starts_with(text)),
                    }
                    if let Some(used) = places(path, id).find(|id| messages::text(locale, id).is_some()) {
                        unused.remove(used.as_str());
                    }
                }
            });
            assert_eq!(missing, [""; 0], "{locale:?}");
            assert!(unused.is_empty(), "{locale:?}: {unused:?}");
        }
    }

    #[test]
    fn no_text_of_clap_or_of_the_code_is_left_in_the_help() {
        walk(&Cli::command(), "help.placet", &mut |command, path| {
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_none(), "{path}.{}", argument.get_id());
            }
        });
        let english = [
            "Usage:",
            "Options:",
            "Commands:",
            "Arguments:",
            "Print",
            "[OPTIONS]",
            "[COMMAND]",
            "<COMMAND>",
            "[default",
            "[env:",
            "possible",
            "Example",
        ];
        let chinese = command(Locale::Chinese);
        walk(&chinese, "", &mut |command, path| {
            let page = command.clone().render_long_help().to_string();
            for word in english {
                assert!(!page.contains(word), "{word} in {path}:\n{page}");
            }
            assert!(page.contains("用法：placet"), "{path}:\n{page}");
        });
    }

    #[test]
    fn a_page_has_the_usual_parts_in_both_languages() {
        let page = |locale| {
            let mut command = command(locale);
            let found = command.find_subcommand_mut("completions").unwrap();
            found.clone().term_width(100).render_help().to_string()
        };
        expect_test::expect![[r#"
            Print a completion script for a shell

            Usage: placet completions [OPTIONS] <SHELL>

            Arguments:
              <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

            Options:
                  --color <WHEN>  When to use colours; `auto` also honours `NO_COLOR` [default: auto] [possible
                                  values: auto, always, never]
              -h, --help          Print help
              -V, --version       Print version

            Example:
              placet completions bash > ~/.local/share/bash-completion/completions/placet
        "#]].assert_eq(&page(Locale::English));
        expect_test::expect![[r#"
            输出 shell 的补全脚本

            用法：placet completions [选项] <SHELL>

            参数：
              <SHELL>  哪种 shell [可选值：bash, elvish, fish, powershell, zsh]

            选项：
                  --color <WHEN>  何时使用颜色；`auto` 也遵从 `NO_COLOR` [默认值：auto] [可选值：auto, always, never]
              -h, --help          显示帮助
              -V, --version       显示版本

            示例：
              placet completions bash > ~/.local/share/bash-completion/completions/placet
        "#]].assert_eq(&page(Locale::Chinese));
    }
}
