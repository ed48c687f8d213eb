//! Ids: positions in a module's arenas.

use std::num::NonZeroU32;

macro_rules! id {
    ($(#[$doc:meta])* $visibility:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $visibility struct $name(NonZeroU32);

        impl $name {
            /// Returns the position in the arena, counted from 0 without gaps, so that it can index
            /// side tables.
            $visibility fn index(self) -> usize {
                self.0.get() as usize - 1
            }

            /// Returns the id of a position. Positions beyond 2^32 - 2 share the last id; a module
            /// that large does not fit into memory.
            pub(super) fn at(index: usize) -> $name {
                $name(NonZeroU32::MIN.saturating_add(u32::try_from(index).unwrap_or(u32::MAX)))
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.index())
            }
        }
    };
}

id!(
    /// An operation of a [`Module`](crate::Module).
    pub OpId
);
id!(
    /// A value of a [`Module`](crate::Module): a result of an operation or an argument of a block.
    pub ValueId
);
id!(
    /// A region of a [`Module`](crate::Module).
    pub RegionId
);
id!(
    /// A block of a [`Module`](crate::Module).
    pub BlockId
);
id!(
    /// An operand's node in the list of its value's uses.
    pub(super) UseId
);

impl UseId {
    /// Returns the id `offset` positions further on.
    pub(super) fn offset(self, offset: usize) -> UseId {
        UseId::at(self.index() + offset)
    }
}
