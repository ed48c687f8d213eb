//! Elements of fewer than eight bits and floating-point numbers of eight bits. Tensors here have no
//! such elements: wider types hold them, and the importer remembers which values are meant to be
//! narrow.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::{Accessor, DenseHostTensor, SharedAllocator, TensorMetadata, TensorShape};

use super::node::{Imported, Node};

static READ: Accessor = Accessor::new("the ONNX importer");

/// A narrow type.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Narrow {
    /// Its number in ONNX's `TensorProto.DataType`.
    number: i32,
    /// Its name in the attribute of `onnx.Narrow`.
    pub(super) name: &'static str,
    /// The type of the elements that hold its numbers.
    pub(super) held: DType,
    bits: usize,
    /// The bits of the exponent and what they are shifted by, for floating-point numbers.
    exponent: Option<(u32, i32)>,
}

const fn float(number: i32, name: &'static str, bits: usize, exponent: (u32, i32)) -> Narrow {
    Narrow { number, name, held: DType::F32, bits, exponent: Some(exponent) }
}

const fn integer(number: i32, name: &'static str, held: DType, bits: usize) -> Narrow {
    Narrow { number, name, held, bits, exponent: None }
}

const TYPES: [Narrow; 10] = [
    float(17, "float8e4m3fn", 8, (4, 7)),
    float(18, "float8e4m3fnuz", 8, (4, 8)),
    float(19, "float8e5m2", 8, (5, 15)),
    float(20, "float8e5m2fnuz", 8, (5, 16)),
    integer(21, "uint4", DType::UI8, 4),
    integer(22, "int4", DType::I8, 4),
    float(23, "float4e2m1", 4, (2, 1)),
    float(24, "float8e8m0", 8, (8, 127)),
    integer(25, "uint2", DType::UI8, 2),
    integer(26, "int2", DType::I8, 2),
];

/// The narrow type of a number of `TensorProto.DataType`.
pub(super) fn find(number: i32) -> Option<&'static Narrow> {
    TYPES.iter().find(|ty| ty.number == number)
}

impl Narrow {
    /// How many bytes this many elements take in a file.
    pub(super) fn size_bytes(&self, count: usize) -> Option<usize> {
        Some(count.checked_mul(self.bits)?.div_ceil(8))
    }

    /// Whether the numbers are floating-point ones.
    pub(super) fn is_float(&self) -> bool {
        self.exponent.is_some()
    }

    /// The least and the greatest integer.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let whole = f64::from(1u32 << self.bits);
        if self.held == DType::I8 { (-whole / 2.0, whole / 2.0 - 1.0) } else { (0.0, whole - 1.0) }
    }

    /// The tensor of elements as a file has them, the first one in the lowest bits.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        shape: TensorShape,
        allocator: &SharedAllocator,
    ) -> Result<DenseHostTensor, String> {
        let count = shape.num_elements().map_err(|error| error.message)?;
        if self.size_bytes(count) != Some(bytes.len()) {
            return Err(format!(
                "{} bytes are given for {count} elements of {} bits",
                bytes.len(),
                self.bits
            ));
        }
        let metadata = TensorMetadata { dtype: self.held, shape };
        let tensor = DenseHostTensor::allocate(metadata, allocator).map_err(|error| error.message)?;
        let (per_byte, mask) = (8 / self.bits, u8::MAX >> (8 - self.bits));
        let element = |index: usize| (bytes[index / per_byte] >> (index % per_byte * self.bits)) & mask;
        let elements = (0..count).map(element);
        let failed = |error: tfrt_host::Diagnostic| error.message;
        match self.held {
            DType::F32 => {
                let mut out = tensor.write::<f32>(&READ).map_err(failed)?;
                out.iter_mut().zip(elements).for_each(|(out, bits)| *out = self.number(bits));
            }
            DType::I8 => {
                let unused = 8 - self.bits;
                let mut out = tensor.write::<i8>(&READ).map_err(failed)?;
                out.iter_mut()
                    .zip(elements)
                    .for_each(|(out, bits)| *out = ((bits << unused) as i8) >> unused);
            }
            _ => {
                let mut out = tensor.write::<u8>(&READ).map_err(failed)?;
                out.iter_mut().zip(elements).for_each(|(out, bits)| *out = bits);
            }
        }
        Ok(tensor)
    }

    /// The floating-point number that bits stand for.
    fn number(&self, bits: u8) -> f32 {
        let Some((width, bias)) = self.exponent else { return bits.into() };
        if self.name == "float8e8m0" {
            return if bits == u8::MAX { f32::NAN } else { f64::from(i32::from(bits) - bias).exp2() as f32 };
        }
        let mantissa_bits = self.bits as u32 - 1 - width;
        let is_negative = bits >> (self.bits - 1) == 1;
        let exponent = i32::from((bits >> mantissa_bits) & ((1u8 << width) - 1));
        let mantissa = bits & ((1u8 << mantissa_bits) - 1);
        let is_largest = exponent == (1 << width) - 1;
        let is_special = match self.name {
            "float8e4m3fn" => is_largest && mantissa == 7,
            "float8e5m2" => is_largest,
            "float4e2m1" => false,
            // The formats without negative zero have one NaN, in its place.
            _ => bits == 0x80,
        };
        let part = f64::from(mantissa) / f64::from(1u32 << mantissa_bits);
        let size = match (is_special, exponent) {
            (true, _) if self.name == "float8e5m2" && mantissa == 0 => f64::INFINITY,
            (true, _) => f64::NAN,
            (false, 0) => part * f64::from(1 - bias).exp2(),
            (false, exponent) => (1.0 + part) * f64::from(exponent - bias).exp2(),
        };
        (if is_negative { -size } else { size }) as f32
    }
}

/// The ops whose results are narrow if their first input is: they move elements.
const MOVES: &[&str] = &[
    "Concat",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];

impl Node<'_, '_> {
    /// The narrow type that a value is meant to have.
    pub(super) fn narrow(&self, value: ValueId) -> Option<&'static Narrow> {
        self.importer.narrow.get(&value).copied()
    }

    /// Remembers that a value is meant to be narrow.
    pub(super) fn set_narrow(&mut self, value: ValueId, narrow: &'static Narrow) {
        self.importer.narrow.insert(value, narrow);
    }

    /// Remembers that the results of an op that moves elements are as narrow as what it moves.
    pub(super) fn pass_narrow(&mut self, results: &[ValueId]) {
        let first = self.optional(0).and_then(|input| self.narrow(input));
        if let Some(narrow) = first.filter(|_| MOVES.contains(&self.proto.op_type.as_str())) {
            results.iter().for_each(|&result| self.set_narrow(result, narrow));
        }
    }

    /// Appends a cast to a narrow type.
    pub(super) fn cast_narrow(&mut self, x: ValueId, narrow: &'static Narrow) -> Imported<ValueId> {
        if self.narrow(x) == Some(narrow) {
            return Ok(x);
        }
        let x = match self.dtype(x)? {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => x,
            _ => self.cast(x, DType::F64)?,
        };
        let attributes = [
            ("type", Attribute::string(narrow.name)),
            ("round_mode", Attribute::string(self.string_or("round_mode", "up")?)),
            ("saturate", Attribute::i64(self.int_or("saturate", 1)?)),
        ];
        let result = self.op("onnx.Narrow", &[x], &attributes)?;
        self.set_narrow(result, narrow);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbers() {
        let number = |ty, bits| find(ty).unwrap().number(bits);
        assert_eq!(
            [0x00, 0x01, 0x38, 0x7e, 0xb8].map(|bits| number(17, bits)),
            [0.0, 0.001953125, 1.0, 448.0, -1.0]
        );
        assert!(number(17, 0x7f).is_nan() && number(18, 0x80).is_nan() && number(24, 0xff).is_nan());
        assert_eq!([0x3c, 0x7b, 0x7c].map(|bits| number(19, bits)), [1.0, 57344.0, f32::INFINITY]);
        assert_eq!([0x40, 0x7f].map(|bits| number(18, bits)), [1.0, 240.0]);
        assert_eq!([0, 1, 2, 7, 15].map(|bits| number(23, bits)), [0.0, 0.5, 1.0, 6.0, -6.0]);
        assert_eq!([127, 128, 0].map(|bits| number(24, bits)), [1.0, 2.0, f32::from_bits(1 << 22)]);
    }
}
