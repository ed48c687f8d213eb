//! References of `scan.cu`.

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { scan: compute_75 compute_90 => [
    scan_doubling scan_tree scan_shuffle_f64 scan_shuffle_i64 scan_look_back scan_segmented compact
] }

/// Running sums, anew every `block` elements.
fn sums<T: Copy, A: Copy>(x: &[T], block: usize, zero: A, add: impl Fn(A, T) -> A) -> Vec<A> {
    let scan = |part: &[T]| {
        let mut sum = zero;
        part.iter()
            .map(|&x| {
                sum = add(sum, x);
                sum
            })
            .collect::<Vec<_>>()
    };
    x.chunks(block).flat_map(scan).collect()
}

fn scan_doubling(gpu: &mut Gpu) {
    for block in [1usize, 64, 200, 1024] {
        let n = gpu.len(2500);
        let x = gpu.random::<i32>(n);
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(n));
        let grid = n.div_ceil(block) as u32;
        gpu.launch_shared("scan_doubling", grid, block as u32, 4 * block as u64, args![dx, dy, n as i32]);
        assert_same(&gpu.read(dy), &sums(&x, block, 0, i32::wrapping_add));
    }
}

fn scan_tree(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(512 * 3);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u32>(x.len()));
    gpu.launch("scan_tree", 3, 256, args![dx, dy]);
    let exclusive =
        sums(&x, 512, 0, u32::wrapping_add).into_iter().zip(&x).map(|(sum, x)| sum.wrapping_sub(*x));
    assert_same(&gpu.read(dy), &exclusive.collect::<Vec<_>>());
}

fn scan_shuffle_f64(gpu: &mut Gpu) {
    for block in [32usize, 96, 1024] {
        let n = gpu.len(2500);
        let x = gpu.random::<f64>(n);
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f64>(n));
        gpu.launch("scan_shuffle_f64", n.div_ceil(block) as u32, block as u32, args![dx, dy, n as i32]);
        assert_close(&gpu.read(dy), &sums(&x, block, 0.0, |a, b| a + b), 0.0, 1e-12);
    }
}

fn scan_shuffle_i64(gpu: &mut Gpu) {
    let n = gpu.len(2500);
    let x = gpu.random::<i64>(n);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i64>(n));
    gpu.launch("scan_shuffle_i64", n.div_ceil(256) as u32, 256, args![dx, dy, n as i32]);
    assert_same(&gpu.read(dy), &sums(&x, 256, 0, i64::wrapping_add));
}

fn scan_look_back(gpu: &mut Gpu) {
    for block in [32usize, 256] {
        let n = gpu.len(4000);
        let x: Vec<u32> = (0..n).map(|_| gpu.rng.u32(..1000)).collect();
        let grid = n.div_ceil(block);
        let (dx, dy, states) = (gpu.upload(&x), gpu.uninit::<u32>(n), gpu.zeros::<u64>(grid));
        gpu.launch("scan_look_back", grid as u32, block as u32, args![dx, dy, states, n as i32]);
        assert_same(&gpu.read(dy), &sums(&x, n, 0, u32::wrapping_add));
    }
}

fn scan_segmented(gpu: &mut Gpu) {
    let n = gpu.len(1000);
    let x: Vec<f32> = (0..n).map(|_| f32::from(gpu.rng.i8(..))).collect();
    let starts: Vec<u8> = (0..n).map(|_| u8::from(gpu.rng.u8(..10) == 0)).collect();
    let (dx, ds, dy) = (gpu.upload(&x), gpu.upload(&starts), gpu.uninit::<f32>(n));
    gpu.launch("scan_segmented", n.div_ceil(256) as u32, 256, args![dx, ds, dy, n as i32]);
    let flagged: Vec<(f32, u8)> = x.into_iter().zip(starts).collect();
    let want = sums(&flagged, 256, 0.0, |sum, (x, start)| if start == 1 { x } else { sum + x });
    // Small whole numbers: exact but for the sign of a zero.
    assert_close(&gpu.read(dy), &want.into_iter().map(f64::from).collect::<Vec<_>>(), 0.0, 0.0);
}

fn compact(gpu: &mut Gpu) {
    let (n, block) = (gpu.len(2000), 128);
    let x: Vec<i32> = (0..n).map(|_| gpu.rng.i32(-5..5)).collect();
    let grid = n.div_ceil(block);
    let (dx, dy) = (gpu.upload(&x), gpu.zeros::<i32>(n));
    let (bases, length) = (gpu.uninit::<i32>(grid), gpu.zeros::<u32>(1));
    gpu.launch("compact", grid as u32, block as u32, args![dx, dy, bases, length, n as i32]);
    let (y, bases) = (gpu.read(dy), gpu.read(bases));
    let kept = |part: &[i32]| part.iter().copied().filter(|&x| x > 0).collect::<Vec<_>>();
    assert_same(&gpu.read(length), &[kept(&x).len() as u32]);
    // Blocks come in any order; each has its own elements in theirs.
    for (part, base) in x.chunks(block).zip(bases) {
        let want = kept(part);
        assert_same(&y[base as usize..][..want.len()], &want);
    }
}
