//! Which accelerators a machine type has: model, count and memory, as AWS, Google Cloud and Azure publish them.
//!
//! The count never follows from the size: `g4dn.16xlarge` has one GPU, `g4dn.12xlarge` four. Counts are thousandths, so
//! that a part of a GPU is exact. Each provider's file names the pages that its facts are from.

mod aws;
mod azure;
mod gcp;

use ledger::GpuSpec;
use money::Quantity;

/// Whose machine it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
    /// Microsoft Azure.
    Azure,
}

impl Provider {
    /// The word for this provider, as in price rows.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Gcp => "gcp",
            Self::Azure => "azure",
        }
    }
}

/// Memory that the provider does not tell, or tells in no whole MiB.
const NOT_TOLD: u64 = 0;

/// A machine type with accelerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuMachine {
    /// Whose it is.
    pub provider: Provider,
    /// The type's name; Azure's without `Standard_`.
    pub name: &'static str,
    /// Model of its accelerators.
    pub model: &'static str,
    /// Accelerators, in thousandths.
    pub thousandths: u64,
    memory_mib: u64,
    /// Its host, where the provider prices it apart.
    pub host: Option<Host>,
}

/// How the parts of a machine are priced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Processors, memory and accelerators each have a SKU.
    HostAndAccelerators,
    /// One SKU for each accelerator carries its slice of the host too.
    Slices,
}

/// The size of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// How its processors and memory are named on price lists: `a2` of `a2-core`.
    pub family: &'static str,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory, in thousandths of a GiB.
    pub memory_gib_thousandths: u64,
    /// Local SSDs that the machine always has, in GiB.
    pub local_ssd_gib: u64,
    /// How its parts are priced.
    pub parts: Parts,
}

impl GpuMachine {
    /// Memory of one accelerator, or of the part that the machine has, in MiB; `None` where not told.
    pub const fn memory_mib(&self) -> Option<u64> {
        if self.memory_mib == NOT_TOLD { None } else { Some(self.memory_mib) }
    }

    /// Its accelerators as a record.
    pub fn gpus(&self) -> GpuSpec {
        GpuSpec {
            model: self.model.to_owned(),
            count: Quantity::from_thousandths(self.thousandths),
            memory_mib: self.memory_mib(),
        }
    }
}

/// The machine of a type's name, or `None` if no type with accelerators is known by it.
///
/// The `ml.` of a managed service and Azure's `Standard_` do not matter.
pub fn find(machine_type: &str) -> Option<&'static GpuMachine> {
    let name = machine_type.trim();
    let name = name.strip_prefix("ml.").unwrap_or(name);
    let by_name = |machines: &'static [GpuMachine]| {
        machines.binary_search_by(|known| known.name.cmp(name)).ok().and_then(|at| machines.get(at))
    };
    by_name(aws::MACHINES).or_else(|| by_name(gcp::MACHINES)).or_else(|| azure(name))
}

fn azure(name: &str) -> Option<&'static GpuMachine> {
    let bare = match name.split_at_checked("standard_".len()) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case("standard_") => rest,
        Some(_) | None => name,
    };
    azure::MACHINES.iter().find(|known| known.name.eq_ignore_ascii_case(bare))
}

/// The size of a host that its provider prices by its parts, or `None` if it is not known.
pub fn host(machine_type: &str) -> Option<Host> {
    find(machine_type).map_or_else(|| gcp::n1_host(machine_type.trim()), |machine| machine.host)
}

/// Every known machine.
pub fn all() -> impl Iterator<Item = &'static GpuMachine> {
    [aws::MACHINES, gcp::MACHINES, azure::MACHINES].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order_and_every_machine_is_found() {
        for machines in [aws::MACHINES, gcp::MACHINES] {
            assert!(machines.windows(2).all(|pair| pair[0].name < pair[1].name));
        }
        for machine in all() {
            assert_eq!(find(machine.name), Some(machine));
            assert!(machine.thousandths > 0 && machine.thousandths <= 16_000, "{}", machine.name);
        }
    }

    #[test]
    fn the_count_never_follows_from_the_size() {
        let count = |name: &str| find(name).map(|found| found.gpus().count.to_string());
        let check = |name: &str, expect: &str| assert_eq!(count(name).as_deref(), Some(expect), "{name}");
        check("g4dn.16xlarge", "1");
        check("g4dn.12xlarge", "4");
        check("ml.p4d.24xlarge", "8");
        check("p3.16xlarge", "8");
        check("g6f.2xlarge", "0.25");
        check("trn1.32xlarge", "16");
        check("a2-megagpu-16g", "16");
        check("g2-standard-32", "1");
        check("g2-standard-24", "2");
        check("Standard_NC16as_T4_v3", "1");
        check("standard_nd96isr_h100_v5", "8");
        assert_eq!(count("m5.large"), None);
        assert_eq!(count("n1-standard-8"), None);
    }

    #[test]
    fn a_host_has_its_size_where_its_parts_are_priced() {
        let size = |name| host(name).map(|host| (host.vcpus, host.memory_gib_thousandths));
        assert_eq!(size("a2-highgpu-1g"), Some((12, 85_000)));
        assert_eq!(size("n1-standard-8"), Some((8, 30_000)));
        assert_eq!(size("n1-highmem-96"), Some((96, 624_000)));
        assert_eq!(size("n1-standard-7"), None);
        assert_eq!(size("n1-standard-08"), None);
        assert_eq!(size("p4d.24xlarge"), None);
        assert_eq!(host("a4-highgpu-8g").map(|host| host.parts), Some(Parts::Slices));
    }
}
