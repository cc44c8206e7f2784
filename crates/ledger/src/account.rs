//! The accounts of the cost ledger: where money rests after each step.

use crate::basis::words;

words! {
    /// Where an amount rests. Attempts and experiments are named beside the account in a posting.
    Account {
        /// The counter-account from which a delivery's charges come; it holds minus the bill.
        Bill => "bill",
        /// One attempt of an experiment.
        Attempt => "attempt",
        /// An experiment, where no single attempt of it can be named.
        Experiment => "experiment",
        /// Paid time of a resource that no attempt held.
        Idle => "idle",
        /// Commitments: their fees, and the part of them that nothing used.
        UnusedCommitment => "unused_commitment",
        /// Taxes.
        Tax => "tax",
        /// Provider credits.
        Credit => "credit",
        /// Money given back.
        Refund => "refund",
        /// Support plans.
        Support => "support",
        /// Inference endpoints and model APIs.
        Inference => "inference",
        /// Fees and discounts that belong to no usage row.
        Other => "other",
        /// Cost shared by several runs, before a declared driver splits it.
        Shared => "shared",
        /// What no rule claimed.
        Unattributed => "unattributed",
    }
}
