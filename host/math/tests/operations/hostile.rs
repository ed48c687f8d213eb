//! Absurd extents: every plan is an error or a plan, and every plan refuses slices that are too
//! short; nothing panics and nothing of that size is allocated.

use proptest::prelude::*;
use tfrt_math::{
    Activation, ArgExtreme, AvgPool, AvgPoolBackward, BatchNormBackward, BatchNormTraining, Binary, BlockOp,
    Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter, ConvBackwardInput, CrossEntropyInput, Extent2,
    Layout, MatMul, MatMulInput, MaxPool, MaxPoolBackward, PackedFilter, Pad, Padding, PoolShape, Reduce,
    ScaleShiftInput, Serial, Softmax, SparseCrossEntropy, Sum, Transpose, ops,
};

/// Extents from nothing to the limits of the type.
fn absurd() -> impl Strategy<Value = usize> {
    prop_oneof![
        0usize..4,
        Just(1 << 20),
        Just(1 << 31),
        Just(1 << 58),
        Just(isize::MAX as usize),
        (0usize..20).prop_map(|n| usize::MAX - n),
    ]
}

fn absurd_pair() -> impl Strategy<Value = Extent2> {
    (absurd(), absurd()).prop_map(|(height, width)| Extent2::new(height, width))
}

fn absurd_padding() -> impl Strategy<Value = Padding> {
    prop_oneof![
        Just(Padding::Valid),
        Just(Padding::Same),
        (absurd(), absurd(), absurd(), absurd()).prop_map(|(top, bottom, left, right)| Padding::Explicit {
            top,
            bottom,
            left,
            right
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn products(
        (m, k, n) in (absurd(), absurd(), absurd()),
        strides in prop::array::uniform6(absurd()),
        (row, matrix, batch) in (absurd(), absurd(), absurd()),
        workers in absurd(),
    ) {
        let layout = |s: &[usize]| Layout { row_stride: s[0], col_stride: s[1], batch_stride: s[2] };
        let plan = MatMul::<f32>::new(m, k, n, workers)
            .and_then(|plan| plan.batched(batch))
            .and_then(|plan| plan.operands(layout(&strides[..3]), layout(&strides[3..])));
        if let Ok(plan) = plan {
            let _ = plan.run(&Serial, MatMulInput::new(&[1.0; 9], &[1.0; 9]), &mut [0.0; 9]);
            if let Ok(plan) = plan.output(row, matrix) {
                let _ = plan.block_count();
                let _ = plan.run(&Serial, MatMulInput::new(&[1.0; 9], &[1.0; 9]), &mut [0.0; 9]);
            }
        }
    }

    #[test]
    fn windows(
        (batch, input, channels) in (absurd(), absurd_pair(), absurd()),
        (window, out_channels) in (absurd_pair(), absurd()),
        (strides, dilations, padding) in (absurd_pair(), absurd_pair(), absurd_padding()),
        (groups, workers) in (absurd(), absurd()),
    ) {
        let conv = Conv2dShape {
            batch, input, in_channels: channels, filter: window, out_channels, groups, strides, dilations, padding,
        };
        let (x, mut out) = ([1.0f32; 9], [0.0f32; 9]);
        // A filter that fits some plan, though hardly this one.
        let one = Extent2::new(1, 1);
        let small = Conv2dShape::new((1, Extent2::new(3, 3), 1), (one, 1), Padding::Valid);
        let filter = Conv2d::new(&small, Activation::None, 1).unwrap().pack_filter(&x[..1]).unwrap();
        let gradient = ConvBackwardInput::new(&small, 1).unwrap().pack_filter(&x[..1]).unwrap();
        if let Ok(plan) = Conv2d::new(&conv, Activation::None, workers) {
            let _ = plan.run(&Serial, Conv2dInput::new(&x, &filter), &mut out);
            let _ = plan.run(&Serial, Conv2dInput::new(&[], &filter), &mut []);
            let _ = plan.pack_filter(&[]);
            let _ = plan.pack_filter(&x);
        }
        if let Ok(plan) = ConvBackwardInput::new(&conv, workers) {
            let _ = plan.run(&Serial, (&x, &gradient), &mut out);
            let _ = plan.run(&Serial, (&[], &gradient), &mut out[..1]);
            let _ = plan.pack_filter(&[]);
            let _ = plan.pack_filter(&x);
        }
        if let Ok(plan) = ConvBackwardFilter::new(&conv, workers) {
            let _ = plan.run(&Serial, (&x, &x), &mut out);
            let _ = plan.run(&Serial, (&[], &[]), &mut out[..1]);
        }
        let pool = PoolShape { batch, input, channels, window, strides, padding };
        if let Ok(plan) = MaxPool::new(&pool) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = MaxPoolBackward::new(&pool) {
            let _ = plan.run(&Serial, (&x, &[0; 9]), &mut out);
        }
        if let Ok(plan) = AvgPool::new(&pool, true) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = AvgPoolBackward::new(&pool, false) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
    }

    #[test]
    fn the_rest(
        a in prop::collection::vec(absurd(), 0..4),
        b in prop::collection::vec(absurd(), 0..4),
        axis in 0usize..4,
        pads in prop::collection::vec((absurd(), absurd()), 0..4),
    ) {
        let (x, mut out) = ([1.0f32; 9], [0.0f32; 9]);
        if let Ok(plan) = Binary::new(ops::add::<f32>, &a, &b) {
            let _ = plan.run(&Serial, (&x, &x), &mut out);
        }
        if let Ok(plan) = Reduce::<f32, Sum>::new(&a, &[axis]) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = Transpose::<f32>::new(&a, &b) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = Pad::new(&a, &pads, 0.0f32) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = ArgExtreme::<f32, i64>::argmax(&a, axis) {
            let _ = plan.run(&Serial, &x, &mut [0; 9]);
        }
        let (rows, cols) = (a.first().copied().unwrap_or(1), b.first().copied().unwrap_or(1));
        if let Ok(plan) = Softmax::new(rows, cols) {
            let _ = plan.run(&Serial, &x, &mut out);
        }
        if let Ok(plan) = SparseCrossEntropy::<f32, i32>::new(rows, cols) {
            let input = CrossEntropyInput { logits: &x, labels: &[0; 3] };
            let _ = plan.run(&Serial, input, (&mut out[..3], &mut [0.0; 9]));
        }
        if let Ok(plan) = BatchNormTraining::<f32>::new(rows, cols, 0.1, Activation::None) {
            let _ = plan.statistics.run(&Serial, &x, &mut [0.0; 6]);
            let _ = plan.apply.run(
                &Serial,
                ScaleShiftInput { x: &x, multiplier: &x[..3], addend: &x[..3], residual: None },
                &mut out,
            );
        }
        if let Ok(plan) = BatchNormBackward::<f32>::new(rows, cols, 0.1) {
            let _ = plan.partials_len();
        }
    }
}

#[test]
fn filters_without_columns_are_laid_out_at_once() {
    assert!(PackedFilter::<f32>::new([1, 1, 1 << 60, 0], &[]).is_ok());
}
