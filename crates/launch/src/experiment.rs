//! Which experiment a run belongs to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Request;

/// The experiment of a run, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// True if nobody named it, so that it was made of repository, script and arguments.
    pub derived: bool,
}

/// The command line's name, else `TRAINBILL_EXPERIMENT`, else one made of the repository, the script and its arguments:
/// the same command from the same repository is the same experiment.
pub(crate) fn of(request: &Request) -> Experiment {
    let named =
        request.experiment.clone().or_else(|| request.environment.get("TRAINBILL_EXPERIMENT").cloned());
    if let Some(name) = named.filter(|name| !name.trim().is_empty()) {
        return Experiment { name, derived: false };
    }
    let script = script(&request.command);
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    let (root, remote) = std::env::current_dir().ok().and_then(|from| repository(&from)).unwrap_or_default();
    part(remote.as_bytes());
    let absolute = std::path::absolute(&script).unwrap_or_else(|_| script.clone());
    let inside = absolute.strip_prefix(&root).ok().filter(|_| !root.as_os_str().is_empty());
    part(inside.unwrap_or(&absolute).as_os_str().as_encoded_bytes());
    request.command.iter().for_each(|argument| part(argument.as_encoded_bytes()));
    let stem = script.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy());
    let hash = hasher.finalize().to_hex();
    Experiment { name: format!("{stem}-{}", hash.get(..8).unwrap_or_default()), derived: true }
}

/// The first argument that is a file, as in `python -m torch.distributed.run train.py`, else the program.
fn script(command: &[OsString]) -> PathBuf {
    let file = command.iter().skip(1).find(|argument| Path::new(argument).is_file());
    PathBuf::from(file.or(command.first()).cloned().unwrap_or_default())
}

/// The repository around a folder, and where its origin lies: read from its configuration, as starting `git` takes
/// longer than all the rest.
fn repository(from: &Path) -> Option<(PathBuf, String)> {
    let root = from.ancestors().find(|folder| folder.join(".git").exists())?;
    let config = std::fs::read_to_string(root.join(".git/config")).unwrap_or_default();
    let mut lines = config.lines().map(str::trim).skip_while(|line| *line != "[remote \"origin\"]").skip(1);
    let url = lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='));
    Some((root.to_owned(), url.unwrap_or_default().trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;

    fn request(command: &[&str]) -> Request {
        Request {
            command: command.iter().map(OsString::from).collect(),
            experiment: None,
            spool: PathBuf::new(),
            environment: BTreeMap::new(),
            heartbeat: Duration::from_secs(30),
        }
    }

    #[test]
    fn the_command_line_comes_before_the_environment() {
        let environment = BTreeMap::from([("TRAINBILL_EXPERIMENT".to_owned(), "of-env".to_owned())]);
        let of_environment = Request { environment, ..request(&["train"]) };
        assert_eq!(of(&of_environment).name, "of-env");
        let of_both = Request { experiment: Some("of-line".to_owned()), ..of_environment };
        assert_eq!(of(&of_both), Experiment { name: "of-line".to_owned(), derived: false });
    }

    #[test]
    fn the_same_command_is_the_same_experiment_and_another_argument_another() {
        let name = |command: &[&str]| of(&request(command)).name;
        assert_eq!(name(&["train", "--lr", "1"]), name(&["train", "--lr", "1"]));
        assert_ne!(name(&["train", "--lr", "1"]), name(&["train", "--lr", "2"]));
        assert_ne!(name(&["train", "--lr=1"]), name(&["train", "--lr", "=1"]));
        assert!(name(&["train"]).starts_with("train-"));
    }
}
