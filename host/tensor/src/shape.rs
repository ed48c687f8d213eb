//! [`TensorShape`] and [`FixedRankShape`]: the extents of a tensor, row-major.
//!
//! A shape is only a list of numbers: it may describe more elements than any memory holds, and
//! counting them is checked.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tfrt_host::{Diagnostic, ErrorCode, value_type};

/// Most dimensions a tensor may have.
pub const MAX_RANK: usize = 255;
const RANK_INLINE: usize = TensorShape::RANK_INLINE;

/// The extents of a tensor, outermost first. Cheap to clone.
#[derive(Clone)]
pub struct TensorShape(Repr);

#[derive(Clone)]
enum Repr {
    Inline { rank: Rank, dims: [usize; RANK_INLINE] },
    Heap(Arc<[usize]>),
}

/// How many extents are in place. As wide as they are, and with the other variant told by a value
/// that it has not, so that a shape is words alone: who reads a word of which a byte was just
/// written waits for that byte.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Rank {
    Zero,
    One,
    Two,
    Three,
    Four,
}

const _: () = assert!(size_of::<TensorShape>() == (1 + RANK_INLINE) * size_of::<usize>());

value_type!(TensorShape, "!ts.shape");

impl TensorShape {
    /// Up to this rank a shape owns no heap memory.
    pub const RANK_INLINE: usize = 4;

    /// The shape of a scalar.
    pub const fn scalar() -> Self {
        Self(Repr::Inline { rank: Rank::Zero, dims: [0; RANK_INLINE] })
    }

    /// A shape of these extents.
    ///
    /// # Errors
    /// InvalidArgument for more than [`MAX_RANK`] of them.
    #[inline]
    pub fn new(dims: &[usize]) -> Result<Self, Diagnostic> {
        // One by one: a copy of unknown length would be a call.
        let (rank, dims) = match *dims {
            [] => (Rank::Zero, [0; RANK_INLINE]),
            [a] => (Rank::One, [a, 0, 0, 0]),
            [a, b] => (Rank::Two, [a, b, 0, 0]),
            [a, b, c] => (Rank::Three, [a, b, c, 0]),
            [a, b, c, d] => (Rank::Four, [a, b, c, d]),
            _ => return Self::on_heap(dims),
        };
        Ok(Self(Repr::Inline { rank, dims }))
    }

    fn on_heap(dims: &[usize]) -> Result<Self, Diagnostic> {
        if dims.len() > MAX_RANK {
            return Err(rank_too_high(dims.len()));
        }
        Ok(Self(Repr::Heap(dims.into())))
    }

    /// A shape of extents as programs write them.
    ///
    /// # Errors
    /// InvalidArgument for a negative extent or more than [`MAX_RANK`] of them.
    pub fn from_signed(dims: &[i64]) -> Result<Self, Diagnostic> {
        let mut inline = [0; RANK_INLINE];
        let unsigned = |dim: i64| {
            usize::try_from(dim).map_err(|_| {
                Diagnostic::invalid_argument(format!("negative dimension {dim} in shape {}", List(dims)))
            })
        };
        if let Some(slots) = inline.get_mut(..dims.len()) {
            for (slot, &dim) in slots.iter_mut().zip(dims) {
                *slot = unsigned(dim)?;
            }
            return Self::new(&inline[..dims.len()]);
        }
        Self::new(&dims.iter().map(|&dim| unsigned(dim)).collect::<Result<Vec<_>, _>>()?)
    }

    /// The extents, outermost first.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        match &self.0 {
            Repr::Inline { rank, dims } => &dims[..*rank as usize],
            Repr::Heap(dims) => dims,
        }
    }

    /// Number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The extent of dimension `index`.
    ///
    /// # Errors
    /// OutOfRange if there is no such dimension.
    pub fn dim(&self, index: usize) -> Result<usize, Diagnostic> {
        self.dims().get(index).copied().ok_or_else(|| {
            Diagnostic::new(
                ErrorCode::OutOfRange,
                format!("dimension {index} of shape {self} does not exist"),
            )
        })
    }

    /// The product of the extents; 1 for a scalar.
    ///
    /// # Errors
    /// OutOfRange if it does not fit 64 bits.
    pub fn num_elements(&self) -> Result<usize, Diagnostic> {
        count(self.dims()).ok_or_else(|| {
            Diagnostic::new(ErrorCode::OutOfRange, format!("shape {self} has too many elements to count"))
        })
    }

    /// This shape as one of exactly `N` dimensions.
    ///
    /// # Errors
    /// InvalidArgument if it has another rank.
    pub fn fixed<const N: usize>(&self) -> Result<FixedRankShape<N>, Diagnostic> {
        self.dims().try_into().map(FixedRankShape).map_err(|_| {
            Diagnostic::invalid_argument(format!(
                "expected a shape of rank {N}, got {self} of rank {}",
                self.rank()
            ))
        })
    }
}

fn rank_too_high(rank: usize) -> Diagnostic {
    Diagnostic::invalid_argument(format!("rank {rank} is higher than {MAX_RANK}"))
}

/// The product, `None` if it overflows. A zero anywhere makes it zero, whatever the other factors.
fn count(dims: &[usize]) -> Option<usize> {
    if dims.contains(&0) {
        return Some(0);
    }
    dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))
}

impl PartialEq for TensorShape {
    fn eq(&self, other: &Self) -> bool {
        self.dims() == other.dims()
    }
}

impl Eq for TensorShape {}

impl Hash for TensorShape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dims().hash(state);
    }
}

impl PartialEq<[usize]> for TensorShape {
    fn eq(&self, other: &[usize]) -> bool {
        self.dims() == other
    }
}

impl<const N: usize> PartialEq<[usize; N]> for TensorShape {
    fn eq(&self, other: &[usize; N]) -> bool {
        self.dims() == other
    }
}

/// Arrays are short, and too long a one is refused when compiling.
impl<const N: usize> From<[usize; N]> for TensorShape {
    fn from(dims: [usize; N]) -> Self {
        const { assert!(N <= MAX_RANK) };
        FixedRankShape(dims).to_shape()
    }
}

impl fmt::Display for TensorShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(self.dims()).fmt(f)
    }
}

impl fmt::Debug for TensorShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `[a, b, c]`.
pub(crate) struct List<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, item) in self.0.iter().enumerate() {
            if i != 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        f.write_str("]")
    }
}

/// A shape whose rank is known when compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedRankShape<const N: usize>(pub [usize; N]);

value_type!(FixedRankShape<0>, "!ts.fixed_rank_shape.0");
value_type!(FixedRankShape<1>, "!ts.fixed_rank_shape.1");
value_type!(FixedRankShape<2>, "!ts.fixed_rank_shape.2");
value_type!(FixedRankShape<3>, "!ts.fixed_rank_shape.3");
value_type!(FixedRankShape<4>, "!ts.fixed_rank_shape.4");

impl<const N: usize> FixedRankShape<N> {
    /// The same extents with the rank known at run time only.
    pub fn to_shape(self) -> TensorShape {
        const { assert!(N <= MAX_RANK) };
        // So few extents are a shape.
        TensorShape::new(&self.0).unwrap_or(TensorShape::scalar())
    }

    /// Where the element at `index` lies, counted in elements; `None` if it lies outside the shape.
    #[inline]
    pub fn offset(&self, index: [usize; N]) -> Option<usize> {
        let mut offset = 0usize;
        for (&i, &dim) in index.iter().zip(&self.0) {
            if i >= dim {
                return None;
            }
            offset = offset.checked_mul(dim)?.checked_add(i)?;
        }
        Some(offset)
    }
}

impl<const N: usize> fmt::Display for FixedRankShape<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(&self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prints_and_compares_across_representations() {
        for (dims, text) in [
            (&[][..], "[]"),
            (&[65537], "[65537]"),
            (&[1, 57, 92], "[1, 57, 92]"),
            (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"),
        ] {
            let shape = TensorShape::new(dims).unwrap();
            assert_eq!(shape.to_string(), text);
            assert_eq!(shape, *dims);
            assert_eq!(shape, shape.clone());
            assert_ne!(shape, TensorShape::from([7, 7]));
        }
    }

    #[test]
    fn counts_are_checked() {
        assert_eq!(TensorShape::scalar().num_elements(), Ok(1));
        assert_eq!(TensorShape::from([3, 0, usize::MAX, usize::MAX]).num_elements(), Ok(0));
        let error = TensorShape::from([65535; 7]).num_elements().unwrap_err();
        assert_eq!(error.code, ErrorCode::OutOfRange);
        assert!(error.message.contains("[65535, 65535,"), "{error}");
    }

    #[test]
    fn bad_extents_and_ranks_are_errors() {
        assert_eq!(
            TensorShape::from_signed(&[2, -3]).unwrap_err().message,
            "negative dimension -3 in shape [2, -3]"
        );
        assert!(TensorShape::from_signed(&[1, 1, 1, 1, -1]).is_err());
        assert!(TensorShape::new(&[1; 256]).is_err());
        assert_eq!(TensorShape::new(&[1; 255]).unwrap().rank(), 255);
        assert_eq!(TensorShape::from([2]).dim(1).unwrap_err().code, ErrorCode::OutOfRange);
        assert_eq!(
            TensorShape::from([2, 3]).fixed::<3>().unwrap_err().message,
            "expected a shape of rank 3, got [2, 3] of rank 2"
        );
    }

    #[test]
    fn offsets_are_row_major_and_bounded() {
        let shape = FixedRankShape([2, 3, 4]);
        assert_eq!(shape.offset([1, 2, 3]), Some(23));
        assert_eq!(shape.offset([0, 1, 0]), Some(4));
        assert_eq!(shape.offset([0, 3, 0]), None);
        assert_eq!(FixedRankShape([]).offset([]), Some(0));
    }

    proptest! {
        #[test]
        fn round_trips(dims in prop::collection::vec(0i64..i64::MAX, 0..12)) {
            let shape = TensorShape::from_signed(&dims).unwrap();
            let back: Vec<i64> = shape.dims().iter().map(|&d| d as i64).collect();
            prop_assert_eq!(&back, &dims);
            let wide = dims.iter().try_fold(1u128, |p, &d| p.checked_mul(d as u128));
            let exact = if dims.contains(&0) { Some(0) } else { wide.and_then(|w| usize::try_from(w).ok()) };
            prop_assert_eq!(shape.num_elements().ok(), exact);
        }
    }
}
