//! Convolution by filters that were laid out to be kept, which takes fewer products where it can.

use crate::convolution::{lens, naive_conv, padding};
use crate::support::{assert_close, random, random_f32, run, wide};
use proptest::prelude::*;
use tfrt_math::{
    Activation, BlockOp, Conv2d, Conv2dInput, Conv2dShape, ConvElement, Extent2, PackedFilter, Padding,
};

fn shape(
    (batch, height, width): (usize, usize, usize),
    channels: (usize, usize),
    padding: Padding,
) -> Conv2dShape {
    let image = (batch, Extent2::new(height, width), channels.0);
    Conv2dShape::new(image, (Extent2::new(3, 3), channels.1), padding)
}

fn kept<T: ConvElement>(s: &Conv2dShape, filter: &[T]) -> PackedFilter<T> {
    PackedFilter::new([s.filter.height, s.filter.width, s.in_channels, s.out_channels], filter).unwrap()
}

fn channels() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(32), 3 => Just(40), 3 => Just(72), 1 => Just(33)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn agrees_with_the_definition(
        images in (1usize..3, 16usize..21, 16usize..21), channels in (channels(), channels()), padding in padding(),
        (bias, residual, relu) in any::<(bool, bool, bool)>(), workers in 1usize..5, seed: u64,
    ) {
        let s = shape(images, channels, padding);
        let (nx, nf, ny) = lens(&s);
        let (x, filter) = (random_f32(seed, nx), random_f32(seed ^ 1, nf));
        let (v, r) = (random_f32(seed ^ 2, s.out_channels), random_f32(seed ^ 3, ny));
        let expected: Vec<f64> = naive_conv(&s, &wide(&x), &wide(&filter)).iter().enumerate().map(|(i, &y)| {
            let v = if bias { f64::from(v[i % s.out_channels]) } else { 0.0 };
            let y = y + v + if residual { f64::from(r[i]) } else { 0.0 };
            if relu { y.max(0.0) } else { y }
        }).collect();
        let plan = Conv2d::for_kept_filters(&s, if relu { Activation::Relu } else { Activation::None }, workers).unwrap();
        let (kept, plain) = (kept(&s, &filter), plan.pack_filter(&filter).unwrap());
        let compute = |filter| {
            let input = Conv2dInput { x: &x, filter, bias: bias.then_some(&*v), residual: residual.then_some(&*r) };
            run(&plan, input, &vec![f32::NAN; ny])
        };
        let found = compute(&kept);
        assert_close(&wide(&found), &expected, 4e-5);
        // Rounding says which way it went.
        prop_assert_eq!(found != compute(&plain), s.in_channels != 33 && s.out_channels != 33);
    }
}

#[test]
fn fewer_products_round_otherwise_but_neither_cut_nor_batch_changes_a_bit() {
    for (images, channels) in [
        ((2, 20, 20), (64, 128)),
        ((1, 15, 31), (32, 72)),
        ((3, 13, 14), (256, 256)),
        ((2, 15, 17), (128, 192)),
    ] {
        let s = shape(images, channels, Padding::Same);
        let (nx, nf, ny) = lens(&s);
        let (x, filter) = (random_f32(1, nx), random_f32(2, nf));
        let (kept, plain) = (kept(&s, &filter), Conv2d::new(&s, Activation::None, 1).unwrap());
        let by_definition =
            run(&plain, Conv2dInput::new(&x, &plain.pack_filter(&filter).unwrap()), &vec![0.0; ny]);
        let found = [1, 2, 3, 16].map(|workers| {
            let plan = Conv2d::for_kept_filters(&s, Activation::None, workers).unwrap();
            run(&plan, Conv2dInput::new(&x, &kept), &vec![0.0; ny])
        });
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{images:?} {channels:?}");
        let one = shape((1, images.1, images.2), channels, Padding::Same);
        let (x_len, _, y_len) = lens(&one);
        let plan = Conv2d::for_kept_filters(&one, Activation::None, 2).unwrap();
        let first = run(&plan, Conv2dInput::new(&x[..x_len], &kept), &vec![0.0; y_len]);
        assert_eq!(first, found[0][..y_len], "{images:?} {channels:?}: an image alone");
        assert_ne!(found[0], by_definition, "{images:?} {channels:?}: nothing was saved");
        assert_close(&wide(&found[0]), &wide(&by_definition), 4e-5);
    }
}

/// Blocks of few tiles are cut by what tiles cost, and an odd height leaves no worker without one.
#[test]
fn blocks_suit_tiles_and_workers() {
    let blocks = |images, channels, workers| {
        let s = shape(images, (channels, channels), Padding::Same);
        Conv2d::<f32>::for_kept_filters(&s, Activation::None, workers).unwrap().block_count()
    };
    assert_eq!(blocks((1, 14, 14), 256, 1), 1);
    // Four blocks side by side occupy four workers: none is cut across, for which the filter would
    // be fetched again.
    assert_eq!(blocks((1, 14, 14), 256, 4), 4);
    for images in [(2, 15, 15), (4, 15, 15), (4, 13, 14), (3, 17, 16)] {
        for workers in [2, 3, 8, 16] {
            assert!(blocks(images, 256, workers) >= workers, "{images:?} by {workers}");
        }
    }
}

#[test]
fn no_images_give_no_result() {
    let s = shape((0, 20, 20), (64, 128), Padding::Same);
    let filter = kept(&s, &random_f32(1, lens(&s).1));
    let plan = Conv2d::for_kept_filters(&s, Activation::Relu, 2).unwrap();
    assert_eq!(run(&plan, Conv2dInput::new(&[], &filter), &Vec::<f32>::new()), []);
}

/// A tile that is not finite is computed by the definition, and no other, whatever block it is in.
#[test]
fn non_finite_elements_do_not_change_other_tiles() {
    let s = shape((2, 20, 20), (64, 72), Padding::Same);
    let (nx, nf, ny) = lens(&s);
    let (mut x, filter) = (random_f32(1, nx), random_f32(2, nf));
    let kept = kept(&s, &filter);
    let ways = |x: &[f32]| {
        [1, 2, 16].map(|workers| {
            let plan = Conv2d::for_kept_filters(&s, Activation::None, workers).unwrap();
            run(&plan, Conv2dInput::new(x, &kept), &vec![0.0; ny])
        })
    };
    let before = ways(&x);
    // Of the pixel in line 9 and column 9 of the first image: the tiles of lines and columns 8 to
    // 11 see it.
    x[(9 * 20 + 9) * s.in_channels + 5] = f32::NAN;
    for found in ways(&x) {
        for (at, (found, before)) in found.iter().zip(&before[0]).enumerate() {
            let (y, x) = (at / s.out_channels / 20, at / s.out_channels % 20);
            assert_eq!(found.is_nan(), (8..=10).contains(&y) && (8..=10).contains(&x), "{y} {x}");
            let is_near = (8..12).contains(&y) && (8..12).contains(&x);
            assert!(is_near || found.to_bits() == before.to_bits(), "{y} {x}");
        }
    }
}

/// Nor where it is in one output channel alone, of which blocks have more or fewer beside it.
#[test]
fn a_channel_that_is_not_finite_does_not_show_the_cut() {
    for images in [(2, 20, 20), (1, 15, 17)] {
        let s = shape(images, (64, 192), Padding::Same);
        let (nx, nf, ny) = lens(&s);
        let (x, mut filter) = (random_f32(1, nx), random_f32(2, nf));
        filter[3 * s.out_channels + 70] = f32::INFINITY;
        let kept = kept(&s, &filter);
        let found = [1, 2, 16].map(|workers| {
            let plan = Conv2d::for_kept_filters(&s, Activation::None, workers).unwrap();
            run(&plan, Conv2dInput::new(&x, &kept), &vec![0.0; ny])
        });
        let bits = found.map(|y| y.into_iter().map(f32::to_bits).collect::<Vec<_>>());
        assert!(bits.windows(2).all(|pair| pair[0] == pair[1]), "{images:?}");
    }
}

/// What is not finite is where the definition has it, in numbers that every way of summing computes
/// exactly.
fn what_is_not_finite<T: ConvElement + From<i8> + std::fmt::Debug>(special: &[T]) {
    for images in [(2, 12, 17), (3, 13, 15)] {
        let s = shape(images, (32, 40), Padding::Same);
        let (nx, nf, ny) = lens(&s);
        let whole = |seed, n| -> Vec<T> {
            random(seed, n).iter().map(|x| T::from((x * 1.4).round() as i8)).collect()
        };
        let (x, filter) = (whole(1, nx), whole(2, nf));
        let plan = Conv2d::for_kept_filters(&s, Activation::Relu, 3).unwrap();
        let (kept, plain) = (kept(&s, &filter), plan.pack_filter(&filter).unwrap());
        let agree = |x: &[T]| {
            let ways =
                [&kept, &plain].map(|filter| run(&plan, Conv2dInput::new(x, filter), &vec![T::ONE; ny]));
            // Through text, so that NaN equals itself.
            assert_eq!(format!("{:?}", ways[0]), format!("{:?}", ways[1]));
        };
        agree(&x);
        for &special in special {
            for at in [0, nx / 3, nx - 1] {
                let mut x = x.clone();
                x[at] = special;
                agree(&x);
            }
        }
    }
}

#[test]
fn non_finite_elements_stay_in_place() {
    what_is_not_finite::<f32>(&[f32::INFINITY, f32::NAN]);
    what_is_not_finite::<f64>(&[f64::NEG_INFINITY]);
    what_is_not_finite::<half::f16>(&[half::f16::NAN]);
    what_is_not_finite::<half::bf16>(&[half::bf16::INFINITY]);
    what_is_not_finite::<i32>(&[]);
}
