//! ResNet-50 beside ONNX Runtime: `benches/resnet50/run` builds this and has `peers.py` call it by
//! turns with the peer.
//!
//! It reads lines from its standard input, each the number of images of a batch, infers with one
//! such batch, and writes how many seconds that took; the scores of the last batch go to the file
//! that the first argument names. The second one says which form of program runs: `host` (if none
//! is given), `eager` or `device`.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::{env, error::Error, fs, io, time::Instant};

use tfrt::{Program, Runtime, host::AsyncValue, host::work_queue, programs};
use tfrt_models::resnet50::{self, Form, ProgramOptions};
use tfrt_tensor::{Accessor, DType, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

static ME: Accessor = Accessor::new("ResNet-50 bench");

const SEED: u64 = 1;
const EXTENT: usize = 224;

fn tensor(runtime: &Runtime, dims: &[usize], values: &[f32]) -> Outcome<AsyncValue> {
    let metadata = TensorMetadata::new(DType::F32, TensorShape::new(dims)?);
    let tensor = DenseHostTensor::allocate(metadata, runtime.host().allocator())?;
    tensor.write::<f32>(&ME)?.copy_from_slice(values);
    Ok(AsyncValue::new(HostTensor::from(tensor)))
}

/// The results of a function.
fn call(program: &Program, function: &str, arguments: Vec<AsyncValue>) -> Outcome<Vec<AsyncValue>> {
    let results = program.call(function, arguments)?;
    match results.iter().find_map(AsyncValue::error) {
        Some(error) => Err(error.message.clone().into()),
        None => Ok(results),
    }
}

/// The network for batches of one size: the device program is written for it, the others take any.
struct Network {
    batch: usize,
    program: Program,
    prepared: Vec<AsyncValue>,
}

impl Network {
    fn new(runtime: &Runtime, form: Form, batch: usize) -> Outcome<Self> {
        let options = ProgramOptions::new(form).with_extent(EXTENT).with_batch(batch);
        let text = programs::resnet50(&options, runtime).map_err(|errors| errors.to_string())?;
        let program =
            runtime.load("resnet50.mlir", text.into_bytes()).map_err(|errors| errors.to_string())?;
        let prepared = call(&program, "setup", Vec::new())?;
        Ok(Self { batch, program, prepared })
    }
}

fn main() -> Outcome {
    let scores_path = env::args().nth(1).ok_or("the first argument must be a file for the scores")?;
    let form = env::args().nth(2).unwrap_or_else(|| Form::Host.name().to_owned());
    let form = Form::ALL.into_iter().find(|known| known.name() == form).ok_or("no such form of program")?;
    let queue = work_queue::from_str("mstd:2").map_err(|error| error.to_string())?;
    let runtime = Runtime::builder().work_queue(queue).build().map_err(|errors| errors.to_string())?;
    let mut network = Network::new(&runtime, form, 1)?;
    for line in io::stdin().lines() {
        let batch: usize = line?.trim().parse()?;
        if network.batch != batch {
            network = Network::new(&runtime, form, batch)?;
        }
        let images = resnet50::seeded_images(batch, EXTENT, SEED);
        let images = tensor(&runtime, &[batch, EXTENT, EXTENT, 3], &images)?;
        let arguments = network.prepared.iter().cloned().chain([images]).collect();
        let start = Instant::now();
        let results = call(&network.program, "infer", arguments)?;
        let seconds = start.elapsed().as_secs_f64();
        let result = results.first().ok_or("a function without a result")?;
        let scores = result.get::<HostTensor>().ok_or("no tensor")?.dense()?.read::<f32>(&ME)?.to_vec();
        fs::write(&scores_path, scores.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<u8>>())?;
        println!("{seconds}");
    }
    Ok(())
}
