//! Makes tables of what is computed from single bytes: activations of a quantized model, whose
//! operands are dequantized and whose results are quantized.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};
use tfrt_tensor::{Accessor, HostTensor};

use super::{fuse_quantized::quantization, rewrite::Rewriter, transpose};

static READ: Accessor = Accessor::new("tables of bytes");

const TABLE: &str = "tfrt.ByteTable";
/// How many operations a table stands for at most.
const MAX_STEPS: usize = 32;

/// What is computed from single bytes is in a table.
pub(super) fn tabulate(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    quantization(rewriter, op)?;
    let (source, steps) = cone(rewriter, op)?;
    let table = tabulated(rewriter, source, &steps)?;
    if is_identity(rewriter, source, table) {
        return rewriter.replace(op, &[source]);
    }
    let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
    let result = rewriter.create_typed(TABLE, &[source, table], AttrDict::default(), ty);
    rewriter.replace(op, &[result])
}

/// Whether a table has each byte in its place.
fn is_identity(rewriter: &Rewriter<'_>, source: ValueId, table: ValueId) -> bool {
    let of_type = |dtype: DType| rewriter.ty(source).is_some_and(|ty| ty.dtype == dtype);
    let Some(Ok(table)) = rewriter.constant(table).map(HostTensor::dense) else { return false };
    let Ok(bytes) = table.as_bits().read::<u8>(&READ).map(|bytes| bytes.to_vec()) else { return false };
    of_type(table.dtype()) && bytes.iter().copied().eq(0..=u8::MAX)
}

/// The bytes of which alone an op is computed element by element, and the operations between, in an
/// order in which each follows what it uses.
fn cone(rewriter: &Rewriter<'_>, root: OpId) -> Option<(ValueId, Vec<OpId>)> {
    let module = &rewriter.graph.module;
    let dims = rewriter.ty(rewriter.result(root)?)?.dims?;
    let (mut source, mut steps, mut next) = (None, vec![root], vec![root]);
    while let Some(op) = next.pop() {
        for &operand in &rewriter.op(op).operands {
            let ty = rewriter.ty(operand)?;
            if rewriter.constant(operand).is_some() {
                // Numbers that all elements share, or a table.
                let is_shared = |dims: Vec<u64>| dims.iter().all(|&dim| dim == 1);
                let is_table = rewriter.op(op).name == *TABLE;
                if !is_table && !ty.static_dims().is_some_and(is_shared) {
                    return None;
                }
                continue;
            }
            let is_step =
                |&op: &OpId| transpose::is_elementwise(rewriter, op) || rewriter.op(op).name == *TABLE;
            let inner = module.defining_op(operand).filter(is_step);
            if ty.dims.as_ref() != Some(&dims) {
                return None;
            }
            match inner {
                Some(inner) if steps.contains(&inner) => {}
                Some(inner) if steps.len() < MAX_STEPS => {
                    steps.push(inner);
                    next.push(inner);
                }
                None if source.is_none_or(|source| source == operand) => source = Some(operand),
                _ => return None,
            }
        }
    }
    let source = source
        .filter(|&source| rewriter.ty(source).is_some_and(|ty| matches!(ty.dtype, DType::I8 | DType::UI8)))?;
    steps.sort_by(|&a, &b| module.is_before(b, a).cmp(&module.is_before(a, b)));
    Some((source, steps))
}

/// Runs the steps on each byte.
fn tabulated(rewriter: &mut Rewriter<'_>, source: ValueId, steps: &[OpId]) -> Option<ValueId> {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let all = match rewriter.ty(source)?.dtype {
        DType::I8 => rewriter.create_elements(&all.iter().map(|&byte| byte as i8).collect::<Vec<_>>())?,
        _ => rewriter.create_elements(&all)?,
    };
    let mut values = vec![(source, all)];
    for &step in steps {
        let of_table = |value: &ValueId| {
            values.iter().find(|(own, _)| own == value).map_or(*value, |&(_, tabulated)| tabulated)
        };
        let operands: Vec<_> = rewriter.op(step).operands.iter().map(of_table).collect();
        let operands = flat(rewriter, &operands, all)?;
        let tabulated = rewriter.create_like(step, &operands)?;
        rewriter.constant(*tabulated.first()?)?;
        values.push((rewriter.result(step)?, tabulated[0]));
    }
    values.last().map(|&(_, table)| table)
}

/// The operands of a step on a vector of all bytes: what all elements share has no dimensions.
fn flat(rewriter: &mut Rewriter<'_>, operands: &[ValueId], all: ValueId) -> Option<Vec<ValueId>> {
    let dims = rewriter.ty(all)?.dims;
    let scalar = |rewriter: &mut Rewriter<'_>, value: ValueId| {
        let ty = rewriter.ty(value)?;
        if ty.dims == dims || ty.rank()? == 0 {
            return Some(value);
        }
        let shape = rewriter.create_integers(&[])?;
        let none: [(&str, Attribute); 0] = [];
        rewriter.create("tf.Reshape", &[value, shape], none)
    };
    operands.iter().map(|&value| scalar(rewriter, value)).collect()
}
