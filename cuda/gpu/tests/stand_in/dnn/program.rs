//! What an operation graph computes.

use std::collections::BTreeMap;
use std::ffi::c_int;

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendDescriptorType_t as Object,
    cudnnPointwiseMode_t as Pointwise,
};

use super::descriptor::Descriptor;
use super::geometry::{Convolution, Windows, three};
use super::{BAD_PARAM, Layout, NOT_SUPPORTED, Tensor, activate};
use crate::blas::to_tf32;
use crate::state::{Answer, check_range};

/// A tensor of a graph.
#[derive(Clone)]
struct Operand {
    id: i64,
    layout: Layout,
    alignment: u64,
    is_virtual: bool,
}

impl Operand {
    fn new(tensor: &Descriptor) -> Answer<Self> {
        let layout = Layout {
            dtype: tensor.number(Name::CUDNN_ATTR_TENSOR_DATA_TYPE)? as c_int,
            extents: tensor.sizes(Name::CUDNN_ATTR_TENSOR_DIMENSIONS)?,
            strides: tensor.sizes(Name::CUDNN_ATTR_TENSOR_STRIDES)?,
        };
        if layout.extents.len() != layout.strides.len() || layout.extents.contains(&0) {
            return Err(BAD_PARAM);
        }
        let is_virtual = tensor.has(Name::CUDNN_ATTR_TENSOR_IS_VIRTUAL)
            && tensor.number(Name::CUDNN_ATTR_TENSOR_IS_VIRTUAL)? != 0.0;
        Ok(Self {
            id: tensor.number(Name::CUDNN_ATTR_TENSOR_UNIQUE_ID)? as i64,
            layout,
            alignment: tensor.number(Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)? as u64,
            is_virtual,
        })
    }
}

/// The tensor that a convolution computes.
#[derive(Clone, Copy, PartialEq)]
enum Result {
    Y,
    X,
    W,
}

enum Node {
    Convolution { of: Result, convolution: Convolution, operands: [Operand; 3], factors: [f64; 2] },
    Add { a: Operand, b: Operand, y: Operand, factors: [f64; 2] },
    Activate { mode: c_int, coefficient: f64, x: Operand, y: Operand },
}

/// The nodes of a graph, in order.
pub(super) struct Program(Vec<Node>);

/// Returns the convolution with the geometry of a descriptor and tensors of these extents.
fn convolution(geometry: &Descriptor, [x, w, y]: [&[usize]; 3]) -> Answer<Convolution> {
    let list = |name, fill| three(&geometry.sizes(name)?, fill).ok_or(BAD_PARAM);
    let windows = Windows {
        x: three(x.get(2..).ok_or(BAD_PARAM)?, 1).ok_or(BAD_PARAM)?,
        window: three(w.get(2..).ok_or(BAD_PARAM)?, 1).ok_or(BAD_PARAM)?,
        y: three(y.get(2..).ok_or(BAD_PARAM)?, 1).ok_or(BAD_PARAM)?,
        padding: list(Name::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0)?,
        strides: list(Name::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1)?,
        dilations: list(Name::CUDNN_ATTR_CONVOLUTION_DILATIONS, 1)?,
    };
    for axis in 0..3 {
        let padded = windows.x[axis] + 2 * windows.padding[axis];
        let reach = (windows.window[axis] - 1) * windows.dilations[axis] + 1;
        if padded < reach || windows.y[axis] != (padded - reach) / windows.strides[axis] + 1 {
            return Err(BAD_PARAM);
        }
    }
    let groups = x[1] / w[1];
    if x[1] != groups * w[1] || !w[0].is_multiple_of(groups) || y[1] != w[0] || x[0] != y[0] {
        return Err(BAD_PARAM);
    }
    Ok(Convolution {
        windows,
        images: x[0],
        groups,
        inputs: w[1],
        outputs: w[0] / groups,
        // CUDNN_CONVOLUTION
        is_flipped: geometry.number(Name::CUDNN_ATTR_CONVOLUTION_CONV_MODE)? == 0.0,
    })
}

impl Node {
    fn new(operation: &Descriptor) -> Answer<Self> {
        if operation.is(Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
            Self::convolution(
                operation,
                Result::Y,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                ],
            )
        } else if operation.is(Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
            Self::convolution(
                operation,
                Result::X,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                ],
            )
        } else if operation.is(Object::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR) {
            Self::convolution(
                operation,
                Result::W,
                [
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                    Name::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                ],
            )
        } else if operation.is(Object::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) {
            Self::pointwise(operation)
        } else {
            Err(NOT_SUPPORTED)
        }
    }

    fn convolution(operation: &Descriptor, of: Result, names: [Name; 6]) -> Answer<Self> {
        let [x, w, y, geometry, alpha, beta] = names;
        let operand = |name| Operand::new(&*operation.other(name)?);
        let operands = [operand(x)?, operand(w)?, operand(y)?];
        let extents = [0, 1, 2].map(|index: usize| &*operands[index].layout.extents);
        Ok(Self::Convolution {
            of,
            convolution: convolution(&*operation.other(geometry)?, extents)?,
            operands,
            factors: [operation.number(alpha)?, operation.number(beta)?],
        })
    }

    fn pointwise(operation: &Descriptor) -> Answer<Self> {
        let function = operation.other(Name::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR)?;
        let operand = |name| Operand::new(&*operation.other(name)?);
        let x = operand(Name::CUDNN_ATTR_OPERATION_POINTWISE_XDESC)?;
        let y = operand(Name::CUDNN_ATTR_OPERATION_POINTWISE_YDESC)?;
        let mode = function.number(Name::CUDNN_ATTR_POINTWISE_MODE)? as c_int;
        if mode == Pointwise::CUDNN_POINTWISE_ADD as c_int {
            let b = operand(Name::CUDNN_ATTR_OPERATION_POINTWISE_BDESC)?;
            let factor = |name| if operation.has(name) { operation.number(name) } else { Ok(1.0) };
            let factors = [
                factor(Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1)?,
                factor(Name::CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2)?,
            ];
            return Ok(Self::Add { a: x, b, y, factors });
        }
        let known = |pointwise: Pointwise| mode == pointwise as c_int;
        // The numbers of activations in the older calls, and what their coefficient is called here.
        let (mode, coefficient) = if known(Pointwise::CUDNN_POINTWISE_SIGMOID_FWD) {
            (0, None)
        } else if known(Pointwise::CUDNN_POINTWISE_RELU_FWD) {
            match Name::CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP {
                clip if function.has(clip) => (3, Some(clip)),
                _ => (1, None),
            }
        } else if known(Pointwise::CUDNN_POINTWISE_TANH_FWD) {
            (2, None)
        } else if known(Pointwise::CUDNN_POINTWISE_ELU_FWD) {
            (4, Some(Name::CUDNN_ATTR_POINTWISE_ELU_ALPHA))
        } else {
            return Err(NOT_SUPPORTED);
        };
        let coefficient = coefficient.map_or(Ok(0.0), |name| function.number(name))?;
        Ok(Self::Activate { mode, coefficient, x, y })
    }

    fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Convolution { operands, .. } => operands.iter().collect(),
            Self::Add { a, b, y, .. } => vec![a, b, y],
            Self::Activate { x, y, .. } => vec![x, y],
        }
    }
}

/// The addresses of a graph's tensors, by id, and what its nodes have passed on.
struct Run<'a> {
    addresses: &'a BTreeMap<i64, u64>,
    passed: BTreeMap<i64, Vec<f64>>,
    rounds_to_tf32: bool,
}

impl Run<'_> {
    fn tensor(&self, operand: &Operand) -> Answer<Tensor> {
        let address = *self.addresses.get(&operand.id).ok_or(BAD_PARAM)?;
        Ok(Tensor { layout: operand.layout.clone(), address })
    }

    fn load(&self, operand: &Operand) -> Answer<Vec<f64>> {
        match self.passed.get(&operand.id).filter(|_| operand.is_virtual) {
            Some(values) => Ok(values.clone()),
            None => self.tensor(operand)?.load(),
        }
    }

    /// Loads an operand of products.
    fn factor(&self, operand: &Operand) -> Answer<Vec<f64>> {
        let mut values = self.load(operand)?;
        if self.rounds_to_tf32 && operand.layout.dtype == 0 {
            values.iter_mut().for_each(|value| *value = to_tf32(*value));
        }
        Ok(values)
    }

    /// Loads an operand with the extents of the result, over which those of one are repeated.
    fn spread(&self, operand: &Operand, like: &Layout) -> Answer<Vec<f64>> {
        if operand.layout.extents == like.extents {
            return self.load(operand);
        }
        let mut tensor = self.tensor(operand)?;
        for axis in 0..like.extents.len() {
            match (*tensor.layout.extents.get(axis).ok_or(BAD_PARAM)?, like.extents[axis]) {
                (1, wanted) => {
                    tensor.layout.extents[axis] = wanted;
                    tensor.layout.strides[axis] = 0;
                }
                (extent, wanted) if extent != wanted => return Err(BAD_PARAM),
                _ => {}
            }
        }
        tensor.load()
    }

    fn store(&mut self, operand: &Operand, values: Vec<f64>, factors: [f64; 2]) -> Answer {
        if operand.is_virtual {
            self.passed.insert(operand.id, values.into_iter().map(|value| factors[0] * value).collect());
            return Ok(());
        }
        self.tensor(operand)?.blend(&values, factors.into())
    }

    fn node(&mut self, node: &Node) -> Answer {
        match node {
            Node::Convolution { of, convolution, operands: [x, w, y], factors } => {
                let (values, to) = match of {
                    Result::Y => (convolution.forward(&self.factor(x)?, &self.factor(w)?), y),
                    Result::X => (convolution.backward_data(&self.factor(w)?, &self.factor(y)?), x),
                    Result::W => (convolution.backward_filter(&self.factor(x)?, &self.factor(y)?), w),
                };
                self.store(to, values, *factors)
            }
            Node::Add { a, b, y, factors: [fa, fb] } => {
                let (a, b) = (self.spread(a, &y.layout)?, self.spread(b, &y.layout)?);
                let sums = a.iter().zip(&b).map(|(a, b)| fa * a + fb * b).collect();
                self.store(y, sums, [1.0, 0.0])
            }
            Node::Activate { mode, coefficient, x, y } => {
                let values = self.load(x)?.into_iter().map(|x| activate(*mode, *coefficient, x));
                let values = values.collect::<Answer<Vec<_>>>()?;
                self.store(y, values, [1.0, 0.0])
            }
        }
    }
}

impl Program {
    /// Reads a finalized operation graph.
    pub(super) fn new(graph: &Descriptor) -> Answer<Self> {
        let operations = graph.others(Name::CUDNN_ATTR_OPERATIONGRAPH_OPS)?;
        operations.iter().map(|operation| Node::new(operation)).collect::<Answer<_>>().map(Self)
    }

    /// Returns whether there is an engine. As in the library, several nodes are one kernel only
    /// for aligned operands, and none ends in an activation alone.
    pub(super) fn has_engine(&self) -> bool {
        let is_aligned = self
            .0
            .iter()
            .flat_map(Node::operands)
            .all(|operand| operand.is_virtual || operand.alignment >= 16);
        let is_activation_alone = matches!(self.0[..], [_, Node::Activate { .. }]);
        self.0.len() == 1 || is_aligned && !is_activation_alone
    }

    /// Checks that all stored tensors have an address within device memory.
    pub(super) fn check(&self, addresses: &BTreeMap<i64, u64>) -> Answer {
        for operand in self.0.iter().flat_map(Node::operands).filter(|operand| !operand.is_virtual) {
            let address = *addresses.get(&operand.id).ok_or(BAD_PARAM)?;
            let tensor = Tensor { layout: operand.layout.clone(), address };
            if !address.is_multiple_of(operand.alignment) {
                return Err(BAD_PARAM);
            }
            check_range(address, tensor.bytes()?).map_err(|_| BAD_PARAM)?;
        }
        Ok(())
    }

    pub(super) fn run(&self, addresses: &BTreeMap<i64, u64>, rounds_to_tf32: bool) -> Answer {
        let mut run = Run { addresses, passed: BTreeMap::new(), rounds_to_tf32 };
        self.0.iter().try_for_each(|node| run.node(node))
    }
}
