//! References of `memory.cu`.

use bytemuck::{Pod, Zeroable};

use crate::support::{
    Gpu, Struct, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { memory: compute_75 compute_90 => [
    initialized_globals dynamic_shared struct_parameter large_parameter wide_index generic_pointers local_array
    pass_pointers views cache_operators packed copy_bytes publish
] }

fn initialized_globals(gpu: &mut Gpu) {
    const PRIMES: [i32; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    for (launch, step) in [1u64, 5].into_iter().enumerate() {
        let (ints, doubles, wide) = (gpu.uninit::<i32>(56), gpu.uninit::<f64>(9), gpu.uninit::<u64>(1));
        gpu.launch("initialized_globals", 1, 32, args![ints, doubles, wide, step as i32]);
        let mut want: Vec<i32> = (0..12).map(|t| PRIMES[t * step as usize % 12]).collect();
        want.extend(b"constant text".map(i32::from));
        want.extend([-1, 2, -3, 4, -5, 6]);
        // The second launch finds what the first one left.
        want.extend((0..16).map(|t| if t == 3 { launch as i32 } else { 0 }));
        want.extend([7, b'c'.into(), 1, -1, 9, b't'.into(), 30000, -30000, -5]);
        assert_same(&gpu.read(ints), &want);
        let floats = [1.5f32, -0.0, 3.0e-45, 1e38].map(f64::from);
        let want: Vec<f64> = [0.25, -1.5, 1e300, 2.5, -0.125].into_iter().chain(floats).collect();
        assert_same(&gpu.read(doubles), &want);
        assert_same(&gpu.read(wide), &[0x0123_4567_89ab_cdef + launch as u64]);
    }
    let counter = gpu.module.global("counter").expect("a variable of the module");
    assert_eq!(counter.bytes, 8);
}

fn dynamic_shared(gpu: &mut Gpu) {
    for n in [1, 30, 200] {
        let (d, i, b) = (gpu.random::<f64>(n), gpu.random::<i32>(n), gpu.random::<u8>(n));
        let (dd, di, db, out) = (gpu.upload(&d), gpu.upload(&i), gpu.upload(&b), gpu.uninit::<f64>(n));
        gpu.launch_shared("dynamic_shared", 1, 64, 13 * n as u64, args![dd, di, db, out, n as i32]);
        let value = |t: usize| d[n - 1 - t].mul_add(i[(t + 1) % n].into(), b[t * 7 % n].into());
        assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
    }
}

/// As `Parameters` of the source.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    bytes: [u8; 5],
    gap: u8,
    s: i16,
    matrix: [[f32; 3]; 3],
    hole: [u8; 4],
    inner: [Inner; 2],
    d: f64,
    x: u64,
    y: u64,
    end: [u8; 8],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Inner {
    c: i8,
    gap: [u8; 7],
    l: i64,
}

fn struct_parameter(gpu: &mut Gpu) {
    let threads = gpu.len(64);
    let x = gpu.random::<f32>(3 * threads);
    let (dx, dy, out) = (gpu.upload(&x), gpu.uninit::<f32>(threads), gpu.uninit::<i64>(5));
    let inner = [0, 1].map(|i| Inner { c: -3 - i, gap: [0; 7], l: gpu.rng.i64(..1 << 60) });
    let p = Parameters {
        bytes: [1, 2, 3, 4, 255],
        gap: 0,
        s: -1234,
        matrix: [[1.0, 2.0, 3.0], [0.5, -0.5, 0.25], [-1.0, 0.0, 8.0]],
        hole: [0; 4],
        inner,
        d: 0.125,
        x: dx.address,
        y: dy.address,
        end: [0; 8],
    };
    let (row, on) = (gpu.rng.i32(0..3), gpu.rng.bool());
    let params = args![Struct(p), row, 200u8, u8::from(on), -77i16, out];
    gpu.launch("struct_parameter", 1, threads as u32, params);
    let value = |t: usize| {
        let row = p.matrix[(t + row as usize) % 3];
        let sum: f64 = (0..3).map(|c| f64::from(row[c]) * f64::from(x[t * 3 + c])).sum();
        sum + f64::from(p.bytes[t % 5]) + 0.125
    };
    assert_close(&gpu.read(dy), &(0..threads).map(value).collect::<Vec<_>>(), 1e-6, 1e-6);
    let want = [
        inner[0].l + i64::from(inner[1].c),
        inner[row as usize % 2].l,
        -1234,
        200,
        if on { -77 } else { 77 },
    ];
    assert_same(&gpu.read(out), &want);
}

fn large_parameter(gpu: &mut Gpu) {
    let n = gpu.len(2000);
    let values = gpu.random::<i32>(1000);
    let y = gpu.uninit::<i32>(n);
    let params = tfrt_ptx::Params::new().bytes(bytemuck::cast_slice(&values)).push(y).push(n as i32);
    gpu.launch("large_parameter", n.div_ceil(128) as u32, 128, params);
    assert_same(&gpu.read(y), &(0..n).map(|i| values[i * 37 % 1000]).collect::<Vec<_>>());
}

fn wide_index(gpu: &mut Gpu) {
    let (n, stride) = (gpu.len(300), gpu.len(3));
    let x = gpu.random::<f32>(n * stride);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(n));
    for first in [0i64, 5_000_000_000, -7_000_000_000] {
        let base = dx.address.wrapping_sub(4u64.wrapping_mul(first as u64));
        let params = args![base, dy, first, stride as u32, n as u32];
        gpu.launch("wide_index", n.div_ceil(64) as u32, 64, params);
        assert_same(&gpu.read(dy), &(0..n).map(|i| x[i * stride]).collect::<Vec<_>>());
    }
}

fn generic_pointers(gpu: &mut Gpu) {
    let global = gpu.random::<i32>(32).iter().map(|x| x / 4).collect::<Vec<_>>();
    let (dg, dy, spaces) = (gpu.upload(&global), gpu.uninit::<i32>(32), gpu.uninit::<i32>(32));
    gpu.launch("generic_pointers", 1, 32, args![dg, dy, spaces]);
    let t32 = |t: usize| t as i32;
    let value = |t: usize| {
        let local = 1000 * (t32(t) % 4) + t32(t);
        // Threads 1, 4, 7 … count up the shared word of the thread opposite.
        let shared = 100 + t32(t) + i32::from((31 - t) % 3 == 1);
        match t % 3 {
            0 => global[t] + local + shared,
            1 => 100 + 31 - t32(t) + local + shared,
            _ => local + (local + 1) + shared,
        }
    };
    assert_same(&gpu.read(dy), &(0..32).map(value).collect::<Vec<_>>());
    assert_same(&gpu.read(spaces), &(0..32).map(|t| 1 << (t % 3)).collect::<Vec<_>>());
    let after = |t: usize| if t.is_multiple_of(3) { global[t] + 1 } else { global[t] };
    assert_same(&gpu.read(dg), &(0..32).map(after).collect::<Vec<_>>());
}

fn local_array(gpu: &mut Gpu) {
    let n = gpu.len(100);
    let x = gpu.random::<u8>(n);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u32>(128));
    gpu.launch("local_array", 2, 64, args![dx, dy, n as i32]);
    let value = |i: usize| {
        let mut counts = [0u32; 32];
        for (k, &x) in x.iter().enumerate() {
            counts[(usize::from(x) ^ i) % 32] += k as u32;
        }
        (0..32).fold(0u32, |hash, k| hash.wrapping_mul(31).wrapping_add(counts[(k * 5 + i) % 32]))
    };
    assert_same(&gpu.read(dy), &(0..128).map(value).collect::<Vec<_>>());
}

fn pass_pointers(gpu: &mut Gpu) {
    let (global, dy) = (gpu.uninit::<u32>(160), gpu.uninit::<u32>(32));
    gpu.launch("pass_pointers", 1, 32, args![global, dy]);
    let fill = |seed: u32| {
        let next = |s: &u32| Some(s.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        std::iter::successors(next(&seed), next).take(5).collect::<Vec<_>>()
    };
    let value = |t: u32| {
        let (local, shared, global) = (fill(t), fill(t + 1000), fill(t + 2000));
        let term = |i: u32| local[((i + t) % 5) as usize] ^ shared[i as usize] ^ global[(i * t % 5) as usize];
        (0..5).fold(0u32, |sum, i| sum.wrapping_add(term(i)))
    };
    assert_same(&gpu.read(dy), &(0..32).map(value).collect::<Vec<_>>());
    assert_same(&gpu.read(global), &(0..32).flat_map(|t| fill(t + 2000)).collect::<Vec<_>>());
}

fn views(gpu: &mut Gpu) {
    let n = gpu.len(64);
    let x: Vec<f32> = gpu.random::<f32>(n).iter().map(|x| x * 1e5).collect();
    let (dx, bytes, fields, pairs) =
        (gpu.upload(&x), gpu.uninit::<u8>(4 * n), gpu.uninit::<u32>(n), gpu.uninit::<u64>(n));
    gpu.launch("views", 1, n as u32, args![dx, bytes, fields, pairs]);
    assert_same(&gpu.read(bytes), &x.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<_>>());
    let field = |x: &f32| {
        let bits = x.to_bits();
        let middle = (bits as i32) >> 7 << 21 >> 21;
        (bits % 32).wrapping_add((middle * 3) as u32).wrapping_add((bits >> 16) * 5)
    };
    assert_same(&gpu.read(fields), &x.iter().map(field).collect::<Vec<_>>());
    // The lower word is an int: it extends its sign.
    let pair = |(t, x): (usize, &f32)| {
        let low = f64::from(*x).to_bits() as u32 as i32;
        (u64::from(x.to_bits()) << 32 | t as u64) ^ i64::from(low) as u64
    };
    assert_same(&gpu.read(pairs), &x.iter().enumerate().map(pair).collect::<Vec<_>>());
}

fn cache_operators(gpu: &mut Gpu) {
    let (x, v) = (gpu.random::<f32>(192), gpu.random::<i32>(128));
    let (dx, dv, dy, dw, flag) = (
        gpu.upload(&x),
        gpu.upload(&v),
        gpu.uninit::<f32>(128),
        gpu.uninit::<i32>(128),
        gpu.upload(&[21i32]),
    );
    gpu.launch("cache_operators", 1, 32, args![dx, dv, dy, dw, flag]);
    let sums: Vec<f32> = (0..32).map(|t| (0..6).map(|k| x[t + 32 * k]).fold(0.0, |a, b| a + b)).collect();
    let want: Vec<f32> = [1.0, -1.0, 2.0, 0.5].iter().flat_map(|f| sums.iter().map(move |s| s * f)).collect();
    assert_same(&gpu.read(dy), &want);
    assert_same(&gpu.read(dw), &v.chunks(4).flat_map(|q| [q[3], q[2], q[1], q[0]]).collect::<Vec<_>>());
    assert_same(&gpu.read(flag), &[42]);
}

fn packed(gpu: &mut Gpu) {
    let n = gpu.len(32);
    let mut x = gpu.random::<[u8; 15]>(n);
    // Weights that are numbers: what a NaN holds besides is lost in arithmetic.
    x.iter_mut().for_each(|p| p[14] = 0x3f);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<[u8; 15]>(n));
    gpu.launch("packed", 1, 32, args![dx, dy, n as i32]);
    let change = |p: &[u8; 15]| {
        let mut out = *p;
        let value = u32::from_le_bytes(p[1..5].try_into().expect("four"));
        let delta = i16::from_le_bytes(p[5..7].try_into().expect("two"));
        let weight = f64::from_le_bytes(p[7..].try_into().expect("eight"));
        out[1..5].copy_from_slice(&value.wrapping_mul(3).wrapping_add(p[0].into()).to_le_bytes());
        out[7..].copy_from_slice(&(weight + f64::from(delta)).to_le_bytes());
        out
    };
    assert_eq!(gpu.read(dy), x.iter().rev().map(change).collect::<Vec<_>>());
}

fn copy_bytes(gpu: &mut Gpu) {
    let n = gpu.len(3000);
    let x = gpu.random::<u8>(n);
    let (dx, dy) = (gpu.upload(&x), gpu.zeros::<u8>(n));
    gpu.launch("copy_bytes", 3, 256, args![dx, dy, n as i32]);
    assert_same(&gpu.read(dy), &x);
}

fn publish(gpu: &mut Gpu) {
    // A flag orders the blocks.
    gpu.without_race_check();
    let x = gpu.random::<f32>(64);
    let (dx, dy, mailbox, flag) =
        (gpu.upload(&x), gpu.uninit::<f32>(64), gpu.uninit::<f32>(64), gpu.zeros::<i32>(1));
    gpu.launch("publish", 3, 64, args![dx, dy, mailbox, flag]);
    assert_same(&gpu.read(dy), &x.iter().rev().map(|x| x * 4.0).collect::<Vec<_>>());
}
