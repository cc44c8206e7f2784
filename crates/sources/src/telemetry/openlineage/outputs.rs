//! Datasets of an event: the snapshot that was read, and the artifacts that were written.

use ledger::{Artifact, ArtifactKind};

use super::object::Object;
use crate::telemetry::attempts::Refusal;

/// Versions of the inputs, joined by `;` in the order of their text.
pub(super) fn snapshot(event: &Object<'_>) -> Result<Option<String>, Refusal> {
    let mut versions = Vec::new();
    for input in event.objects("inputs")? {
        if let Some(version) = version(&input)? {
            versions.push(version);
        }
    }
    versions.sort();
    versions.dedup();
    Ok((!versions.is_empty()).then(|| versions.join(";")))
}

/// What the run wrote.
pub(super) fn artifacts(event: &Object<'_>) -> Result<Vec<Artifact>, Refusal> {
    event.objects("outputs")?.iter().map(artifact).collect()
}

fn artifact(output: &Object<'_>) -> Result<Artifact, Refusal> {
    let name = output.required("name")?;
    let uri = match output.text("namespace")? {
        Some(namespace) if !name.contains("://") => {
            format!("{}/{}", namespace.trim_end_matches('/'), name.trim_start_matches('/'))
        }
        _ => name.to_owned(),
    };
    let facet = output.at(&["facets", "datasetType"])?;
    let declared = match facet {
        Some(facet) => {
            facet.text("datasetType")?.and_then(|word| ArtifactKind::from_word(&word.to_lowercase()))
        }
        None => None,
    };
    Ok(Artifact { kind: declared.unwrap_or_else(|| kind_of(&uri)), uri, version: version(output)? })
}

fn kind_of(uri: &str) -> ArtifactKind {
    let uri = uri.to_lowercase();
    if uri.rsplit('.').next() == Some("log") {
        return ArtifactKind::Log;
    }
    if uri.contains("checkpoint") || uri.contains("ckpt") {
        ArtifactKind::Checkpoint
    } else {
        ArtifactKind::Model
    }
}

fn version(dataset: &Object<'_>) -> Result<Option<String>, Refusal> {
    let facet = dataset.at(&["facets", "version"])?;
    facet.map_or(Ok(None), |facet| facet.owned("datasetVersion"))
}
