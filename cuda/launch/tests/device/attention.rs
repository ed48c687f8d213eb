//! Masks of scores and rotations of pairs.

use tfrt_host::DType;
use tfrt_launch::{Rotation, ScoreMask, Scores};

use super::{Random, assert_close, device};

#[test]
fn scores_are_masked() {
    let (d, mut random) = (device(), Random::new(85));
    let [batch, heads, rows, columns] = [2usize, 3, 4, 5];
    let n = batch * heads * rows * columns;
    // A row of mask for each of the batch and each row, without the last column.
    let (x, mask) = (random.f32s(n, -3.0, 3.0), random.f32s(batch * rows * 4, -1.0, 1.0));
    let (lengths, dmask, dx) = (d.upload(&[3i64, 9]), d.upload(&mask), d.upload(&x));
    let extents = [2, 3, 4, 5];
    let added = ScoreMask { buffer: &dmask, strides: [16, 0, 4, 1], columns: 4 };
    let plain = Scores { extents, mask: None, lengths: None, cap: 0.0, causal: None };
    let (capped, hidden) = (Scores { cap: 2.0, ..plain }, f32::NEG_INFINITY);
    let value = |i: usize, scores: &Scores<'_>| {
        let (b, r, c) = (i / (heads * rows * columns), i / columns % rows, i % columns);
        let mut score = if scores.cap > 0.0 { (x[i] / 2.0).tanh() * 2.0 } else { x[i] };
        if scores.mask.is_some() {
            score = if c < 4 { score + mask[b * 16 + r * 4 + c] } else { hidden };
        }
        let is_beyond = scores.lengths.is_some() && b == 0 && c >= 3;
        if is_beyond || scores.causal.is_some_and(|past| c > r + past as usize) { hidden } else { score }
    };
    for scores in [
        plain,
        capped,
        Scores { mask: Some(added), ..plain },
        Scores { lengths: Some(&lengths), ..capped },
        Scores { causal: Some(1), mask: Some(added), ..plain },
    ] {
        let dy = d.room::<f32>(n);
        d.kernels.attention_scores(&d.stream, DType::F32, &dy, &dx, scores).unwrap();
        let expected: Vec<f32> = (0..n).map(|i| value(i, &scores)).collect();
        assert_close(&d.download(&dy, n), &expected, 1e-5);
    }
    let wide = ScoreMask { strides: [64, 0, 16, 1], ..added };
    let wrong = Scores { mask: Some(wide), ..plain };
    assert!(d.kernels.attention_scores(&d.stream, DType::F32, &dx, &dx, wrong).is_err());
}

#[test]
fn pairs_are_rotated() {
    let (d, mut random) = (device(), Random::new(86));
    let (batch, heads, length, size, half, cached) = (2usize, 3usize, 2usize, 7usize, 3usize, 5usize);
    let n = batch * heads * length * size;
    let [x, cos, sin] = [n, cached * half, cached * half].map(|count| random.f32s(count, -2.0, 2.0));
    let positions = [4i64, 0, 5, -1];
    let [dx, dcos, dsin] = [&x, &cos, &sin].map(|x| d.upload(x));
    let (at, dy) = (d.upload(&positions), d.room::<f32>(n));
    for (packed, interleaved, is_given) in [(false, false, true), (true, true, true), (false, true, false)] {
        let value = |i: usize| {
            let (row, k) = (i / size, i % size);
            let place = match packed {
                true => row / heads,
                false => row / (heads * length) * length + row % length,
            };
            if k >= 2 * half {
                return x[i];
            }
            let of = if is_given { positions[place] } else { place as i64 };
            let table = |table: &[f32], pair: usize| match usize::try_from(of).ok().filter(|&of| of < cached)
            {
                Some(of) => table[of * half + pair],
                None => 0.0,
            };
            let (pair, is_second) = if interleaved { (k / 2, k % 2 == 1) } else { (k % half, k >= half) };
            let step = if interleaved { 1 } else { half };
            let other = if is_second { x[i - step] } else { -x[i + step] };
            table(&cos, pair) * x[i] + table(&sin, pair) * other
        };
        let rotation = Rotation {
            batch: batch as u64,
            heads: heads as u64,
            length: length as u64,
            size: size as u64,
            half: half as u64,
            cached: cached as u64,
            packed,
            interleaved,
        };
        let given = is_given.then_some(&at);
        d.kernels.rotary(&d.stream, DType::F32, &dy, [&dx, &dcos, &dsin], given, rotation).unwrap();
        let expected: Vec<f32> = (0..n).map(value).collect();
        assert_close(&d.download(&dy, n), &expected, 1e-5);
        let wrong = Rotation { half: 4, ..rotation };
        assert!(d.kernels.rotary(&d.stream, DType::F32, &dy, [&dx, &dcos, &dsin], given, wrong).is_err());
    }
}
