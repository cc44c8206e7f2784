//! Container instances: which machine each is, and how many accelerators and processors it has.

use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;

/// The machine behind a container instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Machine {
    pub(super) instance_id: String,
    pub(super) instance_type: Option<String>,
    /// Accelerators in thousandths.
    pub(super) gpus: Option<u64>,
    /// Processors in thousandths.
    pub(super) cpus: Option<u64>,
}

impl Machine {
    /// The ARN of a container instance, and its machine.
    pub(super) fn of(one: &Object<'_>) -> Result<(String, Self), Refusal> {
        let mut instance_type = None;
        for attribute in one.objects("attributes")? {
            if attribute.text("name")? == Some("ecs.instance-type") {
                instance_type = attribute.owned("value")?;
            }
        }
        let (mut gpus, mut cpus) = (None, None);
        for resource in one.objects("registeredResources")? {
            match resource.text("name")? {
                // Units of a processor are 1024ths.
                Some("CPU") => {
                    cpus = resource.count("integerValue")?.map(|units| units.saturating_mul(1_000) / 1_024)
                }
                Some("GPU") => {
                    let count = u64::try_from(resource.texts("stringSetValue")?.len()).unwrap_or(0);
                    gpus = Some(count.saturating_mul(1_000)).filter(|gpus| *gpus > 0);
                }
                Some(_) | None => {}
            }
        }
        let instance_id = one.required("ec2InstanceId")?.to_owned();
        let arn = one.required("containerInstanceArn")?.to_owned();
        Ok((arn, Self { instance_id, instance_type, gpus, cpus }))
    }
}
