//! Lanes that take no part in what others of their warp do together.

use super::{kernel, run};

/// The sum over the first eight lanes of a warp, as if there were 32: the others count as zero,
/// as on a GPU.
#[test]
fn sum_over_a_part_of_a_warp() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.u64 %rd1, %rd0, %rd1;
         ld.global.u32 %r1, [%rd1];
         setp.ge.u32 %p1, %r0, 8;
         @%p1 bra DONE;
         mov.u32 %r2, 16;
         NEXT:
         shfl.sync.down.b32 %r3|%p2, %r1, %r2, 31, 0xff;
         add.u32 %r1, %r1, %r3;
         shr.u32 %r2, %r2, 1;
         setp.ne.u32 %p1, %r2, 0;
         @%p1 bra NEXT;
         DONE:
         st.global.u32 [%rd1], %r1;",
    );
    let words: Vec<u32> = (1..=32).collect();
    let after = run::<32>(&module, &words);
    assert_eq!(after[0], 36);
    assert_eq!(after[8..], words[8..]);
}

/// The same where the warp has no other lanes.
#[test]
fn sum_over_a_warp_of_eight_threads() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.u64 %rd1, %rd0, %rd1;
         ld.global.u32 %r1, [%rd1];
         shfl.sync.bfly.b32 %r2, %r1, 8, 31, 0xffffffff;
         shfl.sync.down.b32 %r3, %r1, 1, 31, 0xffffffff;
         shl.b32 %r2, %r2, 8;
         add.u32 %r3, %r3, %r2;
         st.global.u32 [%rd1], %r3;",
    );
    assert_eq!(run::<8>(&module, &[1, 2, 3, 4, 5, 6, 7, 8]), [2, 3, 4, 5, 6, 7, 8, 0]);
}
