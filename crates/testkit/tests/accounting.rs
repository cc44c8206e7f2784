//! The accounting of real clusters, folded: no way to import it, and no form of it, gives other attempts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::Path;

use costing::attempts::{Folded, experiments, fold};
use ledger::{Attempt, AttemptId, Observation, SourceId};
use sources::Zone;
use sources::telemetry::attempts::AttemptsOptions;
use sources::telemetry::slurm::{Content, SlurmFile, SlurmOptions, read};

fn file(name: &str) -> SlurmFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sources/testdata/slurm").join(name);
    SlurmFile { name: name.to_owned(), content: Content::Path(path) }
}

fn import(name: &str, zone: &str) -> Vec<Observation> {
    let mut options = SlurmOptions::new(Zone::declared(zone).unwrap());
    options.cluster = Some(if name.starts_with("22") { "gpu22" } else { "gpu26" }.to_owned());
    read(&[file(name)], &options).unwrap().observations
}

fn full() -> Vec<Observation> {
    import("26.05/sacct_D_std.txt", "UTC")
}

fn attempt<'a>(folded: &'a Folded, key: &str) -> &'a Attempt {
    folded.attempts.iter().find(|attempt| attempt.canonical_key == key).unwrap()
}

fn ids(folded: &Folded) -> BTreeSet<AttemptId> {
    folded.attempts.iter().map(|attempt| attempt.id).collect()
}

// Refold1: the export that hides earlier attempts, and then the full one, are the full one.
#[test]
fn refold_1_what_an_export_hid_is_there_after_the_full_one() {
    for (hidden, whole) in [
        ("26.05/sacct_noD_std.txt", "26.05/sacct_D_std.txt"),
        ("22.05/sacct_noD_std.txt", "22.05/sacct_D_std.txt"),
    ] {
        let (part, whole) = (import(hidden, "UTC"), import(whole, "UTC"));
        let alone = fold(&whole);
        assert_eq!(fold(&[part.clone(), whole.clone()].concat()), alone, "for {hidden}");
        assert_eq!(fold(&[whole, part.clone()].concat()), alone, "for {hidden}");
        assert!(fold(&part).attempts.len() < alone.attempts.len());
    }
}

// Refold2: text and both versions of JSON of one database name the same attempts, thirty records and 29 of them.
#[test]
fn refold_2_every_form_of_one_database_gives_the_same_attempts() {
    let text = fold(&full());
    assert_eq!(ids(&text).len(), 29);
    for name in
        ["26.05/sacct_D.v0.0.42.json", "26.05/sacct_D.v0.0.45.json", "26.05/sacct_D_parsable2_ALL.txt"]
    {
        let other = import(name, "UTC");
        assert_eq!(ids(&fold(&other)), ids(&text), "for {name}");
        let both = fold(&[full(), other].concat());
        assert_eq!(ids(&both), ids(&text), "{name} after the text");
        let gpu_time =
            |folded: &Folded| -> u64 { folded.attempts.iter().filter_map(|a| a.gpu_milliseconds).sum() };
        // 5,447 GPU-seconds, which are no more for being told twice.
        assert_eq!((gpu_time(&text), gpu_time(&both)), (5_447_000, 5_447_000), "for {name}");
    }
}

// Refold4: eight seconds of eight and eight of four are 96 of one attempt.
#[test]
fn refold_4_a_resized_job_is_one_attempt_of_the_time_of_its_segments() {
    let folded = fold(&full());
    let resized = attempt(&folded, "slurm:gpu26:16:1795998695");
    assert_eq!(resized.gpu_milliseconds, Some(96_000));
    assert_eq!(resized.aliases.iter().filter(|alias| alias.starts_with("slurm:gpu26:16:")).count(), 1);
    assert_eq!(folded.attempts.iter().filter(|a| a.canonical_key.starts_with("slurm:gpu26:16:")).count(), 1);
}

// Refold5: the two parts of a heterogeneous job are one experiment, with what each of them held.
#[test]
fn refold_5_the_parts_of_a_heterogeneous_job_are_one_experiment() {
    let folded = fold(&full());
    let experiments = experiments(&folded.attempts);
    let job = experiments.iter().find(|experiment| experiment.id.0 == "slurm:gpu26/8").unwrap();
    assert_eq!(job.attempts.len(), 2);
    for key in ["slurm:gpu26:8:1795998677", "slurm:gpu26:9:1795998677"] {
        assert_eq!(attempt(&folded, key).bindings.len(), 1, "for {key}");
    }
}

// Refold6: local times with their zone are the times of the epochs.
#[test]
fn refold_6_local_times_with_their_zone_give_the_attempts_of_epochs() {
    let local = fold(&import("22.05/sacct_time_TZ_newyork.txt", "America/New_York"));
    let epochs = fold(&import("22.05/sacct_time_epoch.txt", "UTC"));
    assert_eq!(local, epochs);
    assert_eq!(local.attempts.len(), 24);
}

// Trap25: a table whose duration is from submission to end; 64 accelerators were held for eight seconds, which are 512
// seconds of one and not 1,152.
#[test]
fn trap_25_waiting_is_no_time_of_an_accelerator() {
    let rows = "attempt_id,experiment,status,submitted,started,ended,gpus\n\
                kalos,k,completed,2023-08-01T11:00:58Z,2023-08-01T11:01:08Z,2023-08-01T11:01:16Z,64\n";
    let options = AttemptsOptions {
        file: "acme.csv".to_owned(),
        source: SourceId("acme".to_owned()),
        zone: Zone::Undeclared,
    };
    let read = sources::telemetry::attempts::read(rows.as_bytes(), &options).unwrap();
    assert_eq!(fold(&read.observations).attempts[0].gpu_milliseconds, Some(512 * 1_000));
}
