//! Functions of one or two elements, conversions, comparisons; bias, residual and activation.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{
    DeviceKernels, bits, by_width, by_width_up_to, in_out, input, name_of, optional, output, product, typed,
};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The kernels' name without the type.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}
pub(crate) use named;

named! {
    /// A function of one element.
    Unary {
        /// −x.
        Neg = "neg",
        /// |x|.
        Abs = "abs",
        /// −1, 0 or 1.
        Sign = "sign",
        /// x².
        Square = "square",
        /// √x.
        Sqrt = "sqrt",
        /// 1 / √x.
        Rsqrt = "rsqrt",
        /// 1 / x.
        Reciprocal = "reciprocal",
        /// eˣ.
        Exp = "exp",
        /// eˣ − 1.
        Expm1 = "expm1",
        /// ln x.
        Log = "log",
        /// ln (1 + x).
        Log1p = "log1p",
        /// sin x.
        Sin = "sin",
        /// cos x.
        Cos = "cos",
        /// tan x.
        Tan = "tan",
        /// The angle whose sine is x.
        Asin = "asin",
        /// The angle whose cosine is x.
        Acos = "acos",
        /// The angle whose tangent is x.
        Atan = "atan",
        /// sinh x.
        Sinh = "sinh",
        /// cosh x.
        Cosh = "cosh",
        /// tanh x.
        Tanh = "tanh",
        /// The inverse of sinh.
        Asinh = "asinh",
        /// The inverse of cosh.
        Acosh = "acosh",
        /// The inverse of tanh.
        Atanh = "atanh",
        /// The error function.
        Erf = "erf",
        /// One less the error function.
        Erfc = "erfc",
        /// ln |Γ(x)|.
        Lgamma = "lgamma",
        /// Down to an integer.
        Floor = "floor",
        /// Up to an integer.
        Ceil = "ceil",
        /// To the nearest integer, ties to even.
        Round = "round",
        /// max(x, 0).
        Relu = "relu",
        /// min(max(x, 0), 6).
        Relu6 = "relu6",
        /// 1 / (1 + e⁻ˣ).
        Sigmoid = "sigmoid",
        /// x · sigmoid x.
        Silu = "silu",
        /// ln (1 + eˣ).
        Softplus = "softplus",
        /// x / (1 + |x|).
        Softsign = "softsign",
        /// x, or eˣ − 1 below zero.
        Elu = "elu",
        /// ELU scaled so that networks normalize themselves (Klambauer et al. 2017).
        Selu = "selu",
        /// x · Φ(x).
        Gelu = "gelu",
        /// Its approximation by tanh.
        GeluTanh = "gelu_tanh",
    }
}

impl Unary {
    /// Whether complex numbers have it.
    pub fn is_of_complex(self) -> bool {
        OF_COMPLEX.contains(&self)
    }
}

impl Binary {
    /// Whether complex numbers have it.
    pub fn is_of_complex(self) -> bool {
        // A quotient of theirs is not rounded.
        self == Self::TruncateDiv || PAIRS_OF_COMPLEX.contains(&self)
    }
}

/// The functions that complex numbers have, in the order of their numbers in `complex.cu`, where the conjugate comes last.
const OF_COMPLEX: &[Unary] = &[
    Unary::Neg,
    Unary::Sign,
    Unary::Square,
    Unary::Sqrt,
    Unary::Rsqrt,
    Unary::Reciprocal,
    Unary::Exp,
    Unary::Expm1,
    Unary::Log,
    Unary::Log1p,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Asinh,
    Unary::Acosh,
    Unary::Atanh,
    Unary::Sigmoid,
];

named! {
    /// A function of two elements. Their order is that of their numbers in `binary.cu`, which programs launch them by: new
    /// ones come last.
    Binary {
        /// a + b.
        Add = "add",
        /// a − b.
        Sub = "sub",
        /// a · b.
        Mul = "mul",
        /// a / b; of integers toward zero, and zero for a divisor of zero.
        Div = "div",
        /// The greater; NaN if either is.
        Maximum = "maximum",
        /// The lesser; NaN if either is.
        Minimum = "minimum",
        /// (a − b)².
        SquaredDifference = "squared_difference",
        /// aᵇ; not of integers.
        Pow = "pow",
        /// ⌊a / b⌋; of integers zero for a divisor of zero, as are other quotients and rests.
        FloorDiv = "floor_div",
        /// What is left of a after that, of b's sign.
        FloorMod = "floor_mod",
        /// a / b, zero where b is; not of integers.
        DivNoNan = "div_no_nan",
        /// a · b, zero where b is; not of integers.
        MulNoNan = "mul_no_nan",
        /// The angle of the point (b, a); not of integers.
        Atan2 = "atan2",
        /// What is left of a after a quotient toward zero, of a's sign.
        Mod = "mod",
        /// a / b toward zero.
        TruncateDiv = "truncate_div",
    }
}

named! {
    /// A function of the bits of two elements, numbered as in `binary.cu`.
    Bitwise {
        /// Those that both have.
        And = "and",
        /// Those that either has.
        Or = "or",
        /// Those that one of them has.
        Xor = "xor",
    }
}

named! {
    /// A comparison of two elements, whose result is a byte. The others are these with exchanged operands. Their order is that
    /// of their numbers in `compare.cu`.
    Comparison {
        /// a = b.
        Equal = "equal",
        /// a ≠ b.
        NotEqual = "not_equal",
        /// a < b.
        Less = "less",
        /// a ≤ b.
        LessEqual = "less_equal",
    }
}

named! {
    /// What a floating-point number may be; the result is a byte.
    Class {
        /// Not a number.
        Nan = "is_nan",
        /// An infinity.
        Infinite = "is_infinite",
        /// Neither.
        Finite = "is_finite",
    }
}

/// What is done to a sum. The numbers are those of `activation.cuh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Nothing.
    #[default]
    Identity = 0,
    /// max(x, 0).
    Relu = 1,
    /// min(max(x, 0), 6).
    Relu6 = 2,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid = 3,
    /// tanh x.
    Tanh = 4,
    /// x · Φ(x).
    Gelu = 5,
    /// Its approximation by tanh.
    GeluTanh = 6,
    /// x · sigmoid x.
    Silu = 7,
}

/// Those of two complex numbers.
const PAIRS_OF_COMPLEX: &[Binary] = &[
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::SquaredDifference,
    Binary::Pow,
    Binary::DivNoNan,
    Binary::MulNoNan,
];

const FLOATS: &[DType] = &[DType::F32, DType::F16];
const HALVES_TOO: &[DType] = &[DType::F32, DType::F16, DType::BF16];
const ALL_FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
const NUMBERS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];
/// Integers whose kernels take the function as a number, so that there is one kernel for all.
const BY_NUMBER: &[DType] = &[DType::I8, DType::UI8, DType::I16, DType::UI16, DType::UI32, DType::UI64];

/// The most axes a broadcast has after neighbouring ones are merged.
pub(crate) const MAX_RANK: usize = 6;

/// The shape of a result of two inputs that are repeated along some axes: extents, and each input's strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    extents: [u64; MAX_RANK],
    strides: [[u64; MAX_RANK]; 2],
    elements: u64,
    input_elements: [u64; 2],
}

impl Broadcast {
    /// Combines two shapes as NumPy does: from the last axis, where extents are equal or one of them is 1.
    ///
    /// # Errors
    /// `InvalidValue` for shapes that do not go together.
    pub fn new(a: &[u64], b: &[u64]) -> Result<Self> {
        if a == b {
            return Ok(Self::of_equal(product(a)?));
        }
        let rank = a.len().max(b.len());
        let extent = |shape: &[u64], axis: usize| {
            let missing = rank - shape.len();
            if axis < missing { 1 } else { shape[axis - missing] }
        };
        // From the last axis to the first: the extent, and whether each input advances along it.
        let mut merged: Vec<(u64, [bool; 2])> = Vec::new();
        for axis in (0..rank).rev() {
            let (x, y) = (extent(a, axis), extent(b, axis));
            let both = match (x, y) {
                (x, y) if x == y => x,
                (1, other) | (other, 1) => other,
                _ => {
                    let detail = format!("shapes {a:?} and {b:?} do not go together");
                    return Err(DeviceError::invalid_value(detail));
                }
            };
            if both == 1 {
                continue;
            }
            let advances = [x == both, y == both];
            match merged.last_mut() {
                Some((extent, known)) if *known == advances => {
                    *extent = product(&[*extent, both])?;
                }
                _ => merged.push((both, advances)),
            }
        }
        Self::from_merged(&merged, [product(a)?, product(b)?])
    }

    /// Two inputs of one shape, which has so many elements.
    pub fn of_equal(elements: u64) -> Self {
        let (mut extents, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        if elements != 1 {
            (extents[MAX_RANK - 1], strides[MAX_RANK - 1]) = (elements, 1);
        }
        Self { extents, strides: [strides; 2], elements, input_elements: [elements; 2] }
    }

    fn from_merged(merged: &[(u64, [bool; 2])], input_elements: [u64; 2]) -> Result<Self> {
        if merged.len() > MAX_RANK {
            return Err(DeviceError::invalid_value("a broadcast alternates between more than six axes"));
        }
        let (mut extents, mut strides) = ([1; MAX_RANK], [[0; MAX_RANK]; 2]);
        let mut next = [1u64; 2];
        for (position, &(extent, advances)) in merged.iter().enumerate() {
            let axis = MAX_RANK - 1 - position;
            extents[axis] = extent;
            for input in 0..2 {
                if advances[input] {
                    strides[input][axis] = next[input];
                    next[input] *= extent;
                }
            }
        }
        Ok(Self { extents, strides, elements: product(&extents)?, input_elements })
    }

    /// Elements of the result.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// Whether both inputs have the result's shape.
    fn is_plain(&self) -> bool {
        self.input_elements == [self.elements; 2]
    }
}

/// A sum over rows of channels: what is added and done to each element.
#[derive(Clone, Copy)]
pub struct Affine<'a> {
    /// Images times pixels.
    pub rows: u64,
    /// Elements of a row.
    pub channels: u64,
    /// Added element by element, if there is any.
    pub residual: Option<&'a DeviceBuffer>,
    /// Applied last.
    pub activation: Activation,
}

impl DeviceKernels {
    /// Every element becomes `value`.
    ///
    /// # Errors
    /// As all launches here: `InvalidValue` for a buffer that is too small, `NotSupported` for a type without a kernel.
    pub fn fill(&self, stream: &Stream, dtype: DType, y: &DeviceBuffer, n: u64, value: f64) -> Result<()> {
        let arguments = [output(y, n, dtype, "the result")?, n.into(), bits(value, dtype)?];
        self.launch(stream, by_width("fill", dtype)?, n, &arguments)
    }

    /// `y = function(x)`; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn unary(
        &self,
        stream: &Stream,
        function: Unary,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        n: u64,
    ) -> Result<()> {
        // The function's number among those of integers, in `unary.cu`.
        let number: Option<u32> = match function {
            Unary::Neg => Some(0),
            Unary::Abs => Some(1),
            Unary::Sign => Some(2),
            Unary::Square => Some(3),
            Unary::Relu => Some(4),
            Unary::Relu6 => Some(5),
            _ => None,
        };
        let [y, x] = [output(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?];
        if dtype == DType::Complex128
            && let Some(number) = OF_COMPLEX.iter().position(|&known| known == function)
        {
            return self.launch(stream, "function_c128", n, &[y, x, n.into(), (number as u32).into()]);
        }
        match number {
            Some(number) if BY_NUMBER.contains(&dtype) => {
                let name = typed("integer", dtype, BY_NUMBER)?;
                self.launch(stream, name, n, &[y, x, n.into(), number.into()])
            }
            _ => {
                let types = if number.is_some() { NUMBERS } else { ALL_FLOATS };
                self.launch(stream, typed(function.name(), dtype, types)?, n, &[y, x, n.into()])
            }
        }
    }

    /// Complex numbers of two `f64` with their imaginary parts negated; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn conjugate(&self, stream: &Stream, y: &DeviceBuffer, x: &DeviceBuffer, n: u64) -> Result<()> {
        let dtype = DType::Complex128;
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            n.into(),
            (OF_COMPLEX.len() as u32).into(),
        ];
        self.launch(stream, "function_c128", n, &arguments)
    }

    /// `y = x`, or `alpha · x` where that is below zero; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn leaky_relu(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        n: u64,
        alpha: f64,
    ) -> Result<()> {
        let name = typed("leaky_relu", dtype, ALL_FLOATS)?;
        let alpha = if dtype == DType::F64 { Argument::from(alpha) } else { (alpha as f32).into() };
        let arguments =
            [output(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?, n.into(), alpha];
        self.launch(stream, name, n, &arguments)
    }

    /// Whether each element is of a class; `y` is bytes.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn classify(
        &self,
        stream: &Stream,
        class: Class,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        n: u64,
    ) -> Result<()> {
        let name = typed(class.name(), dtype, ALL_FLOATS)?;
        let arguments =
            [output(y, n, DType::I1, "the result")?, input(x, n, dtype, "the operand")?, n.into()];
        self.launch(stream, name, n, &arguments)
    }

    /// Truth values, the opposite of each; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn not(&self, stream: &Stream, y: &DeviceBuffer, x: &DeviceBuffer, n: u64) -> Result<()> {
        let arguments =
            [output(y, n, DType::I1, "the result")?, input(x, n, DType::I1, "the operand")?, n.into()];
        self.launch(stream, "not_i1", n, &arguments)
    }

    /// Truth values: whether both are true, or whether `either` is. `y` may be an operand.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn both_or_either(
        &self,
        stream: &Stream,
        either: bool,
        y: &DeviceBuffer,
        [a, b]: [&DeviceBuffer; 2],
        n: u64,
    ) -> Result<()> {
        let arguments = [
            output(y, n, DType::I1, "the result")?,
            input(a, n, DType::I1, "the first operand")?,
            input(b, n, DType::I1, "the second operand")?,
            n.into(),
        ];
        self.launch(stream, if either { "or_i1" } else { "and_i1" }, n, &arguments)
    }

    /// `y = function(a, b)` bit by bit; `y` may be an operand.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn bitwise(
        &self,
        stream: &Stream,
        function: Bitwise,
        dtype: DType,
        y: &DeviceBuffer,
        [a, b]: [&DeviceBuffer; 2],
        n: u64,
    ) -> Result<()> {
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(a, n, dtype, "the first operand")?,
            input(b, n, dtype, "the second operand")?,
            n.into(),
            (function as u32).into(),
        ];
        self.launch(stream, by_width_up_to(8, "bitwise", dtype)?, n, &arguments)
    }

    /// `y = function(a, b)`, with inputs repeated where the shape says so.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "three buffers with their shape and type")]
    pub fn binary(
        &self,
        stream: &Stream,
        function: Binary,
        dtype: DType,
        y: &DeviceBuffer,
        a: &DeviceBuffer,
        b: &DeviceBuffer,
        shape: &Broadcast,
    ) -> Result<()> {
        // A quotient of complex numbers is not rounded.
        let function = match (function, dtype) {
            (Binary::TruncateDiv, DType::Complex128) => Binary::Div,
            _ => function,
        };
        let (of_integers, n) =
            (!matches!(function, Binary::DivNoNan | Binary::MulNoNan | Binary::Atan2), shape.elements);
        let of_complex = dtype == DType::Complex128 && PAIRS_OF_COMPLEX.contains(&function);
        let by_number = of_complex || of_integers && BY_NUMBER.contains(&dtype);
        let types = match of_integers {
            _ if of_complex => &[DType::Complex128],
            true if by_number => BY_NUMBER,
            true => NUMBERS,
            false => ALL_FLOATS,
        };
        let name = typed(function.name(), dtype, types)?;
        let operands = [
            output(y, n, dtype, "the result")?,
            input(a, shape.input_elements[0], dtype, "the first operand")?,
            input(b, shape.input_elements[1], dtype, "the second operand")?,
            n.into(),
        ];
        if shape.is_plain() && !by_number {
            return self.launch(stream, name, n, &operands);
        }
        let mut arguments = operands.to_vec();
        arguments.push((function as u32).into());
        let all = [&shape.extents, &shape.strides[0], &shape.strides[1]];
        arguments.extend(all.into_iter().flatten().map(|&number| Argument::from(number)));
        self.launch(stream, typed("broadcast", dtype, types)?, n, &arguments)
    }

    /// `y = y + alpha · x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn axpy(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        n: u64,
        alpha: f32,
    ) -> Result<()> {
        let arguments =
            [in_out(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?, n.into(), alpha.into()];
        self.launch(stream, typed("axpy", dtype, FLOATS)?, n, &arguments)
    }

    /// `y = x` in another type; `cast.cu` lists the pairs and says how each rounds. `truncate`: without the digits that the
    /// type has no place for, where that is another result.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn cast(
        &self,
        stream: &Stream,
        (to, y): (DType, &DeviceBuffer),
        (from, x): (DType, &DeviceBuffer),
        n: u64,
        truncate: bool,
    ) -> Result<()> {
        use DType::{BF16, F16, F32, F64};
        let rule = match (from, to) {
            (F64, F32) | (F32, F16 | BF16) if truncate => "cast_truncate",
            _ => "cast",
        };
        let name = format!("{rule}_{}_{}", name_of(from), name_of(to));
        let arguments = [output(y, n, to, "the result")?, input(x, n, from, "the operand")?, n.into()];
        self.launch(stream, name, n, &arguments)
    }

    /// `y = a ? b`; `y` is bytes. Truth values are compared as bytes.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "three buffers with their type")]
    pub fn compare(
        &self,
        stream: &Stream,
        comparison: Comparison,
        dtype: DType,
        y: &DeviceBuffer,
        a: &DeviceBuffer,
        b: &DeviceBuffer,
        n: u64,
    ) -> Result<()> {
        let dtype = if dtype == DType::I1 { DType::UI8 } else { dtype };
        let operands = [
            output(y, n, DType::I1, "the result")?,
            input(a, n, dtype, "the first operand")?,
            input(b, n, dtype, "the second operand")?,
            n.into(),
        ];
        if let DType::I16 | DType::UI16 | DType::UI32 | DType::UI64 = dtype {
            let mut arguments = operands.to_vec();
            arguments.push((comparison as u32).into());
            return self.launch(stream, typed("compare", dtype, BY_NUMBER)?, n, &arguments);
        }
        let types = [NUMBERS, &[DType::I8, DType::UI8]].concat();
        self.launch(stream, typed(comparison.name(), dtype, &types)?, n, &operands)
    }

    /// `y = condition ? a : b`; `condition` is bytes.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    #[expect(clippy::too_many_arguments, reason = "four buffers with their type")]
    pub fn select(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        condition: &DeviceBuffer,
        a: &DeviceBuffer,
        b: &DeviceBuffer,
        n: u64,
    ) -> Result<()> {
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(condition, n, DType::I1, "the condition")?,
            input(a, n, dtype, "the first operand")?,
            input(b, n, dtype, "the second operand")?,
            n.into(),
        ];
        self.launch(stream, by_width("select", dtype)?, n, &arguments)
    }

    /// `y = activation(x + bias + residual)` over rows of channels. `bias` is f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn bias_activation(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        bias: &DeviceBuffer,
        affine: Affine<'_>,
    ) -> Result<()> {
        self.affine(stream, "bias_activation", dtype, [y, x], &[bias], affine)
    }

    /// `y = activation((x - mean) · factor + offset + residual)` over rows of channels: batch normalization with known
    /// statistics ([`DeviceKernels::normalization_factor`]). `parameters` are mean, factor and offset, in f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn normalize_activation(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        parameters: [&DeviceBuffer; 3],
        affine: Affine<'_>,
    ) -> Result<()> {
        self.affine(stream, "normalize_activation", dtype, [y, x], &parameters, affine)
    }

    fn affine(
        &self,
        stream: &Stream,
        function: &'static str,
        dtype: DType,
        [y, x]: [&DeviceBuffer; 2],
        parameters: &[&DeviceBuffer],
        affine: Affine<'_>,
    ) -> Result<()> {
        let Affine { rows, channels, residual, activation } = affine;
        let n = product(&[rows, channels])?;
        let mut arguments = vec![output(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?];
        for parameter in parameters {
            arguments.push(input(parameter, channels, DType::F32, "a parameter of the channels")?);
        }
        arguments.push(optional(residual.map(|residual| input(residual, n, dtype, "the residual")))?);
        arguments.extend([Argument::from(rows), channels.into(), (activation as u32).into()]);
        self.launch(stream, typed(function, dtype, HALVES_TOO)?, n, &arguments)
    }

    /// `factor = scale / √(variance + epsilon)` for each channel, what batch normalization multiplies with. All are f32.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn normalization_factor(
        &self,
        stream: &Stream,
        factor: &DeviceBuffer,
        [variance, scale]: [&DeviceBuffer; 2],
        channels: u64,
        epsilon: f32,
    ) -> Result<()> {
        let arguments = [
            output(factor, channels, DType::F32, "the factors")?,
            input(variance, channels, DType::F32, "the variances")?,
            input(scale, channels, DType::F32, "the scales")?,
            channels.into(),
            epsilon.into(),
        ];
        self.launch(stream, "normalization_factor_f32", channels, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_axes_are_merged() {
        let same = Broadcast::new(&[2, 3, 4], &[2, 3, 4]).unwrap();
        assert!(same.is_plain());
        assert_eq!(same.extents, [1, 1, 1, 1, 1, 24]);
        let bias = Broadcast::new(&[2, 3, 4], &[4]).unwrap();
        assert_eq!((bias.extents, bias.elements()), ([1, 1, 1, 1, 6, 4], 24));
        assert_eq!(bias.strides, [[0, 0, 0, 0, 4, 1], [0, 0, 0, 0, 0, 1]]);
        let outer = Broadcast::new(&[5, 1], &[1, 7]).unwrap();
        assert_eq!((outer.strides[0][4], outer.strides[1][5], outer.elements()), (1, 1, 35));
        let scalar = Broadcast::new(&[], &[2, 2]).unwrap();
        assert_eq!((scalar.extents[5], scalar.strides[0], scalar.input_elements), (4, [0; 6], [1, 4]));
        assert!(Broadcast::new(&[2], &[3]).is_err());
        assert_eq!(Broadcast::new(&[0, 3], &[1, 3]).unwrap().elements(), 0);
        assert!(Broadcast::new(&[u64::MAX, 2], &[1]).is_err());
        let alternating = [2, 1, 2, 1, 2, 1, 2];
        assert!(Broadcast::new(&alternating, &[1, 2, 1, 2, 1, 2, 1]).is_err());
    }
}
