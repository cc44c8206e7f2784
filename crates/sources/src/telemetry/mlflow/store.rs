//! The file store: a folder for every experiment, and in it one for every run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};

use super::Import;
use super::answer::source_uri;
use super::facts::{Dataset, Facts, Fields, number, time};
use super::yaml;
use crate::SourceError;
use crate::telemetry::attempts::{Lines, Refusal, cannot_read};
use crate::telemetry::shared::folder::Found;
use crate::telemetry::shared::series::Point;

/// Largest `meta.yaml` or tag, in bytes.
const MAX_TEXT: u64 = 1024 * 1024;

type Meta = BTreeMap<String, String>;

/// Reads every run of the store.
pub(super) fn read(files: &[Found], import: &mut Import<'_>) -> Result<(), SourceError> {
    let mut runs: BTreeMap<&str, Facts> = BTreeMap::new();
    let mut datasets: BTreeMap<&str, Dataset> = BTreeMap::new();
    for found in files.iter().filter(|found| found.last() == "meta.yaml") {
        let meta = yaml::flat(&text(found)?);
        let folder = found.folder();
        if meta.contains_key("digest") {
            let field = |name: &str| meta.get(name).cloned().unwrap_or_default();
            let uri = meta.get("source").and_then(|source| source_uri(source));
            let id = folder.rsplit('/').next().unwrap_or_default();
            datasets.insert(id, Dataset { name: field("name"), digest: field("digest"), uri });
        } else if meta.contains_key("run_id") || meta.contains_key("run_uuid") {
            let taken = facts(&meta).map(|facts| {
                runs.insert(folder, facts);
            });
            import.read.count(taken, &found.name, 1);
        } else if let (Some(id), true) = (meta.get("experiment_id"), !meta.contains_key("model_id")) {
            import.experiments.note(id, meta.get("name").map(String::as_str));
            import.read.count(Ok(()), &found.name, 1);
        }
    }
    for found in files {
        if let Some((folder, metric)) = found.name.split_once("/metrics/") {
            let Some(facts) = runs.get_mut(folder) else { continue };
            history(found, metric, facts, import)?;
        } else if let Some((folder, tag)) = found.name.split_once("/tags/") {
            let value = text(found)?;
            match runs.get_mut(folder) {
                Some(facts) => facts.tag(tag, &value),
                None => import.experiments.tag(folder.rsplit('/').next().unwrap_or_default(), tag, &value),
            }
        } else if let Some((folder, _)) = found.name.split_once("/inputs/")
            && let Some(facts) = runs.get_mut(folder)
            && found.last() == "meta.yaml"
        {
            let meta = yaml::flat(&text(found)?);
            let dataset = meta.get("source_id").and_then(|id| datasets.get(id.as_str()));
            facts.datasets.extend(dataset.cloned());
        }
    }
    for facts in runs.into_values() {
        import.run(facts);
    }
    Ok(())
}

fn facts(meta: &Meta) -> Result<Facts, Refusal> {
    let field = |name: &str| meta.get(name).map(String::as_str);
    Facts::of(&Fields {
        id: field("run_id").or_else(|| field("run_uuid")),
        experiment_id: field("experiment_id"),
        name: field("run_name"),
        user: field("user_id"),
        status: meta.get("status").cloned(),
        start: meta.get("start_time").cloned(),
        end: meta.get("end_time").cloned(),
        artifact_uri: field("artifact_uri"),
    })
}

/// Lines of time, value and step.
fn history(
    found: &Found,
    metric: &str,
    facts: &mut Facts,
    import: &mut Import<'_>,
) -> Result<(), SourceError> {
    let broken = |error: std::io::Error| cannot_read("mlflow::cannot_read", &found.name, &error);
    let mut lines = Lines::new(BufReader::new(File::open(&found.path).map_err(broken)?));
    while let Some((number, line)) = lines.next_line().map_err(broken)? {
        let taken = line.and_then(point).map(|point| facts.measured(metric, point));
        import.read.count(taken, &found.name, number);
    }
    Ok(())
}

fn point(line: &[u8]) -> Result<Point, Refusal> {
    let line = String::from_utf8_lossy(line);
    let refuse =
        || Refusal::of_record("row::not_a_value", &line, "a time in milliseconds, a value and a step");
    let mut parts = line.split_whitespace();
    let at = time("timestamp", parts.next())?.ok_or_else(refuse)?;
    let value = parts.next().and_then(number).ok_or_else(refuse)?;
    let step = parts.next().and_then(|step| step.parse().ok());
    Ok(Point { at, step, value })
}

fn text(found: &Found) -> Result<String, SourceError> {
    let broken = |error: std::io::Error| cannot_read("mlflow::cannot_read", &found.name, &error);
    let mut bytes = Vec::new();
    File::open(&found.path).map_err(broken)?.take(MAX_TEXT).read_to_end(&mut bytes).map_err(broken)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
