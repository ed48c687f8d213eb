//! The one error of this crate: shapes, lengths or parameters that do not fit together.

use std::fmt;

/// Why an operation cannot be planned or run on what it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A slice does not have the number of elements that the plan needs.
    Length {
        /// The operand's role, e.g. `filter`.
        operand: &'static str,
        /// Elements needed.
        expected: usize,
        /// Elements given.
        actual: usize,
    },
    /// A shape does not have the number of dimensions that the operation needs.
    Rank {
        /// The operand's role.
        operand: &'static str,
        /// Dimensions needed.
        expected: usize,
        /// Dimensions given.
        actual: usize,
    },
    /// Two shapes cannot be broadcast together.
    Broadcast {
        /// Shape of the left operand.
        left: Vec<usize>,
        /// Shape of the right operand.
        right: Vec<usize>,
    },
    /// An axis lies outside the shape, or is named twice.
    Axis {
        /// The offending axis.
        axis: usize,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// A parameter has a value that makes no sense; the text names it and says which values do.
    Parameter(&'static str),
    /// The number of elements exceeds what a `usize` (or the index type in use) holds.
    TooLarge,
    /// An index value read from an operand lies outside its range.
    Index {
        /// The operand that holds the index.
        operand: &'static str,
        /// Where in that operand it stands.
        position: usize,
        /// Its value.
        value: i64,
        /// Legal values are `0..bound`.
        bound: usize,
    },
    /// `run_block` was called with a block that the plan does not have.
    Block {
        /// The block asked for.
        block: usize,
        /// Blocks of the plan.
        count: usize,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { operand, expected, actual } => {
                write!(f, "{operand} must have {expected} elements, but has {actual}")
            }
            Self::Rank { operand, expected, actual } => {
                write!(f, "{operand} must have {expected} dimensions, but has {actual}")
            }
            Self::Broadcast { left, right } => {
                write!(f, "shapes {left:?} and {right:?} cannot be broadcast together")
            }
            Self::Axis { axis, rank } => {
                write!(f, "axis {axis} is repeated or outside a shape of {rank} dimensions")
            }
            Self::Parameter(text) => f.write_str(text),
            Self::TooLarge => f.write_str("the number of elements is too large"),
            Self::Index { operand, position, value, bound } => {
                write!(f, "{operand}[{position}] is {value}, which is outside 0..{bound}")
            }
            Self::Block { block, count } => {
                write!(f, "block {block} does not exist: the plan has {count} blocks")
            }
        }
    }
}

impl std::error::Error for ShapeError {}

/// Checks that `operand` has exactly `expected` elements.
pub(crate) fn check_len(operand: &'static str, expected: usize, actual: usize) -> Result<(), ShapeError> {
    if expected == actual { Ok(()) } else { Err(ShapeError::Length { operand, expected, actual }) }
}
