//! `onnx.NonMaxSuppression`: boxes with the greatest scores that overlap little.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

use super::arguments::{OPERANDS, dense, formal, int_or};
use crate::ops::support::{Computed, integer_within, invalid, value_within};
use crate::{CpuCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.NonMaxSuppression");

/// A box by its corners.
#[derive(Clone, Copy)]
pub(in crate::ops) struct Corners {
    low: [f32; 2],
    high: [f32; 2],
}

impl Corners {
    /// A box of two opposite corners, or of its middle and its size.
    pub(in crate::ops) fn new(numbers: &[f32], is_centered: bool) -> Self {
        let [a, b, c, d] = [numbers[0], numbers[1], numbers[2], numbers[3]];
        if is_centered {
            return Self { low: [a - c / 2.0, b - d / 2.0], high: [a + c / 2.0, b + d / 2.0] };
        }
        Self { low: [a.min(c), b.min(d)], high: [a.max(c), b.max(d)] }
    }

    fn area(&self) -> f32 {
        (self.high[0] - self.low[0]) * (self.high[1] - self.low[1])
    }

    /// Whether the overlap with another box is greater than a fraction of what both cover.
    fn overlaps(&self, other: &Self, threshold: f32) -> bool {
        let extent = |i: usize| self.high[i].min(other.high[i]) - self.low[i].max(other.low[i]);
        let (height, width) = (extent(0), extent(1));
        if height <= 0.0 || width <= 0.0 {
            return false;
        }
        let (common, areas) = (height * width, [self.area(), other.area()]);
        let all = areas[0] + areas[1] - common;
        areas.iter().all(|&area| area > 0.0) && all > 0.0 && common / all > threshold
    }
}

fn threshold(tensor: Option<&HostTensor>, name: &str) -> Result<Option<f32>, Diagnostic> {
    tensor.map(|tensor| value_within::<f32>(tensor, name, 1)).transpose()
}

/// The places of at most `limit` boxes that overlap little, those with the greatest scores first.
/// Scores must be greater than `least`.
pub(in crate::ops) fn kept(
    corners: &[Corners],
    scores: &[f32],
    limit: usize,
    overlap: f32,
    least: Option<f32>,
) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..corners.len()).filter(|&i| least.is_none_or(|least| scores[i] > least)).collect();
    order.sort_by(|&i, &j| scores[j].total_cmp(&scores[i]).then(i.cmp(&j)));
    let mut kept: Vec<usize> = Vec::new();
    for candidate in order {
        if kept.len() >= limit {
            break;
        }
        if !kept.iter().any(|&kept| corners[candidate].overlaps(&corners[kept], overlap)) {
            kept.push(candidate);
        }
    }
    kept
}

fn suppress(call: &CpuCall<'_>) -> Computed {
    let inputs: [Option<&HostTensor>; 5] = formal(call.arguments, call.attrs)?;
    let [boxes, scores, limit, overlap, least] = inputs;
    let (boxes, scores) = (dense(boxes, "boxes")?, dense(scores, "scores")?);
    let (&[batch, count, 4], &[batches, classes, scored]) = (boxes.shape().dims(), scores.shape().dims())
    else {
        return Err(invalid(format!(
            "boxes and scores must have shapes [batch, boxes, 4] and [batch, classes, boxes], got {} and {}",
            boxes.shape(),
            scores.shape()
        )));
    };
    if batch != batches || count != scored {
        return Err(invalid(format!(
            "scores of shape {} do not fit boxes of shape {}",
            scores.shape(),
            boxes.shape()
        )));
    }
    let limit = limit.map(|limit| integer_within(limit, "max_output_boxes_per_class", 1)).transpose()?;
    let limit = usize::try_from(limit.unwrap_or(0)).unwrap_or(0);
    let overlap = threshold(overlap, "iou_threshold")?.unwrap_or(0.0);
    let least = threshold(least, "score_threshold")?;
    let is_centered = int_or(call.attrs, "center_point_box", 0)? == 1;
    let (boxes, scores) = (boxes.read::<f32>(&ME)?, scores.read::<f32>(&ME)?);
    let mut selected: Vec<i64> = Vec::new();
    for image in 0..if count == 0 { 0 } else { batch } {
        let corners: Vec<Corners> = boxes[image * count * 4..][..count * 4]
            .chunks_exact(4)
            .map(|numbers| Corners::new(numbers, is_centered))
            .collect();
        for class in 0..classes {
            let scores = &scores[(image * classes + class) * count..][..count];
            let kept = kept(&corners, scores, limit, overlap, least);
            selected.extend(kept.iter().flat_map(|&kept| [image as i64, class as i64, kept as i64]));
        }
    }
    Ok(DenseHostTensor::from_slice([selected.len() / 3, 3], &selected, call.cx.host().allocator())?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.NonMaxSuppression")
        .types(&[DType::F32])
        .attrs([attr::int_or("center_point_box", 0), OPERANDS])
        .cpu(|call| suppress(&call));
}
