//! Neural network primitives, against their definitions.

use tfrt_device::error::Status;
use tfrt_device::front::{Context, DnnHandle, DnnTensor};
use tfrt_device::hal::{
    Activation, ActivationMode, Convolution, NanPropagation, Pooling, PoolingMode, Scaling, SoftmaxMode,
    TensorLayout,
};
use tfrt_host::DType;

use super::Case;
use super::support::{Bench, close, fails, layout, numbers};

pub(crate) const CASES: &[Case] = &[
    ("dnn/convolution_matches_definition", convolution_matches_definition),
    ("dnn/gradients_match_differences", gradients_match_differences),
    ("dnn/convolution_beside_what_was_there", convolution_beside_what_was_there),
    ("dnn/strides_of_nhwc", strides_of_nhwc),
    ("dnn/pooling_beyond_the_buffer", pooling_beyond_the_buffer),
    ("dnn/softmax_sums_to_one", softmax_sums_to_one),
    ("dnn/arguments_are_checked", arguments_are_checked),
];

fn dnn(bench: &Bench) -> DnnHandle {
    let dnn = bench.context.create_dnn().unwrap();
    fails(dnn.stream(), Status::IllegalState);
    dnn.set_stream(&bench.stream).unwrap();
    dnn
}

fn plain() -> Convolution {
    Convolution {
        padding: vec![1, 1],
        strides: vec![2, 1],
        dilations: vec![1, 1],
        groups: 1,
        cross_correlation: true,
        compute: DType::F32,
        algorithm: -1,
    }
}

/// The convolution by its definition, of dense NCHW images.
fn convolved(c: &Convolution, x: (&[f32], &[u64]), w: (&[f32], &[u64]), y_dims: &[u64]) -> Vec<f32> {
    let at = |dims: &[u64], index: [u64; 4]| {
        (((index[0] * dims[1] + index[1]) * dims[2] + index[2]) * dims[3] + index[3]) as usize
    };
    let inside = |out: u64, tap: u64, axis: usize| {
        (out * c.strides[axis] + tap * c.dilations[axis])
            .checked_sub(c.padding[axis])
            .filter(|&place| place < x.1[axis + 2])
    };
    let mut y = vec![0.0; y_dims.iter().product::<u64>() as usize];
    let (outputs, channels) = (y_dims[1] / c.groups, w.1[1]);
    for n in 0..y_dims[0] {
        for k in 0..y_dims[1] {
            for (p, q) in (0..y_dims[2]).flat_map(|p| (0..y_dims[3]).map(move |q| (p, q))) {
                let mut sum = 0.0;
                for ch in 0..channels {
                    for (r, s) in (0..w.1[2]).flat_map(|r| (0..w.1[3]).map(move |s| (r, s))) {
                        if let (Some(h), Some(v)) = (inside(p, r, 0), inside(q, s, 1)) {
                            let channel = k / outputs * channels + ch;
                            sum += x.0[at(x.1, [n, channel, h, v])] * w.0[at(w.1, [k, ch, r, s])];
                        }
                    }
                }
                y[at(y_dims, [n, k, p, q])] = sum;
            }
        }
    }
    y
}

fn relu() -> Activation {
    Activation { mode: ActivationMode::Relu, coefficient: 0.0, nan: NanPropagation::Propagate }
}

fn convolution_matches_definition(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    for (convolution, x_dims, w_dims, y_dims) in [
        (plain(), [2, 3, 7, 6], [4, 3, 3, 3], [2, 4, 4, 6]),
        (Convolution { groups: 2, ..plain() }, [1, 4, 5, 5], [6, 2, 3, 3], [1, 6, 3, 5]),
        (
            Convolution { dilations: vec![2, 2], strides: vec![1, 1], ..plain() },
            [1, 2, 8, 8],
            [3, 2, 3, 3],
            [1, 3, 6, 6],
        ),
        (
            Convolution { padding: vec![0, 0], strides: vec![1, 1], ..plain() },
            [3, 8, 4, 4],
            [5, 8, 1, 1],
            [3, 5, 4, 4],
        ),
    ] {
        let (xl, wl, yl) = (layout(&x_dims), layout(&w_dims), layout(&y_dims));
        let (x, w) = (numbers(xl.elements() as usize, 1), numbers(wl.elements() as usize, 2));
        let (bias, residual) = (numbers(y_dims[1] as usize, 3), numbers(yl.elements() as usize, 4));
        let bl = layout(&[1, y_dims[1], 1, 1]);
        let (dx, dw, dy) = (bench.upload(&x), bench.upload(&w), bench.upload(&residual));
        let db = bench.upload(&bias);
        let tensors = [DnnTensor::new(&xl, &dx), DnnTensor::new(&wl, &dw), DnnTensor::new(&yl, &dy)];
        let expected = convolved(&convolution, (&x, &x_dims), (&w, &w_dims), &y_dims);
        dnn.convolution_forward(
            &convolution,
            Scaling::ONE,
            tensors,
            Some(DnnTensor::new(&bl, &db)),
            Some((tensors[2], 0.5)),
            Some(relu()),
        )
        .unwrap();
        let pixels = (y_dims[2] * y_dims[3]) as usize;
        let fused: Vec<f32> = expected
            .iter()
            .enumerate()
            .map(|(i, e)| (e + 0.5 * residual[i] + bias[i / pixels % bias.len()]).max(0.0))
            .collect();
        close(&bench.download(&dy, fused.len()), &fused, 1e-4);
        dnn.convolution_forward(&convolution, Scaling { alpha: 2.0, beta: 0.0 }, tensors, None, None, None)
            .unwrap();
        let doubled: Vec<f32> = expected.iter().map(|e| 2.0 * e).collect();
        close(&bench.download(&dy, doubled.len()), &doubled, 1e-4);
    }
}

/// `<dy, conv(x, w)>` changes with `x` and `w` as the gradients say: it is linear in both, so that
/// the products of a tensor with its gradient equal it.
fn gradients_match_differences(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let (convolution, y_dims) = (plain(), [2, 4, 4, 6]);
    let (xl, wl, yl) = (layout(&[2, 3, 7, 6]), layout(&[4, 3, 3, 3]), layout(&y_dims));
    let (x, w, gradient) = (numbers(252, 5), numbers(108, 6), numbers(yl.elements() as usize, 7));
    let (dx, dw, dy) = (bench.upload(&x), bench.upload(&w), bench.upload(&gradient));
    let y = convolved(&convolution, (&x, &xl.dims), (&w, &wl.dims), &y_dims);
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let expected = dot(&y, &gradient);
    let result = bench.upload(&vec![0f32; 252]);
    let tensors = [DnnTensor::new(&xl, &result), DnnTensor::new(&wl, &dw), DnnTensor::new(&yl, &dy)];
    dnn.convolution_backward_data(&convolution, Scaling::ONE, tensors).unwrap();
    close(&[dot(&bench.download::<f32>(&result, 252), &x)], &[expected], 1e-4);
    let result = bench.upload(&vec![0f32; 108]);
    let tensors = [DnnTensor::new(&xl, &dx), DnnTensor::new(&wl, &result), DnnTensor::new(&yl, &dy)];
    dnn.convolution_backward_filter(&convolution, Scaling::ONE, tensors).unwrap();
    close(&[dot(&bench.download::<f32>(&result, 108), &w)], &[expected], 1e-4);
}

/// The same images, channels last.
fn strides_of_nhwc(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let nhwc = |dims: [u64; 4]| TensorLayout {
        dtype: DType::F32,
        dims: dims.to_vec(),
        strides: vec![dims[1] * dims[2] * dims[3], 1, dims[3] * dims[1], dims[1]],
    };
    let turned = |list: &[f32], dims: [u64; 4]| -> Vec<f32> {
        let [_, c, h, w] = dims.map(|d| d as usize);
        let place = |i: usize| {
            let (n, rest) = (i / (c * h * w), i % (c * h * w));
            (n * c + rest % c) * h * w + rest / c
        };
        (0..list.len()).map(|i| list[place(i)]).collect()
    };
    let turned_back = |list: &[f32], dims: [u64; 4]| -> Vec<f32> {
        let places: Vec<f32> = (0..list.len()).map(|i| i as f32).collect();
        let mut back = vec![0.0; list.len()];
        turned(&places, dims).iter().zip(list).for_each(|(&place, &number)| back[place as usize] = number);
        back
    };
    let (x_dims, w_dims, y_dims) = ([2, 3, 7, 6], [4, 3, 3, 3], [2, 4, 4, 6]);
    let (x, w) = (numbers(252, 8), numbers(108, 9));
    let (xl, wl, yl) = (nhwc(x_dims), nhwc(w_dims), nhwc(y_dims));
    let (dx, dw) = (bench.upload(&turned(&x, x_dims)), bench.upload(&turned(&w, w_dims)));
    let dy = bench.upload(&vec![0f32; 192]);
    let tensors = [DnnTensor::new(&xl, &dx), DnnTensor::new(&wl, &dw), DnnTensor::new(&yl, &dy)];
    dnn.convolution_forward(&plain(), Scaling::ONE, tensors, None, None, None).unwrap();
    let expected = convolved(&plain(), (&x, &x_dims), (&w, &w_dims), &y_dims);
    close(&bench.download(&dy, 192), &turned(&expected, y_dims), 1e-4);
    // Bias and residual too, which is what the result is written over; and the filter is another
    // one than before.
    bench.stream.copy((&dw, 0), (&dx, 0), 4 * 108, true).unwrap();
    let w = turned_back(&turned(&x, x_dims)[..108], w_dims);
    let (bias, bl) = (numbers(4, 10), nhwc([1, 4, 1, 1]));
    let db = bench.upload(&bias);
    let (bias_tensor, residual) = (Some(DnnTensor::new(&bl, &db)), Some((tensors[2], 1.0)));
    dnn.convolution_forward(&plain(), Scaling::ONE, tensors, bias_tensor, residual, Some(relu())).unwrap();
    let sums = convolved(&plain(), (&x, &x_dims), (&w, &w_dims), &y_dims);
    let all =
        sums.iter().zip(&expected).enumerate().map(|(i, (sum, e))| (sum + e + bias[i / 24 % 4]).max(0.0));
    close(&bench.download(&dy, 192), &turned(&all.collect::<Vec<_>>(), y_dims), 1e-4);
}

/// Layouts that describe more than there is: what exists is computed, and nothing else is touched.
fn pooling_beyond_the_buffer(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let pooling = Pooling {
        mode: PoolingMode::Max,
        nan: NanPropagation::NotPropagate,
        window: vec![2, 2],
        padding: vec![0, 0],
        strides: vec![1, 1],
    };
    let (xl, yl) = (layout(&[1, 1, 4, 4]), layout(&[1, 1, 3, 3]));
    let x = bench.upload(&[1f32, 5.0, 2.0, 0.0, 3.0, 4.0, 9.0, 0.0]);
    let y = bench.upload(&[0f32; 3]);
    dnn.pooling_forward(&pooling, Scaling::ONE, DnnTensor::new(&xl, &x), DnnTensor::new(&yl, &y)).unwrap();
    assert_eq!(bench.download::<f32>(&y, 3), [5.0, 9.0, 9.0]);
}

fn softmax_sums_to_one(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let l = layout(&[5, 10, 1, 1]);
    let x = numbers(50, 10);
    let (dx, dy) = (bench.upload(&x), bench.upload(&[0f32; 50]));
    let mode = SoftmaxMode { per_pixel: true, log: false, fast: false };
    dnn.softmax_forward(mode, Scaling::ONE, DnnTensor::new(&l, &dx), DnnTensor::new(&l, &dy)).unwrap();
    for (row, x) in bench.download::<f32>(&dy, 50).chunks(10).zip(x.chunks(10)) {
        let sum: f32 = x.iter().map(|x| x.exp()).sum();
        close(row, &x.iter().map(|x| x.exp() / sum).collect::<Vec<_>>(), 1e-5);
    }
    // In place.
    dnn.activation_forward(relu(), Scaling::ONE, DnnTensor::new(&l, &dx), DnnTensor::new(&l, &dx)).unwrap();
    assert_eq!(bench.download::<f32>(&dx, 50), x.iter().map(|x| x.max(0.0)).collect::<Vec<_>>());
}

fn arguments_are_checked(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let (small, large) = (layout(&[1, 1, 2, 2]), layout(&[1, 1, 4, 4]));
    let buffer = bench.buffer(16);
    let (a, b) = (DnnTensor::new(&small, &buffer), DnnTensor::new(&large, &buffer));
    let mode = SoftmaxMode { per_pixel: true, log: false, fast: false };
    fails(dnn.softmax_forward(mode, Scaling::ONE, a, b), Status::DnnBadParam);
    fails(dnn.softmax_forward(mode, Scaling::ONE, b, b), Status::DnnBadParam);
    // Many elements in few places would take more memory to compute with than there is.
    for (dims, strides) in
        [([1 << 40, 1, 1, 1], [0; 4]), ([1 << 20, 1 << 20, 1, 1], [0, 0, 1, 1]), ([2, 2, 2, 1], [1; 4])]
    {
        let crowded = TensorLayout { dtype: DType::F32, dims: dims.to_vec(), strides: strides.to_vec() };
        let crowded = DnnTensor::new(&crowded, &buffer);
        fails(dnn.softmax_forward(mode, Scaling::ONE, crowded, crowded), Status::DnnBadParam);
    }
    let one = Convolution { padding: vec![0, 0], ..plain() };
    fails(dnn.convolution_forward(&one, Scaling::ONE, [a, b, a], None, None, None), Status::DnnBadParam);
    let no_stride = Convolution { strides: vec![0, 1], ..one.clone() };
    fails(
        dnn.convolution_forward(&no_stride, Scaling::ONE, [a, a, a], None, None, None),
        Status::DnnBadParam,
    );
    let groups = Convolution { groups: 2, ..one };
    fails(dnn.convolution_forward(&groups, Scaling::ONE, [a, a, a], None, None, None), Status::DnnBadParam);
    dnn.destroy().unwrap();
    fails(dnn.destroy(), Status::InvalidHandle);
    fails(dnn.softmax_forward(mode, Scaling::ONE, a, a), Status::InvalidHandle);
}

/// What was there is added to the activation's result, not to its operand; beside a residual too.
fn convolution_beside_what_was_there(context: &Context) {
    let bench = Bench::new(context);
    let dnn = dnn(&bench);
    let (one, filter) = (layout(&[1, 1, 2, 2]), layout(&[1, 1, 1, 1]));
    let convolution = Convolution { padding: vec![0, 0], strides: vec![1, 1], ..plain() };
    let (x, w) = (bench.upload(&[-1f32, 1.0, -2.0, 2.0]), bench.upload(&[1f32]));
    let residual = bench.upload(&[0.5f32; 4]);
    let scaling = Scaling { alpha: 1.0, beta: 3.0 };
    let cases: [(_, _, [f32; 4]); 3] = [
        (Some(relu()), None, [6.0, 7.0, 6.0, 8.0]),
        (Some(relu()), Some(2.0), [6.0, 8.0, 6.0, 9.0]),
        (None, Some(2.0), [6.0, 8.0, 5.0, 9.0]),
    ];
    for (activation, factor, expected) in cases {
        let y = bench.upload(&[2f32; 4]);
        let tensors = [DnnTensor::new(&one, &x), DnnTensor::new(&filter, &w), DnnTensor::new(&one, &y)];
        let residual = factor.map(|factor| (DnnTensor::new(&one, &residual), factor));
        dnn.convolution_forward(&convolution, scaling, tensors, None, residual, activation).unwrap();
        close(&bench.download::<f32>(&y, 4), &expected, 1e-5);
    }
}
