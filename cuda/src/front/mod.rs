//! The safe device front: checks every call and hands it to a backend.
