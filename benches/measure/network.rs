//! The programs that are measured: ResNet-50 in its forms, and ONNX models.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt::host::{AsyncValue, Chain, RequestContext, ResourceContext};
use tfrt::{Choice, DeviceOptions, Program, Runtime, programs};
use tfrt_compiler::lower::cuda::CudaOptions;
use tfrt_compiler::{CompileOptions, Target};
use tfrt_device::Devices;
use tfrt_models::kernels::{MODEL_WEIGHTS, ModelWeights, WEIGHTS};
use tfrt_models::resnet50::{Form, Precision, ProgramOptions, Variant};
use tfrt_tensor::files::safetensors::SafeTensorsFile;
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorShape};

use super::Outcome;

static ME: Accessor = Accessor::new("measure");

/// What the command line asks for.
#[derive(Default)]
pub(super) struct Source {
    device: String,
    uses_tf32: bool,
    is_short: bool,
    /// Whether a model becomes a device program with planned memory, launched as one graph.
    is_planned: bool,
    network: Option<ProgramOptions>,
    model: Option<String>,
    shape: Vec<usize>,
    weights: Option<String>,
    images: Option<String>,
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

impl Source {
    pub(super) fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut source = Self { device: "auto".into(), ..Self::default() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--tf32" => source.uses_tf32 = true,
                "--short" => source.is_short = true,
                "--planned" => source.is_planned = true,
                option => source.set(option, rest.next())?,
            }
        }
        Ok(source)
    }

    /// Sets an option that has a value.
    fn set(&mut self, option: &str, value: Option<&String>) -> Outcome {
        let value = value.ok_or_else(|| format!("{option} needs a value"))?;
        match option {
            "--device" => self.device.clone_from(value),
            "--network" => {
                let options = network(value)?;
                self.shape = vec![options.batch, options.extent, options.extent, 3];
                self.network = Some(options);
            }
            "--model" => self.model = Some(value.clone()),
            "--shape" => self.shape = extents(value)?,
            "--weights" => self.weights = Some(value.clone()),
            "--images" => self.images = Some(value.clone()),
            other => return Err(format!("no option '{other}'")),
        }
        Ok(())
    }

    /// How a model is compiled.
    fn compilation(&self) -> CompileOptions {
        let mut options = CompileOptions::default();
        if self.is_planned {
            options.target = Target::Cuda(CudaOptions { separates_copies: true, ..CudaOptions::default() });
        }
        options
    }

    /// The images: those of the file, from its beginning, or random ones.
    fn images(&self) -> Outcome<AsyncValue> {
        let count = self.shape.iter().product::<usize>();
        let numbers = match &self.images {
            None => {
                let mut random = fastrand::Rng::with_seed(1);
                (0..count).map(|_| random.f32() * 2.0 - 1.0).collect()
            }
            Some(file) => numbers(file, count)?,
        };
        let shape = TensorShape::new(&self.shape).map_err(text)?;
        let tensor = DenseHostTensor::from_vec(shape, numbers).map_err(text)?;
        Ok(AsyncValue::new(HostTensor::from(tensor)))
    }
}

/// `FORM:PRECISION:BATCH:EXTENT`.
fn network(text: &str) -> Outcome<ProgramOptions> {
    let wrong = || format!("'{text}' is not FORM:PRECISION:BATCH:EXTENT");
    let parts: Vec<&str> = text.split(':').collect();
    let [form, precision, batch, extent] = parts[..] else { return Err(wrong()) };
    Ok(ProgramOptions {
        form: form.parse::<Form>()?,
        variant: Variant::Torchvision,
        precision: precision.parse::<Precision>()?,
        extent: extent.parse().map_err(|_| wrong())?,
        batch: batch.parse().map_err(|_| wrong())?,
    })
}

fn extents(text: &str) -> Outcome<Vec<usize>> {
    let parsed: Result<_, _> = text.split('x').map(str::parse).collect();
    parsed.map_err(|_| format!("'{text}' is no shape"))
}

/// The first numbers of a file of raw f32.
fn numbers(file: &str, count: usize) -> Outcome<Vec<f32>> {
    use std::io::Read as _;
    let mut bytes = vec![0; count * 4];
    let read = std::fs::File::open(file).and_then(|mut opened| opened.read_exact(&mut bytes));
    read.map_err(|error| format!("{file}: {error}"))?;
    Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// A program, what setting it up made, and the images.
pub(super) struct Network {
    pub(super) backend: String,
    pub(super) device: String,
    pub(super) load: Duration,
    pub(super) setup: Duration,
    pub(super) is_short: bool,
    program: Program,
    request: Arc<RequestContext>,
    function: &'static str,
    prepared: Vec<AsyncValue>,
    images: AsyncValue,
    /// Whether the images are on the device.
    is_resident: bool,
}

impl Network {
    pub(super) fn open(source: &Source) -> Outcome<Self> {
        let start = Instant::now();
        let mut devices = DeviceOptions::new(source.device.parse::<Choice>()?, 1);
        if source.uses_tf32 {
            devices = devices.with_tf32();
        }
        let runtime = Runtime::builder().devices(devices).build().map_err(text)?;
        let platform = Devices::of(runtime.host()).platform().map_err(text)?;
        let resources = ResourceContext::new();
        if let Some(file) = &source.weights {
            resources.insert(WEIGHTS, SafeTensorsFile::open(file).map_err(text)?);
        }
        let (name, bytes, function) = match (&source.network, &source.model) {
            (Some(options), None) => {
                ("resnet50.mlir", programs::resnet50(options, &runtime).map_err(text)?.into_bytes(), "infer")
            }
            (None, Some(file)) => {
                let compiled = runtime.compile_model(Path::new(file), &source.compilation()).map_err(text)?;
                let weights = ModelWeights::Tensors(compiled.weights.into_iter().collect());
                resources.insert(MODEL_WEIGHTS, weights);
                (file.as_str(), compiled.bef, "main")
            }
            _ => return Err("give either --network or --model".into()),
        };
        let program = runtime.load(name, bytes).map_err(text)?;
        let request = RequestContext::new(runtime.host().clone(), Arc::new(resources));
        let load = start.elapsed();
        let prepared = call(&program, &request, "setup", Vec::new())?;
        Ok(Self {
            backend: platform.backend().to_owned(),
            device: platform.device(0).map_err(text)?.properties().name.clone(),
            load,
            setup: start.elapsed() - load,
            is_short: source.is_short,
            program,
            request,
            function,
            prepared,
            images: source.images()?,
            is_resident: false,
        })
    }

    fn function(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = AsyncValue>,
    ) -> Outcome<Vec<AsyncValue>> {
        let arguments = self.prepared.iter().cloned().chain(arguments).collect();
        call(&self.program, &self.request, name, arguments)
    }

    /// One call from host memory to host memory.
    pub(super) fn call(&mut self) -> Outcome<Vec<f32>> {
        scores(&self.function(self.function, [self.images.clone()])?)
    }

    /// Calls of which several are in flight.
    pub(super) fn calls(&mut self, count: usize, in_flight: usize) -> Outcome {
        let found = self.program.file().function(self.function);
        let found = found.ok_or_else(|| format!("there is no function '{}'", self.function))?;
        let context = tfrt::host::ExecutionContext::new(self.request.clone(), self.program.file().clone());
        let mut pending = VecDeque::new();
        for _ in 0..count {
            if pending.len() == in_flight
                && let Some(results) = pending.pop_front()
            {
                checked(self.request.await_values(results).map_err(text)?)?;
            }
            let arguments: Vec<_> = self.prepared.iter().cloned().chain([self.images.clone()]).collect();
            pending.push_back(found.execute(&context, arguments));
        }
        for results in pending {
            checked(self.request.await_values(results).map_err(text)?)?;
        }
        Ok(())
    }

    /// Copies the images to the device, where they stay.
    fn upload(&mut self) -> Outcome {
        if !self.is_resident {
            self.function("upload", [self.images.clone(), AsyncValue::new(Chain)])?;
            self.is_resident = true;
        }
        Ok(())
    }

    /// Launches whose images and scores stay on the device, queued one behind the other.
    pub(super) fn launch(&mut self, count: usize) -> Outcome {
        self.upload()?;
        for _ in 0..count {
            self.function("launch", [AsyncValue::new(Chain)])?;
        }
        self.download().map(drop)
    }

    fn download(&self) -> Outcome<Vec<AsyncValue>> {
        self.function("download", [AsyncValue::new(Chain)])
    }

    /// The scores of images that stay on the device.
    pub(super) fn resident_scores(&mut self) -> Outcome<Vec<f32>> {
        self.launch(1)?;
        scores(&self.download()?)
    }
}

fn checked(results: Vec<AsyncValue>) -> Outcome<Vec<AsyncValue>> {
    match results.iter().find_map(AsyncValue::error) {
        Some(error) => Err(error.to_string()),
        None => Ok(results),
    }
}

fn call(
    program: &Program,
    request: &Arc<RequestContext>,
    function: &str,
    arguments: Vec<AsyncValue>,
) -> Outcome<Vec<AsyncValue>> {
    checked(program.call_in(request, function, arguments).map_err(text)?)
}

fn scores(results: &[AsyncValue]) -> Outcome<Vec<f32>> {
    let tensor = results.first().and_then(AsyncValue::get::<HostTensor>).ok_or("the result is no tensor")?;
    Ok(tensor.dense().map_err(text)?.read::<f32>(&ME).map_err(text)?.to_vec())
}
