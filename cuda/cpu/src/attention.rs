//! Attention on the CPU devices, some rows of a head at a time.

#![expect(unsafe_code, reason = "declared device memory is viewed as slices")]

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::Pod;
use half::{bf16, f16};
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Attends, Attention, AttentionExtents};
use tfrt_device::observer::Access;
use tfrt_host::DType;
use tfrt_math::{BlockOp, CastTo, Element, Layout, MatMul, MatMulInput, Pieces, Serial, ShapeError, Softmax};

use super::blas::{shape_error, size};
use super::bytes::{Input, Output};
use super::context::CpuContext;
use super::operation::{Operation, Run};
use super::stream::Stream;

/// The number of scores that a thread computes at a time, unless a row has more.
const SCORES: usize = 1 << 16;

/// The number of elements of each operand: output, queries, keys, values, mask.
fn spans(attention: &Attention) -> [u64; 5] {
    let Attention { extents, output, queries, keys, values, mask, .. } = attention;
    let mask = mask.map(|mask| extents.mask_span(mask.strides, mask.keys).unwrap_or(0));
    [
        extents.query_span(output.strides, extents.size).unwrap_or(0),
        extents.query_span(queries.strides, extents.depth).unwrap_or(0),
        extents.key_span(keys.strides, extents.depth).unwrap_or(0),
        extents.key_span(values.strides, extents.size).unwrap_or(0),
        mask.unwrap_or(0),
    ]
}

/// The operands in single precision.
struct Operands<'a> {
    attention: &'a Attention,
    queries: &'a [f32],
    keys: &'a [f32],
    values: &'a [f32],
    /// What is added to scores.
    summands: Option<&'a [f32]>,
    /// What hides keys where it is zero.
    flags: Option<&'a [u8]>,
    lengths: Option<&'a [i64]>,
}

/// Rows of a head.
struct Part {
    batch: usize,
    head: usize,
    rows: Range<usize>,
}

fn at(strides: [u64; 3], places: [usize; 3]) -> usize {
    strides.iter().zip(places).map(|(&stride, place)| stride as usize * place).sum()
}

/// The elements from a place on, which only operands without any elements lack.
fn from(elements: &[f32], at: usize) -> &[f32] {
    elements.get(at..).unwrap_or_default()
}

impl Operands<'_> {
    /// Computes the results of some rows.
    fn compute(&self, part: &Part, out: &mut [f32]) -> Result<(), ShapeError> {
        let Attention { extents, queries, keys, values, scale, .. } = *self.attention;
        let [shared, key_count, depth, size] =
            [extents.shared, extents.keys, extents.depth, extents.size].map(|extent| extent as usize);
        if key_count == 0 {
            out.fill(0.0);
            return Ok(());
        }
        let (rows, source) = (part.rows.len(), part.head / shared);
        let layout = |row, column| Layout { row_stride: row, col_stride: column, batch_stride: 0 };
        let mut scores = vec![0.0; rows * key_count];
        if depth > 0 {
            let [q_row, k_row] = [queries.strides[2], keys.strides[2]].map(|stride| stride as usize);
            let q = from(self.queries, at(queries.strides, [part.batch, part.head, part.rows.start]));
            let k = from(self.keys, at(keys.strides, [part.batch, source, 0]));
            MatMul::new(rows, depth, key_count, 1)?
                .scaled(scale, 0.0)
                .operands(layout(q_row, 1), layout(1, k_row))?
                .run(&Serial, MatMulInput::new(q, k), &mut scores)?;
        }
        for (index, scores) in scores.chunks_exact_mut(key_count).enumerate() {
            self.change(part, part.rows.start + index, scores);
        }
        let mut weights = vec![0.0; scores.len()];
        Softmax::new(rows, key_count)?.run(&Serial, &scores, &mut weights)?;
        let v = from(self.values, at(values.strides, [part.batch, source, 0]));
        MatMul::new(rows, key_count, size, 1)?
            .operands(layout(key_count, 1), layout(values.strides[2] as usize, 1))?
            .run(&Serial, MatMulInput::new(&weights, v), out)
    }

    /// Changes the scores of a row, and hides those that it does not see.
    fn change(&self, part: &Part, row: usize, scores: &mut [f32]) {
        let Attention { mask, causal, cap, .. } = *self.attention;
        if cap > 0.0 {
            scores.iter_mut().for_each(|score| *score = (*score / cap).tanh() * cap);
        }
        let mut end = scores.len();
        if let Some(mask) = mask {
            end = end.min(mask.keys as usize);
            let [batch, head, along_rows, along_keys] = mask.strides;
            let start = at([batch, head, along_rows], [part.batch, part.head, row]);
            let place = |key: usize| start + key * along_keys as usize;
            for (key, score) in scores[..end].iter_mut().enumerate() {
                if let Some(summands) = self.summands {
                    *score += summands[place(key)];
                } else if self.flags.is_some_and(|flags| flags[place(key)] == 0) {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
        if let Some(lengths) = self.lengths {
            end = end.min(usize::try_from(lengths[part.batch]).unwrap_or(0));
        }
        if let Some(past) = causal {
            end = end.min(row + 1 + past as usize);
        }
        scores[end..].fill(f32::NEG_INFINITY);
    }
}

/// Elements in single precision.
fn widened<T: Pod + CastTo<f32>>(elements: &[T], dtype: DType) -> Cow<'_, [f32]> {
    match dtype {
        DType::F32 => Cow::Borrowed(bytemuck::cast_slice(elements)),
        _ => Cow::Owned(elements.iter().map(|&element| element.cast_to()).collect()),
    }
}

/// The parts into which the rows of all heads are divided.
fn parts(extents: &AttentionExtents) -> Vec<Part> {
    let [batches, heads, rows] = [extents.batch, extents.heads, extents.rows].map(|extent| extent as usize);
    let each = (SCORES / (extents.keys as usize).max(1)).clamp(1, rows.max(1));
    let mut parts = Vec::new();
    for batch in 0..batches {
        for head in 0..heads {
            for first in (0..rows).step_by(each) {
                parts.push(Part { batch, head, rows: first..rows.min(first + each) });
            }
        }
    }
    parts
}

fn attend<T>(run: &Run<'_>, attention: &Attention) -> Result<()>
where
    T: Element + Pod + CastTo<f32>,
    f32: CastTo<T>,
{
    let [y_len, q_len, k_len, v_len, m_len] = spans(attention);
    let written = [(attention.output.address, y_len * size_of::<T>() as u64)];
    let mask = |dtype: DType| attention.mask.filter(|mask| mask.dtype == dtype);
    let own_mask = mask(attention.dtype);
    let wide_mask = mask(DType::F32).filter(|_| own_mask.is_none());
    // SAFETY: `Attends::attention` declares all operands. Inputs that overlap the result are copied
    // first.
    let (mut y, q, k, v, own, wide, flags, lengths) = unsafe {
        let read = |address, len| Input::<T>::beside(run, address, len, &written);
        let q = read(attention.queries.address, q_len)?;
        let k = read(attention.keys.address, k_len)?;
        let v = read(attention.values.address, v_len)?;
        let own = own_mask.map(|mask| read(mask.address, m_len)).transpose()?;
        let wide = wide_mask.map(|mask| Input::<f32>::beside(run, mask.address, m_len, &written));
        let flags = mask(DType::I1).map(|mask| Input::<u8>::beside(run, mask.address, m_len, &written));
        let batch = attention.extents.batch;
        let lengths = attention.lengths.map(|at| Input::<i64>::beside(run, at, batch, &written));
        let y = Output::<T>::new(run, attention.output.address, y_len)?;
        (y, q, k, v, own, wide.transpose()?, flags.transpose()?, lengths.transpose()?)
    };
    let dtype = attention.dtype;
    let [q, k, v] = [&q, &k, &v].map(|operand| widened(operand.get(), dtype));
    let own = own.as_ref().map(|mask| widened(mask.get(), dtype));
    let operands = Operands {
        attention,
        queries: &q,
        keys: &k,
        values: &v,
        summands: own.as_deref().or(wide.as_ref().map(Input::get)),
        flags: flags.as_ref().map(Input::get),
        lengths: lengths.as_ref().map(Input::get),
    };
    let (parts, columns) = (parts(&attention.extents), attention.extents.size as usize);
    let mut sums = vec![0.0; parts.iter().map(|part| part.rows.len()).sum::<usize>() * columns];
    compute_all(run, &operands, &parts, &mut sums)?;
    store(attention, &parts, &sums, y.get());
    Ok(())
}

/// Computes all parts on the threads of the pool.
fn compute_all(run: &Run<'_>, operands: &Operands<'_>, parts: &[Part], sums: &mut [f32]) -> Result<()> {
    let (mut rest, mut pieces) = (sums, Vec::new());
    for part in parts {
        let (piece, behind) = rest.split_at_mut(part.rows.len() * operands.attention.extents.size as usize);
        pieces.push(piece);
        rest = behind;
    }
    let (pieces, failure) = (Pieces::new(pieces), OnceLock::new());
    run.shared.pool.parallel_for(parts.len(), 1, &|range: Range<usize>| {
        for index in range {
            let computed = pieces.take(index).map(|piece| operands.compute(&parts[index], piece));
            if let Some(Err(error)) = computed {
                let _ = failure.set(error);
            }
        }
    });
    failure.into_inner().map_or(Ok(()), |error| Err(shape_error(Status::LaunchFailed)(error)))
}

/// Writes the results, and nothing between their rows.
fn store<T: Copy>(attention: &Attention, parts: &[Part], sums: &[f32], y: &mut [T])
where
    f32: CastTo<T>,
{
    let size = attention.extents.size as usize;
    let lines = parts.iter().flat_map(|part| part.rows.clone().map(move |row| [part.batch, part.head, row]));
    for (line, sums) in lines.zip(sums.chunks_exact(size)) {
        let start = at(attention.output.strides, line);
        y[start..start + size].iter_mut().zip(sums).for_each(|(y, &sum)| *y = sum.cast_to());
    }
}

impl Attends for CpuContext {
    fn computes_attention(&self) -> bool {
        true
    }

    fn attention(&self, stream: &Stream, attention: &Attention) -> Result<()> {
        let compute = match attention.dtype {
            DType::F32 => attend::<f32>,
            DType::F16 => attend::<f16>,
            DType::BF16 => attend::<bf16>,
            other => return Err(DeviceError::new(Status::NotSupported, format!("attention of {other}"))),
        };
        let [y, q, k, v, mask] = spans(attention);
        let bytes = |elements: u64| elements * size(attention.dtype);
        let mut accesses = vec![
            Access::read(attention.queries.address, bytes(q)),
            Access::read(attention.keys.address, bytes(k)),
            Access::read(attention.values.address, bytes(v)),
            Access::write(attention.output.address, bytes(y)),
        ];
        accesses.extend(attention.mask.map(|of| Access::read(of.address, mask * size(of.dtype))));
        accesses.extend(attention.lengths.map(|at| Access::read(at, attention.extents.batch * 8)));
        let attention = *attention;
        stream.core.submit(Operation::new("attention", accesses, move |run| compute(run, &attention)))
    }
}
