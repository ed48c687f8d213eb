//! Scalar kernels.

use half::{bf16, f16};
use tfrt_host::{AsyncValue, BefFile, Value, bef::Attribute};

use crate::support::{Host, Program, With, int, message, run};

/// A program whose `main` applies a kernel of one result to two arguments.
fn binary(kernel: &str, argument: &str, result: &str) -> std::sync::Arc<BefFile> {
    let mut p = Program::new();
    p.function("main", &[argument, argument], |f| {
        let arguments = f.parameters.clone();
        f.with(kernel, &arguments, &[result], With::default())
    });
    p.load()
}

fn apply<A: Value, R: Value + Copy>(kernel: &str, a: A, b: A) -> R {
    let name = format!("{kernel}.{}", A::TYPE_NAME);
    let program = binary(&name, A::TYPE_NAME, R::TYPE_NAME);
    let results = Host::new("s").run(&program, "main", vec![AsyncValue::new(a), AsyncValue::new(b)]);
    *results[0].get::<R>().expect("a result of the right type")
}

#[test]
fn integers_wrap() {
    assert_eq!(apply::<_, i32>("tfrt.add", i32::MAX, 1), i32::MIN);
    assert_eq!(apply::<_, u8>("tfrt.minus", 3u8, 5), 254);
    assert_eq!(apply::<_, i64>("tfrt.mul", i64::MIN, -1), i64::MIN);
    assert_eq!(apply::<_, i8>("tfrt.rem", i8::MIN, -1), 0);
    assert_eq!(apply::<_, u64>("tfrt.add_s", u64::MAX, 2), 1);
}

#[test]
fn values_are_ordered() {
    assert!(apply::<_, bool>("tfrt.less", u32::MAX - 1, u32::MAX));
    assert!(!apply::<_, bool>("tfrt.less", -1i16, -1));
    assert!(apply::<_, bool>("tfrt.lessequal", -1i16, -1));
    assert!(apply::<_, bool>("tfrt.notequal", f64::NAN, f64::NAN));
    assert_eq!(apply::<_, i32>("tfrt.minimum", 3, -4), -4);
    assert_eq!(apply::<_, f32>("tfrt.maximum", 3.0f32, 4.5), 4.5);
    assert_eq!(apply::<_, f32>("tfrt.minimum", 3.0f32, f32::NAN), 3.0);
}

#[test]
fn bits_combine() {
    assert_eq!(apply::<_, u16>("tfrt.and", 0b1100u16, 0b1010), 0b1000);
    assert_eq!(apply::<_, u16>("tfrt.or", 0b1100u16, 0b1010), 0b1110);
    assert_eq!(apply::<_, u16>("tfrt.xor", 0b1100u16, 0b1010), 0b0110);
    assert!(!apply::<_, bool>("tfrt.and", true, false));
}

#[test]
fn floats_compute_in_their_own_precision() {
    assert_eq!(apply::<_, f64>("tfrt.div", 1.0f64, 4.0), 0.25);
    assert_eq!(apply::<_, f32>("tfrt.multiply", 1.5f32, 4.0), 6.0);
    assert_eq!(apply::<_, f16>("tfrt.add", f16::from_f32(2048.0), f16::ONE), f16::from_f32(2048.0));
    assert_eq!(apply::<_, bf16>("tfrt.minus", bf16::from_f32(3.0), bf16::ONE), bf16::from_f32(2.0));
    assert_eq!(apply::<_, f32>("tfrt.rem", -7.5f32, 2.0), -1.5);
}

#[test]
fn division_by_zero_is_an_error_at_its_place() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let (one, zero) = (f.i32(1), f.i32(0));
        let wide = f.attribute("tfrt.constant.f64", Attribute::scalar(0.0f64), "f64");
        let mut results = f.with("tfrt.div.i32", &[one, zero], &["i32", "i32"], With::default());
        results.push(f.op("tfrt.rem.i32", &[one, zero], "i32"));
        results.push(f.op("tfrt.div.f64", &[wide, wide], "f64"));
        results
    });
    run(p, |results, _| {
        for (result, line) in results.iter().zip([4, 4, 5, 6]) {
            assert_eq!(message(result), "Divide by zero");
            let error = result.error().expect("an error");
            assert_eq!(error.location.as_ref().map(|location| location.line), Some(line));
        }
    });
}

#[test]
fn division_gives_quotient_and_remainder() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let (a, b) = (f.i32(-7), f.i32(2));
        f.with("tfrt.div.i32", &[a, b], &["i32", "i32"], With::default())
    });
    run(p, |results, _| assert_eq!((int(&results[0]), int(&results[1])), (-3, -1)));
}

fn cast<A: Value, R: Value + Copy>(value: A) -> R {
    let mut p = Program::new();
    p.function("main", &[A::TYPE_NAME], |f| {
        let name = format!("tfrt.cast.{}_to_{}", A::TYPE_NAME, R::TYPE_NAME);
        vec![f.op(&name, &[f.parameters[0]], R::TYPE_NAME)]
    });
    let results = Host::new("s").run(&p.load(), "main", vec![AsyncValue::new(value)]);
    *results[0].get::<R>().expect("a result of the right type")
}

#[test]
fn casts_cut_round_and_saturate() {
    assert_eq!(cast::<i64, i8>(0x1ff), -1);
    assert_eq!(cast::<i8, u64>(-1), u64::MAX);
    assert_eq!(cast::<f64, i64>(255.999), 255);
    assert_eq!(cast::<f32, i32>(f32::NAN), 0);
    assert_eq!(cast::<f32, u8>(1e9), 255);
    assert_eq!(cast::<u64, f32>(u64::MAX), 18_446_744_073_709_551_616.0);
    assert_eq!(cast::<i64, f32>(16_777_217), 16_777_216.0);
    assert_eq!(cast::<f64, f16>(1e9), f16::INFINITY);
    assert!(cast::<f32, bool>(0.5));
    assert_eq!(cast::<bool, f64>(true), 1.0);
}

#[test]
fn values_print_as_in_c() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let values = [
            ("i1", Attribute::Data(tfrt_host::bef::DType::I1, vec![1])),
            ("i8", Attribute::scalar(-1i8)),
            ("i32", Attribute::scalar(42i32)),
            ("i64", Attribute::scalar(i64::MIN)),
            ("ui8", Attribute::scalar(255u8)),
            ("ui64", Attribute::scalar(u64::MAX)),
            ("f32", Attribute::scalar(1.0f32)),
            ("f64", Attribute::scalar(-0.347_354)),
        ];
        let mut chain = f.chain();
        for (name, value) in values {
            let value = f.attribute(&format!("tfrt.constant.{name}"), value, name);
            chain = f.op(&format!("tfrt.print.{name}"), &[value, chain], "!tfrt.chain");
        }
        vec![chain]
    });
    run(p, |_, printed| {
        let expected = "int1 = 1\nint8 = -1\nint32 = 42\nint64 = -9223372036854775808\nuint8 = 255\n\
                        uint64 = 18446744073709551615\nf32 = 1.000000\nf64 = -0.347354\n";
        assert_eq!(printed, expected);
    });
}

#[test]
fn chains_merge_and_order() {
    let mut p = Program::new();
    p.function("main", &[], |f| {
        let chains = [f.chain(), f.chain()];
        let merged = f.op("tfrt.merge.chains", &chains, "!tfrt.chain");
        let one = f.i32(1);
        let alias = f.op("tfrt.alias.value", &[merged, one], "i32");
        let compared = f.op("tfrt.lessequal.i32", &[alias, one, merged], "i1");
        vec![alias, compared]
    });
    run(p, |results, _| {
        assert_eq!(int(&results[0]), 1);
        assert_eq!(results[1].get(), Some(&true));
    });
}
