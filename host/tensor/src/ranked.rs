//! [`RankedElements`] and [`RankedElementsMut`]: elements held by a guard, indexed by coordinates.

use std::borrow::Borrow;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use tfrt_host::host_buffer::HostBuffer;

use crate::element::Element;
use crate::elements::{Elements, ElementsMut};
use crate::shape::FixedRankShape;

macro_rules! ranked {
    ($(#[$doc:meta])+ $name:ident, $elements:ident) => {
        $(#[$doc])+
        #[derive(Debug)]
        pub struct $name<T: Element, B: Borrow<HostBuffer>, const N: usize> {
            shape: FixedRankShape<N>,
            elements: $elements<T, B>,
        }

        impl<T: Element, B: Borrow<HostBuffer>, const N: usize> $name<T, B, N> {
            pub(crate) fn new(shape: FixedRankShape<N>, elements: $elements<T, B>) -> Self {
                Self { shape, elements }
            }

            /// The extents.
            #[inline]
            pub fn shape(&self) -> FixedRankShape<N> {
                self.shape
            }

            /// The element at these coordinates, if they lie within the shape.
            #[inline]
            pub fn at(&self, index: [usize; N]) -> Option<T> {
                self.elements.get(self.shape.offset(index)?).copied()
            }
        }

        impl<T: Element, B: Borrow<HostBuffer>, const N: usize> Deref for $name<T, B, N> {
            type Target = [T];

            #[inline]
            fn deref(&self) -> &[T] {
                &self.elements
            }
        }

        /// Panics outside the shape, as indexing a slice does; [`Self::at`] does not.
        impl<T: Element, B: Borrow<HostBuffer>, const N: usize> Index<[usize; N]> for $name<T, B, N> {
            type Output = T;

            #[inline]
            fn index(&self, index: [usize; N]) -> &T {
                &self.elements[self.shape.offset(index).unwrap_or(usize::MAX)]
            }
        }
    };
}

ranked! {
    /// Elements taken for reading, in a shape of `N` dimensions.
    RankedElements, Elements
}
ranked! {
    /// Elements taken for writing, in a shape of `N` dimensions.
    RankedElementsMut, ElementsMut
}

impl<T: Element, B: Borrow<HostBuffer>, const N: usize> DerefMut for RankedElementsMut<T, B, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

/// Panics outside the shape, as indexing a slice does.
impl<T: Element, B: Borrow<HostBuffer>, const N: usize> IndexMut<[usize; N]> for RankedElementsMut<T, B, N> {
    #[inline]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let offset = self.shape.offset(index).unwrap_or(usize::MAX);
        &mut self.elements[offset]
    }
}

#[cfg(test)]
mod tests {
    use crate::accessor::Accessor;
    use crate::dense::DenseHostTensor;

    static ME: Accessor = Accessor::new("test.ranked");

    #[test]
    fn coordinates_are_row_major_and_bounded() {
        let tensor = DenseHostTensor::from_vec([2, 3], (0..6).collect::<Vec<i32>>()).unwrap();
        {
            let mut view = tensor.write_ranked::<i32, 2>(&ME).unwrap();
            view[[1, 0]] = -3;
            assert_eq!((view.at([1, 2]), view.at([2, 0]), view.at([0, 3])), (Some(5), None, None));
            (*view)[5] = 50;
        }
        let view = tensor.read_ranked::<i32, 2>(&ME).unwrap();
        assert_eq!((view[[1, 0]], view[[1, 2]], view.shape().0), (-3, 50, [2, 3]));
        assert!(tensor.read_ranked::<i32, 3>(&ME).is_err());
    }
}
