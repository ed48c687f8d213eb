//! A network for MNIST, 784 – 128 – 10, in f32: inference and a training step of a batch of 128,
//! launch by launch and as one graph. `ci/gpu/torch_mnist.py` measures the same with PyTorch, from
//! the same numbers.

use tfrt_device::front::{BlasHandle, DeviceBuffer};
use tfrt_device::hal::Transpose;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{
    Activation, Affine, CrossEntropyBuffers, Gradient, LabelType, Reduction, ReductionShape, Rows,
};

use super::throughput::Product;
use super::{Bench, Outcome, Report};

const BATCH: u64 = 128;
const INPUTS: u64 = 784;
const HIDDEN: u64 = 128;
const CLASSES: u64 = 10;
const RATE: f32 = 0.1;

/// Row-major matrices: to the column-major library they are their transposes.
struct Network<'a> {
    bench: &'a Bench,
    blas: BlasHandle,
    x: DeviceBuffer,
    labels: DeviceBuffer,
    weights: [DeviceBuffer; 2],
    biases: [DeviceBuffer; 2],
    hidden: DeviceBuffer,
    logits: DeviceBuffer,
    loss: DeviceBuffer,
    logits_gradient: DeviceBuffer,
    hidden_gradient: DeviceBuffer,
    weight_gradients: [DeviceBuffer; 2],
    bias_gradients: [DeviceBuffer; 2],
}

pub(super) fn measure(bench: &Bench, report: &mut Report) -> Outcome {
    let network = match bench.context.create_blas() {
        Ok(blas) => Network::new(bench, blas)?,
        Err(error) => {
            eprintln!("device: no network: {error}");
            return Ok(());
        }
    };
    let first = network.loss()?;
    let inference = || network.forward();
    let training = || network.step();
    let works: [(&str, &dyn Fn() -> Outcome); 2] = [("inference", &inference), ("training step", &training)];
    for (name, work) in works {
        report.add(format!("MNIST network, {name}, launches"), network.step_seconds(work)? * 1e6, "µs");
        bench.stream.begin_capture()?;
        work()?;
        let graph = bench.stream.end_capture()?;
        let launch = || bench.stream.launch_graph(&graph);
        report.add(format!("MNIST network, {name}, graph"), network.step_seconds(&launch)? * 1e6, "µs");
    }
    let last = network.loss()?;
    // The same batch again and again: it must have been learned, or something is wrong.
    if last.is_nan() || last >= first {
        let message = format!("training does not help: the loss went from {first} to {last}");
        return Err(Diagnostic::new(tfrt_host::ErrorCode::Unknown, message));
    }
    report.add("MNIST network, loss at first", first.into(), "");
    report.add("MNIST network, loss at last", last.into(), "");
    Ok(())
}

/// The images and the two matrices of weights, row by row. The biases are zero, and the label of
/// image `i` is `7 i mod 10`.
pub(crate) fn numbers() -> [Vec<f32>; 3] {
    let mut random = fastrand::Rng::with_seed(1);
    let matrices = [(BATCH * INPUTS, 2.0), (INPUTS * HIDDEN, 0.1), (HIDDEN * CLASSES, 0.3)];
    matrices.map(|(count, scale)| (0..count).map(|_| (random.f32() - 0.5) * scale).collect())
}

impl<'a> Network<'a> {
    fn new(bench: &'a Bench, blas: BlasHandle) -> Outcome<Self> {
        blas.set_stream(&bench.stream)?;
        let [x, first, second] = numbers();
        let (x, first, second) = (upload(bench, x)?, upload(bench, first)?, upload(bench, second)?);
        let labels = upload(bench, (0..BATCH as i32).map(|i| i * 7 % CLASSES as i32).collect())?;
        let room = |count: u64| bench.allocate(count * 4);
        Ok(Self {
            bench,
            blas,
            x,
            labels,
            weights: [first, second],
            biases: [
                upload(bench, vec![0f32; HIDDEN as usize])?,
                upload(bench, vec![0f32; CLASSES as usize])?,
            ],
            hidden: room(BATCH * HIDDEN)?,
            logits: room(BATCH * CLASSES)?,
            loss: room(BATCH)?,
            logits_gradient: room(BATCH * CLASSES)?,
            hidden_gradient: room(BATCH * HIDDEN)?,
            weight_gradients: [room(INPUTS * HIDDEN)?, room(HIDDEN * CLASSES)?],
            bias_gradients: [room(HIDDEN)?, room(CLASSES)?],
        })
    }

    fn product(
        &self,
        [m, n, k]: [u64; 3],
        transpose: [Transpose; 2],
        [a, b, c]: [&DeviceBuffer; 3],
    ) -> Outcome {
        Product { dtype: DType::F32, m, n, k, transpose }.run(&self.blas, a, b, c)
    }

    fn forward(&self) -> Outcome {
        let Bench { kernels, stream, .. } = self.bench;
        let plain = [Transpose::None; 2];
        let affine = |channels, activation| Affine { rows: BATCH, channels, residual: None, activation };
        let (hidden, logits) = (&self.hidden, &self.logits);
        self.product([HIDDEN, BATCH, INPUTS], plain, [&self.weights[0], &self.x, hidden])?;
        let relu = affine(HIDDEN, Activation::Relu);
        kernels.bias_activation(stream, DType::F32, hidden, hidden, &self.biases[0], relu)?;
        self.product([CLASSES, BATCH, HIDDEN], plain, [&self.weights[1], hidden, logits])?;
        let identity = affine(CLASSES, Activation::Identity);
        Ok(kernels.bias_activation(stream, DType::F32, logits, logits, &self.biases[1], identity)?)
    }

    fn step(&self) -> Outcome {
        self.forward()?;
        self.backward()?;
        let Bench { kernels, stream, .. } = self.bench;
        let parameters = self.weights.iter().zip(&self.weight_gradients);
        for (w, g) in parameters.chain(self.biases.iter().zip(&self.bias_gradients)) {
            kernels.sgd(stream, DType::F32, w, g, w.len() / 4, [RATE, 0.0])?;
        }
        Ok(())
    }

    fn backward(&self) -> Outcome {
        let Bench { kernels, stream, .. } = self.bench;
        let (none, turned) = (Transpose::None, Transpose::Transposed);
        let buffers = CrossEntropyBuffers {
            loss: Some(&self.loss),
            gradient: Some(&self.logits_gradient),
            logits: &self.logits,
            labels: &self.labels,
        };
        let rows = Rows { rows: BATCH, columns: CLASSES };
        kernels.cross_entropy(stream, DType::F32, LabelType::I32, buffers, rows, 1.0 / BATCH as f32)?;
        let (logits, hidden) = (&self.logits_gradient, &self.hidden_gradient);
        let [first, second] = &self.weight_gradients;
        self.product([CLASSES, HIDDEN, BATCH], [none, turned], [logits, &self.hidden, second])?;
        self.column_sums(logits, CLASSES, &self.bias_gradients[1])?;
        self.product([HIDDEN, BATCH, CLASSES], [turned, none], [&self.weights[1], logits, hidden])?;
        let operands = [hidden, &self.hidden];
        let n = BATCH * HIDDEN;
        kernels.activation_gradient(stream, Gradient::Relu, DType::F32, hidden, operands, n)?;
        self.product([HIDDEN, INPUTS, BATCH], [none, turned], [hidden, &self.x, first])?;
        self.column_sums(hidden, HIDDEN, &self.bias_gradients[0])
    }

    fn column_sums(&self, x: &DeviceBuffer, columns: u64, y: &DeviceBuffer) -> Outcome {
        let Bench { kernels, stream, .. } = self.bench;
        let shape = ReductionShape { outer: 1, extent: BATCH, inner: columns };
        Ok(kernels.reduce(stream, Reduction::Sum, DType::F32, y, x, None, shape)?)
    }

    /// Seconds from one step to the next, queued one after the other: what training sees, host and
    /// device together.
    fn step_seconds(&self, work: &dyn Fn() -> Outcome) -> Outcome<f64> {
        let (runs, steps) = if self.bench.short { (1, 2) } else { (5, 200) };
        let mut seconds = Vec::new();
        for run in 0..=runs {
            let start = std::time::Instant::now();
            for _ in 0..steps {
                work()?;
            }
            self.bench.stream.synchronize()?;
            // The first run warms up.
            if run > 0 {
                seconds.push(start.elapsed().as_secs_f64() / f64::from(steps));
            }
        }
        seconds.sort_unstable_by(f64::total_cmp);
        Ok(seconds[seconds.len() / 2])
    }

    /// The mean loss of the batch.
    fn loss(&self) -> Outcome<f32> {
        self.forward()?;
        self.backward()?;
        let bytes = 4 * BATCH;
        let host = HostBuffer::from_vec(vec![0f32; BATCH as usize]);
        let copied = self.bench.stream.copy_to_host(&host, 0, &self.loss, 0, bytes)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        copied.when_done(move |outcome| drop(sender.send(outcome)))?;
        let gone = |_| Diagnostic::new(tfrt_host::ErrorCode::Unknown, "the copy was lost");
        receiver.recv().map_err(gone)??;
        let losses = host
            .read(0)
            .map_err(|error| Diagnostic::new(tfrt_host::ErrorCode::DataRace, error.to_string()))?;
        let sum: f32 = losses.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).sum();
        Ok(sum / BATCH as f32)
    }
}

fn upload<T: bytemuck::Pod + Send + Sync>(bench: &Bench, elements: Vec<T>) -> Outcome<DeviceBuffer> {
    let bytes = (elements.len() * size_of::<T>()) as u64;
    let buffer = bench.allocate(bytes)?;
    bench.stream.copy_from_host(&buffer, 0, &HostBuffer::from_vec(elements), 0, bytes)?;
    bench.stream.synchronize()?;
    Ok(buffer)
}
