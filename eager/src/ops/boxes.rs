//! `tf.NonMaxSuppressionWithOverlaps`, `tfrt.SoftSuppression`, and gradients of
//! `tf.CropAndResize`.

use tfrt_host::DType;
use tfrt_tensor::HostTensor;

use super::detection::{crops, is_nearest};
use super::plain::{count, of_reals, reals, results, tensor};
use super::support::{Computed, integer, invalid, product, room_for, take, vector};
use super::types;
use super::window::four;
use crate::{CpuCall, OpRegistry, ResultType, attr};

/// The only number in a tensor.
fn real(tensor: &HostTensor, name: &str) -> Result<f64, tfrt_host::Diagnostic> {
    match reals(tensor)?[..] {
        [number] => Ok(number),
        _ => Err(invalid(format!("{name} must be one number, got shape {}", tensor.shape()))),
    }
}

/// The boxes that overlap with none that is kept and has a higher score, best first.
fn suppress(call: &CpuCall<'_>) -> Computed {
    let [overlaps, scores, most, limit, least] = take(call)?;
    let &[boxes] = scores.shape().dims() else {
        return Err(invalid(format!("scores must be a vector, got shape {}", scores.shape())));
    };
    if overlaps.shape().dims() != [boxes, boxes] {
        let message = format!("overlaps must have shape [{boxes}, {boxes}], got {}", overlaps.shape());
        return Err(invalid(message));
    }
    let most = count(integer(most, "max_output_size")?, "max_output_size")?;
    let (limit, least) = (real(limit, "overlap_threshold")?, real(least, "score_threshold")?);
    let (overlaps, scores) = (reals(overlaps)?, reals(scores)?);
    let mut order: Vec<usize> = (0..boxes).filter(|&number| scores[number] > least).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut kept: Vec<i32> = Vec::new();
    for number in order {
        let overlap = |&other: &i32| overlaps[number * boxes + other as usize];
        if kept.len() < most && !kept.iter().any(|other| overlap(other) > limit) {
            kept.push(i32::try_from(number).map_err(|_| invalid("there are too many boxes"))?);
        }
    }
    Ok(results([tensor(call, &[kept.len()], &kept)?]))
}

/// A box that may be chosen.
struct Candidate {
    number: usize,
    score: f32,
    /// How many of the chosen boxes have softened its score.
    seen: usize,
}

/// How much of the area of two boxes is in both. Corners come in any order.
fn overlap(a: &[f32], b: &[f32]) -> f32 {
    let sides = |one: f32, other: f32| (one.min(other), one.max(other));
    let ((a_top, a_bottom), (a_left, a_right)) = (sides(a[0], a[2]), sides(a[1], a[3]));
    let ((b_top, b_bottom), (b_left, b_right)) = (sides(b[0], b[2]), sides(b[1], b[3]));
    let (a_area, b_area) = ((a_bottom - a_top) * (a_right - a_left), (b_bottom - b_top) * (b_right - b_left));
    if a_area <= 0.0 || b_area <= 0.0 {
        return 0.0;
    }
    let height = (a_bottom.min(b_bottom) - a_top.max(b_top)).max(0.0);
    let width = (a_right.min(b_right) - a_left.max(b_left)).max(0.0);
    height * width / (a_area + b_area - height * width)
}

/// The boxes with the best scores, where each box softens the scores of those that it overlaps.
fn suppress_softly(call: &CpuCall<'_>) -> Computed {
    let [boxes, scores, most, _, least, sigma] = take(call)?;
    let &[count, 4] = boxes.shape().dims() else {
        return Err(invalid(format!("boxes must have shape [boxes, 4], got {}", boxes.shape())));
    };
    if scores.shape().dims() != [count] {
        return Err(invalid(format!("there are {count} boxes, but scores of shape {}", scores.shape())));
    }
    let most = self::count(integer(most, "max_output_size")?, "max_output_size")?;
    let (least, sigma) = (real(least, "score_threshold")? as f32, real(sigma, "soft_nms_sigma")? as f32);
    if sigma.is_nan() || sigma <= 0.0 {
        return Err(invalid(format!("soft_nms_sigma must be positive, got {sigma}")));
    }
    let corners: Vec<f32> = reals(boxes)?.into_iter().map(|corner| corner as f32).collect();
    let candidate = |(number, score): (usize, f64)| Candidate { number, score: score as f32, seen: 0 };
    let mut left: Vec<Candidate> = reals(scores)?.into_iter().enumerate().map(candidate).collect();
    left.retain(|candidate| candidate.score > least);
    let (mut chosen, mut chosen_scores): (Vec<i32>, Vec<f64>) = (Vec::new(), Vec::new());
    while chosen.len() < most {
        // Of equal scores, that of the first box is taken.
        let better = |(_, a): &(usize, &Candidate), (_, b): &(usize, &Candidate)| {
            a.score.total_cmp(&b.score).then_with(|| b.number.cmp(&a.number))
        };
        let Some((place, _)) = left.iter().enumerate().max_by(better) else { break };
        let candidate = &mut left[place];
        let before = candidate.score;
        for &other in chosen[candidate.seen..].iter().rev() {
            let other = &corners[other as usize * 4..][..4];
            let shared = overlap(&corners[candidate.number * 4..][..4], other);
            candidate.score *= (-0.5 / sigma * shared * shared).exp();
            if candidate.score <= least {
                break;
            }
        }
        candidate.seen = chosen.len();
        if candidate.score == before {
            chosen.push(i32::try_from(candidate.number).map_err(|_| invalid("there are too many boxes"))?);
            chosen_scores.push(f64::from(before));
        }
        if candidate.score == before || candidate.score <= least {
            left.swap_remove(place);
        }
    }
    let scores = of_reals(call, scores.dtype(), &[chosen.len()], &chosen_scores)?;
    Ok(results([tensor(call, &[chosen.len()], &chosen)?, scores]))
}

/// Adds the gradients of the pixels of crops to the pixels of the images that they were made of.
fn crop_gradient(call: &CpuCall<'_>) -> Computed {
    let [gradients, boxes, images, size] = take(call)?;
    let [number, crop_height, crop_width, depth] = four(gradients.shape(), "grads")?;
    let size = vector(size, "image_size")?;
    let extents: Option<Vec<usize>> = size.iter().map(|&extent| usize::try_from(extent).ok()).collect();
    let &[count, height, width, channels] = extents.as_deref().unwrap_or_default() else {
        return Err(invalid(format!("image_size must be four extents, got {size:?}")));
    };
    if depth != channels || height == 0 || width == 0 {
        return Err(invalid(format!(
            "image_size {size:?} does not fit grads of shape {}",
            gradients.shape()
        )));
    }
    let crops = crops(boxes, images, [count, height, width], [crop_height, crop_width])?;
    if crops.len() != number {
        return Err(invalid(format!("there are {number} crops and {} boxes", crops.len())));
    }
    let is_nearest = is_nearest(call)?;
    let total = product(&[count, height, width, channels]);
    let mut sums: Vec<f64> = room_for(total)?;
    sums.resize(total, 0.0);
    let gradients = reals(gradients)?;
    let pixels = (0..number).flat_map(|crop| {
        (0..crop_height).flat_map(move |row| (0..crop_width).map(move |column| (crop, row, column)))
    });
    for (from, (crop, row, column)) in pixels.enumerate() {
        let crop = &crops[crop];
        let (Some(y), Some(x)) = (crop.rows.place(row), crop.columns.place(column)) else { continue };
        let gradients = &gradients[from * channels..][..channels];
        let mut add = |y: f32, x: f32, share: f32| {
            let at = ((crop.image * height + y as usize) * width + x as usize) * channels;
            for (sum, gradient) in sums[at..].iter_mut().zip(gradients) {
                *sum += gradient * f64::from(share);
            }
        };
        if is_nearest {
            add(y.round(), x.round(), 1.0);
            continue;
        }
        let (below, right) = (y - y.floor(), x - x.floor());
        add(y.floor(), x.floor(), (1.0 - below) * (1.0 - right));
        add(y.floor(), x.ceil(), (1.0 - below) * right);
        add(y.ceil(), x.floor(), below * (1.0 - right));
        add(y.ceil(), x.ceil(), below * right);
    }
    let dtype = call.attrs.required::<DType>("T")?;
    Ok(results([of_reals(call, dtype, &[count, height, width, channels], &sums)?]))
}

/// How much the pixels of crops change with the edges of their boxes.
fn box_gradient(call: &CpuCall<'_>) -> Computed {
    let [gradients, image, boxes, images] = take(call)?;
    let [number, crop_height, crop_width, depth] = four(gradients.shape(), "grads")?;
    let [count, height, width, channels] = four(image.shape(), "image")?;
    if depth != channels || height == 0 || width == 0 {
        let message = format!("image of shape {} does not fit grads {}", image.shape(), gradients.shape());
        return Err(invalid(message));
    }
    let crops = crops(boxes, images, [count, height, width], [crop_height, crop_width])?;
    if crops.len() != number {
        return Err(invalid(format!("there are {number} crops and {} boxes", crops.len())));
    }
    let (gradients, pixels) = (reals(gradients)?, reals(image)?);
    let mut sums: Vec<f64> = room_for(number.saturating_mul(4))?;
    for (number, crop) in crops.iter().enumerate() {
        let mut edges = [0.0; 4];
        for place in 0..crop_height * crop_width {
            let (row, column) = (place / crop_width, place % crop_width);
            let (Some(y), Some(x)) = (crop.rows.place(row), crop.columns.place(column)) else { continue };
            let from = (number * crop_height * crop_width + place) * channels;
            let [down, right] = slopes(&pixels, &gradients[from..from + channels], [y, x], |y, x| {
                ((crop.image * height + y) * width + x) * channels
            });
            // A place in the crop moves with both edges, more with the one that it is closer to.
            for (axis, (slope, at, extent, crop)) in
                [(down, row, height, crop_height), (right, column, width, crop_width)].into_iter().enumerate()
            {
                let share = if crop > 1 { at as f64 / (crop - 1) as f64 } else { 0.5 };
                edges[axis] += slope * (1.0 - share) * (extent - 1) as f64;
                edges[axis + 2] += slope * share * (extent - 1) as f64;
            }
        }
        sums.extend(edges);
    }
    Ok(results([of_reals(call, DType::F32, &[number, 4], &sums)?]))
}

/// How much the pixels at a place between others grow downwards and to the right, times their
/// gradients.
fn slopes(
    pixels: &[f64],
    gradients: &[f64],
    [y, x]: [f32; 2],
    start: impl Fn(usize, usize) -> usize,
) -> [f64; 2] {
    let (below, beside) = (f64::from(y - y.floor()), f64::from(x - x.floor()));
    let corner = |y: f32, x: f32| start(y as usize, x as usize);
    let [top, bottom] = [y.floor(), y.ceil()].map(|y| [corner(y, x.floor()), corner(y, x.ceil())]);
    let (mut down, mut right) = (0.0, 0.0);
    for (channel, gradient) in gradients.iter().enumerate() {
        let [left_above, right_above] = top.map(|at| pixels[at + channel]);
        let [left_below, right_below] = bottom.map(|at| pixels[at + channel]);
        down +=
            gradient * ((1.0 - beside) * (left_below - left_above) + beside * (right_below - right_above));
        right += gradient * ((1.0 - below) * (right_above - left_above) + below * (right_below - left_below));
    }
    [down, right]
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.NonMaxSuppressionWithOverlaps")
        .types(&[DType::F32, DType::I32])
        .results([ResultType::is(DType::I32).rank(1)])
        .cpu(|call| suppress(&call));
    ops.add("tfrt.SoftSuppression")
        .types(&[DType::F16, DType::F32, DType::I32])
        .results([ResultType::is(DType::I32).rank(1), ResultType::like(1).rank(1)])
        .cpu(|call| suppress_softly(&call));
    ops.add("tf.CropAndResizeGradImage")
        .types(types::SCALARS)
        .attrs([attr::dtype("T"), attr::string_or("method", "bilinear")])
        .results([ResultType::named("T").rank(4)])
        .cpu(|call| crop_gradient(&call));
    ops.add("tf.CropAndResizeGradBoxes")
        .types(types::SCALARS)
        .attrs([attr::string_or("method", "bilinear")])
        .results([ResultType::is(DType::F32).rank(2)])
        .cpu(|call| box_gradient(&call));
}
