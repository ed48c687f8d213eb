//! Device memory handed out from cached segments, over any backend.
