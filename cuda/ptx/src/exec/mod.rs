//! Runs the compact form: warps, blocks, grids, and the memory they may touch.
