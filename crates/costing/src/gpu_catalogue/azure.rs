//! Azure virtual machine sizes that carry accelerators; the price of a size includes them.
//!
//! learn.microsoft.com/azure/virtual-machines/sizes/overview#gpu-accelerated has a page for each series with its GPUs and
//! their memory. The sizes with a sixth or a third of an A10 (`NV6ads_A10_v5`, `NV12ads_A10_v5`) are left out: their share
//! is no decimal number, and they are made for desktops.

use super::{GpuMachine, NOT_TOLD, Provider};

const fn machine(name: &'static str, model: &'static str, thousandths: u64, memory_mib: u64) -> GpuMachine {
    GpuMachine { provider: Provider::Azure, name, model, thousandths, memory_mib, host: None }
}

/// Without the leading `Standard_`.
pub(super) const MACHINES: &[GpuMachine] = &[
    machine("NC12s_v3", "v100", 2_000, 16_384),
    machine("NC16as_T4_v3", "t4", 1_000, 16_384),
    machine("NC24ads_A100_v4", "a100-80gb", 1_000, 81_920),
    machine("NC24rs_v3", "v100", 4_000, 16_384),
    machine("NC24s_v3", "v100", 4_000, 16_384),
    machine("NC40ads_H100_v5", "h100-nvl", 1_000, 96_256),
    machine("NC48ads_A100_v4", "a100-80gb", 2_000, 81_920),
    machine("NC4as_T4_v3", "t4", 1_000, 16_384),
    machine("NC64as_T4_v3", "t4", 4_000, 16_384),
    machine("NC6s_v3", "v100", 1_000, 16_384),
    machine("NC80adis_H100_v5", "h100-nvl", 2_000, 96_256),
    machine("NC8as_T4_v3", "t4", 1_000, 16_384),
    machine("NC96ads_A100_v4", "a100-80gb", 4_000, 81_920),
    machine("ND128isr_NDR_GB200_v6", "gb200", 4_000, NOT_TOLD),
    machine("ND40rs_v2", "v100-32gb", 8_000, 32_768),
    machine("ND96amsr_A100_v4", "a100-80gb", 8_000, 81_920),
    machine("ND96asr_v4", "a100", 8_000, 40_960),
    machine("ND96isr_H100_v5", "h100", 8_000, 81_920),
    machine("ND96isr_H200_v5", "h200", 8_000, NOT_TOLD),
    machine("ND96isr_MI300X_v5", "mi300x", 8_000, 196_608),
    machine("NV18ads_A10_v5", "a10", 500, 12_288),
    machine("NV36adms_A10_v5", "a10", 1_000, 24_576),
    machine("NV36ads_A10_v5", "a10", 1_000, 24_576),
    machine("NV72ads_A10_v5", "a10", 2_000, 24_576),
];
