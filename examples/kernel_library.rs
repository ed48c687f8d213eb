//! A kernel library: a shared object whose kernels any program may use.
//!
//! ```text
//! cargo build --example kernel_library
//! tfrt run --kernels target/debug/examples/libkernel_library.so program.mlir
//! ```
//!
//! It is built by the same compiler as the tools that load it; they check.

use tfrt_host::{Attr, Diagnostic, KernelRegistry, value_type};

/// A value type of the library's own.
#[derive(Clone)]
struct Fraction {
    numerator: i64,
    denominator: i64,
}
value_type!(Fraction, "!example.fraction");

fn make(numerator: i64, denominator: i64) -> Result<Fraction, Diagnostic> {
    if denominator == 0 {
        return Err(Diagnostic::invalid_argument("a fraction's denominator is zero"));
    }
    Ok(Fraction { numerator, denominator })
}

fn add(a: Fraction, b: Fraction) -> Result<Fraction, Diagnostic> {
    let parts = a.numerator.checked_mul(b.denominator).zip(b.numerator.checked_mul(a.denominator));
    let numerator = parts.and_then(|(a, b)| a.checked_add(b));
    let denominator = a.denominator.checked_mul(b.denominator);
    let (numerator, denominator) = numerator.zip(denominator).ok_or("the sum of the fractions overflows")?;
    make(numerator, denominator)
}

fn register(registry: &mut KernelRegistry) {
    registry.add("example.fraction", make).doc("A fraction of two i64.");
    registry.add("example.fraction.add", add).doc("The sum of two fractions, not reduced.");
    registry.add("example.fraction.describe", |f: Fraction| format!("{}/{}", f.numerator, f.denominator));
    registry.add("example.greeting", |name: Attr<str>| format!("hello, {}", name.0)).attributes(&["name"]);
}

tfrt_host::kernel_library!(register);
