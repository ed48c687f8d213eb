//! Tensor mathematics on plain slices.
