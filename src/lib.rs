//! tfrt: the facade that assembles a runtime.
