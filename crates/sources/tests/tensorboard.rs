//! TensorBoard event files: what their scalars say, how broken ones are refused, and what a restart looks like.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::format_collect,
    reason = "a test that cannot go on has failed"
)]

mod golden;
mod proto;
mod told;

#[path = "tensorboard/writer.rs"]
mod writer;

use ledger::{LinkMethod, RunState, SourceId};
use proptest::prelude::*;
use sources::telemetry::TelemetryRead;
use sources::telemetry::tensorboard::{TensorboardOptions, read, read_folder};
use told::{codes, interruptions, qualities, views};
use writer::{Folder, Tensor, events, scalar, start, tensor};

fn options() -> TensorboardOptions {
    TensorboardOptions {
        file: "logs/run/events.out.tfevents.1.vm".to_owned(),
        source: SourceId("tensorboard".to_owned()),
        logdir: None,
    }
}

fn typed(events: &[u8]) -> TelemetryRead {
    let read = read(events, &options()).unwrap();
    assert_eq!(read.rows, read.accepted + read.rejections.len() as u64);
    read
}

#[test]
fn trap_19_a_restart_that_goes_back_in_steps_is_a_further_attempt() {
    let read = read_folder(&golden::testdata("tensorboard"), &options()).unwrap();
    golden::check("tensorboard/run_a0.expected.txt", &read);
    assert_eq!((read.rows, read.accepted), (17, 17));
    let attempts = views(&read);
    assert_eq!(attempts.len(), 2);
    let told: Vec<&str> = interruptions(&read).iter().map(|(_, one)| one.signal.as_str()).collect();
    assert_eq!(told, ["restarted at step 3 after step 4"], "steps 3 and 4 were done twice");
    let links: Vec<_> = attempts.iter().map(|(_, view)| view.link.clone().unwrap()).collect();
    assert_eq!(links[0], links[1], "both are of one experiment");
}

#[test]
fn a_restart_in_the_next_step_goes_on_and_shows_no_interruption() {
    let folder = Folder::new();
    folder.write(
        "run/events.out.tfevents.1.vm",
        &[scalar(100.0, 1, "loss", 1.0), scalar(101.0, 2, "loss", 0.9)],
    );
    folder.write("run/events.out.tfevents.2.vm", &[scalar(2000.0, 3, "loss", 0.8)]);
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!(views(&read).len(), 2);
    assert!(interruptions(&read).is_empty());
}

#[test]
fn one_process_that_starts_again_in_its_file_is_two_attempts() {
    let events = [
        scalar(100.0, 1, "loss", 1.0),
        scalar(101.0, 2, "loss", 0.9),
        start(500.0, 2),
        scalar(501.0, 2, "loss", 0.9),
    ];
    let read = typed(&writer::file(&events));
    assert_eq!(views(&read).len(), 2);
    assert_eq!(interruptions(&read)[0].1.signal, "restarted at step 2 after step 2");
}

#[test]
fn files_of_one_process_are_one_attempt_unless_it_trains_again() {
    let folder = Folder::new();
    folder.write("run/train/events.out.tfevents.1.vm.7.0.v2", &[scalar(100.0, 1, "loss", 1.0)]);
    folder.write("run/validation/events.out.tfevents.2.vm.7.1.v2", &[scalar(130.0, 1, "loss", 1.1)]);
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!(views(&read).len(), 1);
    let splits: Vec<Option<&str>> = qualities(&read).iter().map(|one| one.split.as_deref()).collect();
    assert_eq!(splits, [Some("train"), Some("validation")]);
    folder.write("run/train/events.out.tfevents.9.vm.7.2.v2", &[scalar(900.0, 1, "loss", 1.0)]);
    assert_eq!(views(&read_folder(folder.path(), &options()).unwrap()).len(), 2);
}

#[test]
fn t24_ranks_of_one_node_that_log_together_are_one_attempt() {
    let folder = Folder::new();
    for rank in 0..4 {
        let (name, at) = (format!("run/events.out.tfevents.1.vm.{rank}.0"), 100.0 + f64::from(rank));
        folder.write(&name, &[scalar(at, 1, "loss", 1.0), scalar(at + 60.0, 2, "loss", 0.9)]);
    }
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!(views(&read).len(), 1);
    assert!(codes(&read).is_empty());
}

#[test]
fn t21_trials_of_two_hosts_in_one_folder_are_two_attempts_and_the_user_is_told() {
    let folder = Folder::new();
    folder.write(
        "run/events.out.tfevents.1.a.5.0",
        &[scalar(100.0, 1, "loss", 1.0), scalar(200.0, 2, "loss", 0.9)],
    );
    folder.write(
        "run/events.out.tfevents.1.b.5.0",
        &[scalar(150.0, 1, "loss", 1.0), scalar(250.0, 2, "loss", 0.9)],
    );
    let read = read_folder(folder.path(), &options()).unwrap();
    assert_eq!(views(&read).len(), 2);
    assert_eq!(codes(&read), ["tensorboard::logdir_shared"]);
    assert!(interruptions(&read).is_empty(), "neither one is a restart of the other");
}

#[test]
fn a_scalar_is_read_from_every_form_that_writers_use() {
    for (form, expect) in [
        (Tensor::FloatList(0.5), Some(0.5)),
        (Tensor::FloatBytes(0.5), Some(0.5)),
        (Tensor::DoubleList(0.25), Some(0.25)),
        (Tensor::DoubleBytes(0.25), Some(0.25)),
        (Tensor::Int64(-3), Some(-3.0)),
        (Tensor::Half(0x3800), Some(0.5)),
        (Tensor::Vector, None),
        (Tensor::Text, None),
    ] {
        let read = typed(&writer::file(&[tensor(100.0, 7, "t", &form, Some("scalars"))]));
        let found = qualities(&read).first().map(|one| one.value);
        assert_eq!(found, expect, "for {form:?}");
        assert_eq!(read.rejections, [], "for {form:?}");
    }
    let simple = typed(&writer::file(&[scalar(100.0, 7, "t", f32::NAN)]));
    assert!(qualities(&simple)[0].value.is_nan());
    assert_eq!(qualities(&simple)[0].direction, None, "nobody told which way is better");
}

#[test]
fn hyperparameters_and_other_plugins_are_no_quality() {
    let hyper = tensor(100.0, 0, "_hparams_/x", &Tensor::FloatList(0.1), Some("hparams"));
    let later = tensor(101.0, 1, "_hparams_/x", &Tensor::FloatList(0.1), None);
    let read = typed(&writer::file(&[hyper, later]));
    assert!(views(&read).is_empty());
    assert_eq!((read.accepted, codes(&read)), (3, vec!["tensorboard::no_scalars"]));
}

#[test]
fn a_folder_name_with_an_attempt_number_names_the_experiment() {
    let folder = Folder::new();
    folder.write("vitl.a2/events.out.tfevents.1.vm", &[scalar(100.0, 1, "loss", 1.0)]);
    let read =
        read_folder(folder.path(), &TensorboardOptions { logdir: Some("team".to_owned()), ..options() });
    let read = read.unwrap();
    let (key, view) = views(&read)[0];
    assert_eq!(key, "tb:team/vitl.a2:99.000000:vm");
    let link = view.link.clone().unwrap();
    assert_eq!((link.experiment.0.as_str(), link.method), ("vitl", LinkMethod::NameRule));
    assert_eq!(view.state, RunState::Lost, "nothing says that it ended");
}

#[test]
fn a_broken_record_is_refused_and_the_rest_is_read_where_it_can_be_found() {
    let good = writer::file(&[scalar(100.0, 1, "loss", 1.0), scalar(101.0, 2, "loss", 0.9)]);
    let last = good.len() - events(&[scalar(101.0, 2, "loss", 0.9)]).len();
    for (at, code, accepted) in [
        // Content of the second record: only that one is lost.
        (40 + 12 + 10, "row::checksum", 2),
        // Length of the last record: what follows cannot be found.
        (last, "row::not_a_record", 2),
    ] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        let read = typed(&bytes);
        assert_eq!(read.rejections.iter().map(|one| one.code).collect::<Vec<_>>(), [code], "at {at}");
        assert_eq!(read.accepted, accepted, "at {at}");
    }
    let cut = typed(&good[..good.len() - 3]);
    assert_eq!((cut.rows, cut.accepted, codes(&cut)), (2, 2, vec!["tensorboard::cut_short"]));
    let text = typed(b"this is no event file at all");
    assert_eq!(text.rejections[0].code, "row::not_a_record");
}

#[test]
fn a_record_without_a_time_or_that_is_no_message_is_refused() {
    let read =
        typed(&events(&[writer::record(&[0x0b]), scalar(-1.0, 1, "loss", 1.0), scalar(9.0, 1, "loss", 1.0)]));
    let codes: Vec<&str> = read.rejections.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["row::not_protobuf", "row::not_a_time"]);
    assert_eq!(views(&read).len(), 1);
}

#[test]
fn a_long_history_is_thinned_out_and_counted() {
    let many: Vec<Vec<u8>> = (0..5_000_u16)
        .map(|step| scalar(100.0 + f64::from(step), u64::from(step), "loss", f32::from(step)))
        .collect();
    let read = typed(&writer::file(&many));
    assert_eq!(read.accepted, 5_001);
    let kept = qualities(&read);
    assert!((500..=1_003).contains(&kept.len()), "{}", kept.len());
    assert_eq!((kept[0].step, kept[kept.len() - 1].step), (Some(0), Some(4_999)));
    let warning = &read.warnings[0];
    assert_eq!(warning.code, "tensorboard::values_thinned");
    assert!(warning.message.starts_with(&format!("{} value(s)", 5_000 - kept.len())), "{}", warning.message);
}

#[test]
fn a_folder_without_event_files_is_an_error_with_help() {
    let error = read_folder(Folder::new().path(), &options()).unwrap_err();
    assert_eq!((error.code, error.help.is_some()), ("tensorboard::no_event_files", true));
}

proptest! {
    #[test]
    fn no_change_of_a_good_file_makes_it_panic(at in 0_usize..600, byte in any::<u8>(), cut in any::<bool>()) {
        let name = "tensorboard/run_a0/events.out.tfevents.1795997436.vm";
        let mut bytes = std::fs::read(golden::testdata(name)).unwrap();
        let at = at % bytes.len();
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        typed(&bytes);
    }

    #[test]
    fn no_content_makes_it_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        typed(&events(&[writer::record(&content)]));
    }
}
