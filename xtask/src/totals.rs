//! `cargo xtask totals`: DuckDB, given only the raw files of bills and the documented formulae, must come to our sums.
//!
//! The formulae are `xtask/totals/<reader>.sql`, one for each reader of bills, written from the tables "Costs of a row" in
//! `docs/sources.md`. Each bill is imported by the program into a store of its own, and what `check` says of the charges
//! there is compared with what DuckDB made of the file: the same sums, to the last digit, of the same sources, periods,
//! bases and currencies.

mod bills;
mod sums;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bench::DUCKDB;
use crate::python;
use bills::Bill;
use sums::Sums;

/// Compares every bill.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let folder = crate::cargo::target(root)?.join("totals");
    let python = python::with(&folder, &[DUCKDB])?;
    let program = crate::cargo::program(root)?;
    let work = folder.join("scratch");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).map_err(|error| format!("{}: {error}", work.display()))?;
    let demo = work.join("demo");
    ours(&program, &work, &["demo", "--no-serve", "--format", "json", "--dir", &text(&demo)])?;
    let bills = bills::all(root, &demo.join("exports"))?;
    let theirs = theirs(root, (&python, &work), &bills)?;
    let (mut count, mut differences) = (0, Vec::new());
    for (number, bill) in bills.iter().enumerate() {
        let ours = imported(&program, &work, (number, bill))?;
        let theirs = Sums::of_duckdb(&theirs, number, bill.reader)?;
        if ours.is_empty() {
            differences.push(format!("{}: nothing was summed", bill.name));
        }
        count += ours.len();
        differences
            .extend(ours.differences(&theirs).map(|difference| format!("{}: {difference}", bill.name)));
    }
    if !differences.is_empty() {
        return Err(format!("{} sums differ:\n{}", differences.len(), differences.join("\n")));
    }
    eprintln!("totals: {count} sums of {} bills are those of {DUCKDB}", bills.len());
    Ok(())
}

/// What the program makes of a bill in a store of its own.
fn imported(program: &Path, work: &Path, (number, bill): (usize, &Bill)) -> Result<Sums, String> {
    let store = text(&work.join(format!("store-{number}")));
    ours(program, work, &["import", bill.reader, &text(&bill.place), "--store", &store])?;
    let answer = ours(program, work, &["check", "--format", "json", "--store", &store])?;
    Sums::of_check(&answer).map_err(|error| format!("{}: {error}", bill.name))
}

/// Runs the program and gives what it printed; settings of the folder it was called from play no part.
fn ours(program: &Path, work: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(work).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`trainbill {}` failed ({}):\n{said}", arguments.join(" "), output.status))
}

/// The lines that DuckDB's side prints for the bills, each with the number of its bill as name.
fn theirs(root: &Path, (python, work): (&Path, &Path), bills: &[Bill]) -> Result<Vec<Value>, String> {
    let folder = root.join("xtask/totals");
    let case = |(number, bill): (usize, &Bill)| {
        let sql = folder.join(format!("{}.sql", bill.reader.replace('-', "_")));
        let files: Vec<String> = bill.files.iter().map(|file| text(file)).collect();
        json!({ "name": number, "sql": text(&sql), "files": files })
    };
    let cases: Vec<Value> = bills.iter().enumerate().map(case).collect();
    let list = work.join("cases.json");
    std::fs::write(&list, Value::from(cases).to_string())
        .map_err(|error| format!("{}: {error}", list.display()))?;
    let output = Command::new(python)
        .arg(folder.join("duckdb_totals.py"))
        .arg(&list)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    if !output.status.success() {
        return Err("DuckDB could not sum the bills".to_owned());
    }
    let lines = String::from_utf8_lossy(&output.stdout);
    let read = |line: &str| serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"));
    lines.lines().map(read).collect()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
