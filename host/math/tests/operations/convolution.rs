//! Convolution and pooling against their definitions, gradients against finite differences.

use crate::support::{Threads, assert_close, random, random_f32, run};
use proptest::prelude::*;
use tfrt_math::{
    Activation, AvgPool, AvgPoolBackward, BlockOp, Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter,
    ConvBackwardInput, ConvElement, Extent2, MaxPool, MaxPoolBackward, MaxPoolWithArgmax, PackedFilter,
    Padding, PoolShape, Serial, ShapeError, global_avg_pool,
};

pub(crate) fn padding() -> impl Strategy<Value = Padding> {
    let explicit = (0usize..3, 0usize..3, 0usize..3, 0usize..3);
    prop_oneof![
        Just(Padding::Valid),
        Just(Padding::Same),
        explicit.prop_map(|(top, bottom, left, right)| Padding::Explicit { top, bottom, left, right }),
    ]
}

fn extent(range: std::ops::Range<usize>) -> impl Strategy<Value = Extent2> {
    (range.clone(), range).prop_map(|(height, width)| Extent2::new(height, width))
}

prop_compose! {
    fn conv_shape()(
        batch in 0usize..3, input in extent(0..8), channels in (channels(), channels()), groups in 1usize..4,
        filter in extent(1..4), strides in extent(1..4), dilations in extent(1..3), padding in padding(),
    ) -> Conv2dShape {
        let (in_channels, out_channels) = (channels.0 * groups, channels.1 * groups);
        Conv2dShape { batch, input, in_channels, filter, out_channels, groups, strides, dilations, padding }
    }
}

/// Few channels, and numbers of them that fill no vector, one, or several panels and a half.
fn channels() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0usize..4, 1 => Just(8), 1 => Just(17), 1 => Just(37)]
}

prop_compose! {
    fn pool_shape()(
        batch in 0usize..3, input in extent(0..8), channels in channels(), window in extent(1..5),
        strides in extent(1..4), padding in padding(),
    ) -> PoolShape {
        PoolShape { batch, input, channels, window, strides, padding }
    }
}

/// Rows above and columns to the left of the image.
fn before(
    input: Extent2,
    window: Extent2,
    strides: Extent2,
    dilations: Extent2,
    padding: Padding,
) -> (usize, usize) {
    let same = |input: usize, window: usize, stride: usize, dilation: usize| {
        let reach = input.div_ceil(stride).saturating_sub(1) * stride + (window - 1) * dilation + 1;
        reach.saturating_sub(input) / 2
    };
    match padding {
        Padding::Valid => (0, 0),
        Padding::Explicit { top, left, .. } => (top, left),
        Padding::Same => (
            same(input.height, window.height, strides.height, dilations.height),
            same(input.width, window.width, strides.width, dilations.width),
        ),
    }
}

pub(crate) fn lens(s: &Conv2dShape) -> (usize, usize, usize) {
    let out = s.output().unwrap();
    (
        s.batch * s.input.height * s.input.width * s.in_channels,
        s.filter.height * s.filter.width * (s.in_channels / s.groups) * s.out_channels,
        s.batch * out.height * out.width * s.out_channels,
    )
}

/// Calls `f` with the positions in images, filter and output of each product of a convolution.
fn each_product(s: &Conv2dShape, mut f: impl FnMut(usize, usize, usize)) {
    let out = s.output().unwrap();
    let (top, left) = before(s.input, s.filter, s.strides, s.dilations, s.padding);
    let depth = s.in_channels / s.groups;
    let mut y = 0;
    for n in 0..s.batch {
        for (oy, ox) in (0..out.height).flat_map(|oy| (0..out.width).map(move |ox| (oy, ox))) {
            for o in 0..s.out_channels {
                let first = o / (s.out_channels / s.groups) * depth;
                for (ky, kx) in
                    (0..s.filter.height).flat_map(|ky| (0..s.filter.width).map(move |kx| (ky, kx)))
                {
                    let iy = (oy * s.strides.height + ky * s.dilations.height).wrapping_sub(top);
                    let ix = (ox * s.strides.width + kx * s.dilations.width).wrapping_sub(left);
                    if iy >= s.input.height || ix >= s.input.width {
                        continue;
                    }
                    let pixel = ((n * s.input.height + iy) * s.input.width + ix) * s.in_channels + first;
                    let tap = (ky * s.filter.width + kx) * depth;
                    (0..depth).for_each(|i| f(pixel + i, (tap + i) * s.out_channels + o, y));
                }
                y += 1;
            }
        }
    }
}

/// The convolution by its definition.
pub(crate) fn naive_conv(s: &Conv2dShape, x: &[f64], filter: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; lens(s).2];
    each_product(s, |at, tap, to| y[to] += x[at] * filter[tap]);
    y
}

/// The gradients with respect to images and filter by their definitions.
fn naive_gradients(s: &Conv2dShape, x: &[f64], filter: &[f64], dy: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut dx, mut df) = (vec![0.0; x.len()], vec![0.0; filter.len()]);
    each_product(s, |at, tap, to| {
        dx[at] += dy[to] * filter[tap];
        df[tap] += dy[to] * x[at];
    });
    (dx, df)
}

/// For each output of a pooling, the positions under its window, in order.
fn windows(s: &PoolShape) -> Vec<Vec<usize>> {
    let out = s.output().unwrap();
    let (top, left) = before(s.input, s.window, s.strides, Extent2::new(1, 1), s.padding);
    let mut all = Vec::new();
    for n in 0..s.batch {
        for (oy, ox) in (0..out.height).flat_map(|oy| (0..out.width).map(move |ox| (oy, ox))) {
            for c in 0..s.channels {
                let rows = (0..s.window.height).map(|k| (oy * s.strides.height + k).wrapping_sub(top));
                let rows = rows.filter(|&y| y < s.input.height);
                let positions = rows.flat_map(|y| {
                    let cols = (0..s.window.width).map(|k| (ox * s.strides.width + k).wrapping_sub(left));
                    let row = (n * s.input.height + y) * s.input.width;
                    cols.filter(|&x| x < s.input.width).map(move |x| (row + x) * s.channels + c)
                });
                all.push(positions.collect());
            }
        }
    }
    all
}

proptest! {
    #[test]
    fn convolutions(s in conv_shape(), (bias, residual, relu) in any::<(bool, bool, bool)>(), seed: u64) {
        let (nx, nf, ny) = lens(&s);
        let (x, filter) = (random(seed, nx), random(seed ^ 1, nf));
        let (v, r) = (random(seed ^ 2, s.out_channels), random(seed ^ 3, ny));
        let expected: Vec<f64> = naive_conv(&s, &x, &filter).iter().enumerate().map(|(i, &y)| {
            let y = y + if bias { v[i % s.out_channels] } else { 0.0 } + if residual { r[i] } else { 0.0 };
            if relu { y.max(0.0) } else { y }
        }).collect();
        let plan = Conv2d::new(&s, if relu { Activation::Relu } else { Activation::None }, 3).unwrap();
        let filter = plan.pack_filter(&filter).unwrap();
        let input = Conv2dInput { x: &x, filter: &filter, bias: bias.then_some(&v), residual: residual.then_some(&r) };
        assert_close(&run(&plan, input, &vec![f64::NAN; ny]), &expected, 1e-12);
    }

    #[test]
    fn convolution_gradients(s in conv_shape(), workers in 1usize..9, seed: u64) {
        let (nx, nf, ny) = lens(&s);
        let (x, filter, dy) = (random(seed, nx), random(seed ^ 1, nf), random(seed ^ 2, ny));
        let plan = ConvBackwardInput::new(&s, workers).unwrap();
        let packed = plan.pack_filter(&filter).unwrap();
        let dx = run(&plan, (&dy[..], &packed), &vec![f64::NAN; nx]);
        let df = run(&ConvBackwardFilter::new(&s, workers).unwrap(), (&x[..], &dy[..]), &vec![f64::NAN; nf]);
        let expected = naive_gradients(&s, &x, &filter, &dy);
        assert_close(&dx, &expected.0, 1e-11);
        assert_close(&df, &expected.1, 1e-11);
    }

    #[test]
    fn max_pooling(s in pool_shape(), seed: u64) {
        let n = s.batch * s.input.height * s.input.width * s.channels;
        // Few different values, so that there are ties.
        let x: Vec<f64> = random(seed, n).iter().map(|x| (x * 4.0).round()).collect();
        let windows = windows(&s);
        let image = (s.input.height * s.input.width * s.channels).max(1);
        let best = |window: &Vec<usize>| window.iter().copied().reduce(|a, b| if x[b] > x[a] { b } else { a });
        let expected: Vec<f64> = windows.iter().map(|w| best(w).map_or(f64::NEG_INFINITY, |p| x[p])).collect();
        prop_assert_eq!(&run(&MaxPool::new(&s).unwrap(), &x[..], &vec![7.0; windows.len()]), &expected);

        let (mut y, mut at) = (vec![7.0; windows.len()], vec![7; windows.len()]);
        MaxPoolWithArgmax::new(&s).unwrap().run(&Threads, &x, (&mut y, &mut at)).unwrap();
        prop_assert_eq!(&y, &expected);
        let positions: Vec<u32> = windows.iter().map(|w| best(w).map_or(u32::MAX, |p| (p % image) as u32)).collect();
        prop_assert_eq!(&at, &positions);

        let dy = random(seed ^ 1, windows.len());
        let mut dx = vec![0.0; n];
        windows.iter().zip(&dy).for_each(|(w, d)| if let Some(p) = best(w) { dx[p] += d });
        let found = run(&MaxPoolBackward::new(&s).unwrap(), (&dy[..], &at[..]), &vec![7.0; n]);
        assert_close(&found, &dx, 1e-12);
    }

    #[test]
    fn average_pooling(s in pool_shape(), count_padding: bool, seed: u64) {
        let n = s.batch * s.input.height * s.input.width * s.channels;
        let x = random(seed, n);
        let windows = windows(&s);
        let divisor = |w: &Vec<usize>| if count_padding { s.window.height * s.window.width } else { w.len().max(1) } as f64;
        let expected: Vec<f64> = windows.iter().map(|w| w.iter().map(|&p| x[p]).sum::<f64>() / divisor(w)).collect();
        let plan = AvgPool::new(&s, count_padding).unwrap();
        assert_close(&run(&plan, &x[..], &vec![7.0; windows.len()]), &expected, 1e-12);
        let dy = random(seed ^ 1, windows.len());
        let mut dx = vec![0.0; n];
        windows.iter().zip(&dy).for_each(|(w, d)| w.iter().for_each(|&p| dx[p] += d / divisor(w)));
        let found = run(&AvgPoolBackward::new(&s, count_padding).unwrap(), &dy[..], &vec![7.0; n]);
        assert_close(&found, &dx, 1e-12);
    }
}

#[test]
fn the_cut_does_not_change_a_bit() {
    let square = |n| Extent2::new(n, n);
    for (channels, out_channels, filter, stride) in
        [(3, 32, 7, 2), (64, 64, 3, 1), (64, 128, 1, 1), (64, 32, 1, 2)]
    {
        let s = Conv2dShape {
            strides: square(stride),
            ..Conv2dShape::new((2, square(30), channels), (square(filter), out_channels), Padding::Same)
        };
        let (nx, nf, ny) = lens(&s);
        let (x, f, dy) = (random_f32(1, nx), random_f32(2, nf), random_f32(3, ny));
        let mut all = Vec::new();
        for workers in [1, 3, 16] {
            let plan = Conv2d::<f32>::new(&s, Activation::None, workers).unwrap();
            let y = run(&plan, Conv2dInput::new(&x, &plan.pack_filter(&f).unwrap()), &vec![0.0; ny]);
            let plan = ConvBackwardInput::new(&s, workers).unwrap();
            let dx = run(&plan, (&dy[..], &plan.pack_filter(&f).unwrap()), &vec![0.0; nx]);
            let df = run(&ConvBackwardFilter::new(&s, workers).unwrap(), (&x[..], &dy[..]), &vec![0.0; nf]);
            all.push((y, dx, df));
        }
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{channels} {out_channels} {filter} {stride}");
    }
}

#[test]
fn a_function_is_applied_last_and_once() {
    let square = |n| Extent2::new(n, n);
    for (channels, out_channels, groups, filter) in
        [(3, 70, 1, 3), (40, 64, 1, 3), (6, 6, 6, 3), (4, 6, 2, 1), (0, 5, 1, 1)]
    {
        let images = (2, square(20), channels);
        let s =
            Conv2dShape { groups, ..Conv2dShape::new(images, (square(filter), out_channels), Padding::Same) };
        let (nx, nf, ny) = lens(&s);
        let (mut x, f) = (random_f32(1, nx), random_f32(2, nf));
        // Tiles of minimal filtering that it is in are computed by the definition.
        x.iter_mut().take(1).for_each(|x| *x = f32::INFINITY);
        let plan = Conv2d::<f32>::for_kept_filters(&s, Activation::Relu, 2).unwrap();
        let filter = match groups {
            1 => PackedFilter::new([filter, filter, channels, out_channels], &f).unwrap(),
            _ => plan.pack_filter(&f).unwrap(),
        };
        let input = Conv2dInput::new(&x, &filter);
        let mut expected = run(&plan, input, &vec![0.0; ny]);
        let finish = |elements: &mut [f32]| elements.iter_mut().for_each(|x| *x = 1.0 - *x);
        finish(&mut expected);
        let found = run(&plan.finished_by(finish), input, &vec![0.0; ny]);
        let same = found.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
        assert!(same, "{channels} {out_channels} {groups}");
    }
}

#[test]
fn nan_wins_pooling() {
    let s = PoolShape {
        batch: 1,
        input: Extent2::new(1, 4),
        channels: 1,
        window: Extent2::new(1, 4),
        strides: Extent2::new(1, 1),
        padding: Padding::Valid,
    };
    let wide = PoolShape { channels: 20, ..s };
    let mut many: Vec<f32> = (0..80).map(|i| i as f32).collect();
    many[25] = f32::NAN;
    let found = run(&MaxPool::new(&wide).unwrap(), &many[..], &[0.0; 20]);
    assert!(found.iter().enumerate().all(|(i, &y)| if i == 5 { y.is_nan() } else { y == (60 + i) as f32 }));
    let found = run(&MaxPool::of_numbers(&wide).unwrap(), &many[..], &[0.0; 20]);
    assert!(found.iter().enumerate().all(|(i, &y)| y == (60 + i) as f32));
    let (mut y, mut at) = ([0.0f32], [0]);
    let x = [1.0, f32::NAN, f32::NAN, 5.0];
    MaxPoolWithArgmax::new(&s).unwrap().run(&Serial, &x, (&mut y, &mut at)).unwrap();
    assert!(y[0].is_nan() && at == [1]);
    assert!(run(&MaxPool::new(&s).unwrap(), &x[..], &[0.0])[0].is_nan());
    let bad = MaxPoolBackward::<f32>::new(&s).unwrap().run(&Serial, (&[1.0], &[4]), &mut [0.0; 4]);
    assert_eq!(bad, Err(ShapeError::Index { operand: "positions", position: 0, value: 4, bound: 4 }));
}

#[test]
fn global_average() {
    let plan = global_avg_pool::<f32>(2, 3, 2).unwrap();
    let x: Vec<f32> = (0u8..12).map(f32::from).collect();
    assert_eq!(run(&plan, &x[..], &[0.0; 4]), [2.0, 3.0, 8.0, 9.0]);
}

#[test]
fn mistakes_are_errors() {
    let good = Conv2dShape::new((1, Extent2::new(4, 4), 2), (Extent2::new(3, 3), 5), Padding::Valid);
    assert_eq!(good.output(), Ok(Extent2::new(2, 2)));
    for bad in [
        Conv2dShape { strides: Extent2::new(0, 1), ..good },
        Conv2dShape { groups: 0, ..good },
        Conv2dShape { groups: 2, ..good },
        Conv2dShape { filter: Extent2::new(3, 0), ..good },
        Conv2dShape { dilations: Extent2::new(1, usize::MAX), ..good },
        Conv2dShape { batch: usize::MAX, ..good },
        Conv2dShape { padding: Padding::Explicit { top: usize::MAX, bottom: 0, left: 0, right: 0 }, ..good },
    ] {
        assert!(Conv2d::<f32>::new(&bad, Activation::None, 1).is_err(), "{bad:?}");
    }
    let plan = Conv2d::<f32>::new(&good, Activation::None, 1).unwrap();
    let filter = plan.pack_filter(&[0.0; 90]).unwrap();
    let short = plan.run(&Serial, Conv2dInput::new(&[0.0; 31], &filter), &mut [0.0; 20]);
    assert_eq!(short, Err(ShapeError::Length { operand: "images", expected: 32, actual: 31 }));
    let operand = "filter";
    assert_eq!(
        plan.pack_filter(&[0.0; 89]).err(),
        Some(ShapeError::Length { operand, expected: 90, actual: 89 })
    );
    let other = Conv2d::<f32>::new(&Conv2dShape { out_channels: 4, ..good }, Activation::None, 1).unwrap();
    assert!(other.run(&Serial, Conv2dInput::new(&[0.0; 32], &filter), &mut [0.0; 16]).is_err());
}

/// The convolution of small whole numbers, which every type computes exactly.
fn whole_numbers<T: ConvElement + From<i8> + std::fmt::Debug>() {
    let square = |n| Extent2::new(n, n);
    for (channels, outputs, filter, groups) in
        [(3, 20, 7, 1), (32, 19, 3, 1), (32, 8, 1, 1), (12, 18, 3, 2), (70, 70, 3, 70), (5, 10, 2, 5)]
    {
        let strides = square(2);
        let image = (2, square(9), channels);
        let s = Conv2dShape {
            strides,
            groups,
            ..Conv2dShape::new(image, (square(filter), outputs), Padding::Same)
        };
        let (nx, nf, ny) = lens(&s);
        let whole = |seed, n| -> Vec<f64> { random(seed, n).iter().map(|x| (x * 1.4).round()).collect() };
        let (x, f, bias) = (whole(1, nx), whole(2, nf), whole(3, outputs));
        let (residual, dy) = (whole(4, ny), whole(5, ny));
        let typed = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| T::from(x as i8)).collect() };
        let mut expected = naive_conv(&s, &x, &f);
        for (i, y) in expected.iter_mut().enumerate() {
            *y = (*y + bias[i % outputs] + residual[i]).max(0.0);
        }
        let plan = Conv2d::<T>::new(&s, Activation::Relu, 3).unwrap();
        let (typed_x, typed_dy) = (typed(&x), typed(&dy));
        let input = Conv2dInput {
            x: &typed_x,
            filter: &plan.pack_filter(&typed(&f)).unwrap(),
            bias: Some(&typed(&bias)),
            residual: Some(&typed(&residual)),
        };
        assert_eq!(run(&plan, input, &vec![T::ONE; ny]), typed(&expected));
        let plan = ConvBackwardInput::<T>::new(&s, 3).unwrap();
        let dx = run(&plan, (&typed_dy[..], &plan.pack_filter(&typed(&f)).unwrap()), &vec![T::ONE; nx]);
        let (expected, _) = naive_gradients(&s, &x, &f, &dy);
        assert_eq!(dx, typed(&expected));
    }
}

/// Small whole numbers, some of them as given.
fn whole_but_for(seed: u64, n: usize, given: &[(usize, f64)]) -> Vec<f64> {
    let mut numbers: Vec<f64> = random(seed, n).iter().map(|x| (x * 2.4).round()).collect();
    given.iter().for_each(|&(at, x)| numbers[at % n.max(1)] = x);
    numbers
}

/// Convolutions of whole numbers, and of some that are not finite, in the images or in the filter.
fn not_finite<T: ConvElement + std::fmt::Debug>(typed: impl Fn(f64) -> T, back: impl Fn(T) -> f64) {
    let square = |n| Extent2::new(n, n);
    let all = |x: &[f64]| -> Vec<T> { x.iter().map(|&x| typed(x)).collect() };
    let given = [(3, f64::INFINITY), (40, f64::NEG_INFINITY), (77, f64::NAN)];
    for (channels, outputs, filter, groups) in [
        (3, 20, 5, 1),
        (32, 19, 3, 1),
        (32, 32, 3, 1),
        (24, 1, 3, 1),
        (8, 8, 1, 1),
        (12, 18, 3, 3),
        (17, 17, 3, 17),
    ] {
        for (dilation, stride, pad) in [(1, 1, 1), (2, 1, 3), (4, 2, 4)] {
            let padding = Padding::Explicit { top: pad, bottom: pad + 1, left: pad - 1, right: pad };
            let (strides, dilations) = (square(stride), square(dilation));
            let image = (2, Extent2::new(14, 15), channels);
            let plain = Conv2dShape::new(image, (square(filter), outputs), padding);
            let s = Conv2dShape { strides, dilations, groups, ..plain };
            let (nx, nf, ny) = lens(&s);
            for (in_images, in_filter) in [(&given[..], &[][..]), (&[], &given), (&given[..1], &given[1..])] {
                let x = whole_but_for(1, nx, in_images);
                let f = whole_but_for(2, nf, in_filter);
                let expected = naive_conv(&s, &x, &f);
                let (x, f) = (all(&x), all(&f));
                let plan = Conv2d::<T>::new(&s, Activation::None, 3).unwrap();
                let y = run(&plan, Conv2dInput::new(&x, &plan.pack_filter(&f).unwrap()), &vec![T::ONE; ny]);
                assert_close(&y.into_iter().map(&back).collect::<Vec<_>>(), &expected, 1e-9);
                if groups == 1 {
                    let plan = Conv2d::<T>::for_kept_filters(&s, Activation::None, 3).unwrap();
                    let f = PackedFilter::new([filter, filter, channels, outputs], &f).unwrap();
                    let y = run(&plan, Conv2dInput::new(&x, &f), &vec![T::ONE; ny]);
                    assert_close(&y.into_iter().map(&back).collect::<Vec<_>>(), &expected, 1e-3);
                }
            }
        }
    }
}

#[test]
fn what_is_not_finite_reaches_its_windows_alone() {
    not_finite::<f32>(|x| x as f32, f64::from);
    not_finite::<f64>(|x| x, |x| x);
    not_finite::<half::f16>(half::f16::from_f64, half::f16::to_f64);
}

#[test]
fn depthwise_windows_of_every_size_are_summed() {
    for (window, stride, dilation) in [
        (1, 1, 1),
        (2, 1, 1),
        (3, 1, 1),
        (3, 2, 1),
        (3, 3, 1),
        (3, 1, 2),
        (5, 1, 1),
        (5, 2, 1),
        (7, 1, 1),
        (7, 2, 1),
    ] {
        for (channels, width, pad) in [(5, 9, 0), (16, 1, 3), (33, 6, 2), (70, 17, 1), (24, 23, 3)] {
            let s = Conv2dShape {
                groups: channels,
                strides: Extent2::new(1, stride),
                dilations: Extent2::new(1, dilation),
                ..Conv2dShape::new(
                    (2, Extent2::new(3, width), channels),
                    (Extent2::new(2, window), channels),
                    Padding::Explicit { top: 1, bottom: 0, left: pad, right: pad },
                )
            };
            let (nx, nf, ny) = lens(&s);
            let (x, f) = (whole_but_for(1, nx, &[]), whole_but_for(2, nf, &[]));
            let (bias, residual) = (whole_but_for(3, channels, &[]), whole_but_for(4, ny, &[]));
            let narrow = |x: &[f64]| -> Vec<f32> { x.iter().map(|&x| x as f32).collect() };
            let sums = naive_conv(&s, &x, &f);
            let (x, f, v, r) = (narrow(&x), narrow(&f), narrow(&bias), narrow(&residual));
            for parts in 0..8 {
                let [has_bias, has_residual, relu] = [0, 1, 2].map(|part| parts >> part & 1 == 1);
                let expected = sums.iter().enumerate().map(|(i, &y)| {
                    let y = y + if has_bias { bias[i % channels] } else { 0.0 };
                    let y = y + if has_residual { residual[i] } else { 0.0 };
                    (if relu { y.max(0.0) } else { y }) as f32
                });
                let activation = if relu { Activation::Relu } else { Activation::None };
                let plan = Conv2d::<f32>::new(&s, activation, 3).unwrap();
                let filter = &plan.pack_filter(&f).unwrap();
                let (bias, residual) = (has_bias.then_some(&v[..]), has_residual.then_some(&r[..]));
                let y = run(&plan, Conv2dInput { x: &x, filter, bias, residual }, &vec![f32::NAN; ny]);
                assert_eq!(y, expected.collect::<Vec<_>>(), "{s:?} {parts}");
            }
        }
    }
}

#[test]
fn every_type_has_them() {
    whole_numbers::<f32>();
    whole_numbers::<i32>();
    whole_numbers::<half::f16>();
    whole_numbers::<half::bf16>();
}
