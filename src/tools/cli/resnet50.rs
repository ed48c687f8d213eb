//! `tfrt resnet50`: writes programs that infer with ResNet-50, and converts weights for them. It
//! runs nothing.

use std::path::{Path, PathBuf};

use tfrt_host::{Diagnostic, ErrorCode};
use tfrt_models::resnet50::{
    Form, NamedTensors, Precision, ProgramOptions, Variant, check, convert, pipeline,
};
use tfrt_tensor::{
    SharedAllocator,
    files::{npz, safetensors::SafeTensorsFile},
};

use super::{Failure, file_error};
use crate::{
    Console, Errors, Runtime,
    files::{check_output_path, replace_file},
    programs,
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a program
    Program(ProgramArgs),
    /// Convert weights from torchvision or Keras to a file for --weights
    Convert(ConvertArgs),
}

#[derive(clap::Args)]
struct ProgramArgs {
    /// Compute with host kernels (host), TensorFlow's ops (eager) or device libraries (device)
    #[arg(long, value_name = "FORM", default_value = "host")]
    form: Form,
    /// Write the network of torchvision (version 1.5) or keras (version 1)
    #[arg(long, value_name = "NAME", default_value = "torchvision")]
    variant: Variant,
    /// Use weights and activations of TYPE: f32, or f16 except for host programs
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    precision: Precision,
    /// Take images of PIXELS rows and columns, a multiple of 32
    #[arg(long, value_name = "PIXELS", default_value_t = 224)]
    extent: usize,
    /// Infer COUNT images at a time in a device program; other programs take any number
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: usize,
    /// Let COUNT tasks of a cluster compute the layers in stages; for host programs
    #[arg(long, value_name = "COUNT")]
    tasks: Option<usize>,
    /// Write the program to FILE; '-' writes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
}

#[derive(clap::Args)]
struct ConvertArgs {
    /// Weights to convert: a .safetensors or .npz file
    ///
    /// Tensors have torchvision's names (layer1.0.conv1.weight) or Keras's
    /// (conv2_block1_1_conv/kernel).
    input: PathBuf,
    /// Write the weights to a safetensors FILE
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    match &args.command {
        Command::Program(args) => write_program(args, console),
        Command::Convert(args) => write_weights(args, console),
    }
}

fn write_program(args: &ProgramArgs, console: &mut Console) -> Result<(), Failure> {
    let ProgramArgs { form, variant, precision, extent, batch, tasks, ref output } = *args;
    let options = ProgramOptions { form, variant, precision, extent, batch };
    let text = match tasks {
        Some(tasks) => pipeline(&options, tasks).map_err(Failure::Usage)?,
        None => {
            check(&options).map_err(Failure::Usage)?;
            programs::resnet50(&options, &Runtime::builder().build()?)?
        }
    };
    let written = console.write(output, text.as_bytes());
    Ok(written.map_err(|error| Diagnostic::new(ErrorCode::Io, error))?)
}

/// Reads all tensors of a file.
fn read(file: &Path) -> Result<NamedTensors, Failure> {
    let allocator: SharedAllocator = std::sync::Arc::new(tfrt_host::allocator::SystemAllocator);
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Ok(npz::read(file, &allocator)?.into_iter().collect()),
        Some("safetensors") => {
            let file = SafeTensorsFile::open(file)?;
            let tensor = |name: &str| Ok((name.to_owned(), file.tensor(name, &allocator)?));
            Ok(file.names().map(tensor).collect::<Result<_, Diagnostic>>()?)
        }
        _ => Err(Failure::Usage(format!("'{}' is neither .safetensors nor .npz", file.display()))),
    }
}

fn write_weights(args: &ConvertArgs, console: &mut Console) -> Result<(), Failure> {
    check_output_path(&args.output).map_err(|error| file_error("write", &args.output, error))?;
    let converted = convert(&read(&args.input)?).map_err(|problems| {
        let name = args.input.display();
        let problems =
            problems.into_iter().map(|problem| Diagnostic::invalid_argument(format!("{name}: {problem}")));
        Failure::Errors(Errors(problems.collect()))
    })?;
    let output = &args.output;
    let bytes = converted.encode()?;
    replace_file(output, |temporary| std::fs::write(temporary, &bytes))
        .map_err(|error| file_error("write", output, error))?;
    let (variant, layers, parameters) = (converted.variant, converted.layers.len(), converted.parameters());
    console.print(format_args!("{variant}'s ResNet-50: {layers} layers, {parameters} numbers\n"));
    Ok(())
}
