//! `tfrt.FusedConv2D`: the convolution of compiled models, with a bias, a residual and an
//! activation or steps of elementwise functions.
//!
//! The filter is a constant of the model, so that it is laid out once. Unlike TensorFlow's op it
//! may take fewer products than the definition has, with other rounding (minimal filtering), as
//! long as the results are the same whatever the threads and the batch.

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use tfrt_compute::{run, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    Activation, Conv2d, Conv2dInput, Conv2dShape, ConvElement, Float, PackedFilter, Program, ShapeError,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::activation::Activation as Elementwise;
use super::convolution::{FILTER_LAYOUT, FilterLayout, Kind, WINDOW, convolution};
use super::fused::check_channels;
use super::fused_elementwise::{STEPS, program};
use super::support::{Computed, Described, invalid, one};
use super::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tfrt.FusedConv2D");

/// The op's name and how its filter is read.
pub(super) const PREPARED: (&str, Kind) = ("tfrt.FusedConv2D", Kind::Full);

/// What the attributes of a call say. It is read once and kept with them.
struct Kept {
    activation: Option<Elementwise>,
    steps: Option<Program>,
    /// Of the last call, because most calls of an op have the same shapes.
    last: Mutex<Option<Arc<Planned>>>,
}

/// A convolution of some shapes.
struct Planned {
    input: TensorShape,
    filter: TensorShape,
    shape: Conv2dShape,
    output: TensorShape,
    /// The plan in single precision for this many workers, once it is made.
    plan: OnceLock<(usize, Conv2d<f32>)>,
}

impl Kept {
    /// Returns what is kept with attributes.
    ///
    /// # Errors
    /// Those of [`activation`] and [`steps`].
    fn of(attrs: &OpAttrs) -> Result<&Self, Diagnostic> {
        attrs.derive(Self::read)
    }

    fn read(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let activation = match attrs.optional::<&str>("activation")?.unwrap_or_default() {
            "" => None,
            name => match Elementwise::named(name, 0.2) {
                Some(activation) => Some(activation),
                None => {
                    return Err(invalid(format!("'{name}' is not an activation that {} has", PREPARED.0)));
                }
            },
        };
        let steps = match attrs.optional::<&str>(STEPS)?.unwrap_or_default() {
            "" => None,
            _ if activation.is_some() => {
                let message = format!("{} takes an activation or steps, but not both", PREPARED.0);
                return Err(invalid(message));
            }
            steps => Some(program(steps, 1)?),
        };
        Ok(Self { activation, steps, last: Mutex::default() })
    }

    /// Returns the convolution of these shapes.
    ///
    /// # Errors
    /// InvalidArgument for shapes and attributes that do not fit together.
    fn planned(
        &self,
        attrs: &OpAttrs,
        input: &TensorShape,
        filter: &TensorShape,
    ) -> Result<Arc<Planned>, Diagnostic> {
        let mut last = self.last.lock();
        if let Some(planned) = &*last
            && planned.input == *input
            && planned.filter == *filter
        {
            return Ok(planned.clone());
        }
        let (shape, output) = convolution(attrs, PREPARED.1, input, filter)?;
        let (input, filter) = (input.clone(), filter.clone());
        let planned = Arc::new(Planned { input, filter, shape, output, plan: OnceLock::new() });
        *last = Some(planned.clone());
        Ok(planned)
    }

    /// Returns the plan in single precision for `workers` threads.
    fn plan(&self, planned: &Planned, workers: usize) -> Result<Conv2d<f32>, Diagnostic> {
        if let Some((count, plan)) = planned.plan.get()
            && *count == workers
        {
            return Ok(plan.clone());
        }
        let (stored, last) = match self.activation {
            None => (Activation::None, None),
            Some(Elementwise::Relu) => (Activation::Relu, None),
            Some(other) => (Activation::None, Some(other)),
        };
        let mut plan =
            Conv2d::<f32>::for_kept_filters(&planned.shape, stored, workers).map_err(shape_error)?;
        if let Some(last) = last {
            plan = plan.finished_by(move |elements| last.apply_to(elements));
        }
        if let Some(program) = self.steps.clone() {
            plan = plan.finished_by(move |elements| {
                // The program has one argument, which is all that can go wrong.
                let applied = program.apply(elements);
                debug_assert!(applied.is_ok());
            });
        }
        // A plan for another number of workers stays.
        let kept = planned.plan.get_or_init(|| (workers, plan.clone()));
        Ok(if kept.0 == workers { kept.1.clone() } else { plan })
    }
}

/// The activation that attribute `activation` names; none if it is empty.
///
/// # Errors
/// InvalidArgument for a name that is not known.
pub(super) fn activation(attrs: &OpAttrs) -> Result<Option<Elementwise>, Diagnostic> {
    Ok(Kept::of(attrs)?.activation)
}

/// What attribute `steps` says is done to the results last; nothing if it is empty. It stands for
/// an activation.
///
/// # Errors
/// InvalidArgument for steps that cannot be read or take more than the result, and beside an
/// activation.
pub(super) fn steps(attrs: &OpAttrs) -> Result<Option<Program>, Diagnostic> {
    Ok(Kept::of(attrs)?.steps.clone())
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let (input, filter, bias, residual) = match *call.arguments {
        [input, filter, bias] => (input, filter, bias, None),
        [input, filter, bias, residual] => (input, filter, bias, Some(residual)),
        _ => {
            let count = call.arguments.len();
            return Err(invalid(format!("the op takes 3 or 4 arguments, got {count}")));
        }
    };
    let kept = Kept::of(call.attrs)?;
    let arguments = [Some(input), Some(filter), Some(bias), residual];
    if !types::NARROW_FLOATS.contains(&input.dtype) {
        return Err(invalid(format!("the op takes tensors of f16, bf16 or f32, got {}", input.dtype)));
    }
    if let Some(other) = arguments.into_iter().flatten().find(|argument| argument.dtype != input.dtype) {
        return Err(invalid(format!(
            "the op takes tensors of one type, got {} and {}",
            input.dtype, other.dtype
        )));
    }
    let planned = kept.planned(call.attrs, &input.shape, &filter.shape)?;
    let output = &planned.output;
    check_channels(&bias.shape, "bias", planned.shape.out_channels)?;
    if let Some(residual) = residual
        && residual.shape != *output
    {
        return Err(invalid(format!("the residual has shape {}, the result {output}", residual.shape)));
    }
    one(TensorMetadata::new(input.dtype, output.clone()))
}

/// A filter as a plan reads it, and how its elements were read.
struct LaidOut<T: ConvElement> {
    layout: FilterLayout,
    filter: PackedFilter<T>,
}

/// Lays out a filter for a plan, by way of `pack`, which takes its extents and its elements in
/// TensorFlow's order. The result is kept with the filter's elements.
fn laid_out<T: Element + ConvElement>(
    plan: &Conv2d<T>,
    layout: FilterLayout,
    filter: &DenseHostTensor,
    pack: impl FnOnce([usize; 4], &[T]) -> Result<PackedFilter<T>, ShapeError>,
) -> Result<Arc<LaidOut<T>>, Diagnostic> {
    let extents = layout.extents(filter.shape())?;
    let fits = |kept: &LaidOut<T>| kept.layout == layout && plan.takes(&kept.filter);
    let pack = |elements: &[T]| {
        pack(extents, &hwio(layout, extents, elements)).map(|filter| LaidOut { layout, filter })
    };
    filter.read::<T>(&ME)?.derived(fits, pack).map_err(shape_error)
}

/// Returns a filter's elements in TensorFlow's order.
fn hwio<T: Copy>(layout: FilterLayout, extents: [usize; 4], elements: &[T]) -> Cow<'_, [T]> {
    if layout == FilterLayout::Hwio {
        return Cow::Borrowed(elements);
    }
    let (outputs, rest) = (extents[3], extents[..3].iter().product::<usize>());
    let at = |place: usize| elements[(place % outputs) * rest + place / outputs];
    Cow::Owned((0..elements.len()).map(at).collect())
}

fn fused(call: CpuCall<'_>) -> Computed {
    let (input, filter, bias, residual) = match *call.arguments {
        [input, filter, bias] => (input, filter, bias, None),
        [input, filter, bias, residual] => (input, filter, bias, Some(residual.dense()?)),
        _ => return Err(invalid("the op takes 3 or 4 arguments")),
    };
    let operands = ([input.dense()?, filter.dense()?, bias.dense()?], residual);
    match operands.0[0].dtype() {
        DType::F16 => fused_narrow::<tfrt_tensor::f16>(&call, operands),
        DType::BF16 => fused_narrow::<tfrt_tensor::bf16>(&call, operands),
        _ => fused_single(&call, operands),
    }
}

/// The operands of a call: input, filter and bias, and the residual.
type Operands<'a> = ([&'a DenseHostTensor; 3], Option<&'a DenseHostTensor>);

/// The op on numbers of 16 bits, which other libraries compute in single precision, too.
fn fused_narrow<T: Element + ConvElement + Float>(
    call: &CpuCall<'_>,
    ([input, filter, bias], residual): Operands<'_>,
) -> Computed {
    let (shape, _) = convolution(call.attrs, PREPARED.1, input.shape(), filter.shape())?;
    let layout = FilterLayout::of(call.attrs)?;
    let activation = activation(call.attrs)?;
    let stored = if activation == Some(Elementwise::Relu) { Activation::Relu } else { Activation::None };
    let mut plan = Conv2d::<T>::new(&shape, stored, workers(call.cx)).map_err(shape_error)?;
    if let Some(last) = activation.filter(|_| stored == Activation::None) {
        plan = plan.finished_by(move |elements| last.apply_to(elements));
    }
    if let Some(program) = steps(call.attrs)? {
        plan = plan.finished_by(move |elements: &mut [T]| {
            let mut wide: Vec<f32> = elements.iter().map(|x| x.to_f64() as f32).collect();
            // The program has one argument, which is all that can go wrong.
            let applied = program.apply(&mut wide);
            debug_assert!(applied.is_ok());
            for (x, wide) in elements.iter_mut().zip(wide) {
                *x = T::from_f64(wide.into());
            }
        });
    }
    let packed = laid_out(&plan, layout, filter, |_, elements| plan.pack_filter(elements))?;
    let residual = residual.map(|residual| residual.read_owned::<T>(&ME)).transpose()?;
    let reads = (input.read_owned::<T>(&ME)?, packed, bias.read_owned::<T>(&ME)?, residual);
    let out = call.allocate_unset(0)?;
    let (result, operands) = (HostTensor::from(out.clone()), (reads, out.write_owned::<T>(&ME)?));
    run(
        call.cx,
        Ok(plan),
        operands,
        |(x, kept, bias, residual)| Conv2dInput {
            bias: Some(bias),
            residual: residual.as_deref(),
            ..Conv2dInput::new(x, &kept.filter)
        },
        |out| out,
        result,
    )
    .map(Into::into)
}

fn fused_single(call: &CpuCall<'_>, ([input, filter, bias], residual): Operands<'_>) -> Computed {
    let kept = Kept::of(call.attrs)?;
    let planned = kept.planned(call.attrs, input.shape(), filter.shape())?;
    let plan = kept.plan(&planned, workers(call.cx))?;
    let packed = laid_out(&plan, FilterLayout::of(call.attrs)?, filter, |extents, elements| {
        match planned.shape.groups {
            1 => PackedFilter::new(extents, elements),
            _ => plan.pack_filter(elements),
        }
    })?;
    let bias = bias.read_owned::<f32>(&ME)?;
    let residual = residual.map(|residual| residual.read_owned::<f32>(&ME)).transpose()?;
    let reads = (input.read_owned::<f32>(&ME)?, packed, bias, residual);
    let out = call.allocate_unset(0)?;
    let (result, operands) = (HostTensor::from(out.clone()), (reads, out.write_owned::<f32>(&ME)?));
    run(
        call.cx,
        Ok(plan),
        operands,
        |(x, kept, bias, residual)| Conv2dInput {
            bias: Some(bias),
            residual: residual.as_deref(),
            ..Conv2dInput::new(x, &kept.filter)
        },
        |out| out,
        result,
    )
    .map(Into::into)
}

const ATTRS: [AttrSpec; 8] = [
    attr::string_or("activation", ""),
    attr::string_or(FILTER_LAYOUT, "HWIO"),
    attr::string_or(STEPS, ""),
    WINDOW[0],
    WINDOW[1],
    WINDOW[2],
    WINDOW[3],
    WINDOW[4],
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(PREPARED.0).types(types::NARROW_FLOATS).attrs(ATTRS).metadata(metadata).cpu(fused);
}
