//! `docs/sources.md`: the header of every reader, in the order of the registry.

use crate::tidy::SourceFile;

pub(super) const PATH: &str = "docs/sources.md";

const FOLDER: &str = "crates/sources/src/";
const REGISTRY: &str = "crates/sources/src/registry.rs";
/// Where every reader of bills finds its files.
const PLACE: &str = "crates/sources/src/place.rs";

/// Kinds as the registry spells them, with their heading; the page has them in this order.
const KINDS: &[(&str, &str)] =
    &[("Billing", "Bills"), ("Prices", "Prices"), ("Telemetry", "Records of runs")];

/// One entry of the registry.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    id: &'a str,
    title: &'a str,
    kind: &'a str,
    /// Path below `FOLDER`.
    file: &'a str,
}

/// The text of the page.
pub(super) fn page(sources: &[SourceFile]) -> Result<String, String> {
    let registry = text_of(sources, REGISTRY)?;
    let entries = entries(registry)?;
    let mut page = String::from(
        "# Sources\n\nWhat trainbill reads. Made by `cargo xtask generate` from the headers of the readers: a change \
         belongs there.\nThe options of each command are in [cli.md](cli.md), the codes of what goes wrong in \
         [errors.md](errors.md).\n\n| command | source | what it does |\n|---|---|---|\n",
    );
    let mut sections = format!("\n## Where bills lie\n\n{}", deeper(&header(text_of(sources, PLACE)?), "##"));
    for (kind, heading) in KINDS {
        let of_kind: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.kind == *kind).collect();
        if !of_kind.is_empty() {
            sections.push_str(&format!("\n## {heading}\n"));
        }
        for entry in of_kind {
            let header = header(text_of(sources, &format!("{FOLDER}{}", entry.file))?);
            let (id, title) = (entry.id, entry.title);
            let link = format!("[{title}](#{})", slug(title));
            page.push_str(&format!("| `import {id}` | {link} | {} |\n", opening(&header)));
            sections
                .push_str(&format!("\n### {title}\n\n`trainbill import {id}`\n\n{}", deeper(&header, "###")));
        }
    }
    Ok(page + &sections)
}

fn text_of<'a>(sources: &'a [SourceFile], path: &str) -> Result<&'a str, String> {
    let found = sources.iter().find(|source| source.path == path);
    found.map(|source| source.text.as_str()).ok_or_else(|| format!("there is no `{path}`"))
}

fn entries(registry: &str) -> Result<Vec<Entry<'_>>, String> {
    let blocks = registry.split("Source {").filter(|block| block.contains("include_str!("));
    let entries: Option<Vec<Entry<'_>>> = blocks.map(entry).collect();
    let entries =
        entries.ok_or_else(|| format!("{REGISTRY}: an entry lacks `id`, `title`, `kind` or `text`"))?;
    match entries.iter().find(|entry| KINDS.iter().all(|(kind, _)| *kind != entry.kind)) {
        Some(entry) => Err(format!("{REGISTRY}: no heading for the kind `{}` of `{}`", entry.kind, entry.id)),
        None => Ok(entries),
    }
}

fn entry(block: &str) -> Option<Entry<'_>> {
    let between = |open: &str, close: char| block.split_once(open)?.1.split(close).next();
    Some(Entry {
        id: between("id: \"", '"')?,
        title: between("title: \"", '"')?,
        kind: between("Kind::", ',')?,
        file: between("include_str!(\"", '"')?,
    })
}

/// The lines of the opening comment of a file.
fn header(text: &str) -> Vec<&str> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect()
}

/// The first paragraph in one line.
fn opening(header: &[&str]) -> String {
    header
        .iter()
        .take_while(|line| !line.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The header as a section of the page: its headings stand as many levels deeper as there are marks.
fn deeper(header: &[&str], marks: &str) -> String {
    let mut text = String::new();
    let mut in_fence = false;
    for line in header {
        in_fence ^= line.trim_start().starts_with("```");
        let marks = if line.starts_with('#') && !in_fence { marks } else { "" };
        text.push_str(&format!("{marks}{line}\n"));
    }
    text
}

/// The anchor that a heading gets.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"&[Source { id: "slurm", title: "Slurm accounting", kind: Kind::Telemetry, text: include_str!("telemetry/slurm.rs") }]"#;

    #[test]
    fn a_reader_is_described_by_its_header() {
        let reader = "//! Reads `sacct`,\n//! any | column.\n//!\n//! # What it reads\n//!\n//! ```text\n//! # no heading\n//! ```\nuse x;\n//! late\n";
        let sources = [
            SourceFile::new(REGISTRY, ENTRY),
            SourceFile::new(PLACE, "//! Places.\n//!\n//! # Manifests\n"),
            SourceFile::new("crates/sources/src/telemetry/slurm.rs", reader),
        ];
        let page = page(&sources).unwrap();
        assert!(page.contains(
            "| `import slurm` | [Slurm accounting](#slurm-accounting) | Reads `sacct`, any \\| column. |\n"
        ));
        assert!(page.contains("\n## Where bills lie\n\nPlaces.\n\n### Manifests\n"));
        let section = "\n## Records of runs\n\n### Slurm accounting\n\n`trainbill import slurm`\n\nReads `sacct`,\nany | column.\n\n#### What it reads\n\n```text\n# no heading\n```\n";
        assert!(page.ends_with(section), "{page}");
    }

    #[test]
    fn what_cannot_be_described_is_named() {
        let check = |registry: &str, expect: &str| {
            let sources = [SourceFile::new(REGISTRY, registry), SourceFile::new(PLACE, "//! Places.\n")];
            assert_eq!(page(&sources).unwrap_err(), expect);
        };
        check(ENTRY, "there is no `crates/sources/src/telemetry/slurm.rs`");
        check(
            &ENTRY.replace("title", "name"),
            "crates/sources/src/registry.rs: an entry lacks `id`, `title`, `kind` or `text`",
        );
        check(
            &ENTRY.replace("Telemetry", "Gossip"),
            "crates/sources/src/registry.rs: no heading for the kind `Gossip` of `slurm`",
        );
        assert_eq!(page(&[]).unwrap_err(), "there is no `crates/sources/src/registry.rs`");
    }
}
