//! Bytes that a launch hands over to others while it runs, or takes over from them.
//!
//! A thread hands bytes over by a fence and then an access that others synchronize by, such as a
//! store to a flag. It takes bytes over by such an access, a load of the flag, and then a fence.
//! This is seen per worker, which runs one block after the other, so the barriers of a block need
//! no attention.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A word of 64 bytes, by its number.
type Word = u64;

/// The most addresses of flags that are kept. A launch that has more synchronizes with every other
/// one.
const MAX_FLAGS: usize = 4096;

/// What a worker, or a whole launch, hands over.
#[derive(Debug, Default)]
pub(crate) struct Handovers {
    /// The bytes whose last access no fence follows.
    open: HashMap<Word, u64>,
    /// The bytes whose last access a fence follows, and no access that others synchronize by.
    fenced: HashMap<Word, u64>,
    /// The bytes whose first access nothing precedes that was heard of others.
    early: BTreeMap<Word, u64>,
    /// The flags that were loaded since the last fence.
    loaded: BTreeSet<u64>,
    /// The flags that others may hear, and those that were heard.
    told: BTreeSet<u64>,
    heard: BTreeSet<u64>,
}

impl Handovers {
    /// Records an access of some bytes of a word.
    pub(crate) fn access(&mut self, word: Word, bits: u64) {
        *self.open.entry(word).or_default() |= bits;
        if let Some(fenced) = self.fenced.get_mut(&word) {
            *fenced &= !bits;
        }
        if self.heard.is_empty() {
            *self.early.entry(word).or_default() |= bits;
        }
    }

    /// Records a fence.
    pub(crate) fn fence(&mut self) {
        for (word, bits) in self.open.drain() {
            *self.fenced.entry(word).or_default() |= bits;
        }
        self.heard.append(&mut self.loaded);
    }

    /// Records a store that others may synchronize by.
    pub(crate) fn tell(&mut self, address: u64) {
        self.fenced.clear();
        self.told.insert(address);
    }

    /// Records a load that synchronizes with the stores of others, if a fence follows.
    pub(crate) fn hear(&mut self, address: u64) {
        self.loaded.insert(address);
    }

    /// Adds those of another worker.
    fn add(&mut self, other: &Handovers) {
        for (&word, bits) in other.open.iter().chain(&other.fenced) {
            *self.open.entry(word).or_default() |= bits;
        }
        for (&word, bits) in &other.early {
            *self.early.entry(word).or_default() |= bits;
        }
        self.told.extend(&other.told);
        self.heard.extend(&other.heard);
    }

    /// Returns those of all workers of a launch; `None` if it synchronizes with nobody.
    pub(crate) fn merge<'a>(workers: impl Iterator<Item = &'a Handovers>) -> Option<Handover> {
        let mut all = Handovers::default();
        workers.for_each(|worker| all.add(worker));
        let flags = |flags: BTreeSet<u64>| (flags.len() <= MAX_FLAGS).then(|| flags.into_iter().collect());
        let is_silent = all.told.is_empty() && all.heard.is_empty();
        (!is_silent).then(|| Handover {
            kept: all.open.into_iter().collect(),
            early: all.early,
            told: flags(all.told),
            heard: flags(all.heard),
        })
    }
}

/// What a launch hands over to others and takes over from them, while it runs.
///
/// All accesses of a byte by one launch come before all those of another launch if the first one
/// hands the byte over, the second one accesses it only after it heard of others, and a flag of the
/// first one is one that the second one heard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handover {
    /// The accessed bytes that it does not hand over: by the numbers of words of 64 bytes, a bit
    /// for each byte.
    pub kept: BTreeMap<u64, u64>,
    /// The bytes that it accesses before it hears of others, in the same form.
    pub early: BTreeMap<u64, u64>,
    /// The addresses by which others may hear of it, in order; `None` for very many.
    pub told: Option<Vec<u64>>,
    /// The addresses by which it hears of others, in order; `None` for very many.
    pub heard: Option<Vec<u64>>,
}

impl Handover {
    /// Forgets flags within some memory.
    pub(crate) fn forget(&mut self, memory: std::ops::Range<u64>) {
        for flags in [&mut self.told, &mut self.heard].into_iter().flatten() {
            flags.retain(|flag| !memory.contains(flag));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAG: u64 = 4096;

    fn merged(steps: &dyn Fn(&mut Handovers)) -> Handover {
        let mut worker = Handovers::default();
        steps(&mut worker);
        Handovers::merge([&worker].into_iter()).unwrap_or_default()
    }

    fn bits(words: &BTreeMap<Word, u64>) -> Vec<u64> {
        words.values().copied().filter(|&bits| bits != 0).collect()
    }

    #[test]
    fn a_fence_and_a_store_hand_bytes_over() {
        let teller = merged(&|worker| {
            worker.access(10, 1);
            worker.fence();
            worker.access(10, 2);
            worker.tell(FLAG);
        });
        // The second access has no fence behind it.
        assert_eq!((bits(&teller.kept), teller.told.as_deref()), (vec![2], Some(&[FLAG][..])));
        let late = merged(&|worker| {
            worker.access(10, 1);
            worker.fence();
            worker.tell(FLAG);
            worker.access(10, 1);
        });
        assert_eq!(bits(&late.kept), [1]);
    }

    #[test]
    fn a_load_and_a_fence_take_bytes_over() {
        let listener = merged(&|worker| {
            worker.access(10, 1);
            worker.hear(FLAG);
            worker.access(10, 2);
            worker.fence();
            worker.access(10, 4);
        });
        assert_eq!((bits(&listener.early), listener.heard.as_deref()), (vec![3], Some(&[FLAG][..])));
        assert_eq!(Handovers::merge([&Handovers::default()].into_iter()), None);
    }
}
