//! `cargo xtask validate-focus FILE`: the FinOps Foundation's validator on an export, with what it must not fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::python;

/// The version with the rules of FOCUS 1.2, and the Arrow that it reads Parquet with.
const PACKAGES: [&str; 2] = ["focus-validator==2.2.1", "pyarrow==21.0.0"];

/// The rules of FOCUS 1.2 in the validator.
const RULES: &str = "1.2.0.1";

/// The validator demands of every row that it has no invoice, and that it has one.
const CONTRADICTION: [&str; 2] = ["InvoiceId-C-004-C", "InvoiceId-C-005-C"];

/// Validates a file.
pub(crate) fn validate(root: &Path, file: &str) -> Result<(), String> {
    let file = std::fs::canonicalize(file).map_err(|error| format!("{file}: {error}"))?;
    let python = python::with(&root.join("target/focus-validator"), &PACKAGES)?;
    let program = python.with_file_name("focus-validator");
    let output = Command::new(program)
        .arg("--data-file")
        .arg(&file)
        .args(["--validate-version", RULES, "--block-download", "--show-violations"])
        // It reads its list of currencies by a relative path.
        .current_dir(packages(&python)?)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("focus-validator does not start: {error}"))?;
    judge(&String::from_utf8_lossy(&output.stdout))
}

/// The folder in which the packages of a Python are.
fn packages(python: &Path) -> Result<PathBuf, String> {
    let code = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let output = Command::new(python).args(["-c", code]).output().map_err(|error| error.to_string())?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

/// Judges what the validator printed; its exit code is 0 whatever it finds.
fn judge(printed: &str) -> Result<(), String> {
    let total = printed
        .lines()
        .find(|line| line.starts_with("Total:"))
        .ok_or_else(|| format!("focus-validator printed no total:\n{printed}"))?;
    let mut failed: Vec<&str> = printed.lines().filter(|line| line.contains(": FAIL")).collect();
    eprintln!("{total}");
    failed.retain(|line| !CONTRADICTION.iter().any(|rule| line.contains(&format!("{rule}: FAIL"))));
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("{} rules do not hold:\n{}", failed.len(), failed.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_rule_is_told_and_the_contradiction_is_not() {
        let total = "Total: 578 | Pass: 136 | Fail: 1 | Skipped: 441";
        let invoice = "InvoiceId-C-004-C: FAIL  (violations=6, msg=InvoiceId MUST be NULL.)";
        assert_eq!(judge(&format!("{total}\n{invoice}\n")), Ok(()));
        let found = judge(&format!("{total}\n{invoice}\nPricingUnit-C-003-O: FAIL  (violations=3)\n"));
        assert_eq!(found.unwrap_err(), "1 rules do not hold:\nPricingUnit-C-003-O: FAIL  (violations=3)");
        assert!(judge("Traceback").is_err());
    }
}
