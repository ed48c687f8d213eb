//! Training ResNet-50 through eager ops, against PyTorch: `tests/reference/resnet50_training.py`
//! takes the same steps from the same start and writes down the losses, and how far rounding alone
//! carries them.
#![cfg(feature = "full")]

use tfrt::Runtime;
use tfrt::host::{AsyncValueRef, Chain, DType, Diagnostic};
use tfrt_eager::{Eager, OpAttrs, Tensor};
use tfrt_models::resnet50::{self, Layer, Then};

type Result<T> = std::result::Result<T, Diagnostic>;

const BATCH: usize = 2;
const EXTENT: usize = 64;
const SEED: u64 = 1;
const LABELS: [i32; BATCH] = [17, 805];
const RATE: f32 = 3e-4;
const MOMENTUM: f32 = 0.9;
const EPSILON: f32 = 1e-5;

/// A variable and the sum of its gradients, each weighted less the older it is.
struct Parameter {
    value: Tensor,
    momentum: Tensor,
}

/// What the backward pass needs of a layer.
struct Trace {
    at: usize,
    input: Tensor,
    filter: Tensor,
    /// The convolution's result, before it is normalized.
    sums: Tensor,
    scale: Tensor,
    /// Mean and variance of the batch, and what else the gradient takes.
    statistics: [Tensor; 3],
    /// What leaves the layer.
    output: Tensor,
}

/// What the backward pass needs of a block: its layers, and the one that makes the shortcut fit.
struct BlockTrace {
    layers: [Trace; 3],
    shortcut: Option<Trace>,
}

/// The network, with variables for its filters, scales and offsets, layer by layer.
struct Network {
    eager: Eager,
    layers: Vec<Layer>,
    parameters: Vec<Vec<Parameter>>,
    /// Orders the uses of the variables.
    chain: AsyncValueRef<Chain>,
}

/// The attributes that a convolution of this layer has.
fn window(layer: &Layer) -> Result<OpAttrs> {
    let (stride, pad) = (layer.stride as i64, (layer.window / 2) as i64);
    let mut attrs = OpAttrs::new();
    attrs.set_array("strides", &[1, stride, stride, 1])?;
    attrs.set_string("padding", "EXPLICIT")?;
    attrs.set_array("explicit_paddings", &[0, 0, pad, pad, pad, pad, 0, 0])?;
    Ok(attrs)
}

/// The attributes of the pooling after the first layer.
fn pooling() -> Result<OpAttrs> {
    let mut attrs = OpAttrs::new();
    attrs.set_array("ksize", &[1i64, 3, 3, 1])?;
    attrs.set_array("strides", &[1i64, 2, 2, 1])?;
    attrs.set_string("padding", "EXPLICIT")?;
    attrs.set_array("explicit_paddings", &[0i64, 0, 1, 1, 1, 1, 0, 0])?;
    Ok(attrs)
}

fn normalization() -> Result<OpAttrs> {
    let mut attrs = OpAttrs::new();
    attrs.set("epsilon", EPSILON)?;
    attrs.set("is_training", true)?;
    Ok(attrs)
}

fn flag(name: &str) -> Result<OpAttrs> {
    let mut attrs = OpAttrs::new();
    attrs.set(name, true)?;
    Ok(attrs)
}

fn dims(tensor: &Tensor) -> Result<Vec<i64>> {
    let metadata = tensor.metadata().ok_or_else(|| Diagnostic::internal("a shape is not known yet"))??;
    Ok(metadata.shape.dims().iter().map(|&dim| dim as i64).collect())
}

impl Network {
    fn new(eager: Eager, layers: Vec<Layer>) -> Result<Self> {
        let chain = AsyncValueRef::available(Chain);
        let mut network = Self { eager, layers: Vec::new(), parameters: Vec::new(), chain };
        for (at, layer) in layers.iter().enumerate() {
            let weights = resnet50::seeded_weights(layer, at, SEED);
            let (inputs, outputs) = (layer.in_channels, layer.out_channels);
            let parameters = if layer.then == Then::Scores {
                vec![
                    network.parameter(&[inputs, outputs], &weights.filter)?,
                    network.parameter(&[outputs], &weights.bias)?,
                ]
            } else {
                // Each block is its shortcut at first.
                let scale = if layer.then == Then::AddRelu { 0.0 } else { 1.0 };
                vec![
                    network.parameter(&[layer.window, layer.window, inputs, outputs], &weights.filter)?,
                    network.parameter(&[outputs], &vec![scale; outputs])?,
                    network.parameter(&[outputs], &vec![0.0; outputs])?,
                ]
            };
            network.parameters.push(parameters);
        }
        network.layers = layers;
        Ok(network)
    }

    fn parameter(&mut self, dims: &[usize], values: &[f32]) -> Result<Parameter> {
        let value = self.variable(dims, values)?;
        Ok(Parameter { value, momentum: self.variable(dims, &vec![0.0; values.len()])? })
    }

    /// A handle to a new variable.
    fn variable(&mut self, dims: &[usize], values: &[f32]) -> Result<Tensor> {
        let mut attrs = OpAttrs::new();
        attrs.set_type("dtype", DType::F32)?;
        let handle = self.one("tf.VarHandleOp", &[], &attrs)?;
        let shape = tfrt_tensor::TensorShape::new(dims)?;
        let tensor = self.eager.tensor(shape, values)?;
        self.ordered("tf.AssignVariableOp", &[&handle, &tensor], 0)?;
        Ok(handle)
    }

    /// Calls an op of one result.
    fn one(&self, op: &str, arguments: &[&Tensor], attrs: &OpAttrs) -> Result<Tensor> {
        Ok(self.eager.call(op, arguments, attrs, 1)?.remove(0))
    }

    /// Calls an op after all that were called this way before.
    fn ordered(&mut self, op: &str, arguments: &[&Tensor], results: usize) -> Result<Option<Tensor>> {
        Ok(self.eager.call_in_order(op, arguments, &OpAttrs::new(), results, &mut self.chain)?.pop())
    }

    fn read(&mut self, at: usize) -> Result<Vec<Tensor>> {
        let handles: Vec<Tensor> = self.parameters[at].iter().map(|p| p.value.clone()).collect();
        let values = handles.iter().map(|handle| self.ordered("tf.ReadVariableOp", &[handle], 1));
        values.map(|value| value?.ok_or_else(|| Diagnostic::internal("nothing was read"))).collect()
    }

    /// Takes the step that a parameter's gradient asks for.
    fn descend(&mut self, at: usize, index: usize, gradient: &Tensor) -> Result<()> {
        let parameter = &self.parameters[at][index];
        let (value, momentum) = (parameter.value.clone(), parameter.momentum.clone());
        let (rate, weight) =
            (self.eager.tensor([0usize; 0], &[RATE])?, self.eager.tensor([0usize; 0], &[MOMENTUM])?);
        self.ordered("tf.ResourceApplyMomentum", &[&value, &momentum, &rate, gradient, &weight], 0)?;
        Ok(())
    }

    /// A convolution with what follows it; `residual` is what a block ends with.
    fn forward(&mut self, at: usize, input: &Tensor, residual: Option<&Tensor>) -> Result<Trace> {
        let [filter, scale, offset] = <[Tensor; 3]>::try_from(self.read(at)?)
            .map_err(|_| Diagnostic::internal("a layer has three parameters"))?;
        let layer = &self.layers[at];
        let sums = self.one("tf.Conv2D", &[input, &filter], &window(layer)?)?;
        let nothing = self.eager.tensor([0], &[0f32; 0])?;
        let arguments = [&sums, &scale, &offset, &nothing, &nothing];
        let mut normal = self.eager.call("tf.FusedBatchNormV3", &arguments, &normalization()?, 6)?;
        let statistics = [normal.remove(3), normal.remove(3), normal.remove(3)];
        let mut output = normal.remove(0);
        if let Some(residual) = residual {
            output = output.add(residual)?;
        }
        if layer.then != Then::Shortcut {
            output = output.relu()?;
        }
        Ok(Trace { at, input: input.clone(), filter, sums, scale, statistics, output })
    }

    /// Takes the steps of a layer's parameters, and gives the gradients with respect to its input
    /// and to what was added.
    fn backward(&mut self, trace: &Trace, gradient: &Tensor) -> Result<[Tensor; 2]> {
        let layer = self.layers[trace.at].clone();
        let gradient = match layer.then {
            Then::Shortcut => gradient.clone(),
            _ => self.one("tf.ReluGrad", &[gradient, &trace.output], &OpAttrs::new())?,
        };
        let [mean, variance, reserved] = &trace.statistics;
        let arguments = [&gradient, &trace.sums, &trace.scale, mean, variance, reserved];
        let normal = self.eager.call("tf.FusedBatchNormGradV3", &arguments, &normalization()?, 5)?;
        let (sums, attrs) = (&normal[0], window(&layer)?);
        let sizes = |tensor: &Tensor| dims(tensor).and_then(|dims| self.eager.tensor([4], &dims));
        let of_filter = [&trace.input, &sizes(&trace.filter)?, sums];
        let of_filter = self.one("tf.Conv2DBackpropFilter", &of_filter, &attrs)?;
        let of_input = [&sizes(&trace.input)?, &trace.filter, sums];
        let of_input = self.one("tf.Conv2DBackpropInput", &of_input, &attrs)?;
        for (index, gradient) in [&of_filter, &normal[1], &normal[2]].into_iter().enumerate() {
            self.descend(trace.at, index, gradient)?;
        }
        Ok([of_input, gradient])
    }

    /// The block that begins with layer `at`.
    fn forward_block(&mut self, at: usize, input: &Tensor) -> Result<BlockTrace> {
        let widens = self.layers[at].then == Then::Shortcut;
        let shortcut = if widens { Some(self.forward(at, input, None)?) } else { None };
        let at = at + usize::from(widens);
        let first = self.forward(at, input, None)?;
        let second = self.forward(at + 1, &first.output, None)?;
        let residual = shortcut.as_ref().map_or(input, |shortcut| &shortcut.output);
        let third = self.forward(at + 2, &second.output, Some(residual))?;
        Ok(BlockTrace { layers: [first, second, third], shortcut })
    }

    /// The gradient with respect to a block's input.
    fn backward_block(&mut self, block: &BlockTrace, gradient: &Tensor) -> Result<Tensor> {
        let [first, second, third] = &block.layers;
        let [gradient, added] = self.backward(third, gradient)?;
        let [gradient, _] = self.backward(second, &gradient)?;
        let [gradient, _] = self.backward(first, &gradient)?;
        let around = match &block.shortcut {
            Some(shortcut) => self.backward(shortcut, &added)?[0].clone(),
            None => added,
        };
        gradient.add(&around)
    }

    /// One step; the loss before it.
    fn step(&mut self, images: &Tensor, labels: &Tensor) -> Result<f32> {
        let first = self.forward(0, images, None)?;
        let pooled = self.one("tf.MaxPool", &[&first.output], &pooling()?)?;
        let (mut blocks, mut at, mut x) = (Vec::<BlockTrace>::new(), 1, pooled.clone());
        while self.layers[at].then != Then::Scores {
            let block = self.forward_block(at, &x)?;
            let end = &block.layers[2];
            (at, x) = (end.at + 1, end.output.clone());
            blocks.push(block);
        }
        let (losses, mut gradient) = self.scores(at, &x, labels)?;
        for block in blocks.iter().rev() {
            gradient = self.backward_block(block, &gradient)?;
        }
        let arguments = [&first.output, &pooled, &gradient];
        gradient = self.one("tf.MaxPoolGrad", &arguments, &pooling()?)?;
        self.backward(&first, &gradient)?;
        // The shapes of later reads are known once the variables have their final values.
        let host = self.eager.request().host().clone();
        host.await_values(&[self.chain.as_untyped().clone()])?;
        let losses = losses.to_vec::<f32>()?;
        Ok(losses.iter().sum::<f32>() / losses.len() as f32)
    }

    /// The losses of the last layer, and the gradient of their mean with respect to what goes into
    /// it.
    fn scores(&mut self, at: usize, x: &Tensor, labels: &Tensor) -> Result<(Tensor, Tensor)> {
        let (extents, means, none) = (dims(x)?, x.mean(&[1, 2])?, OpAttrs::new());
        let parameters = self.read(at)?;
        let (weights, bias) = (&parameters[0], &parameters[1]);
        let scores = self.one("tf.BiasAdd", &[&means.matmul(weights)?, bias], &none)?;
        let losses =
            self.eager.call("tf.SparseSoftmaxCrossEntropyWithLogits", &[&scores, labels], &none, 2)?;
        let share = |of: i64| self.eager.tensor([0usize; 0], &[1.0 / of as f32]);
        let of_scores = losses[1].mul(&share(extents[0])?)?;
        let of_weights = self.one("tf.MatMul", &[&means, &of_scores], &flag("transpose_a")?)?;
        let of_bias = self.one("tf.BiasAddGrad", &[&of_scores], &none)?;
        let of_means = self.one("tf.MatMul", &[&of_scores, weights], &flag("transpose_b")?)?;
        let of_pixel = of_means.mul(&share(extents[1] * extents[2])?)?;
        let of_pixel = of_pixel.reshape(&[extents[0], 1, 1, extents[3]])?;
        let of_x = self.one("tf.BroadcastTo", &[&of_pixel, &self.eager.tensor([4], &extents)?], &none)?;
        self.descend(at, 0, &of_weights)?;
        self.descend(at, 1, &of_bias)?;
        Ok((losses[0].clone(), of_x))
    }
}

/// The losses before each step, ours and PyTorch's.
fn losses() -> Vec<(f32, f32)> {
    let text = include_str!("reference/resnet50_training.txt");
    let expected = text.lines().filter(|line| !line.starts_with('#'));
    let expected = expected.map(|line| line.parse::<f32>().expect("a number"));
    let queue = tfrt::host::work_queue::from_str("mstd:2").expect("a queue");
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    let eager = runtime.cpu().expect("a request");
    let images = resnet50::seeded_images(BATCH, EXTENT, SEED);
    let images = eager.tensor([BATCH, EXTENT, EXTENT, 3], &images).expect("memory");
    let labels = eager.tensor([BATCH], &LABELS).expect("memory");
    let mut network = Network::new(eager, resnet50::layers()).expect("variables");
    expected.map(|loss| (network.step(&images, &labels).expect("a step"), loss)).collect()
}

#[test]
fn losses_of_twenty_steps_are_those_of_pytorch() {
    let losses = losses();
    assert_eq!(losses.len(), 20);
    for (step, (found, expected)) in losses.iter().enumerate() {
        let off = (found - expected).abs() / expected;
        assert!(off <= 1e-3, "step {step}: a loss of {found} instead of {expected}: {losses:?}");
    }
    assert!(losses.windows(2).all(|pair| pair[1].0 < pair[0].0), "{losses:?}");
}
