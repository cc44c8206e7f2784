//! The manual as Markdown, made from the command line's own definition, the filter's fields and the settings.

use app::filter::FIELDS;
use app::settings::KEYS;
use clap::{Arg, Command, CommandFactory};

use crate::arguments::Arguments;

/// The text of `docs/cli.md`.
pub(crate) fn markdown() -> String {
    let mut command = Arguments::command();
    command.build();
    let mut text = String::from("# Command line\n\n");
    text.push_str("Made by `trainbill man --markdown`; a test compares it with the program.\n\n");
    text.push_str(&format!("{}\n\n## Options of every command\n\n", long_about(&command)));
    for argument in command.get_arguments().filter(|argument| is_shown(argument)) {
        text.push_str(&option(argument));
    }
    for inner in command.get_subcommands() {
        section(inner, "trainbill", &mut text);
    }
    text.push_str("\n## Filters\n\n");
    text.push_str(FILTERS);
    text.push_str("| field | what it is | words |\n|---|---|---|\n");
    for field in FIELDS {
        let words: Vec<String> = field.words().iter().map(|word| format!("`{word}`")).collect();
        text.push_str(&format!("| `{}` | {} | {} |\n", field.name, field.meaning, words.join(", ")));
    }
    text.push_str("\n## Settings\n\n");
    text.push_str(SETTINGS);
    text.push_str("| key | environment | flag | default | what it is for |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let code = |text: Option<&str>| text.map(|text| format!("`{text}`")).unwrap_or_default();
        let cells = [code(Some(key.name)), code(Some(key.variable)), code(key.flag), code(key.default)];
        text.push_str(&format!("| {} | {}: {} |\n", cells.join(" | "), key.meaning, key.expected));
    }
    text
}

const FILTERS: &str = "\
`--where` takes conditions such as `team = \"vision\" and capacity = spot`. Operators are `=`, `!=`, `<`, `<=`, `>`, `>=`, \
`in (…)`, `like` (`%` any text, `_` any character) and `contains`; the last two ignore case. Conditions are joined by \
`and`, `or`, `not` and parentheses. Strings stand in double or single quotes; words, numbers and dates need none. A date \
stands for its whole UTC day. A field with several values matches if one of them does; a field without a value is never \
equal to anything, and `!=` holds where `=` does not.\n\n";

const SETTINGS: &str = "\
A flag stands before the environment, the environment before the file, the file before the default. The file is \
`trainbill.toml` in the current folder, or the one that `--config` names. `trainbill config show --origin` tells where \
each value comes from. `keys.experiment` is `experiment` under `[keys]`.\n\n";

fn section(command: &Command, parent: &str, text: &mut String) {
    let name = format!("{parent} {}", command.get_name());
    if command.get_name() == "help" {
        return;
    }
    let mut inner = command.get_subcommands().filter(|inner| inner.get_name() != "help").peekable();
    text.push_str(&format!("\n## `{}`\n\n{}\n", usage(command, &name), long_about(command)));
    let own = |argument: &&Arg| is_shown(argument) && !argument.is_global_set();
    let mut arguments = command.get_arguments().filter(own).peekable();
    if arguments.peek().is_some() {
        text.push('\n');
    }
    for argument in arguments {
        text.push_str(&option(argument));
    }
    if inner.peek().is_some() {
        for command in inner {
            section(command, &name, text);
        }
    }
}

fn usage(command: &Command, name: &str) -> String {
    let mut usage = name.to_owned();
    let own = |argument: &&Arg| is_shown(argument) && !argument.is_global_set();
    for argument in command.get_arguments().filter(own) {
        let shown = if argument.is_positional() { value(argument) } else { format!("--{}", long(argument)) };
        let shown =
            if argument.is_positional() && argument.is_required_set() { shown } else { format!("[{shown}]") };
        usage.push_str(&format!(" {shown}"));
    }
    usage
}

fn option(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let name = match (argument.is_positional(), argument.get_short()) {
        (true, _) => value(argument),
        (false, Some(short)) => format!("-{short}, --{}", long(argument)),
        (false, None) => format!("--{}", long(argument)),
    };
    let value = if takes_value && !argument.is_positional() {
        format!(" {}", value(argument))
    } else {
        String::new()
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = (argument.get_possible_values().iter())
        .filter(|value| takes_value && !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let possible = if possible.is_empty() { String::new() } else { format!(": {}", possible.join(", ")) };
    format!("- `{name}{value}` — {help}{possible}\n")
}

fn value(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    names
        .first()
        .map_or_else(|| argument.get_id().as_str().to_uppercase(), |name| name.to_string().to_uppercase())
}

fn long(argument: &Arg) -> &str {
    argument.get_long().unwrap_or(argument.get_id().as_str())
}

fn is_shown(argument: &Arg) -> bool {
    !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version")
}

fn long_about(command: &Command) -> String {
    command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default()
}
