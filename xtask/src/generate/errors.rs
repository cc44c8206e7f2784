//! `docs/errors.md`: every stable code, with what is said under it and where.

use std::collections::{BTreeMap, BTreeSet};

use super::raised::{Kind, Said};

pub(super) const PATH: &str = "docs/errors.md";

/// What a code of each prefix is about.
const PREFIXES: &[(&str, &str)] = &[
    (
        "attempt",
        "What is odd in the records of an attempt when they are folded together; the import goes on.",
    ),
    ("attempts", "The table of attempts that `import attempts` reads."),
    ("attribution", "Giving charges to runs."),
    (
        "bill",
        "A bill, its files and its manifests: `import aws-cur`, `azure-cost`, `focus` and `gcp-billing`.",
    ),
    ("check", "A law that does not hold on the data; exit code 3."),
    ("cli", "The command line and the streams of the program."),
    ("config", "The settings, wherever they come from."),
    ("demo", "The demo company."),
    (
        "engine",
        "The query engine. What does not tie or differs here is a fault of trainbill: please report it.",
    ),
    ("explain", "`why`. What does not tie here is a fault of trainbill: please report it."),
    ("filter", "The text of `--where`; the error points at the part to blame."),
    ("import", "What an import is given, before any of it is read."),
    ("money", "Amounts: their range, and sums of what is unlike."),
    ("opencost", "Allocations to pods that `import opencost` reads."),
    ("openlineage", "Run events that `import openlineage` reads."),
    ("place", "Files, folders and buckets."),
    (
        "prices",
        "A price list: `import aws-offer`, `aws-spot-history`, `gcp-catalogue`, `skypilot` and `price-table`.",
    ),
    ("quality", "What the rows of a bill say against one of its bases: a withheld basis shows no figure."),
    ("query", "What a question asks for and cannot have."),
    ("rates", "A list of exchange rates: `import rates`."),
    (
        "row",
        "One row or record that is rejected; the rest of the file is read, and accepted and rejected rows are all rows.",
    ),
    ("slurm", "The accounting that `import slurm` reads."),
    ("statement", "`show`. What does not tie here is a fault of trainbill: please report it."),
    ("store", "The store; whatever the error, its last state is whole."),
];

/// The text of the page.
pub(super) fn page(codes: &BTreeMap<String, Vec<Said>>) -> String {
    let mut page = String::from(
        "# Errors and warnings\n\nEvery stable code. Made by `cargo xtask generate` from the sources: a change belongs \
         there.\nWhat differs from case to case stands as `…`. A code keeps its meaning; its words may change.\n",
    );
    let mut prefix = "";
    for (code, said) in codes {
        let own = code.split("::").next().unwrap_or(code);
        if own != prefix {
            prefix = own;
            page.push_str(&format!("\n## {own}\n"));
            if let Some((_, about)) = PREFIXES.iter().find(|(known, _)| *known == own) {
                page.push_str(&format!("\n{about}\n"));
            }
        }
        page.push_str(&format!("\n### `{code}`\n\n"));
        page.push_str(&entry(said));
    }
    page
}

/// What stands below the heading of a code: each distinct thing that is said, with every file that says it.
fn entry(said: &[Said]) -> String {
    let mut files: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for one in said {
        // A place that only passes the code on adds nothing where the same file says more.
        let empty = one.message.is_none() && one.help.is_none();
        let more = |other: &Said| other.file == one.file && (other.message.is_some() || other.help.is_some());
        if !empty || !said.iter().any(more) {
            let key = (one.kind, one.message.as_deref(), one.help.as_deref());
            files.entry(key).or_default().insert(&one.file);
        }
    }
    let mut text = String::new();
    for ((kind, message, help), files) in files {
        let what = match (kind, message) {
            (Kind::Error, Some(message)) => escaped(message),
            (Kind::Warning, Some(message)) => format!("warning: {}", escaped(message)),
            (Kind::Rejection, Some(expected)) => format!("expected: {}", escaped(expected)),
            (Kind::Error | Kind::Rejection, None) => "the message tells the cause".to_owned(),
            (Kind::Warning, None) => "warning: the message tells the cause".to_owned(),
        };
        text.push_str(&format!("- {what}\n"));
        if let Some(help) = help {
            text.push_str(&format!("  - help: {}\n", escaped(help)));
        }
        let places: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
        text.push_str(&format!("  - in {}\n", places.join(", ")));
    }
    text
}

/// Text with what Markdown would take for markup escaped, except inside backticks.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        if index > 0 {
            shown.push('`');
        }
        if index % 2 == 0 {
            shown.push_str(&part.replace('<', "\\<").replace('*', "\\*").replace('[', "\\["));
        } else {
            shown.push_str(part);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: Kind, message: Option<&str>, help: Option<&str>, file: &str) -> Said {
        Said {
            kind,
            message: message.map(str::to_owned),
            help: help.map(str::to_owned),
            file: file.to_owned(),
        }
    }

    #[test]
    fn each_thing_said_stands_once_with_its_files() {
        let codes = BTreeMap::from([(
            "bill::too_large".to_owned(),
            vec![
                said(Kind::Error, Some("too <large>"), Some("cut `a<b`"), "b.rs"),
                said(Kind::Error, Some("too <large>"), Some("cut `a<b`"), "a.rs"),
                said(Kind::Error, None, None, "a.rs"),
                said(Kind::Warning, Some("nearly"), None, "a.rs"),
            ],
        )]);
        let page = page(&codes);
        let expect = "\n## bill\n\nA bill, its files and its manifests: `import aws-cur`, `azure-cost`, `focus` and \
            `gcp-billing`.\n\n### `bill::too_large`\n\n\
            - too \\<large>\n  - help: cut `a<b`\n  - in `a.rs`, `b.rs`\n- warning: nearly\n  - in `a.rs`\n";
        assert!(page.ends_with(expect), "{page}");
    }

    #[test]
    fn a_code_whose_words_are_not_in_the_source_is_still_listed() {
        let codes =
            BTreeMap::from([("new::code".to_owned(), vec![said(Kind::Rejection, None, None, "a.rs")])]);
        assert!(
            page(&codes)
                .ends_with("## new\n\n### `new::code`\n\n- the message tells the cause\n  - in `a.rs`\n")
        );
    }
}
