//! Reads lists of trackable resources such as `cpu=48,gres/gpu:a100=24,gres/gpu=24,mem=3000M,node=3`.

use std::collections::BTreeMap;

use super::fault::Refusal;

/// GPUs that one record may hold; more is taken for a broken value.
const MAX_GPUS: u64 = 10_000_000;

/// Bytes of a mebibyte, the unit of memory without a suffix.
pub(super) const MEBIBYTE: u64 = 1 << 20;

/// What of a list of resources matters here.
#[derive(Debug, Default, Clone)]
pub(super) struct Tres {
    /// `gres/gpu`.
    untyped: Option<u64>,
    /// `gres/gpu:<type>`.
    typed: BTreeMap<String, u64>,
    /// `cpu`.
    pub(super) cpus: Option<u64>,
    /// `mem` in bytes, over all nodes.
    pub(super) memory: Option<u64>,
}

impl Tres {
    /// Reads the text of a column.
    pub(super) fn from_text(text: &str, column: &str) -> Result<Self, Refusal> {
        let mut tres = Self::default();
        for item in text.trim().split(',').filter(|item| !item.is_empty()) {
            let refuse = || Refusal::new("slurm::bad_tres", column, item, "resource=count");
            let (name, value) = item.split_once('=').ok_or_else(refuse)?;
            let name = name.trim();
            if name == "mem" {
                tres.memory = Some(bytes(value, MEBIBYTE).ok_or_else(refuse)?);
            } else if name == "cpu" || name.starts_with("gres/gpu") {
                tres.count(name, value.trim().parse().map_err(|_| refuse())?, column)?;
            }
        }
        Ok(tres)
    }

    /// Takes the count of `cpu`, `gres/gpu` or `gres/gpu:<type>`; other names are not counted.
    pub(super) fn count(&mut self, name: &str, count: u64, column: &str) -> Result<(), Refusal> {
        if count > MAX_GPUS {
            return Err(Refusal::new(
                "slurm::bad_tres",
                column,
                &format!("{name}={count}"),
                "a count in reason",
            ));
        }
        match name.strip_prefix("gres/gpu") {
            Some("") => self.untyped = Some(count),
            Some(typed) => {
                if let Some(kind) = typed.strip_prefix(':') {
                    self.typed.insert(kind.to_owned(), count);
                }
            }
            None if name == "cpu" => self.cpus = Some(count),
            None => {}
        }
        Ok(())
    }

    /// GPUs over all nodes: `gres/gpu` has them all, so that the typed counts must not be added to it.
    pub(super) fn gpus(&self) -> Option<u64> {
        let sum = || self.typed.values().fold(0_u64, |sum, count| sum.saturating_add(*count)).min(MAX_GPUS);
        self.untyped.or_else(|| (!self.typed.is_empty()).then(sum))
    }

    /// The types of GPU, joined by `+` where there are several.
    pub(super) fn kind(&self) -> Option<String> {
        let held = self.typed.iter().filter(|(_, count)| **count > 0);
        let kinds: Vec<&str> = held.map(|(kind, _)| kind.as_str()).collect();
        (!kinds.is_empty()).then(|| kinds.join("+"))
    }
}

/// A size such as `422984K` or `1.5G` in bytes, by powers of 1024; `unit` is meant where there is no suffix.
pub(super) fn bytes(text: &str, unit: u64) -> Option<u64> {
    let text = text.trim();
    let shift = match text.as_bytes().last()? {
        b'K' => Some(10_u32),
        b'M' => Some(20),
        b'G' => Some(30),
        b'T' => Some(40),
        b'P' => Some(50),
        _ => None,
    };
    let digits = if shift.is_some() { text.get(..text.len() - 1)? } else { text };
    let unit = shift.map_or(unit, |shift| 1 << shift);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.get(..fraction.len().min(6))?;
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(fraction) {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let mantissa: u128 = format!("{whole}{fraction}").parse().ok()?;
    u64::try_from(mantissa.checked_mul(u128::from(unit))?.div_euclid(scale)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Trap5: `gres/gpu` has the typed ones already.
    #[test]
    fn typed_and_untyped_gpus_are_one_count() {
        let tres =
            Tres::from_text("billing=48,cpu=48,gres/gpu:a100=24,gres/gpu=24,mem=3000M,node=3", "AllocTRES")
                .unwrap();
        assert_eq!((tres.gpus(), tres.kind().as_deref(), tres.cpus), (Some(24), Some("a100"), Some(48)));
        assert_eq!(tres.memory, Some(3000 << 20));
        let typed = Tres::from_text("gres/gpu:a100=2,gres/gpu:h100=4", "AllocTRES").unwrap();
        assert_eq!((typed.gpus(), typed.kind().as_deref()), (Some(6), Some("a100+h100")));
        let none = Tres::from_text("cpu=1,gres/shard=4,license/x=1", "AllocTRES").unwrap();
        assert_eq!((none.gpus(), none.kind()), (None, None));
        assert_eq!(Tres::from_text("gres/gpu=many", "AllocTRES").unwrap_err().code, "slurm::bad_tres");
        assert_eq!(Tres::from_text("gres/gpu=99999999999", "AllocTRES").unwrap_err().code, "slurm::bad_tres");
    }

    #[test]
    fn sizes_are_in_powers_of_1024() {
        assert_eq!(bytes("422984K", 1), Some(433_135_616));
        assert_eq!(bytes("1.50G", 1), Some(1_610_612_736));
        assert_eq!(bytes("60", MEBIBYTE), Some(62_914_560));
        assert_eq!(bytes("", 1), None);
        assert_eq!(bytes("é", 1), None);
        assert_eq!(bytes("99999999999999999999999999999999999999P", 1), None);
    }
}
