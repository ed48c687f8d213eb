//! Functions of elements.

use half::{bf16, f16};
use tfrt_host::DType;
use tfrt_launch::{Activation, Affine, Binary, Bitwise, Broadcast, Comparison, Unary};

use super::{Random, assert_close, device, widened};

/// Around the sizes of packs and blocks.
const LENGTHS: &[usize] = &[0, 1, 3, 4, 7, 8, 17, 255, 1029];

fn erf(x: f64) -> f64 {
    // The series for small arguments, the continued fraction for large ones.
    if x.abs() < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..60 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut fraction = x.abs();
    for n in (1..60).rev() {
        fraction = x.abs() + f64::from(n) / 2.0 / fraction;
    }
    (1.0 - (-x * x).exp() / (fraction * std::f64::consts::PI.sqrt())) * x.signum()
}

/// The logarithm of the gamma function of a positive number: Stirling's series, after a shift to
/// where it is good.
fn lgamma(x: f64) -> f64 {
    let (mut shifted, mut product) = (x, 1.0);
    while shifted < 10.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let square = shifted * shifted;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / shifted;
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * std::f64::consts::TAU.ln() + series - product.ln()
}

fn reference(function: Unary, x: f32) -> f32 {
    let wide = f64::from(x);
    let sigmoid = 1.0 / (1.0 + (-wide).exp());
    let tanh_gelu =
        || 0.5 * wide * (1.0 + (0.797_884_560_802_865_4 * (wide + 0.044715 * wide.powi(3))).tanh());
    let result = match function {
        Unary::Neg => -wide,
        Unary::Abs => wide.abs(),
        Unary::Sign if x == 0.0 || x.is_nan() => wide,
        Unary::Sign => wide.signum(),
        Unary::Square => wide * wide,
        Unary::Sqrt => wide.sqrt(),
        Unary::Rsqrt => 1.0 / wide.sqrt(),
        Unary::Reciprocal => 1.0 / wide,
        Unary::Exp => wide.exp(),
        Unary::Expm1 => wide.exp_m1(),
        Unary::Log => wide.ln(),
        Unary::Log1p => wide.ln_1p(),
        Unary::Sin => wide.sin(),
        Unary::Cos => wide.cos(),
        Unary::Tan => wide.tan(),
        Unary::Asin => wide.asin(),
        Unary::Acos => wide.acos(),
        Unary::Atan => wide.atan(),
        Unary::Sinh => wide.sinh(),
        Unary::Cosh => wide.cosh(),
        Unary::Tanh => wide.tanh(),
        Unary::Asinh => wide.asinh(),
        Unary::Acosh => wide.acosh(),
        Unary::Atanh => wide.atanh(),
        Unary::Erfc => 1.0 - erf(wide),
        Unary::Lgamma => lgamma(wide),
        Unary::Softsign => wide / (1.0 + wide.abs()),
        Unary::Elu if x < 0.0 => wide.exp_m1(),
        Unary::Elu => wide,
        Unary::Selu if x < 0.0 => 1.758_099_340_847_376_6 * wide.exp_m1(),
        Unary::Selu => 1.050_700_987_355_480_5 * wide,
        Unary::Erf => erf(wide),
        Unary::Floor => wide.floor(),
        Unary::Ceil => wide.ceil(),
        Unary::Round => wide.round_ties_even(),
        Unary::Relu if x.is_nan() => wide,
        Unary::Relu => wide.max(0.0),
        Unary::Relu6 => wide.clamp(0.0, 6.0),
        Unary::Sigmoid => sigmoid,
        Unary::Silu => wide * sigmoid,
        Unary::Softplus => wide.max(0.0) + (-wide.abs()).exp().ln_1p(),
        Unary::Gelu => 0.5 * wide * (1.0 + erf(wide / std::f64::consts::SQRT_2)),
        Unary::GeluTanh => tanh_gelu(),
    };
    result as f32
}

/// Where the function is defined, and its slope is not so steep that rounding shows.
fn range(function: Unary) -> (f32, f32) {
    match function {
        Unary::Sqrt | Unary::Rsqrt | Unary::Reciprocal | Unary::Log | Unary::Log1p => (0.01, 8.0),
        Unary::Lgamma => (0.1, 8.0),
        Unary::Acosh => (1.0, 8.0),
        Unary::Asin | Unary::Acos | Unary::Atanh => (-0.9, 0.9),
        Unary::Tan => (-1.5, 1.5),
        _ => (-8.0, 8.0),
    }
}

#[test]
fn functions_of_one_element() {
    let (d, mut random) = (device(), Random::new(1));
    for &function in Unary::ALL {
        let (low, high) = range(function);
        for &n in &[5usize, 1029] {
            let x = random.f32s(n, low, high);
            let (dx, dy) = (d.upload(&x), d.room::<f32>(n));
            d.kernels.unary(&d.stream, function, DType::F32, &dy, &dx, n as u64).unwrap();
            let expected: Vec<_> = x.iter().map(|&x| reference(function, x)).collect();
            assert_close(&d.download::<f32>(&dy, n), &expected, 2e-6);

            // In place.
            let x = random.halves(n, low, high.min(4.0));
            let dx = d.upload(&x);
            d.kernels.unary(&d.stream, function, DType::F16, &dx, &dx, n as u64).unwrap();
            let expected: Vec<_> = x.iter().map(|x| reference(function, x.to_f32())).collect();
            assert_close(&widened(&d.download::<f16>(&dx, n)), &expected, 1e-3);

            let x: Vec<f64> = random.f32s(n, low, high).into_iter().map(f64::from).collect();
            let dx = d.upload(&x);
            d.kernels.unary(&d.stream, function, DType::F64, &dx, &dx, n as u64).unwrap();
            let expected: Vec<_> = x.iter().map(|&x| reference(function, x as f32)).collect();
            let found: Vec<_> = d.download::<f64>(&dx, n).into_iter().map(|x| x as f32).collect();
            assert_close(&found, &expected, 1e-6);
        }
    }
}

#[test]
fn not_a_number_stays_one() {
    let d = device();
    let x = [f32::NAN, -0.0, f32::INFINITY, f32::NEG_INFINITY];
    let (dx, dy) = (d.upload(&x), d.room::<f32>(4));
    for function in [Unary::Relu, Unary::Sign, Unary::Sigmoid, Unary::Exp, Unary::Tanh] {
        d.kernels.unary(&d.stream, function, DType::F32, &dy, &dx, 4).unwrap();
        let expected: Vec<_> = x.iter().map(|&x| reference(function, x)).collect();
        assert_close(&d.download::<f32>(&dy, 4), &expected, 1e-6);
    }
}

fn binary(function: Binary, a: f32, b: f32) -> f32 {
    match function {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div => a / b,
        Binary::Maximum => a.max(b),
        Binary::Minimum => a.min(b),
        Binary::SquaredDifference => (a - b) * (a - b),
        Binary::Pow => a.powf(b),
        Binary::FloorDiv => (a / b).floor(),
        Binary::FloorMod => a.rem_euclid(b),
        Binary::Mod => a % b,
        Binary::TruncateDiv => (a / b).trunc(),
        Binary::DivNoNan => a / b,
        Binary::MulNoNan => a * b,
        Binary::Atan2 => a.atan2(b),
    }
}

#[test]
fn functions_of_two_elements() {
    let (d, mut random) = (device(), Random::new(2));
    for &function in Binary::ALL {
        for &n in LENGTHS {
            let (a, b) = (random.f32s(n, 0.1, 3.0), random.f32s(n, 0.1, 3.0));
            let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<f32>(n));
            let shape = Broadcast::new(&[n as u64], &[n as u64]).unwrap();
            d.kernels.binary(&d.stream, function, DType::F32, &dy, &da, &db, &shape).unwrap();
            let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| binary(function, a, b)).collect();
            assert_close(&d.download::<f32>(&dy, n), &expected, 2e-6);
        }
    }
}

/// Programs may launch the kernels that broadcast by number, so the numbers stay what they are.
#[test]
fn functions_of_two_elements_by_number() {
    let numbered = [
        "add",
        "sub",
        "mul",
        "div",
        "maximum",
        "minimum",
        "squared_difference",
        "pow",
        "floor_div",
        "floor_mod",
        "div_no_nan",
        "mul_no_nan",
        "atan2",
        "mod",
        "truncate_div",
    ];
    assert_eq!(Binary::ALL.iter().map(|function| function.name()).collect::<Vec<_>>(), numbered);
    let (d, a, b) = (device(), [2.5f32, 0.75, 1.5], [0.5f32, 2.0]);
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<f32>(6));
    let shape = Broadcast::new(&[3, 1], &[1, 2]).unwrap();
    for &function in Binary::ALL {
        d.kernels.binary(&d.stream, function, DType::F32, &dy, &da, &db, &shape).unwrap();
        let expected: Vec<_> = a.iter().flat_map(|&a| b.map(|b| binary(function, a, b))).collect();
        assert_close(&d.download::<f32>(&dy, 6), &expected, 2e-6);
    }
}

#[test]
fn integers_wrap_and_divide_by_anything() {
    let d = device();
    let a = [i32::MIN, 7, -7, i32::MAX, 5, i32::MIN, 0, 9, -5];
    let b = [-1, 2, 2, 1, 0, i32::MIN, 0, -4, 0];
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<i32>(9));
    let shape = Broadcast::new(&[9], &[9]).unwrap();
    let check = |function, reference: fn(i32, i32) -> i32| {
        d.kernels.binary(&d.stream, function, DType::I32, &dy, &da, &db, &shape).unwrap();
        let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| reference(a, b)).collect();
        assert_eq!(d.download::<i32>(&dy, 9), expected, "{function:?}");
    };
    check(Binary::Add, i32::wrapping_add);
    check(Binary::Sub, i32::wrapping_sub);
    check(Binary::Mul, i32::wrapping_mul);
    let truncated = |a: i32, b: i32| if b == 0 { 0 } else { a.wrapping_div(b) };
    check(Binary::Div, truncated);
    check(Binary::TruncateDiv, truncated);
    check(Binary::Mod, |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) });
    check(
        Binary::FloorDiv,
        |a, b| if b == 0 { 0 } else { (f64::from(a) / f64::from(b)).floor() as i64 as i32 },
    );
    check(Binary::FloorMod, |a, b| match i64::from(b) {
        0 => 0,
        b => (i64::from(a) - (a as f64 / b as f64).floor() as i64 * b) as i32,
    });
    let wide = [i64::MIN, -7, 7, -(1 << 40), i64::MIN, 5];
    let by = [-1i64, 2, -2, 3, 2, 0];
    let (da, db, dy) = (d.upload(&wide), d.upload(&by), d.room::<i64>(6));
    let shape = Broadcast::new(&[6], &[6]).unwrap();
    d.kernels.binary(&d.stream, Binary::FloorDiv, DType::I64, &dy, &da, &db, &shape).unwrap();
    assert_eq!(d.download::<i64>(&dy, 6), [i64::MIN, -4, -4, -366503875926, i64::MIN / 2, 0]);
    d.kernels.binary(&d.stream, Binary::FloorMod, DType::I64, &dy, &da, &db, &shape).unwrap();
    assert_eq!(d.download::<i64>(&dy, 6), [0, 1, -1, 2, 0, 0]);
    check(Binary::Maximum, i32::max);
    check(Binary::Minimum, i32::min);
}

/// Integers that have one kernel for all functions: each function of all pairs of a type's edges,
/// at once and repeated.
#[test]
fn integers_by_number() {
    let d = device();
    macro_rules! check {
        ($dtype:expr, $type:ty) => {{
            let edges = [<$type>::MIN, <$type>::MAX, <$type>::MAX / 2 + 1, 0, 1, 2, 7, <$type>::MAX - 6];
            let (a, b): (Vec<_>, Vec<_>) = edges.iter().flat_map(|&a| edges.map(|b| (a, b))).unzip();
            let n = a.len();
            let plain = Broadcast::new(&[n as u64], &[n as u64]).unwrap();
            let crossed = Broadcast::new(&[8, 1], &[1, 8]).unwrap();
            let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<$type>(n));
            let whole = d.upload(&edges);
            let references: &[(Binary, fn($type, $type) -> $type)] = &[
                (Binary::Add, <$type>::wrapping_add),
                (Binary::Sub, <$type>::wrapping_sub),
                (Binary::Mul, <$type>::wrapping_mul),
                (Binary::Div, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
                (Binary::Maximum, <$type>::max),
                (Binary::Minimum, <$type>::min),
                (Binary::SquaredDifference, |a, b| a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b))),
                (Binary::FloorDiv, |a, b| {
                    if b == 0 {
                        0
                    } else {
                        (i128::from(a) - floor_mod(a.into(), b.into())).wrapping_div(b.into()) as $type
                    }
                }),
                (Binary::FloorMod, |a, b| if b == 0 { 0 } else { floor_mod(a.into(), b.into()) as $type }),
                (Binary::Mod, |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
                (Binary::TruncateDiv, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
                (Binary::Pow, |a, b| match (i128::from(a), i128::from(b)) {
                    (1, _) | (_, 0) => 1,
                    (-1, _) => {
                        if b & 1 == 0 {
                            1
                        } else {
                            a
                        }
                    }
                    (_, ..0) => 0,
                    // From the exponent's highest bit to its lowest.
                    _ => (0..<$type>::BITS).rev().fold(1, |power: $type, bit| {
                        let square = power.wrapping_mul(power);
                        if b >> bit & 1 == 1 { square.wrapping_mul(a) } else { square }
                    }),
                }),
            ];
            for &(function, reference) in references {
                let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| reference(a, b)).collect();
                d.kernels.binary(&d.stream, function, $dtype, &dy, &da, &db, &plain).unwrap();
                assert_eq!(d.download::<$type>(&dy, n), expected, "{function:?} {}", $dtype);
                d.kernels.binary(&d.stream, function, $dtype, &dy, &whole, &whole, &crossed).unwrap();
                assert_eq!(d.download::<$type>(&dy, n), expected, "{function:?} {}", $dtype);
            }
            assert!(d.kernels.binary(&d.stream, Binary::Atan2, $dtype, &dy, &da, &db, &plain).is_err());

            let dz = d.room::<u8>(n);
            let references: [fn($type, $type) -> bool; 4] =
                [|a, b| a == b, |a, b| a != b, |a, b| a < b, |a, b| a <= b];
            for (&comparison, reference) in Comparison::ALL.iter().zip(references) {
                d.kernels.compare(&d.stream, comparison, $dtype, &dz, &da, &db, n as u64).unwrap();
                let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| u8::from(reference(a, b))).collect();
                assert_eq!(d.download::<u8>(&dz, n), expected, "{comparison:?} {}", $dtype);
            }

            let bits: [fn($type, $type) -> $type; 3] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b];
            for (&function, reference) in Bitwise::ALL.iter().zip(bits) {
                d.kernels.bitwise(&d.stream, function, $dtype, &dy, [&da, &db], n as u64).unwrap();
                let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| reference(a, b)).collect();
                assert_eq!(d.download::<$type>(&dy, n), expected, "{function:?} {}", $dtype);
            }

            let zero: $type = 0;
            let sign = |x: $type| if x > zero { 1 } else { zero.wrapping_sub(<$type>::from(x < zero)) };
            let references: &[(Unary, &dyn Fn($type) -> $type)] = &[
                (Unary::Neg, &|x| zero.wrapping_sub(x)),
                (Unary::Abs, &|x| x.wrapping_mul(sign(x))),
                (Unary::Sign, &sign),
                (Unary::Square, &|x| x.wrapping_mul(x)),
                (Unary::Relu, &|x| x.max(0)),
                (Unary::Relu6, &|x| x.clamp(0, 6)),
            ];
            for &(function, reference) in references {
                d.kernels.unary(&d.stream, function, $dtype, &dy, &whole, 8).unwrap();
                assert_eq!(d.download::<$type>(&dy, 8), edges.map(reference), "{function:?} {}", $dtype);
            }
            assert!(d.kernels.unary(&d.stream, Unary::Exp, $dtype, &dy, &whole, 8).is_err());
        }};
    }
    check!(DType::I8, i8);
    check!(DType::UI8, u8);
    check!(DType::I16, i16);
    check!(DType::UI16, u16);
    check!(DType::UI32, u32);
    check!(DType::UI64, u64);
}

/// What is left of a after a quotient rounded down, of b's sign.
fn floor_mod(a: i128, b: i128) -> i128 {
    ((a % b) + b) % b
}

/// One factor after the other; those with a negative exponent have their fraction cut.
#[test]
fn powers_of_integers_wrap() {
    let d = device();
    let bases = [0i64, 1, -1, 2, -2, 3, -7, 10, i64::MIN, i64::MAX];
    let exponents = [0i64, 1, 2, 3, 31, 32, 63, 64, 65, -1, -2, -3, i64::MIN];
    let (a, b): (Vec<_>, Vec<_>) = bases.iter().flat_map(|&a| exponents.map(|b| (a, b))).unzip();
    let power = |a: i64, b: i64| match (a, b) {
        (_, 0..) => (0..b).fold(1i64, |power, _| power.wrapping_mul(a)),
        (1, _) => 1,
        (-1, _) => {
            if b % 2 == 0 {
                1
            } else {
                -1
            }
        }
        _ => 0,
    };
    let (n, shape) = (a.len(), Broadcast::new(&[a.len() as u64], &[a.len() as u64]).unwrap());
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<i64>(n));
    d.kernels.binary(&d.stream, Binary::Pow, DType::I64, &dy, &da, &db, &shape).unwrap();
    let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| power(a, b)).collect();
    assert_eq!(d.download::<i64>(&dy, n), expected);
    let narrow = |x: &[i64]| x.iter().map(|&x| x as i32).collect::<Vec<_>>();
    let (a, b) = (narrow(&a), narrow(&b));
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<i32>(n));
    d.kernels.binary(&d.stream, Binary::Pow, DType::I32, &dy, &da, &db, &shape).unwrap();
    let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| power(a.into(), b.into()) as i32).collect();
    assert_eq!(d.download::<i32>(&dy, n), expected);
}

#[test]
fn shapes_are_broadcast() {
    let (d, mut random) = (device(), Random::new(3));
    let shapes: &[(&[usize], &[usize])] = &[
        (&[5, 8], &[8]),
        (&[5, 7], &[7]),
        (&[5, 8], &[5, 1]),
        (&[1], &[33]),
        (&[2, 1, 4, 1], &[3, 1, 5]),
        (&[3, 4, 1, 8], &[1, 4, 6, 1]),
        (&[0, 4], &[1, 4]),
    ];
    for &(a_shape, b_shape) in shapes {
        let wide = |shape: &[usize]| shape.iter().map(|&extent| extent as u64).collect::<Vec<_>>();
        let shape = Broadcast::new(&wide(a_shape), &wide(b_shape)).unwrap();
        let a = random.halves(a_shape.iter().product(), -2.0, 2.0);
        let b = random.halves(b_shape.iter().product(), -2.0, 2.0);
        let expected = broadcast(&widened(&a), a_shape, &widened(&b), b_shape);
        let n = shape.elements() as usize;
        assert_eq!(n, expected.len());
        let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<f16>(n));
        d.kernels.binary(&d.stream, Binary::Sub, DType::F16, &dy, &da, &db, &shape).unwrap();
        assert_close(&widened(&d.download::<f16>(&dy, n)), &expected, 1e-3);
        let (da, db, dy) = (d.upload(&widened(&a)), d.upload(&widened(&b)), d.room::<f32>(n));
        d.kernels.binary(&d.stream, Binary::Sub, DType::F32, &dy, &da, &db, &shape).unwrap();
        assert_eq!(d.download::<f32>(&dy, n), expected);
    }
}

/// a − b, element by element, by counting through the result's positions.
fn broadcast(a: &[f32], a_shape: &[usize], b: &[f32], b_shape: &[usize]) -> Vec<f32> {
    let rank = a_shape.len().max(b_shape.len());
    let padded = |shape: &[usize]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
    let (a_shape, b_shape) = (padded(a_shape), padded(b_shape));
    let extents: Vec<_> = a_shape.iter().zip(&b_shape).map(|(&x, &y)| if x == 1 { y } else { x }).collect();
    let count: usize = extents.iter().product();
    let at = |shape: &[usize], mut position: usize| {
        let (mut index, mut step) = (0, 1);
        for axis in (0..rank).rev() {
            let coordinate = position % extents[axis];
            position /= extents[axis];
            index += if shape[axis] == 1 { 0 } else { coordinate * step };
            step *= shape[axis];
        }
        index
    };
    (0..count).map(|i| a[at(&a_shape, i)] - b[at(&b_shape, i)]).collect()
}

#[test]
fn conversions() {
    let (d, mut random) = (device(), Random::new(4));
    for &n in LENGTHS {
        let x = random.f32s(n, -300.0, 300.0);
        let dx = d.upload(&x);
        macro_rules! check {
            ($dtype:expr, $type:ty, $reference:expr) => {{
                let dy = d.room::<$type>(n);
                d.kernels.cast(&d.stream, ($dtype, &dy), (DType::F32, &dx), n as u64, false).unwrap();
                let reference: fn(f32) -> $type = $reference;
                assert_eq!(d.download::<$type>(&dy, n), x.iter().map(|&x| reference(x)).collect::<Vec<_>>());
            }};
        }
        check!(DType::F16, f16, f16::from_f32);
        check!(DType::BF16, bf16, bf16::from_f32);
        check!(DType::F64, f64, f64::from);
        check!(DType::I32, i32, |x| x as i32);
        check!(DType::I64, i64, |x| x as i64);
        check!(DType::UI64, u64, |x| x as i64 as u64);
        check!(DType::I8, i8, |x| x as i32 as i8);
        check!(DType::UI8, u8, |x| x as i32 as u8);
        check!(DType::I1, u8, |x| u8::from(x != 0.0));
    }
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e9, -3e9, 1e20, -1e20, -0.5];
    let wide = special.map(f64::from);
    for (dtype, dx) in [(DType::F32, d.upload(&special)), (DType::F64, d.upload(&wide))] {
        // What does not fit is the least number.
        let (least, least_wide) = (i32::MIN, i64::MIN);
        let dy = d.room::<i32>(8);
        d.kernels.cast(&d.stream, (DType::I32, &dy), (dtype, &dx), 8, false).unwrap();
        assert_eq!(d.download::<i32>(&dy, 8), [least, least, least, least, least, least, least, 0]);
        let dy = d.room::<i64>(8);
        d.kernels.cast(&d.stream, (DType::I64, &dy), (dtype, &dx), 8, false).unwrap();
        let expected =
            [least_wide, least_wide, least_wide, 3_000_000_000, -3_000_000_000, least_wide, least_wide, 0];
        assert_eq!(d.download::<i64>(&dy, 8), expected);
        let dy = d.room::<u64>(8);
        d.kernels.cast(&d.stream, (DType::UI64, &dy), (dtype, &dx), 8, false).unwrap();
        let mut expected = expected.map(|x| x as u64);
        (expected[1], expected[5]) = (u64::MAX, u64::MAX);
        assert_eq!(d.download::<u64>(&dy, 8), expected);
        let dy = d.room::<u8>(8);
        d.kernels.cast(&d.stream, (DType::UI8, &dy), (dtype, &dx), 8, false).unwrap();
        assert_eq!(d.download::<u8>(&dy, 8), [0; 8]);
    }
    // The greatest numbers that fit.
    let large = [18_446_742_974_197_923_840.0f32, 9_223_371_487_098_961_920.0, 9_223_372_036_854_775_808.0];
    let (dx, dy) = (d.upload(&large), d.room::<u64>(3));
    d.kernels.cast(&d.stream, (DType::UI64, &dy), (DType::F32, &dx), 3, false).unwrap();
    assert_eq!(d.download::<u64>(&dy, 3), large.map(|x| x as u64));
    let dz = d.room::<f32>(3);
    d.kernels.cast(&d.stream, (DType::F32, &dz), (DType::UI64, &dy), 3, false).unwrap();
    assert_eq!(d.download::<f32>(&dz, 3), large);
    let wide = [i64::MAX, i64::MIN, 1 << 32, -1, 5];
    let (dx, dy) = (d.upload(&wide), d.room::<i32>(5));
    d.kernels.cast(&d.stream, (DType::I32, &dy), (DType::I64, &dx), 5, false).unwrap();
    assert_eq!(d.download::<i32>(&dy, 5), wide.map(|x| x as i32));
    let (wide, dz) = ([f64::from(f32::MAX) * 2.0, -1.0 - f64::EPSILON, f64::NAN], d.room::<f32>(3));
    d.kernels.cast(&d.stream, (DType::F32, &dz), (DType::F64, &d.upload(&wide)), 3, true).unwrap();
    let truncated = d.download::<f32>(&dz, 3);
    assert!(truncated[..2] == [f32::INFINITY, -1.0] && truncated[2].is_nan(), "{truncated:?}");
    let (narrow, dz) = ([1.2f32, -1.2, 1e9, -0.0], d.room::<f16>(4));
    d.kernels.cast(&d.stream, (DType::F16, &dz), (DType::F32, &d.upload(&narrow)), 4, true).unwrap();
    assert_eq!(widened(&d.download::<f16>(&dz, 4)), [1.199_218_8, -1.199_218_8, f32::INFINITY, -0.0]);
    assert!(d.kernels.cast(&d.stream, (DType::I8, &dy), (DType::F16, &dx), 5, false).is_err());
}

#[test]
fn comparisons_and_choices() {
    let d = device();
    let (a, b) = ([1.0, 2.0, f32::NAN, 4.0, -0.0f32], [1.0, 3.0, f32::NAN, 2.0, 0.0f32]);
    let (da, db, dy) = (d.upload(&a), d.upload(&b), d.room::<u8>(5));
    let references: [fn(f32, f32) -> bool; 4] = [|a, b| a == b, |a, b| a != b, |a, b| a < b, |a, b| a <= b];
    for (&comparison, reference) in Comparison::ALL.iter().zip(references) {
        d.kernels.compare(&d.stream, comparison, DType::F32, &dy, &da, &db, 5).unwrap();
        let expected: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| u8::from(reference(a, b))).collect();
        assert_eq!(d.download::<u8>(&dy, 5), expected, "{comparison:?}");
    }
    // The last was "less or equal".
    let dz = d.room::<f32>(5);
    d.kernels.select(&d.stream, DType::F32, &dz, &dy, &da, &db, 5).unwrap();
    assert_close(&d.download::<f32>(&dz, 5), &[1.0, 2.0, f32::NAN, 2.0, 0.0], 0.0);
}

#[test]
fn bias_residual_activation() {
    let (d, mut random) = (device(), Random::new(5));
    let relu6 = |x: f32| x.clamp(0.0, 6.0);
    for (rows, channels) in [(1, 1), (3, 5), (7, 8), (10, 64), (5, 33)] {
        let n = rows * channels;
        let (x, bias, residual) =
            (random.f32s(n, -5.0, 5.0), random.f32s(channels, -2.0, 2.0), random.f32s(n, -2.0, 2.0));
        let (dx, db, dr, dy) = (d.upload(&x), d.upload(&bias), d.upload(&residual), d.room::<f32>(n));
        let mut affine = Affine {
            rows: rows as u64,
            channels: channels as u64,
            residual: Some(&dr),
            activation: Activation::Relu6,
        };
        d.kernels.bias_activation(&d.stream, DType::F32, &dy, &dx, &db, affine).unwrap();
        let expected: Vec<_> = (0..n).map(|i| relu6(x[i] + bias[i % channels] + residual[i])).collect();
        assert_close(&d.download::<f32>(&dy, n), &expected, 1e-6);

        (affine.residual, affine.activation) = (None, Activation::Tanh);
        let (mean, factor) = (random.f32s(channels, -5.0, 5.0), random.f32s(channels, 0.5, 2.0));
        let (dm, df) = (d.upload(&mean), d.upload(&factor));
        d.kernels.normalize_activation(&d.stream, DType::F32, &dx, &dx, [&dm, &df, &db], affine).unwrap();
        let normalized = |i: usize, c: usize| (x[i] - mean[c]) * factor[c] + bias[c];
        let expected: Vec<_> = (0..n).map(|i| normalized(i, i % channels).tanh()).collect();
        assert_close(&d.download::<f32>(&dx, n), &expected, 2e-6);

        let x = random.halves(n, -5.0, 5.0);
        let (dx, dy) = (d.upload(&x), d.room::<f16>(n));
        affine.activation = Activation::Relu;
        d.kernels.bias_activation(&d.stream, DType::F16, &dy, &dx, &db, affine).unwrap();
        let expected: Vec<_> = (0..n).map(|i| (x[i].to_f32() + bias[i % channels]).max(0.0)).collect();
        assert_close(&widened(&d.download::<f16>(&dy, n)), &expected, 1e-3);
    }
}

#[test]
fn factors_of_batch_normalization() {
    let (d, mut random) = (device(), Random::new(6));
    let channels = 37;
    let (scale, variance) = (random.f32s(channels, -1.0, 1.0), random.f32s(channels, 0.1, 2.0));
    let (given, factor) = ([d.upload(&variance), d.upload(&scale)], d.room::<f32>(channels));
    d.kernels.normalization_factor(&d.stream, &factor, given.each_ref(), channels as u64, 1e-3).unwrap();
    let expected: Vec<_> = (0..channels).map(|c| scale[c] / (variance[c] + 1e-3).sqrt()).collect();
    assert_close(&d.download::<f32>(&factor, channels), &expected, 1e-6);
}

#[test]
fn filling_and_adding() {
    let (d, mut random) = (device(), Random::new(7));
    for &n in LENGTHS {
        let room = d.upload(&vec![0u8; n * 8 + 8]);
        for (dtype, size) in [(DType::UI8, 1), (DType::F16, 2), (DType::F32, 4), (DType::I64, 8)] {
            d.kernels.fill(&d.stream, dtype, &room, n as u64, 3.0).unwrap();
            let element: Vec<u8> = match size {
                1 => vec![3],
                2 => f16::from_f32(3.0).to_le_bytes().into(),
                4 => 3.0f32.to_le_bytes().into(),
                _ => 3i64.to_le_bytes().into(),
            };
            assert_eq!(d.download::<u8>(&room, n * size), element.repeat(n));
        }
        // Nothing is written beyond the end.
        assert_eq!(d.download::<u8>(&room, n * 8 + 8)[n * 8..], [0; 8]);
        let (x, y) = (random.f32s(n, -1.0, 1.0), random.f32s(n, -1.0, 1.0));
        let (dx, dy) = (d.upload(&x), d.upload(&y));
        d.kernels.axpy(&d.stream, DType::F32, &dy, &dx, n as u64, 0.25).unwrap();
        let expected: Vec<_> = x.iter().zip(&y).map(|(x, y)| y + 0.25 * x).collect();
        assert_close(&d.download::<f32>(&dy, n), &expected, 1e-6);
    }
}
