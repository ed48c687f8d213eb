//! References of `atomics.cu`. Every result is one that does not depend on the order of threads.

use half::{bf16, f16};

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { atomics: compute_75 compute_80 compute_90 => [
    atomics_u32 atomics_i32 atomics_u64 atomics_i64 atomics_float atomics_shared atomics_scopes cas_loops spin_lock
    ticket_lock histogram_shared histogram_range histogram_match hash_count
] }

mod from_80 {
    use super::{atomics_bf16, kernels};
    kernels! { atomics: compute_80 compute_90 => [atomics_bf16] }
}

const BLOCKS: usize = 3;
const THREADS: usize = 96;

/// What one of the four groups of cells sees: the values of threads t with t % 4 = group.
fn group<T: Copy>(x: &[T], group: usize) -> impl Iterator<Item = T> + Clone {
    x.iter().enumerate().filter(move |(i, _)| i % THREADS % 4 == group).map(|(_, &v)| v)
}

fn atomics_u32(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(BLOCKS * THREADS);
    let start = gpu.random::<u32>(32);
    let (dx, cells) = (gpu.upload(&x), gpu.upload(&start));
    gpu.launch("atomics_u32", BLOCKS as u32, THREADS as u32, args![dx, cells]);
    let want = (0..4).flat_map(|g| {
        let (c, all) = (&start[g * 8..][..8], || group(&x, g));
        [
            all().fold(c[0], u32::wrapping_add),
            all().fold(c[1], u32::wrapping_sub),
            all().fold(c[2], u32::min),
            all().fold(c[3], u32::max),
            all().fold(c[4], |a, v| a & (v | 0xffff)),
            all().fold(c[5], |a, v| a | v),
            all().fold(c[6], |a, v| a ^ v),
            all().fold(c[7], |a, _| if a >= 6 { 0 } else { a + 1 }),
        ]
    });
    assert_same(&gpu.read(cells), &want.collect::<Vec<_>>());
}

fn atomics_i32(gpu: &mut Gpu) {
    let x = gpu.random::<i32>(BLOCKS * THREADS);
    let start = gpu.random::<i32>(16);
    let (dx, cells) = (gpu.upload(&x), gpu.upload(&start));
    gpu.launch("atomics_i32", BLOCKS as u32, THREADS as u32, args![dx, cells]);
    let want = (0..4).flat_map(|g| {
        let (c, all) = (&start[g * 4..][..4], || group(&x, g));
        let down = |a: u32| if a == 0 || a > 9 { 9 } else { a - 1 };
        [
            all().fold(c[0], i32::wrapping_add),
            all().fold(c[1], i32::min),
            all().fold(c[2], i32::max),
            all().fold(c[3] as u32, |a, _| down(a)) as i32,
        ]
    });
    assert_same(&gpu.read(cells), &want.collect::<Vec<_>>());
}

fn atomics_u64(gpu: &mut Gpu) {
    let x = gpu.random::<u64>(BLOCKS * THREADS);
    let start = gpu.random::<u64>(24);
    let (dx, cells) = (gpu.upload(&x), gpu.upload(&start));
    gpu.launch("atomics_u64", BLOCKS as u32, THREADS as u32, args![dx, cells]);
    let want = (0..4).flat_map(|g| {
        let (c, all) = (&start[g * 6..][..6], || group(&x, g));
        [
            all().fold(c[0], u64::wrapping_add),
            all().fold(c[1], u64::min),
            all().fold(c[2], u64::max),
            all().fold(c[3], |a, v| a & (v | 0xffff_ffff)),
            all().fold(c[4], |a, v| a | v),
            all().fold(c[5], |a, v| a ^ v),
        ]
    });
    assert_same(&gpu.read(cells), &want.collect::<Vec<_>>());
}

fn atomics_i64(gpu: &mut Gpu) {
    let x = gpu.random::<i64>(BLOCKS * THREADS);
    let start = gpu.random::<i64>(8);
    let (dx, cells) = (gpu.upload(&x), gpu.upload(&start));
    gpu.launch("atomics_i64", BLOCKS as u32, THREADS as u32, args![dx, cells]);
    let want = (0..4).flat_map(|g| {
        [group(&x, g).fold(start[g * 2], i64::min), group(&x, g).fold(start[g * 2 + 1], i64::max)]
    });
    assert_same(&gpu.read(cells), &want.collect::<Vec<_>>());
}

/// Sum over the threads divisible by 8 that meet in a cell: those with t % cells = cell.
fn sparse(x: &[f32], cells: usize, cell: usize) -> f32 {
    x.iter()
        .enumerate()
        .filter(|(i, _)| (i % THREADS).is_multiple_of(8) && i % THREADS % cells == cell)
        .map(|(_, v)| v)
        .sum()
}

fn small_whole(gpu: &mut Gpu, n: usize) -> Vec<f32> {
    (0..n).map(|_| f32::from(gpu.rng.i8(-4..4))).collect()
}

fn atomics_float(gpu: &mut Gpu) {
    let x = small_whole(gpu, BLOCKS * THREADS);
    let (dx, f, d) = (gpu.upload(&x), gpu.zeros::<f32>(4), gpu.zeros::<f64>(4));
    let (pairs, single) = (gpu.zeros::<f16>(6), gpu.zeros::<f16>(5));
    gpu.launch("atomics_float", BLOCKS as u32, THREADS as u32, args![dx, f, d, pairs, single]);
    let sums: Vec<f64> = (0..4).map(|g| group(&x, g).map(f64::from).sum()).collect();
    // Compared as numbers: zeros of either sign.
    assert_close(&gpu.read(f), &sums, 0.0, 0.0);
    assert_close(&gpu.read(d), &sums, 0.0, 0.0);
    let want: Vec<f64> = (0..3).flat_map(|c| [sparse(&x, 3, c), -sparse(&x, 3, c)]).map(f64::from).collect();
    assert_close(&gpu.read(pairs), &want, 0.0, 0.0);
    assert_close(&gpu.read(single), &(0..5).map(|c| sparse(&x, 5, c).into()).collect::<Vec<_>>(), 0.0, 0.0);
}

fn atomics_bf16(gpu: &mut Gpu) {
    let x = small_whole(gpu, THREADS);
    let (dx, pairs, single) = (gpu.upload(&x), gpu.zeros::<bf16>(6), gpu.zeros::<bf16>(5));
    gpu.launch("atomics_bf16", 1, THREADS as u32, args![dx, pairs, single]);
    let want: Vec<f64> = (0..3).flat_map(|c| [sparse(&x, 3, c), -sparse(&x, 3, c)]).map(f64::from).collect();
    assert_close(&gpu.read(pairs), &want, 0.0, 0.0);
    assert_close(&gpu.read(single), &(0..5).map(|c| sparse(&x, 5, c).into()).collect::<Vec<_>>(), 0.0, 0.0);
}

fn atomics_shared(gpu: &mut Gpu) {
    for threads in [32usize, 200] {
        let x = gpu.random::<u32>(threads);
        let (dx, tickets, exchanged) =
            (gpu.upload(&x), gpu.uninit::<u32>(threads), gpu.uninit::<u32>(threads + 1));
        let (sums, total) = (gpu.uninit::<u64>(2), gpu.uninit::<f32>(1));
        gpu.launch("atomics_shared", 1, threads as u32, args![dx, tickets, exchanged, sums, total]);
        let mut tickets = gpu.read(tickets);
        tickets.sort_unstable();
        assert_same(&tickets, &(0..threads as u32).map(|t| 2 * t).collect::<Vec<_>>());
        // Each thread got what another put in, the first what was there before, and the last one's
        // remains.
        let mut seen = gpu.read(exchanged);
        seen.sort_unstable();
        assert_same(&seen, &(0..threads as u32).chain([u32::MAX]).collect::<Vec<_>>());
        let least = x.iter().map(|&v| v as i32).min().expect("threads");
        assert_same(&gpu.read(sums), &[x.iter().map(|&v| u64::from(v) << 8).sum(), i64::from(least) as u64]);
        assert_same(&gpu.read(total), &[threads as f32 / 2.0]);
    }
}

fn atomics_scopes(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(BLOCKS * THREADS);
    let (dx, cells) = (gpu.upload(&x), gpu.zeros::<u32>(8));
    gpu.launch("atomics_scopes", BLOCKS as u32, THREADS as u32, args![dx, cells]);
    let sum = |part: &[u32]| part.iter().fold(0u32, |a, &v| a.wrapping_add(v));
    let blocks: Vec<u32> = x.chunks(THREADS).map(sum).collect();
    let fold = |f: fn(u32, u32) -> u32| x.iter().copied().fold(0, f);
    let want =
        [sum(&x), blocks[0], blocks[1], blocks[2], 0, fold(|a, v| a ^ v), fold(u32::max), fold(|a, v| a | v)];
    assert_same(&gpu.read(cells), &want);
}

fn cas_loops(gpu: &mut Gpu) {
    // The first look at a cell is a plain load: a loop corrects it.
    gpu.without_race_check();
    let x = small_whole(gpu, BLOCKS * THREADS);
    let (dx, largest) = (gpu.upload(&x), gpu.upload(&[-100f32]));
    let (sum, product, narrow) = (gpu.zeros::<f64>(1), gpu.upload(&[1u64]), gpu.upload(&[7u16, 9]));
    gpu.launch("cas_loops", BLOCKS as u32, THREADS as u32, args![dx, largest, sum, product, narrow]);
    let n = BLOCKS * THREADS;
    assert_close(&gpu.read(largest), &[x.iter().copied().fold(-100.0, f32::max).into()], 0.0, 0.0);
    assert_close(&gpu.read(sum), &[x.iter().sum::<f32>().into()], 0.0, 0.0);
    assert_same(&gpu.read(product), &[3u64.wrapping_pow(n as u32)]);
    assert_same(&gpu.read(narrow), &[7u16.wrapping_add(5 * n as u16), 9]);
}

fn spin_lock(gpu: &mut Gpu) {
    gpu.without_race_check();
    for (blocks, threads, rounds) in [(1u32, 32u32, 2i32), (4, 33, 1), (2, 64, 3)] {
        let (lock, guarded) = (gpu.zeros::<i32>(1), gpu.zeros::<i32>(2));
        gpu.launch("spin_lock", blocks, threads, args![lock, guarded, rounds]);
        let n = (blocks * threads) as i32 * rounds;
        assert_same(&gpu.read(guarded), &[n, n * (n + 1) / 2]);
        assert_same(&gpu.read(lock), &[0]);
    }
}

fn ticket_lock(gpu: &mut Gpu) {
    gpu.without_race_check();
    let (blocks, threads) = (2u32, 40u32);
    let n = blocks * threads;
    let (next, serving, order) = (gpu.zeros::<u32>(1), gpu.zeros::<u32>(1), gpu.uninit::<u32>(n as usize));
    gpu.launch("ticket_lock", blocks, threads, args![next, serving, order]);
    let mut order = gpu.read(order);
    order.sort_unstable();
    assert_same(&order, &(0..n).collect::<Vec<_>>());
    assert_same(&gpu.read(serving), &[n]);
}

fn histogram_shared(gpu: &mut Gpu) {
    for (grid, block) in [(1, 32), (4, 100)] {
        let n = gpu.len(5000);
        let x = gpu.random::<u8>(n);
        let (dx, bins) = (gpu.upload(&x), gpu.zeros::<u32>(256));
        gpu.launch("histogram_shared", grid, block, args![dx, bins, n as i32]);
        let mut want = [0; 256];
        x.iter().for_each(|&b| want[usize::from(b)] += 1);
        assert_same(&gpu.read(bins), &want);
    }
}

fn histogram_range(gpu: &mut Gpu) {
    let (n, count) = (gpu.len(2000), gpu.len(40));
    // Away from the bins' bounds, where rounding decides.
    let width = 0.75 / count as f32;
    let x: Vec<f32> = (0..n)
        .map(|_| -0.5 + width * (gpu.rng.i32(-3..count as i32 + 3) as f32 + 0.25 + gpu.rng.f32() / 2.0))
        .collect();
    let (dx, bins) = (gpu.upload(&x), gpu.zeros::<i32>(count));
    gpu.launch(
        "histogram_range",
        n.div_ceil(64) as u32,
        64,
        args![dx, bins, count as i32, -0.5f32, 0.25f32, n as i32],
    );
    let mut want = vec![0; count];
    for x in x {
        let bin = ((x + 0.5) / width).floor();
        if bin >= 0.0 && bin < count as f32 {
            want[bin as usize] += 1;
        }
    }
    assert_same(&gpu.read(bins), &want);
}

fn histogram_match(gpu: &mut Gpu) {
    let keys: Vec<u32> = (0..4 * 64).map(|_| gpu.rng.u32(..13)).collect();
    let (dk, bins) = (gpu.upload(&keys), gpu.zeros::<u32>(13));
    gpu.launch("histogram_match", 4, 64, args![dk, bins]);
    let mut want = [0; 13];
    keys.iter().for_each(|&k| want[k as usize] += 1);
    assert_same(&gpu.read(bins), &want);
}

fn hash_count(gpu: &mut Gpu) {
    let (n, slots) = (gpu.len(1000), 128);
    let keys: Vec<u32> = (0..n).map(|_| gpu.rng.u32(..100) * 7919).collect();
    let (dk, table, counts) = (gpu.upload(&keys), gpu.upload(&[u32::MAX; 128]), gpu.zeros::<u32>(slots));
    gpu.launch("hash_count", n.div_ceil(64) as u32, 64, args![dk, table, counts, slots as u32, n as i32]);
    let mut want = std::collections::BTreeMap::new();
    keys.iter().for_each(|&k| *want.entry(k).or_insert(0) += 1);
    let (table, counts) = (gpu.read(table), gpu.read(counts));
    let got: Vec<(u32, u32)> = table.into_iter().zip(counts).filter(|&(k, _)| k != u32::MAX).collect();
    assert_eq!(got.len(), want.len(), "a key has two places");
    assert_eq!(got.into_iter().collect::<std::collections::BTreeMap<_, _>>(), want);
}
