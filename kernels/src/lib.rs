//! Kernel libraries.
