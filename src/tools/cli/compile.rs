//! `tfrt compile`: a model as a program and its weights.

use std::path::{Path, PathBuf};

use tfrt_host::Diagnostic;
use tfrt_ir::{PrintOptions, print_module};
use tfrt_tensor::{Accessor, files::safetensors};

use super::{
    Failure, file_error,
    model::{self, CHECKSUM, ModelArgs},
};
use crate::{
    Console, Runtime,
    files::{check_output_path, replace_file},
};

static WRITE: Accessor = Accessor::new("weights of a compiled model");

#[derive(clap::Args)]
pub(super) struct Args {
    /// Model to compile: an ONNX file
    model: PathBuf,
    /// Write the program to FILE, and its weights beside it with the extension .safetensors
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print the program as MLIR text
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    options: ModelArgs,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    if !model::is_model(&args.model) {
        let message = format!("'{}' is not a model: its name does not end in .onnx", args.model.display());
        return Err(Failure::Usage(message));
    }
    let weights_file = args.output.with_extension("safetensors");
    if weights_file == args.output {
        return Err(Failure::Usage("the weights would overwrite the program; name it otherwise".to_owned()));
    }
    for file in [&args.output, &weights_file] {
        check_output_path(file).map_err(|error| file_error("write", file, error))?;
    }
    let runtime = Runtime::builder().build()?;
    let compiled = model::compile(&args.model, &args.options, &runtime, console)?;
    if args.print {
        let ops = crate::operations(runtime.registry())?;
        console.print(print_module(&compiled.module, &ops, PrintOptions::default()));
    }
    let allocator = runtime.host().allocator();
    let dense = compiled
        .weights
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), tensor.to_dense(&WRITE, allocator)?)));
    let dense = dense.collect::<Result<Vec<_>, Diagnostic>>()?;
    let dense: Vec<_> = dense.iter().map(|(name, tensor)| (*name, tensor)).collect();
    let texts = [(CHECKSUM, model::checksum(&compiled.bef).to_string())];
    let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let bytes = safetensors::encode_with(&dense, &texts, &WRITE)?;
    write(&weights_file, &bytes)?;
    write(&args.output, &compiled.bef)?;
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    replace_file(file, |temporary| std::fs::write(temporary, bytes))
        .map_err(|error| file_error("write", file, error))
}
