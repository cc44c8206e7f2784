//! Quantities of processors and accelerators, as pods ask for them and nodes have them.

use std::collections::BTreeMap;

use crate::telemetry::attempts::Refusal;
use crate::telemetry::openlineage::Object;

/// Resources whose unit is one whole accelerator.
const WHOLE: [&str; 6] = [
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neurondevice",
    "google.com/tpu",
    "habana.ai/gaudi",
];

/// What comes before the profile of a slice.
pub(super) const SLICE: &str = "nvidia.com/mig-";

/// Hundredths of an accelerator that each one asked for is limited to.
const PERCENT: &str = "nvidia.com/gpucores";

/// Sevenths are what slices are counted in.
const SLICES: u64 = 7;

/// What is asked for, or there is: processors in thousandths, accelerators by the name of their resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) cpus: u64,
    devices: BTreeMap<String, u64>,
}

impl Units {
    /// Reads resources by name.
    pub(super) fn of(resources: Option<&Object<'_>>) -> Result<Self, Refusal> {
        let mut units = Self::default();
        let Some(resources) = resources else { return Ok(units) };
        for name in resources.names() {
            let is_device = WHOLE.contains(&name) || name.starts_with(SLICE) || name == PERCENT;
            if name != "cpu" && !is_device {
                continue;
            }
            let Some(value) = resources.get(name) else { continue };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let refuse = || resources.refuse("row::not_a_count", name, "a quantity such as 8, 0.5 or 500m");
            let thousandths = thousandths(&text).ok_or_else(refuse)?;
            if name == "cpu" {
                units.cpus = thousandths;
            } else {
                units.devices.insert(name.to_owned(), thousandths);
            }
        }
        Ok(units)
    }

    /// True if there is any accelerator.
    pub(super) fn has_device(&self) -> bool {
        self.devices.iter().any(|(name, count)| *count > 0 && name != PERCENT)
    }

    /// The same accelerators with as many processors.
    pub(super) fn with_cpus(self, cpus: u64) -> Self {
        Self { cpus, ..self }
    }

    /// Both together.
    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.cpus = self.cpus.saturating_add(other.cpus);
        for (name, count) in &other.devices {
            let sum = self.devices.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self
    }

    /// The larger of each.
    pub(super) fn max(mut self, other: &Self) -> Self {
        self.cpus = self.cpus.max(other.cpus);
        for (name, count) in &other.devices {
            let most = self.devices.entry(name.clone()).or_default();
            *most = (*most).max(*count);
        }
        self
    }

    /// Accelerators in thousandths, where one of a whole resource is a `part` of one.
    pub(super) fn gpus(&self, part: Part) -> u64 {
        let percent = self.devices.get(PERCENT).copied();
        let of = |(name, count): (&String, &u64)| {
            if let Some(profile) = name.strip_prefix(SLICE) {
                return slices(profile).map_or(0, |slices| count.saturating_mul(slices) / SLICES);
            }
            match percent {
                _ if name == PERCENT => 0,
                // So many hundredths of each one that is asked for.
                Some(percent) if *count > 0 => count.saturating_mul(percent) / 100_000,
                _ => count.saturating_mul(part.slices) / part.of,
            }
        };
        self.devices.iter().map(of).fold(0, u64::saturating_add)
    }
}

/// What one unit of a whole resource is of an accelerator: less than one where nodes divide them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    slices: u64,
    of: u64,
}

impl Part {
    /// A whole one.
    pub(super) const WHOLE: Self = Self { slices: 1, of: 1 };

    /// One of so many replicas of an accelerator.
    pub(super) const fn of_replicas(replicas: u64) -> Self {
        Self { slices: 1, of: if replicas == 0 { 1 } else { replicas } }
    }

    /// One slice of a profile such as `1g.5gb`.
    pub(super) fn of_profile(profile: &str) -> Option<Self> {
        slices(profile).map(|slices| Self { slices, of: SLICES })
    }
}

/// The slices of `3g.20gb`: three of seven.
fn slices(profile: &str) -> Option<u64> {
    let (count, _) = profile.split_once('g')?;
    count.parse().ok().filter(|count| (1..=SLICES).contains(count))
}

/// A quantity in thousandths: `500m`, `2`, `1.5`, `129e6`, `1Ki`.
fn thousandths(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (up, down): (u128, u128) = match suffix {
        "" => (1_000, 1),
        "n" => (1, 1_000_000),
        "u" => (1, 1_000),
        "m" => (1, 1),
        "k" => (1_000_000, 1),
        "M" => (1_000_000_000, 1),
        "G" => (1_000_000_000_000, 1),
        "Ki" => (1_024_000, 1),
        "Mi" => (1_048_576_000, 1),
        _ => {
            let power = suffix.strip_prefix(['e', 'E'])?.parse::<u32>().ok().filter(|power| *power <= 15)?;
            (10_u128.checked_pow(power)?.checked_mul(1_000)?, 1)
        }
    };
    let fraction = fraction.get(..fraction.len().min(9))?;
    let mantissa: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?.checked_mul(down)?;
    u64::try_from(mantissa.checked_mul(up)?.checked_div(scale)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn units(value: &Value) -> Units {
        Units::of(value.as_object().map(Object::root).as_ref()).unwrap()
    }

    #[test]
    fn a_quantity_is_read_in_every_form() {
        for (text, expect) in [
            ("2", Some(2_000)),
            ("500m", Some(500)),
            ("0.5", Some(500)),
            ("1e3", Some(1_000_000)),
            ("1Ki", Some(1_024_000)),
            ("250000000n", Some(250)),
            ("", None),
            ("-1", None),
            ("1.5.2", None),
            ("many", None),
            ("99999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(thousandths(text), expect, "for {text}");
        }
    }

    #[test]
    fn slices_replicas_and_hundredths_are_parts_of_an_accelerator() {
        let slice = units(&json!({"nvidia.com/mig-3g.20gb": "1", "cpu": "4"}));
        assert_eq!((slice.gpus(Part::WHOLE), slice.cpus, slice.has_device()), (428, 4_000, true));
        let one = units(&json!({"nvidia.com/gpu": 1}));
        assert_eq!(one.gpus(Part::WHOLE), 1_000);
        assert_eq!(one.gpus(Part::of_replicas(4)), 250);
        assert_eq!(one.gpus(Part::of_profile("1g.5gb").unwrap()), 142);
        // Four pods that are each limited to a quarter of one GPU hold one together.
        let quarter = units(&json!({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "25"}));
        assert_eq!(quarter.gpus(Part::WHOLE) * 4, 1_000);
        let none = units(&json!({"memory": "1Gi", "nvidia.com/gpu": "0"}));
        assert_eq!((none.gpus(Part::WHOLE), none.has_device()), (0, false));
    }
}
