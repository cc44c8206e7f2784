//! What the words of a line tell whatever else stands in its row; worked out once for each of a bill's different lines.

use super::meter::{Meter, MeterText, instance_type_of_usage, is_inference, meter};
use crate::billing::table::memo::{BySymbols, Memo};

/// What product, usage type and operation tell of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) meter: Meter,
    /// The fee of a capacity block.
    pub(super) is_block_fee: bool,
    /// An hour inside of a capacity block.
    pub(super) is_block_usage: bool,
    /// A reservation that nothing ran on.
    pub(super) is_unused_reservation: bool,
    /// The hours of a capacity reservation as a whole, whose used and unused hours are rows of their own.
    pub(super) is_whole_reservation: bool,
    pub(super) is_inference: bool,
    pub(super) is_support: bool,
    /// Usage of spot capacity, for which no public price is given.
    pub(super) is_spot: bool,
    /// A row of split cost allocation data, whose money stands in another row. Fargate pods and tasks have rows of
    /// their own money; only the rows that split an EC2 instance are details.
    pub(super) is_split_detail: bool,
    /// Where in the usage type an instance type begins that it ends with.
    pub(super) instance_type: Option<usize>,
}

impl Words {
    /// What a line's texts tell.
    pub(super) fn of(text: MeterText<'_>) -> Self {
        let MeterText { product, usage_type, operation, .. } = text;
        Self {
            meter: meter(text),
            is_block_fee: usage_type.contains("CapacityBlockFee"),
            is_block_usage: operation.starts_with("RunInstances:CB"),
            is_unused_reservation: usage_type.contains("UnusedBox:") || usage_type.contains("UnusedDed:"),
            is_whole_reservation: usage_type
                .split('-')
                .any(|part| part.starts_with("Reservation:") || part.starts_with("DedicatedRes:")),
            is_inference: is_inference(product, usage_type),
            is_support: product == "OCBPremiumSupport" || product.starts_with("AWSSupport"),
            is_spot: usage_type.contains("SpotUsage") || operation.starts_with("RunInstances:SV"),
            is_split_detail: matches!(operation, "EKSPod-EC2" | "ECSTask-EC2"),
            instance_type: instance_type_of_usage(usage_type).map(|word| usage_type.len() - word.len()),
        }
    }
}

/// Remembers what was told of a bill's lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    of_texts: Memo<Words>,
    of_symbols: BySymbols<Words>,
}

impl Lines {
    /// What a line's texts tell; `identify` appends numbers for them, or gives false if there are none.
    pub(super) fn of(&mut self, text: MeterText<'_>, identify: &dyn Fn(&mut Vec<u64>) -> bool) -> Words {
        let texts = [text.product, text.usage_type, text.operation, text.service_code];
        self.of_symbols.of(identify, || self.of_texts.of(&texts, || Words::of(text)))
    }

    /// Forgets the symbols: the next rows have other columns.
    pub(super) fn forget(&mut self) {
        self.of_symbols = BySymbols::default();
    }
}
