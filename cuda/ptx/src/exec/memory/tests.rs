//! What memory does: allocations, registrations, copies.

use super::*;

#[test]
fn allocations_hold_what_is_written_and_know_their_bounds() {
    let memory = Memory::new();
    let a = memory.allocate(8).unwrap();
    let b = memory.allocate_labelled(16, "b").unwrap();
    assert_eq!(a % 256, 0);
    assert!(b > a + GUARD_BYTES);
    memory.write(a, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let mut middle = [0; 4];
    memory.read(a + 2, &mut middle).unwrap();
    assert_eq!(middle, [3, 4, 5, 6]);
    let error = memory.write(b + 12, &[0; 5]).unwrap_err();
    assert!(error.to_string().contains("12 bytes into b of 16 bytes"), "{error}");
    assert!(memory.read(a + 8, &mut [0]).is_err());
    memory.read(a + 8, &mut []).unwrap();
}

#[test]
fn frees_are_remembered() {
    let memory = Memory::new();
    let a = memory.allocate_labelled(64, "weights").unwrap();
    memory.free(a).unwrap();
    assert_eq!(memory.free(a), Err(MemoryError::NotAllocated { address: a }));
    let error = memory.read(a + 4, &mut [0]).unwrap_err().to_string();
    assert!(error.contains("4 bytes into weights of 64 bytes") && error.contains("was freed"), "{error}");
}

#[test]
fn registered_storage_is_the_callers() {
    let memory = Memory::new();
    let mut storage = [7u64; 4];
    let pointer = storage.as_mut_ptr().cast::<u8>();
    let address = 0x4000_0000 + pointer.addr() as u64 % 16;
    // SAFETY: the storage outlives the registration and is not touched meanwhile.
    unsafe {
        memory.register(address, pointer, 32, "storage", Arc::new(())).unwrap();
        assert!(memory.register(address + 16, pointer, 32, "twice", Arc::new(())).is_err());
        assert!(memory.register(address + 65, pointer, 32, "misaligned", Arc::new(())).is_err());
        assert!(memory.register(0, pointer, 32, "null", Arc::new(())).is_err());
    }
    memory.write(address + 8, &9u64.to_le_bytes()).unwrap();
    memory.free(address).unwrap();
    assert_eq!(storage, [7, 9, 7, 7]);
}

#[test]
fn registered_storage_outlives_its_registration_while_somebody_may_use_it() {
    let memory = Memory::new();
    let owner = Arc::new([AtomicU64::new(1), AtomicU64::new(2)]);
    let (pointer, gone) = (owner[0].as_ptr().cast::<u8>(), Arc::downgrade(&owner));
    let address = 0x5000_0000 + pointer.addr() as u64 % 16;
    // SAFETY: the storage is the owner's, and made of atomics.
    unsafe { memory.register(address, pointer, 16, "storage", owner).unwrap() };
    // As a launch and a copy have it.
    let (launch, copy) = (memory.snapshot(), memory.hold(address + 8, 8).unwrap());
    memory.free(address).unwrap();
    assert!(memory.read(address, &mut [0]).is_err());
    drop(launch);
    assert!(gone.upgrade().is_some());
    drop(copy);
    assert!(gone.upgrade().is_none());
}

#[test]
fn ranges_are_copied_and_filled_at_any_alignment() {
    let memory = Memory::new();
    let text: Vec<u8> = (0..2000u32).map(|i| (i % 251) as u8).collect();
    let a = memory.allocate_from(&text).unwrap();
    for (to, from, bytes) in [(3, 500, 700), (500, 3, 700), (100, 107, 1500), (107, 100, 1500), (9, 8, 5)] {
        let mut expected = text.clone();
        expected.copy_within(from..from + bytes, to);
        memory.write(a, &text).unwrap();
        memory.copy(a + to as u64, a + from as u64, bytes as u64).unwrap();
        let mut found = vec![0; text.len()];
        memory.read(a, &mut found).unwrap();
        assert_eq!(found, expected, "{bytes} bytes from {from} to {to}");
    }
    memory.fill(a + 6, &[1, 2], 300).unwrap();
    memory.fill(a + 1000, &[7], 3).unwrap();
    memory.fill(a + 1004, &[1, 2, 3, 4], 200).unwrap();
    let mut found = vec![0; 810];
    memory.read(a, &mut found[..610]).unwrap();
    assert_eq!(found[6..606], [1, 2].repeat(300));
    memory.read(a + 1000, &mut found).unwrap();
    assert_eq!((&found[..3], &found[4..804]), (&[7; 3][..], &[1, 2, 3, 4].repeat(200)[..]));
    assert!(memory.fill(a, &[0; 4], 501).is_err() && memory.copy(a, a + 1, 2000).is_err());
}

#[test]
fn absurd_sizes_are_an_error() {
    assert!(Memory::new().allocate(u64::MAX).is_err());
    assert!(Memory::new().allocate(1 << 62).is_err());
    assert_ne!(Memory::new().allocate(0).unwrap(), 0);
}
