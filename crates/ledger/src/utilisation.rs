//! How busy a device was: summaries of samples over a window, as evidence of waste; nothing is priced by them.

use crate::basis::words;
use crate::telemetry::Initiator;
use crate::{Interval, Timestamp};

/// A share of one, in the unit of [`Gauge`]: millionths.
pub const WHOLE_SHARE: u64 = 1_000_000;

/// A share below this is little use: five hundredths, in millionths.
pub const LOW_SHARE: u64 = 50_000;

words! {
    /// What was measured; the unit is part of the meaning, and every value is a whole number of it.
    Metric {
        /// Share of time in which any kernel ran, in millionths; it is full while a kernel hangs.
        GpuBusy => "gpu_busy",
        /// Share of time in which the graphics or compute engine was active, in millionths.
        EngineActive => "engine_active",
        /// Share of time in which a multiprocessor had work, in millionths.
        SmActive => "sm_active",
        /// Share of cycles in which the tensor pipes were active, in millionths.
        TensorActive => "tensor_active",
        /// Share of cycles in which device memory was read or written, in millionths.
        MemoryActive => "memory_active",
        /// Device memory in use, in bytes.
        MemoryUsed => "memory_used",
        /// Device memory that there is, in bytes.
        MemoryTotal => "memory_total",
        /// Power drawn, in milliwatts.
        Power => "power",
        /// Share of the processors held that were busy, in millionths.
        CpuBusy => "cpu_busy",
        /// Host memory in use, in bytes.
        HostMemoryUsed => "host_memory_used",
        /// Host memory held, in bytes.
        HostMemoryTotal => "host_memory_total",
    }
}

/// What one device did during a window, in thousandths and millionths and never in floats.
///
/// What is not measured is absent, and a time without a sample is no time at rest: `coverage` tells how much was seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utilisation {
    /// The device: the accelerator's own id (with `/` and the slice of it), else `{host}/{index}`; a host by its name.
    pub device: String,
    /// The host that it is in, as the source calls it.
    pub host: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The time that is summed up.
    pub window: Interval,
    /// How many samples were expected and seen, where the source samples and tells them.
    pub coverage: Option<Coverage>,
    /// One summary for each metric that was measured, in the order of [`Metric`].
    pub gauges: Vec<Gauge>,
    /// Errors that the device reported during the window.
    pub errors: Vec<DeviceError>,
}

impl Utilisation {
    /// The summary of a metric.
    pub fn gauge(&self, metric: Metric) -> Option<&Gauge> {
        self.gauges.iter().find(|gauge| gauge.metric == metric)
    }
}

/// How much of a window was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coverage {
    /// Seconds that one sample stands for.
    pub step_seconds: u32,
    /// Samples that the window has room for.
    pub expected: u32,
    /// Instants at which any metric had a value; each counts once, however many told it.
    pub seen: u32,
}

/// One metric over a window, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gauge {
    /// What was measured.
    pub metric: Metric,
    /// Samples with a value; `None` where the source gives the summary alone.
    pub samples: Option<u32>,
    /// Mean of the samples, rounded down.
    pub mean: Option<u64>,
    /// Least sample.
    pub least: Option<u64>,
    /// Greatest sample.
    pub greatest: Option<u64>,
    /// Of a share: the time below [`LOW_SHARE`], where there are samples.
    pub low: Option<Low>,
}

impl Gauge {
    /// A gauge of which nothing is known but that it was measured.
    pub const fn of(metric: Metric) -> Self {
        Self { metric, samples: None, mean: None, least: None, greatest: None, low: None }
    }
}

/// The time in which a share was below [`LOW_SHARE`], in seconds that samples stand for.
///
/// Stretches have no gap between their samples. Those at the edges of the window are told apart, so that the windows
/// before and after can be joined to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Low {
    /// All such time.
    pub seconds: u32,
    /// The longest stretch.
    pub longest: u32,
    /// The stretch that the window begins with.
    pub at_start: u32,
    /// The stretch that the window ends with.
    pub at_end: u32,
    /// The most power drawn in that time, in milliwatts; `None` if power is not known for any of it.
    pub power: Option<u64>,
}

/// An error that a device reported, such as an NVIDIA XID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceError {
    /// When it was first seen.
    pub at: Timestamp,
    /// The code.
    pub code: u32,
}

impl DeviceError {
    /// Who caused an NVIDIA XID: codes of ECC, of remapped rows, of NVLink and of the bus are the hardware's, illegal
    /// accesses, preempted channels and faults of a kernel the program's; of any other code nothing is claimed.
    ///
    /// See <https://docs.nvidia.com/deploy/xid-errors/>.
    pub const fn initiator(self) -> Initiator {
        match self.code {
            48 | 63 | 64 | 74 | 79 | 94 | 95 => Initiator::Hardware,
            13 | 31 | 43 | 45 => Initiator::App,
            _ => Initiator::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Trap24.
    #[test]
    fn xid_43_is_the_program_s_and_79_is_the_bus() {
        let of = |code| DeviceError { at: Timestamp(0), code }.initiator();
        for code in [13, 31, 43, 45] {
            assert_eq!(of(code), Initiator::App, "for {code}");
        }
        for code in [48, 63, 64, 74, 79, 94, 95] {
            assert_eq!(of(code), Initiator::Hardware, "for {code}");
        }
        assert_eq!(of(0), Initiator::Unknown);
        assert_eq!(of(119), Initiator::Unknown);
    }
}
