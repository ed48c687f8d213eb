//! [`HostBuffer`]: shared, aligned bytes on the host, with a check that keeps conflicting accesses
//! apart.
//!
//! Tensors are mutable and shared, and the chains of a program order their accesses. A forgotten
//! chain must cause an error, not undefined behaviour, so every safe access goes through a guard. A
//! buffer has any number of read guards or one write guard; otherwise the caller receives an
//! [`AccessError`] that names the holder. A guard costs one atomic operation when it is taken and
//! one when it is dropped. It never waits.
//!
//! A buffer is one block. It starts with a header of [`HEADER_SIZE`] bytes (a const assertion
//! checks that). If the buffer owns its bytes, they follow the header, so the allocator sees
//! `HEADER_SIZE + size` bytes. Other buffers consist of the header, which points into memory that
//! an owner keeps alive: a vector, a memory map, or another buffer.
//!
//! A `HostBuffer` knows neither element type nor shape, and never changes its size.
#![expect(unsafe_code, reason = "shared mutable bytes and a hand-counted reference are built here")]

mod access;
mod derived;

use std::alloc::Layout;
use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use bytemuck::Pod;

use crate::allocator::HostAllocator;
use crate::value_type;
pub use access::{Access, AccessError, ReadGuard, WriteGuard};
use access::{AccessState, bytes_mut};
use derived::Stamp;

/// The number of bytes before the data in a buffer's block, unless the alignment of the data is
/// larger.
pub const HEADER_SIZE: usize = 64;

/// The number of live buffers in this process. Only a statistic, hence relaxed.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The owner of the bytes, which frees them.
enum Memory {
    /// The bytes follow the header in its block, which came from this allocator.
    Inline(Arc<dyn HostAllocator>),
    /// The bytes are elsewhere, and this owner keeps them alive.
    External { _owner: Owner },
    /// A part of another buffer, whose access state guards this part too. That buffer is never
    /// itself a slice.
    Slice(HostBuffer),
}

/// A box that does not claim exclusive access to its contents, because the buffer's pointer may
/// lead there as well.
struct Owner(NonNull<dyn Any + Send + Sync>);

impl Owner {
    fn new(owner: Box<dyn Any + Send + Sync>) -> Self {
        Self(NonNull::from(Box::leak(owner)))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: `new` took the pointer out of a box, and only this line puts it back.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

struct Header {
    references: AtomicUsize,
    access: AccessState,
    data: *mut u8,
    size: usize,
    memory: Memory,
    align_log2: u8,
    writable: bool,
    /// The value computed from the bytes since they last changed.
    derived: Stamp,
}

/// The alignment of headers, and of data without a stricter one. It is the alignment of `malloc`.
const HEADER_ALIGN: usize = 16;
const _: () = assert!(size_of::<Header>() <= HEADER_SIZE && align_of::<Header>() <= HEADER_ALIGN);

/// Returns the layout of the block of a buffer with `size` bytes of its own, and the offset of the
/// bytes in it.
fn block_layout(size: usize, align: usize) -> Option<(Layout, usize)> {
    let align = align.max(HEADER_ALIGN);
    let offset = HEADER_SIZE.max(align);
    let layout = Layout::from_size_align(offset.checked_add(size)?, align).ok()?;
    Some((layout, offset))
}

/// Reference-counted bytes. Clones share them.
pub struct HostBuffer {
    header: NonNull<Header>,
}
value_type!(HostBuffer, "!ht.host_buffer");

// SAFETY: the reference count and the access state are atomic. The bytes are accessed through
// guards, which keep writers apart from all others, or through raw pointers, whose users promise
// the same. The rest of the header changes only while there is one handle, which is borrowed
// mutably, and its owner and allocator are `Send + Sync`.
unsafe impl Send for HostBuffer {}
// SAFETY: a shared handle gives no access beyond that of an owned one, and an owned handle may be
// sent.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Allocates `size` bytes that are zero and aligned to `align`, which must be a power of two.
    /// Returns `None` if memory is short or `size` and `align` describe no valid layout.
    pub fn allocate(size: usize, align: usize, allocator: &Arc<dyn HostAllocator>) -> Option<Self> {
        let (layout, offset) = block_layout(size, align)?;
        let block = allocator.allocate_zeroed(layout)?;
        // SAFETY: nobody else uses the block, it fits the layout, and all its bytes are
        // initialized.
        Some(unsafe { Self::from_block(block, offset, size, layout.align(), allocator.clone()) })
    }

    /// Allocates `size` bytes that are initialized to whatever is cheapest for the allocator. For
    /// callers that overwrite all of them. Builds with debug assertions fill the buffer with a
    /// pattern that is easy to notice (NaN in floating-point numbers). The arguments are those of
    /// [`HostBuffer::allocate`].
    pub fn allocate_unset(size: usize, align: usize, allocator: &Arc<dyn HostAllocator>) -> Option<Self> {
        let (layout, offset) = block_layout(size, align)?;
        let block = allocator.allocate_unset(layout)?;
        // SAFETY: nobody else uses the block, it fits the layout, and all its bytes are
        // initialized.
        let mut buffer = unsafe { Self::from_block(block, offset, size, layout.align(), allocator.clone()) };
        if cfg!(debug_assertions)
            && let Some(bytes) = buffer.get_mut()
        {
            bytes.fill(0xff);
        }
        Some(buffer)
    }

    /// Allocates `size` bytes that are not initialized. The arguments are those of
    /// [`HostBuffer::allocate`].
    ///
    /// # Safety
    /// Every byte is written through [`HostBuffer::as_ptr`] before it is read or a guard is taken.
    pub unsafe fn allocate_uninit(
        size: usize,
        align: usize,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Option<Self> {
        let (layout, offset) = block_layout(size, align)?;
        let block = allocator.allocate(layout)?;
        // SAFETY: nobody else uses the block, and it fits the layout. The caller promises to
        // initialize it before reading.
        Some(unsafe { Self::from_block(block, offset, size, layout.align(), allocator.clone()) })
    }

    /// Allocates a copy of `bytes`. Returns `None` in the cases of [`HostBuffer::allocate`].
    pub fn copy_from_slice(bytes: &[u8], align: usize, allocator: &Arc<dyn HostAllocator>) -> Option<Self> {
        // SAFETY: the next statement writes all bytes, before the buffer is returned.
        let buffer = unsafe { Self::allocate_uninit(bytes.len(), align, allocator)? };
        // SAFETY: the buffer has `bytes.len()` writable bytes that nobody else can access yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.as_ptr(), bytes.len()) };
        Some(buffer)
    }

    /// Wraps the elements without copying. The alignment is that of `T`.
    pub fn from_vec<T: Pod + Send + Sync>(mut elements: Vec<T>) -> Self {
        let data = elements.as_mut_ptr().cast::<u8>();
        let size = size_of_val(elements.as_slice());
        // SAFETY: the vector's heap block stays in place while the vector is owned and untouched.
        // Its first `size` bytes are initialized, because `Pod` has no padding, and any contents
        // are valid for `T`. Nobody else can access it.
        unsafe { Self::from_raw(data, size, true, Box::new(elements)) }
    }

    /// Wraps memory that `owner` lends for reading, such as a memory map. The buffer is read-only.
    pub fn from_readonly<O: AsRef<[u8]> + Send + Sync + 'static>(owner: O) -> Self {
        let concrete = NonNull::from(Box::leak(Box::new(owner)));
        let owner = Owner(concrete);
        // SAFETY: the owner was just leaked, and is freed only when it is dropped. The slice is
        // valid while the owner is borrowed. From here on nobody can change, move or drop the owner
        // before the buffer does. The bytes are never written.
        let bytes: &[u8] = unsafe { concrete.as_ref() }.as_ref();
        let (data, size) = (bytes.as_ptr().cast_mut(), bytes.len());
        Self::with_memory(data, size, false, Memory::External { _owner: owner })
    }

    /// Wraps memory that was allocated elsewhere and lives as long as `owner`.
    ///
    /// # Safety
    /// `data` points to `size` initialized bytes. They stay valid until `owner` is dropped, on any
    /// thread. Nobody changes them except through this buffer. If `writable`, nobody else reads
    /// them either.
    pub unsafe fn from_raw(
        data: *mut u8,
        size: usize,
        writable: bool,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::with_memory(data, size, writable, Memory::External { _owner: Owner::new(owner) })
    }

    /// Returns a buffer that shares the bytes `offset .. offset + size` of this one, or `None` if
    /// they are out of bounds. A guard of the part is a guard of the whole.
    pub fn slice(&self, offset: usize, size: usize) -> Option<Self> {
        if offset.checked_add(size)? > self.len() {
            return None;
        }
        // SAFETY: the offset is within the bytes, or one past their end.
        let data = unsafe { self.as_ptr().add(offset) };
        Some(Self::with_memory(data, size, self.is_writable(), Memory::Slice(self.root().clone())))
    }

    /// Creates the handle of a new buffer.
    ///
    /// # Safety
    /// `block` came from `allocator`, fits `block_layout(size, align)`, whose offset is `offset`,
    /// and now belongs to the buffer.
    unsafe fn from_block(
        block: NonNull<u8>,
        offset: usize,
        size: usize,
        align: usize,
        allocator: Arc<dyn HostAllocator>,
    ) -> Self {
        let header = block.cast::<Header>();
        // SAFETY: the block has at least `offset >= HEADER_SIZE` bytes and is aligned to at least
        // `HEADER_ALIGN`. The offset lies within it.
        unsafe {
            header.write(Header {
                references: AtomicUsize::new(1),
                access: AccessState::default(),
                data: block.as_ptr().add(offset),
                size,
                memory: Memory::Inline(allocator),
                align_log2: align.trailing_zeros() as u8,
                writable: true,
                derived: Stamp::default(),
            });
        }
        LIVE.fetch_add(1, Ordering::Relaxed);
        Self { header }
    }

    fn with_memory(data: *mut u8, size: usize, writable: bool, memory: Memory) -> Self {
        let header = Box::new(Header {
            references: AtomicUsize::new(1),
            access: AccessState::default(),
            data,
            size,
            memory,
            align_log2: 0,
            writable,
            derived: Stamp::default(),
        });
        LIVE.fetch_add(1, Ordering::Relaxed);
        Self { header: NonNull::from(Box::leak(header)) }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: this handle counts as one reference, so the header is alive. While it is borrowed
        // only its atomics change.
        unsafe { self.header.as_ref() }
    }

    /// Returns the buffer whose access state counts: this one, or the one that it is a slice of.
    #[inline]
    fn root(&self) -> &Self {
        match &self.header().memory {
            Memory::Slice(root) => root,
            Memory::Inline(_) | Memory::External { .. } => self,
        }
    }

    #[inline]
    fn access(&self) -> &AccessState {
        &self.root().header().access
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.header().size
    }

    /// Returns true if there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns false for read-only memory, such as a mapped file.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.header().writable
    }

    /// Returns the address of the first byte, for users who order their accesses by other means,
    /// such as device copies on a stream. They must ensure what a guard would check.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.header().data
    }

    /// Returns a number that identifies the guard. A buffer and its slices share the number, which
    /// stays valid as long as one of their handles lives.
    pub fn guard_id(&self) -> usize {
        self.root().header.as_ptr().addr()
    }

    /// Returns true if no other handle can access these bytes, so that an operation may reuse the
    /// buffer for its result.
    pub fn is_exclusive(&self) -> bool {
        // Acquire: the accesses through other handles happened before those were dropped.
        if self.header().references.load(Ordering::Acquire) != 1 {
            return false;
        }
        match &self.header().memory {
            Memory::Slice(root) => root.header().references.load(Ordering::Acquire) == 1,
            Memory::Inline(_) | Memory::External { .. } => true,
        }
    }

    /// Returns the bytes if they are writable and no other handle or guard can access them.
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        if !self.is_writable() || !self.is_exclusive() || !self.access().is_free() {
            return None;
        }
        self.root().header().derived.clear();
        // SAFETY: the only handle is borrowed mutably and no guard is alive, so nobody else can
        // access the bytes.
        Some(unsafe { bytes_mut(self.as_ptr(), self.len()) })
    }

    /// Takes a read guard, beside other readers. A later conflict names `accessor`, any number that
    /// the caller can map to a kernel's name.
    ///
    /// # Errors
    /// [`AccessError`] if there is a write guard.
    #[inline]
    pub fn read(&self, accessor: u32) -> Result<ReadGuard<&Self>, AccessError> {
        ReadGuard::new(self, accessor)
    }

    /// Takes a read guard that keeps the buffer alive; see [`HostBuffer::read`].
    ///
    /// # Errors
    /// [`AccessError`] if there is a write guard.
    pub fn read_owned(&self, accessor: u32) -> Result<ReadGuard<Self>, AccessError> {
        ReadGuard::new(self.clone(), accessor)
    }

    /// Takes the write guard; see [`HostBuffer::read`] for `accessor`.
    ///
    /// # Errors
    /// [`AccessError`] if there is another guard, or if the memory is read-only.
    #[inline]
    pub fn write(&self, accessor: u32) -> Result<WriteGuard<&Self>, AccessError> {
        WriteGuard::new(self, accessor)
    }

    /// Takes the write guard, and keeps the buffer alive with it; see [`HostBuffer::write`].
    ///
    /// # Errors
    /// [`AccessError`] if there is another guard, or if the memory is read-only.
    pub fn write_owned(&self, accessor: u32) -> Result<WriteGuard<Self>, AccessError> {
        WriteGuard::new(self.clone(), accessor)
    }

    /// Returns the number of live buffers in this process, including slices.
    pub fn live_count() -> usize {
        LIVE.load(Ordering::Relaxed)
    }

    /// Frees the buffer. The handle that decreased the count to zero calls it.
    #[cold]
    fn destroy(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        self.header().derived.clear();
        let header = self.header.as_ptr();
        // SAFETY: only this handle is left, and it is being dropped.
        let inline = unsafe { matches!((*header).memory, Memory::Inline(_)) };
        if !inline {
            // SAFETY: `with_memory` made this header from a box.
            drop(unsafe { Box::from_raw(header) });
            return;
        }
        // SAFETY: this handle is the last, so nobody else can access the header. It is moved out
        // once, and its memory is freed below.
        let header = ManuallyDrop::into_inner(unsafe { self.header.cast::<ManuallyDrop<Header>>().read() });
        // The same arguments returned a layout when the block was allocated.
        let Some((layout, _)) = block_layout(header.size, 1 << header.align_log2) else { return };
        let Memory::Inline(allocator) = header.memory else { return };
        // SAFETY: the block came from this allocator with this layout, and nobody uses it any more.
        unsafe { allocator.deallocate(self.header.cast(), layout) };
    }
}

impl Clone for HostBuffer {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: a new handle is cloned from one that is alive.
        let before = self.header().references.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // Only a loop that leaks handles gets here. A wrapped count would free memory in use.
            std::process::abort();
        }
        Self { header: self.header }
    }
}

impl Drop for HostBuffer {
    #[inline]
    fn drop(&mut self) {
        // Release: the accesses through this handle happen before the last one frees the memory.
        if self.header().references.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            self.destroy();
        }
    }
}

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostBuffer<pointer={:p}, size={}>", self.as_ptr(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::allocator::{FailingAllocator, LeakCheckAllocator, SystemAllocator};

    fn checked() -> Arc<dyn HostAllocator> {
        Arc::new(LeakCheckAllocator::new(SystemAllocator))
    }

    fn live(allocator: &Arc<dyn HostAllocator>) -> u64 {
        allocator.report().unwrap().bytes_current
    }

    #[test]
    fn a_reader_alone_becomes_the_writer() {
        let allocator = checked();
        let buffer = HostBuffer::allocate(8, 8, &allocator).unwrap();
        let part = buffer.slice(0, 4).unwrap();
        assert_eq!(part.guard_id(), buffer.guard_id());
        assert_ne!(HostBuffer::allocate(8, 8, &allocator).unwrap().guard_id(), buffer.guard_id());
        let (first, second) = (buffer.read_owned(1).unwrap(), part.read_owned(2).unwrap());
        let (first, error) = first.into_write(3).unwrap_err();
        assert_eq!(error, AccessError::Conflict { holder: 2, held: Access::Read });
        assert!(buffer.write(4).is_err(), "the reader is still there");
        drop(second);
        let mut writer = first.into_write(5).unwrap();
        writer[0] = 7;
        assert_eq!(buffer.read(6).map(drop), Err(AccessError::Conflict { holder: 5, held: Access::Write }));
        drop(writer);
        assert_eq!(buffer.read(6).unwrap()[0], 7);
        let fixed = HostBuffer::from_readonly(vec![1u8]);
        assert_eq!(fixed.read_owned(1).unwrap().into_write(2).unwrap_err().1, AccessError::ReadOnly);
        drop((buffer, part));
        assert_eq!(live(&allocator), 0);
    }

    #[test]
    fn allocates_aligned_zeroed_memory_and_gives_it_back() {
        let allocator = checked();
        for (size, align) in [(0, 1), (1, 1), (128, 4), (100, 64), (4096, 4096), (3, 256)] {
            let buffer = HostBuffer::allocate(size, align, &allocator).unwrap();
            assert_eq!((buffer.len(), buffer.is_empty()), (size, size == 0));
            assert_eq!(buffer.as_ptr() as usize % align.max(HEADER_ALIGN), 0);
            assert_eq!(live(&allocator), (size + HEADER_SIZE.max(align)) as u64);
            assert!(buffer.read(0).unwrap().iter().all(|&b| b == 0));
            drop(buffer);
            assert_eq!(live(&allocator), 0);
        }
    }

    #[test]
    fn impossible_requests_and_exhausted_memory_give_none() {
        let allocator = checked();
        assert!(HostBuffer::allocate(usize::MAX, 8, &allocator).is_none());
        assert!(HostBuffer::allocate(isize::MAX as usize - 40, 8, &allocator).is_none());
        assert!(HostBuffer::allocate(8, 48, &allocator).is_none(), "48 is no power of two");
        let failing: Arc<dyn HostAllocator> = Arc::new(FailingAllocator::new(1, SystemAllocator));
        assert!(HostBuffer::allocate(8, 8, &failing).is_none());
        assert!(HostBuffer::allocate(8, 8, &failing).is_some());
    }

    #[test]
    fn clones_share_and_know_when_they_are_alone() {
        let allocator = checked();
        let mut a = HostBuffer::copy_from_slice(b"bytes", 1, &allocator).unwrap();
        let b = a.clone();
        assert!(!a.is_exclusive() && a.get_mut().is_none());
        b.write(0).unwrap()[0] = b'B';
        assert_eq!(&*a.read(0).unwrap(), b"Bytes");
        drop(b);
        assert!(a.is_exclusive());
        a.get_mut().unwrap()[1] = b'Y';
        assert_eq!(&*a.read(0).unwrap(), b"BYtes");
    }

    #[test]
    fn vectors_and_readonly_owners_are_not_copied() {
        let vector = vec![1.0f32, 2.0];
        let address = vector.as_ptr() as usize;
        let buffer = HostBuffer::from_vec(vector);
        assert_eq!((buffer.as_ptr() as usize, buffer.len()), (address, 8));
        buffer.write(0).unwrap()[..4].copy_from_slice(&5f32.to_ne_bytes());
        assert_eq!(&buffer.read(0).unwrap()[..4], &5f32.to_ne_bytes());
        assert!(HostBuffer::from_vec(Vec::<u64>::new()).read(0).unwrap().is_empty());

        let owner = Arc::new([1u8, 2, 3]);
        struct Shared(Arc<[u8; 3]>);
        impl AsRef<[u8]> for Shared {
            fn as_ref(&self) -> &[u8] {
                &*self.0
            }
        }
        let mut buffer = HostBuffer::from_readonly(Shared(owner.clone()));
        assert_eq!(&*buffer.read(0).unwrap(), &[1, 2, 3]);
        assert_eq!(buffer.write(0).unwrap_err(), AccessError::ReadOnly);
        assert!(buffer.get_mut().is_none());
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(buffer);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn conflicting_guards_name_the_holder() {
        let buffer = HostBuffer::from_vec(vec![0u8; 4]);
        let first = buffer.read(7).unwrap();
        let second = buffer.read_owned(8).unwrap();
        assert_eq!(buffer.write(9).unwrap_err(), AccessError::Conflict { holder: 8, held: Access::Read });
        drop((first, second));
        let writer = buffer.write_owned(9).unwrap();
        let conflict = AccessError::Conflict { holder: 9, held: Access::Write };
        assert_eq!(buffer.read(7).unwrap_err(), conflict);
        assert_eq!(buffer.write(7).unwrap_err(), conflict);
        drop(writer);
        assert!(buffer.write(7).is_ok());
    }

    #[test]
    fn slices_share_bytes_guard_and_lifetime() {
        let allocator = checked();
        let buffer = HostBuffer::copy_from_slice(b"0123456789", 1, &allocator).unwrap();
        let mut slice = buffer.slice(2, 6).unwrap().slice(1, 3).unwrap();
        assert_eq!(&*slice.read(0).unwrap(), b"345");
        let guard = slice.write(3).unwrap();
        assert_eq!(buffer.read(0).unwrap_err(), AccessError::Conflict { holder: 3, held: Access::Write });
        drop(guard);
        assert!(!slice.is_exclusive());
        drop(buffer);
        assert!(slice.is_exclusive());
        slice.get_mut().unwrap()[0] = b'x';
        assert_eq!(&*slice.read(0).unwrap(), b"x45");
        for (offset, size) in [(0, 4), (4, 0), (3, 1), (usize::MAX, 2)] {
            assert!(slice.slice(offset, size).is_none(), "{offset} {size}");
        }
        assert!(slice.slice(3, 0).unwrap().is_empty());
        drop(slice);
        assert_eq!(live(&allocator), 0);
    }

    #[test]
    fn threads_never_write_at_once() {
        /// Fewer under Miri, which is a thousand times slower.
        const WRITES: usize = if cfg!(miri) { 20 } else { 2000 };
        let buffer = HostBuffer::from_vec(vec![0u64]);
        let written = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for id in 0..4 {
                let (buffer, written) = (buffer.clone(), &written);
                scope.spawn(move || {
                    for _ in 0..WRITES {
                        if let Ok(mut bytes) = buffer.write(id) {
                            let count = u64::from_ne_bytes((&*bytes).try_into().unwrap());
                            bytes.copy_from_slice(&(count + 1).to_ne_bytes());
                            written.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let count = u64::from_ne_bytes((&*buffer.read(0).unwrap()).try_into().unwrap());
        assert_eq!(count, written.into_inner());
    }
}
