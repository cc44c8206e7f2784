//! A matrix of figures whose cells, as shown, add up along both sides.

use app::AppError;
use money::{Amount, AmountError, SCALE, rounding};

use super::Cell;

/// The texts of a matrix with its sums.
pub(crate) struct MatrixTexts {
    /// Cells by row.
    pub(crate) cells: Vec<Vec<String>>,
    /// Sums of the rows.
    pub(crate) row_totals: Vec<String>,
    /// Sums of the columns.
    pub(crate) column_totals: Vec<String>,
}

/// The sum of a row, and whether it belongs to the part of the rows whose own sum is shown as well.
pub(crate) struct RowTotal<'a> {
    /// The row's sum.
    pub(crate) cell: Cell<'a>,
    /// True for a row of the part.
    pub(crate) in_part: bool,
}

/// The texts of a matrix: its row sums and column sums are rounded as columns, the row sums of the part to the rounded sum
/// of the part, and the cells are then rounded up or down so that they sum to both.
pub(crate) fn money_matrix(
    cells: &[Vec<Cell<'_>>],
    row_totals: &[RowTotal<'_>],
    column_totals: &[Cell<'_>],
) -> Result<MatrixTexts, AppError> {
    let digits = row_totals.first().map_or(0, |total| total.cell.digits());
    let exact =
        |cells: &[Cell<'_>]| cells.iter().map(|cell| cell.figure.total()).collect::<Result<Vec<_>, _>>();
    let rows = rounded_rows(row_totals, digits)?;
    let columns = rounding::rounded_column(&exact(column_totals)?, digits)?;
    let amounts = cells.iter().map(|row| exact(row)).collect::<Result<Vec<_>, _>>()?;
    let shown = rounded_matrix(&amounts, (&rows, &columns), digits)?;
    let texts = |cells: &[Cell<'_>], amounts: &[Amount]| {
        cells.iter().zip(amounts).map(|(cell, amount)| cell.text(*amount)).collect::<Result<Vec<_>, _>>()
    };
    Ok(MatrixTexts {
        cells: cells.iter().zip(&shown).map(|(row, shown)| texts(row, shown)).collect::<Result<_, _>>()?,
        row_totals: row_totals
            .iter()
            .zip(&rows)
            .map(|(total, amount)| total.cell.text(*amount))
            .collect::<Result<_, _>>()?,
        column_totals: texts(column_totals, &columns)?,
    })
}

/// The row sums rounded: those of the part to its rounded sum, the others to what is then left of the rounded total.
fn rounded_rows(totals: &[RowTotal<'_>], digits: u32) -> Result<Vec<Amount>, AppError> {
    let exact = totals.iter().map(|total| total.cell.figure.total()).collect::<Result<Vec<_>, _>>()?;
    let part: Vec<bool> = totals.iter().map(|total| total.in_part).collect();
    Ok(rounded_parts(&exact, &part, digits)?)
}

fn rounded_parts(exact: &[Amount], in_part: &[bool], digits: u32) -> Result<Vec<Amount>, AmountError> {
    let of = |wanted: bool| -> Vec<Amount> {
        exact.iter().zip(in_part).filter(|(_, part)| **part == wanted).map(|(amount, _)| *amount).collect()
    };
    let (part, rest) = (of(true), of(false));
    let whole = rounding::rounded(Amount::sum(exact.iter().copied())?, digits)?;
    let part_sum = rounding::rounded(Amount::sum(part.iter().copied())?, digits)?;
    let mut part =
        rounding::rounded_to(&part, if rest.is_empty() { whole } else { part_sum }, digits)?.into_iter();
    let mut rest = rounding::rounded_to(&rest, whole.checked_sub(part_sum)?, digits)?.into_iter();
    Ok(in_part.iter().filter_map(|in_part| if *in_part { part.next() } else { rest.next() }).collect())
}

/// The cells rounded so that they sum to the sums given, which are rounded already.
///
/// Every cell is first rounded down. What each row and column then lacks, in steps of the last digit, is given to the
/// cells with the largest rest; a step that fits nowhere moves others along a path, as in a flow. Every cell ends less
/// than one step from its exact value, unless the sums given allow no such choice; then a few end within two.
fn rounded_matrix(
    cells: &[Vec<Amount>],
    (rows, columns): (&[Amount], &[Amount]),
    digits: u32,
) -> Result<Vec<Vec<Amount>>, AppError> {
    let step = 10_i128.pow(SCALE - digits.min(SCALE));
    let floor = |amount: &Amount| amount.units().div_euclid(step);
    let mut shown: Vec<Vec<i128>> = cells.iter().map(|row| row.iter().map(floor).collect()).collect();
    let lacks = |total: &Amount, held: i128| usize::try_from(total.units() / step - held).unwrap_or(0);
    let mut flow = Flow {
        rest: cells
            .iter()
            .map(|row| row.iter().map(|cell| cell.units().rem_euclid(step)).collect())
            .collect(),
        given: cells.iter().map(|row| vec![0; row.len()]).collect(),
        column_lacks: (0..columns.len())
            .map(|c| lacks(&columns[c], shown.iter().map(|row| row[c]).sum()))
            .collect(),
    };
    for (index, total) in rows.iter().enumerate() {
        for _ in 0..lacks(total, shown[index].iter().sum()) {
            flow.give(index);
        }
    }
    for (row, given) in shown.iter_mut().zip(&flow.given) {
        for (cell, steps) in row.iter_mut().zip(given) {
            *cell += i128::from(*steps);
        }
    }
    let amounts =
        shown.into_iter().map(|row| row.into_iter().map(|cell| Amount::from_units(cell * step)).collect());
    amounts.collect::<Result<Vec<Vec<Amount>>, _>>().map_err(AppError::from)
}

/// Steps given to cells, one a cell where possible.
struct Flow {
    rest: Vec<Vec<i128>>,
    given: Vec<Vec<u8>>,
    column_lacks: Vec<usize>,
}

impl Flow {
    /// Gives one step to a row, in a column that lacks one.
    fn give(&mut self, row: usize) {
        let mut seen = vec![false; self.column_lacks.len()];
        if self.path(row, &mut seen) {
            return;
        }
        // No path is left: of the columns that lack a step, the cell that strays least takes it.
        let lacking = (0..self.column_lacks.len()).filter(|column| self.column_lacks[*column] > 0);
        let stray = |column: &usize| (self.given[row][*column], std::cmp::Reverse(self.rest[row][*column]));
        if let Some(column) = lacking.min_by_key(stray) {
            self.given[row][column] += 1;
            self.column_lacks[column] -= 1;
        }
    }

    /// Looks for a cell of the row that may take a step: in a column that lacks one, or by moving one to another row.
    fn path(&mut self, row: usize, seen: &mut [bool]) -> bool {
        let mut columns: Vec<usize> =
            (0..seen.len()).filter(|c| self.given[row][*c] == 0 && self.rest[row][*c] > 0).collect();
        columns.sort_by_key(|column| std::cmp::Reverse(self.rest[row][*column]));
        if let Some(column) = columns.iter().find(|column| self.column_lacks[**column] > 0) {
            self.column_lacks[*column] -= 1;
            self.given[row][*column] = 1;
            return true;
        }
        for column in columns {
            if std::mem::replace(&mut seen[column], true) {
                continue;
            }
            let holders: Vec<usize> =
                (0..self.given.len()).filter(|other| self.given[*other][column] == 1).collect();
            for other in holders {
                if other != row && self.path(other, seen) {
                    self.given[other][column] = 0;
                    self.given[row][column] = 1;
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sums(cells: &[Vec<Amount>]) -> (Vec<Amount>, Vec<Amount>) {
        let rows = cells.iter().map(|row| Amount::sum(row.iter().copied()).unwrap()).collect();
        let width = cells.first().map_or(0, Vec::len);
        let columns = (0..width).map(|c| Amount::sum(cells.iter().map(|row| row[c])).unwrap()).collect();
        (rows, columns)
    }

    fn check(cells: &[Vec<Amount>]) -> Vec<Vec<Amount>> {
        let (rows, columns) = sums(cells);
        let rows = rounding::rounded_column(&rows, 2).unwrap();
        let columns = rounding::rounded_column(&columns, 2).unwrap();
        let shown = rounded_matrix(cells, (&rows, &columns), 2).unwrap();
        assert_eq!(sums(&shown), (rows, columns), "for {cells:?}");
        shown
    }

    #[test]
    fn thirds_add_up_both_ways() {
        let third: Amount = "0.333333333333333333333333".parse().unwrap();
        let shown = check(&vec![vec![third; 3]; 3]);
        let cents: Vec<String> = shown.iter().flatten().map(ToString::to_string).collect();
        assert_eq!(cents.iter().filter(|cell| *cell == "0.34").count(), 3);
    }

    #[test]
    fn an_empty_cell_takes_nothing() {
        let half: Amount = "0.005".parse().unwrap();
        let shown = check(&[vec![half, Amount::ZERO], vec![half, half]]);
        assert_eq!(shown[0][1], Amount::ZERO);
    }

    proptest! {
        #[test]
        fn a_part_of_the_rows_adds_up_beside_the_whole(
            rows in proptest::collection::vec((-30_000_i128..30_000, any::<bool>()), 0..12),
        ) {
            let exact: Vec<Amount> =
                rows.iter().map(|(units, _)| Amount::from_units(units * 10_i128.pow(SCALE - 3)).unwrap()).collect();
            let part: Vec<bool> = rows.iter().map(|(_, part)| *part).collect();
            let shown = rounded_parts(&exact, &part, 2).unwrap();
            let sum = |amounts: &[Amount]| Amount::sum(amounts.iter().copied()).unwrap();
            let of_part = |amounts: &[Amount]| -> Vec<Amount> {
                amounts.iter().zip(&part).filter(|(_, part)| **part).map(|(amount, _)| *amount).collect()
            };
            prop_assert_eq!(sum(&shown), rounding::rounded(sum(&exact), 2).unwrap());
            prop_assert_eq!(sum(&of_part(&shown)), rounding::rounded(sum(&of_part(&exact)), 2).unwrap());
        }

        #[test]
        fn a_matrix_adds_up_both_ways(
            thousandths in proptest::collection::vec(proptest::collection::vec(-30_000_i128..30_000, 5), 1..8),
        ) {
            let amount = |thousandths: &i128| Amount::from_units(thousandths * 10_i128.pow(SCALE - 3)).unwrap();
            let cells: Vec<Vec<Amount>> = thousandths.iter().map(|row| row.iter().map(amount).collect()).collect();
            let shown = check(&cells);
            for (exact, shown) in cells.iter().flatten().zip(shown.iter().flatten()) {
                let off = exact.checked_sub(*shown).unwrap().magnitude();
                prop_assert!(off < "0.02".parse().unwrap(), "{exact} is shown as {shown}");
            }
        }
    }
}
