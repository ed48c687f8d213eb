//! The activations of recurrent ops.

use tfrt_host::Diagnostic;
use tfrt_math::{Float, ops};

use super::super::arguments::{floats_attr, unknown};
use super::cells::Kind;
use crate::OpAttrs;
use crate::ops::fused::names;
use crate::ops::support::invalid;

/// An activation with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::ops) enum Activation {
    Sigmoid,
    Tanh,
    Relu,
    Affine { alpha: f64, beta: f64 },
    LeakyRelu { alpha: f64 },
    ThresholdedRelu { alpha: f64 },
    ScaledTanh { alpha: f64, beta: f64 },
    HardSigmoid { alpha: f64, beta: f64 },
    Elu { alpha: f64 },
    Softsign,
    Softplus,
}

impl Activation {
    /// Applies it to each element of a row.
    pub(super) fn apply_to<W: Float>(self, row: &mut [W]) {
        match self {
            Self::Sigmoid => W::sigmoid_row(row),
            Self::Tanh => W::tanh_row(row),
            other => row.iter_mut().for_each(|x| *x = other.apply(*x)),
        }
    }

    fn apply<W: Float>(self, x: W) -> W {
        let wide = |f: &dyn Fn(f64) -> f64| W::from_f64(f(x.to_f64()));
        match self {
            Self::Sigmoid => ops::sigmoid(x),
            Self::Tanh => x.tanh(),
            Self::Relu => ops::relu(x),
            Self::Affine { alpha, beta } => wide(&|x| alpha * x + beta),
            Self::LeakyRelu { alpha } => wide(&|x| if x >= 0.0 { x } else { alpha * x }),
            Self::ThresholdedRelu { alpha } => wide(&|x| if x >= alpha { x } else { 0.0 }),
            Self::ScaledTanh { alpha, beta } => wide(&|x| alpha * (beta * x).tanh()),
            Self::HardSigmoid { alpha, beta } => wide(&|x| (alpha * x + beta).clamp(0.0, 1.0)),
            Self::Elu { alpha } => wide(&|x| if x >= 0.0 { x } else { alpha * x.exp_m1() }),
            Self::Softsign => wide(&|x| x / (1.0 + x.abs())),
            Self::Softplus => wide(&|x| x.max(0.0) + (-x.abs()).exp().ln_1p()),
        }
    }
}

/// The activations of each direction. Parameters are given for those activations alone that have
/// any, in their order.
pub(in crate::ops) fn activations(
    attrs: &OpAttrs,
    kind: Kind,
    directions: usize,
) -> Result<Vec<Vec<Activation>>, Diagnostic> {
    let count = kind.activations().len();
    let given = match attrs.get("activations") {
        Some(_) => names(attrs, "activations")?.to_vec(),
        None => Vec::new(),
    };
    let chosen = if given.is_empty() { kind.activations().repeat(directions) } else { given };
    if chosen.len() != count * directions {
        return Err(invalid(format!(
            "attribute 'activations' must have {} names, got {}",
            count * directions,
            chosen.len()
        )));
    }
    let mut alphas = floats_attr(attrs, "activation_alpha")?.unwrap_or_default().into_iter();
    let mut betas = floats_attr(attrs, "activation_beta")?.unwrap_or_default().into_iter();
    let mut all = Vec::new();
    for name in chosen {
        let mut alpha = |default: f64| alphas.next().unwrap_or(default);
        let mut beta = |default: f64| betas.next().unwrap_or(default);
        all.push(match name.to_ascii_lowercase().as_str() {
            "sigmoid" => Activation::Sigmoid,
            "tanh" => Activation::Tanh,
            "relu" => Activation::Relu,
            "affine" => Activation::Affine { alpha: alpha(1.0), beta: beta(0.0) },
            "leakyrelu" => Activation::LeakyRelu { alpha: alpha(0.01) },
            "thresholdedrelu" => Activation::ThresholdedRelu { alpha: alpha(1.0) },
            "scaledtanh" => Activation::ScaledTanh { alpha: alpha(1.0), beta: beta(1.0) },
            "hardsigmoid" => Activation::HardSigmoid { alpha: alpha(0.2), beta: beta(0.5) },
            "elu" => Activation::Elu { alpha: alpha(1.0) },
            "softsign" => Activation::Softsign,
            "softplus" => Activation::Softplus,
            _ => return Err(unknown("activations", name)),
        });
    }
    Ok(all.chunks(count).map(<[_]>::to_vec).collect())
}
