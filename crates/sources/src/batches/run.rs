//! Rows of one payer, billing period and currency that follow one another in a file, column by column.

use arrow::array::{Array as _, Int32Array, StringArray};
use ledger::Interval;

use super::{Figures, Gathered};
use crate::text::{Dictionary, Text};

/// A run of rows.
#[derive(Debug)]
pub(crate) struct ChargeRun<'a> {
    /// `x_row` of the first row; the others follow.
    pub(crate) first: u64,
    /// `x_file`.
    pub(crate) file: &'a str,
    /// `billing_period_start` and `_end`.
    pub(crate) billing_period: Interval,
    /// The numbers of each row.
    pub(crate) figures: &'a [Figures],
    pub(crate) texts: RunTexts<'a>,
}

/// A column of text of a run.
#[derive(Debug, Default)]
pub(crate) enum RunText<'a> {
    /// No row has one.
    #[default]
    None,
    /// Every row has the same.
    Same(Text<'a>),
    /// Each row has that of its place in a dictionary.
    Coded(Int32Array, &'a Dictionary),
    /// Each row has its own; an empty one is none.
    Own(StringArray),
    /// Each row has that of its number.
    Chosen(&'a [u32], Vec<Option<Text<'a>>>),
    /// Each row has what was worked out for it.
    Gathered(Gathered),
}

/// The columns of text of a run; the fields are those of [`super::ChargeRow`].
#[derive(Debug, Default)]
pub(crate) struct RunTexts<'a> {
    pub(crate) file: RunText<'a>,
    pub(crate) line_item_id: RunText<'a>,
    pub(crate) payer: RunText<'a>,
    pub(crate) payer_name: RunText<'a>,
    pub(crate) currency: RunText<'a>,
    pub(crate) category: RunText<'a>,
    pub(crate) correction: RunText<'a>,
    pub(crate) description: RunText<'a>,
    pub(crate) pricing_unit: RunText<'a>,
    pub(crate) commitment_id: RunText<'a>,
    pub(crate) commitment_type: RunText<'a>,
    pub(crate) capacity_reservation_id: RunText<'a>,
    pub(crate) capacity_reservation_status: RunText<'a>,
    pub(crate) invoice_id: RunText<'a>,
    pub(crate) invoice_issuer: RunText<'a>,
    pub(crate) provider: RunText<'a>,
    pub(crate) publisher: RunText<'a>,
    pub(crate) region: RunText<'a>,
    pub(crate) zone: RunText<'a>,
    pub(crate) resource_id: RunText<'a>,
    pub(crate) service: RunText<'a>,
    pub(crate) sku: RunText<'a>,
    pub(crate) sku_price: RunText<'a>,
    pub(crate) sub_account: RunText<'a>,
    pub(crate) sub_account_name: RunText<'a>,
    pub(crate) tags: RunText<'a>,
    pub(crate) line_type: RunText<'a>,
    pub(crate) class: RunText<'a>,
    pub(crate) resource_kind: RunText<'a>,
    pub(crate) usage_type: RunText<'a>,
    pub(crate) operation: RunText<'a>,
    pub(crate) instance_type: RunText<'a>,
    pub(crate) credit_type: RunText<'a>,
    pub(crate) split_role: RunText<'a>,
    pub(crate) parent_resource_id: RunText<'a>,
    pub(crate) unmapped: RunText<'a>,
}

impl ChargeRun<'_> {
    /// Rows.
    pub(crate) const fn rows(&self) -> usize {
        self.figures.len()
    }

    /// Where a row of the run stands, for messages.
    pub(crate) fn place(&self, row: usize) -> String {
        format!("{}:{}", self.file, self.first + row as u64)
    }

    /// Bytes by which the distinct text of a batch can grow.
    pub(super) fn text_bytes_at_most(&self) -> usize {
        self.texts.in_order().iter().map(|text| text.bytes_at_most()).sum()
    }
}

impl<'a> RunText<'a> {
    /// What each row has by its number.
    pub(crate) fn chosen(numbers: &'a [u32], texts: Vec<Option<Text<'a>>>) -> Self {
        match texts.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => match first {
                Some(text) => Self::Same(*text),
                None => Self::None,
            },
            _ => Self::Chosen(numbers, texts),
        }
    }

    fn bytes_at_most(&self) -> usize {
        let all = |(values, bytes): (usize, usize)| bytes + values * 8;
        let of_text = |text: &Text<'_>| all((1, text.as_str().len()));
        match self {
            Self::None => 0,
            Self::Same(text) => of_text(text),
            Self::Coded(_, dictionary) => all((dictionary.values().len(), dictionary.bytes())),
            Self::Own(values) => {
                let offsets = values.value_offsets();
                let bytes = offsets.first().zip(offsets.last()).map_or(0, |(start, end)| end - start);
                all((values.len(), usize::try_from(bytes).unwrap_or(usize::MAX)))
            }
            Self::Chosen(_, texts) => texts.iter().flatten().map(of_text).sum(),
            Self::Gathered(texts) => all(texts.size()),
        }
    }
}

/// How many columns of text there are.
const TEXTS: usize = super::builder::TEXTS;

impl<'a> RunTexts<'a> {
    /// The columns in schema order.
    pub(super) const fn in_order(&self) -> [&RunText<'a>; TEXTS] {
        [
            &self.file,
            &self.line_item_id,
            &self.payer,
            &self.payer_name,
            &self.currency,
            &self.category,
            &self.correction,
            &self.description,
            &self.pricing_unit,
            &self.commitment_id,
            &self.commitment_type,
            &self.capacity_reservation_id,
            &self.capacity_reservation_status,
            &self.invoice_id,
            &self.invoice_issuer,
            &self.provider,
            &self.publisher,
            &self.region,
            &self.zone,
            &self.resource_id,
            &self.service,
            &self.sku,
            &self.sku_price,
            &self.sub_account,
            &self.sub_account_name,
            &self.tags,
            &self.line_type,
            &self.class,
            &self.resource_kind,
            &self.usage_type,
            &self.operation,
            &self.instance_type,
            &self.credit_type,
            &self.split_role,
            &self.parent_resource_id,
            &self.unmapped,
        ]
    }
}
