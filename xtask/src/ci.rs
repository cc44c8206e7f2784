//! The gate before a merge: each step in turn, the cheapest first, stopping at the first that fails.

use std::path::Path;
use std::process::Stdio;

/// Runs the whole gate.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    cargo(root, FORMAT)?;
    crate::tidy(root)?;
    for step in steps(has_nextest(root)) {
        cargo(root, step)?;
    }
    eprintln!("» cargo xtask totals");
    crate::totals::run(root)
}

/// The arguments of one cargo call.
type Step = &'static [&'static str];

const FORMAT: Step = &["fmt", "--all", "--check"];
const LINT: Step = &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
const TEST_NEXTEST: Step = &["nextest", "run", "--workspace", "--locked", "--profile", "ci"];
const TEST_PLAIN: Step = &["test", "--workspace", "--lib", "--bins", "--tests", "--locked", "--no-fail-fast"];
const TEST_EXAMPLES: Step = &["test", "--doc", "-p", "money", "--locked"];

/// What follows the format and tidy checks; without nextest the plain runner takes its place.
fn steps(has_nextest: bool) -> [Step; 3] {
    [LINT, if has_nextest { TEST_NEXTEST } else { TEST_PLAIN }, TEST_EXAMPLES]
}

fn has_nextest(root: &Path) -> bool {
    let mut command = crate::cargo::cargo();
    command.args(["nextest", "--version"]).current_dir(root);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn cargo(root: &Path, step: Step) -> Result<(), String> {
    let line = format!("cargo {}", step.join(" "));
    eprintln!("» {line}");
    let status = crate::cargo::cargo().args(step).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{line}` failed ({status})")),
        Err(error) => Err(format!("`{line}` could not be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_errors_and_every_crate_is_tested_with_either_runner() {
        for has_nextest in [true, false] {
            let [lint, test, examples] = steps(has_nextest);
            assert!(lint.ends_with(&["-D", "warnings"]));
            assert_eq!(test[0], if has_nextest { "nextest" } else { "test" });
            assert!(test.contains(&"--workspace"));
            assert!(examples.contains(&"--doc"));
        }
    }

    #[test]
    fn a_failing_step_is_named() {
        let error = cargo(Path::new("."), &["no-such-subcommand"]).unwrap_err();
        assert!(error.contains("cargo no-such-subcommand"), "{error}");
    }
}
