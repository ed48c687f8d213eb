//! Arrays of tensors, which loops of TensorFlow's first version fill and read. An array's flow
//! stands for its elements as a list; its handle is a name. In some models they are state
//! instead (`array_states.rs`).

use std::sync::Arc;

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueDef, ValueId};

use super::{Family, array_states};
use crate::{
    Dims, TensorType,
    dialect::tf_executor::ISLAND,
    import::tensorflow::{
        node::{Imported, Node, Value, type_attribute},
        proto::Attr,
        tensor,
    },
};

pub(super) const OPS: Family = &[
    ("TensorArrayCloseV3", |_| Ok(Vec::new())),
    ("TensorArrayGatherV3", gather),
    ("TensorArrayGradV3", array_states::gradient),
    ("TensorArrayReadV3", read),
    ("TensorArrayScatterV3", scatter),
    ("TensorArraySizeV3", size),
    ("TensorArrayV3", array),
    ("TensorArrayWriteV3", write),
];

/// A shape as an argument; one that is not known is -1.
fn add_shape(node: &mut Node<'_, '_>, dims: Option<&[Option<u64>]>) -> Imported<ValueId> {
    let mut builder = node.builder();
    let Some(dims) = dims else { return Ok(builder.add_elements::<i32>(&[], &[-1])?) };
    let extent = |dim: &Option<u64>| dim.and_then(|dim| i32::try_from(dim).ok()).unwrap_or(-1);
    let dims: Vec<i32> = dims.iter().map(extent).collect();
    Ok(builder.add_elements(&[dims.len()], &dims)?)
}

fn array(node: &mut Node<'_, '_>) -> Imported {
    let dtype = node.type_attr("dtype")?.ok_or("attribute 'dtype' is missing")?;
    let dims = match node.attr("element_shape") {
        Some(Attr::Shape(shape)) => tensor::dims(Some(shape)),
        _ => None,
    };
    if node.importer.has_array_states {
        return array_states::array(node, TensorType { dtype, dims });
    }
    let shape = add_shape(node, dims.as_deref())?;
    let size = node.input(0)?;
    let element = [("element_dtype", type_attribute(dtype))];
    let flow = node.op("tf.TensorListReserve", &[shape, size], &element)?;
    let name: Arc<str> = format!("{}/{}", node.importer.depth, node.proto.name).into();
    if dims.is_some() {
        node.importer.state.arrays.insert(name.clone(), TensorType { dtype, dims });
    }
    Ok(vec![Value::Resource(name), flow.into()])
}

/// Keeps the type of an element that an array or a stack is given.
pub(super) fn note(node: &mut Node<'_, '_>, element: TensorType) -> Imported<()> {
    let name = node.resource(0)?;
    let arrays = &mut node.importer.state.arrays;
    let ty = match arrays.get(&name) {
        Some(known) => known.merge(&element).map_or_else(|| known.join(&element), Ok)?,
        None => element,
    };
    arrays.insert(name, ty);
    Ok(())
}

/// The shape of an array's elements, as far as it is known.
pub(super) fn known_dims(node: &Node<'_, '_>) -> Imported<Dims> {
    let name = node.resource(0)?;
    let declared = match node.attr("element_shape") {
        Some(Attr::Shape(shape)) => tensor::dims(Some(shape)),
        _ => None,
    };
    let known = node.importer.state.arrays.get(&name).and_then(|ty| ty.dims.clone());
    Ok(match (declared, known) {
        (Some(a), Some(b)) if a.len() == b.len() => {
            Some(a.into_iter().zip(b).map(|(a, b)| a.or(b)).collect())
        }
        (declared, known) => declared.or(known),
    })
}

/// That shape as an argument.
fn element_shape(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let dims = known_dims(node)?;
    add_shape(node, dims.as_deref())
}

fn write(node: &mut Node<'_, '_>) -> Imported {
    let (index, value, flow) = (node.input(1)?, node.input(2)?, node.input(3)?);
    let ty = node.ty(value)?;
    note(node, ty)?;
    if node.importer.has_array_states {
        return array_states::apply(node, "tfrt.ArrayWrite");
    }
    // An array that grows does so when an element beyond its end is written.
    let grows = [("resize_if_index_out_of_bounds", Attribute::Bool(true))];
    Ok(vec![node.op("tf.TensorListSetItem", &[flow, index, value], &grows)?.into()])
}

fn read(node: &mut Node<'_, '_>) -> Imported {
    if node.importer.has_array_states {
        return array_states::read(node, "tfrt.ArrayRead", 1);
    }
    let (index, flow) = (node.input(1)?, node.input(2)?);
    let shape = element_shape(node)?;
    Ok(vec![node.op("tf.TensorListGetItem", &[flow, index, shape], &[])?.into()])
}

fn gather(node: &mut Node<'_, '_>) -> Imported {
    if node.importer.has_array_states {
        return array_states::read(node, "tfrt.ArrayGather", 1);
    }
    let (indices, flow) = (node.input(1)?, node.input(2)?);
    let shape = element_shape(node)?;
    Ok(vec![node.op("tf.TensorListGather", &[flow, indices, shape], &[])?.into()])
}

/// All elements of an array, as a tensor.
pub(super) fn filled(node: &mut Node<'_, '_>, flow: ValueId) -> Imported<ValueId> {
    let shape = element_shape(node)?;
    node.op("tf.TensorListStack", &[flow, shape], &[])
}

fn size(node: &mut Node<'_, '_>) -> Imported {
    if node.importer.has_array_states {
        return array_states::apply(node, "tfrt.ArraySize");
    }
    let flow = node.input(1)?;
    Ok(vec![node.op("tf.TensorListLength", &[flow], &[])?.into()])
}

/// Elements that are all given at once. Those that are given for each place in order are the list.
fn scatter(node: &mut Node<'_, '_>) -> Imported {
    let (indices, value, flow) = (node.input(1)?, node.input(2)?, node.input(3)?);
    let ty = node.ty(value)?;
    let dims = ty.dims.as_ref().and_then(|dims| Some(dims.get(1..)?.to_vec()));
    note(node, TensorType { dtype: ty.dtype, dims })?;
    if node.importer.has_array_states {
        return array_states::apply(node, "tfrt.ArrayScatter");
    }
    if !counts_up(node, indices) {
        return scatter_anywhere(node, (indices, value), flow);
    }
    let shape = add_shape(node, None)?;
    Ok(vec![node.op("tf.TensorListFromTensor", &[value, shape], &[])?.into()])
}

/// Whether a vector is 0, 1, 2 and so on.
fn counts_up(node: &mut Node<'_, '_>, indices: ValueId) -> bool {
    if let Some(known) = node.integers(indices) {
        return known.iter().copied().eq(0..known.len() as i64);
    }
    let module = &node.importer.graph.module;
    let mut value = indices;
    while let ValueDef::Result { op, index } = module.value(value).def {
        let op = module.op(op);
        if op.name == ISLAND {
            let block = op.regions.first().and_then(|&region| module.entry_block(region));
            let end = block.and_then(|block| module.last_op(block));
            match end.and_then(|end| module.op(end).operands.get(index as usize)) {
                Some(&inner) => value = inner,
                None => return false,
            }
            continue;
        }
        let [start, _, step] = op.operands[..] else { return false };
        return op.name == "tf.Range"
            && node.integers(start).as_deref() == Some(&[0])
            && node.integers(step).as_deref() == Some(&[1]);
    }
    false
}

/// Elements at places that are not in order. The list is as long as it was; places without an
/// element hold zeros.
fn scatter_anywhere(
    node: &mut Node<'_, '_>,
    (indices, value): (ValueId, ValueId),
    flow: ValueId,
) -> Imported {
    let length = node.op("tf.TensorListLength", &[flow], &[])?;
    let mut builder = node.builder();
    let (last, one) = (builder.add_integer(-1)?, builder.add_elements::<i32>(&[1], &[1])?);
    let axis = builder.add_number(DType::I32, 0.0)?;
    let indices = node.op("tf.ExpandDims", &[indices, last], &[])?;
    let length = node.op("tf.ExpandDims", &[length, axis], &[])?;
    let shape = node.op("tf.Shape", &[value], &[])?;
    let rank = node.op("tf.Shape", &[shape], &[])?;
    let rest = node.op("tf.Sub", &[rank, one], &[])?;
    let extents = node.op("tf.Slice", &[shape, one, rest], &[])?;
    let shape = node.op("tf.ConcatV2", &[length, extents, axis], &[])?;
    let list = node.op("tf.ScatterNd", &[indices, value, shape], &[])?;
    Ok(vec![list.into()])
}
