//! Closed sets of PTX words: types, state spaces, linkage, special registers.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Returns the word in PTX, without the dot.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// Returns the variant with this word, which is without the dot.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, ".{}", self.word())
            }
        }
    };
}

words! {
    /// The type of a register, a variable or an instruction's operand.
    pub enum Type {
        /// 8 untyped bits.
        B8 = "b8",
        /// 16 untyped bits.
        B16 = "b16",
        /// 32 untyped bits.
        B32 = "b32",
        /// 64 untyped bits.
        B64 = "b64",
        /// 128 untyped bits.
        B128 = "b128",
        /// An unsigned integer of 8 bits.
        U8 = "u8",
        /// An unsigned integer of 16 bits.
        U16 = "u16",
        /// An unsigned integer of 32 bits.
        U32 = "u32",
        /// An unsigned integer of 64 bits.
        U64 = "u64",
        /// A signed integer of 8 bits.
        S8 = "s8",
        /// A signed integer of 16 bits.
        S16 = "s16",
        /// A signed integer of 32 bits.
        S32 = "s32",
        /// A signed integer of 64 bits.
        S64 = "s64",
        /// IEEE half precision.
        F16 = "f16",
        /// Two halves.
        F16x2 = "f16x2",
        /// The upper half of an `f32`.
        Bf16 = "bf16",
        /// Two `bf16`.
        Bf16x2 = "bf16x2",
        /// IEEE single precision.
        F32 = "f32",
        /// IEEE double precision.
        F64 = "f64",
        /// A truth value, which is only in registers.
        Pred = "pred",
    }
}

impl Type {
    /// Returns the number of bits of a value, 1 for a predicate.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::B8 | Type::U8 | Type::S8 => 8,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::Bf16 => 16,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::Bf16x2 => 32,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 64,
            Type::B128 => 128,
        }
    }

    /// Returns the size of a value in memory, in bytes; 1 for a predicate, which is never in
    /// memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Returns whether it is one of the floating-point types, packed ones included.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64)
    }

    /// Returns whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns whether it is an unsigned integer.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// Returns whether its bits have no meaning.
    pub fn is_untyped(self) -> bool {
        matches!(self, Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128)
    }
}

words! {
    /// The state space of a variable.
    pub enum Space {
        /// Memory that all blocks share, and that outlives launches.
        Global = "global",
        /// Memory that all blocks share and only read.
        Const = "const",
        /// Memory of a block.
        Shared = "shared",
        /// Memory of a thread.
        Local = "local",
        /// Parameters, of a kernel or of a call.
        Param = "param",
    }
}

words! {
    /// The visibility of a name outside its module. [`Linkage::Internal`] has no word in PTX.
    pub enum Linkage {
        /// Visible only in this module.
        Internal = "internal",
        /// Visible everywhere.
        Visible = "visible",
        /// Defined elsewhere.
        Extern = "extern",
        /// Visible everywhere, unless another module has one too.
        Weak = "weak",
        /// As weak; the largest of all modules is used.
        Common = "common",
    }
}

/// One of the three dimensions of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The dimension that varies fastest.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// Returns 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A read-only register that the machine sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    /// `%tid`: the thread within its block.
    Tid(Axis),
    /// `%ntid`: the extent of a block in threads.
    NTid(Axis),
    /// `%ctaid`: the block within the grid.
    CtaId(Axis),
    /// `%nctaid`: the extent of the grid in blocks.
    NCtaId(Axis),
    /// `%laneid`: the thread within its warp.
    LaneId,
    /// `%warpid`: the warp within its block.
    WarpId,
    /// `%nwarpid`: the most warps of a block.
    NWarpId,
    /// `%smid`: the multiprocessor.
    SmId,
    /// `%nsmid`: the most multiprocessors.
    NSmId,
    /// `%gridid`: the launch; 64 bits wide.
    GridId,
    /// `%clock`: cycles, the lower 32 bits.
    Clock,
    /// `%clock_hi`: cycles, the upper 32 bits.
    ClockHi,
    /// `%clock64`: cycles.
    Clock64,
    /// `%globaltimer`: nanoseconds.
    GlobalTimer,
    /// `%globaltimer_lo`: nanoseconds, the lower 32 bits.
    GlobalTimerLo,
    /// `%globaltimer_hi`: nanoseconds, the upper 32 bits.
    GlobalTimerHi,
    /// `%lanemask_eq`: a bit for this lane.
    LaneMaskEq,
    /// `%lanemask_le`: bits for this lane and those below.
    LaneMaskLe,
    /// `%lanemask_lt`: bits for the lanes below.
    LaneMaskLt,
    /// `%lanemask_ge`: bits for this lane and those above.
    LaneMaskGe,
    /// `%lanemask_gt`: bits for the lanes above.
    LaneMaskGt,
    /// `%total_smem_size`: the bytes of shared memory of a block, without the system's part.
    TotalSmemSize,
    /// `%aggr_smem_size`: the bytes of shared memory of a block, with the system's part.
    AggrSmemSize,
    /// `%dynamic_smem_size`: the bytes of shared memory requested by the launch.
    DynamicSmemSize,
    /// `%reserved_smem_offset_begin`, `_end`, `_cap`, `_0`, `_1`: the system's part of shared
    /// memory, by position in this list.
    ReservedSmemOffset(u8),
    /// `%clusterid`: the cluster within the grid.
    ClusterId(Axis),
    /// `%nclusterid`: the extent of the grid in clusters.
    NClusterId(Axis),
    /// `%cluster_ctaid`: the block within its cluster.
    ClusterCtaId(Axis),
    /// `%cluster_nctaid`: the extent of a cluster in blocks.
    ClusterNCtaId(Axis),
    /// `%cluster_ctarank`: the block within its cluster, as one number.
    ClusterCtaRank,
    /// `%cluster_nctarank`: the number of blocks of a cluster.
    ClusterNCtaRank,
    /// `%is_explicit_cluster`: whether the launch named a cluster size; a predicate.
    IsExplicitCluster,
    /// `%current_graph_exec`: the graph that launched the kernel, or 0; 64 bits wide.
    CurrentGraphExec,
    /// `%pm0` to `%pm7`: performance counters.
    PerformanceCounter(u8),
    /// `%pm0_64` to `%pm7_64`: performance counters, 64 bits wide.
    PerformanceCounter64(u8),
    /// `%envreg0` to `%envreg31`: defined by the driver.
    Environment(u8),
}

impl SpecialRegister {
    /// Returns the type of its value.
    pub fn ty(self) -> Type {
        use SpecialRegister as S;
        match self {
            S::GridId | S::Clock64 | S::GlobalTimer | S::PerformanceCounter64(_) | S::CurrentGraphExec => {
                Type::U64
            }
            S::Environment(_) => Type::B32,
            S::IsExplicitCluster => Type::Pred,
            _ => Type::U32,
        }
    }

    /// Returns whether early versions of PTX had it with fewer bits. `mov` can still read it in
    /// that width.
    pub fn was_narrower(self) -> bool {
        use SpecialRegister as S;
        matches!(self, S::Tid(_) | S::NTid(_) | S::CtaId(_) | S::NCtaId(_) | S::GridId)
    }

    /// Returns the register with this name, without the `%` and, for registers of three dimensions,
    /// without the axis.
    pub fn from_name(name: &str) -> Option<SpecialRegisterName> {
        use SpecialRegister as S;
        use SpecialRegisterName::{Axes, Scalar};
        let scalar = match name {
            "tid" => return Some(Axes(S::Tid)),
            "ntid" => return Some(Axes(S::NTid)),
            "ctaid" => return Some(Axes(S::CtaId)),
            "nctaid" => return Some(Axes(S::NCtaId)),
            "clusterid" => return Some(Axes(S::ClusterId)),
            "nclusterid" => return Some(Axes(S::NClusterId)),
            "cluster_ctaid" => return Some(Axes(S::ClusterCtaId)),
            "cluster_nctaid" => return Some(Axes(S::ClusterNCtaId)),
            "laneid" => S::LaneId,
            "warpid" => S::WarpId,
            "nwarpid" => S::NWarpId,
            "smid" => S::SmId,
            "nsmid" => S::NSmId,
            "gridid" => S::GridId,
            "clock" => S::Clock,
            "clock_hi" => S::ClockHi,
            "clock64" => S::Clock64,
            "globaltimer" => S::GlobalTimer,
            "globaltimer_lo" => S::GlobalTimerLo,
            "globaltimer_hi" => S::GlobalTimerHi,
            "lanemask_eq" => S::LaneMaskEq,
            "lanemask_le" => S::LaneMaskLe,
            "lanemask_lt" => S::LaneMaskLt,
            "lanemask_ge" => S::LaneMaskGe,
            "lanemask_gt" => S::LaneMaskGt,
            "total_smem_size" => S::TotalSmemSize,
            "aggr_smem_size" => S::AggrSmemSize,
            "dynamic_smem_size" => S::DynamicSmemSize,
            "cluster_ctarank" => S::ClusterCtaRank,
            "cluster_nctarank" => S::ClusterNCtaRank,
            "is_explicit_cluster" => S::IsExplicitCluster,
            "current_graph_exec" => S::CurrentGraphExec,
            _ => return SpecialRegister::numbered(name).map(Scalar),
        };
        Some(Scalar(scalar))
    }

    fn numbered(name: &str) -> Option<SpecialRegister> {
        if let Some(rest) = name.strip_prefix("reserved_smem_offset_") {
            let words = ["begin", "end", "cap", "0", "1"];
            let index = words.iter().position(|&word| word == rest)?;
            return Some(SpecialRegister::ReservedSmemOffset(index as u8));
        }
        let number = |text: &str, limit: u8| {
            let plain = text.len() == 1 || !text.starts_with(['0', '+']);
            text.parse().ok().filter(|&number: &u8| plain && number < limit)
        };
        if let Some(rest) = name.strip_prefix("envreg") {
            return number(rest, 32).map(SpecialRegister::Environment);
        }
        let rest = name.strip_prefix("pm")?;
        match rest.strip_suffix("_64") {
            Some(rest) => number(rest, 8).map(SpecialRegister::PerformanceCounter64),
            None => number(rest, 8).map(SpecialRegister::PerformanceCounter),
        }
    }
}

/// The meaning of the name of a special register.
#[derive(Clone, Copy, Debug)]
pub enum SpecialRegisterName {
    /// One register.
    Scalar(SpecialRegister),
    /// A vector with `.x`, `.y`, `.z` and `.w`, where `.w` is always 0.
    Axes(fn(Axis) -> SpecialRegister),
}
