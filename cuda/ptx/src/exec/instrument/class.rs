//! The effect of an instruction on the order of accesses, derived from its name.

/// The effect of an instruction on the order of accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Class {
    /// The lanes that take part wait for each other.
    pub(super) warp_barrier: bool,
    /// What the thread did before becomes visible to others before what it does next.
    pub(super) fence: bool,
    /// An access that may race with others of its kind: atomic, volatile, relaxed, acquire,
    /// release.
    pub(super) strong: bool,
    /// The instruction names the local space.
    pub(super) names_local: bool,
}

impl Class {
    /// Returns the class of an instruction with its modifiers, such as `ld.volatile.global.u32`.
    pub(super) fn of(name: &str) -> Class {
        let mut words = name.split('.');
        let opcode = words.next().unwrap_or_default();
        let has = |word: &str| name.split('.').skip(1).any(|modifier| modifier == word);
        let collective = matches!(
            opcode,
            "shfl"
                | "vote"
                | "match"
                | "redux"
                | "elect"
                | "mma"
                | "wmma"
                | "wgmma"
                | "ldmatrix"
                | "stmatrix"
                | "movmatrix"
        );
        let orders = has("acq_rel") || has("release") || has("acquire");
        // `mbarrier`, `cp.async.mbarrier.arrive`, and copies whose bytes a barrier counts.
        let at_barrier = opcode == "mbarrier" || has("mbarrier");
        let counted = has("mbarrier::complete_tx::bytes");
        // Lanes that test a barrier together are also ordered among each other.
        let waits = at_barrier && (has("test_wait") || has("try_wait"));
        Class {
            warp_barrier: collective || waits || (matches!(opcode, "bar" | "barrier") && has("warp")),
            fence: matches!(opcode, "membar" | "fence") || orders || at_barrier || counted,
            strong: orders || at_barrier || has("volatile") || has("relaxed") || has("mmio"),
            names_local: has("local"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Class;

    #[test]
    fn names_say_what_is_ordered() {
        assert!(Class::of("bar.warp.sync").warp_barrier);
        assert!(!Class::of("bar.sync").warp_barrier);
        assert!(Class::of("shfl.sync.bfly.b32").warp_barrier);
        assert!(Class::of("membar.gl").fence && Class::of("fence.acq_rel.gpu").fence);
        assert!(Class::of("atom.acq_rel.gpu.global.add.u32").fence);
        assert!(!Class::of("atom.global.add.u32").fence);
        assert!(Class::of("ld.volatile.shared.u32").strong);
        assert!(!Class::of("ld.shared.u32").strong);
        assert!(Class::of("ld.local.v2.f32").names_local);
        assert!(Class::of("mbarrier.try_wait.parity.shared.b64").warp_barrier);
        let arrive = Class::of("cp.async.mbarrier.arrive.noinc.shared.b64");
        assert!(arrive.fence && arrive.strong && !arrive.warp_barrier);
        let copy = Class::of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
        assert!(copy.fence && !copy.strong);
    }
}
