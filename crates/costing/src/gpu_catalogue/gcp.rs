//! Compute Engine machine types that carry accelerators, and the size of the hosts that accelerators are attached to.
//!
//! cloud.google.com/compute/docs/accelerator-optimized-machines tells the GPUs, processors and memory of each type,
//! cloud.google.com/compute/docs/gpus the memory of a GPU, and
//! cloud.google.com/compute/docs/general-purpose-machines#n1_machines the N1 types, to which GPUs are attached apart.
//! The local SSDs that A2 Ultra and A3 machines always have are priced apart as well (compute/docs/disks/local-ssd).

use super::{GpuMachine, Host, NOT_TOLD, Parts, Provider};

const fn machine(
    name: &'static str,
    (model, thousandths, memory_mib): (&'static str, u64, u64),
    (vcpus, memory_gib_thousandths, local_ssd_gib): (u64, u64, u64),
) -> GpuMachine {
    let slices = matches!(name.as_bytes(), [b'a', b'4', ..]);
    let parts = if slices { Parts::Slices } else { Parts::HostAndAccelerators };
    let host =
        Some(Host { family: family(name.as_bytes()), vcpus, memory_gib_thousandths, local_ssd_gib, parts });
    GpuMachine { provider: Provider::Gcp, name, model, thousandths, memory_mib, host }
}

/// Price lists call the hosts of A3 Mega `A3Plus` and those of A3 Ultra `A3Ultra`.
const fn family(name: &[u8]) -> &'static str {
    match name {
        [b'a', b'2', ..] => "a2",
        [b'a', b'3', b'-', b'm', ..] => "a3plus",
        [b'a', b'3', b'-', b'u', ..] => "a3ultra",
        [b'a', b'3', ..] => "a3",
        [b'a', b'4', ..] => "a4",
        [b'g', b'2', ..] => "g2",
        _ => "g4",
    }
}

/// Memory of a processor of each N1 series, in thousandths of a GiB.
const N1: [(&str, u64); 3] = [("n1-standard-", 3_750), ("n1-highmem-", 6_500), ("n1-highcpu-", 900)];

/// The host of an N1 type, to which any GPU is attached apart.
pub(super) fn n1_host(name: &str) -> Option<Host> {
    let (size, memory) =
        N1.iter().find_map(|(prefix, memory)| Some((name.strip_prefix(prefix)?, *memory)))?;
    let vcpus: u64 = size.parse().ok()?;
    let known = [1, 2, 4, 8, 16, 32, 64, 96].contains(&vcpus) && size == vcpus.to_string();
    known.then_some(Host {
        family: "n1",
        vcpus,
        memory_gib_thousandths: vcpus * memory,
        local_ssd_gib: 0,
        parts: Parts::HostAndAccelerators,
    })
}

/// By name.
pub(super) const MACHINES: &[GpuMachine] = &[
    machine("a2-highgpu-1g", ("a100", 1_000, 40_960), (12, 85_000, 0)),
    machine("a2-highgpu-2g", ("a100", 2_000, 40_960), (24, 170_000, 0)),
    machine("a2-highgpu-4g", ("a100", 4_000, 40_960), (48, 340_000, 0)),
    machine("a2-highgpu-8g", ("a100", 8_000, 40_960), (96, 680_000, 0)),
    machine("a2-megagpu-16g", ("a100", 16_000, 40_960), (96, 1_360_000, 0)),
    machine("a2-ultragpu-1g", ("a100-80gb", 1_000, 81_920), (12, 170_000, 375)),
    machine("a2-ultragpu-2g", ("a100-80gb", 2_000, 81_920), (24, 340_000, 750)),
    machine("a2-ultragpu-4g", ("a100-80gb", 4_000, 81_920), (48, 680_000, 1_500)),
    machine("a2-ultragpu-8g", ("a100-80gb", 8_000, 81_920), (96, 1_360_000, 3_000)),
    machine("a3-edgegpu-8g", ("h100", 8_000, 81_920), (208, 1_872_000, 6_000)),
    machine("a3-highgpu-1g", ("h100", 1_000, 81_920), (26, 234_000, 750)),
    machine("a3-highgpu-2g", ("h100", 2_000, 81_920), (52, 468_000, 1_500)),
    machine("a3-highgpu-4g", ("h100", 4_000, 81_920), (104, 936_000, 3_000)),
    machine("a3-highgpu-8g", ("h100", 8_000, 81_920), (208, 1_872_000, 6_000)),
    machine("a3-megagpu-8g", ("h100-mega", 8_000, 81_920), (208, 1_872_000, 6_000)),
    machine("a3-ultragpu-8g", ("h200", 8_000, NOT_TOLD), (224, 2_952_000, 12_000)),
    machine("a4-highgpu-8g", ("b200", 8_000, NOT_TOLD), (224, 3_968_000, 0)),
    machine("g2-standard-12", ("l4", 1_000, 24_576), (12, 48_000, 0)),
    machine("g2-standard-16", ("l4", 1_000, 24_576), (16, 64_000, 0)),
    machine("g2-standard-24", ("l4", 2_000, 24_576), (24, 96_000, 0)),
    machine("g2-standard-32", ("l4", 1_000, 24_576), (32, 128_000, 0)),
    machine("g2-standard-4", ("l4", 1_000, 24_576), (4, 16_000, 0)),
    machine("g2-standard-48", ("l4", 4_000, 24_576), (48, 192_000, 0)),
    machine("g2-standard-8", ("l4", 1_000, 24_576), (8, 32_000, 0)),
    machine("g2-standard-96", ("l4", 8_000, 24_576), (96, 384_000, 0)),
    machine("g4-standard-192", ("rtx-pro-6000", 4_000, 98_304), (192, 720_000, 0)),
    machine("g4-standard-384", ("rtx-pro-6000", 8_000, 98_304), (384, 1_440_000, 0)),
    machine("g4-standard-48", ("rtx-pro-6000", 1_000, 98_304), (48, 180_000, 0)),
    machine("g4-standard-96", ("rtx-pro-6000", 2_000, 98_304), (96, 360_000, 0)),
];
