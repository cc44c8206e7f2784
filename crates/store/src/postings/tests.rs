//! Postings read back as they were staged.

use ledger::{Account, Day, DeliveryId, Evidence, Posting, ResourceKind, Rule, Step};

use super::{SettlementRecord, postings_schema};
use crate::fixture::{PERIOD, new_store, posting, source};
use crate::{DeliveryKey, StagedPostings};

fn key() -> DeliveryKey {
    DeliveryKey { source: source(), period: PERIOD.parse().unwrap(), delivery: DeliveryId("ab".to_owned()) }
}

/// A settlement that points into the staging folder.
fn settlement(staged: &StagedPostings, rows: u64) -> SettlementRecord {
    let DeliveryKey { source, period, delivery } = key();
    let inputs_hash = staged.inputs_hash.clone();
    SettlementRecord { source, period, delivery, inputs_hash, rows, files: staged.paths() }
}

fn various() -> Vec<Posting> {
    let mut postings = Vec::new();
    for index in 0..20_000_usize {
        let every = posting(&format!("{index}.5"));
        postings.push(Posting {
            step: Step::ALL[index % Step::ALL.len()],
            account: Account::ALL[index % Account::ALL.len()],
            attempt: every.attempt.filter(|_| index % 2 == 0),
            experiment: every.experiment.filter(|_| index % 3 == 0),
            rule: Rule::ALL[index % Rule::ALL.len()],
            evidence: Evidence::ALL[index % Evidence::ALL.len()],
            reason: format!("reason {}", index % 11),
            resource_kind: ResourceKind::ALL[index % ResourceKind::ALL.len()],
            usage_day: (index % 5 > 0).then(|| Day(i32::try_from(index).unwrap() - 10_000)),
            ..every
        });
    }
    postings
}

#[tokio::test]
async fn postings_read_back_as_they_were_staged() {
    let (_folder, store) = new_store().await;
    let postings = various();
    let staged = store.stage_postings(&key(), "0f-_Z", &postings).unwrap();
    let mut read = Vec::new();
    let settled = settlement(&staged, 20_000);
    store.read_postings(&settled, &mut |posting| read.push(posting)).unwrap();
    assert!(read == postings);
    let empty = store.stage_postings(&key(), "e", &[]).unwrap();
    let mut rows = 0;
    store.read_postings(&settlement(&empty, 0), &mut |_| rows += 1).unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn postings_that_are_missing_are_noticed() {
    let (_folder, store) = new_store().await;
    let staged = store.stage_postings(&key(), "0f", &[posting("1")]).unwrap();
    let error = store.read_postings(&settlement(&staged, 2), &mut |_| ()).unwrap_err();
    assert_eq!(error.code(), "store::disagreement");
}

#[tokio::test]
async fn a_hash_that_could_leave_the_folder_is_refused() {
    let (_folder, store) = new_store().await;
    for hash in ["", "..", "a/b", "a b", &"a".repeat(129)] {
        assert_eq!(store.stage_postings(&key(), hash, &[]).unwrap_err().code(), "store::bad_hash", "{hash}");
    }
}

#[test]
fn the_schema_names_what_a_posting_holds() {
    let names: Vec<_> = postings_schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(
        names.join(" "),
        "source_id billing_period delivery_id step account attempt_id experiment_id rule evidence reason \
         resource_kind service_name sub_account_id line_type usage_day currency billed_cost list_cost \
         effective_cost marginal_cost charges unpriced"
    );
}
