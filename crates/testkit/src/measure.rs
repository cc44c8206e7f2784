//! What a benchmark's process took, by the kernel's own books, as the JSON line that `cargo xtask bench` reads.

/// Prints the engine's name, seconds since the process began, CPU seconds and peak resident megabytes as one JSON
/// line, with more to tell as text.
#[expect(clippy::print_stdout, reason = "the line is what the program is run for")]
pub fn report(engine: &str, told: &[(&str, String)]) {
    let (seconds, cpu, megabytes) = cost();
    let told: Vec<String> = told.iter().map(|(name, value)| format!(", \"{name}\": \"{value}\"")).collect();
    println!(
        "{{\"engine\": \"{engine}\", \"seconds\": {seconds:.2}, \"cpu\": {cpu:.2}, \"megabytes\": {megabytes:.0}{}}}",
        told.concat()
    );
}

/// Seconds since the process began, CPU seconds and peak resident megabytes.
fn cost() -> (f64, f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().unwrap() / 100.0;
    let uptime: f64 =
        std::fs::read_to_string("/proc/uptime").unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: f64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    (uptime - ticks(19), ticks(11) + ticks(12), kilobytes / 1024.0)
}
