//! Ops that move blocks of pixels to batches or channels, and back: `tf.SpaceToBatchND`,
//! `tf.BatchToSpaceND`, `tf.SpaceToDepth`, `tf.DepthToSpace`.

use tfrt_compute::shape_error;
use tfrt_host::Diagnostic;
use tfrt_math::{BlockOp, Pad, Transpose};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use super::moves::{Axis, Moves, how};
use super::pick::{NOWHERE, pick};
use super::support::{Computed, Described, int_attr, integers, invalid, one, product, room_for, vector};
use super::types;
use super::window::Layout;
use crate::{CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, attr, registry::wrong_count};

/// The amounts before and after some dimensions.
type Pairs = Vec<(usize, usize)>;

/// A rearrangement: a tensor is padded with zeros, reshaped, its axes are reordered, and it is
/// reshaped again and cropped.
#[derive(Clone, Debug)]
pub(super) struct Rearranged {
    /// The zeros before and after each dimension; empty without padding.
    pub(super) padding: Pairs,
    /// The first shape.
    pub(super) view: Vec<usize>,
    /// The order of its axes.
    pub(super) order: Vec<usize>,
    /// The second shape.
    pub(super) merged: Vec<usize>,
    /// The elements of each dimension to crop before and after; empty without cropping.
    crops: Pairs,
    /// The number of last axes, in every shape, that do not change.
    pub(super) resting: usize,
}

/// Plans an op for a tensor of this shape from its other arguments and its attributes.
pub(super) type RearrangementPlan = fn(&[usize], &[&HostTensor], &OpAttrs) -> Result<Rearranged, Diagnostic>;

impl Rearranged {
    /// Returns the result's shape.
    pub(super) fn dims(&self) -> Vec<usize> {
        self.crop(self.merged.len()).dims().to_vec()
    }

    /// Returns the cropping of the first `count` dimensions.
    pub(super) fn crop(&self, count: usize) -> Moves {
        let dims = &self.merged[..count];
        let axes = dims.iter().enumerate().map(|(i, &dim)| match self.crops.get(i) {
            Some(&(start, end)) => Axis::Steps { start, step: 1, count: dim - start - end },
            None => Axis::whole(dim),
        });
        Moves::new(dims, axes.collect())
    }

    /// Returns the sources of the units of a nonempty result in a tensor of shape `dims`, and the
    /// number of elements of a unit.
    pub(super) fn places(&self, dims: &[usize]) -> Result<(Vec<usize>, usize), Diagnostic> {
        let (view, resting) = self.view.split_at(self.view.len() - self.resting);
        let unit = product(resting);
        let count = product(dims) / unit;
        let mut places = room_for(count)?;
        places.extend(0..count);
        if !self.padding.is_empty() {
            let outer = dims.len() - self.resting;
            let plan = Pad::new(&dims[..outer], &self.padding[..outer], NOWHERE).map_err(shape_error)?;
            let unpadded = std::mem::replace(&mut places, nowhere(product(plan.shape()))?);
            plan.run_in_turn(&unpadded, &mut places).map_err(shape_error)?;
        }
        let plan = Transpose::new(view, &self.order[..view.len()]).map_err(shape_error)?;
        let mut turned = nowhere(places.len())?;
        plan.run_in_turn(&places, &mut turned).map_err(shape_error)?;
        if self.crops.is_empty() {
            return Ok((turned, unit));
        }
        let crop = self.crop(self.merged.len() - self.resting);
        let mut cropped = nowhere(product(crop.dims()))?;
        crop.copy_all(&turned, &mut cropped);
        Ok((cropped, unit))
    }
}

/// Returns a list of `count` unknown positions.
fn nowhere(count: usize) -> Result<Vec<usize>, Diagnostic> {
    let mut places = room_for(count)?;
    places.resize(count, NOWHERE);
    Ok(places)
}

fn rearranged(call: &CpuCall<'_>, plan: RearrangementPlan) -> Computed {
    let (tensor, others) = call.arguments.split_first().ok_or_else(|| wrong_count(1, 0))?;
    let plan = plan(tensor.shape().dims(), others, call.attrs)?;
    let dims = plan.dims();
    let (places, unit) =
        if dims.contains(&0) { (Vec::new(), 0) } else { plan.places(tensor.shape().dims())? };
    pick(call, tensor, places, unit, &dims)
}

/// Returns the blocks' extents, and a pair of paddings or crops for each.
fn blocks(
    dims: &[usize],
    (extents, pairs): (&HostTensor, &HostTensor),
    what: &str,
) -> Result<(Vec<usize>, Pairs), Diagnostic> {
    let extents = vector(extents, "block_shape")?;
    if dims.len() <= extents.len() {
        return Err(invalid(format!(
            "input rank should be >= {} instead of {}",
            extents.len() + 1,
            dims.len()
        )));
    }
    if *pairs.shape().dims() != [extents.len(), 2] {
        return Err(invalid(format!(
            "{what} should have shape [{}, 2] instead of {}",
            extents.len(),
            pairs.shape()
        )));
    }
    let extent = |&extent: &i64| {
        usize::try_from(extent).ok().filter(|&extent| extent > 0).ok_or_else(|| {
            invalid(format!("All values in block_shape must be positive, got value, {extent}"))
        })
    };
    let pairs = integers(pairs, what)?;
    let pair = |pair: &[i64]| match (usize::try_from(pair[0]), usize::try_from(pair[1])) {
        (Ok(before), Ok(after)) => Ok((before, after)),
        _ => Err(invalid(format!("{what} must be non-negative: {} {}", pair[0], pair[1]))),
    };
    Ok((
        extents.iter().map(extent).collect::<Result<_, _>>()?,
        pairs.chunks_exact(2).map(pair).collect::<Result<_, _>>()?,
    ))
}

/// Returns a product that fits its type, or an error.
fn counted(factors: impl IntoIterator<Item = usize>) -> Result<usize, Diagnostic> {
    let product = factors.into_iter().try_fold(1usize, usize::checked_mul);
    product.ok_or_else(|| invalid("a tensor of too many elements"))
}

/// Checks that the number of elements of a larger result fits its type.
fn checked(plan: Rearranged) -> Result<Rearranged, Diagnostic> {
    TensorShape::new(&plan.merged)?.num_elements()?;
    Ok(plan)
}

/// Plans moving the pixels of a block to batches.
pub(super) fn space_to_batch(
    dims: &[usize],
    others: &[&HostTensor],
    _: &OpAttrs,
) -> Result<Rearranged, Diagnostic> {
    let [extents, paddings] = how(others)?;
    let (blocks, paddings) = blocks(dims, (extents, paddings), "paddings")?;
    let count = blocks.len();
    let (space, rest) = dims[1..].split_at(count);
    let mut view = vec![dims[0]];
    let mut merged = vec![counted(blocks.iter().copied().chain([dims[0]]))?];
    for (i, (&dim, &(before, after))) in space.iter().zip(&paddings).enumerate() {
        let block = blocks[i];
        let padded = dim.checked_add(before).and_then(|dim| dim.checked_add(after));
        let padded = padded.ok_or_else(|| invalid("a padded tensor of too many elements"))?;
        if !padded.is_multiple_of(block) {
            return Err(invalid(format!(
                "padded_shape[{i}]={padded} is not divisible by block_shape[{i}]={block}"
            )));
        }
        view.extend([padded / block, block]);
        merged.push(padded / block);
    }
    view.extend(rest);
    merged.extend(rest);
    // Blocks, batch, position within the block, and the rest.
    let order = (0..count).map(|i| 2 * i + 2).chain([0]).chain((0..count).map(|i| 2 * i + 1));
    let order = order.chain(2 * count + 1..view.len()).collect();
    let padding = [(0, 0)].into_iter().chain(paddings).chain(rest.iter().map(|_| (0, 0))).collect();
    checked(Rearranged { padding, view, order, merged, crops: Vec::new(), resting: rest.len() })
}

/// Plans moving batches to the pixels of a block.
pub(super) fn batch_to_space(
    dims: &[usize],
    others: &[&HostTensor],
    _: &OpAttrs,
) -> Result<Rearranged, Diagnostic> {
    let [extents, crops] = how(others)?;
    let (blocks, crops) = blocks(dims, (extents, crops), "crops")?;
    let (count, pixels) = (blocks.len(), counted(blocks.iter().copied())?);
    if !dims[0].is_multiple_of(pixels) {
        return Err(invalid(format!(
            "Input batch dimension ({}) is not divisible by product of block sizes ({pixels})",
            dims[0]
        )));
    }
    let (space, rest) = dims[1..].split_at(count);
    let mut merged = vec![dims[0] / pixels];
    for (i, (&dim, &(start, end))) in space.iter().zip(&crops).enumerate() {
        let extent = counted([dim, blocks[i]])?;
        if start.checked_add(end).is_none_or(|cropped| cropped > extent) {
            return Err(invalid(format!("crops of {start} and {end} are more than dimension {i}, {extent}")));
        }
        merged.push(extent);
    }
    merged.extend(rest);
    let mut view = blocks;
    view.push(dims[0] / pixels);
    view.extend(&dims[1..]);
    let order = [count].into_iter().chain((0..count).flat_map(|i| [count + 1 + i, i]));
    let order = order.chain(2 * count + 1..view.len()).collect();
    let crops = [(0, 0)].into_iter().chain(crops).collect();
    checked(Rearranged { padding: Vec::new(), view, order, merged, crops, resting: rest.len() })
}

/// Returns the extent of blocks of channels.
fn block_size(attrs: &OpAttrs) -> Result<usize, Diagnostic> {
    let size = int_attr(attrs, "block_size")?.ok_or_else(|| invalid("attribute 'block_size' is missing"))?;
    usize::try_from(size)
        .ok()
        .filter(|&size| size >= 2)
        .ok_or_else(|| invalid(format!("block_size must be at least 2, got {size}")))
}

/// Plans moving the pixels of a block to channels.
pub(super) fn space_to_depth(
    dims: &[usize],
    others: &[&HostTensor],
    attrs: &OpAttrs,
) -> Result<Rearranged, Diagnostic> {
    let [] = how(others)?;
    let (layout, size) = (Layout::of(attrs)?, block_size(attrs)?);
    let [batch, height, width, channels] = layout.images(&TensorShape::new(dims)?, "input")?;
    if !height.is_multiple_of(size) || !width.is_multiple_of(size) {
        return Err(invalid(format!(
            "Image width {width} and height {height} should be divisible by block_size: {size}"
        )));
    }
    let (rows, columns) = (height / size, width / size);
    let merged = layout.shape([batch, rows, columns, counted([size, size, channels])?])?.dims().to_vec();
    let (view, order, resting) = match layout {
        Layout::Nhwc => (vec![batch, rows, size, columns, size, channels], vec![0, 1, 3, 2, 4, 5], 1),
        Layout::Nchw => (vec![batch, channels, rows, size, columns, size], vec![0, 3, 5, 1, 2, 4], 0),
    };
    checked(Rearranged { padding: Vec::new(), view, order, merged, crops: Vec::new(), resting })
}

/// Plans moving channels to the pixels of a block.
pub(super) fn depth_to_space(
    dims: &[usize],
    others: &[&HostTensor],
    attrs: &OpAttrs,
) -> Result<Rearranged, Diagnostic> {
    let [] = how(others)?;
    let (layout, size) = (Layout::of(attrs)?, block_size(attrs)?);
    let [batch, rows, columns, channels] = layout.images(&TensorShape::new(dims)?, "input")?;
    let pixels = counted([size, size])?;
    if !channels.is_multiple_of(pixels) {
        return Err(invalid(format!("Input depth dimension {channels} should be divisible by: {pixels}")));
    }
    let left = channels / pixels;
    let merged = layout.shape([batch, counted([rows, size])?, counted([columns, size])?, left])?;
    let (view, order, resting) = match layout {
        Layout::Nhwc => (vec![batch, rows, columns, size, size, left], vec![0, 1, 3, 2, 4, 5], 1),
        Layout::Nchw => (vec![batch, size, size, left, rows, columns], vec![0, 3, 4, 1, 5, 2], 0),
    };
    let merged = merged.dims().to_vec();
    checked(Rearranged { padding: Vec::new(), view, order, merged, crops: Vec::new(), resting })
}

/// Returns the metadata of an op that its attributes define completely.
fn described(call: MetadataCall<'_>, plan: RearrangementPlan) -> Described {
    let [tensor] = call.take()?;
    let plan = plan(tensor.shape.dims(), &[], call.attrs)?;
    one(TensorMetadata::new(tensor.dtype, TensorShape::new(&plan.merged)?))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.SpaceToBatchND").types(types::ELEMENTS).cpu(|call| rearranged(&call, space_to_batch));
    ops.add("tf.BatchToSpaceND").types(types::ELEMENTS).cpu(|call| rearranged(&call, batch_to_space));
    ops.add("tf.SpaceToDepth")
        .types(types::ANY)
        .attrs([attr::int("block_size"), attr::string_or("data_format", "NHWC")])
        .metadata(|call| described(call, space_to_depth))
        .cpu(|call| rearranged(&call, space_to_depth))
        .forms(Forms::STRING);
    ops.add("tf.DepthToSpace")
        .types(types::ANY)
        .attrs([attr::int("block_size"), attr::string_or("data_format", "NHWC")])
        .metadata(|call| described(call, depth_to_space))
        .cpu(|call| rearranged(&call, depth_to_space))
        .forms(Forms::STRING);
}
