//! Detects which of the two layouts the other side uses, by the sizes it states.

use super::{SP_Platform, SP_PlatformFns, SP_StreamExecutor, released};

/// The size of a struct without the padding after its last member, as in `TF_OFFSET_OF_END`.
macro_rules! offset_of_end {
    ($type:ty, $member:ident, $member_type:ty) => {
        std::mem::offset_of!($type, $member) + size_of::<$member_type>()
    };
}

/// The sizes that one side states to the other. For all other structs it is their `size_of`.
pub mod sizes {
    use std::ffi::c_void;

    use super::super::{SP_Allocator, TF_Bool, released};
    use super::SP_PlatformFns;

    /// `SP_ALLOCATOR_STRUCT_SIZE`.
    pub const ALLOCATOR: usize = offset_of_end!(SP_Allocator, supports_unified_memory, TF_Bool);
    /// `SP_PLATFORM_FNS_STRUCT_SIZE`, which ends before the allocators.
    pub const PLATFORM_FNS_MACRO: usize = offset_of_end!(SP_PlatformFns, destroy_timer_fns, *mut c_void);
    /// `SP_PLATFORM_STRUCT_SIZE` of the released layout.
    pub const RELEASED_PLATFORM: usize = offset_of_end!(released::SP_Platform, force_memory_growth, TF_Bool);
}

/// The layout of the structs that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The layout of the RFC.
    Rfc,
    /// The layout that TensorFlow released.
    Released,
}

impl Layout {
    /// Returns the layout of a side that stated these sizes of `SP_Platform` and `SP_PlatformFns`.
    ///
    /// The RFC's platform ends with a count after the two names. Its functions never end between
    /// `create_custom_allocator` and its counterpart, where the released ones do.
    pub fn of(platform: usize, platform_fns: usize) -> Self {
        let count = offset_of_end!(SP_Platform, visible_device_count, usize);
        let names = offset_of_end!(released::SP_Platform, r#type, *const u8);
        let flags_alone = platform > names && platform < count;
        if flags_alone || platform_fns == size_of::<released::SP_PlatformFns>() {
            Self::Released
        } else {
            Self::Rfc
        }
    }

    /// Returns the layout of a stream executor of this size, on a platform of this layout.
    /// Functions that fill memory came with later releases; until then the struct was the RFC's.
    pub fn of_stream_executor(self, size: usize) -> Self {
        if size == size_of::<SP_StreamExecutor>() { Self::Rfc } else { self }
    }

    /// Returns the offset of the flag for unified memory in a platform of this size, if there is
    /// one. In the accepted RFC it is the last member, after the count. A longer struct has
    /// something else there.
    pub(crate) fn unified_memory_flag(self, size: usize) -> Option<usize> {
        match self {
            Self::Rfc => {
                let flag = offset_of_end!(SP_Platform, visible_device_count, usize);
                let is_last =
                    size == flag + 1 || size == (flag + 1).next_multiple_of(align_of::<SP_Platform>());
                is_last.then_some(flag)
            }
            Self::Released => Some(std::mem::offset_of!(released::SP_Platform, supports_unified_memory)),
        }
    }

    /// Returns the name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rfc => "the RFC's layout",
            Self::Released => "TensorFlow's released layout",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_told_apart_by_size() {
        assert_eq!((sizes::PLATFORM_FNS_MACRO, size_of::<SP_PlatformFns>()), (64, 96));
        assert_eq!((sizes::RELEASED_PLATFORM, size_of::<released::SP_PlatformFns>()), (35, 88));
        for (platform, fns) in [(40, 64), (40, 96), (40, 80), (48, 96), (48, 120)] {
            assert_eq!(Layout::of(platform, fns), Layout::Rfc, "{platform} {fns}");
        }
        // The accepted RFC, with a flag after the count.
        assert_eq!((Layout::of(41, 64), Layout::of(48, 64)), (Layout::Rfc, Layout::Rfc));
        // Released versions: without the last flags, with more functions, with more members.
        for (platform, fns) in [(35, 88), (33, 88), (34, 72), (35, 96), (36, 104), (48, 88)] {
            assert_eq!(Layout::of(platform, fns), Layout::Released, "{platform} {fns}");
        }
    }

    #[test]
    fn releases_without_fills_have_the_rfc_s_stream_executor() {
        let (rfc, released) = (size_of::<SP_StreamExecutor>(), size_of::<released::SP_StreamExecutor>());
        assert_eq!(released - rfc, 3 * size_of::<usize>());
        for (layout, size, expected) in [
            (Layout::Released, rfc, Layout::Rfc),
            (Layout::Released, released, Layout::Released),
            (Layout::Released, released - 8, Layout::Released),
            (Layout::Released, released + 8, Layout::Released),
            (Layout::Rfc, rfc, Layout::Rfc),
            (Layout::Rfc, released, Layout::Rfc),
        ] {
            assert_eq!(layout.of_stream_executor(size), expected, "{layout:?} {size}");
        }
    }
}
