//! The smallest matrix products.

use half::f16;

use super::{kernel, run};

/// `D = A · B + C` for four products of 8 × 8 × 4, of which each lane has what the manual's tables
/// say.
fn quads(a_rows: bool, b_rows: bool, single: bool) {
    let word = |rows: bool| if rows { "row" } else { "col" };
    let (ty, count) = if single { ("f32", 8) } else { ("f16", 4) };
    let registers = |first: usize| {
        let prefix = if single { "%f" } else { "%r" };
        (first..first + count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>().join(", ")
    };
    let mut body = String::from("mul.wide.u32 %rd1, %r0, 80; add.s64 %rd1, %rd0, %rd1;");
    for index in 0..4 {
        body += &format!("ld.global.b32 %r{}, [%rd1+{}];", 20 + index, 4 * index);
    }
    for index in 0..count {
        let register = if single { "%f" } else { "%r" };
        body += &format!("ld.global.b32 {register}{}, [%rd1+{}];", 1 + index, 16 + 4 * index);
    }
    body += &format!(
        "mma.sync.aligned.m8n8k4.{}.{}.{ty}.f16.f16.{ty} {{{}}}, {{%r20, %r21}}, {{%r22, %r23}}, {{{}}};",
        word(a_rows),
        word(b_rows),
        registers(10),
        registers(1)
    );
    for index in 0..count {
        let register = if single { "%f" } else { "%r" };
        body += &format!("st.global.b32 [%rd1+{}], {register}{};", 48 + 4 * index, 10 + index);
    }
    let (a, b, c) =
        (|q, i, k| (q + 2 * i + 3 * k) as f32, |q, k, j| (q * k + j) as f32, |q, i, j| (q + i * j) as f32);
    // The tables of the manual: the row of A, the column of B, row and column of C, by lane and
    // element.
    let upper = |lane: usize| if lane < 16 { 0 } else { 4 };
    let place_a = |lane: usize, e: usize| {
        if a_rows { (lane % 4 + upper(lane), e) } else { (e + upper(lane), lane % 4) }
    };
    let place_b = |lane: usize, e: usize| {
        if b_rows { (lane % 4, e + upper(lane)) } else { (e, lane % 4 + upper(lane)) }
    };
    let place_c = |lane: usize, e: usize| {
        if single {
            ((lane & 1) + (e & 2) + upper(lane), (e & 4) + (lane & 2) + (e & 1))
        } else {
            (lane % 4 + upper(lane), e)
        }
    };
    let quad = |lane: usize| lane % 16 / 4;
    let half = |value: f32| u32::from(f16::from_f32(value).to_bits());
    let pack = |low: f32, high: f32| half(low) | half(high) << 16;
    let mut words = vec![0u32; 32 * 20];
    for (lane, words) in words.chunks_exact_mut(20).enumerate() {
        let q = quad(lane);
        for pair in 0..2 {
            let ([a0, a1], [b0, b1]) = (
                [0, 1].map(|e| place_a(lane, 2 * pair + e)).map(|(i, k)| a(q, i, k)),
                [0, 1].map(|e| place_b(lane, 2 * pair + e)).map(|(k, j)| b(q, k, j)),
            );
            words[pair] = pack(a0, a1);
            words[2 + pair] = pack(b0, b1);
        }
        let value = |e: usize| c(q, place_c(lane, e).0, place_c(lane, e).1);
        for index in 0..count {
            words[4 + index] =
                if single { value(index).to_bits() } else { pack(value(2 * index), value(2 * index + 1)) };
        }
    }
    let after = run::<32>(&kernel(&body), &words);
    for (lane, words) in after.chunks_exact(20).enumerate() {
        let q = quad(lane);
        let expected = |e: usize| {
            let (i, j) = place_c(lane, e);
            c(q, i, j) + (0..4).map(|k| a(q, i, k) * b(q, k, j)).sum::<f32>()
        };
        for index in 0..count {
            let wanted = if single {
                expected(index).to_bits()
            } else {
                pack(expected(2 * index), expected(2 * index + 1))
            };
            assert_eq!(
                words[12 + index],
                wanted,
                "lane {lane}, register {index}, {a_rows} {b_rows} {single}"
            );
        }
    }
}

#[test]
fn products_of_quads() {
    const LAYOUTS: [(bool, bool); 4] = [(true, false), (true, true), (false, true), (false, false)];
    for (a_rows, b_rows) in LAYOUTS.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
        quads(a_rows, b_rows, true);
        quads(a_rows, b_rows, false);
    }
}

/// `atom.add.f32` flushes subnormals on global memory and keeps them on shared memory, also by
/// generic addresses.
#[test]
fn subnormal_sums_depend_on_the_memory() {
    let module = kernel(
        "mov.f32 %f1, 0f00000001;
         mov.u64 %rd1, buffer;
         cvta.shared.u64 %rd1, %rd1;
         mov.u32 %r1, 0;
         st.u32 [%rd1], %r1;
         atom.add.f32 %f2, [%rd1], %f1;
         ld.u32 %r2, [%rd1];
         atom.add.f32 %f2, [%rd0+4], %f1;
         st.global.u32 [%rd0], %r2;",
    );
    assert_eq!(run::<1>(&module, &[7, 0]), [1, 0]);
}
