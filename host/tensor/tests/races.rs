//! Kernels that no chain orders: each access succeeds alone or is refused, and none sees half a
//! write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt_host::ErrorCode;
use tfrt_host::allocator::SystemAllocator;
use tfrt_tensor::{Accessor, DenseHostTensor, SharedAllocator};

/// Miri is a thousand times slower.
const ROUNDS: i32 = if cfg!(miri) { 10 } else { 500 };

static READER: Accessor = Accessor::new("test.reader");
static WRITER: Accessor = Accessor::new("test.writer");

#[test]
fn unordered_kernels_are_refused_or_see_whole_writes() {
    let allocator: SharedAllocator = Arc::new(SystemAllocator);
    let tensor = DenseHostTensor::full([257], 0i32, &allocator).unwrap();
    let (reads, writes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for id in 1..=2 {
            let (written, writes) = (&tensor, &writes);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    match written.write::<i32>(&WRITER) {
                        Ok(mut elements) => {
                            elements.fill(id * 1000 + round);
                            writes.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => assert_eq!(error.code, ErrorCode::DataRace),
                    }
                }
            });
            let (read, reads) = (&tensor, &reads);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    match read.read::<i32>(&READER) {
                        Ok(elements) => {
                            assert!(elements.iter().all(|&element| element == elements[0]));
                            reads.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => assert_eq!(error.code, ErrorCode::DataRace),
                    }
                }
            });
        }
    });
    assert!(reads.into_inner() + writes.into_inner() > 0);
    assert!(tensor.write::<i32>(&WRITER).is_ok(), "every guard was given back");
}
