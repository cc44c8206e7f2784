//! Finds the experiment and its versions in the texts that users attach to a job.

use ledger::{ExperimentId, ExperimentLink, LinkMethod, normalised_key};
use serde_json::{Map, Value};

/// Longest value taken, in characters.
const MAX_VALUE: usize = 512;

/// What the texts of a job name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::telemetry) struct Named {
    /// The experiment.
    pub(in crate::telemetry) experiment: Option<String>,
    /// Configuration version.
    pub(in crate::telemetry) config: Option<String>,
    /// Dataset snapshot.
    pub(in crate::telemetry) dataset: Option<String>,
    /// Model version.
    pub(in crate::telemetry) model: Option<String>,
}

impl Named {
    /// Takes a value, if the key is one of the convention and names what is not named yet.
    pub(in crate::telemetry) fn put(&mut self, key: &str, value: &str) {
        let slot = match normalised_key(key).as_str() {
            "experiment" | "experiment_id" => &mut self.experiment,
            "config" | "config_version" => &mut self.config,
            "dataset" | "dataset_snapshot" | "dataset_version" => &mut self.dataset,
            "model" | "model_version" => &mut self.model,
            _ => return,
        };
        let value = value.trim();
        if slot.is_none() && !value.is_empty() && value.chars().count() <= MAX_VALUE {
            *slot = Some(value.to_owned());
        }
    }
}

/// What the texts name, the first text that names a thing first.
pub(super) fn named(texts: &[Option<&str>]) -> Named {
    let mut named = Named::default();
    for text in texts.iter().flatten().map(|text| text.trim()) {
        if text.is_empty() || text.starts_with("JS1:") || text.starts_with("js1:") {
            // Utilisation summaries of jobstats; they name nothing.
            continue;
        }
        if text.starts_with('{') {
            object(text, &mut named);
            continue;
        }
        for pair in text.split([';', ',', ' ', '\t']) {
            if let Some((key, value)) = pair.split_once('=') {
                named.put(key, value);
            }
        }
    }
    named
}

fn object(text: &str, named: &mut Named) {
    let parse = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    // An edit by sacctmgr stores double quotes as backticks.
    let Some(object) = parse(text).or_else(|| parse(&text.replace('`', "\""))) else { return };
    for (key, value) in &object {
        match value {
            Value::String(value) => named.put(key, value),
            Value::Number(value) => named.put(key, &value.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
}

/// The link of a job to its experiment: named in a text, else by its name, else its own.
pub(super) fn link(named: Option<&str>, job_name: Option<&str>, own: &str) -> ExperimentLink {
    let (experiment, method) = match (named, job_name.and_then(name_rule)) {
        (Some(experiment), _) => (experiment, LinkMethod::Label),
        (None, Some(experiment)) => (experiment, LinkMethod::NameRule),
        (None, None) => (own, LinkMethod::OwnJob),
    };
    ExperimentLink { experiment: ExperimentId(experiment.to_owned()), method }
}

/// The experiment of a job name `<experiment>.a<number>`.
pub(in crate::telemetry) fn name_rule(name: &str) -> Option<&str> {
    let (experiment, number) = name.rsplit_once(".a")?;
    let counted = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (counted && !experiment.is_empty()).then_some(experiment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_objects_name_an_experiment() {
        for text in [
            "experiment=exp-42;attempt=0;config=git:abc",
            "experiment=exp-42 attempt=0 config=git:abc",
            "attempt=0, experiment=exp-42, config=git:abc",
            r#"{"experiment":"exp-42","config":"git:abc"}"#,
            "{`experiment_id`:`exp-42`,`config`:`git:abc`,`edited`:true}",
        ] {
            let named = named(&[Some(text)]);
            assert_eq!(named.experiment.as_deref(), Some("exp-42"), "for {text}");
            assert_eq!(named.config.as_deref(), Some("git:abc"), "for {text}");
        }
        for text in ["JS1:H4sIAAAA", "{broken", "a note about an experiment", "experiment=", ""] {
            assert_eq!(named(&[Some(text)]), Named::default(), "for {text}");
        }
    }

    #[test]
    fn the_first_text_wins_and_the_others_fill_gaps() {
        let named = named(&[Some("experiment=a"), Some("experiment=b dataset=d"), None, Some("model=m")]);
        assert_eq!(named.experiment.as_deref(), Some("a"));
        assert_eq!((named.dataset.as_deref(), named.model.as_deref()), (Some("d"), Some("m")));
    }

    #[test]
    fn a_job_name_links_only_by_its_rule() {
        assert_eq!(link(None, Some("exp-43.a12"), "own").experiment.0, "exp-43");
        assert_eq!(link(None, Some("exp-43.a12"), "own").method, LinkMethod::NameRule);
        for name in ["train", "exp.a", ".a1", "exp.alpha", "a1"] {
            assert_eq!(link(None, Some(name), "own").method, LinkMethod::OwnJob, "for {name}");
        }
        assert_eq!(link(Some("x"), Some("exp-43.a12"), "own").method, LinkMethod::Label);
    }
}
