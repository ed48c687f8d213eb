//! Conversion between MLIR text and BEF.
