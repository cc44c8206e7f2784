//! What the rules of MLPerf training say of a benchmark's metric.

use ledger::Direction;

/// Which way is better, for the benchmarks of the training rules; other logs do not tell it.
pub(super) fn direction(benchmark: Option<&str>, metric: &str) -> Option<Direction> {
    match (benchmark?, metric) {
        // Perplexity, cross entropy and word error rate.
        (
            "gpt3" | "llama2_70b_lora" | "llama31_405b" | "llama31_8b" | "rnnt" | "rnn_speech_recognition",
            _,
        )
        | ("stable_diffusion", "FID") => Some(Direction::Minimise),
        ("stable_diffusion", "CLIP")
        | (
            "bert" | "dlrm" | "dlrm_dcnv2" | "gnn" | "rgat" | "maskrcnn" | "minigo" | "resnet" | "ssd"
            | "unet3d",
            _,
        ) => Some(Direction::Maximise),
        _ => None,
    }
}

/// The protocol: the benchmark's rules in a round.
pub(super) fn protocol(benchmark: Option<&str>, round: Option<&str>) -> Option<String> {
    let benchmark = benchmark?;
    Some(match round {
        Some(round) => format!("mlperf_training_{round}/{benchmark}"),
        None => format!("mlperf_training/{benchmark}"),
    })
}
