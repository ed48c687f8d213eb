//! PTX text: read, resolved, checked.
//!
//! This module never looks at what an instruction means: which modifiers and operands `ld` takes is known to
//! [`code`](crate::code).
