//! The manual page, the completions, and `docs/cli.md`, which must not fall behind the program.

use std::fs;
use std::path::Path;

use crate::program::run;

#[test]
fn the_manual_page_names_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let page = run(folder.path(), ["man"]);
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.contains(".TH trainbill 1"), "{}", page.stdout);
    for command in [
        "import",
        "ls",
        "show",
        "why",
        "spend",
        "prices",
        "check",
        "sql",
        "demo",
        "config",
        "completions",
        "man",
    ] {
        assert!(page.stdout.contains(&format!("trainbill\\-{command}")), "{command}");
    }
}

#[test]
fn completions_are_written_for_every_shell() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(folder.path(), ["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""));
        assert!(script.stdout.contains("trainbill"), "{shell}");
    }
}

#[test]
fn the_reference_of_the_command_line_is_not_stale() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = run(folder.path(), ["man", "--markdown"]).stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let held = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        held == fresh,
        "docs/cli.md is stale; run: UPDATE_DOCS=1 cargo nextest run -p cli --test it manual"
    );
}
