//! Which machine this is, asked while the program runs already: the cloud's metadata service and the driver's own tool.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::instance_metadata::{self, Instance};

/// A machine, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Machine {
    /// Its id on the bill.
    pub(crate) instance_id: Option<String>,
    /// Its type.
    pub(crate) instance_type: Option<String>,
    /// `spot` or `on_demand`.
    pub(crate) capacity: Option<&'static str>,
    /// Its name in the cluster.
    pub(crate) node: Option<String>,
    /// Accelerators in it.
    pub(crate) gpus: Option<u64>,
    /// Their model.
    pub(crate) gpu_kind: Option<String>,
    /// Accelerators that the program may see, where that is limited.
    visible: Option<u64>,
}

impl Machine {
    /// Asks all that can tell; takes as long as they do.
    pub(crate) fn asked(environment: &BTreeMap<String, String>, node: Option<String>) -> Self {
        let Instance { id, kind, capacity } = instance_metadata::ask(environment).unwrap_or_default();
        let (gpus, gpu_kind) = accelerators(environment);
        Self {
            instance_id: id,
            instance_type: kind,
            capacity,
            node,
            gpus,
            gpu_kind,
            visible: visible(environment),
        }
    }

    /// Accelerators that the program holds; `None` where nobody tells.
    pub(crate) fn gpus_held(&self) -> Option<u64> {
        match (self.visible, self.gpus) {
            (Some(visible), Some(gpus)) => Some(visible.min(gpus)),
            (visible, gpus) => visible.or(gpus),
        }
    }
}

/// docs.nvidia.com/cuda/cuda-c-programming-guide, section "CUDA Environment Variables": a list of indices or ids.
fn visible(environment: &BTreeMap<String, String>) -> Option<u64> {
    let listed = environment.get("CUDA_VISIBLE_DEVICES")?;
    let devices = listed.split(',').map(str::trim).filter(|device| !device.is_empty());
    // What follows an invalid index is not visible.
    Some(devices.take_while(|device| *device != "-1" && *device != "NoDevFiles").count() as u64)
}

/// Number and model of the accelerators, by `nvidia-smi`; nothing where there is none.
fn accelerators(environment: &BTreeMap<String, String>) -> (Option<u64>, Option<String>) {
    let tool = environment.get("TRAINBILL_NVIDIA_SMI").map_or("nvidia-smi", String::as_str);
    let asked = Command::new(tool)
        .args(["--query-gpu=name", "--format=csv,noheader"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(answer) = asked else { return (None, None) };
    if !answer.status.success() {
        return (None, None);
    }
    let text = String::from_utf8_lossy(&answer.stdout);
    let mut names: Vec<&str> = text.lines().map(str::trim).filter(|name| !name.is_empty()).collect();
    let count = names.len() as u64;
    names.dedup();
    let kind = match names.as_slice() {
        [one] => Some((*one).to_owned()),
        _ => None,
    };
    ((count > 0).then_some(count), kind)
}
