//! References of `warp.cu`.

use crate::support::{Gpu, args, compare::assert_same, kernels};

kernels! { warp: compute_75 compute_80 compute_90 => [
    shuffles shuffle_types shuffle_predicate shuffle_halves votes matches active_masks aggregated_append lane_registers
    warp_barrier clocks
] }

mod from_80 {
    use super::{kernels, reduce_instructions};
    kernels! { warp: compute_80 compute_90 => [reduce_instructions] }
}

/// The lanes for which something holds, as a mask.
fn mask_of(lanes: impl IntoIterator<Item = usize>) -> u32 {
    lanes.into_iter().fold(0, |mask, lane| mask | 1 << lane)
}

fn shuffles(gpu: &mut Gpu) {
    let x = gpu.random::<i32>(64);
    for delta in [0, 1, 5, 17, 31] {
        let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i32; 8]>(64));
        gpu.launch("shuffles", 2, 32, args![dx, out, delta as i32]);
        let want = (0..64).map(|i| {
            let (warp, lane) = (&x[i / 32 * 32..][..32], i % 32);
            // A lane whose source lies outside its part keeps its own.
            let up = |width: usize| if lane % width >= delta { warp[lane - delta] } else { warp[lane] };
            let down =
                |width: usize| if lane % width + delta < width { warp[lane + delta] } else { warp[lane] };
            let within = lane / 8 * 8;
            [
                warp[delta],
                warp[within + (lane * 7 + delta) % 8],
                up(32),
                up(16),
                down(32),
                down(4),
                warp[lane ^ delta],
                warp[lane ^ (delta & 7)],
            ]
        });
        assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
    }
}

fn shuffle_types(gpu: &mut Gpu) {
    let (x, y) = (gpu.random::<f64>(32), gpu.random::<i64>(32));
    let (dx, dy) = (gpu.upload(&x), gpu.upload(&y));
    let (ox, oy, oz) = (gpu.uninit::<f64>(32), gpu.uninit::<i64>(32), gpu.uninit::<u8>(32));
    gpu.launch("shuffle_types", 1, 32, args![dx, dy, ox, oy, oz]);
    assert_same(&gpu.read(ox), &(0..32).map(|i| x[(i + 5) % 32]).collect::<Vec<_>>());
    assert_same(&gpu.read(oy), &(0..32).map(|i| y[i ^ 21]).collect::<Vec<_>>());
    let byte = |i: u32| if i + 3 < 32 { i + 3 } else { i } * 9;
    assert_same(&gpu.read(oz), &(0..32).map(|i| byte(i) as u8).collect::<Vec<_>>());
}

fn shuffle_predicate(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(32);
    for (delta, clamp, width) in [(3u32, 31u32, 32u32), (1, 0x181f, 8), (9, 0x101f, 16)] {
        let (dx, dy, ok) = (gpu.upload(&x), gpu.uninit::<u32>(32), gpu.uninit::<u32>(32));
        gpu.launch("shuffle_predicate", 1, 32, args![dx, dy, ok, delta, clamp]);
        let inside = |i: u32| i % width + delta < width;
        let value = |i: u32| x[if inside(i) { i + delta } else { i } as usize];
        assert_same(&gpu.read(dy), &(0..32).map(value).collect::<Vec<_>>());
        assert_same(&gpu.read(ok), &(0..32).map(|i| u32::from(inside(i))).collect::<Vec<_>>());
    }
}

fn shuffle_halves(gpu: &mut Gpu) {
    let x: Vec<i32> = (0..96).map(|_| gpu.rng.i32(-1000..1000)).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(96));
    gpu.launch("shuffle_halves", 1, 96, args![dx, dy]);
    let warp = |x: &[i32]| {
        let (low, high) = (x[..16].iter().sum::<i32>(), *x[16..].iter().max().expect("lanes"));
        (0..32)
            .map(|lane| if lane < 16 { low } else { high } + if lane % 2 == 0 { low } else { 0 })
            .collect::<Vec<_>>()
    };
    assert_same(&gpu.read(dy), &x.chunks(32).flat_map(warp).collect::<Vec<_>>());
}

fn votes(gpu: &mut Gpu) {
    for threshold in [-1, 50, 100] {
        let x: Vec<i32> = (0..64).map(|_| gpu.rng.i32(0..100)).collect();
        let (dx, out) = (gpu.upload(&x), gpu.uninit::<[u32; 5]>(64));
        gpu.launch("votes", 1, 64, args![dx, out, threshold]);
        let want = (0..64).map(|i| {
            let warp = &x[i / 32 * 32..][..32];
            let ballot = mask_of((0..32).filter(|&lane| warp[lane] > threshold));
            let (all, any) = (ballot == u32::MAX, ballot != 0);
            let odd = if i % 2 == 1 { ballot & 0xaaaa_aaaa } else { 0 };
            [ballot, all.into(), any.into(), (all || !any).into(), odd]
        });
        assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
    }
}

fn matches(gpu: &mut Gpu) {
    for range in [8, 40] {
        let x: Vec<u32> = (0..64).map(|_| gpu.rng.u32(..range)).collect();
        let y: Vec<u64> = (0..64).map(|_| gpu.rng.u64(..3) << 40 | 7).collect();
        let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[u32; 4]>(64));
        gpu.launch("matches", 1, 64, args![dx, dy, out]);
        let want = (0..64).map(|i| {
            let first = i / 32 * 32;
            let narrow = mask_of((0..32).filter(|&lane| x[first + lane] == x[i]));
            let wide = mask_of((0..32).filter(|&lane| y[first + lane] == y[i]));
            let agree = x[first..first + 32].iter().all(|v| v / 16 == x[i] / 16);
            [narrow, wide, if agree { u32::MAX } else { 0 }, agree.into()]
        });
        assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
    }
}

fn active_masks(gpu: &mut Gpu) {
    let x: Vec<i32> = (0..32).map(|_| gpu.rng.i32(-9..9)).collect();
    let (dx, out) = (gpu.upload(&x), gpu.zeros::<[u32; 2]>(32));
    gpu.launch("active_masks", 1, 32, args![dx, out]);
    // In C, the remainder of a negative number is negative: those divisible go the first way, all
    // others the third.
    let way = |v: i32| match v % 3 {
        way @ (0 | 1) => way,
        _ => 2,
    };
    let want = x.iter().map(|&v| {
        let split = mask_of((0..32).filter(|&lane| way(x[lane]) == way(v)));
        [split, if v < 0 { 0 } else { mask_of((0..32).filter(|&lane| x[lane] >= 0)) }]
    });
    assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
}

fn aggregated_append(gpu: &mut Gpu) {
    let n = gpu.len(1000);
    let x: Vec<i32> = (0..n).map(|_| gpu.rng.i32(0..1000)).collect();
    let (dx, dy, count) = (gpu.upload(&x), gpu.zeros::<i32>(n), gpu.zeros::<i32>(1));
    gpu.launch("aggregated_append", n.div_ceil(96) as u32, 96, args![dx, dy, count, n as i32]);
    let mut want: Vec<i32> = x.into_iter().filter(|x| x % 5 == 2).collect();
    let mut got = gpu.read(dy)[..want.len()].to_vec();
    want.sort_unstable();
    got.sort_unstable();
    assert_same(&gpu.read(count), &[want.len() as i32]);
    assert_same(&got, &want);
}

fn lane_registers(gpu: &mut Gpu) {
    for block in [(32, 1, 1), (5, 7, 2), (100, 1, 1)] {
        let threads = block.0 * block.1 * block.2;
        let out = gpu.uninit::<[u32; 8]>(threads as usize);
        gpu.launch("lane_registers", 1, block, args![out]);
        let got = gpu.read(out);
        for (i, words) in (0u32..).zip(&got) {
            let (lane, bit) = (i % 32, 1u32 << (i % 32));
            let masks = [bit, bit | (bit - 1), bit - 1, !(bit - 1), !(bit - 1) & !bit];
            assert_eq!((words[0], words[1], &words[3..]), (lane, i / 32, &masks[..]));
            assert!(words[2] >= threads.div_ceil(32), "there are more warps than %nwarpid says");
        }
    }
}

fn warp_barrier(gpu: &mut Gpu) {
    let x = gpu.random::<i32>(32);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(32));
    gpu.launch("warp_barrier", 1, 32, args![dx, dy]);
    let value = |lane: usize| if lane < 8 { x[31 - (7 - lane)] } else { x[31 - lane] };
    assert_same(&gpu.read(dy), &(0..32).map(value).collect::<Vec<_>>());
}

fn clocks(gpu: &mut Gpu) {
    let blocks = 5;
    let (elapsed, time) = (gpu.uninit::<[i64; 2]>(blocks), gpu.uninit::<[u64; 2]>(blocks));
    let (processor, count) = (gpu.uninit::<u32>(blocks), gpu.uninit::<u32>(blocks));
    gpu.launch("clocks", blocks as u32, 1, args![elapsed, time, processor, count]);
    for block in 0..blocks {
        let ([wide, narrow], [before, after]) = (gpu.read(elapsed)[block], gpu.read(time)[block]);
        assert!(wide > 0 && narrow > 0, "clocks: {wide} and {narrow}");
        assert!(before <= after && after - before < 10_000_000_000, "times: {before} and {after}");
        assert!(gpu.read(processor)[block] < gpu.read(count)[block]);
    }
}

fn reduce_instructions(gpu: &mut Gpu) {
    let x = gpu.random::<u32>(64);
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[u32; 8]>(64));
    gpu.launch("reduce_instructions", 1, 64, args![dx, out]);
    let want = (0..64).map(|i| {
        let warp = &x[i / 32 * 32..][..32];
        let signed = || warp.iter().map(|&v| v as i32);
        let parity = || warp.iter().enumerate().filter(|(lane, _)| lane % 2 == i % 2).map(|(_, &v)| v);
        let and = parity().fold(u32::MAX, |a, b| a & b);
        let or = parity().fold(0, |a, b| a | b);
        let xor = parity().fold(0, |a, b| a ^ b);
        let sum = warp.iter().fold(0u32, |a, &b| a.wrapping_add(b));
        let [first, second, third] = if i % 2 == 1 { [and, or, xor] } else { [xor, and, or] };
        [
            sum,
            warp.iter().copied().min().expect("lanes"),
            warp.iter().copied().max().expect("lanes"),
            signed().min().expect("lanes") as u32,
            signed().max().expect("lanes") as u32,
            first,
            second,
            third,
        ]
    });
    assert_same(&gpu.read(out), &want.collect::<Vec<_>>());
}
