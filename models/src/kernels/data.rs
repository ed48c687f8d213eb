//! The data set: the real one if the request says where it is, else digits drawn by code.

use std::path::{Path, PathBuf};

use tfrt_host::{Attr, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::DenseHostTensor;

use super::{DATA_DIR, filled};
use crate::digits::{self, DigitSet, PIXELS};
use crate::idx::{self, Split};

/// Number of the first image that is held out. Training never comes so far.
const FIRST_HELD_OUT: usize = 1_000_000_000;

type Tensors = (DenseHostTensor, DenseHostTensor);

fn count(number: i32, what: &str) -> Result<usize, Diagnostic> {
    usize::try_from(number)
        .map_err(|_| Diagnostic::invalid_argument(format!("cannot load {number} images {what}")))
}

/// The first `count` images and labels of a part of the real data.
fn read(folder: &Path, split: Split, count: usize) -> Result<DigitSet, Diagnostic> {
    if count == 0 {
        return Ok(DigitSet::default());
    }
    let mut set =
        idx::read_mnist(folder, split).map_err(|error| Diagnostic::new(ErrorCode::Io, error.to_string()))?;
    if set.len() < count {
        return Err(Diagnostic::invalid_argument(format!(
            "'{}' has {} images, but {count} are asked for",
            folder.display(),
            set.len()
        )));
    }
    set.images.truncate(count * PIXELS);
    set.labels.truncate(count);
    Ok(set)
}

/// Images from 0 to 1 in rows, and their classes.
fn tensors(set: &DigitSet, cx: &ExecutionContext) -> Result<Tensors, Diagnostic> {
    let images = filled([set.len(), PIXELS], cx, |numbers: &mut [f32]| {
        numbers.iter_mut().zip(set.numbers()).for_each(|(to, number)| *to = number);
        Ok(())
    })?;
    let labels = filled([set.len()], cx, |classes: &mut [i32]| {
        classes.iter_mut().zip(&set.labels).for_each(|(to, &label)| *to = label.into());
        Ok(())
    })?;
    Ok((images, labels))
}

fn load(
    train: i32,
    test: i32,
    _chain: Chain,
    seed: Attr<i64>,
    cx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor, DenseHostTensor, DenseHostTensor), Diagnostic> {
    let (train, test) = (count(train, "to learn from")?, count(test, "to be tested on")?);
    let (train, test) = match cx.resources().get::<PathBuf>(DATA_DIR) {
        Ok(folder) => (read(&folder, Split::Train, train)?, read(&folder, Split::Test, test)?),
        Err(error) if error.code == ErrorCode::NotFound => {
            let (threads, seed) = (cx.host().work_queue().parallelism(), seed.0.cast_unsigned());
            let draw = |first: usize, count: usize| digits::generate_on(threads, seed, first..first + count);
            (draw(0, train), draw(FIRST_HELD_OUT, test))
        }
        Err(error) => return Err(error),
    };
    let ((images, labels), (test_images, test_labels)) = (tensors(&train, cx)?, tensors(&test, cx)?);
    Ok((images, labels, test_images, test_labels))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_mnist.load", load)
        .attributes(&["seed"])
        .blocking()
        .doc(
            "So many images (f32 from 0 to 1, [n, 784]) and labels (i32, [n]) to learn from, and so many of each to be \
             tested on: from the IDX files in the request's data_dir, or else drawn.",
        );
}
