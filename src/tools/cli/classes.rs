//! Scores of classes as a table of the highest.

use std::fmt::Write as _;

use tfrt_host::{AsyncValue, DType};
use tfrt_tensor::{Accessor, HostTensor, bf16, f16};

static READ: Accessor = Accessor::new("scores of classes");

/// How many classes are shown.
const SHOWN: usize = 5;

/// The highest scores of each row of a result with a score for each label, a line each; `None` for
/// other results.
pub(super) fn table(value: &AsyncValue, labels: &[String]) -> Option<String> {
    let tensor = value.get::<HostTensor>()?.dense().ok()?;
    let scores: Vec<f64> = match tensor.dtype() {
        DType::F32 => tensor.read::<f32>(&READ).ok()?.iter().map(|&score| score.into()).collect(),
        DType::F64 => tensor.read::<f64>(&READ).ok()?.to_vec(),
        DType::F16 => tensor.read::<f16>(&READ).ok()?.iter().map(|score| score.to_f64()).collect(),
        DType::BF16 => tensor.read::<bf16>(&READ).ok()?.iter().map(|score| score.to_f64()).collect(),
        _ => return None,
    };
    if labels.is_empty() || tensor.shape().dims().last() != Some(&labels.len()) {
        return None;
    }
    let mut text = String::new();
    for row in scores.chunks_exact(labels.len()) {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        for &class in order.iter().take(SHOWN) {
            writeln!(text, "{:>10.4}  {}", row[class], labels[class]).ok()?;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;
    use tfrt_tensor::DenseHostTensor;

    use super::*;

    #[test]
    fn the_highest_scores_come_first() {
        let labels = ["cat", "dog", "owl"].map(str::to_owned);
        let tensor =
            DenseHostTensor::from_slice([1, 3], &[0.25f32, 0.5, -1.0], &(Arc::new(SystemAllocator) as _));
        let value = AsyncValue::new(HostTensor::from(tensor.unwrap()));
        let expected = "    0.5000  dog\n    0.2500  cat\n   -1.0000  owl\n";
        assert_eq!(table(&value, &labels).as_deref(), Some(expected));
        assert_eq!(table(&value, &labels[..2]), None);
    }
}
