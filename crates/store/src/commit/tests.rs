//! A commit is whole or nothing, the same twice is a no-op, and what was replaced stays.

use std::collections::BTreeSet;
use std::path::Path;

use ledger::{Observation, Timestamp};

use super::record_all;
use crate::fixture::{
    Row, bill, empty_change, facts, new_store, observation, source, staged, staged_postings,
};
use crate::{
    Change, Committed, DeliveryRecord, ImportRecord, PlaceKey, PlaceRead, Rejection, SettlementRecord, Store,
    observation_id,
};

const FIRST: [Row; 2] = [("1.5", Some("2")), ("2.25", None)];
const RESTATED: [Row; 2] = [("1.5", Some("2")), ("2", None)];

/// All that a store says of itself.
async fn state(
    store: &Store,
) -> (Vec<DeliveryRecord>, Vec<Observation>, Vec<SettlementRecord>, Vec<ImportRecord>) {
    (
        store.deliveries().await.unwrap(),
        store.observations().await.unwrap(),
        store.settlements().await.unwrap(),
        store.imports().await.unwrap(),
    )
}

/// The Parquet files under a folder, relative to it.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                found.insert(crate::folder::as_text(path.strip_prefix(folder).unwrap()));
            }
        }
    }
    found
}

async fn commit(store: &Store, change: Change) -> Committed {
    store.commit(&store.lock().unwrap(), change).await.unwrap()
}

#[tokio::test]
async fn what_is_committed_reads_back_after_reopening() {
    let (_folder, store) = new_store().await;
    let rejection = Rejection {
        code: "row::not_a_decimal".to_owned(),
        file: "bill.csv".to_owned(),
        row: 3,
        column: Some("lineItem/UnblendedCost".to_owned()),
        found: "ten".to_owned(),
        expected: "a decimal".to_owned(),
    };
    let mut change = bill(&store, &FIRST);
    change.import.rows = 1;
    change.import.rejected = 1;
    change.import.rejections = vec![rejection.clone()];
    change.import.warnings = vec!["stale part ignored".to_owned()];
    commit(&store, change).await;
    let reopened = Store::open(store.root()).await.unwrap();
    let delivery = reopened.current_deliveries().await.unwrap().pop().unwrap();
    assert_eq!((delivery.sequence, delivery.source.clone(), delivery.current), (1, source(), true));
    assert_eq!((delivery.rows, delivery.accepted, delivery.rejected), (3, 2, 1));
    assert_eq!(delivery.billed_total.to_string(), "3.75");
    assert_eq!((delivery.list_total.to_string().as_str(), delivery.unpriced), ("2", 1));
    assert_eq!(delivery.days.iter().map(|day| day.0).collect::<Vec<_>>(), [20_000, 20_002]);
    assert_eq!((delivery.first_day, delivery.last_day), (Some(delivery.days[0]), Some(delivery.days[1])));
    assert_eq!(reopened.verify_delivery(&delivery).unwrap(), delivery.totals());
    let import = reopened.imports().await.unwrap().pop().unwrap();
    assert_eq!((import.sequence, import.warnings.len()), (1, 1));
    assert_eq!(reopened.rejections(&import).await.unwrap(), [rejection]);
    let settled = reopened.settlements().await.unwrap().pop().unwrap();
    assert_eq!((settled.delivery.clone(), settled.rows), (delivery.id, 2));
    let mut billed = Vec::new();
    reopened.read_postings(&settled, &mut |posting| billed.push(posting.billed_cost.to_string())).unwrap();
    assert_eq!(billed, ["5", "-5"]);
}

#[tokio::test]
async fn the_same_import_twice_is_a_no_op() {
    let (_folder, store) = new_store().await;
    let change = || Change { observations: vec![observation(1), observation(2)], ..bill(&store, &FIRST) };
    let first = commit(&store, change()).await;
    assert_eq!((first.new_deliveries, first.new_observations, first.is_no_op()), (1, 2, false));
    let before = (state(&store).await, files(store.root()));
    let second = commit(&store, change()).await;
    assert_eq!((second.unchanged_deliveries, second.known_observations), (1, 2));
    assert!(second.is_no_op());
    assert_eq!((state(&store).await, files(store.root())), before);
}

#[tokio::test]
async fn a_restated_delivery_is_current_and_the_old_one_stays() {
    let (_folder, store) = new_store().await;
    commit(&store, bill(&store, &FIRST)).await;
    commit(&store, bill(&store, &RESTATED)).await;
    let deliveries = store.deliveries().await.unwrap();
    assert_eq!(
        deliveries.iter().map(|d| (d.sequence, d.current)).collect::<Vec<_>>(),
        [(1, false), (2, true)]
    );
    for delivery in &deliveries {
        assert_eq!(store.verify_delivery(delivery).unwrap(), delivery.totals());
    }
    assert_eq!(store.settlements().await.unwrap()[0].delivery, deliveries[1].id);
    let back = commit(&store, bill(&store, &FIRST)).await;
    assert_eq!(back.new_deliveries, 1, "the first figures arrived again and stand");
    assert_eq!(store.current_deliveries().await.unwrap()[0].id, deliveries[0].id);
    assert_eq!(store.deliveries().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_replaced_bill_without_new_postings_has_no_settlement() {
    let (_folder, store) = new_store().await;
    commit(&store, bill(&store, &FIRST)).await;
    commit(&store, Change { postings: Vec::new(), ..bill(&store, &RESTATED) }).await;
    assert_eq!(store.settlements().await.unwrap(), []);
}

#[tokio::test]
async fn a_kill_before_the_switch_leaves_the_old_state_and_the_next_writer_tidies() {
    let (_folder, store) = new_store().await;
    commit(&store, Change { observations: vec![observation(1)], ..bill(&store, &FIRST) }).await;
    let before = (state(&store).await, files(store.root()));
    // Killed while staging: the lock beside the folder ends with its process, as when the file is closed here.
    let abandoned = store.root().join("staging/1-0");
    std::fs::create_dir_all(&abandoned).unwrap();
    std::fs::write(abandoned.join("part-00000.parquet"), "half").unwrap();
    // Killed between the moves and the transaction.
    store.place(Change { observations: vec![observation(2)], ..bill(&store, &RESTATED) }).await.unwrap();
    assert!(files(store.root()).len() > before.1.len());
    // Killed inside the transaction.
    let placed = store.place(bill(&store, &[("7", None)])).await.unwrap();
    let mut transaction = store.pool.begin().await.unwrap();
    record_all(&mut transaction, &placed).await.unwrap();
    drop(transaction);
    store.pool.close().await;

    let reopened = Store::open(store.root()).await.unwrap();
    assert_eq!(state(&reopened).await, before.0);
    let lock = reopened.lock().unwrap();
    assert_eq!(reopened.sweep(&lock).await.unwrap(), 5, "a staging folder, two deliveries, two runs");
    assert_eq!((state(&reopened).await, files(reopened.root())), before);
    let change = bill(&reopened, &RESTATED);
    assert_eq!(reopened.commit(&lock, change).await.unwrap().new_deliveries, 1);
}

#[tokio::test]
async fn a_commit_under_the_same_lock_takes_the_place_of_one_that_failed() {
    let (_folder, store) = new_store().await;
    let lock = store.lock().unwrap();
    store.sweep(&lock).await.unwrap();
    store.place(bill(&store, &FIRST)).await.unwrap();
    let committed = store.commit(&lock, bill(&store, &FIRST)).await.unwrap();
    assert_eq!(committed.new_deliveries, 1);
    let delivery = store.current_deliveries().await.unwrap().pop().unwrap();
    assert_eq!(store.verify_delivery(&delivery).unwrap(), delivery.totals());
}

#[tokio::test]
async fn what_another_process_stages_is_not_swept() {
    let (_folder, store) = new_store().await;
    let in_use = staged(&store, &FIRST);
    commit(&store, bill(&store, &RESTATED)).await;
    assert!(in_use.paths()[0].is_file());
    commit(&store, Change { deliveries: vec![(in_use, facts(&FIRST))], ..empty_change() }).await;
    assert_eq!(store.deliveries().await.unwrap().len(), 2);
}

#[tokio::test]
async fn order_duplication_and_split_of_observations_do_not_matter() {
    let all: Vec<Observation> = (0..2500).map(observation).collect();
    let (_one_folder, one) = new_store().await;
    commit(&one, Change { observations: all.clone(), ..empty_change() }).await;
    let (_other_folder, other) = new_store().await;
    for some in all.rchunks(700) {
        let twice = some.iter().rev().chain(some).cloned().collect();
        commit(&other, Change { observations: twice, ..empty_change() }).await;
    }
    let stored = one.observations().await.unwrap();
    assert_eq!(stored.len(), 2500);
    assert_eq!(stored, other.observations().await.unwrap());
    let ids: Vec<_> = stored.iter().map(|observation| observation_id(observation).unwrap()).collect();
    assert!(ids.is_sorted());
    let asked = [ids[0], observation_id(&observation(9999)).unwrap(), ids[7]];
    assert_eq!(one.has_observations(&asked).await.unwrap(), BTreeSet::from([ids[0], ids[7]]));
}

#[tokio::test]
async fn one_process_writes_at_a_time_and_only_its_own_store() {
    let (_folder, store) = new_store().await;
    let lock = store.lock().unwrap();
    let error = store.lock().unwrap_err();
    assert_eq!(error.code(), "store::locked");
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    let (_other_folder, other) = new_store().await;
    assert_eq!(other.commit(&lock, empty_change()).await.unwrap_err().code(), "store::foreign_lock");
    drop(lock);
    store.lock().unwrap();
}

#[tokio::test]
async fn a_change_that_contradicts_itself_is_refused_and_changes_nothing() {
    let (_folder, store) = new_store().await;
    let lock = store.lock().unwrap();
    let before = state(&store).await;
    let delivery = || (staged(&store, &FIRST), facts(&FIRST));
    let mut short = delivery();
    short.1.accepted = 1;
    let mut euro = delivery();
    euro.1.currency = "EUR".parse().unwrap();
    let stale = staged_postings(&store, &delivery().0.key());
    let with = |deliveries| Change { deliveries, ..empty_change() };
    for (change, code) in [
        (with(vec![short]), "store::disagreement"),
        (with(vec![euro]), "store::mixed_currency"),
        (with(vec![delivery(), delivery()]), "store::two_deliveries"),
        (Change { postings: vec![stale], ..empty_change() }, "store::stale_postings"),
    ] {
        assert_eq!(store.commit(&lock, change).await.unwrap_err().code(), code);
    }
    assert_eq!(state(&store).await, before);
}

#[tokio::test]
async fn a_store_that_is_not_there_or_newer_is_refused_with_help() {
    let (folder, store) = new_store().await;
    let missing = Store::open(folder.path().join("nowhere")).await.unwrap_err();
    assert_eq!(missing.code(), "store::not_found");
    let help = missing.help().unwrap();
    assert!(help.contains("trainbill demo") && help.contains("trainbill import"), "{help}");
    assert!(!folder.path().join("nowhere").exists());
    sqlx::query("UPDATE format SET version = 99").execute(&store.pool).await.unwrap();
    assert_eq!(Store::open(store.root()).await.unwrap_err().code(), "store::newer_format");
    assert_eq!(Store::create(store.root()).await.unwrap_err().code(), "store::newer_format");
}

#[tokio::test]
async fn a_store_of_the_first_format_is_brought_to_the_newest() {
    let (_folder, store) = new_store().await;
    commit(&store, Change { observations: vec![observation(1)], ..bill(&store, &FIRST) }).await;
    let mut before = state(&store).await;
    // The first format knew no details.
    before.0[0].details = crate::DeliveryDetails::default();
    for statement in [
        "DROP TABLE delivery_details",
        "DROP TABLE estimates",
        "DROP TABLE price_rows",
        "DROP TABLE current_price_lists",
        "DROP TABLE price_lists",
        "DROP TABLE places",
        "DROP TABLE rate_rows",
        "DROP TABLE current_rate_lists",
        "DROP TABLE rate_lists",
        "UPDATE format SET version = 1",
    ] {
        sqlx::query(statement).execute(&store.pool).await.unwrap();
    }
    let opened = Store::open(store.root()).await.unwrap();
    assert_eq!(state(&opened).await, before);
    let version: i64 =
        sqlx::query_scalar("SELECT version FROM format").fetch_one(&opened.pool).await.unwrap();
    assert_eq!(version, crate::catalog::FORMAT);
    sqlx::query("SELECT payload FROM delivery_details").fetch_all(&opened.pool).await.unwrap();
}

#[tokio::test]
async fn what_is_remembered_of_a_place_is_what_was_read_last() {
    let (_folder, store) = new_store().await;
    let key = |source: &str| PlaceKey {
        reader: "aws-cur".to_owned(),
        source: source.to_owned(),
        place: "/bills".to_owned(),
    };
    let read = |print: &str, change: &Change| PlaceRead {
        key: key(""),
        read_at: Timestamp::from_seconds(1_800_000_000),
        listing: None,
        parts: [(None, print.to_owned())].into(),
        apart: false,
        deliveries: change.deliveries.iter().map(|(staged, _)| staged.key()).collect(),
        warnings: Vec::new(),
    };
    assert_eq!(store.place_read(&key("")).await.unwrap(), None);
    let mut change = bill(&store, &FIRST);
    let first = read("1", &change);
    change.read = Some(first.clone());
    commit(&store, change).await;
    assert_eq!(store.place_read(&key("")).await.unwrap(), Some(first.clone()));
    assert_eq!(store.place_read(&key("other")).await.unwrap(), None);
    let before = state(&store).await;
    // Nothing is read the second time: the delivery is told, but does not arrive.
    let second = PlaceRead { parts: [(None, "2".to_owned())].into(), ..first };
    let committed = commit(&store, Change { read: Some(second.clone()), ..empty_change() }).await;
    assert_eq!((committed.unread_deliveries, committed.is_no_op()), (1, true));
    assert_eq!(state(&store).await, before);
    assert_eq!(store.place_read(&key("")).await.unwrap(), Some(second));
}

#[tokio::test]
async fn damage_is_noticed_and_never_read_as_a_figure() {
    let (_folder, store) = new_store().await;
    commit(&store, Change { observations: vec![observation(1)], ..bill(&store, &FIRST) }).await;
    sqlx::query("UPDATE observations SET modified_at = 1").execute(&store.pool).await.unwrap();
    assert_eq!(store.observations().await.unwrap_err().code(), "store::damaged");
    let delivery = store.current_deliveries().await.unwrap().pop().unwrap();
    sqlx::query("UPDATE deliveries SET billed_total = '3.76'").execute(&store.pool).await.unwrap();
    let changed = store.current_deliveries().await.unwrap().pop().unwrap();
    assert_eq!(store.verify_delivery(&changed).unwrap_err().code(), "store::disagreement");
    std::fs::write(store.root().join(&delivery.files[0]), "not a table").unwrap();
    assert_eq!(store.verify_delivery(&delivery).unwrap_err().code(), "store::parquet");
}

#[tokio::test]
async fn a_commit_may_run_on_any_thread() {
    let (_folder, store) = new_store().await;
    let change = bill(&store, &FIRST);
    let task = tokio::spawn(async move { store.commit(&store.lock()?, change).await });
    assert_eq!(task.await.unwrap().unwrap().new_deliveries, 1);
}
