//! A node: which machine it is, what was bought, and how many accelerators and processors it has.

use ledger::{Capacity, NodePeriod, Timestamp};

use super::meta::Meta;
use super::quantity::{Part, Units};
use crate::telemetry::attempts::Refusal;
use crate::telemetry::opencost::billed_id;
use crate::telemetry::openlineage::Object;

/// A node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: String,
    created: Option<Timestamp>,
    /// When it was taken down, if it is known to be gone.
    gone: Option<Timestamp>,
    instance_id: Option<String>,
    instance_type: Option<String>,
    pub(super) bought: Capacity,
    pub(super) gpu_kind: Option<String>,
    /// What one unit of its accelerator resource is.
    pub(super) part: Part,
    /// Accelerators in thousandths, where it has any.
    pub(super) gpus: Option<u64>,
    /// Processors in thousandths.
    pub(super) cpus: Option<u64>,
}

impl Node {
    pub(super) fn of(object: &Object<'_>, is_gone: bool) -> Result<Self, Refusal> {
        let meta = Meta::of(object)?;
        let spec = object.object("spec")?;
        let provider = spec.map_or(Ok(None), |spec| spec.owned("providerID"))?;
        let has = Units::of(object.at(&["status", "capacity"])?.as_ref())?;
        let any = |keys: &[&str]| keys.iter().find_map(|key| meta.labels.get(key)).map(str::to_owned);
        let count = |key: &str| meta.labels.get(key).and_then(|text| text.parse::<u64>().ok());
        let product = any(&["nvidia_com_gpu_product"]);
        let part = match product.as_deref().and_then(|product| product.split_once("-MIG-")) {
            Some((_, profile)) => Part::of_profile(profile),
            None => count("nvidia_com_gpu_replicas").map(Part::of_replicas),
        };
        let part = part.unwrap_or(Part::WHOLE);
        let physical = count("nvidia_com_gpu_count").and_then(|count| count.checked_mul(1_000));
        Ok(Self {
            created: meta.created,
            gone: if is_gone { meta.deleted } else { None },
            instance_id: provider.map(|id| billed_id(&id)).filter(|id| *id != meta.name),
            instance_type: any(&["node_kubernetes_io_instance_type", "beta_kubernetes_io_instance_type"]),
            bought: bought(&meta),
            gpu_kind: product.or_else(|| {
                any(&[
                    "cloud_google_com_gke_accelerator",
                    "karpenter_k8s_aws_instance_gpu_name",
                    "k8s_amazonaws_com_accelerator",
                    "amd_com_gpu_product_name",
                ])
            }),
            part,
            gpus: physical.or_else(|| has.has_device().then(|| has.gpus(part))),
            cpus: Some(has.cpus).filter(|cpus| *cpus > 0),
            name: meta.name,
        })
    }

    /// True for an earlier view of the same node: names are used again by other machines.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.created, &self.instance_id) == (other.created, &other.instance_id)
    }

    /// The machine that it was from its making on, if its provider and its making are told.
    pub(super) fn period(&self, cluster: &str) -> Option<NodePeriod> {
        Some(NodePeriod {
            cluster: cluster.to_owned(),
            node_name: self.name.clone(),
            start: self.created?,
            end: self.gone,
            instance_id: self.instance_id.clone()?,
            instance_type: self.instance_type.clone(),
            capacity: self.bought,
        })
    }
}

/// What was bought, in the words of Karpenter and the three providers' own node pools.
fn bought(meta: &Meta) -> Capacity {
    let label = |key: &str| meta.labels.get(key).map(str::to_ascii_lowercase);
    if ["cloud_google_com_gke_spot", "cloud_google_com_gke_preemptible"]
        .iter()
        .any(|key| label(key).as_deref() == Some("true"))
    {
        return Capacity::Spot;
    }
    let keys = [
        "karpenter_sh_capacity_type",
        "eks_amazonaws_com_capacity_type",
        "cloud_google_com_gke_provisioning",
        "kubernetes_azure_com_scalesetpriority",
    ];
    match keys.iter().find_map(|key| label(key)).as_deref() {
        Some("spot" | "preemptible") => Capacity::Spot,
        Some("on-demand" | "on_demand" | "standard" | "regular") => Capacity::OnDemand,
        Some("reserved" | "reservation" | "capacity_block") => Capacity::Reserved,
        Some(_) | None => Capacity::Unknown,
    }
}
