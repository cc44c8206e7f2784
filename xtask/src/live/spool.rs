//! What `exec` left in its folder of records.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::web::json;

/// One attempt in the folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) experiment: Option<String>,
    /// Types of its events that tell how it stands, in their order.
    pub(super) told: Vec<String>,
}

/// The attempts by their ids.
pub(super) fn attempts(folder: &Path) -> Result<BTreeMap<String, Recorded>, String> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "ndjson") {
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            // The last line may be half written.
            lines.extend(text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned));
        }
    }
    let events = lines.iter().map(|line| json(line)).collect::<Result<Vec<_>, _>>()?;
    Ok(by_attempt(&events))
}

/// Of several processes of an attempt one alone tells how it stands, so that the order within a file is enough.
fn by_attempt(events: &[Value]) -> BTreeMap<String, Recorded> {
    let text = |event: &Value, path: &str| event.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let mut attempts: BTreeMap<String, Recorded> = BTreeMap::new();
    for event in events {
        let recorded = attempts.entry(text(event, "/run/runId").unwrap_or_default()).or_default();
        recorded.experiment = text(event, "/run/facets/parent/job/name").or(recorded.experiment.take());
        recorded.told.extend(text(event, "/eventType").filter(|kind| kind != "OTHER" && kind != "RUNNING"));
    }
    attempts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_several_processes_are_one_attempt() {
        let event = |kind: &str, experiment: Option<&str>| {
            let parent = experiment.map(|name| serde_json::json!({"job": {"name": name}}));
            serde_json::json!({"eventType": kind, "run": {"runId": "a", "facets": {"parent": parent}}})
        };
        let events = [
            event("OTHER", None),
            event("START", Some("e")),
            event("RUNNING", Some("e")),
            event("FAIL", Some("e")),
        ];
        let told = vec!["START".to_owned(), "FAIL".to_owned()];
        let recorded = Recorded { experiment: Some("e".to_owned()), told };
        assert_eq!(by_attempt(&events), BTreeMap::from([("a".to_owned(), recorded)]));
    }
}
