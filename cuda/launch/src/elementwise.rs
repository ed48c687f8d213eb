//! Functions of one or two elements, conversions and comparisons.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::functions::{OF_COMPLEX, PAIRS_OF_COMPLEX};
use crate::{
    Binary, Bitwise, Broadcast, Class, Comparison, DeviceKernels, Unary, bits, by_width, by_width_up_to,
    in_out, input, name_of, output, typed,
};

const FLOATS: &[DType] = &[DType::F32, DType::F16];
pub(crate) const HALVES_TOO: &[DType] = &[DType::F32, DType::F16, DType::BF16];
const ALL_FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64];
const NUMBERS: &[DType] = &[DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I64];
/// Integer types whose kernels take the function as a number, so that one kernel serves all
/// functions.
const BY_NUMBER: &[DType] = &[DType::I8, DType::UI8, DType::I16, DType::UI16, DType::UI32, DType::UI64];

impl DeviceKernels {
    /// Sets every element to `value`.
    ///
    /// # Errors
    /// `InvalidValue` for a buffer that is too small, `NotSupported` for a type without a kernel.
    /// The same holds for all launches of this crate.
    pub fn fill(&self, stream: &Stream, dtype: DType, y: &DeviceBuffer, n: u64, value: f64) -> Result<()> {
        let arguments = [output(y, n, dtype, "the result")?, n.into(), bits(value, dtype)?];
        self.launch(stream, by_width("fill", dtype)?, n, &arguments)
    }

    /// Computes `y = function(x)`; `y` may be `x`.
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
        // The function's number among those for integers, in `unary.cu`.
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

    /// Negates the imaginary parts of complex numbers of two `f64`; `y` may be `x`.
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

    /// Computes `y = x`, or `alpha · x` for `x` below zero; `y` may be `x`.
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

    /// Sets the bytes `y` to whether each element belongs to a class.
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

    /// Negates truth values; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn not(&self, stream: &Stream, y: &DeviceBuffer, x: &DeviceBuffer, n: u64) -> Result<()> {
        let arguments =
            [output(y, n, DType::I1, "the result")?, input(x, n, DType::I1, "the operand")?, n.into()];
        self.launch(stream, "not_i1", n, &arguments)
    }

    /// Combines truth values: whether both are true, or with `either` whether one of them is. `y`
    /// may be an operand.
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

    /// Computes `y = function(a, b)` bit by bit; `y` may be an operand.
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

    /// Computes `y = function(a, b)`, with inputs broadcast to `shape`.
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
        // A quotient of complex numbers is not rounded, so their division serves as this one.
        let function = match (function, dtype) {
            (Binary::TruncateDiv, DType::Complex128) => Binary::Div,
            _ => function,
        };
        let (of_integers, n) =
            (!matches!(function, Binary::DivNoNan | Binary::MulNoNan | Binary::Atan2), shape.elements());
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

    /// Computes `y = y + alpha · x`.
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

    /// Converts `x` to another type; `cast.cu` lists the pairs of types and how each rounds. With
    /// `truncate`, digits that do not fit the type are cut off where that differs from rounding.
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

    /// Compares `a` and `b`; `y` is bytes. Truth values are compared as bytes.
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

    /// Computes `y = condition ? a : b`; `condition` is bytes.
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
}
