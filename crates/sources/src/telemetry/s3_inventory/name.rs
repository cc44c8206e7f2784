//! What the key of an object says: the checkpoint that it is a part of, a marker, or a model.

/// Names that a checkpoint's own folder has once it is whole.
const INSIDE: [&str; 2] = [".metadata", "_SUCCESS"];

/// Names that stand beside checkpoints and tell of the newest whole one.
const ABOVE: [&str; 2] = ["latest", "latest_checkpointed_iteration.txt"];

/// Files that hold a model by themselves, or list its parts.
const MODELS: [&str; 4] = [
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
];

/// What a key is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// A part of a checkpoint, or a checkpoint that is one file.
    Part(Part<'a>),
    /// A marker in this folder that tells of the newest checkpoint in it.
    Latest(&'a str),
    /// A file of a model in this folder.
    Model(&'a str),
    /// Anything else.
    Other,
}

/// A part of a checkpoint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    /// The folder that the checkpoints of a run are in, without its last `/`.
    pub(super) run: &'a str,
    /// The checkpoint: its folder with the last `/`, or the file.
    pub(super) checkpoint: &'a str,
    pub(super) step: Option<u64>,
    /// True for the file that is written once the rest is.
    pub(super) is_marker: bool,
}

impl<'a> Named<'a> {
    /// Reads a key.
    pub(super) fn of(key: &'a str) -> Self {
        let mut start = 0;
        for segment in key.split('/') {
            let end = start + segment.len();
            if let Some(named) = step(segment) {
                let is_folder = end < key.len();
                return Self::Part(Part {
                    run: key.get(..start.saturating_sub(1)).unwrap_or_default(),
                    checkpoint: key.get(..end + usize::from(is_folder)).unwrap_or(key),
                    step: named.step(),
                    is_marker: key
                        .get(end..)
                        .is_some_and(|rest| INSIDE.contains(&rest.trim_start_matches('/'))),
                });
            }
            start = end + 1;
        }
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        if ABOVE.contains(&name) {
            return Self::Latest(folder);
        }
        let is_model = MODELS.contains(&name) || name.ends_with(".onnx") || name.ends_with(".gguf");
        if is_model { Self::Model(folder) } else { Self::Other }
    }
}

/// By what a part of a key names a checkpoint.
enum By {
    Step(u64),
    /// Which step that was, nothing tells.
    Epoch,
}

impl By {
    const fn step(&self) -> Option<u64> {
        match self {
            Self::Step(step) => Some(*step),
            Self::Epoch => None,
        }
    }
}

/// By what a part of a key names a checkpoint, if it does.
fn step(segment: &str) -> Option<By> {
    let after = |word: &str| number(segment.strip_prefix(word)?);
    if let Some(step) = ["global_step", "checkpoint-", "iter_"].iter().find_map(|word| after(word)) {
        return Some(By::Step(step));
    }
    let pair = |word: &str| {
        let mut places = segment.match_indices(word);
        places.find_map(|(at, _)| {
            let before = segment.get(..at)?.chars().next_back();
            let is_word = before.is_none_or(|c| !c.is_ascii_alphanumeric());
            number(segment.get(at + word.len()..)?).filter(|_| is_word)
        })
    };
    pair("step=").map(By::Step).or_else(|| pair("epoch=").map(|_| By::Epoch))
}

/// The number that a text begins with, if no letter follows it at once.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_the_checkpoint_that_it_is_a_part_of() {
        let check = |key: &str, expect: Option<(&str, &str, Option<u64>, bool)>| {
            let found = match Named::of(key) {
                Named::Part(Part { run, checkpoint, step, is_marker }) => {
                    Some((run, checkpoint, step, is_marker))
                }
                _ => None,
            };
            assert_eq!(found, expect, "for {key}");
        };
        let part = |run, checkpoint, step| Some((run, checkpoint, step, false));
        check("vitl/global_step100/mp_rank_00.pt", part("vitl", "vitl/global_step100/", Some(100)));
        check("vitl/checkpoint-500/model.safetensors", part("vitl", "vitl/checkpoint-500/", Some(500)));
        check("vitl/iter_0000500/x", part("vitl", "vitl/iter_0000500/", Some(500)));
        check("vitl/epoch=3-step=1200.ckpt", part("vitl", "vitl/epoch=3-step=1200.ckpt", Some(1_200)));
        check("vitl/epoch=3.ckpt", part("vitl", "vitl/epoch=3.ckpt", None));
        check("checkpoint-5/a/b", part("", "checkpoint-5/", Some(5)));
        check("a/global_step7/.metadata", Some(("a", "a/global_step7/", Some(7), true)));
        check("a/global_step7/rank0/.metadata", part("a", "a/global_step7/", Some(7)));
        for key in [
            "vitl/checkpoint-best/x",
            "vitl/global_steps/x",
            "vitl/checkpoint-5x/y",
            "vitl/substep=4/x",
            "vitl/checkpoint-99999999999999999999999/x",
            "data/epoch/3",
            "",
        ] {
            check(key, None);
        }
    }

    #[test]
    fn markers_and_models_are_told_with_their_folder() {
        assert_eq!(Named::of("vitl/latest"), Named::Latest("vitl"));
        assert_eq!(Named::of("latest_checkpointed_iteration.txt"), Named::Latest(""));
        assert_eq!(Named::of("vitl/final/model.safetensors"), Named::Model("vitl/final"));
        assert_eq!(Named::of("vitl/export/net.onnx"), Named::Model("vitl/export"));
        assert_eq!(Named::of("vitl/final/model-00001-of-00002.safetensors"), Named::Other);
        assert_eq!(Named::of("logs/events.out"), Named::Other);
    }
}
