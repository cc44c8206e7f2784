//! The machine and its accelerators: told where they answer, and nothing that does not answer holds the program up.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of a test may stop it")]

mod shared;

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;

use ledger::{BindingKind, Capacity};
use serde_json::json;
use shared::{Growing, Running, Spool, fifo, said};

const WAITS: &str = "echo ready; cat >/dev/null";

const TWO: &str = "#!/bin/sh\necho '0, GPU-a, NVIDIA A100-SXM4-80GB, 87, 40536, 81920, 312.45'\n\
                   echo '1, GPU-b, NVIDIA A100-SXM4-80GB, [N/A], 0, 81920, 61.00'\n";

/// Answers one connection after another as a metadata service does.
fn serve(listener: TcpListener, answer: fn(&str) -> Option<&'static str>) {
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
        let asked = lines.next().unwrap_or_else(|| Ok(String::new())).unwrap_or_default();
        // The head of the question ends with an empty line.
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let (status, body) = answer(&asked).map_or(("404 Not Found", ""), |body| ("200 OK", body));
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        // Who asked may have given up.
        let _ = connection.write_all(format!("{head}{body}").as_bytes());
    }
}

fn aws(asked: &str) -> Option<&'static str> {
    match asked.split(' ').take(2).collect::<Vec<_>>().as_slice() {
        ["PUT", "/latest/api/token"] => Some("token"),
        ["GET", "/latest/dynamic/instance-identity/document"] => {
            Some(r#"{"instanceId":"i-0abc","instanceType":"p4d.24xlarge","region":"eu-west-1"}"#)
        }
        ["GET", "/latest/meta-data/instance-life-cycle"] => Some("spot"),
        _ => None,
    }
}

fn google(asked: &str) -> Option<&'static str> {
    asked.starts_with("GET /computeMetadata/v1/instance/?recursive=true ").then_some(
        r#"{"id":4520031799277581759,"machineType":"projects/1/machineTypes/a2-highgpu-8g","scheduling":{"preemptible":"FALSE"}}"#,
    )
}

#[test]
fn a_machine_of_either_cloud_is_told_by_the_id_that_its_bill_has() {
    for (answer, variable, scheme, told) in [
        (
            aws as fn(&str) -> _,
            "AWS_EC2_METADATA_SERVICE_ENDPOINT",
            "http://",
            ("i-0abc", "p4d.24xlarge", Capacity::Spot),
        ),
        (google, "GCE_METADATA_HOST", "", ("4520031799277581759", "a2-highgpu-8g", Capacity::OnDemand)),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || serve(listener, answer));
        let spool = Spool::new();
        let smi = spool.script("nvidia-smi", TWO);
        let mut command = spool.sh(WAITS);
        command.env_remove("AWS_EC2_METADATA_DISABLED").env("TRAINBILL_NVIDIA_SMI", smi);
        // The other cloud is not there.
        command
            .env("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
            .env("GCE_METADATA_HOST", "127.0.0.1:1");
        let running = Running::start(command.env(variable, format!("{scheme}{address}")));
        Growing::file(&spool.record())
            .wait_for(|event| event["run"]["facets"].get("gpuRun_resources").is_some());
        assert!(running.end().0.success());
        let attempts = spool.attempts();
        let [binding] = attempts[0].bindings.as_slice() else { unreachable!("{:?}", attempts[0].bindings) };
        let found =
            (binding.resource_id.as_deref().unwrap(), binding.sku.as_deref().unwrap(), attempts[0].capacity);
        assert_eq!(found, told);
        assert_eq!(
            (binding.kind, binding.gpus, binding.capacity),
            (BindingKind::Instance, 2_000, Some(2_000))
        );
        assert_eq!(attempts[0].gpu_kind.as_deref(), Some("NVIDIA A100-SXM4-80GB"));
    }
}

#[test]
fn a_cloud_that_takes_questions_and_never_answers_is_not_waited_for() {
    // Connections are made, as the system holds them, and nobody takes them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let spool = Spool::new();
    let mut command = spool.sh("exit 9");
    command.env_remove("AWS_EC2_METADATA_DISABLED").env("AWS_EC2_METADATA_SERVICE_ENDPOINT", &endpoint);
    let output = command.env("GCE_METADATA_HOST", endpoint.trim_start_matches("http://")).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    assert_eq!(said(&output).len(), 1, "a cloud that is not there is nothing to warn of");
    let binding = &spool.attempts()[0].bindings[0];
    assert_eq!((binding.kind, binding.node_name.as_deref()), (BindingKind::Node, Some("node-1")));
}

#[test]
fn a_driver_that_hangs_holds_up_neither_the_program_nor_signs_of_life() {
    let spool = Spool::new();
    let pipe = spool.file("pipe");
    fifo(&pipe);
    let smi = spool.script("nvidia-smi", &format!("#!/bin/sh\nexec cat {}\n", pipe.display()));
    let mut command = spool.sh(WAITS);
    command.env("TRAINBILL_NVIDIA_SMI", smi).env("TRAINBILL_HEARTBEAT_SECONDS", "0.02");
    let running = Running::start(&mut command);
    let mut record = Growing::file(&spool.record());
    for _ in 0..3 {
        let alive = record.wait_for_kind("RUNNING");
        assert_eq!(alive["run"]["facets"].get("gpuRun_gpus"), None);
    }
    // It hangs still: a pipe that nobody reads cannot be opened like this.
    const O_NONBLOCK: i32 = 0o4000;
    File::options().write(true).custom_flags(O_NONBLOCK).open(&pipe).unwrap();
    let (status, told) = running.end();
    assert!(status.success(), "{told}");
    assert_eq!(spool.end()["eventType"], "COMPLETE");
}

#[test]
fn a_sign_of_life_tells_what_the_accelerators_do() {
    let spool = Spool::new();
    // The tool on the path is the one that is asked.
    spool.script("nvidia-smi", TWO);
    let mut command = spool.sh(WAITS);
    command.env_remove("TRAINBILL_NVIDIA_SMI").env("TRAINBILL_HEARTBEAT_SECONDS", "0.05");
    let path = format!("{}:/usr/bin:/bin", spool.path().display());
    let running = Running::start(command.env("PATH", path));
    let mut record = Growing::file(&spool.record());
    let told = |event: &serde_json::Value| event["run"]["facets"].get("gpuRun_gpus").is_some();
    for _ in 0..2 {
        let alive = record.wait_for(|event| event["eventType"] == "RUNNING" && told(event));
        let facet = &alive["run"]["facets"]["gpuRun_gpus"];
        assert_eq!(
            facet["gpus"],
            json!([
                {"index": 0, "uuid": "GPU-a", "name": "NVIDIA A100-SXM4-80GB", "utilizationPercent": 87,
                    "memoryUsedMib": 40536, "memoryTotalMib": 81920, "powerWatts": 312.45},
                {"index": 1, "uuid": "GPU-b", "name": "NVIDIA A100-SXM4-80GB", "memoryUsedMib": 0,
                    "memoryTotalMib": 81920, "powerWatts": 61.0},
            ])
        );
        assert!(facet["sampledAt"].as_str() <= alive["eventTime"].as_str());
    }
    assert!(running.end().0.success());
    let attempt = &spool.attempts()[0];
    assert_eq!(
        (attempt.gpu_count, attempt.gpu_kind.as_deref()),
        (Some(2_000), Some("NVIDIA A100-SXM4-80GB"))
    );
}

#[test]
fn a_program_that_sees_fewer_accelerators_holds_fewer() {
    let spool = Spool::new();
    let smi = spool.script("nvidia-smi", TWO);
    let mut command = spool.sh(WAITS);
    let running = Running::start(command.env("TRAINBILL_NVIDIA_SMI", smi).env("CUDA_VISIBLE_DEVICES", "1"));
    Growing::file(&spool.record()).wait_for(|event| event["run"]["facets"].get("gpuRun_gpus").is_some());
    assert!(running.end().0.success());
    let binding = &spool.attempts()[0].bindings[0];
    assert_eq!((binding.gpus, binding.weight, binding.capacity), (1_000, 1_000, Some(2_000)));
}
