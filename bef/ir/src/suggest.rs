//! Guesses the name that a mistyped one stands for, in messages only.

/// The longest name that is compared. The time of a comparison grows with the product of the
/// lengths.
const MAX_LENGTH: usize = 64;
/// The most candidates of about the right length that are compared.
const MAX_CANDIDATES: usize = 1000;

/// Returns the candidate with the fewest typing errors to `name`, if they are few for its length.
/// Among equals, the first in alphabetical order.
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = match name.len() {
        0..=2 => 0,
        3..=5 => 1,
        6..=MAX_LENGTH => 2,
        _ => return None,
    };
    let of_near_length = candidates
        .into_iter()
        .filter(|candidate| *candidate != name && candidate.len().abs_diff(name.len()) <= most);
    let near: Vec<&str> = of_near_length.take(MAX_CANDIDATES + 1).collect();
    if near.len() > MAX_CANDIDATES {
        return None;
    }
    near.into_iter()
        .map(|candidate| (distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|(slips, _)| *slips <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns `; did you mean 'name'?` for the closest candidate, or an empty text.
pub(crate) fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(name, candidates).map_or(String::new(), |candidate| format!("; did you mean '{candidate}'?"))
}

/// Returns how many bytes must be added, removed, changed or swapped with a neighbour to turn `a`
/// into `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    // Rows of the table of prefix distances: the one before the last, the last, and the current
    // one.
    let mut older: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &byte) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &other) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(byte != other);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && byte == b[j - 1] && a[i - 1] == other;
            if swapped && let Some(before) = older.get(j - 1) {
                best = best.min(before + 1);
            }
            row.push(best);
        }
        older = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        let table = [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "acb", 1),
            ("abc", "ac", 1),
            ("ab", "xab", 1),
            ("ab", "xy", 2),
        ];
        for (a, b, slips) in table {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), slips, "{a} {b}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["tfrt.return", "tfrt.repeat", "tfrt.call"];
        assert_eq!(closest("tfrt.retrun", names), Some("tfrt.return"));
        assert_eq!(closest("tfrt.something", names), None);
        assert_eq!(closest("ab", ["ac"]), None);
        assert_eq!(hint("tfrt.cal", names), "; did you mean 'tfrt.call'?");
    }
}
