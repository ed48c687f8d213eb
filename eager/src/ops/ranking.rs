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
        // What is not less than `k` others that came before needs no place. The bound is found anew
        // whenever there are several times as many.
        let (room, mut bound) = (k.saturating_mul(4).max(MIN_ROOM), u128::MAX);
        for (key, place) in keys.zip(0u64..) {
            let ranked = u128::from(key) << 64 | u128::from(place);
            if ranked >= bound {
                continue;
            }
            self.ranked.push(ranked);
            if k > 0 && self.ranked.len() == room {
                bound = *self.ranked.select_nth_unstable(k - 1).1;
                self.ranked.truncate(k);
            }
        }
        select(&mut self.ranked, k, is_sorted);
        self.ranked.iter().map(|&ranked| ranked as u64 as usize)
    }
}

/// The fewest keys that a bound is found among.
const MIN_ROOM: usize = 256;

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
    fn many_keys_are_ranked_as_by_sorting() {
        let keys: Vec<u64> = (0..5_000u64).map(|i| i.wrapping_mul(2_654_435_761) % 997).collect();
        let mut sorted: Vec<usize> = (0..keys.len()).collect();
        sorted.sort_by_key(|&i| (keys[i], i));
        let mut ranking = Ranking::default();
        for k in [0, 1, 64, 65, 2_000, 5_000] {
            let places: Vec<_> = ranking.first(keys.iter().copied(), k, true).collect();
            assert_eq!(places, sorted[..k], "{k}");
        }
    }

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
