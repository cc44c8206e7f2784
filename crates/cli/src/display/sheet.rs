//! Tables with lines above and below, as text for a terminal or as Markdown.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

use super::clean;

/// What a command shows to people.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Line(String),
    Grid(Grid),
    /// Only for a terminal, such as what to type next.
    Hint(String),
    Gap,
}

/// A table.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Rows at the end that sum up the others.
    totals: usize,
}

#[derive(Debug)]
struct Column {
    title: String,
    is_number: bool,
}

impl Sheet {
    pub(crate) fn line(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Line(text.into()));
    }

    pub(crate) fn hint(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Hint(text.into()));
    }

    pub(crate) fn gap(&mut self) {
        self.blocks.push(Block::Gap);
    }

    pub(crate) fn grid(&mut self, grid: Grid) {
        self.blocks.push(Block::Grid(grid));
    }

    /// Everything of another sheet, after what is here.
    pub(crate) fn extend(&mut self, other: Self) {
        self.blocks.extend(other.blocks);
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for block in &self.blocks {
            match block {
                Block::Line(line) | Block::Hint(line) => text.push_str(&clean(line)),
                Block::Grid(grid) => text.push_str(&grid.text()),
                Block::Gap => {}
            }
            text.push('\n');
        }
        text
    }

    pub(crate) fn markdown(&self) -> String {
        let mut parts = Vec::new();
        for block in &self.blocks {
            match block {
                Block::Line(line) => parts.push(escaped(line)),
                Block::Grid(grid) => parts.push(grid.markdown()),
                Block::Hint(_) | Block::Gap => {}
            }
        }
        parts.join("\n\n") + "\n"
    }
}

impl Grid {
    /// A table with these columns; a title that begins with `>` is of a column of numbers, set to the right.
    pub(crate) fn new<'a>(titles: impl IntoIterator<Item = &'a str>) -> Self {
        let column = |title: &str| match title.strip_prefix('>') {
            Some(title) => Column { title: title.to_owned(), is_number: true },
            None => Column { title: title.to_owned(), is_number: false },
        };
        Self { columns: titles.into_iter().map(column).collect(), rows: Vec::new(), totals: 0 }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// A row that sums up those before it; no other row follows.
    pub(crate) fn total(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
        self.totals += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn text(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(self.columns.iter().map(|column| self.cell(&column.title, column)));
        let body = self.rows.len() - self.totals;
        for (index, row) in self.rows.iter().enumerate() {
            if index == body && body > 0 {
                table.add_row(self.rule());
            }
            table.add_row(row.iter().zip(&self.columns).map(|(text, column)| self.cell(text, column)));
        }
        for (column, shape) in self.columns.iter().zip(table.column_iter_mut()) {
            shape.set_padding((0, 2));
            if column.is_number {
                // A number is never broken over two lines; words give way first.
                shape.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table.trim_fmt()
    }

    fn cell(&self, text: &str, column: &Column) -> Cell {
        let alignment = if column.is_number { CellAlignment::Right } else { CellAlignment::Left };
        Cell::new(clean(text)).set_alignment(alignment)
    }

    /// The stroke above the totals, under the columns of numbers that have one.
    fn rule(&self) -> Vec<Cell> {
        let width = |index: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let has_total = |index: usize| {
            let total = self.rows.last().and_then(|row| row.get(index));
            total.is_some_and(|text| !text.is_empty())
        };
        let stroke = |(index, column): (usize, &Column)| {
            let is_ruled = column.is_number && has_total(index);
            self.cell(&if is_ruled { "─".repeat(width(index)) } else { String::new() }, column)
        };
        self.columns.iter().enumerate().map(stroke).collect()
    }

    fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let mut lines = vec![
            line(&mut self.columns.iter().map(|column| escaped(&column.title))),
            line(
                &mut self
                    .columns
                    .iter()
                    .map(|column| if column.is_number { "---:" } else { "---" }.to_owned()),
            ),
        ];
        lines.extend(self.rows.iter().map(|row| line(&mut row.iter().map(|cell| escaped(cell)))));
        lines.join("\n")
    }
}

/// Text that Markdown shows as it stands.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if matches!(c, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
