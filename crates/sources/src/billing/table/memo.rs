//! Remembers what was judged of the few thousand different lines that a bill repeats.

use std::collections::HashMap;

/// Judgements by the texts that they were made of.
#[derive(Debug)]
pub(in crate::billing) struct Memo<V> {
    known: HashMap<String, V>,
    key: String,
}

/// Judgements remembered; past it a line is judged anew each time.
const REMEMBERED: usize = 20_000;

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { known: HashMap::new(), key: String::new() }
    }
}

impl<V: Copy> Memo<V> {
    /// The judgement of these texts.
    pub(in crate::billing) fn of(&mut self, texts: &[&str], judge: impl FnOnce() -> V) -> V {
        self.key.clear();
        for text in texts {
            self.key.push_str(text);
            self.key.push('\n');
        }
        if let Some(value) = self.known.get(&self.key) {
            return *value;
        }
        let value = judge();
        if self.known.len() < REMEMBERED {
            self.known.insert(self.key.clone(), value);
        }
        value
    }
}
