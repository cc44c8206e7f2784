//! Usage errors, exit codes, and what goes to which stream.

use std::io::Read;
use std::process::Stdio;

use crate::program::{Run, command, run};

fn in_empty_folder(arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), arguments)
}

fn refused(arguments: &[&str], code: &str) -> Run {
    let run = in_empty_folder(arguments);
    assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
    assert!(run.stderr.starts_with(&format!("error[{code}]: ")), "{arguments:?}: {}", run.stderr);
    run
}

#[test]
fn a_usage_error_exits_with_two() {
    for arguments in [
        &["chek"][..],
        &[][..],
        &["ls", "--basis", "cheap"],
        &["ls", "--format", "xml"],
        &["ls", "-n", "many"],
        &["ls", "-n", "3", "-a"],
        &["import", "slurm"],
        &["why", "exp", "gold"],
        &["spend", "--by", "mood"],
    ] {
        let run = in_empty_folder(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {run:?}");
        assert!(run.stdout.is_empty(), "{run:?}");
    }
    assert!(in_empty_folder(&["chek"]).stderr.contains("check"));
}

#[test]
fn help_and_version_go_to_standard_output() {
    for arguments in
        [&["--help"][..], &["help"], &["ls", "--help"], &["--version"], &["import", "slurm", "-h"]]
    {
        let run = in_empty_folder(arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
        assert!(!run.stdout.is_empty());
    }
    let help = in_empty_folder(&["ls", "--help"]).stdout;
    assert!(help.contains("experiment: name of the experiment"), "{help}");
    assert!(!help.contains("parquet"), "{help}");
}

#[test]
fn a_store_that_is_not_there_is_an_error_with_help() {
    for arguments in
        [&["ls"][..], &["show", "a"], &["why", "a"], &["spend"], &["check"], &["sql", "select 1"]]
    {
        let run = in_empty_folder(arguments);
        assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
        assert!(run.stdout.is_empty());
        assert!(run.stderr.starts_with("error[store::"), "{}", run.stderr);
        assert!(run.stderr.contains("trainbill demo"), "{}", run.stderr);
    }
}

#[test]
fn a_bad_filter_is_shown_with_the_part_to_blame() {
    let run = refused(&["ls", "--where", "tema = vision"], "filter::unknown_field");
    assert!(run.stderr.contains("1 | tema = vision\n  | ^^^^\n"), "{}", run.stderr);
    assert!(run.stderr.contains("help: did you mean `team`? fields: experiment, "), "{}", run.stderr);
}

#[test]
fn what_this_version_cannot_answer_is_refused_by_name() {
    refused(&["ls", "--net-of-credits", "--basis", "list"], "query::list_net_of_credits");
    refused(&["ls", "--scope", "fully-loaded"], "query::fully_loaded_unavailable");
    let parquet = refused(&["ls", "--format", "parquet"], "config::parquet_unavailable");
    assert!(parquet.stderr.contains("table, csv, json, jsonl or markdown"), "{}", parquet.stderr);
}

#[test]
fn a_window_needs_days_or_zones_and_must_not_be_empty() {
    refused(&["ls", "--since", "yesterday"], "query::not_a_time");
    refused(&["ls", "--since", "2026-11-01T00:00:00"], "query::not_a_time");
    refused(&["ls", "--since", "2026-11-02", "--until", "2026-11-02"], "query::empty_window");
}

#[test]
fn an_option_without_effect_is_refused() {
    refused(&["check", "--where", "team = a"], "cli::option_without_effect");
    refused(&["sql", "select 1", "--since", "2026-11-01"], "cli::option_without_effect");
    refused(&["check", "--convert-to", "USD"], "cli::option_without_effect");
    refused(&["reconcile", "--by", "invoice", "--convert-to", "USD"], "cli::option_without_effect");
    refused(&["ls", "--rates", "ecb"], "cli::option_without_effect");
}

#[test]
fn an_import_of_what_is_not_there_fails_and_makes_no_answer() {
    for arguments in [
        &["import", "aws-cur", "nowhere/bill.parquet"][..],
        &["import", "slurm", "nowhere.txt"],
        &["import", "opencost", "nowhere.json"],
        &["import", "openlineage", "nowhere.ndjson"],
        &["import", "attempts", "nowhere.csv"],
    ] {
        let run = in_empty_folder(arguments);
        assert_eq!(run.code, 1, "{arguments:?}: {run:?}");
        assert!(run.stdout.is_empty() && run.stderr.starts_with("error["), "{run:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path())
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}
