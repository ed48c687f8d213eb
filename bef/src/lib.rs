//! The Binary Executable Format (BEF).
