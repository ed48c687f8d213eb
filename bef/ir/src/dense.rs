//! Dense elements: the constant contents of a tensor or vector type, packed.

use std::borrow::Cow;
use std::sync::Arc;

use crate::{ShapedType, SharedBytes, Type};

/// The most bytes [`DenseElements::to_bytes`] expands a splat to: 1 GiB.
pub const MAX_DENSE_BYTES: u64 = 1 << 30;

/// `dense<…> : tensor<…>`.
///
/// Numbers are packed little-endian in row-major order, each element in `ceil(bits / 8)` bytes (so
/// an `i1` takes one byte, 0 or 1), complex numbers as real then imaginary part. Equal elements are
/// kept once, as a splat, unless they are shared with their owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DenseElements {
    ty: Type,
    splat: bool,
    data: DenseData,
}

/// The stored elements: all of them, or one for a splat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DenseData {
    /// Packed numbers.
    Numbers(SharedBytes),
    /// Strings, for element types that are not numbers.
    Strings(Arc<[Arc<[u8]>]>),
}

/// Returns the size in bytes of one element as packed in [`DenseElements`]. Returns `None` for
/// types that are not numbers or are wider than 128 bits.
pub fn element_size(element: &Type) -> Option<usize> {
    match element {
        Type::Complex(part) => match **part {
            Type::Complex(_) => None,
            ref part => Some(element_size(part)? * 2),
        },
        other => {
            let width = other.bit_width()?;
            (width <= 128).then_some(width.div_ceil(8) as usize)
        }
    }
}

impl DenseElements {
    /// Copies packed numbers: as many as the static tensor or vector type has elements, or one for
    /// a splat.
    ///
    /// # Errors
    /// When the type is not a static shape of numbers, or the length does not match it.
    pub fn numbers(ty: Type, bytes: &[u8]) -> Result<DenseElements, String> {
        let (count, element) = static_parts(&ty)?;
        let size = element_size(element)
            .ok_or_else(|| format!("dense elements cannot hold numbers of type {element}"))?;
        let length = bytes.len() as u64;
        if Some(length) == count.checked_mul(size as u64) {
            let mut elements = bytes.chunks_exact(size);
            let first = elements.next();
            return match first {
                Some(first) if elements.all(|element| element == first) => Ok(Self::raw(ty, first, true)),
                _ => Ok(Self::raw(ty, bytes, false)),
            };
        }
        if length == size as u64 && count > 0 {
            return Ok(Self::raw(ty, bytes, true));
        }
        Err(format!("{length} bytes of dense data do not match {count} elements of {size} bytes each"))
    }

    /// Refers to packed numbers where they are, in a mapped file for example: as many as the static
    /// tensor or vector type has elements.
    ///
    /// Nothing is copied. Only elements of type `i1` are read; each must be 0 or 1. Equal elements
    /// do not become a splat, unless there is only one.
    ///
    /// # Errors
    /// When the type is not a static shape of numbers, or the length does not match it.
    pub fn shared(ty: Type, bytes: SharedBytes) -> Result<DenseElements, String> {
        let (count, element) = static_parts(&ty)?;
        let size = element_size(element)
            .ok_or_else(|| format!("dense elements cannot hold numbers of type {element}"))?;
        let length = bytes.len() as u64;
        if Some(length) != count.checked_mul(size as u64) {
            return Err(format!(
                "{length} bytes of dense data do not match {count} elements of {size} bytes each"
            ));
        }
        if element.is_i1() && bytes.iter().any(|&byte| byte > 1) {
            return Err("dense elements of type i1 are bytes 0 or 1".to_owned());
        }
        Ok(DenseElements { ty, splat: count == 1, data: DenseData::Numbers(bytes) })
    }

    /// Stores strings: as many as the static tensor or vector type has elements, or one for a
    /// splat.
    ///
    /// # Errors
    /// When the type has no static shape, or the number of strings does not match it.
    pub fn strings(ty: Type, mut strings: Vec<Arc<[u8]>>) -> Result<DenseElements, String> {
        let (count, _) = static_parts(&ty)?;
        let given = strings.len() as u64;
        if given != count && !(given == 1 && count > 0) {
            return Err(format!("{given} strings of dense data do not match {count} elements"));
        }
        let splat = strings.first().is_some_and(|first| strings.iter().all(|string| string == first));
        if splat {
            strings.truncate(1);
        }
        Ok(DenseElements { ty, splat, data: DenseData::Strings(strings.into()) })
    }

    /// Returns a vector of 32-bit integers.
    pub fn i32_vector(values: &[i32]) -> DenseElements {
        let ty = Type::vector(&[values.len() as u64], Type::int(32));
        let is_splat = values.first().is_some_and(|first| values.iter().all(|value| value == first));
        let stored = if is_splat { &values[..1] } else { values };
        let bytes: Vec<u8> = stored.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self::raw(ty, &bytes, is_splat)
    }

    fn raw(ty: Type, bytes: &[u8], splat: bool) -> DenseElements {
        DenseElements { ty, splat, data: DenseData::Numbers(bytes.into()) }
    }

    /// Returns the tensor or vector type.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Returns the type of one element.
    pub fn element_type(&self) -> &Type {
        self.ty.as_shaped().map_or(&self.ty, |shaped| &shaped.element)
    }

    /// Returns the shape.
    pub fn shape(&self) -> Vec<u64> {
        self.ty.as_shaped().and_then(ShapedType::static_shape).unwrap_or_default()
    }

    /// Returns the number of elements.
    pub fn num_elements(&self) -> u64 {
        self.ty.as_shaped().and_then(ShapedType::num_elements).unwrap_or(0)
    }

    /// Returns whether all elements are equal and [`Self::data`] holds only one. A single element
    /// is a splat, too.
    pub fn is_splat(&self) -> bool {
        self.splat
    }

    /// Returns the stored elements; a splat stores one.
    pub fn data(&self) -> &DenseData {
        &self.data
    }

    /// Returns all elements packed, with a splat expanded. `None` for strings, and for splats above
    /// [`MAX_DENSE_BYTES`].
    pub fn to_bytes(&self) -> Option<Cow<'_, [u8]>> {
        let DenseData::Numbers(bytes) = &self.data else { return None };
        if !self.splat || self.num_elements() == 1 {
            return Some(Cow::Borrowed(bytes));
        }
        let total = self.num_elements().checked_mul(bytes.len() as u64)?;
        if total > MAX_DENSE_BYTES {
            return None;
        }
        Some(Cow::Owned(bytes.repeat(usize::try_from(self.num_elements()).ok()?)))
    }
}

/// Element count and element type of a static tensor or vector type.
pub(crate) fn static_parts(ty: &Type) -> Result<(u64, &Type), String> {
    let shaped =
        ty.as_shaped().ok_or_else(|| format!("dense elements need a tensor or vector type, not {ty}"))?;
    if shaped.static_shape().is_none() {
        return Err(format!("dense elements need a static shape, not {ty}"));
    }
    let count = shaped.num_elements().ok_or_else(|| format!("the number of elements of {ty} overflows"))?;
    Ok((count, &shaped.element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_become_a_splat() {
        let ty = Type::tensor(&[2, 2], Type::int(16));
        let dense = DenseElements::numbers(ty.clone(), &[1, 0].repeat(4)).unwrap();
        assert!(dense.is_splat());
        assert_eq!(dense, DenseElements::numbers(ty.clone(), &[1, 0]).unwrap());
        assert_eq!(dense.to_bytes().unwrap().as_ref(), [1, 0].repeat(4));
        assert!(DenseElements::numbers(ty, &[1, 0, 2]).is_err());
    }

    #[test]
    fn shared_elements_are_checked_and_not_copied() {
        let file: Arc<Vec<u8>> = Arc::new((0..32).collect());
        let bytes = |range| SharedBytes::from_owner(file.clone(), range).unwrap();
        let dense = DenseElements::shared(Type::tensor(&[2, 2], Type::F32), bytes(8..24)).unwrap();
        let Some(Cow::Borrowed(found)) = dense.to_bytes() else { panic!("it was copied") };
        assert_eq!(found.as_ptr(), file[8..].as_ptr());
        assert_eq!(dense, DenseElements::numbers(dense.ty().clone(), &file[8..24]).unwrap());
        assert!(DenseElements::shared(Type::tensor(&[1], Type::F32), bytes(0..4)).unwrap().is_splat());
        for (ty, range) in [
            (Type::tensor(&[2, 2], Type::F32), 0..4),
            (Type::unranked_tensor(Type::F32), 0..4),
            (Type::tensor(&[4], Type::i1()), 0..4),
            (Type::tensor(&[4], Type::chain()), 0..4),
        ] {
            assert!(DenseElements::shared(ty.clone(), bytes(range)).is_err(), "{ty}");
        }
    }

    #[test]
    fn a_huge_splat_is_not_expanded() {
        let dense = DenseElements::numbers(Type::tensor(&[1 << 40], Type::F32), &[0; 4]).unwrap();
        assert_eq!(dense.to_bytes(), None);
    }

    #[test]
    fn empty_shapes_hold_nothing() {
        let dense = DenseElements::numbers(Type::tensor(&[0], Type::F32), &[]).unwrap();
        assert_eq!(dense.num_elements(), 0);
        assert!(!dense.is_splat());
        assert!(DenseElements::numbers(Type::tensor(&[0], Type::F32), &[0; 4]).is_err());
    }

    #[test]
    fn odd_widths_round_up_to_bytes() {
        let sizes = [
            (Type::int(1), Some(1)),
            (Type::int(24), Some(3)),
            (Type::int(129), None),
            (Type::complex(Type::F64), Some(16)),
            (Type::chain(), None),
        ];
        for (ty, size) in sizes {
            assert_eq!(element_size(&ty), size, "{ty}");
        }
    }
}
