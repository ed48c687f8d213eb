//! How fast attention is, of shapes that `ci/gpu/torch_side.py` measures, too.

use tfrt_device::front::{Attention, AttentionRows};
use tfrt_device::hal::AttentionExtents;
use tfrt_host::DType;
use tfrt_launch::attention_scratch_bytes;

use super::throughput::randomize;
use super::{Bench, Outcome, Report};

/// A call, by the name that both sides report. Rows of heads lie side by side, as a projection gives
/// them.
struct Case {
    name: &'static str,
    dtype: DType,
    extents: AttentionExtents,
    is_causal: bool,
}

const fn extents(batch: u64, heads: u64, shared: u64, rows: u64, keys: u64, size: u64) -> AttentionExtents {
    AttentionExtents { batch, heads, shared, rows, keys, depth: size, size }
}

const CASES: &[Case] = &[
    Case {
        name: "attention, ViT-B, 64 images, f32",
        dtype: DType::F32,
        extents: extents(64, 12, 1, 197, 197, 64),
        is_causal: false,
    },
    Case {
        name: "attention, ViT-B, 64 images, f16",
        dtype: DType::F16,
        extents: extents(64, 12, 1, 197, 197, 64),
        is_causal: false,
    },
    Case {
        name: "attention, prompt of 4096, f16",
        dtype: DType::F16,
        extents: extents(1, 32, 4, 4096, 4096, 128),
        is_causal: true,
    },
    Case {
        name: "attention, a token after 4096, f16",
        dtype: DType::F16,
        extents: extents(1, 32, 4, 1, 4096, 128),
        is_causal: false,
    },
    Case {
        name: "attention, 32 tokens after 4096, f16",
        dtype: DType::F16,
        extents: extents(32, 32, 4, 1, 4096, 128),
        is_causal: false,
    },
];

/// Reports the arithmetic of each call in a second. Half of it counts where rows see their past.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Outcome {
    for case in CASES {
        let mut extents = case.extents;
        if bench.short {
            extents = AttentionExtents { batch: 1, rows: extents.rows.min(20), keys: 20, ..extents };
        }
        let AttentionExtents { batch, heads, shared, rows, keys, size, .. } = extents;
        let element = case.dtype.size().unwrap_or(0) as u64;
        let room = |rows: u64, heads: u64| {
            let count = batch * rows * heads * size;
            let buffer = bench.allocate(count * element)?;
            randomize(bench, case.dtype, &buffer, count)?;
            Outcome::Ok(buffer)
        };
        let key_heads = heads / shared;
        let (q, k, v, y) =
            (room(rows, heads)?, room(keys, key_heads)?, room(keys, key_heads)?, room(rows, heads)?);
        let packed = |buffer, rows, heads| AttentionRows {
            buffer,
            strides: [rows * heads * size, size, heads * size],
        };
        let attention = Attention {
            dtype: case.dtype,
            extents,
            output: packed(&y, rows, heads),
            queries: packed(&q, rows, heads),
            keys: packed(&k, keys, key_heads),
            values: packed(&v, keys, key_heads),
            mask: None,
            lengths: None,
            causal: case.is_causal.then(|| keys - rows),
            scale: 1.0 / (size as f32).sqrt(),
            cap: 0.0,
        };
        let scratch = bench.allocate(attention_scratch_bytes(&extents).max(4))?;
        let seconds = bench
            .device_seconds(|| Ok(bench.kernels.attention(&bench.stream, &attention, Some(&scratch))?))?;
        let products = 4 * batch * heads * rows * keys * size;
        let operations = if case.is_causal { products / 2 } else { products };
        report.add(case.name, operations as f64 / seconds / 1e12, "TFLOP/s");
    }
    Ok(())
}
