//! What the cluster's accounting tells: as text by the documented command, and as JSON.

use std::path::{Path, PathBuf};

use super::process::output;
use super::scratch::Scratch;
use super::slurm::Slurm;

/// The command that the reader's page asks users for.
const COMMAND: &str = "crates/sources/src/telemetry/slurm/command.txt";

/// One export in both forms.
pub(super) struct Export {
    pub(super) text: PathBuf,
    pub(super) json: PathBuf,
}

/// Everything, with attempts before the last, under this name.
pub(super) fn export(
    root: &Path,
    (slurm, scratch): (&Slurm<'_>, &Scratch),
    name: &str,
) -> Result<Export, String> {
    let path = root.join(COMMAND);
    let command = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let words = Words::of(&command, &slurm.ask("sacct", &["--helpformat"])?)?;
    let mut sacct = slurm.command("sacct");
    let text = output(sacct.envs(words.variables).args(words.arguments))?;
    let json = slurm.ask("sacct", &["--allusers", "--duplicates", "--json"])?;
    Ok(Export {
        text: scratch.write(&format!("answers/{name}.txt"), &text)?,
        json: scratch.write(&format!("answers/{name}.json"), &json)?,
    })
}

/// Raw id and state of every record.
pub(super) fn records(slurm: &Slurm<'_>) -> Result<Vec<(String, String)>, String> {
    let only = ["--allusers", "--duplicates", "--allocations", "--noheader", "--parsable2"];
    let text = slurm.ask("sacct", &[&only[..], &["--format=JobIDRaw,State"]].concat())?;
    let pair = |line: &str| line.split_once('|').map(|(job, state)| (job.to_owned(), state.to_owned()));
    Ok(text.lines().filter_map(pair).collect())
}

/// The words of the documented command.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    variables: Vec<(String, String)>,
    arguments: Vec<String>,
}

impl Words {
    /// Without the columns that this version lacks, as its page says.
    fn of(command: &str, columns: &str) -> Result<Self, String> {
        let has = |column: &&str| columns.split_whitespace().any(|known| known == *column);
        let mut words = command.split_whitespace();
        let mut variables = Vec::new();
        for word in words.by_ref().take_while(|word| *word != "sacct") {
            let pair =
                word.split_once('=').ok_or_else(|| format!("`{word}` is no variable of the command"))?;
            variables.push((pair.0.to_owned(), pair.1.to_owned()));
        }
        let mut arguments: Vec<String> = words.map(str::to_owned).collect();
        let list = arguments.iter().position(|word| word == "-o").and_then(|at| arguments.get_mut(at + 1));
        let list = list.ok_or("the command asks for no columns")?;
        *list = list.split(',').filter(has).collect::<Vec<_>>().join(",");
        Ok(Self { variables, arguments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_a_version_lacks_are_left_out() {
        let words = Words::of("TIME=%s sacct -a -o Cluster,SLUID,End -P", "Cluster  End\nState").unwrap();
        assert_eq!(words.variables, [("TIME".to_owned(), "%s".to_owned())]);
        assert_eq!(words.arguments, ["-a", "-o", "Cluster,End", "-P"]);
    }

    #[test]
    fn the_documented_command_is_understood() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(COMMAND);
        let words = Words::of(&std::fs::read_to_string(path).unwrap(), "JobIDRaw State").unwrap();
        assert!(words.arguments.iter().any(|word| word == "-D"));
        assert!(words.arguments.iter().any(|word| word == "JobIDRaw,State"));
    }
}
