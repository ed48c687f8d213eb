//! Plans: decisions about programs, as functions of plain data.

pub mod order;
