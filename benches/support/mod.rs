//! What all benches share.

use std::time::Duration;

use criterion::Criterion;

/// Criterion with measurements of a second: many short benches are worth more than a few long ones.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
        .configure_from_args()
}
