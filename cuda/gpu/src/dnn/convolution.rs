//! Convolutions, run by engines that `plans` finds.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::sync::Arc;

use tfrt_device::error::{Result, Status};
use tfrt_device::hal::{
    Activation, ActivationMode, Convolution, ConvolutionEpilogue, ConvolutionOperands, Scaling, Tensor,
    TensorLayout,
};

use super::DnnHandle;
use super::plans::Plan;
use super::variants::Addresses;
use crate::stream::Stream;
use crate::workspace::Purpose;

/// The tensor that a convolution computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `y`.
    Forward,
    /// `x`.
    BackwardData,
    /// `w`.
    BackwardFilter,
}

/// A layout and the alignment of the address, in bytes.
type Aligned<'a> = (&'a TensorLayout, u32);

/// The properties that determine the engine.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) kind: Kind,
    pub(super) convolution: &'a Convolution,
    pub(super) scaling: Scaling,
    /// The tensors `x`, `w`, `y`.
    pub(super) tensors: [Aligned<'a>; 3],
    pub(super) bias: Option<Aligned<'a>>,
    /// The residual, with its factor.
    pub(super) residual: Option<(&'a TensorLayout, u32, f64)>,
    pub(super) activation: Option<Activation>,
}

impl<'a> Problem<'a> {
    fn alone(
        kind: Kind,
        convolution: &'a Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'a>,
    ) -> Self {
        let ConvolutionOperands { x, w, y } = operands;
        let tensors = [aligned(x), aligned(w), aligned(y)];
        Self { kind, convolution, scaling, tensors, bias: None, residual: None, activation: None }
    }

    /// Describes a convolution with an epilogue, which overwrites its result.
    fn with_epilogue(
        convolution: &'a Convolution,
        alpha: f64,
        operands: ConvolutionOperands<'a>,
        epilogue: &ConvolutionEpilogue<'a>,
    ) -> Self {
        Self {
            bias: epilogue.bias.map(aligned),
            residual: epilogue.residual.map(|(tensor, factor)| {
                let (layout, alignment) = aligned(tensor);
                (layout, alignment, factor)
            }),
            activation: epilogue.activation,
            ..Self::alone(Kind::Forward, convolution, Scaling { alpha, beta: 0.0 }, operands)
        }
    }

    /// Returns whether an epilogue may be part of the convolution's kernel. In cuDNN 9.19, fused
    /// kernels ignore the given alignment, while the kernels of plain convolutions support
    /// unaligned operands.
    fn is_aligned(&self) -> bool {
        let others = [self.bias, self.residual.map(|(layout, alignment, _)| (layout, alignment))];
        let all = self.tensors.into_iter().chain(others.into_iter().flatten());
        all.into_iter().all(|(_, alignment)| alignment == MAX_ALIGNMENT)
    }
}

/// The greatest alignment that makes a difference.
const MAX_ALIGNMENT: u32 = 16;

fn aligned((layout, address): Tensor<'_>) -> Aligned<'_> {
    (layout, 1 << address.trailing_zeros().min(MAX_ALIGNMENT.trailing_zeros()))
}

/// The implementation of a convolution with an epilogue.
enum Implementation {
    /// One kernel.
    Fused(Arc<Plan>),
    /// The convolution alone, followed by the steps of the epilogue: used if the alignment of the
    /// operands rules out a fused kernel, or no engine supports all of it.
    Steps(Arc<Plan>),
}

/// Returns the factor of a residual that is in the same memory as the result, if there is one.
fn residual_in_place(operands: ConvolutionOperands<'_>, epilogue: &ConvolutionEpilogue<'_>) -> Option<f64> {
    let in_place = epilogue.residual.filter(|(residual, _)| residual.1 == operands.y.1);
    in_place.map(|(_, factor)| factor)
}

/// Returns the addresses of the operands of one run.
fn addresses(operands: ConvolutionOperands<'_>) -> Addresses {
    let ConvolutionOperands { x, w, y } = operands;
    Addresses { tensors: [x.1, w.1, y.1], bias: None, residual: None }
}

impl DnnHandle {
    /// Runs one convolution without an epilogue.
    pub(super) fn convolve(
        &self,
        stream: &Stream,
        kind: Kind,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
    ) -> Result<()> {
        // Done before the handle is locked: calls on other streams continue during the search for a
        // plan.
        let plan = self.plans.get(&Problem::alone(kind, convolution, scaling, operands))?;
        self.run(stream, &plan, &addresses(operands))
    }

    /// Runs a convolution with an epilogue: in one kernel if there is an engine for it, else step
    /// by step.
    pub(super) fn convolve_with_epilogue<'a>(
        &self,
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'a>,
        mut epilogue: ConvolutionEpilogue<'a>,
    ) -> Result<()> {
        epilogue.activation = epilogue.activation.filter(|a| a.mode != ActivationMode::Identity);
        if epilogue.bias.is_none() && epilogue.residual.is_none() && epilogue.activation.is_none() {
            return self.convolve(stream, Kind::Forward, convolution, scaling, operands);
        }
        if scaling.beta != 0.0 {
            if epilogue.residual.is_some() || epilogue.activation.is_some() {
                return self.convolve_to_scratch(stream, convolution, scaling, operands, epilogue);
            }
            // Without an activation, the old result is a residual like any other.
            epilogue.residual = Some((operands.y, scaling.beta));
        }
        let implementation = self.find_implementation(convolution, scaling.alpha, operands, &epilogue)?;
        self.run_implementation(&implementation, stream, operands, epilogue)
    }

    /// Runs a convolution that adds its activation's result to the old contents, and therefore
    /// computes it in separate memory first.
    fn convolve_to_scratch<'a>(
        &self,
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'a>,
        epilogue: ConvolutionEpilogue<'a>,
    ) -> Result<()> {
        let (layout, _) = operands.y;
        self.shared.bind()?;
        // The search for a plan may take seconds, during which a workspace in use could not be
        // released. Address zero has the alignment of every workspace.
        let nowhere = ConvolutionOperands { y: (layout, 0), ..operands };
        let implementation = self.find_implementation(convolution, scaling.alpha, nowhere, &epilogue)?;
        let workspace = self.shared.workspaces.get(stream, Purpose::Result, layout.bytes())?;
        let aside = (layout, workspace.address);
        self.run_implementation(
            &implementation,
            stream,
            ConvolutionOperands { y: aside, ..operands },
            epilogue,
        )?;
        self.add_tensor(stream, Scaling { alpha: 1.0, beta: scaling.beta }, aside, operands.y)
    }

    /// Returns the implementation of a convolution with an epilogue that overwrites its result.
    fn find_implementation(
        &self,
        convolution: &Convolution,
        alpha: f64,
        operands: ConvolutionOperands<'_>,
        epilogue: &ConvolutionEpilogue<'_>,
    ) -> Result<Implementation> {
        let whole = Problem::with_epilogue(convolution, alpha, operands, epilogue);
        if whole.is_aligned() {
            match self.plans.get(&whole) {
                Err(error) if error.status == Status::DnnNotSupported => {}
                plan => return plan.map(Implementation::Fused),
            }
        }
        // A residual in the result's own memory must be read before it is overwritten.
        let beta = residual_in_place(operands, epilogue).unwrap_or(0.0);
        let alone = Problem::alone(Kind::Forward, convolution, Scaling { alpha, beta }, operands);
        self.plans.get(&alone).map(Implementation::Steps)
    }

    /// Runs a convolution with an epilogue by the given implementation.
    fn run_implementation(
        &self,
        implementation: &Implementation,
        stream: &Stream,
        operands: ConvolutionOperands<'_>,
        epilogue: ConvolutionEpilogue<'_>,
    ) -> Result<()> {
        let mut addresses = addresses(operands);
        let plan = match implementation {
            Implementation::Steps(plan) => plan,
            Implementation::Fused(plan) => {
                addresses.bias = epilogue.bias.map(|bias| bias.1);
                addresses.residual = epilogue.residual.map(|((_, address), _)| address);
                return self.run(stream, plan, &addresses);
            }
        };
        self.run(stream, plan, &addresses)?;
        let y = operands.y;
        if let Some((residual, factor)) =
            epilogue.residual.filter(|_| residual_in_place(operands, &epilogue).is_none())
        {
            self.add_tensor(stream, Scaling { alpha: factor, beta: 1.0 }, residual, y)?;
        }
        if let Some(bias) = epilogue.bias {
            self.add_tensor(stream, Scaling { alpha: 1.0, beta: 1.0 }, bias, y)?;
        }
        match epilogue.activation {
            Some(activation) => self.activation_forward(stream, activation, Scaling::ONE, y, y),
            None => Ok(()),
        }
    }

    fn run(&self, stream: &Stream, plan: &Plan, addresses: &Addresses) -> Result<()> {
        self.on(stream, |handle| {
            let workspace = self.shared.workspaces.get(stream, Purpose::Scratch, plan.workspace_bytes)?;
            let variant = plan.variant(self.library, addresses, workspace.address)?;
            // SAFETY: the front checked that the tensors are in device memory with the layouts of
            // the plan. The workspace has the size that the plan requires, and no other work that
            // may run at the same time uses it.
            let status = unsafe {
                (self.library.cudnnBackendExecute)(
                    handle,
                    plan.descriptor.reference().0,
                    variant.reference().0,
                )
            };
            self.library.check(status, "cudnnBackendExecute")
        })
    }
}
