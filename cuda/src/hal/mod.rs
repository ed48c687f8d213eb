//! What a backend implements: small traits by concern, which check nothing.
