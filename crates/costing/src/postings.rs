//! Postings: every step takes from one account what it gives to others, so that money is moved and never made.

use std::collections::BTreeMap;

use ledger::{Account, AttemptId, Day, Evidence, ExperimentId, Posting, ResourceKind, Rule, Step};
use money::{Amount, AmountError, Currency};

/// The reason of money that has entered and not yet been moved on.
const ENTERED: &str = "entered from the bill";

/// The fields of a charge by which postings are kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dimensions {
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Service.
    pub service_name: String,
    /// Account that used it.
    pub sub_account_id: String,
    /// Line type.
    pub line_type: String,
    /// Day of usage.
    pub usage_day: Option<Day>,
}

/// Billed, list, effective and marginal cost, in that order.
pub type Costs = [Amount; 4];

/// Where an amount goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// The account.
    pub account: Account,
    /// The attempt, for account `attempt`.
    pub attempt: Option<AttemptId>,
    /// The experiment.
    pub experiment: Option<ExperimentId>,
    /// The rule that claimed it.
    pub rule: Rule,
    /// How it was got.
    pub evidence: Evidence,
    /// Why it is there.
    pub reason: String,
}

/// Charges, or parts of charges, of the same dimensions that landed in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// Where.
    pub destination: Destination,
    /// What they were.
    pub dimensions: Dimensions,
    /// How much.
    pub costs: Costs,
    /// Charges behind the amounts.
    pub charges: u64,
    /// Charges without a list price.
    pub unpriced: u64,
}

#[derive(Debug, Clone, Default)]
struct Sum {
    costs: Costs,
    charges: u64,
    unpriced: u64,
}

impl Sum {
    fn add(&mut self, landed: &Landed) -> Result<(), AmountError> {
        for (sum, cost) in self.costs.iter_mut().zip(landed.costs) {
            *sum = sum.checked_add(cost)?;
        }
        self.charges += landed.charges;
        self.unpriced += landed.unpriced;
        Ok(())
    }
}

/// The postings by which the charges of one delivery enter and reach where they landed.
///
/// Intake: `bill` gives to `unattributed`. Classification and attribution: `unattributed` gives to the places where
/// the charges landed. Each step balances to zero in every cost.
///
/// # Errors
/// `OutOfRange` on overflow.
pub fn postings(landed: Vec<Landed>, currency: Currency) -> Result<Vec<Posting>, AmountError> {
    let mut entered: BTreeMap<&Dimensions, Sum> = BTreeMap::new();
    let mut moved: BTreeMap<(Step, &Dimensions), Sum> = BTreeMap::new();
    for part in &landed {
        entered.entry(&part.dimensions).or_default().add(part)?;
        moved.entry((step_of(part), &part.dimensions)).or_default().add(part)?;
    }
    let mut made = Vec::with_capacity(entered.len() * 2 + moved.len() + landed.len());
    for (dimensions, sum) in entered {
        made.push(posting(
            Step::Intake,
            nowhere(Account::Bill, "charges of the delivery"),
            dimensions.clone(),
            &taken(&sum),
            currency,
        ));
        made.push(posting(
            Step::Intake,
            nowhere(Account::Unattributed, ENTERED),
            dimensions.clone(),
            &sum,
            currency,
        ));
    }
    for ((step, dimensions), sum) in moved {
        made.push(posting(
            step,
            nowhere(Account::Unattributed, ENTERED),
            dimensions.clone(),
            &taken(&sum),
            currency,
        ));
    }
    for part in landed {
        let sum = Sum { costs: part.costs, charges: part.charges, unpriced: part.unpriced };
        made.push(posting(step_of(&part), part.destination, part.dimensions, &sum, currency));
    }
    Ok(made)
}

/// The postings that move cost from where it rests to where it belongs: `taken` gives, `given` takes.
///
/// # Errors
/// `OutOfRange` on overflow. The caller sees to it that both sides have the same sum.
pub fn moves(step: Step, taken_from: Vec<Landed>, given_to: Vec<Landed>, currency: Currency) -> Vec<Posting> {
    let sum = |part: &Landed| Sum { costs: part.costs, charges: part.charges, unpriced: part.unpriced };
    let out = taken_from.into_iter().map(|part| {
        let sum = taken(&sum(&part));
        posting(step, part.destination, part.dimensions, &sum, currency)
    });
    let into = given_to.into_iter().map(|part| {
        let sum = sum(&part);
        posting(step, part.destination, part.dimensions, &sum, currency)
    });
    out.chain(into).collect()
}

fn step_of(part: &Landed) -> Step {
    match part.destination.account {
        Account::Attempt | Account::Experiment | Account::Idle | Account::Unattributed | Account::Shared => {
            Step::Attribution
        }
        Account::Bill
        | Account::UnusedCommitment
        | Account::Tax
        | Account::Credit
        | Account::Refund
        | Account::Support
        | Account::Inference
        | Account::Other => Step::Classification,
    }
}

fn nowhere(account: Account, reason: &str) -> Destination {
    Destination {
        account,
        attempt: None,
        experiment: None,
        rule: Rule::None,
        evidence: Evidence::Billed,
        reason: reason.to_owned(),
    }
}

/// What the giving side of a move shows: the amounts with the other sign, and no charges, which stay counted once.
fn taken(sum: &Sum) -> Sum {
    Sum { costs: sum.costs.map(Amount::negated), charges: 0, unpriced: 0 }
}

fn posting(step: Step, to: Destination, of: Dimensions, sum: &Sum, currency: Currency) -> Posting {
    let [billed_cost, list_cost, effective_cost, marginal_cost] = sum.costs;
    // What has entered is counted where it lands, so that the charges of all accounts are the charges of the bill.
    let counted = !(to.account == Account::Unattributed && to.reason == ENTERED);
    Posting {
        step,
        account: to.account,
        attempt: to.attempt,
        experiment: to.experiment,
        rule: to.rule,
        evidence: to.evidence,
        reason: to.reason,
        resource_kind: of.resource_kind,
        service_name: of.service_name,
        sub_account_id: of.sub_account_id,
        line_type: of.line_type,
        usage_day: of.usage_day,
        currency,
        billed_cost,
        list_cost,
        effective_cost,
        marginal_cost,
        charges: if counted { sum.charges } else { 0 },
        unpriced: if counted { sum.unpriced } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn landed(account: Account, cost: i64, day: i32) -> Landed {
        let amount = |units: i64| Amount::from_units(i128::from(units)).unwrap();
        Landed {
            destination: nowhere(account, "why"),
            dimensions: Dimensions {
                resource_kind: ResourceKind::Compute,
                service_name: "AmazonEC2".to_owned(),
                sub_account_id: "1".to_owned(),
                line_type: "Usage".to_owned(),
                usage_day: Some(Day(day)),
            },
            costs: [amount(cost), amount(cost / 2), amount(-cost), amount(0)],
            charges: 1,
            unpriced: 0,
        }
    }

    proptest! {
        #[test]
        fn every_step_balances_and_accounts_sum_to_the_charges(
            parts in proptest::collection::vec((0_usize..Account::ALL.len(), -1_000_000_i64..1_000_000, 0_i32..3), 1..40),
        ) {
            let landed: Vec<Landed> = parts
                .iter()
                .filter(|(account, ..)| Account::ALL[*account] != Account::Bill)
                .map(|(account, cost, day)| landed(Account::ALL[*account], *cost, *day))
                .collect();
            let made = postings(landed.clone(), "USD".parse().unwrap()).unwrap();
            for step in Step::ALL {
                let of_step = made.iter().filter(|posting| posting.step == *step);
                prop_assert!(Amount::sum(of_step.clone().map(|p| p.billed_cost)).unwrap().is_zero());
                prop_assert!(Amount::sum(of_step.map(|p| p.effective_cost)).unwrap().is_zero());
            }
            let charges = Amount::sum(landed.iter().map(|part| part.costs[0])).unwrap();
            let accounts = made.iter().filter(|p| p.account != Account::Bill).map(|p| p.billed_cost);
            prop_assert_eq!(Amount::sum(accounts).unwrap(), charges);
            prop_assert_eq!(made.iter().filter(|p| p.account != Account::Bill).map(|p| p.charges).sum::<u64>(), landed.len() as u64);
        }
    }
}
