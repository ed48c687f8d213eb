//! What a launch says when its kernel does wrong (`faults.cu`, with source lines): the whole text of each report.
