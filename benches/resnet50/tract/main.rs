//! ResNet-50 by tract, for `benches/resnet50/peers.py`, which calls it as it calls ours: lines on its standard input are
//! numbers of images; for each it infers with as many of those in a file and writes how many seconds that took. The scores
//! of the last batch go to another file. Arguments: the file for scores, the model in ONNX, the images (f32, NCHW).

use std::{collections::HashMap, env, error::Error, fs, io, time::Instant};

use tract_linalg::multithread::{Executor, set_default_executor};
use tract_onnx::prelude::*;

const THREADS: usize = 2;
const IMAGE: [usize; 3] = [3, 224, 224];

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = env::args().skip(1);
    let mut path = || paths.next().ok_or("three files are expected: scores, model, images");
    let (scores, model, images) = (path()?, path()?, path()?);
    let bytes = fs::read(images)?;
    let images: Vec<f32> =
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    set_default_executor(Executor::multithread(THREADS));
    let mut plans = HashMap::new();
    for line in io::stdin().lines() {
        let batch: usize = line?.trim().parse()?;
        let shape = [batch, IMAGE[0], IMAGE[1], IMAGE[2]];
        if !plans.contains_key(&batch) {
            let model = tract_onnx::onnx().model_for_path(&model)?;
            let model = model.with_input_fact(0, f32::fact(shape).into())?;
            plans.insert(batch, model.into_optimized()?.into_runnable()?);
        }
        let images = images.get(..shape.iter().product()).ok_or("too few images")?;
        let images = Tensor::from_shape(&shape, images)?;
        let start = Instant::now();
        let result = plans[&batch].run(tvec!(images.into()))?;
        let seconds = start.elapsed().as_secs_f64();
        let result = result[0].to_array_view::<f32>()?;
        fs::write(&scores, result.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<u8>>())?;
        println!("{seconds}");
    }
    Ok(())
}
