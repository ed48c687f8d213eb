//! Reductions over ranks: element by element, in the order of the ranks, in the arithmetic of the
//! element type. Shorter floating-point types are computed in f32 and rounded once.

use half::{bf16, f16};
use tfrt_device::hal::ReduceOp;
use tfrt_host::DType;

/// An element type, and the type it is computed in.
trait Number: bytemuck::Pod {
    type Wide: Copy;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn combine(op: ReduceOp, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns the sum of `count` elements divided by their number.
    fn average(sum: Self::Wide, count: usize) -> Self::Wide;
}

macro_rules! floats {
    ($($type:ty as $wide:ty: $widen:expr, $narrow:expr;)*) => {$(
        impl Number for $type {
            type Wide = $wide;
            fn widen(self) -> $wide {
                $widen(self)
            }
            fn narrow(wide: $wide) -> Self {
                $narrow(wide)
            }
            fn combine(op: ReduceOp, a: $wide, b: $wide) -> $wide {
                match op {
                    ReduceOp::Sum | ReduceOp::Average => a + b,
                    ReduceOp::Product => a * b,
                    ReduceOp::Maximum => a.max(b),
                    ReduceOp::Minimum => a.min(b),
                }
            }
            fn average(sum: $wide, count: usize) -> $wide {
                sum / count as $wide
            }
        }
    )*};
}
floats! {
    f32 as f32: std::convert::identity, std::convert::identity;
    f64 as f64: std::convert::identity, std::convert::identity;
    f16 as f32: f16::to_f32, f16::from_f32;
    bf16 as f32: bf16::to_f32, bf16::from_f32;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            type Wide = $type;
            fn widen(self) -> $type {
                self
            }
            fn narrow(wide: $type) -> Self {
                wide
            }
            fn combine(op: ReduceOp, a: $type, b: $type) -> $type {
                match op {
                    ReduceOp::Sum | ReduceOp::Average => a.wrapping_add(b),
                    ReduceOp::Product => a.wrapping_mul(b),
                    ReduceOp::Maximum => a.max(b),
                    ReduceOp::Minimum => a.min(b),
                }
            }
            fn average(sum: $type, count: usize) -> $type {
                // If the type cannot represent the number of ranks, the mean is zero.
                <$type>::try_from(count).map_or(0, |count| sum / count)
            }
        }
    )*};
}
integers!(i8, u8, i32, u32, i64, u64);

fn reduce_as<T: Number>(op: ReduceOp, parts: &[&[u8]], target: &mut [u8]) {
    let size = size_of::<T>();
    for (index, target) in target.chunks_exact_mut(size).enumerate() {
        let at = index * size..(index + 1) * size;
        let numbers = parts.iter().map(|part| bytemuck::pod_read_unaligned::<T>(&part[at.clone()]).widen());
        let Some(mut result) = numbers.reduce(|a, b| T::combine(op, a, b)) else { return };
        if op == ReduceOp::Average {
            result = T::average(result, parts.len());
        }
        target.copy_from_slice(bytemuck::bytes_of(&T::narrow(result)));
    }
}

/// Reduces the parts, which are as long as `target`, into it.
pub(super) fn reduce(op: ReduceOp, dtype: DType, parts: &[&[u8]], target: &mut [u8]) {
    match dtype {
        DType::F32 => reduce_as::<f32>(op, parts, target),
        DType::F64 => reduce_as::<f64>(op, parts, target),
        DType::F16 => reduce_as::<f16>(op, parts, target),
        DType::BF16 => reduce_as::<bf16>(op, parts, target),
        DType::I8 => reduce_as::<i8>(op, parts, target),
        DType::UI8 => reduce_as::<u8>(op, parts, target),
        DType::I32 => reduce_as::<i32>(op, parts, target),
        DType::UI32 => reduce_as::<u32>(op, parts, target),
        DType::I64 => reduce_as::<i64>(op, parts, target),
        DType::UI64 => reduce_as::<u64>(op, parts, target),
        // The front allows no other types.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced<T: Number>(op: ReduceOp, dtype: DType, parts: &[&[T]]) -> Vec<T> {
        let bytes: Vec<&[u8]> = parts.iter().map(|part| bytemuck::cast_slice(part)).collect();
        let mut target = vec![0; bytes[0].len()];
        reduce(op, dtype, &bytes, &mut target);
        bytemuck::pod_collect_to_vec(&target)
    }

    #[test]
    fn each_operation_on_each_kind_of_number() {
        use ReduceOp::{Average, Maximum, Minimum, Product, Sum};
        let floats: [&[f32]; 3] = [&[1.0, -2.0], &[4.0, 8.0], &[2.0, 0.5]];
        let expected =
            [(Sum, [7.0, 6.5]), (Product, [8.0, -8.0]), (Maximum, [4.0, 8.0]), (Minimum, [1.0, -2.0])];
        for (op, expected) in expected {
            assert_eq!(reduced(op, DType::F32, &floats), expected, "{op:?}");
        }
        assert_eq!(reduced(Average, DType::I32, &[&[-7i32, 9], &[2, 2]]), [-2, 5]);
        assert_eq!(reduced(Sum, DType::UI8, &[&[200u8], &[100]]), [44]);
        // Rounded once, not at each step: 2048 + 1 + 1 is 2050 in f16, while 2048 + 1 is 2048.
        let halves = [2048.0, 1.0, 1.0].map(|value| [f16::from_f32(value)]);
        let halves: Vec<&[f16]> = halves.iter().map(<[f16; 1]>::as_slice).collect();
        assert_eq!(reduced(Sum, DType::F16, &halves), [f16::from_f32(2050.0)]);
    }
}
