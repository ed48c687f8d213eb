//! Attention by kernels, and by devices that compute it themselves, against the definition in `f64`.

use bytemuck::Pod;
use half::{bf16, f16};
use tfrt_device::front::{Attention, AttentionMask, AttentionRows, DeviceBuffer};
use tfrt_device::hal::AttentionExtents;
use tfrt_host::DType;
use tfrt_launch::attention_scratch_bytes;

use super::{Device, Random, device};

/// A type with kernels.
trait Element: Pod + Send + Sync {
    const DTYPE: DType;
    /// How far a result may be from the exact one, whose elements are below 1.
    const TOLERANCE: f64;
    fn of(x: f32) -> Self;
    fn wide(self) -> f64;
}

macro_rules! elements {
    ($($type:ty, $dtype:ident, $tolerance:literal, $of:expr, $wide:expr;)*) => {$(
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            const TOLERANCE: f64 = $tolerance;
            fn of(x: f32) -> Self { $of(x) }
            fn wide(self) -> f64 { $wide(self) }
        }
    )*};
}
elements! {
    f32, F32, 2e-6, |x| x, f64::from;
    f16, F16, 1e-3, f16::from_f32, f16::to_f64;
    bf16, BF16, 8e-3, bf16::from_f32, bf16::to_f64;
}

/// What hides keys or changes scores.
#[derive(Clone, Copy, PartialEq)]
enum Mask {
    None,
    /// Numbers for each head, row and key.
    Adds,
    /// The same, of f32.
    AddsWide,
    /// A flag for each key of each of the batch, the same for all heads and rows.
    Hides,
}

/// A call. Rows of heads lie side by side, as a projection gives them.
#[derive(Clone, Copy)]
struct Case {
    batch: usize,
    heads: usize,
    shared: usize,
    rows: usize,
    keys: usize,
    depth: usize,
    size: usize,
    mask: Mask,
    /// The keys that the mask is for.
    seen: usize,
    lengths: bool,
    causal: Option<usize>,
    cap: f32,
}

#[track_caller]
fn assert_close<T: Element>(found: &[T], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, &expected)) in found.iter().zip(expected).enumerate() {
        let found = found.wide();
        let is_close = (found - expected).abs() < T::TOLERANCE || found.is_nan() && expected.is_nan();
        assert!(is_close, "element {index} of {}: {found} instead of {expected}", T::DTYPE);
    }
}

const PLAIN: Case = Case {
    batch: 2,
    heads: 2,
    shared: 1,
    rows: 5,
    keys: 7,
    depth: 8,
    size: 8,
    mask: Mask::None,
    seen: usize::MAX,
    lengths: false,
    causal: None,
    cap: 0.0,
};

/// The operands of a call.
struct Operands<T> {
    q: Vec<T>,
    k: Vec<T>,
    v: Vec<T>,
    added: Vec<T>,
    added_wide: Vec<f32>,
    flags: Vec<u8>,
    lengths: Vec<i64>,
}

impl Case {
    fn seen(&self) -> usize {
        self.seen.min(self.keys)
    }

    fn key_heads(&self) -> usize {
        self.heads / self.shared
    }

    fn operands<T: Element>(&self, random: &mut Random) -> Operands<T> {
        let Self { batch, heads, rows, keys, depth, size, .. } = *self;
        let mut numbers = |count: usize, most: f32| -> Vec<T> {
            random.f32s(count, -most, most).into_iter().map(T::of).collect()
        };
        let shared = self.key_heads();
        let added = numbers(heads * rows * self.seen(), 3.0);
        Operands {
            q: numbers(batch * rows * heads * depth, 2.0),
            k: numbers(batch * keys * shared * depth, 2.0),
            v: numbers(batch * keys * shared * size, 1.0),
            added_wide: added.iter().map(|x| x.wide() as f32).collect(),
            added,
            flags: (0..batch * self.seen()).map(|i| u8::from(i % 3 != 1)).collect(),
            lengths: (0..batch).map(|b| (keys - keys.min(2 * b)) as i64).collect(),
        }
    }

    /// The exact result.
    fn expected<T: Element>(&self, x: &Operands<T>, scale: f64) -> Vec<f64> {
        let Self { batch, heads, rows, keys, depth, size, .. } = *self;
        let mut y = vec![0.0; batch * rows * heads * size];
        for (line, y) in y.chunks_exact_mut(size).enumerate() {
            let (b, r, h) = (line / (rows * heads), line / heads % rows, line % heads);
            let key = |c: usize| (b * keys + c) * self.key_heads() + h / self.shared;
            let score = |c: usize| {
                let q = &x.q[line * depth..][..depth];
                let k = &x.k[key(c) * depth..][..depth];
                let mut score = scale * q.iter().zip(k).map(|(q, k)| q.wide() * k.wide()).sum::<f64>();
                if self.cap > 0.0 {
                    score = (score / f64::from(self.cap)).tanh() * f64::from(self.cap);
                }
                let mut is_hidden = self.causal.is_some_and(|past| c > r + past);
                is_hidden |= self.lengths && c as i64 >= x.lengths[b];
                is_hidden |= self.mask != Mask::None && c >= self.seen();
                is_hidden = is_hidden || self.mask == Mask::Hides && x.flags[b * self.seen() + c] == 0;
                if matches!(self.mask, Mask::Adds | Mask::AddsWide) && !is_hidden {
                    score += x.added[(h * rows + r) * self.seen() + c].wide();
                }
                if is_hidden { f64::NEG_INFINITY } else { score }
            };
            let scores: Vec<f64> = (0..keys).map(score).collect();
            let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
            let total: f64 = weights.iter().sum();
            for (i, y) in y.iter_mut().enumerate() {
                let sum: f64 =
                    weights.iter().enumerate().map(|(c, w)| w * x.v[key(c) * size + i].wide()).sum();
                *y = sum / total;
            }
        }
        y
    }

    /// The result of kernels.
    fn run<T: Element>(&self, d: &Device, x: &Operands<T>, scale: f32) -> Vec<T> {
        self.run_by(d, x, scale, |attention| {
            let scratch: Option<DeviceBuffer> = match attention_scratch_bytes(&attention.extents) {
                0 => None,
                bytes => Some(d.allocate(bytes as usize)),
            };
            d.kernels.attention(&d.stream, attention, scratch.as_ref()).unwrap();
        })
    }

    fn run_by<T: Element>(
        &self,
        d: &Device,
        x: &Operands<T>,
        scale: f32,
        attend: impl Fn(&Attention<'_>),
    ) -> Vec<T> {
        let Self { batch, heads, shared, rows, keys, depth, size, causal, cap, .. } = *self;
        let [q, k, v, added] = [&x.q, &x.k, &x.v, &x.added].map(|x| d.upload(x));
        let added_wide = d.upload(&x.added_wide);
        let (flags, lengths) = (d.upload(&x.flags), d.upload(&x.lengths));
        let y = d.room::<T>(batch * rows * heads * size);
        let packed = |buffer, heads: usize, rows: usize, size: usize| AttentionRows {
            buffer,
            strides: [rows * heads * size, size, heads * size].map(|stride| stride as u64),
        };
        let seen = self.seen() as u64;
        let mask = match self.mask {
            Mask::None => None,
            Mask::Adds => Some((&added, T::DTYPE, [0, rows as u64 * seen, seen, 1])),
            Mask::AddsWide => Some((&added_wide, DType::F32, [0, rows as u64 * seen, seen, 1])),
            Mask::Hides => Some((&flags, DType::I1, [seen, 0, 0, 1])),
        };
        let attention = Attention {
            dtype: T::DTYPE,
            extents: AttentionExtents {
                batch: batch as u64,
                heads: heads as u64,
                shared: shared as u64,
                rows: rows as u64,
                keys: keys as u64,
                depth: depth as u64,
                size: size as u64,
            },
            output: packed(&y, heads, rows, size),
            queries: packed(&q, heads, rows, depth),
            keys: packed(&k, self.key_heads(), keys, depth),
            values: packed(&v, self.key_heads(), keys, size),
            mask: mask.map(|(buffer, dtype, strides)| AttentionMask { buffer, dtype, strides, keys: seen }),
            lengths: self.lengths.then_some(&lengths),
            causal: causal.map(|past| past as u64),
            scale,
            cap,
        };
        attend(&attention);
        d.download(&y, batch * rows * heads * size)
    }

    #[track_caller]
    fn compare<T: Element>(&self, seed: u64) {
        let x = self.operands::<T>(&mut Random::new(seed));
        let scale = 1.0 / (self.depth.max(1) as f32).sqrt();
        let (d, expected) = (device(), self.expected(&x, scale.into()));
        assert_close(&self.run(d, &x, scale), &expected);
        if d.context.computes_attention() {
            let found = self.run_by(d, &x, scale, |attention| d.stream.attention(attention).unwrap());
            assert_close(&found, &expected);
        }
    }

    #[track_caller]
    fn compare_all(&self, seed: u64) {
        self.compare::<f32>(seed);
        self.compare::<f16>(seed);
        self.compare::<bf16>(seed);
    }
}

#[test]
fn rows_and_keys_may_have_any_number() {
    for (index, (rows, keys)) in [(1, 1), (5, 7), (16, 64), (17, 65), (70, 130)].into_iter().enumerate() {
        Case { rows, keys, batch: 1, ..PLAIN }.compare_all(index as u64);
    }
}

/// Odd sizes are not in chunks of 16 bytes. From some sizes on there are other kernels, and columns
/// of values are divided.
#[test]
fn heads_may_have_any_size() {
    for (index, (depth, size)) in
        [(1, 1), (32, 32), (37, 30), (64, 72), (80, 80), (96, 200), (160, 256), (257, 65)]
            .into_iter()
            .enumerate()
    {
        Case { rows: 3, keys: 40, batch: 1, depth, size, ..PLAIN }.compare_all(100 + index as u64);
    }
}

#[test]
fn scores_are_masked_and_capped() {
    let case = Case { rows: 9, keys: 70, depth: 16, size: 16, ..PLAIN };
    for mask in [Mask::Adds, Mask::AddsWide, Mask::Hides] {
        Case { mask, ..case }.compare_all(200);
        Case { mask, seen: 33, cap: 1.5, lengths: true, ..case }.compare_all(201);
        Case { mask, causal: Some(20), ..case }.compare_all(202);
    }
    Case { lengths: true, ..case }.compare_all(203);
    Case { cap: 0.5, ..case }.compare_all(204);
}

#[test]
fn rows_see_their_past() {
    for past in [0, 1, 63] {
        let case = Case { rows: 66, keys: 66 + past, causal: Some(past), batch: 1, ..PLAIN };
        case.compare_all(300 + past as u64);
    }
    // Rows of several heads lie in a tile.
    let case = Case { rows: 3, keys: 10, heads: 6, shared: 3, causal: Some(7), ..PLAIN };
    case.compare_all(310);
}

#[test]
fn heads_share_keys() {
    for (heads, shared, rows) in [(4, 2, 5), (6, 3, 30), (4, 4, 1), (40, 20, 1)] {
        Case { heads, shared, rows, depth: 64, size: 64, ..PLAIN }.compare_all(400 + heads as u64);
    }
}

/// Few rows and many keys: several blocks have a part of the keys each.
#[test]
fn keys_are_divided() {
    let long = Case { batch: 1, rows: 1, keys: 700, heads: 4, shared: 2, depth: 64, size: 64, ..PLAIN };
    long.compare_all(500);
    Case { causal: Some(699), ..long }.compare_all(501);
    // Some parts are empty.
    Case { causal: Some(3), rows: 2, ..long }.compare_all(502);
    Case { mask: Mask::Adds, rows: 3, size: 130, ..long }.compare_all(503);
    Case { lengths: true, batch: 3, ..long }.compare_all(504);
}

/// A softmax of minus infinities is NaN, and a sum of nothing is zero.
#[test]
fn rows_that_see_nothing() {
    let case = Case { mask: Mask::Hides, seen: 0, ..PLAIN };
    case.compare_all(600);
    let mut x = Case { batch: 1, mask: Mask::Hides, ..PLAIN }.operands::<f32>(&mut Random::new(601));
    x.flags.fill(0);
    let hidden = Case { batch: 1, mask: Mask::Hides, ..PLAIN };
    assert!(hidden.run(device(), &x, 1.0).iter().all(|y| y.is_nan()));
    let none = Case { keys: 0, ..PLAIN };
    let x = none.operands::<f32>(&mut Random::new(602));
    assert!(none.run(device(), &x, 1.0).iter().all(|&y| y == 0.0));
    if device().context.computes_attention() {
        let found = none.run_by(device(), &x, 1.0, |attention| device().stream.attention(attention).unwrap());
        assert!(found.iter().all(|&y| y == 0.0));
    }
}

/// The greatest negative number hides keys, but a row of such numbers has probabilities.
#[test]
fn masks_may_have_great_numbers() {
    let case = Case { mask: Mask::Adds, ..PLAIN };
    let mut x = case.operands::<f32>(&mut Random::new(700));
    x.added.iter_mut().step_by(2).for_each(|x| *x = f32::MIN);
    x.added[..14].fill(f32::MIN);
    let (found, expected) = (case.run(device(), &x, 0.3), case.expected(&x, 0.3));
    assert!(found.iter().zip(&expected).all(|(&found, &expected)| (f64::from(found) - expected).abs() < 0.5));
    assert!(found.iter().all(|y| y.is_finite()));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let d = device();
    let (small, large) = (d.room::<f32>(31), d.room::<f32>(64));
    let rows = |buffer| AttentionRows { buffer, strides: [32, 8, 16] };
    let extents = AttentionExtents { batch: 1, heads: 2, shared: 1, rows: 2, keys: 2, depth: 8, size: 8 };
    let fits = Attention {
        dtype: DType::F32,
        extents,
        output: rows(&large),
        queries: rows(&large),
        keys: rows(&large),
        values: rows(&large),
        mask: None,
        lengths: None,
        causal: None,
        scale: 1.0,
        cap: 0.0,
    };
    let attend = |attention: Attention<'_>| d.kernels.attention(&d.stream, &attention, None);
    for wrong in [
        Attention { queries: rows(&small), ..fits },
        Attention { values: rows(&small), ..fits },
        Attention { output: rows(&small), ..fits },
        Attention { dtype: DType::F64, ..fits },
        Attention { extents: AttentionExtents { shared: 3, ..extents }, ..fits },
        Attention { extents: AttentionExtents { shared: 0, ..extents }, ..fits },
        Attention { extents: AttentionExtents { rows: 1 << 40, ..extents }, ..fits },
        // Its keys are divided, and there is no memory for that.
        Attention {
            extents: AttentionExtents { keys: 256, ..extents },
            keys: AttentionRows { strides: [0; 3], ..fits.keys },
            values: AttentionRows { strides: [0; 3], ..fits.values },
            ..fits
        },
    ] {
        assert!(attend(wrong).is_err());
        let is_of_kernels = wrong.extents.keys == 256;
        assert!(is_of_kernels || d.stream.attention(&wrong).is_err());
    }
    attend(fits).unwrap();
}
