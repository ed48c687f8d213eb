//! Comparison: `set`, `setp`, `slct`.

/// A relation that `set` and `setp` test. `lo`, `ls`, `hi`, `hs` are the ordered relations on
/// unsigned types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Comparison {
    /// `eq`: false for NaN.
    Equal,
    /// `ne`: false for NaN.
    NotEqual,
    /// `lt`, `lo`: false for NaN.
    Less,
    /// `le`, `ls`: false for NaN.
    LessOrEqual,
    /// `gt`, `hi`: false for NaN.
    Greater,
    /// `ge`, `hs`: false for NaN.
    GreaterOrEqual,
    /// `equ`: true for NaN.
    EqualUnordered,
    /// `neu`: true for NaN.
    NotEqualUnordered,
    /// `ltu`: true for NaN.
    LessUnordered,
    /// `leu`: true for NaN.
    LessOrEqualUnordered,
    /// `gtu`: true for NaN.
    GreaterUnordered,
    /// `geu`: true for NaN.
    GreaterOrEqualUnordered,
    /// `num`: neither is NaN.
    Number,
    /// `nan`: either is NaN.
    Nan,
}

/// Returns whether a relation holds. For integers the unordered relations equal the ordered ones.
#[inline(always)]
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "what is not less may be unordered: that is the point")]
pub(crate) fn compare<T: PartialOrd + Copy>(a: T, b: T, comparison: Comparison) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => (a < b) | (a > b),
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
        Comparison::EqualUnordered => !((a < b) | (a > b)),
        Comparison::NotEqualUnordered => a != b,
        Comparison::LessUnordered => !(a >= b),
        Comparison::LessOrEqualUnordered => !(a > b),
        Comparison::GreaterUnordered => !(a <= b),
        Comparison::GreaterOrEqualUnordered => !(a < b),
        Comparison::Number => (a <= b) | (a > b),
        Comparison::Nan => !((a <= b) | (a > b)),
    }
}

/// Returns the condition of `slct.f32`: `-0.0` counts as zero, a NaN selects the second operand.
#[inline(always)]
pub(crate) fn selects_first(c: f32, ftz: bool) -> bool {
    super::single::flush(c, ftz) >= 0.0
}
