//! The variables that the program gets beside its own, so that trackers name the same run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value};

/// What is set for the program; everything else it inherits untouched.
///
/// `MLFLOW_RUN_CONTEXT` is what MLflow's default contexts read tags from, as a JSON object
/// (mlflow.org, `mlflow.tracking.context.system_environment_context`); tags that are there stay as they are.
pub(crate) fn of_child(
    environment: &BTreeMap<String, String>,
    (attempt, experiment): (&str, &str),
    marks: Option<&Path>,
    warn: &(dyn Fn(String) + Sync),
) -> Vec<(&'static str, OsString)> {
    let mut set: Vec<(&'static str, OsString)> = vec![
        ("TRAINBILL_ATTEMPT_ID", attempt.into()),
        ("TRAINBILL_EXPERIMENT", experiment.into()),
        ("TRAINBILL_EXPERIMENT_ID", experiment.into()),
    ];
    if let Some(marks) = marks {
        set.push(("TRAINBILL_MARKS", marks.into()));
    }
    match mlflow_context(environment.get("MLFLOW_RUN_CONTEXT"), attempt, experiment) {
        Some(context) => set.push(("MLFLOW_RUN_CONTEXT", context.into())),
        None => warn(
            "MLFLOW_RUN_CONTEXT is no JSON object and stays as it is; the run of MLflow is linked by time"
                .to_owned(),
        ),
    }
    if !environment.contains_key("WANDB_RUN_GROUP") {
        set.push(("WANDB_RUN_GROUP", experiment.into()));
    }
    let tags = environment.get("WANDB_TAGS").filter(|tags| !tags.is_empty());
    let tag = format!("attempt_alias={}", key(attempt));
    set.push(("WANDB_TAGS", tags.map_or(tag.clone(), |tags| format!("{tags},{tag}")).into()));
    set
}

/// The attempt's key, by which trackers name it.
fn key(attempt: &str) -> String {
    format!("ol:{}", attempt.to_lowercase())
}

fn mlflow_context(known: Option<&String>, attempt: &str, experiment: &str) -> Option<String> {
    let mut tags: Map<String, Value> = match known.filter(|text| !text.trim().is_empty()) {
        Some(text) => serde_json::from_str(text).ok()?,
        None => Map::new(),
    };
    for (tag, value) in [("attempt_alias", key(attempt)), ("experiment", experiment.to_owned())] {
        tags.entry(tag).or_insert(Value::String(value));
    }
    Some(Value::Object(tags).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(variables: &[(&str, &str)], name: &str) -> Option<String> {
        let environment =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let set = of_child(&environment, ("01AB", "vitl"), None, &|_| {});
        set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string_lossy().into_owned())
    }

    #[test]
    fn tags_that_are_there_stay() {
        let merged = set(&[("MLFLOW_RUN_CONTEXT", r#"{"experiment":"mine","a":"b"}"#)], "MLFLOW_RUN_CONTEXT");
        assert_eq!(merged.as_deref(), Some(r#"{"a":"b","attempt_alias":"ol:01ab","experiment":"mine"}"#));
        assert_eq!(set(&[("MLFLOW_RUN_CONTEXT", "[1]")], "MLFLOW_RUN_CONTEXT"), None);
        assert_eq!(set(&[("WANDB_TAGS", "a,b")], "WANDB_TAGS").as_deref(), Some("a,b,attempt_alias=ol:01ab"));
        assert_eq!(set(&[("WANDB_RUN_GROUP", "g")], "WANDB_RUN_GROUP"), None);
        assert_eq!(set(&[], "WANDB_RUN_GROUP").as_deref(), Some("vitl"));
    }
}
