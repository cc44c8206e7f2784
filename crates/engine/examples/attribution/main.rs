//! The attribution benchmark's own side: `generate DIR HOURS`, `ours DIR`, `decode DIR`, each printing a JSON line.
//!
//! `cargo xtask bench attribution` runs these in turn with the peers and prints the ratios.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::type_complexity,
    clippy::format_collect,
    reason = "a benchmark of fixed size fails by panic"
)]

mod adopt;
mod company;
mod generate;
mod measure;

use std::path::Path;

use costing::attribution::TagKeys;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["generate", dir, hours] => generate::generate(Path::new(dir), hours.parse().unwrap()),
        ["adopt", dir, store, usage] => adopt::adopt(Path::new(dir), Path::new(store), Path::new(usage)),
        ["ours", dir] => measure::ours(Path::new(dir), engine::Measures::Billed, TagKeys::documented()),
        ["by-resource", dir] => {
            let nobody = TagKeys { experiment: Vec::new(), attempt: Vec::new() };
            measure::ours(Path::new(dir), engine::Measures::Billed, nobody);
        }
        ["ours-all", dir] => measure::ours(Path::new(dir), engine::Measures::All, TagKeys::documented()),
        ["decode", dir] => measure::decode(Path::new(dir), measure::Strings::Plain),
        ["decode-dictionary", dir] => measure::decode(Path::new(dir), measure::Strings::Dictionary),
        _ => panic!(
            "usage: attribution generate DIR HOURS | adopt DIR STORE USAGE | ours DIR | ours-all DIR | by-resource DIR | decode DIR | decode-dictionary DIR"
        ),
    }
}
