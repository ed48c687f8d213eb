//! `onnx.TfIdfVectorizer`: how often sequences of words or numbers occur in rows of a tensor.

use std::collections::HashMap;

use bstr::ByteSlice;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorShape};

use super::arguments::{count_or, floats_attr, ints_attr, text_or, unknown};
use super::strings::texts_attr;
use crate::ops::strings::strings;
use crate::ops::support::{Computed, allocate, integers, invalid, product, room_for, take};
use crate::{CpuCall, Forms, OpAttrs, OpRegistry, attr};

/// The sequences of a pool, by the numbers of their words.
struct Pool {
    /// For each sequence its places among `indexes`.
    sequences: HashMap<Vec<u32>, Vec<usize>>,
}

/// Gives each different word a number.
fn numbered<W: std::hash::Hash + Eq>(words: Vec<W>) -> (HashMap<W, u32>, Vec<u32>) {
    let mut numbers = HashMap::new();
    let mut list = Vec::with_capacity(words.len());
    for word in words {
        let next = numbers.len() as u32;
        list.push(*numbers.entry(word).or_insert(next));
    }
    (numbers, list)
}

impl Pool {
    /// Cuts a pool's words into sequences: `starts` says where those of one word, of two words and
    /// so on begin.
    fn new(words: &[u32], starts: &[i64], lengths: (usize, usize)) -> Result<Self, Diagnostic> {
        let (mut sequences, mut count): (HashMap<Vec<u32>, Vec<usize>>, _) = (HashMap::new(), 0);
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).map_or(Ok(words.len()), |&end| usize::try_from(end));
            let part = match (usize::try_from(start), end) {
                (Ok(start), Ok(end)) => words.get(start..end),
                _ => None,
            };
            let part = part.ok_or_else(|| {
                invalid(format!("ngram_counts {starts:?} do not divide a pool of {} words", words.len()))
            })?;
            let length = index + 1;
            for sequence in part.chunks_exact(length) {
                if (lengths.0..=lengths.1).contains(&length) {
                    sequences.entry(sequence.to_vec()).or_default().push(count);
                }
                count += 1;
            }
        }
        Ok(Self { sequences })
    }
}

/// How sequences are counted.
struct Counting {
    lengths: (usize, usize),
    skip_max: usize,
}

impl Counting {
    fn new(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let lengths = (count_or(attrs, "min_gram_length", 1)?, count_or(attrs, "max_gram_length", 1)?);
        if lengths.0 == 0 || lengths.0 > lengths.1 {
            return Err(invalid(format!("sequences of {} to {} words", lengths.0, lengths.1)));
        }
        Ok(Self { lengths, skip_max: count_or(attrs, "max_skip_count", 0)? })
    }

    /// Calls `found` with the places of each sequence of the pool that occurs in a row. Words that
    /// the pool lacks have no number.
    fn count(&self, row: &[Option<u32>], pool: &Pool, found: &mut dyn FnMut(usize)) {
        let mut sequence = Vec::new();
        for length in self.lengths.0..=self.lengths.1.min(row.len()) {
            // Single words have nothing between them to be skipped.
            let distance_max = if length == 1 { 1 } else { self.skip_max.saturating_add(1).min(row.len()) };
            for distance in 1..=distance_max {
                let span = (length - 1).saturating_mul(distance);
                for first in 0..row.len().saturating_sub(span) {
                    sequence.clear();
                    sequence
                        .extend(row[first..].iter().step_by(distance).take(length).map_while(|word| *word));
                    if sequence.len() == length
                        && let Some(places) = pool.sequences.get(&sequence)
                    {
                        places.iter().for_each(|&place| found(place));
                    }
                }
            }
        }
    }
}

/// The words of the pool as numbers, and those of the argument by the same numbers.
fn words_of(x: &HostTensor, attrs: &OpAttrs) -> Result<(Vec<u32>, Vec<Option<u32>>), Diagnostic> {
    if x.dtype() == DType::String {
        let (numbers, pool) = numbered(texts_attr(attrs, "pool_strings")?);
        let words = strings(x)?.strings().iter().map(|word| numbers.get(word.to_str().ok()?).copied());
        return Ok((pool, words.collect()));
    }
    let pool = ints_attr(attrs, "pool_int64s")?.unwrap_or_default();
    let (numbers, pool) = numbered(pool.to_vec());
    Ok((pool, integers(x, "X")?.iter().map(|word| numbers.get(word).copied()).collect()))
}

fn vectorize(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let counting = Counting::new(call.attrs)?;
    let dims = x.shape().dims().to_vec();
    let Some((&width, outer)) = dims.split_last().filter(|_| dims.len() <= 2) else {
        return Err(invalid(format!("the op takes vectors and matrices, got shape {}", x.shape())));
    };
    let (pool, words) = words_of(x, call.attrs)?;
    let pool =
        Pool::new(&pool, &ints_attr(call.attrs, "ngram_counts")?.unwrap_or_default(), counting.lengths)?;
    let indexes = ints_attr(call.attrs, "ngram_indexes")?.unwrap_or_default();
    let indexes = super::arguments::extents_of(&indexes)?;
    let weights = floats_attr(call.attrs, "weights")?;
    let (is_capped, is_weighted) = match text_or(call.attrs, "mode", "TF")? {
        "TF" => (false, false),
        "IDF" => (true, true),
        "TFIDF" => (false, true),
        other => return Err(unknown("mode", other)),
    };
    let columns = indexes.iter().max().map_or(0, |&index| index.saturating_add(1));
    let shape = TensorShape::new(&[outer, &[columns]].concat())?;
    let mut out = allocate(call, DType::F32, shape.dims())?;
    let elements = out.elements_mut::<f32>()?;
    elements.fill(0.0);
    let mut counts: Vec<u64> = room_for(indexes.len())?;
    for row in 0..if columns == 0 { 0 } else { product(outer) } {
        counts.clear();
        counts.resize(indexes.len(), 0);
        counting.count(&words[row * width..][..width], &pool, &mut |place| {
            if let Some(count) = counts.get_mut(place) {
                *count += 1;
            }
        });
        for (place, (&count, &index)) in
            counts.iter().zip(&indexes).enumerate().filter(|(_, (count, _))| **count > 0)
        {
            let count = if is_capped { 1.0 } else { count as f64 };
            let weight = weights.as_ref().and_then(|weights| weights.get(place)).filter(|_| is_weighted);
            elements[row * columns + index] = (count * weight.copied().unwrap_or(1.0)) as f32;
        }
    }
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.TfIdfVectorizer")
        .types(&[DType::I32, DType::I64, DType::String])
        .attrs([
            attr::int("max_gram_length"),
            attr::int("max_skip_count"),
            attr::int("min_gram_length"),
            attr::string("mode"),
            attr::ints("ngram_counts"),
            attr::ints("ngram_indexes"),
            attr::ints("pool_int64s").optional(),
            attr::strings("pool_strings").optional(),
            attr::floats("weights").optional(),
        ])
        .cpu(|call| vectorize(&call))
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_found_with_skips() {
        let pool = Pool::new(&[1, 2, 5, 4, 5, 6], &[0, 2], (2, 2)).unwrap();
        let count = |skip_max| {
            let mut found = Vec::new();
            let row = [1, 4, 5, 6, 6].map(Some);
            Counting { lengths: (2, 2), skip_max }.count(&row, &pool, &mut |place| found.push(place));
            found
        };
        // After two single words, the pairs are (5, 4) and (5, 6).
        assert_eq!(count(0), [3]);
        assert_eq!(count(1), [3, 3]);
        assert!(Pool::new(&[1], &[0, 2], (1, 2)).is_err());
    }
}
