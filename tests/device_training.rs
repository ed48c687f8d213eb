//! Training a small network through eager ops, on a device and on the host: both see the same
//! losses. The device is the CPU device, and in a separate process a GPU of the driver that stands
//! in for CUDA's, whose DNN library does not convolve: there the network has no convolutions.
#![cfg(feature = "full")]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[path = "../cuda/gpu/tests/stand_in/build.rs"]
mod build;

use std::process::Command;
use std::sync::Arc;

use tfrt::host::{AsyncValueRef, Chain, DType, Diagnostic};
use tfrt::{Choice, DeviceOptions, Runtime};
use tfrt_eager::{DeviceTensor, Eager, OpAttrs, Tensor};

type Result<T> = std::result::Result<T, Diagnostic>;

const BATCH: usize = 6;
const CLASSES: usize = 3;
const STEPS: usize = 8;

/// Numbers that look random, the same in each run.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        // Knuth's linear congruence, of which the upper bits are good.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(next).collect()
}

/// Two convolutions (if it has any), one normalized and one with a bias, pooling of both kinds, and
/// a product; each has its optimizer.
struct Network {
    eager: Eager,
    convolves: bool,
    /// Variables: filter, scale, offset; filter, bias; weights. With what their optimizers keep.
    parameters: Vec<[Tensor; 3]>,
    chain: AsyncValueRef<Chain>,
}

fn attrs(set: impl FnOnce(&mut OpAttrs) -> Result<()>) -> Result<OpAttrs> {
    let mut attrs = OpAttrs::new();
    set(&mut attrs)?;
    Ok(attrs)
}

fn window(stride: i64) -> Result<OpAttrs> {
    attrs(|attrs| {
        attrs.set_array("strides", &[1, stride, stride, 1])?;
        attrs.set_string("padding", "SAME")
    })
}

fn pooling(padding: &str) -> Result<OpAttrs> {
    attrs(|attrs| {
        attrs.set_array("ksize", &[1i64, 2, 2, 1])?;
        attrs.set_array("strides", &[1i64, 2, 2, 1])?;
        attrs.set_string("padding", padding)
    })
}

fn flag(name: &str) -> Result<OpAttrs> {
    attrs(|attrs| attrs.set(name, true))
}

impl Network {
    fn new(eager: Eager, convolves: bool) -> Result<Self> {
        let mut network =
            Self { eager, convolves, parameters: Vec::new(), chain: AsyncValueRef::available(Chain) };
        // The channels after each convolution, and the final size of an image.
        let (first, second, left) = if convolves { (4, 5, 5) } else { (2, 2, 8) };
        let shapes: [&[usize]; 6] =
            [&[3, 3, 2, 4], &[first], &[first], &[2, 3, 4, 5], &[second], &[left, CLASSES]];
        for (seed, shape) in shapes.into_iter().enumerate() {
            let count = shape.iter().product();
            let values = if seed == 1 { vec![1.0; count] } else { numbers(count, seed as u64) };
            let zeros = vec![0.0; count];
            let variables = [&values, &zeros, &zeros].map(|values| network.variable(shape, values));
            let [value, first, second] = variables;
            network.parameters.push([value?, first?, second?]);
        }
        Ok(network)
    }

    fn one(&self, op: &str, arguments: &[&Tensor], attrs: &OpAttrs) -> Result<Tensor> {
        Ok(self.eager.call(op, arguments, attrs, 1)?.remove(0))
    }

    fn plain(&self, op: &str, arguments: &[&Tensor]) -> Result<Tensor> {
        self.one(op, arguments, &OpAttrs::new())
    }

    fn ordered(
        &mut self,
        op: &str,
        arguments: &[&Tensor],
        attrs: &OpAttrs,
        results: usize,
    ) -> Result<Option<Tensor>> {
        Ok(self.eager.call_in_order(op, arguments, attrs, results, &mut self.chain)?.pop())
    }

    fn variable(&mut self, shape: &[usize], values: &[f32]) -> Result<Tensor> {
        let handle = self.one("tf.VarHandleOp", &[], &attrs(|attrs| attrs.set_type("dtype", DType::F32))?)?;
        let shape = tfrt_tensor::TensorShape::new(shape)?;
        let value = self.eager.tensor(shape, values)?;
        self.ordered("tf.AssignVariableOp", &[&handle, &value], &OpAttrs::new(), 0)?;
        Ok(handle)
    }

    fn read(&mut self, at: usize) -> Result<Tensor> {
        let handle = self.parameters[at][0].clone();
        let value = self.ordered("tf.ReadVariableOp", &[&handle], &OpAttrs::new(), 1)?;
        value.ok_or_else(|| Diagnostic::internal("nothing was read"))
    }

    fn number(&self, value: f32) -> Result<Tensor> {
        self.eager.tensor([0usize; 0], &[value])
    }

    fn sizes(&self, tensor: &Tensor) -> Result<Tensor> {
        self.plain("tf.Shape", &[tensor])
    }

    /// Takes the step that a gradient asks for: with Adam for filters, momentum for vectors,
    /// plainly for the rest.
    fn descend(&mut self, at: usize, gradient: &Tensor, step: i32) -> Result<()> {
        let [value, first, second] = self.parameters[at].clone();
        let number = |x: f32| self.number(x);
        match at {
            0 | 3 => {
                let (beta1, beta2) = (0.9f32, 0.99f32);
                let powers = [number(beta1.powi(step))?, number(beta2.powi(step))?];
                let rest = [number(0.01)?, number(beta1)?, number(beta2)?, number(1e-6)?];
                let arguments = [
                    &value, &first, &second, &powers[0], &powers[1], &rest[0], &rest[1], &rest[2], &rest[3],
                    gradient,
                ];
                self.ordered("tf.ResourceApplyAdam", &arguments, &OpAttrs::new(), 0)?;
            }
            5 => {
                let rate = number(0.1)?;
                self.ordered(
                    "tf.ResourceApplyGradientDescent",
                    &[&value, &rate, gradient],
                    &OpAttrs::new(),
                    0,
                )?;
            }
            _ => {
                let (rate, momentum) = (number(0.05)?, number(0.9)?);
                let arguments = [&value, &first, &rate, gradient, &momentum];
                self.ordered("tf.ResourceApplyMomentum", &arguments, &flag("use_nesterov")?, 0)?;
            }
        }
        Ok(())
    }

    fn convolved(&self, x: &Tensor, filter: &Tensor, stride: i64) -> Result<Tensor> {
        match self.convolves {
            true => self.one("tf.Conv2D", &[x, filter], &window(stride)?),
            false => Ok(x.clone()),
        }
    }

    /// The gradients with respect to the filter and to the images.
    fn convolution_gradients(
        &self,
        x: &Tensor,
        filter: &Tensor,
        dy: &Tensor,
        stride: i64,
    ) -> Result<(Tensor, Tensor)> {
        if !self.convolves {
            return Ok((filter.clone(), dy.clone()));
        }
        let of_filter = [x, &self.sizes(filter)?, dy];
        let of_x = [&self.sizes(x)?, filter, dy];
        Ok((
            self.one("tf.Conv2DBackpropFilter", &of_filter, &window(stride)?)?,
            self.one("tf.Conv2DBackpropInput", &of_x, &window(stride)?)?,
        ))
    }

    /// One step; the losses before it, and whether the last gradient was on a device.
    fn step(&mut self, images: &Tensor, labels: &Tensor, step: i32) -> Result<(Vec<f32>, bool)> {
        let training = attrs(|attrs| attrs.set("is_training", true))?;
        let mut values = Vec::new();
        for at in 0..6 {
            values.push(self.read(at)?);
        }
        let [filter, scale, offset, filter2, bias, weights] = values.as_slice() else {
            return Err(Diagnostic::internal("six variables"));
        };
        // Forward.
        let sums = self.convolved(images, filter, 1)?;
        let nothing = self.eager.tensor([0], &[0f32; 0])?;
        let arguments = [&sums, scale, offset, &nothing, &nothing];
        let normal = self.eager.call("tf.FusedBatchNormV3", &arguments, &training, 6)?;
        let active = self.plain("tf.Relu", &[&normal[0]])?;
        let pooled = self.one("tf.MaxPool", &[&active], &pooling("VALID")?)?;
        let second = self.convolved(&pooled, filter2, 2)?;
        let second = self.plain("tf.Tanh", &[&self.plain("tf.BiasAdd", &[&second, bias])?])?;
        let means = self.one("tf.AvgPool", &[&second], &pooling("SAME")?)?;
        let flat = means.reshape(&[BATCH as i64, -1])?;
        let scores = flat.matmul(weights)?;
        let losses = self.eager.call(
            "tf.SparseSoftmaxCrossEntropyWithLogits",
            &[&scores, labels],
            &OpAttrs::new(),
            2,
        )?;
        // Backward.
        let of_weights = self.one("tf.MatMul", &[&flat, &losses[1]], &flag("transpose_a")?)?;
        let of_flat = self.one("tf.MatMul", &[&losses[1], weights], &flag("transpose_b")?)?;
        let of_means = self.plain("tf.Reshape", &[&of_flat, &self.sizes(&means)?])?;
        let of_second = self.one("tf.AvgPoolGrad", &[&self.sizes(&second)?, &of_means], &pooling("SAME")?)?;
        let of_second = self.plain("tf.TanhGrad", &[&second, &of_second])?;
        let of_bias = self.plain("tf.BiasAddGrad", &[&of_second])?;
        let (of_filter2, of_pooled) = self.convolution_gradients(&pooled, filter2, &of_second, 2)?;
        let of_active = self.one("tf.MaxPoolGrad", &[&active, &pooled, &of_pooled], &pooling("VALID")?)?;
        let of_normal = self.plain("tf.ReluGrad", &[&of_active, &active])?;
        let arguments = [&of_normal, &sums, scale, &normal[3], &normal[4], &normal[5]];
        let normal = self.eager.call("tf.FusedBatchNormGradV3", &arguments, &training, 5)?;
        let (of_filter, _) = self.convolution_gradients(images, filter, &normal[0], 1)?;
        let gradients = [&of_filter, &normal[1], &normal[2], &of_filter2, &of_bias, &of_weights];
        for (at, gradient) in gradients.into_iter().enumerate() {
            self.descend(at, gradient, step)?;
        }
        let host = self.eager.request().host().clone();
        host.await_values(&[self.chain.as_untyped().clone(), normal[1].handle().tensor().clone()])?;
        let on_device = normal[1].handle().tensor().get::<DeviceTensor>().is_some();
        Ok((losses[0].to_vec()?, on_device))
    }
}

/// The mean loss before each step.
fn train(eager: Eager, convolves: bool, on_device: bool) -> Result<Vec<f32>> {
    let images = eager.tensor([BATCH, 8, 8, 2], &numbers(BATCH * 128, 100))?;
    let labels: Vec<i32> = (0..BATCH).map(|image| (image % CLASSES) as i32).collect();
    let labels = eager.tensor([BATCH], &labels)?;
    let mut network = Network::new(eager, convolves)?;
    let mut means = Vec::new();
    for step in 1..=STEPS {
        let (losses, was_on_device) = network.step(&images, &labels, step as i32)?;
        assert_eq!(was_on_device, on_device);
        means.push(losses.iter().sum::<f32>() / losses.len() as f32);
    }
    Ok(means)
}

/// Trains on a device of this kind and on the host.
fn compare(choice: Choice, name: &str, convolves: bool) {
    let queue = tfrt::host::work_queue::from_str("mstd:2").unwrap();
    let runtime = Runtime::builder().work_queue(queue).build().unwrap();
    let mut options = DeviceOptions::default();
    (options.choice, options.memory_bytes) = (choice, 64 << 20);
    let platform = options.open().unwrap();
    let device = platform.device(0).unwrap();
    assert!(device.properties().name.contains(name), "{}", device.properties().name);
    let cpu = runtime.cpu().unwrap();
    let host = Arc::clone(cpu.request().host());
    let expected = train(cpu, convolves, false).unwrap();
    let found = train(Eager::on_device(&host, &device).unwrap(), convolves, true).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-3 * expected, "{found:?} instead of {expected:?}");
    }
    assert!(expected[STEPS - 1] < 0.9 * expected[0], "{expected:?}");
}

#[test]
fn losses_on_the_cpu_device_are_those_on_the_host() {
    compare(Choice::Cpu, "CPU device", true);
}

/// The driver is looked for once in a process, so that the test calls itself where it finds the
/// stand-in.
#[test]
fn losses_over_the_stand_in_driver_are_those_on_the_host() {
    const CALLED: &str = "TFRT_TEST_ON_THE_STAND_IN";
    if std::env::var_os(CALLED).is_some() {
        return compare(Choice::Cuda(Some(0)), "Stand-in GPU", false);
    }
    let libraries = build::libraries().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = build::found_in(&mut command, libraries.path())
        .env(CALLED, "1")
        .args(["--exact", "losses_over_the_stand_in_driver_are_those_on_the_host"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}
