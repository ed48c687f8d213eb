//! References of `convolution.cu`.

use crate::support::{
    Gpu, Struct, args,
    compare::{assert_close, assert_same},
    kernels,
};

kernels! { convolution: compute_75 compute_90 => [
    conv2d_direct im2col conv2d_depthwise max_pool max_pool_gradient average_pool filter_1d heat_3d resize_bilinear
] }

/// As `Shape` of the source.
#[derive(Clone, Copy)]
struct Shape {
    batch: usize,
    height: usize,
    width: usize,
    channels: usize,
    out_height: usize,
    out_width: usize,
    filters: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
}

impl Shape {
    fn random(gpu: &mut Gpu) -> Shape {
        let (kernel, stride) = (gpu.len(3), gpu.len(2));
        let padding = gpu.rng.usize(..kernel);
        let (height, width) = (kernel + gpu.len(7), kernel + gpu.len(9));
        Shape {
            batch: gpu.len(2),
            height,
            width,
            channels: gpu.len(7),
            out_height: (height + 2 * padding - kernel) / stride + 1,
            out_width: (width + 2 * padding - kernel) / stride + 1,
            filters: gpu.len(6),
            kernel,
            stride,
            padding,
        }
    }

    fn param(&self) -> Struct<[i32; 10]> {
        let fields = [
            self.batch,
            self.height,
            self.width,
            self.channels,
            self.out_height,
            self.out_width,
            self.filters,
            self.kernel,
            self.stride,
            self.padding,
        ];
        Struct(fields.map(|field| field as i32))
    }

    fn pixels(&self) -> usize {
        self.batch * self.out_height * self.out_width
    }

    fn input(&self) -> usize {
        self.batch * self.height * self.width * self.channels
    }

    /// Places of the window of a result's pixel that lie in the image: number in the window, pixel
    /// in the image.
    fn window(&self, pixel: usize) -> Vec<(usize, usize)> {
        let (ow, oh) = (pixel % self.out_width, pixel / self.out_width % self.out_height);
        let inside = |tap: usize| {
            let h = (oh * self.stride + tap / self.kernel).checked_sub(self.padding)?;
            let w = (ow * self.stride + tap % self.kernel).checked_sub(self.padding)?;
            (h < self.height && w < self.width).then_some((tap, h * self.width + w))
        };
        (0..self.kernel * self.kernel).filter_map(inside).collect()
    }

    /// The image of a result's pixel, as the place of its first element.
    fn image(&self, pixel: usize) -> usize {
        pixel / (self.out_width * self.out_height) * self.height * self.width * self.channels
    }
}

fn conv2d_direct(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let x = gpu.random::<f32>(s.input());
    let filter = gpu.random::<f32>(s.kernel * s.kernel * s.channels * s.filters);
    let bias = gpu.random::<f32>(s.filters);
    let n = s.pixels() * s.filters;
    let (dx, df, db, dy) = (gpu.upload(&x), gpu.upload(&filter), gpu.upload(&bias), gpu.uninit::<f32>(n));
    gpu.launch("conv2d_direct", n.div_ceil(96) as u32, 96, args![dx, df, db, dy, s.param()]);
    let value = |i: usize| {
        let (o, pixel) = (i % s.filters, i / s.filters);
        let taps = s.window(pixel).into_iter().flat_map(|(tap, at)| {
            (0..s.channels)
                .map(move |c| (s.image(pixel) + at * s.channels + c, (tap * s.channels + c) * s.filters + o))
        });
        f64::from(bias[o])
            + taps.map(|(at, weight)| f64::from(x[at]) * f64::from(filter[weight])).sum::<f64>()
    };
    assert_close(&gpu.read(dy), &(0..n).map(value).collect::<Vec<_>>(), 1e-6, 1e-5);
}

fn im2col(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let columns = s.kernel * s.kernel * s.channels;
    let x = gpu.random::<f32>(s.input());
    let (dx, matrix) = (gpu.upload(&x), gpu.uninit::<f32>(s.pixels() * columns));
    gpu.launch("im2col", s.pixels() as u32, 32, args![dx, matrix, s.param()]);
    let row = |pixel: usize| {
        let mut row = vec![0.0; columns];
        for (tap, at) in s.window(pixel) {
            let from = s.image(pixel) + at * s.channels;
            row[tap * s.channels..][..s.channels].copy_from_slice(&x[from..from + s.channels]);
        }
        row
    };
    assert_same(&gpu.read(matrix), &(0..s.pixels()).flat_map(row).collect::<Vec<_>>());
}

/// A kernel with a block for each pixel of the result and a thread for each channel.
fn per_pixel(s: &Shape) -> ((u32, u32, u32), u32) {
    ((s.out_width as u32, s.out_height as u32, s.batch as u32), s.channels as u32)
}

fn conv2d_depthwise(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let (x, filter) = (gpu.random::<f32>(s.input()), gpu.random::<f32>(s.kernel * s.kernel * s.channels));
    let n = s.pixels() * s.channels;
    let (dx, df, dy) = (gpu.upload(&x), gpu.upload(&filter), gpu.uninit::<f32>(n));
    let (grid, block) = per_pixel(&s);
    gpu.launch("conv2d_depthwise", grid, block, args![dx, df, dy, s.param()]);
    let value = |i: usize| {
        let (c, pixel) = (i % s.channels, i / s.channels);
        let tap = |(tap, at)| {
            f64::from(x[s.image(pixel) + at * s.channels + c]) * f64::from(filter[tap * s.channels + c])
        };
        s.window(pixel).into_iter().map(tap).sum()
    };
    assert_close(&gpu.read(dy), &(0..n).map(value).collect::<Vec<f64>>(), 1e-6, 1e-6);
}

/// Largest element of each window and its pixel; of equal ones the first.
fn max_pooled(s: &Shape, x: &[f32]) -> Vec<(f32, i32)> {
    let value = |i: usize| {
        let (c, pixel) = (i % s.channels, i / s.channels);
        s.window(pixel).into_iter().fold((f32::NEG_INFINITY, -1), |best, (_, at)| {
            let v = x[s.image(pixel) + at * s.channels + c];
            if v > best.0 { (v, at as i32) } else { best }
        })
    };
    (0..s.pixels() * s.channels).map(value).collect()
}

fn max_pool(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let x: Vec<f32> = (0..s.input()).map(|_| f32::from(gpu.rng.i8(-9..9))).collect();
    let n = s.pixels() * s.channels;
    let (dx, dy, place) = (gpu.upload(&x), gpu.uninit::<f32>(n), gpu.uninit::<i32>(n));
    gpu.launch("max_pool", n.div_ceil(64) as u32, 64, args![dx, dy, place, s.param()]);
    let want = max_pooled(&s, &x);
    assert_same(&gpu.read(dy), &want.iter().map(|w| w.0).collect::<Vec<_>>());
    assert_same(&gpu.read(place), &want.iter().map(|w| w.1).collect::<Vec<_>>());
}

fn max_pool_gradient(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let x = gpu.random::<f32>(s.input());
    let places: Vec<i32> = max_pooled(&s, &x).iter().map(|p| p.1).collect();
    let dy: Vec<f32> = places.iter().map(|_| f32::from(gpu.rng.i8(..))).collect();
    let (ddy, dp, dx) = (gpu.upload(&dy), gpu.upload(&places), gpu.zeros::<f32>(s.input()));
    gpu.launch("max_pool_gradient", dy.len().div_ceil(64) as u32, 64, args![ddy, dp, dx, s.param()]);
    let mut want = vec![0.0; s.input()];
    for (i, (dy, place)) in dy.iter().zip(&places).enumerate() {
        want[s.image(i / s.channels) + *place as usize * s.channels + i % s.channels] += dy;
    }
    // Sums of small whole numbers are exact; a zero may have either sign.
    let plain = |x: Vec<f32>| x.into_iter().map(|x| x + 0.0).collect::<Vec<f32>>();
    assert_same(&plain(gpu.read(dx)), &plain(want));
}

fn average_pool(gpu: &mut Gpu) {
    let s = Shape::random(gpu);
    let x = gpu.random::<f32>(s.input());
    let n = s.pixels() * s.channels;
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(n));
    let (grid, block) = per_pixel(&s);
    gpu.launch("average_pool", grid, block, args![dx, dy, s.param()]);
    let value = |i: usize| {
        let (c, pixel) = (i % s.channels, i / s.channels);
        let window = s.window(pixel);
        let sum: f64 = window.iter().map(|(_, at)| f64::from(x[s.image(pixel) + at * s.channels + c])).sum();
        sum / window.len() as f64
    };
    assert_close(&gpu.read(dy), &(0..n).map(value).collect::<Vec<f64>>(), 1e-6, 1e-6);
}

fn filter_1d(gpu: &mut Gpu) {
    const TAPS: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 1.0, -0.5, -0.25, -0.125, -0.0625];
    for block in [32usize, 100] {
        let n = gpu.len(500);
        let x = gpu.random::<f32>(n);
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(n));
        let shared = 4 * (block as u64 + 8);
        gpu.launch_shared(
            "filter_1d",
            n.div_ceil(block) as u32,
            block as u32,
            shared,
            args![dx, dy, n as i32],
        );
        let at = |i: usize| i.checked_sub(4).and_then(|i| x.get(i)).map_or(0.0, |&x| f64::from(x));
        let value = |i: usize| (0..9).map(|j| TAPS[j] * at(i + j)).sum();
        assert_close(&gpu.read(dy), &(0..n).map(value).collect::<Vec<f64>>(), 1e-6, 1e-6);
    }
}

fn heat_3d(gpu: &mut Gpu) {
    let (nx, ny, nz) = (1 + gpu.len(12), 1 + gpu.len(9), 1 + gpu.len(7));
    let x = gpu.random::<f64>(nx * ny * nz);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f64>(x.len()));
    let grid = (nx.div_ceil(8) as u32, ny.div_ceil(4) as u32, nz.div_ceil(2) as u32);
    gpu.launch("heat_3d", grid, (8, 4, 2), args![dx, dy, nx as i32, ny as i32, nz as i32, 0.1f64]);
    let value = |at: usize| {
        let (i, j, k) = (at % nx, at / nx % ny, at / nx / ny);
        let inner = i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1;
        let neighbours = |at: usize| [at - 1, at + 1, at - nx, at + nx, at - nx * ny, at + nx * ny];
        if inner {
            x[at] + 0.1 * (neighbours(at).map(|n| x[n]).iter().sum::<f64>() - 6.0 * x[at])
        } else {
            x[at]
        }
    };
    assert_close(&gpu.read(dy), &(0..x.len()).map(value).collect::<Vec<_>>(), 1e-14, 1e-14);
}

fn resize_bilinear(gpu: &mut Gpu) {
    let (h, w, oh, ow) = (1 + gpu.len(20), 1 + gpu.len(20), 1 + gpu.len(30), 1 + gpu.len(30));
    let x = gpu.random::<u8>(h * w);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<u8>(oh * ow));
    let grid = (ow.div_ceil(16) as u32, oh.div_ceil(8) as u32);
    gpu.launch("resize_bilinear", grid, (16, 8), args![dx, dy, h as i32, w as i32, oh as i32, ow as i32]);
    let value = |i: usize| {
        let (fy, fx) =
            ((i / ow * (h - 1)) as f64 / (oh - 1) as f64, (i % ow * (w - 1)) as f64 / (ow - 1) as f64);
        let (y0, x0) = ((fy + 1e-6) as usize, (fx + 1e-6) as usize);
        let pixel = |r: usize, c: usize| f64::from(x[r.min(h - 1) * w + c.min(w - 1)]);
        let (ty, tx) = (fy - y0 as f64, fx - x0 as f64);
        let row = |r: usize| pixel(r, x0) * (1.0 - tx) + pixel(r, x0 + 1) * tx;
        row(y0) * (1.0 - ty) + row(y0 + 1) * ty
    };
    // Rounded to whole numbers: half a step, and what single precision adds.
    assert_close(&gpu.read(dy), &(0..oh * ow).map(value).collect::<Vec<_>>(), 0.0, 0.501);
}
