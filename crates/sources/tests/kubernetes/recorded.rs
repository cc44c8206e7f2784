//! Objects of real clusters that a project keeps as test data of health checks; read where the data is at hand.

use std::process::Command;

use ledger::{Cause, RunRecord};
use sources::telemetry::kubernetes::{KubernetesOptions, read};

use crate::shared::shared;

/// Turns the YAML files of a folder into one JSON list; times relative to now become times relative to a fixed one.
const CONVERT: &str = r#"
import json, pathlib, re, sys, datetime, yaml
class Plain(yaml.SafeLoader): pass
Plain.yaml_implicit_resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:timestamp"] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
now = datetime.datetime(2026, 7, 1, tzinfo=datetime.timezone.utc)
unit = {"m": "minutes", "h": "hours", "d": "days", "s": "seconds"}
def at(found): return (now - datetime.timedelta(**{unit[found[2]]: int(found[1])})).strftime("%Y-%m-%dT%H:%M:%SZ")
texts = [re.sub(r"@now-(\d+)([smhd])", at, path.read_text()) for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.yaml"))]
print(json.dumps({"apiVersion": "v1", "kind": "List", "items": [yaml.load(text, Plain) for text in texts]}))
"#;

fn objects() -> Option<Vec<u8>> {
    let folder = shared("k8s_objects_is_healthy/pkg/health/testdata/Kubernetes")?;
    let output = Command::new("python3").arg("-c").arg(CONVERT).arg(&folder).output().ok()?;
    // Without a YAML library there is nothing to be read.
    output.status.success().then_some(output.stdout)
}

#[test]
fn objects_of_real_clusters_are_read_whole() {
    let Some(json) = objects() else { return };
    let options = KubernetesOptions { cluster: Some("real".to_owned()), ..KubernetesOptions::default() };
    let read = read(json.as_slice(), &options).unwrap();
    assert_eq!((read.rows, read.accepted), (32, 32), "{:?}", read.rejections);
    let causes = |cause: Cause| {
        let is = |record: &RunRecord| matches!(record, RunRecord::Attempt(view) if view.cause == cause);
        read.observations.iter().filter(|seen| is(&seen.record)).count()
    };
    let attempts =
        read.observations.iter().filter(|seen| matches!(seen.record, RunRecord::Attempt(_))).count();
    let shown = [attempts, causes(Cause::OomHost), causes(Cause::AppError), causes(Cause::LaunchFailure)];
    assert_eq!(shown, [12, 2, 2, 1]);
    let services = read.warnings.iter().find(|warning| warning.code == "kubernetes::of_no_run");
    assert_eq!(
        services.map(|warning| warning.message.as_str()),
        Some("7 pod(s) of services that hold no accelerator are not imported")
    );
}
