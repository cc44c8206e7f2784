//! Remembers what is judged by the few thousand different texts that the rows of a bill repeat.

use std::collections::HashMap;

/// Judgements by text.
#[derive(Debug)]
pub(in crate::billing) struct Remembered<V> {
    known: HashMap<String, V>,
    key: String,
}

/// Texts remembered; past it one is judged anew each time.
const LIMIT: usize = 20_000;

impl<V: Copy> Remembered<V> {
    /// The judgement of the texts, by `judge` where it is not known.
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
        if self.known.len() < LIMIT {
            self.known.insert(self.key.clone(), value);
        }
        value
    }
}

impl<V> Default for Remembered<V> {
    fn default() -> Self {
        Self { known: HashMap::new(), key: String::new() }
    }
}
