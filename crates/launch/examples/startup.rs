//! What `exec` adds to the wall time of a program that does nothing: `cargo run -p launch --example startup [PROGRAM]`.
//!
//! `PROGRAM` is a `trainbill`, or this crate's own face by default. Both sides are run in turn, so that what else the
//! machine does meets both.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each side; the median is told.
const RUNS: usize = 50;

fn main() -> Result<(), Box<dyn Error>> {
    let face = match std::env::args_os().nth(1) {
        Some(program) => PathBuf::from(program),
        None => beside_this()?,
    };
    let spool = std::env::temp_dir().join(format!("trainbill-startup-{}", std::process::id()));
    let mut plain = quiet(Command::new("true"));
    let mut under = quiet(Command::new(&face));
    under.args(["exec", "--experiment", "startup", "--spool"]).arg(&spool).args(["--", "true"]);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    // The first run of each fills the caches.
    for run in 0..=RUNS {
        let (one, other) = (timed(&mut plain)?, timed(&mut under)?);
        if run > 0 {
            without.push(one);
            with.push(other);
        }
    }
    std::fs::remove_dir_all(&spool)?;
    let (without, with) = (median(without), median(with));
    writeln!(
        std::io::stdout(),
        "median of {RUNS}: `true` {:.2} ms, under {} {:.2} ms: adds {:.2} ms",
        milliseconds(without),
        face.display(),
        milliseconds(with),
        milliseconds(with.saturating_sub(without)),
    )?;
    Ok(())
}

/// The face, which cargo builds into the folder above that of the examples.
fn beside_this() -> Result<PathBuf, Box<dyn Error>> {
    let this = std::env::current_exe()?;
    let folder = this.parent().and_then(Path::parent).ok_or("this program lies in no folder")?;
    let face = folder.join("exec-face");
    if face.is_file() { Ok(face) } else { Err("build it first: cargo build -p launch --bins".into()) }
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn timed(command: &mut Command) -> Result<Duration, Box<dyn Error>> {
    let began = Instant::now();
    let status = command.status()?;
    let lasted = began.elapsed();
    if status.success() { Ok(lasted) } else { Err(format!("{command:?} failed: {status}").into()) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
