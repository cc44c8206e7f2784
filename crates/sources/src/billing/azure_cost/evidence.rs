//! Tells the export of actual cost from that of amortised cost, which repeat each other and must not be added.

use super::line::Line;
use crate::SourceError;
use crate::billing::table::column::squashed;

/// Which of its two cost exports a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Export {
    /// Purchases of commitments cost what was paid, usage under them nothing.
    Actual,
    /// Usage under commitments costs its share, and what was not used has rows of its own.
    Amortised,
}

/// Where each export showed first.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    actual: Option<String>,
    amortised: Option<String>,
    file: FileEvidence,
}

/// What the file read now has shown.
#[derive(Debug, Default)]
struct FileEvidence {
    name: String,
    amortised: bool,
    /// Covered usage that costs nothing: telling only if no other row of the file is amortised.
    covered_at_zero: bool,
}

impl Evidence {
    /// Goes to the next file; its name may tell.
    pub(super) fn open(&mut self, name: &str) -> Result<(), SourceError> {
        self.close_file()?;
        self.file = FileEvidence { name: name.to_owned(), ..FileEvidence::default() };
        let squashed = squashed(name);
        if squashed.contains("amortizedcost") || squashed.contains("amortisedcost") {
            self.found(Export::Amortised, name)
        } else if squashed.contains("actualcost") {
            self.found(Export::Actual, name)
        } else {
            Ok(())
        }
    }

    /// Looks at a row.
    ///
    /// # Errors
    /// `bill::mixed_amortisation` once both exports have shown.
    pub(super) fn see(
        &mut self,
        line: &Line,
        costs_nothing: bool,
        place: (&str, u64),
    ) -> Result<(), SourceError> {
        let shown = if line.unused || line.is_covered() && !costs_nothing {
            self.file.amortised = true;
            Export::Amortised
        } else if line.trades_commitment() && !costs_nothing {
            Export::Actual
        } else {
            self.file.covered_at_zero |= line.is_covered();
            return Ok(());
        };
        if self.place(shown).is_some() {
            return Ok(());
        }
        self.found(shown, &format!("{}:{}", place.0, place.1))
    }

    /// The export that was read; `None` if nothing in it tells, since both are then alike.
    ///
    /// # Errors
    /// `bill::mixed_amortisation` if both were.
    pub(super) fn export(&mut self) -> Result<Option<Export>, SourceError> {
        self.close_file()?;
        let amortised = self.amortised.as_ref().map(|_| Export::Amortised);
        Ok(amortised.or_else(|| self.actual.as_ref().map(|_| Export::Actual)))
    }

    fn close_file(&mut self) -> Result<(), SourceError> {
        let file = std::mem::take(&mut self.file);
        if file.covered_at_zero && !file.amortised {
            return self.found(Export::Actual, &file.name);
        }
        Ok(())
    }

    const fn place(&self, export: Export) -> Option<&String> {
        match export {
            Export::Actual => self.actual.as_ref(),
            Export::Amortised => self.amortised.as_ref(),
        }
    }

    fn found(&mut self, export: Export, place: &str) -> Result<(), SourceError> {
        let known = match export {
            Export::Actual => &mut self.actual,
            Export::Amortised => &mut self.amortised,
        };
        known.get_or_insert_with(|| place.to_owned());
        let (Some(actual), Some(amortised)) = (&self.actual, &self.amortised) else { return Ok(()) };
        Err(SourceError::new(
            "bill::mixed_amortisation",
            "actual and amortised cost tell the same spend twice and are not added",
        )
        .expected("one of both exports", format!("actual cost at {actual}, amortised cost at {amortised}"))
        .help("import the amortised export alone, or the actual export alone"))
    }
}
