//! What each instruction computes, as functions on scalars, without memory, registers or threads.
