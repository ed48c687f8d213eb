//! What data-parallel training needs besides collectives: the step, this rank's part of a batch,
//! buckets of gradients, and checkpoints.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{
    Arg, AsyncValue, Attr, Chain, DType, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry, Rest,
};
use tfrt_tensor::files::safetensors::{SafeTensorsFile, encode_with};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use super::collective::{Collective, Data};
use crate::engine::Operation;
use crate::{CHECKPOINT_DIR, DistributedContext};

static CHECKPOINT: Accessor = Accessor::new("tfrt_dist.checkpoint");
/// The name of the file in the folder of checkpoints, and of its text with the number of finished
/// steps.
const FILE: &str = "checkpoint.safetensors";
const STEP: &str = "step";

fn group_rank(context: Arg<DistributedContext>, group: Arg<String>) -> Result<(i32, i32), Diagnostic> {
    let (group, rank) = context.membership(&group)?;
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    Ok((number(rank), number(group.members.len())))
}

fn set_step(context: Arg<DistributedContext>, step: i32, _chain: Chain) -> Chain {
    context.set_step(i64::from(step));
    Chain
}

fn create_shard(
    dtype: DType,
    context: &DistributedContext,
    group: &str,
    shape: &[i64],
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let ranks = context.membership(group)?.0.members.len();
    let mut dims = TensorShape::from_signed(shape)?.dims().to_vec();
    let rows = dims.first_mut().filter(|rows| rows.is_multiple_of(ranks)).ok_or_else(|| {
        Diagnostic::invalid_argument(format!(
            "a tensor of shape {shape:?} has no {ranks} equal parts along its first axis"
        ))
    })?;
    *rows /= ranks;
    let metadata = TensorMetadata::new(dtype, TensorShape::new(&dims)?);
    DenseHostTensor::allocate(metadata, cx.host().allocator())
}

fn bucket_part(
    bucket: Arg<DenseHostTensor>,
    offset: Attr<i64>,
    shape: Attr<[i64]>,
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(bucket.dtype(), TensorShape::from_signed(shape.0)?);
    let size = bucket.dtype().size().unwrap_or(0);
    let start = usize::try_from(offset.0).ok().and_then(|offset| offset.checked_mul(size));
    let part = start.and_then(|start| bucket.buffer().slice(start, metadata.size_bytes().ok()?));
    let part = part.ok_or_else(|| {
        Diagnostic::new(
            ErrorCode::OutOfRange,
            format!(
                "{metadata} at element {} is not within a bucket of {} elements",
                offset.0,
                bucket.num_elements()
            ),
        )
    })?;
    DenseHostTensor::from_buffer(metadata, part)
}

/// The tensors of a checkpoint with their names, which a comma separates.
fn named<'n>(
    names: &'n str,
    tensors: &Rest<AsyncValue>,
) -> Result<Vec<(&'n str, DenseHostTensor)>, Diagnostic> {
    let names: Vec<_> = names.split(',').collect();
    let tensors = tensors.iter().map(|value| {
        let value = value?;
        match value.get::<HostTensor>() {
            Some(HostTensor::Dense(tensor)) => Ok(tensor.clone()),
            _ => Err(Diagnostic::invalid_argument(format!("a {} is not a dense tensor", value.type_name()))),
        }
    });
    let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    if names.len() != tensors.len() {
        let message = format!("{} names for {} tensors", names.len(), tensors.len());
        return Err(Diagnostic::invalid_argument(message));
    }
    Ok(names.into_iter().zip(tensors).collect())
}

/// Returns the folder of checkpoints, if the request has one.
fn folder(cx: &ExecutionContext) -> Option<PathBuf> {
    cx.resources().get::<PathBuf>(CHECKPOINT_DIR).ok().map(|folder| (*folder).clone())
}

fn io_error(verb: &str, path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(ErrorCode::Io, format!("cannot {verb} '{}': {error}", path.display()))
}

/// Replaces the file as a whole: after a crash at any moment, the old or the new checkpoint is
/// there.
fn replace(folder: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    fs::create_dir_all(folder).map_err(|error| io_error("create", folder, &error))?;
    let (path, temporary) = (folder.join(FILE), folder.join(format!(".{FILE}.new")));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| io_error("write", &temporary, &error))?;
    fs::rename(&temporary, &path).map_err(|error| io_error("replace", &path, &error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| io_error("write", folder, &error))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn save_checkpoint(
    context: Arg<DistributedContext>,
    group: Arg<String>,
    step: i32,
    _chain: Chain,
    tensors: Rest<AsyncValue>,
    every: Attr<i64>,
    names: Attr<str>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (_, rank) = context.membership(&group)?;
    let tensors = named(names.0, &tensors)?;
    let is_due = every.0 > 0 && i64::from(step) % every.0 == 0;
    if let Some(folder) = folder(cx).filter(|_| rank == 0 && is_due) {
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
        let bytes = encode_with(&tensors, &[(STEP, &step.to_string())], &CHECKPOINT)?;
        replace(&folder, &bytes)?;
    }
    Ok(Chain)
}

/// Reads a checkpoint into tensors and returns its step, or 0 if there is none.
fn read(
    folder: &Path,
    tensors: &[(&str, DenseHostTensor)],
    cx: &ExecutionContext,
) -> Result<i32, Diagnostic> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(0);
    }
    let file = SafeTensorsFile::open(&path)?;
    let step = file.text(STEP).and_then(|step| step.parse().ok()).filter(|step| *step >= 0);
    let step = step.ok_or_else(|| {
        Diagnostic::invalid_argument(format!("'{}' is not a checkpoint: it has no step", path.display()))
    })?;
    for (name, tensor) in tensors {
        let saved = file.tensor(name, cx.host().allocator())?;
        if saved.metadata() != tensor.metadata() {
            return Err(Diagnostic::invalid_argument(format!(
                "tensor '{name}' of '{}' is {}, but the program has {}",
                path.display(),
                saved.metadata(),
                tensor.metadata()
            )));
        }
        tensor.write_bytes(&CHECKPOINT)?.copy_from_slice(&saved.read_bytes(&CHECKPOINT)?);
    }
    Ok(step)
}

/// Copies a buffer of the group's first rank to all of them.
fn share(
    (context, group, key): (&DistributedContext, &str, &str),
    buffer: &HostBuffer,
    dtype: DType,
) -> Result<(), Diagnostic> {
    let collective = Collective::new(context, group, &format!("checkpoint {key}"))?;
    let count = buffer.len() / dtype.size().unwrap_or(1);
    let receive = Some(CHECKPOINT.write_owned(buffer)?);
    collective.run_blocking(Operation::Broadcast { root: 0 }, Data { dtype, count, send: None, receive })
}

fn restore_checkpoint(
    context: Arg<DistributedContext>,
    group: Arg<String>,
    _chain: Chain,
    tensors: Rest<AsyncValue>,
    names: Attr<str>,
    cx: &ExecutionContext,
) -> Result<(i32, Chain), Diagnostic> {
    let (_, rank) = context.membership(&group)?;
    let tensors = named(names.0, &tensors)?;
    let Some(folder) = folder(cx) else { return Ok((0, Chain)) };
    let read = if rank == 0 { read(&folder, &tensors, cx) } else { Ok(0) };
    // A negative step tells the other ranks that there is none, before they wait for tensors.
    let step = HostBuffer::from_vec(vec![*read.as_ref().unwrap_or(&-1)]);
    share((&context, &group, STEP), &step, DType::I32)?;
    read?;
    let step: i32 = bytemuck::cast_slice(&CHECKPOINT.read_owned(&step)?)[0];
    if step < 0 {
        let message = "rank 0 could not read the checkpoint";
        return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
    }
    if step > 0 {
        for (name, tensor) in &tensors {
            share((&context, &group, name), tensor.buffer(), tensor.dtype())?;
        }
    }
    Ok((step, Chain))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_dist.group_rank", group_rank)
        .doc("Returns this task's rank in a group, and the number of ranks.");
    registry
        .add("tfrt_dist.set_step", set_step)
        .side_effecting()
        .doc("Sets the number of the step that errors of collectives name.");
    for (suffix, dtype) in [("f32", DType::F32), ("i32", DType::I32)] {
        registry
            .add(
                format!("tfrt_dist.create_shard.{suffix}"),
                move |context: Arg<DistributedContext>,
                      group: Arg<String>,
                      shape: Attr<[i64]>,
                      cx: &ExecutionContext| {
                    create_shard(dtype, &context, &group, shape.0, cx)
                },
            )
            .attributes(&["shape"])
            .doc("Creates a tensor for this rank's part of a shape, which all ranks of a group share along its first axis.");
    }
    registry
        .add("tfrt_dist.bucket_part", bucket_part)
        .attributes(&["offset", "shape"])
        .reads(&[])
        .aliases(0, 0)
        .doc("Returns a tensor over elements of another one, from an offset on. Both share the memory.");
    registry
        .add("tfrt_dist.save_checkpoint", save_checkpoint)
        .attributes(&["every", "names"])
        .side_effecting()
        .blocking()
        .doc(
            "Writes tensors with their names and the number of finished steps to the folder of checkpoints, on the group's \
             first rank, if the number is a multiple of `every` and the request has a folder. The file is replaced as a whole.",
        );
    registry
        .add("tfrt_dist.restore_checkpoint", restore_checkpoint)
        .attributes(&["names"])
        .side_effecting()
        .blocking()
        .doc(
            "Reads tensors from the checkpoint of the group's first rank into those of all ranks, and returns the number of \
             finished steps, or 0 if there is no checkpoint.",
        );
}
