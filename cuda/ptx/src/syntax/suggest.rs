//! Guesses the word that a mistyped one stands for.

/// Returns the candidate nearest to `word`, if it differs in at most one letter (short words) or
/// two letters (longer words).
pub(super) fn nearest<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    /// Longer words are not compared.
    const MAX_LENGTH: usize = 40;
    if word.len() > MAX_LENGTH {
        return None;
    }
    let limit = if word.len() < 5 { 1 } else { 2 };
    let distances =
        candidates.iter().map(|&candidate| (distance(word.as_bytes(), candidate.as_bytes()), candidate));
    let (distance, candidate) = distances.min_by_key(|&(distance, _)| distance)?;
    (distance <= limit).then_some(candidate)
}

/// Returns how many letters must be changed, added or removed.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn only_what_is_near_is_suggested() {
        let words = ["global", "shared", "reg"];
        assert_eq!(nearest("globl", &words), Some("global"));
        assert_eq!(nearest("rag", &words), Some("reg"));
        assert_eq!(nearest("pragma", &words), None);
        assert_eq!(nearest(&"x".repeat(100), &words), None);
    }
}
