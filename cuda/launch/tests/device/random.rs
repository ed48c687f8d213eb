//! Random numbers, and numbers in steps.

use bytemuck::Pod;
use half::{bf16, f16};
use tfrt_host::DType;
use tfrt_launch::{Linspace, Sequence};
use tfrt_math::{Distribution, Float, Philox, RandomIntegers};

use super::{Device, assert_close, device};

/// Around the sizes of a thread's and a block's share.
const COUNTS: [usize; 7] = [0, 1, 2, 3, 5, 1024, 2055];

/// A generator whose counter runs over after some numbers.
fn generator() -> Philox {
    Philox::new(0x0123_4567_89ab_cdef, u128::from(u64::MAX) - 3)
}

fn words(generator: &Philox, count: usize) -> Vec<u32> {
    (0..count.div_ceil(4)).flat_map(|block| generator.block(block as u64)).collect()
}

fn drawn<T: Pod>(d: &Device, distribution: Distribution, dtype: DType, n: usize) -> Vec<T> {
    let y = d.room::<T>(n);
    d.kernels.random(&d.stream, distribution, dtype, &y, n as u64, &generator()).unwrap();
    d.download(&y, n)
}

#[test]
fn uniform_numbers() {
    let d = device();
    for n in COUNTS {
        let words = words(&generator(), 2 * n);
        let fraction = |word: u32, digits: u32| {
            let scale = f64::from(1u32 << digits);
            f64::from(word & ((1 << digits) - 1)) / scale
        };
        let all = |digits: u32| words.iter().take(n).map(move |&word| fraction(word, digits));
        let uniform = Distribution::Uniform;
        assert_eq!(drawn::<f32>(d, uniform, DType::F32, n), all(23).map(|x| x as f32).collect::<Vec<_>>());
        let halves: Vec<f16> = all(10).map(Float::from_f64).collect();
        assert_eq!(drawn::<f16>(d, uniform, DType::F16, n), halves);
        let halves: Vec<bf16> = all(7).map(Float::from_f64).collect();
        assert_eq!(drawn::<bf16>(d, uniform, DType::BF16, n), halves);
        let wide = words.chunks_exact(2).take(n);
        let wide = wide.map(|x| fraction(x[0], 20) + f64::from(x[1]) / 2f64.powi(52));
        assert_eq!(drawn::<f64>(d, uniform, DType::F64, n), wide.collect::<Vec<_>>());
    }
}

/// Normally distributed numbers from the words of uniform ones, as exact as can be.
fn normals(words: &[u32]) -> impl Iterator<Item = f64> {
    words.chunks_exact(2).flat_map(|pair| {
        let [a, b] = [pair[0], pair[1]].map(|word| f64::from(word & 0x7f_ffff) / f64::from(1 << 23));
        let (radius, angle) = ((-2.0 * a.max(1e-7).ln()).sqrt(), std::f64::consts::TAU * b);
        [radius * angle.sin(), radius * angle.cos()]
    })
}

#[test]
fn normally_distributed_numbers() {
    let d = device();
    for n in COUNTS {
        let words = words(&generator(), n);
        let expected: Vec<f32> = normals(&words).take(n).map(|x| x as f32).collect();
        assert_close(&drawn::<f32>(d, Distribution::Normal, DType::F32, n), &expected, 4e-6);
        let halves = drawn::<f16>(d, Distribution::Normal, DType::F16, n);
        assert_close(&super::widened(&halves), &expected, 1e-3);
    }
}

#[test]
fn normally_distributed_numbers_near_the_mean() {
    let d = device();
    let generator = generator();
    for n in COUNTS {
        // Each four numbers are drawn from a place of their own.
        let four = |block: usize| {
            let blocks = (0..256).map(move |skip| generator.block(block as u64 * 256 + skip));
            blocks.flat_map(|words| normals(&words).collect::<Vec<_>>()).filter(|x| x.abs() < 2.0).take(4)
        };
        let expected: Vec<f32> = (0..n.div_ceil(4)).flat_map(four).take(n).map(|x| x as f32).collect();
        assert_close(&drawn::<f32>(d, Distribution::Truncated, DType::F32, n), &expected, 4e-6);
    }
    let all = drawn::<f64>(d, Distribution::Truncated, DType::F64, 2055);
    assert!(all.iter().all(|x| x.abs() < 2.0) && all.iter().sum::<f64>().abs() < 100.0);
}

#[test]
fn random_integers() {
    let d = device();
    for n in COUNTS {
        let words = words(&generator(), 2 * n);
        for (low, range) in [(-5, 1000), (i32::MIN, u32::MAX), (7, 1)] {
            let y = d.room::<i32>(n);
            let integers = RandomIntegers::I32 { low, range };
            d.kernels.random_integers(&d.stream, integers, &y, n as u64, &generator()).unwrap();
            let expected = words.iter().take(n).map(|&word| low.wrapping_add((word % range) as i32));
            assert_eq!(d.download::<i32>(&y, n), expected.collect::<Vec<_>>());

            let (low, range) = (i64::from(low) << 20, u64::from(range) << 11 | 5);
            let (y, integers) = (d.room::<i64>(n), RandomIntegers::I64 { low, range });
            d.kernels.random_integers(&d.stream, integers, &y, n as u64, &generator()).unwrap();
            let wide = words.chunks_exact(2).take(n).map(|x| u64::from(x[0]) | u64::from(x[1]) << 32);
            let expected = wide.map(|word| low.wrapping_add((word % range) as i64));
            assert_eq!(d.download::<i64>(&y, n), expected.collect::<Vec<_>>());
        }
    }
    let (y, integers) = (d.room::<i32>(3), RandomIntegers::I32 { low: 0, range: 2 });
    assert!(d.kernels.random_integers(&d.stream, integers, &y, 4, &generator()).is_err());
}

#[test]
fn numbers_in_steps() {
    fn sequence<T: Pod>(sequence: Sequence, n: usize) -> Vec<T> {
        let (d, y) = (device(), device().room::<T>(n));
        d.kernels.sequence(&d.stream, sequence, &y, n as u64).unwrap();
        d.download(&y, n)
    }
    fn floats<T: Pod + Float + std::fmt::Debug>(dtype: DType, start: f64, step: f64, n: usize) {
        let (first, each) = (T::from_f64(start), T::from_f64(step));
        let found = Sequence::Float { dtype, start: first.to_f64(), step: each.to_f64() };
        let expected = (0..n).map(|i| first.plus(T::from_count(i).times(each)));
        assert_eq!(sequence::<T>(found, n), expected.collect::<Vec<_>>());
    }
    for n in COUNTS {
        let integers = (0..n as i32).map(|i| 7i32.wrapping_add(i.wrapping_mul(1 << 29)));
        assert_eq!(
            sequence::<i32>(Sequence::I32 { start: 7, step: 1 << 29 }, n),
            integers.collect::<Vec<_>>()
        );
        let integers = (0..n as i64).map(|i| (-9i64).wrapping_add(i.wrapping_mul(-1 << 60)));
        assert_eq!(
            sequence::<i64>(Sequence::I64 { start: -9, step: -1 << 60 }, n),
            integers.collect::<Vec<_>>()
        );
        for (start, step) in [(0.0, 0.1), (-3.7, 1.0 / 3.0), (1e30, -1e27)] {
            floats::<f32>(DType::F32, start, step, n);
            floats::<f64>(DType::F64, start, step, n);
            floats::<bf16>(DType::BF16, start, step, n);
        }
        floats::<f16>(DType::F16, -2.5, 0.013, n);
    }
}

#[test]
fn numbers_in_equal_steps_up_to_the_last() {
    fn check<T: Pod + Float + std::fmt::Debug>(dtype: DType, start: f64, stop: f64, n: usize) {
        let (first, last) = (T::from_f64(start).to_f64(), T::from_f64(stop).to_f64());
        let step = (last - first) / n.saturating_sub(1).max(1) as f64;
        let (d, y) = (device(), device().room::<T>(n));
        let numbers = Linspace { start: first, stop: last, step };
        d.kernels.linspace(&d.stream, numbers, dtype, &y, n as u64).unwrap();
        let expected = (0..n).map(|i| match i {
            0 => first,
            i if i + 1 == n => last,
            i => first + step * i as f64,
        });
        assert_eq!(d.download::<T>(&y, n), expected.map(T::from_f64).collect::<Vec<_>>());
    }
    for n in COUNTS {
        for (start, stop) in [(0.0, 1.0), (-3.7, 12.3), (5.0, -1e-3), (1e-7, 3e-7)] {
            check::<f32>(DType::F32, start, stop, n);
            check::<f16>(DType::F16, start, stop, n);
            check::<bf16>(DType::BF16, start, stop, n);
            check::<f64>(DType::F64, start, stop, n);
        }
    }
}
