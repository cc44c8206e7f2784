//! What qualifies an amount: its basis, credit treatment, scope, evidence and settlement.

/// A closed set of words with one spelling each, for text, tables and files.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident => $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word for this value.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The value of a word, or `None` for an unknown word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How usage is valued. `Billed` is not a basis of comparison: it is the invoice side that everything ties to.
    CostBasis {
        /// What the provider invoices, row by row (FOCUS `BilledCost`).
        Billed => "billed",
        /// Public rate × usage (FOCUS `ListCost`).
        List => "list",
        /// Negotiated and amortised (FOCUS `EffectiveCost`).
        Effective => "effective",
        /// What the run added: sunk commitments count nothing. A counterfactual, so always modelled.
        Marginal => "marginal",
    }
}

words! {
    /// Whether provider credits are subtracted.
    CreditTreatment {
        /// Credits stay in their own account.
        BeforeCredits => "before credits",
        /// Promotional and free-tier credits are subtracted.
        NetOfCredits => "net of credits",
    }
}

words! {
    /// Whether a figure holds only what the run added or its share of shared cost as well.
    Scope {
        /// Only what the run itself used.
        Direct => "direct",
        /// Plus its share of shared pools.
        FullyLoaded => "fully-loaded",
    }
}

words! {
    /// How a figure was got.
    Evidence {
        /// The provider's own row names the run.
        Billed => "billed",
        /// The provider's own split data.
        Split => "split",
        /// Our join or driver.
        Modelled => "modelled",
        /// Price list; the bill is not here yet.
        Estimated => "estimated",
    }
}

words! {
    /// How far the bill behind a figure has come.
    Settlement {
        /// No bill for the time of use yet.
        AwaitingBill => "awaiting bill",
        /// The bill still moves.
        Open => "open",
        /// The provider has closed the bill.
        Final => "final",
        /// A final bill was delivered again with other figures.
        Restated => "restated",
    }
}
