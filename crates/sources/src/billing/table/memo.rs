//! Remembers what was judged of the few thousand different lines that a bill repeats.

use crate::places::{Places, hash, hash_numbers, same};

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

/// Judgements by the numbers of the cells that they were made of, the newest ones only.
#[derive(Debug)]
pub(in crate::billing) struct BySymbols<V> {
    /// Each at the place that its numbers fall on, and nothing before the first judgement.
    known: Vec<Option<(Numbers, V)>>,
    key: Vec<u64>,
}

/// As many numbers as a judgement is remembered by.
type Numbers = [u64; 4];

/// A power of two above the different lines that most batches have.
const PLACES: usize = 2048;

impl<V> Default for BySymbols<V> {
    fn default() -> Self {
        Self { known: Vec::new(), key: Vec::new() }
    }
}

impl<V: Copy> BySymbols<V> {
    /// The judgement of the cells that `identify` appends the numbers of; it gives false where there are none.
    pub(in crate::billing) fn of(
        &mut self,
        identify: &dyn Fn(&mut Vec<u64>) -> bool,
        judge: impl FnOnce() -> V,
    ) -> V {
        self.key.clear();
        let identified = identify(&mut self.key);
        let Some(key) = Numbers::try_from(self.key.as_slice()).ok().filter(|_| identified) else {
            return judge();
        };
        if self.known.is_empty() {
            self.known.resize(PLACES, None);
        }
        let at = usize::try_from(hash_numbers(&key)).unwrap_or(0) & (PLACES - 1);
        if let Some(Some((numbers, value))) = self.known.get(at)
            && *numbers == key
        {
            return *value;
        }
        let value = judge();
        if let Some(place) = self.known.get_mut(at) {
            *place = Some((key, value));
        }
        value
    }
}
