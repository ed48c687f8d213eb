//! Places of the first elements in an order, by keys, so that one loop sorts elements of all types.

/// Finds the places of the least keys. Its memory serves many calls.
#[derive(Default)]
pub(super) struct Ranking {
    /// Each key, and below it its place.
    ranked: Vec<u128>,
}

impl Ranking {
    /// Returns the places of the `k` least keys, in the keys' order if `is_sorted`. Of equal keys
    /// the one that comes first is the least.
    pub(super) fn first(
        &mut self,
        keys: impl Iterator<Item = u64>,
        k: usize,
        is_sorted: bool,
    ) -> impl Iterator<Item = usize> {
        self.ranked.clear();
        self.ranked.extend(keys.zip(0u64..).map(|(key, place)| u128::from(key) << 64 | u128::from(place)));
        select(&mut self.ranked, k, is_sorted);
        self.ranked.iter().map(|&ranked| ranked as u64 as usize)
    }
}

fn select(ranked: &mut Vec<u128>, k: usize, is_sorted: bool) {
    if k < ranked.len() {
        ranked.select_nth_unstable(k);
        ranked.truncate(k);
    }
    if is_sorted {
        ranked.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_keys_come_first_and_of_equals_the_first_place() {
        let mut ranking = Ranking::default();
        let keys = [3, u64::MAX, 1, 3, 0, 1];
        for (k, expected) in [(0, &[][..]), (3, &[4, 2, 5]), (6, &[4, 2, 5, 0, 3, 1])] {
            assert_eq!(ranking.first(keys.into_iter(), k, true).collect::<Vec<_>>(), expected);
            let mut places: Vec<_> = ranking.first(keys.into_iter(), k, false).collect();
            places.sort_unstable();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(places, expected);
        }
    }
}
