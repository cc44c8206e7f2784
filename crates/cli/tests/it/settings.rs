//! `config show` and where settings come from.

use std::fs;

use crate::program::{command, finish, run};

#[test]
fn every_setting_is_shown_with_its_origin() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trainbill.toml"), "# ours\nbasis = \"list\"\nmemory = \"2GiB\"\n").unwrap();
    let arguments = ["config", "show", "--origin", "--store", "elsewhere"];
    let shown = finish(command(folder.path()).args(arguments).env("TRAINBILL_THREADS", "2"));
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{shown:?}");
    let line = |key: &str| {
        let found = shown.stdout.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        found.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("basis"), "basis list file trainbill.toml:2");
    assert_eq!(line("memory"), "memory 2GiB file trainbill.toml:3");
    assert_eq!(line("threads"), "threads 2 environment TRAINBILL_THREADS");
    assert_eq!(line("store"), "store elsewhere flag --store");
    assert_eq!(line("currency"), "currency not set default");
    let without = run(folder.path(), ["config", "show"]);
    assert!(!without.stdout.contains("ORIGIN"));
}

#[test]
fn the_settings_have_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let show = |format: &str| run(folder.path(), ["config", "show", "--format", format]).stdout;
    assert!(
        show("json").contains(
            "\"key\": \"store\",\n      \"value\": \"./.trainbill\",\n      \"origin\": \"default\""
        )
    );
    assert!(
        show("jsonl").starts_with("{\"key\":\"store\",\"value\":\"./.trainbill\",\"origin\":\"default\"}\n")
    );
    assert!(show("csv").starts_with("key,value,origin\nstore,./.trainbill,default\n"));
    assert!(show("markdown").starts_with("| SETTING | VALUE |\n| --- | --- |\n| store |"));
}

#[test]
fn a_bad_file_is_blamed_by_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.toml"), "basis = \"list\"\nstoer = \"x\"\n").unwrap();
    let bad = run(folder.path(), ["ls", "--config", "own.toml"]);
    assert_eq!(bad.code, 1);
    assert!(
        bad.stderr.starts_with("error[config::unknown_key]: there is no setting `stoer`\n --> own.toml:2\n"),
        "{}",
        bad.stderr
    );
    assert!(bad.stderr.contains("2 | stoer = \"x\"\n  | ^^^^^\n"), "{}", bad.stderr);
    assert!(bad.stderr.contains("help: did you mean `store`?"), "{}", bad.stderr);
}

#[test]
fn a_file_that_is_named_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(folder.path(), ["ls", "--config", "nowhere.toml"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.starts_with("error[config::cannot_read]"), "{}", missing.stderr);
}

#[test]
fn the_program_tells_of_itself_whatever_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trainbill.toml"), "nonsense").unwrap();
    for arguments in [&["man"][..], &["completions", "bash"], &["--version"]] {
        assert_eq!(run(folder.path(), arguments).code, 0, "{arguments:?}");
    }
}
