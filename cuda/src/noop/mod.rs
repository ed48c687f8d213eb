//! The skeleton of a backend: does nothing, counts calls, and fails, delays or loses the one it is told to.
