//! Calls cargo as a person would from a shell.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A call of cargo without what the cargo that started this program told it: build scripts that watch such a variable
/// (`CARGO_MANIFEST_DIR` and its like) would otherwise run again, and everything behind them build again, with every
/// change between a call from here and one from a shell.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let told = name.to_string_lossy();
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
        if of_package.iter().any(|start| told.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    command
}

/// The folder in which everything is built, which several checkouts may share.
pub(crate) fn target(root: &Path) -> Result<PathBuf, String> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root).no_deps().exec();
    Ok(metadata.map_err(|error| error.to_string())?.target_directory.into_std_path_buf())
}

/// The program, built as the tests build it.
pub(crate) fn program(root: &Path) -> Result<PathBuf, String> {
    let built = cargo()
        .args(["build", "--workspace", "--bin", "trainbill", "--locked", "--quiet"])
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("`cargo build --workspace --bin trainbill` failed".to_owned());
    }
    Ok(target(root)?.join("debug/trainbill"))
}
