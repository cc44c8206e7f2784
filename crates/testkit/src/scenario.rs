//! Literate scenarios: a Markdown file whose blocks are input files and a console session with its expected output.
//!
//! A block that opens with ` ```csv bill.csv ` (or any language and a file name) is written to that file. A block that
//! opens with ` ```console ` is a session: each line after `$ ` is a command, and the lines after it are what it must
//! print; `[exit 1]` as the last of them is its exit code if that is not 0. Each heading of level two or deeper starts
//! a new folder, so scenarios of one file do not see each other.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The second, since 1970, at which the commands of a scenario run and its files are written: what a file's age
/// decides must not depend on the clock.
pub const MOMENT: u64 = 1_788_220_800;

/// A command and what it must print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The words after `$ `.
    pub command: String,
    /// The expected output with its exit code line.
    pub expected: String,
}

/// One thing that a scenario file does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Prose and everything else that is only to be read.
    Prose(String),
    /// A new scenario begins.
    Heading(String),
    /// An input file; its text is kept with its fences for writing back.
    File {
        /// Name.
        name: String,
        /// Content.
        content: String,
        /// The opening fence.
        fence: String,
    },
    /// A console session.
    Session(Vec<Step>),
}

/// Splits a scenario file into its parts.
///
/// # Errors
/// A block that is not closed, with its line.
pub fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            parts.push(if line.starts_with("##") {
                Part::Heading(line.to_owned())
            } else {
                Part::Prose(line.to_owned())
            });
            continue;
        };
        let mut body = Vec::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((_, inner)) => body.push(inner),
                None => return Err(format!("line {}: the block is not closed", number + 1)),
            }
        }
        parts.push(match info.split_once(' ') {
            Some((_, name)) => Part::File {
                name: name.trim().to_owned(),
                content: body.iter().fold(String::new(), |text, line| text + line + "\n"),
                fence: line.to_owned(),
            },
            None if info == "console" => Part::Session(steps(&body)),
            None => Part::Prose(format!("{line}\n{}\n```", body.join("\n"))),
        });
    }
    Ok(parts)
}

fn steps(body: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in body {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), expected: String::new() });
        } else if let Some(step) = steps.last_mut() {
            step.expected.push_str(line);
            step.expected.push('\n');
        }
    }
    steps
}

/// Writes a file as of a second since 1970.
fn write_at(path: &Path, content: &str, second: u64) -> std::io::Result<()> {
    std::fs::write(path, content)?;
    set_second(path, second)
}

/// Makes a file one that was written at a second since 1970.
///
/// # Errors
/// Of the file.
pub fn set_second(path: &Path, second: u64) -> std::io::Result<()> {
    let file = std::fs::File::options().write(true).open(path)?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(second))
}

/// Runs a scenario file: `run` is given a folder and a command and returns its output with its exit code line.
///
/// Returns the file as it is with the real outputs, and what differed.
///
/// # Errors
/// A file that cannot be parsed or written.
pub fn replay(
    text: &str,
    folder: &Path,
    run: &mut dyn FnMut(&Path, &str) -> String,
) -> Result<(String, Vec<String>), String> {
    let (mut written, mut differences) = (String::new(), Vec::new());
    let mut place = folder.join("0");
    let mut heading = String::new();
    let io = |error: std::io::Error| error.to_string();
    for (index, part) in parse(text)?.into_iter().enumerate() {
        std::fs::create_dir_all(&place).map_err(io)?;
        match part {
            Part::Prose(line) => {
                let _ = writeln!(written, "{line}");
            }
            Part::Heading(line) => {
                let _ = writeln!(written, "{line}");
                place = folder.join(index.to_string());
                heading = line;
            }
            Part::File { name, content, fence } => {
                let path = place.join(&name);
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).map_err(io)?;
                }
                write_at(&path, &content, MOMENT).map_err(io)?;
                let _ = write!(written, "{fence}\n{content}```\n");
            }
            Part::Session(steps) => {
                written.push_str("```console\n");
                for step in steps {
                    let found = run(&place, &step.command);
                    if found != step.expected {
                        let (expected, command) = (&step.expected, &step.command);
                        differences.push(format!(
                            "{heading}\n$ {command}\n--- expected\n{expected}--- found\n{found}"
                        ));
                    }
                    let _ = write!(written, "$ {}\n{found}", step.command);
                }
                written.push_str("```\n");
            }
        }
    }
    Ok((written, differences))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Title\n\nProse.\n\n## One\n\n```csv bill.csv\na,b\n1,2\n```\n\n```console\n$ cat bill.csv\na,b\n1,2\n$ false\n[exit 1]\n```\n";

    #[test]
    fn a_file_is_replayed_and_written_back_unchanged() {
        let folder = std::env::temp_dir().join(format!("trainbill-scenario-{}", std::process::id()));
        let mut run = |place: &Path, command: &str| match command {
            "cat bill.csv" => std::fs::read_to_string(place.join("bill.csv")).unwrap(),
            _ => "[exit 1]\n".to_owned(),
        };
        let (written, differences) = replay(FILE, &folder, &mut run).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(written, FILE);
        assert!(differences.is_empty());
    }

    #[test]
    fn a_difference_is_told_with_both_sides() {
        let folder = std::env::temp_dir().join(format!("trainbill-scenario-b-{}", std::process::id()));
        let (written, differences) = replay(FILE, &folder, &mut |_, _| "other\n".to_owned()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(differences.len(), 2);
        assert!(differences[0].contains("--- expected\na,b\n1,2\n--- found\nother\n"));
        assert!(written.contains("$ cat bill.csv\nother\n"));
        assert!(parse("```csv x\n1").is_err());
    }
}
