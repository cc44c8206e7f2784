//! Remembers what was judged of the few thousand different lines that a bill repeats.

use crate::places::{Places, hash, same};

/// Judgements by the texts that they were made of.
#[derive(Debug)]
pub(in crate::billing) struct Memo<V> {
    known: Vec<(String, V)>,
    places: Places,
    key: String,
}

/// Judgements remembered; past it a line is judged anew each time.
const REMEMBERED: usize = 20_000;

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { known: Vec::new(), places: Places::default(), key: String::new() }
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
        let entry = |key: i32| usize::try_from(key).ok().and_then(|key| self.known.get(key));
        let hash = hash(self.key.as_bytes());
        let is = |key| entry(key).is_some_and(|(known, _)| same(known.as_bytes(), self.key.as_bytes()));
        if let Some((_, value)) = self.places.find(hash, is).and_then(entry) {
            return *value;
        }
        let value = judge();
        if let Ok(key) = i32::try_from(self.known.len())
            && self.known.len() < REMEMBERED
        {
            self.known.push((self.key.clone(), value));
            self.places.add(hash, key);
        }
        value
    }
}
