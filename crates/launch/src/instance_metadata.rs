//! The metadata services of AWS and Google Cloud, each asked within 300 ms.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

/// A machine as its cloud tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Instance {
    pub(crate) id: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) capacity: Option<&'static str>,
}

const LIMIT: Duration = Duration::from_millis(300);

/// Longest answer read, in bytes.
const MAX_ANSWER: u64 = 256 * 1024;

/// Where both clouds have it: a link-local address, so that nothing leaves the machine's network.
const ADDRESS: &str = "http://169.254.169.254";

/// The machine; nothing where no cloud answers.
pub(crate) fn ask(environment: &BTreeMap<String, String>) -> Option<Instance> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    if set("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return None;
    }
    let config = ureq::Agent::config_builder().timeout_global(Some(LIMIT)).proxy(None).build();
    let agent = ureq::Agent::new_with_config(config);
    let aws = set("AWS_EC2_METADATA_SERVICE_ENDPOINT").map_or(ADDRESS, String::as_str);
    let google = set("GCE_METADATA_HOST").map_or_else(|| ADDRESS.to_owned(), |host| format!("http://{host}"));
    of_aws(&agent, aws.trim_end_matches('/')).or_else(|| of_google(&agent, &google))
}

/// docs.aws.amazon.com/AWSEC2/latest/UserGuide, "Use the Instance Metadata Service", version 2; categories
/// `dynamic/instance-identity/document` and `instance-life-cycle`.
fn of_aws(agent: &ureq::Agent, at: &str) -> Option<Instance> {
    let token = agent.put(format!("{at}/latest/api/token"));
    let token = token.header("X-aws-ec2-metadata-token-ttl-seconds", "60").send_empty().ok()?;
    let token = text(token)?;
    let get = |path: &str| {
        let asked = agent.get(format!("{at}/latest/{path}")).header("X-aws-ec2-metadata-token", token.trim());
        text(asked.call().ok()?)
    };
    let document: Value = serde_json::from_str(&get("dynamic/instance-identity/document")?).ok()?;
    let told = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
    let capacity = match get("meta-data/instance-life-cycle").as_deref().map(str::trim) {
        Some("spot") => Some("spot"),
        Some("on-demand") => Some("on_demand"),
        _ => None,
    };
    Some(Instance { id: Some(told("instanceId")?), kind: told("instanceType"), capacity })
}

/// cloud.google.com/compute/docs/metadata/predefined-metadata-keys; the detailed bill names an instance
/// `//compute.googleapis.com/projects/{project}/zones/{zone}/instances/{id}`, of which our bills keep the id.
fn of_google(agent: &ureq::Agent, at: &str) -> Option<Instance> {
    let asked = agent.get(format!("{at}/computeMetadata/v1/instance/?recursive=true"));
    let answer = text(asked.header("Metadata-Flavor", "Google").call().ok()?)?;
    let instance: Value = serde_json::from_str(&answer).ok()?;
    let machine = instance.get("machineType").and_then(Value::as_str);
    let kind = machine.and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    let preemptible = instance.pointer("/scheduling/preemptible").and_then(Value::as_str);
    let capacity = match preemptible {
        Some("TRUE") => Some("spot"),
        Some("FALSE") => Some("on_demand"),
        _ => None,
    };
    Some(Instance { id: Some(instance.get("id")?.as_u64()?.to_string()), kind, capacity })
}

fn text(mut answer: ureq::http::Response<ureq::Body>) -> Option<String> {
    answer.body_mut().with_config().limit(MAX_ANSWER).read_to_string().ok()
}
