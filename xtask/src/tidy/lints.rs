//! Every crate takes the lints of the workspace, and settings that replace the root's repeat them.

use super::{Problem, Workspace};

const SETTINGS: &str = "clippy.toml";

pub(super) fn check(tree: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &tree.members {
        if !takes_workspace_lints(tree.text(&member.manifest)) {
            problems.push(Problem::new(&member.manifest, "lacks `[lints]` with `workspace = true`"));
        }
        let own = member.manifest.replace("Cargo.toml", SETTINGS);
        if let Some(text) = tree.texts.get(&own) {
            let lost = missing_settings(tree.text(SETTINGS), text).into_iter();
            problems.extend(lost.map(|line| Problem::new(&own, format!("lacks the root's `{line}`"))));
        }
    }
    problems
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

/// The settings of `root` that `own` does not repeat.
fn missing_settings<'a>(root: &'a str, own: &str) -> Vec<&'a str> {
    let settings = root.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    settings.filter(|line| !own.lines().any(|other| other == *line)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::workspace::planted;
    use super::*;

    fn problems(manifest: &str, own: &str) -> Vec<String> {
        let texts = [("clippy.toml", "# root\na = 1\nb = 2\n"), ("crates/money/Cargo.toml", manifest)];
        let texts = texts.into_iter().chain([("crates/money/clippy.toml", own)]);
        let texts = texts.map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let tree = Workspace { members: vec![planted("money", &[], &[])], texts, ..Workspace::default() };
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_crate_with_both_is_fine() {
        assert_eq!(
            problems("[package]\n\n[lints]\nworkspace = true\n", "b = 2\na = 1\nc = 3\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_crate_outside_the_lints_is_named() {
        let named = problems("[package]\nworkspace = true\n", "a = 1\n");
        assert_eq!(named[0], "crates/money/Cargo.toml: lacks `[lints]` with `workspace = true`");
        assert_eq!(named[1], "crates/money/clippy.toml: lacks the root's `b = 2`");
    }
}
