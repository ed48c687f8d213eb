//! The network on a device. The device's libraries compute convolutions, poolings and the matrix
//! product. Our CUDA kernels add the last bias, and convert images to half precision.
//!
//! All of it is queued on one stream. Weights, descriptors and library handles are created once.
//! The results of layers are allocated when they are needed and freed after their last use, so that
//! the allocator reuses the memory.

use std::collections::BTreeMap;

use super::program::{Parts, Precision, Prepared, ProgramOptions, bias_line, list, weights_line};
use super::{CLASSES, Layer, REDUCTION, Step, Then, Value};

const BUFFER: &str = "!tfrt_cuda.buffer";
const TENSOR_DESCRIPTOR: &str = "!tfrt_cuda.dnn_tensor_descriptor";
/// The chain that becomes available when all setup work is queued.
const READY: &str = "%ready";
/// The size of an f32, in bytes.
const SINGLE: usize = 4;
/// The number of threads of a block of our kernels, and the greatest number of blocks. Blocks take
/// elements until there are none left.
const THREADS: usize = 256;
const MAX_BLOCKS: usize = 1024;

/// The handles that every program of this form opens first, with their types.
const OPENED: [(&str, &str); 8] = [
    ("%context", "!tfrt_cuda.context"),
    ("%allocator", "!tfrt_cuda.allocator"),
    ("%stream", "!tfrt_cuda.stream"),
    ("%blas", "!tfrt_cuda.blas_handle"),
    ("%dnn", "!tfrt_cuda.dnn_handle"),
    ("%relu", "!tfrt_cuda.dnn_activation_descriptor"),
    ("%identity", "!tfrt_cuda.dnn_activation_descriptor"),
    ("%add_bias", "!tfrt_cuda.function"),
];

/// The lines that open the handles.
const OPEN: &str = "  %start = tfrt.new.chain
  %o1 = tfrt_cuda.init %start
  %first = tfrt.constant.i32 0
  %device, %o2 = tfrt_cuda.device.get %first, %o1
  %context, %o3 = tfrt_cuda.context.primary %device, %o2
  %allocator, %o4 = tfrt_cuda.allocator.create %context, %o3
  %stream, %o5 = tfrt_cuda.stream.create %context, %o4
  %blas = tfrt_cuda.blas.create %context
  %o6 = tfrt_cuda.blas.set_stream %blas, %stream, %o5
  %dnn, %o7 = tfrt_cuda.dnn.create %context, %o6
  %o8 = tfrt_cuda.dnn.set_stream %dnn, %stream, %o7
  %relu_mode = tfrt.constant.ui32 1
  %identity_mode = tfrt.constant.ui32 5
  %keep_nan = tfrt.constant.ui32 1
  %unused = tfrt.constant.f64 0.0
  %relu, %o9 = tfrt_cuda.dnn.create_activation_descriptor %context, %relu_mode, %keep_nan, %unused, %o8
  %identity, %o10 = tfrt_cuda.dnn.create_activation_descriptor %context, %identity_mode, %keep_nan, %unused, %o9
  %add_bias, %c0 = tfrt_cuda.function.builtin %context, %o10 \"bias_activation_f32\"
  %float = tfrt.constant.ui32 0
  %half = tfrt.constant.ui32 2
  %one_group = tfrt.constant.i32 1
  %correlation = tfrt.constant.ui32 1
  %any = tfrt.constant.i32 -1
  %max = tfrt.constant.ui32 0
  %average = tfrt.constant.ui32 1
";

/// The images, rows, columns and channels of a value.
type Extents = [usize; 4];

/// The text of a function, and the number of its latest chain.
#[derive(Default)]
struct Body {
    text: String,
    chain: usize,
}

impl Body {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text += "  ";
        self.text += line.as_ref();
        self.text.push('\n');
    }

    /// Adds a line `RESULTS, %cN = CALL, %cM` that takes the latest chain and returns a new one.
    fn chained(&mut self, results: &str, call: impl AsRef<str>) {
        let (before, after) = (self.chain, self.chain + 1);
        let comma = if results.is_empty() { "" } else { ", " };
        self.line(format!("{results}{comma}%c{after} = {}, %c{before}", call.as_ref()));
        self.chain = after;
    }

    /// Adds a one-dimensional host tensor of these numbers.
    fn numbers(&mut self, name: &str, numbers: &[usize]) {
        let (before, after) = (self.chain, self.chain + 1);
        self.line(format!("{name} = tfrt_dht.create_uninitialized_tensor.i32.1 [{} : i64]", numbers.len()));
        let list: Vec<String> = numbers.iter().map(|number| format!("{number} : i32")).collect();
        self.line(format!(
            "%c{after} = tfrt_dht.set_tensor_with_constant_values.i32 {name}, %c{before} [{}]",
            list.join(", ")
        ));
        self.chain = after;
    }

    /// Launches one of our kernels on this many elements.
    fn launch(&mut self, function: &str, elements: usize, (arguments, types): (&str, &str)) {
        let (before, after) = (self.chain, self.chain + 1);
        let blocks = elements.div_ceil(THREADS).min(MAX_BLOCKS);
        self.line(format!("{function}_blocks = tfrt.constant.ui32 {blocks}"));
        self.line(format!(
            "%c{after} = tfrt_cuda.function.launch {function} {function}_blocks %single %single %threads %single %single \
             %nothing %stream %c{before}\n    {{ cooperative = false }} ({arguments}) : ({types})"
        ));
        self.chain = after;
    }

    /// Allocates a buffer of this many bytes.
    fn allocate(&mut self, buffer: &str, bytes: usize) {
        self.line(format!("{buffer}_bytes = tfrt.constant.i64 {bytes}"));
        self.chained(buffer, format!("tfrt_cuda.mem.allocate %allocator, %stream, {buffer}_bytes"));
    }
}

/// Returns the descriptor of images or of a filter (which has the layout of images for its
/// outputs). Extents are in the order images, channels, rows, columns, and channels are adjacent in
/// memory.
fn tensor_descriptor([n, h, w, c]: Extents) -> String {
    format!("%t{n}x{h}x{w}x{c}")
}

fn convolution_descriptor(layer: &Layer) -> String {
    format!("%conv{}s{}", layer.window, layer.stride)
}

/// Returns the extents of a layer's filter: outputs, rows, columns, inputs.
fn filter_extents(layer: &Layer) -> Extents {
    let [rows, columns, inputs, outputs] = layer.filter_extents();
    [outputs, rows, columns, inputs]
}

/// The programs' parts.
struct Builder<'a> {
    options: &'a ProgramOptions,
    layers: &'a [Layer],
    extents: BTreeMap<String, Extents>,
    setup: Body,
    upload: Body,
    /// From images on the device to scores on the device.
    compute: Body,
    /// The allocations of results, if they are not in `compute`. Their chains precede those of
    /// `compute`.
    memory: Option<Body>,
    prepared: Vec<Prepared>,
}

pub(super) fn parts(options: &ProgramOptions, layers: &[Layer], steps: &[Step]) -> Parts {
    let (Builder { prepared, setup, upload, compute, .. }, scores) =
        Builder::new(options, layers, steps, None, 0);
    // A graph's memory is allocated before it is recorded. The first pass counts the chains of the
    // allocations.
    let count =
        Builder::new(options, layers, steps, Some(Body::default()), 0).0.memory.unwrap_or_default().chain;
    let (recorded, _) = Builder::new(options, layers, steps, Some(Body::default()), count + 1);
    let recorded = (recorded.memory.unwrap_or_default(), recorded.compute);
    let functions =
        Functions { upload, compute, recorded, scores, download: download(options.batch * CLASSES) };
    Parts {
        setup: setup.text,
        infer: functions.infer(&prepared),
        more: functions.text(&prepared),
        prepared,
        scores: "%scores".into(),
        done: "%c3".into(),
    }
}

/// The functions between images and scores, which `@infer` calls in turn. A caller that keeps
/// images on the device calls them directly.
struct Functions {
    upload: Body,
    compute: Body,
    /// The allocations, and `compute` without them.
    recorded: (Body, Body),
    download: Body,
    /// The buffer of scores in `compute`.
    scores: String,
}

impl Functions {
    /// Returns a call of a function with these arguments after the prepared values.
    fn call(prepared: &[Prepared], results: &str, function: &str, arguments: &str, types: &str) -> String {
        let names = list(prepared, |(name, _)| name.clone());
        let known = list(prepared, |(_, ty)| (*ty).to_owned());
        format!("  {results} = tfrt.call @{function}({names}, {arguments}) : ({known}, {types}\n")
    }

    /// Returns the body of `@infer`.
    fn infer(&self, prepared: &[Prepared]) -> String {
        let call =
            |results, function, arguments, types| Self::call(prepared, results, function, arguments, types);
        call("%x, %c1", "upload", "%images", &format!("!t.tensor) -> ({BUFFER}, !tfrt.chain)"))
            + &call(
                "%y, %c2",
                "compute",
                "%x, %c1",
                &format!("{BUFFER}, !tfrt.chain) -> ({BUFFER}, !tfrt.chain)"),
            )
            + &call(
                "%scores, %c3",
                "download",
                "%y, %c2",
                &format!("{BUFFER}, !tfrt.chain) -> (!t.tensor, !tfrt.chain)"),
            )
    }

    /// Returns all functions except `@infer`.
    fn text(&self, prepared: &[Prepared]) -> String {
        let parameters = list(prepared, |(name, ty)| format!("{name}: {ty}"));
        let Self { upload, compute, recorded: (memory, recorded), download, scores } = self;
        let (uploaded, computed, downloaded) = (upload.chain, compute.chain, download.chain);
        let (allocated, begun, ended) = (memory.chain, memory.chain + 1, recorded.chain);
        let memory = &memory.text;
        let recorded = &recorded.text;
        let done = ended + 1;
        format!(
            "\n// Copies images to the device.\n\
             func @upload({parameters}, %images: !t.tensor) -> ({BUFFER}, !tfrt.chain) {{\n{}  \
             tfrt.return %x, %c{uploaded} : {BUFFER}, !tfrt.chain\n}}\n\n\
             // Queues the scores of images that are on the device.\n\
             func @compute({parameters}, %x: {BUFFER}, %c0: !tfrt.chain) -> ({BUFFER}, !tfrt.chain) {{\n{}  \
             tfrt.return {scores}, %c{computed} : {BUFFER}, !tfrt.chain\n}}\n\n\
             // Copies scores to the host.\n\
             func @download({parameters}, %y: {BUFFER}, %c0: !tfrt.chain) -> (!t.tensor, !tfrt.chain) {{\n{}  \
             tfrt.return %scores, %c{downloaded} : !t.tensor, !tfrt.chain\n}}\n\n\
             // Records @compute as a graph, which reads the images and writes the scores where they are now.\n\
             func @record({parameters}, %x: {BUFFER}, %c0: !tfrt.chain) -> (!tfrt_cuda.graph, {BUFFER}, !tfrt.chain) {{\n{memory}  \
             %c{begun} = tfrt_cuda.graph.begin_capture %stream, %c{allocated}\n{recorded}  \
             %graph, %c{done} = tfrt_cuda.graph.end_capture %stream, %c{ended}\n  \
             tfrt.return %graph, {scores}, %c{done} : !tfrt_cuda.graph, {BUFFER}, !tfrt.chain\n}}\n\n\
             // Queues a graph of @record.\n\
             func @replay({parameters}, %graph: !tfrt_cuda.graph, %c0: !tfrt.chain) -> !tfrt.chain {{\n  \
             %c1 = tfrt_cuda.graph.launch %graph, %stream, %c0\n  \
             tfrt.return %c1 : !tfrt.chain\n}}\n\n\
             // The chain is available when all queued work is done.\n\
             func @wait({parameters}, %c0: !tfrt.chain) -> !tfrt.chain {{\n  \
             %c1 = tfrt_cuda.stream.synchronize %stream, %c0\n  \
             tfrt.return %c1 : !tfrt.chain\n}}\n",
            upload.text, compute.text, download.text
        )
    }
}

/// Copies this many scores back to the host.
fn download(count: usize) -> Body {
    let mut body = Body::default();
    let rows = count / CLASSES;
    body.line(format!("%bytes = tfrt.constant.i64 {}", count * SINGLE));
    body.line(format!(
        "%to_fill = tfrt_dht.create_uninitialized_tensor.f32.2 [{rows} : i64, {CLASSES} : i64]"
    ));
    body.chained("%scores_buffer", "tfrt_dht.get_buffer %to_fill");
    body.chained("", "tfrt_cuda.mem.copy_device_to_host %context, %scores_buffer, %y, %bytes, %stream");
    // If something has failed, there must be no scores.
    body.line(format!(
        "%scores = \"tfrt.alias.value\"(%c{}, %to_fill) : (!tfrt.chain, !t.tensor) -> !t.tensor",
        body.chain
    ));
    body
}

impl<'a> Builder<'a> {
    /// Builds the parts, and returns the name of the scores. Chains of `compute` are numbered from
    /// `first_chain`.
    fn new(
        options: &'a ProgramOptions,
        layers: &'a [Layer],
        steps: &[Step],
        memory: Option<Body>,
        first_chain: usize,
    ) -> (Self, String) {
        let prepared = OPENED.iter().map(|(name, ty)| ((*name).to_owned(), *ty)).collect();
        let (extents, upload) = (BTreeMap::new(), Body::default());
        let setup = Body { text: OPEN.to_owned(), chain: 0 };
        let compute = Body { text: String::new(), chain: first_chain };
        let mut builder = Self { options, layers, extents, setup, upload, compute, memory, prepared };
        builder.images();
        let mut scores = String::new();
        for step in steps {
            scores = builder.step(*step);
        }
        builder.weights();
        (builder, scores)
    }

    /// Allocates memory for a result.
    fn room(&mut self, buffer: &str, bytes: usize) {
        self.memory.as_mut().unwrap_or(&mut self.compute).allocate(buffer, bytes);
    }

    /// Copies the images to the device.
    fn images(&mut self) {
        let options = self.options;
        let extents = [options.batch, options.extent, options.extent, 3];
        self.extents.insert("%x".into(), extents);
        let [n, h, w, c] = extents;
        let threads = format!("ui32 {THREADS}");
        let launching = [("%single", "ui32 1"), ("%nothing", "ui32 0"), ("%threads", &threads)];
        let computing = [("%one", "f32 1.0"), ("%zero", "f32 0.0"), ("%plain", "i32 0")];
        for (name, constant) in launching.into_iter().chain(computing) {
            self.compute.line(format!("{name} = tfrt.constant.{constant}"));
        }
        let body = &mut self.upload;
        // The weights are available as soon as they have memory, but the work that fills it must be
        // queued first.
        body.line(format!("%c0 = tfrt.merge.chains {READY}"));
        if options.precision == Precision::F16 {
            for (name, constant) in launching {
                body.line(format!("{name} = tfrt.constant.{constant}"));
            }
        }
        body.line(format!(
            "%checked = \"tfrt_resnet50.check_images\"(%images) {{ shape = [{n} : i64, {h} : i64, {w} : i64, {c} : i64] }} \
             : (!t.tensor) -> !t.tensor"
        ));
        let count = n * h * w * c;
        match options.precision {
            Precision::F32 => {
                body.allocate("%x", count * SINGLE);
                upload(body, "%x", "%checked");
            }
            Precision::F16 => {
                body.allocate("%wide", count * SINGLE);
                upload(body, "%wide", "%checked");
                body.allocate("%x", count * options.precision.size());
                body.line(format!("%numbers = tfrt.constant.i64 {count}"));
                let types = format!("{BUFFER}, {BUFFER}, i64");
                body.launch("%narrow", count, ("%x, %wide, %numbers", &types));
                let (before, after) = (self.setup.chain, self.setup.chain + 1);
                self.setup.line(format!(
                    "%narrow, %c{after} = tfrt_cuda.function.builtin %context, %c{before} \"cast_f32_f16\""
                ));
                self.setup.chain = after;
                self.prepared.push(("%narrow".into(), "!tfrt_cuda.function"));
            }
        }
        self.tensor(extents);
    }

    /// Returns the size in bytes of a tensor in the program's precision.
    fn bytes(&self, extents: Extents) -> usize {
        extents.iter().product::<usize>() * self.options.precision.size()
    }

    /// Returns the name of a value's buffer.
    fn buffer(value: Value) -> String {
        if value == Value::Images { "%x".to_owned() } else { value.to_string() }
    }

    /// Returns the descriptor of a tensor, created once.
    fn tensor(&mut self, extents: Extents) -> String {
        let name = tensor_descriptor(extents);
        let setup = &mut self.setup;
        let element = if self.options.precision == Precision::F16 { "%half" } else { "%float" };
        if self.prepared.iter().all(|(known, _)| *known != name) {
            let [n, h, w, c] = extents;
            setup.numbers(&format!("{name}_dims"), &[n, c, h, w]);
            setup.numbers(&format!("{name}_strides"), &[h * w * c, 1, w * c, c]);
            setup.chained(
                &name,
                format!(
                    "tfrt_cuda.dnn.create_tensor_descriptor %context, {element}, {name}_dims, {name}_strides"
                ),
            );
            self.prepared.push((name.clone(), TENSOR_DESCRIPTOR));
        }
        name
    }

    /// Returns the descriptor of a layer's convolution, created once.
    fn convolution(&mut self, layer: &Layer) -> String {
        let name = convolution_descriptor(layer);
        if self.prepared.iter().all(|(known, _)| *known != name) {
            let setup = &mut self.setup;
            for (what, number) in [("padding", layer.padding()), ("strides", layer.stride), ("dilations", 1)]
            {
                setup.numbers(&format!("{name}_{what}"), &[number; 2]);
            }
            setup.chained(
                &name,
                format!(
                    "tfrt_cuda.dnn.create_convolution_descriptor %context, {name}_padding, {name}_strides, \
                     {name}_dilations, %one_group, %correlation, %float, %any"
                ),
            );
            self.prepared.push((name.clone(), "!tfrt_cuda.dnn_convolution_descriptor"));
        }
        name
    }

    /// Adds the lines of a step, and returns the name of its result.
    fn step(&mut self, step: Step) -> String {
        match step {
            Step::Convolution { at, input, residual } => self.convolve(at, input, residual),
            Step::MaxPool { input } => self.pool(input, Value::Pooled, ("max", 3, 1, 2)),
            Step::Mean { input } => {
                self.pool(input, Value::Mean, ("average", self.options.extent / REDUCTION, 0, 1))
            }
            Step::Scores { at, input } => self.multiply(at, input),
        }
    }

    fn convolve(&mut self, at: usize, input: Value, residual: Option<Value>) -> String {
        let layer = &self.layers[at].clone();
        let (x, y) = (Self::buffer(input), Value::Layer(at).to_string());
        let [n, h, w, _] = self.extents[&x];
        let extents = [n, h.div_ceil(layer.stride), w.div_ceil(layer.stride), layer.out_channels];
        self.extents.insert(y.clone(), extents);
        let (x_desc, y_desc) = (self.tensor(self.extents[&x]), self.tensor(extents));
        let w_desc = self.tensor(filter_extents(layer));
        let bias_desc = self.tensor([1, 1, 1, layer.out_channels]);
        let convolution = self.convolution(layer);
        let activation = if layer.has_relu() { "%relu" } else { "%identity" };
        let (factor, z) = match residual {
            Some(residual) => ("%one", Self::buffer(residual)),
            None => ("%zero", y.clone()),
        };
        let bytes = self.bytes(extents);
        self.compute.line(format!("// {}", layer.name));
        self.room(&y, bytes);
        let compute = &mut self.compute;
        compute.chained(
            "",
            format!(
                "tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, {convolution}, %one, {x_desc}, {x}, \
                 {w_desc}, %w{at}, {factor}, {y_desc}, {z}, {bias_desc}, %bias{at}, {activation}, {y_desc}, {y}"
            ),
        );
        y
    }

    fn pool(
        &mut self,
        input: Value,
        output: Value,
        (kind, window, padding, stride): (&str, usize, usize, usize),
    ) -> String {
        let (x, y) = (Self::buffer(input), output.to_string());
        let [n, h, w, c] = self.extents[&x];
        let pooled = |extent: usize| (extent + 2 * padding - window) / stride + 1;
        let extents = [n, pooled(h), pooled(w), c];
        self.extents.insert(y.clone(), extents);
        let (x_desc, y_desc) = (self.tensor([n, h, w, c]), self.tensor(extents));
        let (setup, name) = (&mut self.setup, format!("%{kind}_pool"));
        for (what, number) in [("window", window), ("padding", padding), ("strides", stride)] {
            setup.numbers(&format!("{name}_{what}"), &[number; 2]);
        }
        setup.chained(
            &name,
            format!(
                "tfrt_cuda.dnn.create_pooling_descriptor %context, %{kind}, %keep_nan, {name}_window, {name}_padding, \
                 {name}_strides"
            ),
        );
        self.prepared.push((name.clone(), "!tfrt_cuda.dnn_pooling_descriptor"));
        self.room(&y, self.bytes(extents));
        self.compute.chained(
            "",
            format!("tfrt_cuda.dnn.pooling_forward %context, %dnn, {name}, %one, {x_desc}, {x}, %zero, {y_desc}, {y}"),
        );
        y
    }

    fn multiply(&mut self, at: usize, input: Value) -> String {
        let (x, y, layer) = (Self::buffer(input), Value::Layer(at).to_string(), &self.layers[at]);
        let [n, ..] = self.extents[&x];
        let compute = &mut self.compute;
        compute.line(format!(
            "// {}: rows of ours are columns of BLAS, so that it computes the transpose.",
            layer.name
        ));
        for (name, number) in [("%inputs", layer.in_channels), ("%outputs", CLASSES), ("%rows", n)] {
            compute.line(format!("{name} = tfrt.constant.i32 {number}"));
        }
        self.room(&y, n * CLASSES * SINGLE);
        let compute = &mut self.compute;
        // The numbers of types in cuBLAS: 0 for f32, 2 for f16. Sums and scores are f32.
        let element = if self.options.precision == Precision::F16 { 2 } else { 0 };
        for (name, number) in [("%element", element), ("%float", 0), ("%any", -1)] {
            compute.line(format!("{name} = tfrt.constant.i32 {number}"));
        }
        compute.chained(
            "",
            format!(
                "tfrt_cuda.blas.gemm.ex %context, %blas, %plain, %plain, %outputs, %rows, %inputs, %one, %w{at}, %element, \
                 %outputs, {x}, %element, %inputs, %zero, {y}, %float, %outputs, %float, %any"
            ),
        );
        for (name, number) in [("%no_residual", 0), ("%row_count", n), ("%column_count", CLASSES)] {
            compute.line(format!("{name} = tfrt.constant.i64 {number}"));
        }
        let arguments = format!("{y}, {y}, %bias{at}, %no_residual, %row_count, %column_count, %nothing");
        let types = format!("{BUFFER}, {BUFFER}, {BUFFER}, i64, i64, i64, ui32");
        compute.launch("%add_bias", n * CLASSES, (&arguments, &types));
        y
    }

    /// Copies the weights to the device.
    fn weights(&mut self) {
        let (options, size) = (self.options, self.options.precision.size());
        for (at, layer) in self.layers.iter().enumerate() {
            let (filter, bias) = (format!("%f{at}"), format!("%b{at}"));
            let is_last = layer.then == Then::Scores;
            let layout = if is_last { "IO" } else { "OHWI" };
            let text = &mut self.setup.text;
            *text += &weights_line(options, (&filter, &bias), layer, layout, options.precision);
            let mut bias_size = size;
            if is_last && options.precision != Precision::F32 {
                // The kernel that adds the bias reads it as f32.
                *text += &bias_line(options, &format!("%wide_b{at}"), layer);
                bias_size = SINGLE;
            }
            let bias = if bias_size == size { bias } else { format!("%wide_b{at}") };
            let count: usize = layer.filter_extents().iter().product();
            let tensors = [
                (format!("%w{at}"), filter, count * size),
                (format!("%bias{at}"), bias, layer.out_channels * bias_size),
            ];
            for (buffer, tensor, bytes) in tensors {
                self.setup.allocate(&buffer, bytes);
                upload(&mut self.setup, &buffer, &tensor);
                self.prepared.push((buffer, BUFFER));
            }
        }
        let setup = &mut self.setup;
        setup.line(format!("{READY} = tfrt.merge.chains %c{}", setup.chain));
        self.prepared.push((READY.into(), "!tfrt.chain"));
    }
}

/// Copies a host tensor to a buffer of its size.
fn upload(body: &mut Body, buffer: &str, tensor: &str) {
    let name = &buffer[1..];
    body.chained(&format!("%{name}_host"), format!("tfrt_dht.get_buffer {tensor}"));
    body.chained(
        "",
        format!(
            "tfrt_cuda.mem.copy_host_to_device %context, {buffer}, %{name}_host, {buffer}_bytes, %stream"
        ),
    );
}
