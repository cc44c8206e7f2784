//! Columns that a reader knows by name, in every spelling under which they arrive.

/// How a column's value is carried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) enum Kept {
    /// A canonical column holds it.
    Canonical,
    /// It feeds a computation, so its non-zero value is kept in `x_unmapped` as well.
    Input,
    /// It is neither used nor kept, for the reason given in the reader's documentation.
    Dropped,
}

/// Makes the enumeration of the columns that a reader knows: name, how it is carried on, spellings.
macro_rules! columns {
    ($($name:ident $kept:ident [$($spelling:literal)+],)+) => {
        /// A column that the reader knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum Column {
            $(#[allow(missing_docs, reason = "the names are those of the report")] $name,)+
        }

        impl Column {
            /// Every column.
            pub(super) const ALL: &'static [Column] = &[$(Column::$name,)+];

            /// How its value is carried on.
            pub(super) const fn kept(self) -> $crate::billing::table::column::Kept {
                match self {
                    $(Column::$name => $crate::billing::table::column::Kept::$kept,)+
                }
            }

            /// Its spellings, squashed; the first is preferred where a file holds several.
            pub(super) const fn spellings(self) -> &'static [&'static str] {
                match self {
                    $(Column::$name => &[$($spelling,)+],)+
                }
            }
        }
    };
}

pub(in crate::billing) use columns;

/// A header in the one form in which names are compared: its letters and digits, lower case.
///
/// `lineItem/UnblendedCost`, `line_item_unblended_cost` and `LINE_ITEM_UNBLENDED_COST` give one text, and so do
/// `savingsPlan/SavingsPlanARN` and `savings_plan_savings_plan_a_r_n`: joining the words of a name with nothing
/// makes every way of splitting them equal.
pub(in crate::billing) fn squashed(header: &str) -> String {
    header.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
