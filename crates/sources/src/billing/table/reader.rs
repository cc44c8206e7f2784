//! The reading of a bill that is a table: what every such format does alike around the reading of one row.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use money::{Amount, AmountError, Currency};

use super::cell::Cells;
use super::column::Name;
use super::columns::Columns;
use super::extra::Extra;
use super::layout::Layout;
use super::row::{Fault, Row, Stop};
use super::{BrokenRow, Visitor, Wanted, visit};
use crate::SourceError;
use crate::ahead::ahead;
use crate::batches::{Batches, ChargeRow, Sink};
use crate::billing::quality::BasisQuality;
use crate::billing::tally::{RowFault, RowPlace, Tally};
use crate::billing::{BillBatch, BillFile, BillInput, BillOptions, BillSummary, BillWarning, PeriodSummary};

/// How a format reads its rows.
pub(in crate::billing) trait Format {
    /// Its columns.
    type Column: Name;

    /// Matches the headers of a file. Those of JSON lines are none at first and are matched again with each row that
    /// brings more.
    ///
    /// # Errors
    /// `bill::missing_column` where a row would have no meaning.
    fn layout(&mut self, file: &BillFile, headers: &[String]) -> Result<Layout<Self::Column>, SourceError>;

    /// True if the structure under this dotted name is one column; else each of its fields is.
    fn keeps_whole(&self, _path: &str) -> bool {
        true
    }

    /// Reads a row and hands it on.
    fn take<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        number: u64,
        row: &Row<'_, Self::Column, C>,
    ) -> Result<(), Stop<Self::Column>>;

    /// Reads rows of one group at once and hands them on, the first of this number; false, and nothing has changed, if they
    /// must be read one by one.
    ///
    /// # Errors
    /// What ends the import.
    fn take_run(
        &mut self,
        _core: &mut Core<'_>,
        _first: u64,
        _run: (&Layout<Self::Column>, &Columns<'_>),
    ) -> Result<bool, SourceError> {
        Ok(false)
    }

    /// The group and the cost of a rejected row, as far as the row can be read.
    fn rejected<C: Cells>(
        &mut self,
        core: &mut Core<'_>,
        row: &Row<'_, Self::Column, C>,
    ) -> Result<Option<(usize, Amount)>, SourceError>;
}

/// What the reading of every format needs between two rows.
pub(in crate::billing) struct Core<'a> {
    pub(in crate::billing) options: &'a BillOptions,
    pub(in crate::billing) batches: Batches<'a>,
    pub(in crate::billing) tally: Tally,
    pub(in crate::billing) extra: Extra,
    /// The file read now.
    pub(in crate::billing) file: Arc<str>,
    currency: Option<(String, Currency)>,
}

/// The import of a bill between two rows.
pub(in crate::billing) struct Import<'a, F: Format> {
    pub(in crate::billing) core: Core<'a>,
    pub(in crate::billing) format: F,
    layout: Option<Arc<Layout<F::Column>>>,
    rows_before: u64,
    bytes_before: u64,
    /// Rows and bytes of the file read now.
    at: (u64, u64),
}

/// The files of an input that are tables.
///
/// # Errors
/// `bill::no_files` if there is none.
pub(in crate::billing) fn table_files(input: &BillInput) -> Result<Vec<&BillFile>, SourceError> {
    let files: Vec<&BillFile> = input.files.iter().filter(|file| !file.format.is_json()).collect();
    if files.is_empty() {
        return Err(SourceError::new("bill::no_files", "there is no CSV or Parquet file to read")
            .help("name a file, or a folder that holds *.csv, *.csv.gz or *.parquet"));
    }
    Ok(files)
}

/// Batches that wait for the sink while the next one is made.
const BATCHES_AHEAD: usize = 4;

/// The files of an input of a format that comes as JSON lines as well.
///
/// # Errors
/// `bill::no_files` if there is none.
pub(in crate::billing) fn table_or_line_files(input: &BillInput) -> Result<Vec<&BillFile>, SourceError> {
    if input.files.is_empty() {
        return Err(SourceError::new(
            "bill::no_files",
            "there is no file of JSON lines, CSV or Parquet to read",
        )
        .help("name a file, or a folder that holds *.jsonl, *.json.gz, *.csv or *.parquet"));
    }
    Ok(input.files.iter().collect())
}

impl<'a, F: Format + Send> Import<'a, F> {
    /// Reads every row of the files. Rows are read in a thread of their own; the sink is called in this one, with the
    /// same batches in the same order as if it were one.
    ///
    /// # Errors
    /// A fault of a file as a whole, a broken limit, or what the format or the sink returns.
    pub(in crate::billing) fn read(
        files: &[&BillFile],
        options: &'a BillOptions,
        format: F,
        sink: &mut dyn FnMut(BillBatch) -> Result<(), SourceError>,
    ) -> Result<Self, SourceError> {
        let read = |give: SyncSender<BillBatch>| {
            let stopped = || SourceError::new("bill::batch", "nobody takes the batches any more");
            let mut import =
                Self::new(options, format, Box::new(move |b| give.send(b).map_err(|_| stopped())));
            files.iter().try_for_each(|file| visit(file, &options.limits, &mut import))?;
            import.core.batches.hand_on_rest()?;
            Ok(import)
        };
        let (import, taken) = ahead(BATCHES_AHEAD, read, |batches| batches.into_iter().try_for_each(sink));
        // A sink that refuses stops the reading, so its own error is the cause.
        taken.and(import)
    }

    fn new(options: &'a BillOptions, format: F, sink: Sink<'a>) -> Self {
        let core = Core {
            options,
            batches: Batches::new(&options.limits, sink),
            tally: Tally::default(),
            extra: Extra::default(),
            file: Arc::from(""),
            currency: None,
        };
        Self { core, format, layout: None, rows_before: 0, bytes_before: 0, at: (0, 0) }
    }
}

impl Core<'_> {
    /// The currency of a row; the text of the row before is not parsed again.
    pub(in crate::billing) fn currency_of<N: Name, C: Cells>(
        &mut self,
        row: &Row<'_, N, C>,
        column: N,
    ) -> Result<Currency, Fault<N>> {
        let text = row.text(column).unwrap_or("");
        if let Some((known, currency)) = &self.currency
            && known == text
        {
            return Ok(*currency);
        }
        let currency = row.currency(column)?;
        self.currency = Some((text.to_owned(), currency));
        Ok(currency)
    }

    /// Completes the summary; `close` completes that of each group, given its place, and tells what to warn of.
    ///
    /// # Errors
    /// What the sink or `close` returns.
    pub(in crate::billing) fn conclude(
        self,
        input: &BillInput,
        mut close: impl FnMut(usize, &mut PeriodSummary) -> Result<Vec<BillWarning>, SourceError>,
    ) -> Result<BillSummary, SourceError> {
        let Self { batches, mut tally, extra, .. } = self;
        if extra.unreadable_maps > 0 {
            let message = format!(
                "{} cell(s) of tags or labels hold none; their text is in x_unmapped",
                extra.unreadable_maps
            );
            tally.warn("bill::unreadable_maps", message);
        }
        let mut summary = tally.into_summary();
        summary.warnings.extend(input.warnings.iter().cloned());
        summary.periods = batches.finish_with(|group, period| {
            summary.warnings.extend(close(group, period)?);
            Ok(())
        })?;
        for period in &summary.periods {
            let withheld = period.quality.iter().filter(|found| !found.usable);
            let said = |found: &BasisQuality| {
                BillWarning::new(found.code, format!("{}: {}", period.period, found.message))
            };
            summary.warnings.extend(withheld.map(said));
        }
        Ok(summary)
    }
}

/// Hands on a row; what it bills is part of what its period must tie to.
///
/// # Errors
/// Those of [`Batches::push`], and `bill::out_of_range`.
pub(in crate::billing) fn hand_on(
    batches: &mut Batches<'_>,
    row: &ChargeRow<'_>,
) -> Result<usize, SourceError> {
    let group = batches.push(row)?;
    add_source(batches, group, row.billed_cost)?;
    Ok(group)
}

/// Adds what a row of the source bills to what its period must tie to.
///
/// # Errors
/// `bill::out_of_range`.
pub(in crate::billing) fn add_source(
    batches: &mut Batches<'_>,
    group: usize,
    billed: Amount,
) -> Result<(), SourceError> {
    if let Some(summary) = batches.summary_mut(group) {
        summary.source_total = summary.source_total.checked_add(billed).map_err(overflow)?;
    }
    Ok(())
}

/// An optional amount; one that cannot be read is left out and counted.
pub(in crate::billing) fn optional<N: Name, C: Cells>(
    row: &Row<'_, N, C>,
    column: N,
    tally: &mut Tally,
) -> Option<Amount> {
    let cell = row.cell(column);
    match cell.money() {
        Ok(money) => money.map(|money| tally.counted(money)),
        Err(_) => {
            tally.unreadable(column.shown(), cell);
            None
        }
    }
}

/// A total that leaves the range.
pub(in crate::billing) fn overflow(fault: AmountError) -> SourceError {
    SourceError::new("bill::out_of_range", format!("a total of the bill leaves the range: {fault}"))
}

impl<F: Format> Import<'_, F> {
    /// Adds the cost of a rejected row to what its period should hold.
    fn account_for_rejected<C: Cells>(&mut self, row: &Row<'_, F::Column, C>) -> Result<(), SourceError> {
        let Some((group, cost)) = self.format.rejected(&mut self.core, row)? else { return Ok(()) };
        add_source(&mut self.core.batches, group, cost)?;
        if let Some(summary) = self.core.batches.summary_mut(group) {
            summary.rejected_total = summary.rejected_total.checked_add(cost).map_err(overflow)?;
        }
        Ok(())
    }
}

impl<F: Format> Visitor for Import<'_, F> {
    fn header(&mut self, file: &BillFile, headers: &[String]) -> Result<Option<Vec<Wanted>>, SourceError> {
        self.rows_before += self.at.0;
        self.bytes_before += self.at.1;
        self.at = (0, 0);
        self.core.extra.forget();
        let layout = self.format.layout(file, headers)?;
        let wanted = layout.wanted(self.core.options.unmapped);
        self.layout = Some(Arc::new(layout));
        self.core.file = Arc::from(file.name.as_str());
        Ok(Some(wanted))
    }

    fn wider(&mut self, file: &BillFile, headers: &[String]) -> Result<(), SourceError> {
        self.core.extra.forget();
        self.layout = Some(Arc::new(self.format.layout(file, headers)?));
        Ok(())
    }

    fn keeps_whole(&self, path: &str) -> bool {
        self.format.keeps_whole(path)
    }

    fn block(&mut self, occupied: &dyn Fn(usize) -> bool) {
        if let Some(layout) = &mut self.layout {
            Arc::make_mut(layout).narrow(occupied);
        }
    }

    fn run(&mut self, first: u64, columns: &Columns<'_>) -> Result<bool, SourceError> {
        let Some(layout) = self.layout.clone() else { return Ok(false) };
        let taken = self.format.take_run(&mut self.core, first, (&layout, columns))?;
        if taken {
            self.core.tally.count_rows(columns.len());
        }
        Ok(taken)
    }

    fn row(&mut self, number: u64, cells: &impl Cells) -> Result<(), SourceError> {
        let Some(layout) = self.layout.clone() else { return Ok(()) };
        self.core.tally.count_row();
        let row = Row { layout: &layout, cells };
        match self.format.take(&mut self.core, number, &row) {
            Ok(()) => Ok(()),
            Err(Stop::End(error)) => Err(error.at(format!("{}:{number}", self.core.file))),
            Err(Stop::Reject(fault)) => {
                self.account_for_rejected(&row)?;
                let name = layout.name(fault.column);
                let place = RowPlace { file: &self.core.file, row: number };
                let fault = RowFault { code: fault.code, found: fault.found, expected: fault.expected };
                self.core.tally.reject(place, &fault, name, &self.core.options.limits);
                Ok(())
            }
        }
    }

    fn broken(&mut self, number: u64, broken: BrokenRow) {
        self.core.tally.count_row();
        let place = RowPlace { file: &self.core.file, row: number };
        self.core.tally.reject_broken(place, broken, &self.core.options.limits);
    }

    fn note(&mut self, code: &'static str, message: String) {
        self.core.tally.warn(code, message);
    }

    fn progress(&mut self, rows: u64, bytes: u64) {
        self.at = (rows, bytes);
        if let Some(progress) = &self.core.options.progress {
            progress(self.rows_before + rows, self.bytes_before + bytes);
        }
    }
}
