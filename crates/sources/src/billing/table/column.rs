//! The columns that a format knows, with every spelling under which they arrive.

use super::Form;

/// How a column's value is carried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::billing) enum Kept {
    /// A canonical column holds it.
    Canonical,
    /// It feeds a computation, so its value, unless it is zero, is kept in `x_unmapped` as well.
    Input,
    /// A map that is looked into and is kept in `x_unmapped` as an object.
    Map,
    /// A list of records that is looked into and is kept in `x_unmapped` as an array.
    Records,
    /// A list of labels for `tags`; what holds none is kept in `x_unmapped` as its text.
    Labels,
    /// It is read and not kept, since other columns repeat it.
    Read,
    /// It is neither read nor kept, for the reason given in the reader's documentation.
    Dropped,
}

/// A column of one format; the enum is made by [`columns`].
pub(in crate::billing) trait Name:
    Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static
{
    /// Every column.
    const ALL: &'static [Self];
    /// The column to blame where a sum of the row's costs leaves the range.
    const COST: Self;

    /// Place in [`Name::ALL`].
    fn index(self) -> usize;
    /// How its value is carried on.
    fn kept(self) -> Kept;
    /// In which form its value is wanted.
    fn form(self) -> Form;
    /// Its spellings; the first is preferred where a file holds several.
    fn spellings(self) -> &'static [&'static str];

    /// The name under which an export is asked for it, for messages.
    fn shown(self) -> &'static str {
        self.spellings().first().copied().unwrap_or("")
    }
}

/// Makes the enum `Column` of a format: a line is a name, how it is kept, its form, and its spellings.
macro_rules! columns {
    (cost $cost:ident; $($name:ident $kept:ident $form:ident [$($spelling:literal)+],)+) => {
        /// A column that the reader knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) enum Column {
            $(#[allow(missing_docs, reason = "the names are those of the format")] $name,)+
        }

        impl $crate::billing::table::column::Name for Column {
            const ALL: &'static [Self] = &[$(Self::$name,)+];
            const COST: Self = Self::$cost;

            fn index(self) -> usize {
                self as usize
            }

            fn kept(self) -> $crate::billing::table::column::Kept {
                match self {
                    $(Self::$name => $crate::billing::table::column::Kept::$kept,)+
                }
            }

            fn form(self) -> $crate::billing::table::Form {
                match self {
                    $(Self::$name => $crate::billing::table::Form::$form,)+
                }
            }

            fn spellings(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($spelling,)+],)+
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
pub(crate) fn squashed(header: &str) -> String {
    header.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Checks, for the tests of a format, that no spelling names two of its columns.
#[cfg(test)]
pub(in crate::billing) fn check_spellings<N: Name>() {
    let mut seen = std::collections::BTreeMap::new();
    for column in N::ALL {
        for spelling in column.spellings() {
            let other = seen.insert(squashed(spelling), *column);
            assert!(other.is_none(), "`{spelling}` names {column:?} and {other:?}");
        }
    }
}
