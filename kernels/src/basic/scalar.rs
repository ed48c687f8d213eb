//! What the kernels of all scalar types have in common.

use std::fmt::Display;

use half::{bf16, f16};
use tfrt_host::{Attr, AttributeType, Chain, ExecutionContext, KernelRegistry, Rest, Value};

use tfrt_host::text::format_fixed;

/// A scalar type of the runtime.
pub(super) trait Scalar:
    Value + Copy + PartialOrd + for<'f> AttributeType<Borrowed<'f> = Self>
{
    /// The value in front of which print kernels put [`Scalar::LABEL`].
    fn printed(self) -> impl Display;
    /// What print kernels call the type.
    const LABEL: &'static str;
}

macro_rules! scalars {
    ($($type:ty, $label:literal, |$value:ident| $printed:expr;)*) => {$(
        impl Scalar for $type {
            const LABEL: &'static str = $label;
            fn printed(self) -> impl Display {
                let $value = self;
                $printed
            }
        }
    )*};
}

scalars! {
    bool, "int1", |value| u8::from(value);
    i8, "int8", |value| value;
    i16, "int16", |value| value;
    i32, "int32", |value| value;
    i64, "int64", |value| value;
    u8, "uint8", |value| value;
    u16, "uint16", |value| value;
    u32, "uint32", |value| value;
    u64, "uint64", |value| value;
    f16, "f16", |value| format_fixed(value.to_f64());
    bf16, "bf16", |value| format_fixed(value.to_f64());
    f32, "f32", |value| format_fixed(f64::from(value));
    f64, "f64", |value| format_fixed(value);
}

/// `tfrt.<operation>.<type>`.
pub(super) fn name<T: Value>(operation: &str) -> String {
    format!("tfrt.{operation}.{}", T::TYPE_NAME)
}

/// Adds the kernels every scalar type has.
pub(super) fn register<T: Scalar>(registry: &mut KernelRegistry) {
    for operation in ["constant", "constant_s"] {
        registry.add(name::<T>(operation), |value: Attr<'_, T>| value.0).doc("The attribute's value.");
    }
    registry
        .add(name::<T>("print"), |value: T, _chain: Chain, cx: &ExecutionContext| {
            cx.host().print(format_args!("{} = {}\n", T::LABEL, value.printed()));
            Chain
        })
        .side_effecting()
        .doc("Prints the value on a line of its own, after its type.");
    compare::<T>(registry);
}

/// Adds the comparisons. Each takes further chains, which only order it.
fn compare<T: Scalar>(registry: &mut KernelRegistry) {
    registry
        .add(name::<T>("equal"), |a: T, b: T, _order: Rest<'_, Chain>| a == b)
        .doc("Whether the values are equal. Further chains only order the kernel.");
    registry
        .add(name::<T>("notequal"), |a: T, b: T, _order: Rest<'_, Chain>| a != b)
        .doc("Whether the values differ. Further chains only order the kernel.");
    registry
        .add(name::<T>("less"), |a: T, b: T, _order: Rest<'_, Chain>| a < b)
        .doc("Whether the first value is less than the second. Further chains only order the kernel.");
    registry
        .add(name::<T>("lessequal"), |a: T, b: T, _order: Rest<'_, Chain>| a <= b)
        .doc("Whether the first value is at most the second. Further chains only order the kernel.");
}

/// Adds the smaller and the larger of two values. Where a float is not a number the first value is
/// the result.
pub(super) fn register_order<T: Scalar>(registry: &mut KernelRegistry) {
    registry
        .add(name::<T>("minimum"), |a: T, b: T| if b < a { b } else { a })
        .doc("The smaller of two values; the first if they are equal or not ordered.");
    registry
        .add(name::<T>("maximum"), |a: T, b: T| if a < b { b } else { a })
        .doc("The larger of two values; the first if they are equal or not ordered.");
}
