//! What an id of a resource is, by its shape, and the id by which a bill names it.

use ledger::BindingKind;

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::telemetry) struct Resource {
    pub(in crate::telemetry) kind: BindingKind,
    /// As a bill names it.
    pub(in crate::telemetry) id: String,
}

impl Resource {
    /// The resource of an id; whatever has no known shape is a resource of unknown kind.
    pub(in crate::telemetry) fn of(text: &str) -> Self {
        let text = text.trim();
        for scheme in ["s3://", "gs://", "arn:aws:s3:::", "arn:aws-cn:s3:::", "arn:aws-us-gov:s3:::"] {
            if let Some(bucket) = text.strip_prefix(scheme) {
                return Self { kind: BindingKind::BucketPrefix, id: bucket.trim_end_matches('/').to_owned() };
            }
        }
        // Bills name instances and volumes by their bare ids, and everything else of AWS by its ARN.
        let bare =
            text.rsplit_once('/').filter(|(path, _)| path.starts_with("arn:")).map_or(text, |(_, id)| id);
        if bare.starts_with("i-") {
            return Self { kind: BindingKind::Instance, id: bare.to_owned() };
        }
        if bare.starts_with("vol-") {
            return Self { kind: BindingKind::Volume, id: bare.to_owned() };
        }
        let kind = if is_machine_elsewhere(text) {
            BindingKind::Instance
        } else if text.starts_with("arn:") && text.contains(":training-job/") {
            BindingKind::ManagedJob
        } else if text.starts_with("arn:") && text.contains(":pod/") {
            BindingKind::Pod
        } else {
            BindingKind::Resource
        };
        Self { kind, id: text.to_owned() }
    }
}

/// True for the full name of a machine of Google Cloud or Azure, as their bills have it.
fn is_machine_elsewhere(text: &str) -> bool {
    let is_google = text.starts_with("//compute.googleapis.com/projects/") || text.starts_with("projects/");
    is_google && text.contains("/zones/") && text.contains("/instances/")
        || text.to_ascii_lowercase().contains("/providers/microsoft.compute/virtualmachines/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_an_id_tells_what_it_is() {
        for (text, kind, id) in [
            ("i-0abc", BindingKind::Instance, "i-0abc"),
            ("arn:aws:ec2:us-east-1:1:instance/i-0abc", BindingKind::Instance, "i-0abc"),
            ("vol-1", BindingKind::Volume, "vol-1"),
            (
                "arn:aws:sagemaker:us-east-1:1:training-job/t",
                BindingKind::ManagedJob,
                "arn:aws:sagemaker:us-east-1:1:training-job/t",
            ),
            ("arn:aws:eks:us-east-1:1:pod/c/n/p/u", BindingKind::Pod, "arn:aws:eks:us-east-1:1:pod/c/n/p/u"),
            ("s3://bucket/prefix/", BindingKind::BucketPrefix, "bucket/prefix"),
            ("arn:aws:s3:::bucket", BindingKind::BucketPrefix, "bucket"),
            ("fs-0123", BindingKind::Resource, "fs-0123"),
            (
                "//compute.googleapis.com/projects/p/zones/us-central1-a/instances/1",
                BindingKind::Instance,
                "//compute.googleapis.com/projects/p/zones/us-central1-a/instances/1",
            ),
            (
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm-1",
                BindingKind::Instance,
                "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm-1",
            ),
            (
                "projects/p/locations/l/trainingJobs/1",
                BindingKind::Resource,
                "projects/p/locations/l/trainingJobs/1",
            ),
        ] {
            assert_eq!(Resource::of(text), Resource { kind, id: id.to_owned() }, "for {text}");
        }
    }
}
