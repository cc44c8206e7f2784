//! Progress on standard error, for people who watch a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use app::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that names the stage and counts its rows; nothing where standard error is no terminal.
pub(crate) struct Line {
    bar: ProgressBar,
}

impl Line {
    pub(crate) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {human_pos} rows  {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }
}

impl Progress for Line {
    fn stage(&self, name: &str) {
        self.bar.set_position(0);
        self.bar.set_message(name.to_owned());
    }

    fn rows(&self, rows: u64) {
        self.bar.inc(rows);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
