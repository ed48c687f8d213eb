//! References of `control.cu`.

use bytemuck::{Pod, Zeroable};

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { control: compute_75 compute_90 => [
    collatz mandelbrot tangled interpreter branch_indexed call_with_structs calls call_table virtual_calls
    exit_before_barrier barrier_in_branches producer_consumer barrier_votes bisect queens
] }

fn collatz(gpu: &mut Gpu) {
    let n = gpu.len(400);
    let x: Vec<u32> = (0..n).map(|_| gpu.rng.u32(..100_000)).collect();
    let (dx, steps) = (gpu.upload(&x), gpu.uninit::<u32>(n));
    gpu.launch("collatz", n.div_ceil(64) as u32, 64, args![dx, steps, n as i32]);
    let count = |&x: &u32| {
        let next = |&v: &u64| (v > 1).then(|| if v % 2 == 1 { 3 * v + 1 } else { v / 2 });
        std::iter::successors(Some(u64::from(x)), next).count() as u32 - 1
    };
    assert_same(&gpu.read(steps), &x.iter().map(count).collect::<Vec<_>>());
}

fn mandelbrot(gpu: &mut Gpu) {
    let (width, height) = (gpu.len(40), gpu.len(30));
    let out = gpu.uninit::<u8>(width * height);
    let grid = (width.div_ceil(8) as u32, height.div_ceil(8) as u32);
    gpu.launch("mandelbrot", grid, (8, 8), args![out, width as i32, height as i32, 40i32]);
    let count = |i: usize| {
        let cx = 3f64.mul_add((i % width) as f64 / width as f64, -2.25);
        let cy = 2.5f64.mul_add((i / width) as f64 / height as f64, -1.25);
        let (mut x, mut y, mut k) = (0.0, 0.0, 0u8);
        while k < 40 && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            k += 1;
        }
        k
    };
    // Fused and plain arithmetic part where orbits are chaotic: a few pixels at the border may
    // differ.
    let differ = gpu.read(out).into_iter().enumerate().filter(|&(i, k)| k != count(i)).count();
    assert!(differ * 20 <= width * height, "{differ} of {} pixels differ", width * height);
}

fn tangled_reference(x: i32) -> i32 {
    let (mut v, mut sum) = (x, 0i32);
    for a in 0..8 {
        if (v >> a & 3) == 3 {
            continue;
        }
        for b in 0..5 {
            if a * b == v % 17 {
                return sum.wrapping_mul(31).wrapping_add(v);
            }
            if b > (v & 7) {
                break;
            }
            sum += a ^ b;
            if sum % 11 == 7 && v > 0 {
                v -= sum;
                sum += 2;
            } else if sum % 5 == 1 || (v & 1 == 1 && a > 2) {
                v ^= 0x55;
            }
        }
        sum += 100;
    }
    (-sum).wrapping_mul(31).wrapping_add(v)
}

fn tangled(gpu: &mut Gpu) {
    let n = gpu.len(2000);
    let x: Vec<i32> = (0..n).map(|_| gpu.rng.i32(-100_000..100_000)).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(n));
    gpu.launch("tangled", n.div_ceil(128) as u32, 128, args![dx, dy, n as i32]);
    assert_same(&gpu.read(dy), &x.iter().map(|&x| tangled_reference(x)).collect::<Vec<_>>());
}

fn interpreter_reference(program: &[u8], x: i32, i: usize) -> i32 {
    let (mut a, mut b, mut y) = (x, i as i32, 0);
    for pc in 0..program.len() {
        match program[(pc + i) % program.len()] {
            0 => a = a.wrapping_add(b),
            1 => a = a.wrapping_sub(3),
            2 => a ^= b << 2,
            3 => b = a,
            4 => b = b.rotate_left(5),
            5 => a = a.wrapping_mul(5),
            6 if a & 1 == 1 => a /= 2,
            6 => a = !a,
            7 => {
                b = b.wrapping_add(i as i32);
                a = a.max(b);
            }
            8 => a = a.max(b),
            9 => (a, b) = (b, a),
            10 => a = a.count_ones() as i32,
            11 => return y,
            _ => b = b.wrapping_neg(),
        }
        y = a.wrapping_mul(7).wrapping_add(b);
    }
    y
}

fn interpreter(gpu: &mut Gpu) {
    let (n, length) = (gpu.len(300), gpu.len(60));
    let program: Vec<u8> = (0..length).map(|_| gpu.rng.u8(..14)).collect();
    let x = gpu.random::<i32>(n);
    let (dp, dx, dy) = (gpu.upload(&program), gpu.upload(&x), gpu.zeros::<i32>(n));
    gpu.launch("interpreter", n.div_ceil(64) as u32, 64, args![dp, length as i32, dx, dy, n as i32]);
    let want: Vec<i32> = x.iter().enumerate().map(|(i, &x)| interpreter_reference(&program, x, i)).collect();
    assert_same(&gpu.read(dy), &want);
}

fn branch_indexed(gpu: &mut Gpu) {
    let x: Vec<i32> = (0..64).map(|_| gpu.rng.i32(-1000..1000)).collect();
    let index: Vec<u32> = (0..64).map(|_| gpu.rng.u32(..4)).collect();
    let (dx, di, dy) = (gpu.upload(&x), gpu.upload(&index), gpu.uninit::<i32>(64));
    gpu.launch("branch_indexed", 1, 64, args![dx, di, dy]);
    let value = |(&x, &i): (&i32, &u32)| [x + 1000, -x, x * x, x][i as usize];
    assert_same(&gpu.read(dy), &x.iter().zip(&index).map(value).collect::<Vec<_>>());
}

/// As `Body` of the source.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Body {
    mass: f64,
    x: f32,
    y: f32,
    kind: i16,
    padding: [u16; 3],
}

fn call_with_structs(gpu: &mut Gpu) {
    let (n, group) = (32, gpu.len(6));
    let bodies: Vec<Body> = (0..n * group)
        .map(|_| Body {
            mass: 0.5 + gpu.rng.f64(),
            x: gpu.rng.f32(),
            y: -gpu.rng.f32(),
            kind: gpu.rng.i16(..),
            padding: [0; 3],
        })
        .collect();
    let (db, out, tallies) = (gpu.upload(&bodies), gpu.zeros::<Body>(n), gpu.uninit::<i32>(n));
    gpu.launch("call_with_structs", 1, n as u32, args![db, out, tallies, group as i32]);
    assert_same(&gpu.read(tallies), &vec![group as i32 - 1; n]);
    for (got, group) in gpu.read(out).iter().zip(bodies.chunks(group)) {
        let mass: f64 = group.iter().map(|b| b.mass).sum();
        let center = |f: fn(&Body) -> f32| group.iter().map(|b| b.mass * f64::from(f(b))).sum::<f64>() / mass;
        assert_close(&[got.mass], &[mass], 1e-14, 0.0);
        assert_close(&[got.x, got.y], &[center(|b| b.x), center(|b| b.y)], 1e-6, 1e-7);
        assert_eq!(Some(got.kind), group.iter().map(|b| b.kind).max());
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn calls(gpu: &mut Gpu) {
    let n = gpu.len(300);
    let a: Vec<u32> = (0..n).map(|_| gpu.rng.u32(1..100_000)).collect();
    let b: Vec<u32> = (0..n).map(|_| gpu.rng.u32(1..100_000)).collect();
    let (da, db, out) = (gpu.upload(&a), gpu.upload(&b), gpu.uninit::<u64>(n));
    gpu.launch("calls", n.div_ceil(32) as u32, 32, args![da, db, out, n as i32]);
    let value = |(&a, &b): (&u32, &u32)| match (a > b, a % 2) {
        (true, _) => u64::from(a / gcd(a, b)) * u64::from(b),
        (false, 1) => gcd(a, b).into(),
        _ => 0,
    };
    assert_same(&gpu.read(out), &a.iter().zip(&b).map(value).collect::<Vec<_>>());
}

fn call_table(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let x = gpu.random::<f32>(n);
    let which: Vec<i32> = (0..n).map(|_| gpu.rng.i32(0..4)).collect();
    let (dx, dw, dy) = (gpu.upload(&x), gpu.upload(&which), gpu.uninit::<f32>(n));
    gpu.launch("call_table", n.div_ceil(32) as u32, 32, args![dx, dw, dy, n as i32]);
    let value = |(&x, &w): (&f32, &i32)| [2.0 * x, x * x, -x, x / 2.0][w as usize];
    assert_same(&gpu.read(dy), &x.iter().zip(&which).map(value).collect::<Vec<_>>());
}

fn virtual_calls(gpu: &mut Gpu) {
    let n = gpu.len(200);
    let x = gpu.random::<f32>(n);
    let (dx, area, corners) = (gpu.upload(&x), gpu.uninit::<f32>(n), gpu.uninit::<i32>(n));
    gpu.launch("virtual_calls", n.div_ceil(32) as u32, 32, args![dx, area, corners, n as i32]);
    let value = |i: usize| if i.is_multiple_of(3) { 3.0 * x[i] * x[i] } else { x[i] * 2.0 };
    assert_same(&gpu.read(area), &(0..n).map(value).collect::<Vec<_>>());
    assert_same(&gpu.read(corners), &(0..n).map(|i| if i % 3 == 0 { 0 } else { 4 }).collect::<Vec<_>>());
}

fn exit_before_barrier(gpu: &mut Gpu) {
    for keep in [1, 31, 64, 100, 256] {
        let x = gpu.random::<i32>(256);
        let (dx, dy) = (gpu.upload(&x), gpu.zeros::<i32>(256));
        gpu.launch("exit_before_barrier", 1, 256, args![dx, dy, keep as i32]);
        let want: Vec<i32> = (0..256).map(|i| if i < keep { x[keep - 1 - i] } else { 0 }).collect();
        assert_same(&gpu.read(dy), &want);
    }
}

fn barrier_in_branches(gpu: &mut Gpu) {
    let x: Vec<i32> = (0..128).map(|_| gpu.rng.i32(-1000..1000)).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<i32>(128));
    gpu.launch("barrier_in_branches", 1, 128, args![dx, dy]);
    let value = |i: usize| if i < 64 { x[127 - i] * 2 } else { x[127 - i] };
    assert_same(&gpu.read(dy), &(0..128).map(value).collect::<Vec<_>>());
}

fn producer_consumer(gpu: &mut Gpu) {
    for rounds in [1, 2, 3, 10] {
        let x: Vec<f32> = (0..rounds * 64).map(|_| f32::from(gpu.rng.i8(..))).collect();
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(64));
        gpu.launch("producer_consumer", 1, 128, args![dx, dy, rounds as i32]);
        let sum = |t: usize| (0..rounds).map(|r| f64::from(x[r * 64 + 63 - t]) * 2.0).sum();
        assert_close(&gpu.read(dy), &(0..64).map(sum).collect::<Vec<_>>(), 0.0, 0.0);
    }
}

fn barrier_votes(gpu: &mut Gpu) {
    for (low, high) in [(-5, 5), (1, 3), (-3, 1)] {
        let x: Vec<i32> = (0..64).map(|_| gpu.rng.i32(low..high)).collect();
        let (dx, out) = (gpu.upload(&x), gpu.uninit::<[i32; 3]>(64));
        gpu.launch("barrier_votes", 1, 128, args![dx, out]);
        let positive = x.iter().filter(|&&x| x > 0).count();
        let want = [positive as i32, (positive == 64).into(), (positive < 64).into()];
        assert_same(&gpu.read(out), &[want; 64]);
    }
}

fn bisect(gpu: &mut Gpu) {
    let (length, n) = (gpu.len(300), gpu.len(200));
    let mut sorted: Vec<f32> = (0..length).map(|i| i as f32 + gpu.rng.f32() / 2.0).collect();
    sorted.dedup();
    let x: Vec<f32> = (0..n)
        .map(|_| if gpu.rng.bool() { sorted[gpu.rng.usize(..length)] } else { gpu.rng.f32() * length as f32 })
        .collect();
    let (ds, dx, at) = (gpu.upload(&sorted), gpu.upload(&x), gpu.uninit::<i32>(n));
    gpu.launch("bisect", n.div_ceil(32) as u32, 32, args![ds, length as i32, dx, at, n as i32]);
    let place =
        |x: &f32| sorted.binary_search_by(|v| v.total_cmp(x)).map_or_else(|i| !(i as i32), |i| i as i32);
    assert_same(&gpu.read(at), &x.iter().map(place).collect::<Vec<_>>());
}

fn queens(gpu: &mut Gpu) {
    for (n, want) in [(4, 2), (5, 10), (6, 4), (7, 40)] {
        let solutions = gpu.zeros::<u32>(1);
        gpu.launch("queens", 1, 32, args![n, solutions]);
        assert_same(&gpu.read(solutions), &[want]);
    }
}
