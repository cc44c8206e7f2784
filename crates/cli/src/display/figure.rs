//! Figures as people read them: rounded once, by column, so that the rows add up; or the word for why there is none.

use app::AppError;
use ledger::{Evidence, Figure, Settlement};
use money::{Amount, rounding};
use wire::{Empty, State};

/// A figure in a column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) empty: Empty,
}

impl<'a> Cell<'a> {
    pub(crate) fn new(figure: &'a Figure, empty: Empty) -> Self {
        Self { figure, empty }
    }

    pub(super) fn state(self) -> State {
        State::of(self.figure, self.empty)
    }

    /// The text of the cell, given its rounded amount.
    pub(super) fn text(self, shown: Amount) -> Result<String, AppError> {
        let state = self.state();
        if !state.has_amount() {
            return Ok(state.word().to_owned());
        }
        Ok(rounding::display(shown, self.digits())?)
    }

    pub(super) fn digits(self) -> u32 {
        self.figure.measure.currency.minor_digits()
    }
}

/// The texts of a column whose rows add up as they are shown.
pub(crate) fn money_column(cells: &[Cell<'_>]) -> Result<Vec<String>, AppError> {
    let Some(first) = cells.first() else { return Ok(Vec::new()) };
    let exact = cells.iter().map(|cell| cell.figure.total()).collect::<Result<Vec<_>, _>>()?;
    let shown = rounding::rounded_column(&exact, first.digits())?;
    cells.iter().zip(shown).map(|(cell, amount)| cell.text(amount)).collect()
}

/// The text of a figure that stands alone, such as a total.
pub(crate) fn single(figure: &Figure, empty: Empty) -> Result<String, AppError> {
    Cell::new(figure, empty).text(figure.total()?)
}

/// The evidence of a figure in words, the largest part first: `modelled + billed`, `billed, 3 unpriced`.
pub(crate) fn mix(figure: &Figure, empty: Empty) -> String {
    let state = State::of(figure, empty);
    let mut words = match state {
        State::Mixed | State::Incomplete => {
            let parts = by_size(figure);
            let words: Vec<&str> = parts.iter().map(|(evidence, _)| evidence.word()).collect();
            words.join(" + ")
        }
        State::Nothing => "nothing".to_owned(),
        State::Of(_) | State::Unpriced | State::AwaitingBill | State::NoCharges => state.word().to_owned(),
    };
    if state == State::Incomplete {
        words.push_str(&format!(", {} unpriced", figure.unpriced));
    }
    words
}

/// The evidence with how far the bill has come, unless it has come to its end.
pub(crate) fn settled_mix(figure: &Figure, settlement: Settlement) -> String {
    let words = mix(figure, wire::empty_cost(settlement));
    match settlement {
        Settlement::Final => words,
        Settlement::AwaitingBill if words == settlement.word() => words,
        Settlement::AwaitingBill | Settlement::Open | Settlement::Restated => {
            format!("{words}, {settlement}")
        }
    }
}

/// `billed 199.63 · modelled 326.43`, which adds up to the figure.
pub(crate) fn evidence_line(figure: &Figure) -> Result<String, AppError> {
    let digits = figure.measure.currency.minor_digits();
    let parts = by_size(figure);
    let exact: Vec<Amount> = parts.iter().map(|(_, amount)| *amount).collect();
    let shown = rounding::rounded_column(&exact, digits)?;
    let mut words = Vec::with_capacity(parts.len());
    for ((evidence, _), amount) in parts.iter().zip(shown) {
        words.push(format!("{evidence} {}", rounding::display(amount, digits)?));
    }
    if figure.unpriced > 0 {
        words.push(format!("{} charges unpriced", figure.unpriced));
    }
    Ok(words.join(" · "))
}

/// The parts that hold money, the largest first.
fn by_size(figure: &Figure) -> Vec<(Evidence, Amount)> {
    let mut parts: Vec<(Evidence, Amount)> =
        figure.by_evidence.iter().filter(|(_, amount)| !amount.is_zero()).map(|(e, a)| (*e, *a)).collect();
    parts.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.magnitude()));
    parts
}
