//! A job of a workspace.

use ledger::{
    Artifact, ArtifactKind, AttemptView, Capacity, Cause, Chain, ExperimentId, ExperimentLink, LinkMethod,
    Observation, Outcome, RunRecord, RunState,
};

use super::AzureMlOptions;
use crate::Zone;
use crate::telemetry::attempts::{Labels, Refusal, moment};
use crate::telemetry::openlineage::Object;

/// Kinds whose children run.
const PARENTS: [&str; 2] = ["sweep", "pipeline"];

/// Everything that a resource says; nothing, if it is no job that runs itself.
pub(super) fn observations(
    resource: &Object<'_>,
    options: &AzureMlOptions,
) -> Result<Vec<Observation>, Refusal> {
    let id = resource.required("id")?;
    let Some(properties) = resource.object("properties")?.filter(|_| is_job(id)) else {
        return Ok(Vec::new());
    };
    let kind = properties.text("jobType")?.unwrap_or_default().to_lowercase();
    if PARENTS.contains(&kind.as_str()) {
        return Ok(Vec::new());
    }
    let mut records = vec![RunRecord::Attempt(view(resource, &properties, options)?)];
    if let Some(outputs) = properties.object("outputs")? {
        for name in outputs.names() {
            let Some(output) = outputs.object(name)? else { continue };
            let is_model = output.text("jobOutputType")?.is_some_and(|kind| kind.contains("model"));
            let kind = if is_model { ArtifactKind::Model } else { ArtifactKind::Dataset };
            let artifact = |uri| RunRecord::Artifact(Artifact { kind, uri, version: None });
            records.extend(output.owned("uri")?.map(artifact));
        }
    }
    let system = resource.object("systemData")?;
    let modified_at =
        system.map_or(Ok(None), |system| moment(&system, "lastModifiedAt", &Zone::Undeclared))?;
    let key = format!("azureml:{}:0", id.to_lowercase());
    let observed =
        |record| Observation { source: options.source.clone(), key: key.clone(), modified_at, record };
    Ok(records.into_iter().map(observed).collect())
}

fn is_job(id: &str) -> bool {
    let id = id.to_lowercase();
    id.contains("/providers/microsoft.machinelearningservices/workspaces/") && id.contains("/jobs/")
}

fn view(
    resource: &Object<'_>,
    properties: &Object<'_>,
    options: &AzureMlOptions,
) -> Result<AttemptView, Refusal> {
    let labels = Labels::of(properties, &["tags", "properties"])?;
    let system = resource.object("systemData")?;
    let created =
        system.as_ref().map_or(Ok(None), |system| moment(system, "createdAt", &Zone::Undeclared))?;
    let link = match properties.owned("experimentName")? {
        Some(name) => Some(ExperimentLink { experiment: ExperimentId(name), method: LinkMethod::Explicit }),
        None => labels.link(&options.experiment_keys),
    };
    let (state, outcome, cause) = ending(properties)?;
    let resources = properties.object("resources")?;
    let nodes = resources.map_or(Ok(None), |resources| resources.small_count("instanceCount"))?;
    let tier = properties.object("queueSettings")?;
    let tier = tier.map_or(Ok(None), |settings| settings.owned("jobTier"))?;
    let compute = properties.text("computeId")?.map(|id| id.rsplit('/').next().unwrap_or(id).to_owned());
    let name = match properties.owned("displayName")? {
        Some(name) => Some(name),
        None => resource.owned("name")?,
    };
    let view = AttemptView {
        aliases: resource.owned("name")?.into_iter().collect(),
        link,
        chain: Some(Chain {
            job: format!("azureml:{}", resource.required("id")?.to_lowercase()),
            resizing: false,
        }),
        name,
        user: system.map_or(Ok(None), |system| system.owned("createdBy"))?,
        queue: compute,
        submitted_at: created,
        state,
        outcome,
        cause,
        node_count: nodes,
        capacity: if tier.as_deref() == Some("Spot") { Capacity::Spot } else { Capacity::Unknown },
        ..AttemptView::of_scheduler("azure-ml".to_owned())
    };
    Ok(labels.described(view))
}

fn ending(properties: &Object<'_>) -> Result<(RunState, Outcome, Cause), Refusal> {
    let open = |state| (state, Outcome::Unknown, Cause::Unknown);
    Ok(match properties.text("status")? {
        Some("Completed") => (RunState::Ended, Outcome::Completed, Cause::Unknown),
        Some("Failed") => (RunState::Ended, Outcome::Failed, Cause::Unknown),
        Some("Canceled") => (RunState::Ended, Outcome::Cancelled, Cause::UserCancelled),
        Some("Running" | "Finalizing" | "CancelRequested" | "NotResponding" | "Paused") => {
            open(RunState::Running)
        }
        Some(
            "NotStarted" | "Starting" | "Provisioning" | "Preparing" | "Queued" | "Scheduled" | "Unknown",
        )
        | None => open(RunState::Pending),
        Some(_) => {
            return Err(properties.refuse("row::unknown_word", "status", "a status such as Completed"));
        }
    })
}
