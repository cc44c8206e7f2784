//! A Python of its own for a task, with packages by the ordinary client.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of a virtual environment below `folder` with the packages, made where it is not there yet.
///
/// # Errors
/// What is missing, if there is no Python with `venv`, or the packages cannot be installed.
pub(crate) fn with(folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let venv = folder.join("venv");
    let python = venv.join("bin/python");
    if !python.exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&venv).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("python3 -m venv failed; install python3 with its venv module".to_owned());
        }
    }
    let installed = Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages).status();
    if !installed.is_ok_and(|status| status.success()) {
        return Err(format!("pip could not install {}", packages.join(" and ")));
    }
    Ok(python)
}
