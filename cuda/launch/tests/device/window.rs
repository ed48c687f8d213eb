//! Pooling, im2col and convolution of integers, against sums over all windows.

use half::f16;
use tfrt_host::DType;
use tfrt_launch::{FilterChannels, PoolingWindow, WindowPosition};

use super::{Random, assert_close, device, widened};

fn at(y: u32, x: u32) -> WindowPosition {
    WindowPosition { y, x }
}

/// Windows that overlap, leave gaps, hang over the border, lie beyond it.
fn windows() -> Vec<PoolingWindow> {
    let plain = PoolingWindow {
        batch: 2,
        input: at(7, 6),
        channels: 3,
        output: at(3, 3),
        window: at(2, 2),
        strides: at(2, 2),
        dilations: at(1, 1),
        padding: at(0, 0),
    };
    vec![
        plain,
        PoolingWindow { output: at(4, 3), window: at(3, 3), padding: at(1, 1), ..plain },
        PoolingWindow { output: at(7, 6), window: at(3, 3), strides: at(1, 1), padding: at(1, 1), ..plain },
        PoolingWindow { output: at(3, 2), window: at(2, 1), strides: at(3, 4), channels: 8, ..plain },
        PoolingWindow { output: at(3, 2), dilations: at(3, 2), strides: at(2, 3), ..plain },
        PoolingWindow { output: at(5, 5), padding: at(2, 2), ..plain },
    ]
}

/// For each output and each of its window's elements inside the image: output, element, input.
fn taps(w: &PoolingWindow) -> Vec<(usize, usize, usize)> {
    let mut taps = Vec::new();
    for image in 0..w.batch {
        for (oy, ox) in (0..w.output.y).flat_map(|y| (0..w.output.x).map(move |x| (y, x))) {
            for (ky, kx) in (0..w.window.y).flat_map(|y| (0..w.window.x).map(move |x| (y, x))) {
                let y = i64::from(oy * w.strides.y + ky * w.dilations.y) - i64::from(w.padding.y);
                let x = i64::from(ox * w.strides.x + kx * w.dilations.x) - i64::from(w.padding.x);
                if !(0..i64::from(w.input.y)).contains(&y) || !(0..i64::from(w.input.x)).contains(&x) {
                    continue;
                }
                for c in 0..w.channels {
                    let output = ((image * w.output.y + oy) * w.output.x + ox) * w.channels + c;
                    let element = (ky * w.window.x + kx) * w.channels + c;
                    let input = ((image * w.input.y + y as u32) * w.input.x + x as u32) * w.channels + c;
                    taps.push((output as usize, element as usize, input as usize));
                }
            }
        }
    }
    taps
}

fn sizes(w: &PoolingWindow) -> (usize, usize) {
    let size = |pixels: WindowPosition| (w.batch * pixels.y * pixels.x * w.channels) as usize;
    (size(w.input), size(w.output))
}

#[test]
fn maxima_and_their_gradients() {
    let (d, mut random) = (device(), Random::new(41));
    for w in windows() {
        let (inputs, outputs) = sizes(&w);
        let mut x: Vec<f32> = random.i32s(inputs, -9..9).into_iter().map(|x| x as f32).collect();
        x[5] = f32::NAN;
        let dy = random.f32s(outputs, -1.0, 1.0);
        let (mut y, mut winners) = (vec![f32::MIN; outputs], vec![None; outputs]);
        for (output, _, input) in taps(&w) {
            let beats = x[input] > y[output] || (x[input].is_nan() && !y[output].is_nan());
            if winners[output].is_none() || beats {
                (y[output], winners[output]) = (x[input], Some(input));
            }
        }
        let image = inputs / w.batch as usize;
        let positions: Vec<_> = winners.iter().map(|w| w.map_or(u32::MAX, |w| (w % image) as u32)).collect();
        let mut dx = vec![0.0; inputs];
        for (output, winner) in winners.iter().enumerate() {
            if let Some(winner) = winner {
                dx[*winner] += dy[output];
            }
        }
        let (device_x, device_dy) = (d.upload(&x), d.upload(&dy));
        let (room, where_, gradient) =
            (d.room::<f32>(outputs), d.room::<u32>(outputs), d.room::<f32>(inputs));
        d.kernels.max_pool(&d.stream, DType::F32, &room, Some(&where_), &device_x, &w).unwrap();
        assert_close(&d.download::<f32>(&room, outputs), &y, 0.0);
        assert_eq!(d.download::<u32>(&where_, outputs), positions);
        d.kernels.max_pool_of_numbers(&d.stream, DType::F32, &room, &device_x, &w).unwrap();
        let mut numbers = vec![f32::MIN; outputs];
        taps(&w).iter().for_each(|&(output, _, input)| numbers[output] = numbers[output].max(x[input]));
        assert_close(&d.download::<f32>(&room, outputs), &numbers, 0.0);
        d.kernels.max_pool_gradient(&d.stream, DType::F32, &gradient, &device_dy, &where_, &w).unwrap();
        assert_close(&d.download::<f32>(&gradient, inputs), &dx, 1e-6);
    }
}

#[test]
fn means_and_their_gradients() {
    let (d, mut random) = (device(), Random::new(42));
    for (w, count_padding) in windows().into_iter().flat_map(|w| [(w, false), (w, true)]) {
        let (inputs, outputs) = sizes(&w);
        let (x, dy) = (random.halves(inputs, -2.0, 2.0), random.f32s(outputs, -1.0, 1.0));
        let (mut sums, mut counts) = (vec![0.0; outputs], vec![0u32; outputs]);
        for (output, _, input) in taps(&w) {
            sums[output] += x[input].to_f32();
            counts[output] += 1;
        }
        if count_padding {
            counts.fill(w.window.y * w.window.x);
        }
        let y: Vec<_> =
            sums.iter().zip(&counts).map(|(s, &n)| if n == 0 { 0.0 } else { s / n as f32 }).collect();
        let mut dx = vec![0.0; inputs];
        for (output, _, input) in taps(&w) {
            dx[input] += dy[output] / counts[output] as f32;
        }
        let (device_x, device_dy) = (d.upload(&x), d.upload(&dy));
        let (room, gradient) = (d.room::<f16>(outputs), d.room::<f32>(inputs));
        d.kernels.average_pool(&d.stream, DType::F16, &room, &device_x, count_padding, &w).unwrap();
        assert_close(&widened(&d.download::<f16>(&room, outputs)), &y, 1e-3);
        let dtype = DType::F32;
        d.kernels.average_pool_gradient(&d.stream, dtype, &gradient, &device_dy, count_padding, &w).unwrap();
        assert_close(&d.download::<f32>(&gradient, inputs), &dx, 1e-6);
    }
    let (dy, gradient) = (d.upload(&[6.0f32, 3.0, 9.0, 12.0]), d.room::<f32>(12));
    d.kernels.global_average_pool_gradient(&d.stream, DType::F32, &gradient, &dy, [2, 3, 2]).unwrap();
    let expected = [2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0];
    assert_eq!(d.download::<f32>(&gradient, 12), expected);
}

#[test]
fn patches_there_and_back() {
    let (d, mut random) = (device(), Random::new(43));
    for w in windows() {
        let (inputs, outputs) = sizes(&w);
        let x = random.f32s(inputs, -1.0, 1.0);
        let row = (w.window.y * w.window.x * w.channels) as usize;
        let pixels = outputs / w.channels as usize;
        let mut patches = vec![0.0; pixels * row];
        let mut back = vec![0.0; inputs];
        for (output, element, input) in taps(&w) {
            patches[output / w.channels as usize * row + element] = x[input];
            back[input] += x[input];
        }
        let (dx, room, images) = (d.upload(&x), d.room::<f32>(patches.len()), d.room::<f32>(inputs));
        d.kernels.im2col(&d.stream, DType::F32, &room, &dx, &w).unwrap();
        assert_eq!(d.download::<f32>(&room, patches.len()), patches);
        d.kernels.col2im(&d.stream, DType::F32, &images, &room, &w).unwrap();
        assert_close(&d.download::<f32>(&images, inputs), &back, 1e-6);
    }
}

#[test]
fn impossible_windows_are_refused() {
    let d = device();
    let buffer = d.room::<f32>(1000);
    let zero = PoolingWindow { strides: at(0, 1), ..windows()[0] };
    assert!(d.kernels.average_pool(&d.stream, DType::F32, &buffer, &buffer, true, &zero).is_err());
    let huge = PoolingWindow { input: at(1 << 16, 1 << 16), ..windows()[0] };
    assert!(d.kernels.average_pool(&d.stream, DType::F32, &buffer, &buffer, true, &huge).is_err());
}

#[test]
fn convolution_of_integers_in_groups() {
    let (d, mut random) = (device(), Random::new(44));
    for (w, groups) in windows().into_iter().flat_map(|w| [(w, 1), (w, w.channels)]) {
        let (per_group, outputs) = ((w.channels / groups) as usize, 2 * w.channels as usize);
        let (inputs, pixels) = (sizes(&w).0, (w.batch * w.output.y * w.output.x) as usize);
        let taps = taps(&w);
        let channels = w.channels as usize;
        let filter =
            random.i32s((w.window.y * w.window.x) as usize * per_group * outputs, i32::MIN..i32::MAX);
        let x = random.i32s(inputs, i32::MIN..i32::MAX);
        let dy = random.i32s(pixels * outputs, i32::MIN..i32::MAX);
        let (mut y, mut dx) = (vec![0i32; dy.len()], vec![0i32; inputs]);
        for (pooled, element, input) in taps {
            // Of the outputs those of the channel's own group.
            let (pixel, channel) = (pooled / channels, input % channels);
            let (group, own) = (channel / per_group, outputs / groups as usize);
            let row = (element / channels * per_group + channel % per_group) * outputs;
            for o in group * own..(group + 1) * own {
                let (weight, place) = (filter[row + o], pixel * outputs + o);
                y[place] = y[place].wrapping_add(x[input].wrapping_mul(weight));
                dx[input] = dx[input].wrapping_add(dy[place].wrapping_mul(weight));
            }
        }
        let shared = FilterChannels { outputs: outputs as u32, groups };
        let [of_x, of_filter, of_dy] = [&x, &filter, &dy].map(|values| d.upload(values));
        let (of_y, of_dx) = (d.room::<i32>(y.len()), d.room::<i32>(inputs));
        d.kernels.convolution(&d.stream, &of_y, [&of_x, &of_filter], shared, &w).unwrap();
        assert_eq!(d.download::<i32>(&of_y, y.len()), y);
        d.kernels.convolution_gradient(&d.stream, &of_dx, [&of_dy, &of_filter], shared, &w).unwrap();
        assert_eq!(d.download::<i32>(&of_dx, inputs), dx);
        let uneven = FilterChannels { groups: w.channels + 1, ..shared };
        assert!(d.kernels.convolution(&d.stream, &of_y, [&of_x, &of_filter], uneven, &w).is_err());
    }
}
