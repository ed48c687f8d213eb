//! Conformance cases that the API has nothing for, by the beginning of their names, and why.

const NO_MODULES: &str = "the API has no modules";

pub(crate) const SKIPS: &[(&str, &str)] = &[
    ("launches/", NO_MODULES),
    ("faults/", NO_MODULES),
    ("memory/reuse_across_streams_is_ordered", NO_MODULES),
    ("misuse/libraries_of_other_contexts", NO_MODULES),
    ("graphs/", "the API has no graphs"),
    ("blas/", "the API has no libraries"),
    ("dnn/", "the API has no libraries"),
    ("collectives/", "the API has no collectives"),
    ("unified/", "the plug-in has no unified memory"),
    ("memory/registered", "the API cannot pin memory that the plug-in did not allocate"),
];
