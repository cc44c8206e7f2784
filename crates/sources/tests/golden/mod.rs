//! Observations and rejections as short text, for comparison with a golden file.

use std::fmt::{Debug, Write};
use std::path::Path;

use ledger::{Binding, RunRecord, Timestamp, Utilisation};
use sources::telemetry::TelemetryRead;

/// The path of a file under `testdata`.
pub(crate) fn testdata(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

/// Compares with a golden file; the failure shows the whole new text.
pub(crate) fn check(name: &str, read: &TelemetryRead) {
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64, "accepted + rejections = rows");
    let shown = text(read);
    let golden = std::fs::read_to_string(testdata(name)).unwrap_or_default();
    assert!(shown == golden, "{name} should be:\n{shown}");
}

/// One line a record, without what is not said.
fn text(read: &TelemetryRead) -> String {
    let mut text = String::new();
    for seen in &read.observations {
        let modified = seen.modified_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        writeln!(text, "{} {} @{modified} {}", seen.source, seen.key, record(&seen.record)).unwrap();
    }
    for one in &read.rejections {
        let column = one.column.as_deref().unwrap_or("-");
        writeln!(
            text,
            "{}:{} {} {column}: `{}`, expected {}",
            one.file, one.row, one.code, one.found, one.expected
        )
        .unwrap();
    }
    for warning in &read.warnings {
        writeln!(text, "{}: {}", warning.code, warning.message).unwrap();
    }
    text
}

fn record(record: &RunRecord) -> String {
    match record {
        RunRecord::Binding(binding) => held(binding),
        RunRecord::Attempt(view) => said(view),
        RunRecord::Phase(phase) => said(phase),
        RunRecord::Checkpoint(checkpoint) => said(checkpoint),
        RunRecord::Interruption(interruption) => said(interruption),
        RunRecord::Quality(quality) => said(quality),
        RunRecord::Artifact(artifact) => said(artifact),
        RunRecord::Node(node) => said(node),
        RunRecord::Utilisation(told) => used(told),
        RunRecord::Stored(stored) => said(stored),
        RunRecord::Link(decision) => said(decision),
        RunRecord::Snapshot(snapshot) => said(snapshot),
    }
}

fn used(told: &Utilisation) -> String {
    let some = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let mut text = format!(
        "utilisation {} host {} {} {}..{}",
        told.device,
        told.host.as_deref().unwrap_or("-"),
        told.model.as_deref().unwrap_or("-"),
        told.window.start,
        told.window.end,
    );
    if let Some(seen) = told.coverage {
        write!(text, " saw {}/{} at {} s", seen.seen, seen.expected, seen.step_seconds).unwrap();
    }
    for gauge in &told.gauges {
        write!(text, "; {} {}", gauge.metric, gauge.samples.map_or(String::new(), |n| format!("of {n} ")))
            .unwrap();
        write!(text, "{} <= {} <= {}", some(gauge.least), some(gauge.mean), some(gauge.greatest)).unwrap();
        if let Some(low) = gauge.low {
            let stretches = (low.longest, low.at_start, low.at_end);
            write!(text, " low {} s {stretches:?} at {} mW", low.seconds, some(low.power)).unwrap();
        }
    }
    for error in &told.errors {
        write!(text, "; error {} at {}", error.code, error.at).unwrap();
    }
    text
}

fn held(b: &Binding) -> String {
    let end = b.end.map_or_else(|| "now".to_owned(), |end| end.to_string());
    let capacity = b.capacity.map_or_else(|| "?".to_owned(), |capacity| capacity.to_string());
    format!(
        "binding {} {} {} {} {}..{end} {}/{capacity} by {} gpus {} {}",
        b.kind,
        b.resource_id.as_deref().unwrap_or("-"),
        b.node_name.as_deref().unwrap_or("-"),
        b.sku.as_deref().unwrap_or("-"),
        b.start,
        b.weight,
        b.driver,
        b.gpus,
        b.method,
    )
}

/// The debug text without empty fields, and with instants as dates.
fn said(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let (name, fields) = text.split_once(" { ").unwrap_or((&text, ""));
    let fields = fields.strip_suffix(" }").unwrap_or(fields);
    let kept: Vec<String> = fields_of(fields)
        .into_iter()
        .filter(|field| ![": None", ": []", ": Unknown", ": \"\""].iter().any(|empty| field.ends_with(empty)))
        .map(|field| dated(&field))
        .collect();
    format!("{name} {}", kept.join(" "))
}

/// Splits at commas outside of brackets and quotes.
fn fields_of(text: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut fields) = (0_i32, false, vec![String::new()]);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '{' | '(' | '[' if !quoted => depth += 1,
            '}' | ')' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 && !quoted {
            fields.push(String::new());
        } else {
            fields.last_mut().unwrap().push(c);
        }
    }
    fields.into_iter().map(|field| field.trim().replace("Some(", "(")).collect()
}

fn dated(field: &str) -> String {
    let mut text = String::new();
    let mut rest = field;
    while let Some((before, after)) = rest.split_once("Timestamp(") {
        let (micros, after) = after.split_once(')').unwrap();
        text.push_str(before);
        text.push_str(&Timestamp(micros.parse().unwrap()).to_string());
        rest = after;
    }
    text + rest
}
