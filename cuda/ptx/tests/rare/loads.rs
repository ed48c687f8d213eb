//! Loads that follow others, and the spaces of their addresses.

use tfrt_ptx::{FaultKind, Memory, Module, Params};

use super::{kernel, run};

/// Loads that follow another by the same register see what is in it, in every pattern of addresses,
/// with lanes left out in between, and where the register changes.
#[test]
fn loads_that_follow_another() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.s64 %rd2, %rd0, %rd1;
         ld.global.u32 %r1, [%rd2];
         ld.global.u32 %r2, [%rd2+128];
         setp.lt.u32 %p1, %r0, 5;
         @%p1 add.s64 %rd2, %rd2, 4;
         ld.global.u32 %r3, [%rd2];
         ld.global.u32 %r4, [%rd2+128];
         @%p1 ld.global.u32 %r3, [%rd2+4];
         ld.global.u32 %r5, [%rd2+4];
         and.b32 %r6, %r0, 16;
         mul.wide.u32 %rd3, %r6, 4;
         add.s64 %rd3, %rd0, %rd3;
         ld.global.u32 %r7, [%rd3];
         ld.global.u32 %r8, [%rd3+8];
         ld.global.u64 %rd3, [%rd3+16];
         cvt.u32.u64 %r9, %rd3;
         mad.lo.u32 %r1, %r1, 3, %r2;
         mad.lo.u32 %r1, %r1, 5, %r3;
         mad.lo.u32 %r1, %r1, 7, %r4;
         mad.lo.u32 %r1, %r1, 11, %r5;
         mad.lo.u32 %r1, %r1, 13, %r7;
         mad.lo.u32 %r1, %r1, 17, %r8;
         mad.lo.u32 %r1, %r1, 19, %r9;
         add.s64 %rd2, %rd0, %rd1;
         st.global.u32 [%rd2+512], %r1;",
    );
    let words: Vec<u32> = (0..160u32).map(|word| word.wrapping_mul(2_654_435_761)).collect();
    let after = run::<32>(&module, &words);
    for lane in 0..32 {
        let moved = lane + usize::from(lane < 5);
        let half = lane & 16;
        let third = if lane < 5 { words[moved + 1] } else { words[moved] };
        let rest = [
            words[lane + 32],
            third,
            words[moved + 32],
            words[moved + 1],
            words[half],
            words[half + 2],
            words[half + 4],
        ];
        let factors = [3u32, 5, 7, 11, 13, 17, 19];
        let expected = rest
            .iter()
            .zip(factors)
            .fold(words[lane], |sum, (word, by)| sum.wrapping_mul(by).wrapping_add(*word));
        assert_eq!(after[128 + lane], expected, "lane {lane}");
    }
}

/// A load behind another is checked by itself.
#[test]
fn loads_that_follow_another_stay_inside() {
    let module = kernel(
        "mul.wide.u32 %rd1, %r0, 4;
         add.s64 %rd2, %rd0, %rd1;
         ld.global.u32 %r1, [%rd2];
         ld.global.u32 %r2, [%rd2+4];
         st.global.u32 [%rd2], %r2;",
    );
    let memory = Memory::new();
    let address = memory.allocate(128).unwrap();
    let function = module.function("k").unwrap();
    let fault = function.launch(1, 32, 0, &Params::new().push(address), &memory).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfBounds, "{fault}");
    assert!(fault.to_string().contains("thread (31, 0, 0)"), "{fault}");
}

/// The name of a variable says where it is where the instruction does not.
#[test]
fn names_in_generic_accesses() {
    let module = kernel(
        ".local .align 4 .b8 mine[16];
         st.u32 [buffer+4], 5;
         st.u32 [mine+8], 70;
         atom.add.u32 %r1, [buffer+4], 600;
         ld.shared.u32 %r2, [buffer+4];
         ld.local.u32 %r3, [mine+8];
         ld.volatile.u32 %r4, [buffer+4];
         st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};",
    );
    assert_eq!(run::<1>(&module, &[0; 4]), [5, 605, 70, 605]);
}

/// A constant is no global memory, though its address is generic.
#[test]
fn spaces_of_addresses() {
    let text = ".version 8.4\n.target sm_90\n.address_size 64
        .const .align 4 .u32 constant[2] = {1, 2};
        .global .align 4 .u32 global[2];
        .shared .align 4 .u32 shared[2];
        .entry k(.param .u64 p) {
            .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<3>;
            ld.param.u64 %rd0, [p];
            cvta.const.u64 %rd1, constant;
            cvta.global.u64 %rd2, global;
            cvta.shared.u64 %rd3, shared;
            mov.u32 %r0, %tid.x;
            setp.eq.u32 %p0, %r0, 1;
            @%p0 mov.b64 %rd1, %rd2;
            setp.eq.u32 %p0, %r0, 2;
            @%p0 mov.b64 %rd1, %rd3;
            isspacep.const %p1, %rd1;
            isspacep.global %p2, %rd1;
            isspacep.shared %p0, %rd1;
            selp.u32 %r1, 1, 0, %p1;
            selp.u32 %r2, 2, 0, %p2;
            selp.u32 %r3, 4, 0, %p0;
            or.b32 %r1, %r1, %r2;
            or.b32 %r1, %r1, %r3;
            mad.wide.u32 %rd4, %r0, 4, %rd0;
            st.global.u32 [%rd4], %r1;
            ret;
        }";
    assert_eq!(run::<3>(&Module::parse(text).unwrap(), &[0; 3]), [1, 2, 4]);
}
