//! Literate scenarios: every file under `testdata/scenarios` is replayed with the built program.
//!
//! `UPDATE_SCENARIOS=1` writes the real outputs into the files, to be read before they are kept.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use testkit::scenario::{MOMENT, replay, set_second};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files
}

/// Runs one command of a session in its folder: the program, or a file operation that scenarios need.
fn run(place: &Path, command: &str) -> String {
    let words = words(command);
    let mut words = words.iter().map(String::as_str);
    match words.next() {
        Some("trainbill") => program(place, &words.collect::<Vec<_>>()),
        Some("cut") => {
            // `cut FILE BYTES`: the file loses everything past its first bytes.
            let (file, bytes) = (words.next().expect("a file"), words.next().expect("a length"));
            let content = std::fs::read(place.join(file)).expect("a file to cut");
            let length: usize = bytes.parse().expect("a length in bytes");
            std::fs::write(place.join(file), &content[..length.min(content.len())]).expect("a file to write");
            String::new()
        }
        Some("age") => {
            // `age PLACE`: the file, or every file in the folder, was written an hour ago. One that is old already is
            // not touched, or it would be another version of itself.
            age(&place.join(words.next().expect("a place")));
            String::new()
        }
        other => panic!("a scenario cannot run `{other:?}`"),
    }
}

fn age(place: &Path) {
    if place.is_dir() {
        std::fs::read_dir(place).expect("a folder").for_each(|entry| age(&entry.expect("an entry").path()));
        return;
    }
    let modified = place.metadata().and_then(|metadata| metadata.modified()).expect("a file to age");
    if modified == UNIX_EPOCH + Duration::from_secs(MOMENT) {
        set_second(place, MOMENT - 3600).expect("a file to age");
    }
}

fn program(place: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_trainbill"))
        .args(words)
        .current_dir(place)
        .env_clear()
        .env("SOURCE_DATE_EPOCH", MOMENT.to_string())
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs");
    let mut text = String::from_utf8(output.stdout).expect("text on stdout");
    text.push_str(&String::from_utf8(output.stderr).expect("text on stderr"));
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let code = output.status.code().expect("an exit code");
    if code != 0 {
        text.push_str(&format!("[exit {code}]\n"));
    }
    // Trailing blanks of table cells are no content, and editors remove them.
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Splits a command at blanks; single and double quotes keep them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut any) = (Vec::new(), String::new(), None, false);
    for c in command.chars() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => (quote, any) = (Some(c), true),
            (' ', None) => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            _ => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

#[test]
fn every_scenario_holds() {
    let update = std::env::vars_os().any(|(name, _)| name == "UPDATE_SCENARIOS");
    let mut failed = Vec::new();
    let files = files(&root().join("testdata/scenarios"));
    assert!(!files.is_empty(), "there are no scenarios");
    for file in files {
        let folder = tempfile::tempdir().expect("a folder");
        let text = std::fs::read_to_string(&file).expect("a scenario");
        let (written, differences) = replay(&text, folder.path(), &mut run).expect("a well-formed scenario");
        if update {
            std::fs::write(&file, written).expect("the scenario to be written back");
        } else if !differences.is_empty() {
            failed.push(format!("{}\n{}", file.display(), differences.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
