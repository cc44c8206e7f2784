//! The program under test with a store of its own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::process::output;
use super::scratch::Scratch;
use super::web::json;

/// A store in the folder of the check.
pub(super) struct Store<'a> {
    scratch: &'a Scratch,
    program: &'a Path,
    folder: PathBuf,
}

impl<'a> Store<'a> {
    /// A store of this name, made by its first import.
    pub(super) fn new(scratch: &'a Scratch, program: &'a Path, name: &str) -> Self {
        Self { scratch, program, folder: scratch.path(name) }
    }

    /// Imports files as records of this kind, and expects that nothing of them is rejected.
    pub(super) fn import(&self, kind: &str, places: &[impl AsRef<OsStr>]) -> Result<Value, String> {
        let mut command = self.scratch.command(self.program);
        command.args(["import", kind]).args(places).args(["--format", "json", "--store"]).arg(&self.folder);
        let answer = json(&output(&mut command)?)?;
        let count = |name: &str| answer[name].as_u64().unwrap_or(u64::MAX);
        if count("rejected") != 0 || count("accepted") != count("rows_read") || count("rows_read") == 0 {
            return Err(format!("import {kind}: rows were rejected, or there were none:\n{answer:#}"));
        }
        let warned = answer["warnings"].as_array().into_iter().flatten();
        let codes: Vec<&str> = warned.filter_map(|warning| warning["code"].as_str()).collect();
        let with = if codes.is_empty() { String::new() } else { format!(", warnings: {}", codes.join(", ")) };
        eprintln!(
            "  import {kind}: {} rows, {} new observations, {} known{with}",
            answer["rows_read"], answer["new_observations"], answer["known_observations"]
        );
        Ok(answer)
    }

    /// Asks for something and gives the answer, which is kept under this name.
    pub(super) fn ask(&self, name: &str, question: &[&str]) -> Result<Value, String> {
        let mut command = self.scratch.command(self.program);
        command.args(question).args(["--format", "json", "--store"]).arg(&self.folder);
        let text = output(&mut command)?;
        self.scratch.write(&format!("answers/{name}.json"), &text)?;
        json(&text)
    }

    /// What `attempts` says, a text for each row, in the order of keys.
    pub(super) fn attempts(&self, name: &str, columns: &str) -> Result<Vec<String>, String> {
        let statement = format!("select {columns} from attempts order by canonical_key");
        let answer = self.ask(name, &["sql", &statement])?;
        let rows = answer["rows"].as_array().ok_or_else(|| format!("no rows: {answer}"))?;
        Ok(rows.iter().map(ToString::to_string).collect())
    }

    /// True if the program reads records of this kind.
    pub(super) fn reads(&self, kind: &str) -> Result<bool, String> {
        let help = output(self.scratch.command(self.program).args(["import", "--help"]))?;
        Ok(help.lines().any(|line| line.split_whitespace().next() == Some(kind)))
    }
}
