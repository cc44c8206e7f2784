//! `docs/cases.md`: each case from the field is shown by the scenario or test that the page names, with its figures.

use std::path::{Path, PathBuf};

use testkit::scenario::{Part, parse};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A row of the page.
struct Case {
    id: String,
    figures: Vec<String>,
    place: String,
}

/// `| id | what is right | figures, or none | file |`
fn cases(page: &str) -> Vec<Case> {
    let rows = page.lines().filter(|line| line.starts_with("| T") || line.starts_with("| R"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, figures, place] = cells.as_slice() else { panic!("{line}: a row has four cells") };
        let figures = figures.split(", ").filter(|figure| !figure.is_empty()).map(str::to_owned);
        Case { id: (*id).to_owned(), figures: figures.collect(), place: place.trim_matches('`').to_owned() }
    })
    .collect()
}

/// What the sessions print that stand under headings with the id; `None` if no heading has it.
fn printed(scenarios: &str, id: &str) -> Option<String> {
    let (mut is_meant, mut printed) = (false, None);
    for part in parse(scenarios).expect("a well-formed scenario") {
        match part {
            Part::Heading(heading) => {
                is_meant = ids(&heading).any(|known| known == id);
                if is_meant {
                    printed.get_or_insert_with(String::new);
                }
            }
            Part::Session(steps) if is_meant => {
                let text = printed.get_or_insert_with(String::new);
                steps.iter().for_each(|step| text.push_str(&step.expected));
            }
            Part::Prose(_) | Part::File { .. } | Part::Session(_) => {}
        }
    }
    printed
}

fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// True if a text has the figure as a number of its own and not as a part of another.
fn has_figure(text: &str, figure: &str) -> bool {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    text.match_indices(figure).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + figure.len()..].chars().next();
        !before.is_some_and(is_of_number) && !after.is_some_and(is_of_number)
    })
}

fn fault(case: &Case) -> Option<String> {
    let Case { id, figures, place } = case;
    let text = match std::fs::read_to_string(root().join(place)) {
        Ok(text) => text,
        Err(error) => return Some(format!("{id}: {place}: {error}")),
    };
    let shown = if place.ends_with(".md") {
        printed(&text, id)
    } else {
        let is_named = |line: &str| line.trim_start().starts_with("//") && ids(line).any(|known| known == id);
        text.lines().any(is_named).then(|| text.clone())
    };
    let Some(shown) = shown else { return Some(format!("{id}: {place} does not name it")) };
    let missing: Vec<&String> = figures.iter().filter(|figure| !has_figure(&shown, figure)).collect();
    (!missing.is_empty()).then(|| format!("{id}: {place} does not show {missing:?}"))
}

#[test]
fn every_case_is_shown_with_its_figures() {
    let page = std::fs::read_to_string(root().join("docs/cases.md")).expect("the page");
    let cases = cases(&page);
    assert!(cases.len() > 40, "the page has rows: {}", cases.len());
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_figure_is_a_whole_number_in_the_text() {
    assert!(has_figure("cost 16, 10.5", "16") && has_figure("16", "16"));
    assert!(!has_figure("116 or 16.5 or 0.16", "16"));
    let scenario = "# A\n\n## One (T1, R2)\n\n```console\n$ x\n5\n```\n\n## Two\n\n```console\n$ x\n6\n```\n";
    assert_eq!(printed(scenario, "T1").as_deref(), Some("5\n"));
    assert_eq!(printed(scenario, "T2"), None);
}
