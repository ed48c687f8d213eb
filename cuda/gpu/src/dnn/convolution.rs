//! Convolutions: found engines, run.

#![expect(unsafe_code, reason = "calls of cuDNN's C interface")]

use std::sync::Arc;

use cudarc::cudnn::sys::{cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object};
use tfrt_device::error::{Result, Status};
use tfrt_device::hal::{
    Activation, ActivationMode, Convolution, ConvolutionEpilogue, ConvolutionOperands, Scaling, Tensor,
    TensorLayout,
};

use super::DnnHandle;
use super::backend::{Descriptor, Int64, Pointer};
use super::graph::id;
use super::plans::Plan;
use crate::stream::Stream;
use crate::workspace::Purpose;

/// Which of the three tensors is the result.
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

/// All that an engine is chosen for.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) kind: Kind,
    pub(super) convolution: &'a Convolution,
    pub(super) scaling: Scaling,
    /// `x`, `w`, `y`.
    pub(super) tensors: [Aligned<'a>; 3],
    pub(super) bias: Option<Aligned<'a>>,
    /// With its factor.
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

    /// Of a convolution that writes over what was there.
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

    /// Whether an epilogue may be part of the convolution's kernel. The library takes the same kernel for every alignment that it
    /// is told of there (seen with 9.19), while for a convolution alone it takes one that reads what lies unaligned.
    fn is_aligned(&self) -> bool {
        let others = [self.bias, self.residual.map(|(layout, alignment, _)| (layout, alignment))];
        let all = self.tensors.into_iter().chain(others.into_iter().flatten());
        all.into_iter().all(|(_, alignment)| alignment == MAX_ALIGNMENT)
    }
}

/// A larger alignment makes no difference.
const MAX_ALIGNMENT: u32 = 16;

fn aligned((layout, address): Tensor<'_>) -> Aligned<'_> {
    (layout, 1 << address.trailing_zeros().min(MAX_ALIGNMENT.trailing_zeros()))
}

/// How a convolution with an epilogue is computed.
enum Way {
    /// In one kernel.
    Whole(Arc<Plan>),
    /// The convolution alone, and then step by step what is done to its result: where the operands do not lie as one kernel wants
    /// them, or no engine takes them all.
    InSteps(Arc<Plan>),
}

/// The factor of a residual that lies where the result is to be, if it does.
fn residual_in_place(operands: ConvolutionOperands<'_>, epilogue: &ConvolutionEpilogue<'_>) -> Option<f64> {
    let in_place = epilogue.residual.filter(|(residual, _)| residual.1 == operands.y.1);
    in_place.map(|(_, factor)| factor)
}

/// Where the operands of one run lie.
fn addresses(operands: ConvolutionOperands<'_>) -> [(i64, u64); 3] {
    let ConvolutionOperands { x, w, y } = operands;
    [(id::X, x.1), (id::W, w.1), (id::Y, y.1)]
}

impl DnnHandle {
    /// One convolution without more.
    pub(super) fn convolve(
        &self,
        stream: &Stream,
        kind: Kind,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'_>,
    ) -> Result<()> {
        // Before the handle is taken: other streams' calls go on while a plan is looked for.
        let plan = self.plans.get(&Problem::alone(kind, convolution, scaling, operands))?;
        self.run(stream, &plan, &addresses(operands))
    }

    /// A convolution with what is done to its result: in one kernel if there is an engine for it, else step by step.
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
                return self.convolve_aside(stream, convolution, scaling, operands, epilogue);
            }
            // Without an activation, what was there is a residual like another.
            epilogue.residual = Some((operands.y, scaling.beta));
        }
        let way = self.way(convolution, scaling.alpha, operands, &epilogue)?;
        self.go(&way, stream, operands, epilogue)
    }

    /// What was there is added to the activation's result, which therefore needs a place of its own first.
    fn convolve_aside<'a>(
        &self,
        stream: &Stream,
        convolution: &Convolution,
        scaling: Scaling,
        operands: ConvolutionOperands<'a>,
        epilogue: ConvolutionEpilogue<'a>,
    ) -> Result<()> {
        let (layout, _) = operands.y;
        self.shared.bind()?;
        // Looking for a plan may take seconds, in which a workspace that is taken could not be given back. An address of zero is
        // as aligned as every workspace is.
        let nowhere = ConvolutionOperands { y: (layout, 0), ..operands };
        let way = self.way(convolution, scaling.alpha, nowhere, &epilogue)?;
        let workspace = self.shared.workspaces.get(stream, Purpose::Result, layout.bytes())?;
        let aside = (layout, workspace.address);
        self.go(&way, stream, ConvolutionOperands { y: aside, ..operands }, epilogue)?;
        self.add_tensor(stream, Scaling { alpha: 1.0, beta: scaling.beta }, aside, operands.y)
    }

    /// How a convolution with an epilogue, which writes over what was there, is computed.
    fn way(
        &self,
        convolution: &Convolution,
        alpha: f64,
        operands: ConvolutionOperands<'_>,
        epilogue: &ConvolutionEpilogue<'_>,
    ) -> Result<Way> {
        let whole = Problem::with_epilogue(convolution, alpha, operands, epilogue);
        if whole.is_aligned() {
            match self.plans.get(&whole) {
                Err(error) if error.status == Status::DnnNotSupported => {}
                plan => return plan.map(Way::Whole),
            }
        }
        // A residual in the result's own memory must be read before it is written over.
        let beta = residual_in_place(operands, epilogue).unwrap_or(0.0);
        let alone = Problem::alone(Kind::Forward, convolution, Scaling { alpha, beta }, operands);
        self.plans.get(&alone).map(Way::InSteps)
    }

    /// Computes a convolution with an epilogue in the way that was found for it.
    fn go(
        &self,
        way: &Way,
        stream: &Stream,
        operands: ConvolutionOperands<'_>,
        epilogue: ConvolutionEpilogue<'_>,
    ) -> Result<()> {
        let mut addresses = addresses(operands).to_vec();
        let plan = match way {
            Way::InSteps(plan) => plan,
            Way::Whole(plan) => {
                addresses.extend(epilogue.bias.map(|bias| (id::BIAS, bias.1)));
                addresses.extend(epilogue.residual.map(|((_, address), _)| (id::RESIDUAL, address)));
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

    fn run(&self, stream: &Stream, plan: &Plan, addresses: &[(i64, u64)]) -> Result<()> {
        self.on(stream, |handle| {
            let workspace = self.shared.workspaces.get(stream, Purpose::Scratch, plan.workspace_bytes)?;
            let variant = self.variant(plan, addresses, workspace.address)?;
            // SAFETY: the front checked that the tensors lie in device memory with the layouts the plan was made for; the
            // workspace is as large as the plan asks, and nothing else that may run meanwhile uses it.
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

    /// The addresses for one run.
    fn variant(&self, plan: &Plan, addresses: &[(i64, u64)], workspace: u64) -> Result<Descriptor> {
        let ids: Vec<_> = addresses.iter().map(|&(id, _)| Int64(id)).collect();
        let pointers: Vec<_> = addresses.iter().map(|&(_, address)| Pointer(address)).collect();
        let variant = Descriptor::new(self.library, Object::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?;
        variant.set(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &ids)?;
        variant.set(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &pointers)?;
        if plan.workspace_bytes > 0 {
            variant.set(Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &[Pointer(workspace)])?;
        }
        variant.finalize("finalizing a run's addresses")
    }
}
