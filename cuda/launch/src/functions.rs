//! The functions of one or two elements that have kernels, by name.

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name of the kernels without the type.
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
        /// 1 minus the error function.
        Erfc = "erfc",
        /// ln |Γ(x)|.
        Lgamma = "lgamma",
        /// Rounds down.
        Floor = "floor",
        /// Rounds up.
        Ceil = "ceil",
        /// Rounds to the nearest integer, ties to even.
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
        /// The approximation of GELU by tanh.
        GeluTanh = "gelu_tanh",
    }
}

impl Unary {
    /// Returns whether there is a kernel for complex numbers.
    pub fn is_of_complex(self) -> bool {
        OF_COMPLEX.contains(&self)
    }
}

impl Binary {
    /// Returns whether there is a kernel for complex numbers.
    pub fn is_of_complex(self) -> bool {
        // A quotient of complex numbers is not rounded, so their division serves as this one.
        self == Self::TruncateDiv || PAIRS_OF_COMPLEX.contains(&self)
    }
}

/// The functions with kernels for complex numbers, in the order of their numbers in `complex.cu`.
/// There the conjugate comes last.
pub(crate) const OF_COMPLEX: &[Unary] = &[
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
    /// A function of two elements. The order is that of the numbers in `binary.cu`, by which
    /// programs launch them. New ones come last.
    Binary {
        /// a + b.
        Add = "add",
        /// a − b.
        Sub = "sub",
        /// a · b.
        Mul = "mul",
        /// a / b; for integers rounded toward zero, and zero for a divisor of zero.
        Div = "div",
        /// The greater one; NaN if either is.
        Maximum = "maximum",
        /// The lesser one; NaN if either is.
        Minimum = "minimum",
        /// (a − b)².
        SquaredDifference = "squared_difference",
        /// aᵇ; not for integers.
        Pow = "pow",
        /// ⌊a / b⌋. For integers, this and all other quotients and remainders are zero for a
        /// divisor of zero.
        FloorDiv = "floor_div",
        /// The remainder of `FloorDiv`, with b's sign.
        FloorMod = "floor_mod",
        /// a / b, or zero if b is zero; not for integers.
        DivNoNan = "div_no_nan",
        /// a · b, or zero if b is zero; not for integers.
        MulNoNan = "mul_no_nan",
        /// The angle of the point (b, a); not for integers.
        Atan2 = "atan2",
        /// The remainder of `TruncateDiv`, with a's sign.
        Mod = "mod",
        /// a / b, rounded toward zero.
        TruncateDiv = "truncate_div",
    }
}

named! {
    /// A function of the bits of two elements, numbered as in `binary.cu`.
    Bitwise {
        /// Bits set in both.
        And = "and",
        /// Bits set in either.
        Or = "or",
        /// Bits set in exactly one.
        Xor = "xor",
    }
}

named! {
    /// A comparison of two elements, whose result is a byte. The other comparisons are these with
    /// exchanged operands. The order is that of the numbers in `compare.cu`.
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
    /// A class of floating-point numbers. The result is a byte.
    Class {
        /// Not a number.
        Nan = "is_nan",
        /// An infinity.
        Infinite = "is_infinite",
        /// Neither NaN nor infinite.
        Finite = "is_finite",
    }
}

/// The functions of two complex numbers.
pub(crate) const PAIRS_OF_COMPLEX: &[Binary] = &[
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::SquaredDifference,
    Binary::Pow,
    Binary::DivNoNan,
    Binary::MulNoNan,
];
