//! The allocator over a simulated device with memory in segments or in pages.

mod properties;
mod simulated;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;
use simulated::Simulated;

const MIB: u64 = 1 << 20;

fn request<'a>(stream: &'a u32, bytes: u64, label: &'static str) -> Request<'a, u32> {
    Request { stream, bytes, origin: Origin::label(label) }
}

fn allocator(limit: u64) -> (Arc<Simulated>, Arc<CachingAllocator<Simulated>>) {
    let device = Arc::new(Simulated::new(limit));
    (device.clone(), CachingAllocator::new(device, Options::default()))
}

fn get(allocator: &CachingAllocator<Simulated>, stream: u32, bytes: u64) -> Allocation {
    let allocation = allocator.allocate(request(&stream, bytes, "test")).unwrap();
    allocator.backing().granted(&allocation);
    allocation
}

#[test]
fn a_stream_reuses_its_memory_at_once_and_without_fences() {
    let (device, allocator) = allocator(u64::MAX);
    let a = get(&allocator, 0, 1000);
    let address = a.address();
    device.queue_use(0, &a);
    allocator.free(a).unwrap();
    let b = get(&allocator, 0, 900);
    assert_eq!(b.address(), address);
    assert_eq!((device.records(), device.waits()), (0, 0));
    allocator.free(b).unwrap();
}

#[test]
fn another_stream_gets_memory_of_its_own_while_the_first_is_busy() {
    let (device, allocator) = allocator(u64::MAX);
    let a = get(&allocator, 0, 2 * MIB);
    device.queue_use(0, &a);
    let address = a.address();
    allocator.free(a).unwrap();
    let b = get(&allocator, 1, 2 * MIB);
    assert_ne!(b.address(), address);
    device.run_all();
    let c = get(&allocator, 2, 2 * MIB);
    assert_eq!(c.address(), address, "the first stream is done");
    assert_eq!(device.waits(), 0);
}

#[test]
fn when_memory_is_short_the_stream_waits_and_not_the_host() {
    let (device, allocator) = allocator(2 * MIB);
    let a = get(&allocator, 0, 2 * MIB);
    device.queue_use(0, &a);
    let address = a.address();
    allocator.free(a).unwrap();
    let b = get(&allocator, 1, MIB);
    device.queue_use(1, &b);
    assert_eq!((b.address(), device.waits()), (address, 1));
    // Stream 1 need not wait again for what it already waited for.
    let c = get(&allocator, 1, MIB);
    assert_eq!((c.address(), device.waits()), (address + MIB, 1));
    assert!(!device.step(1), "stream 1 waits for stream 0");
    device.run_all();
}

#[test]
fn a_block_is_kept_from_its_own_stream_while_others_use_it() {
    let (device, allocator) = allocator(u64::MAX);
    let a = get(&allocator, 0, 4 * MIB);
    allocator.record_use(&a, &1).unwrap();
    device.queue_use(1, &a);
    let address = a.address();
    allocator.free(a).unwrap();
    let b = get(&allocator, 0, 4 * MIB);
    assert_ne!(b.address(), address);
    device.run_all();
    let c = get(&allocator, 0, 4 * MIB);
    assert_eq!(c.address(), address);
}

#[test]
fn cached_segments_of_the_wrong_size_are_returned_before_memory_is_out() {
    let (device, allocator) = allocator(8 * MIB);
    let small: Vec<_> = (0..4).map(|_| get(&allocator, 0, 2 * MIB)).collect();
    for a in small {
        device.queue_use(0, &a);
        allocator.free(a).unwrap();
    }
    // The host has to wait for the segments, but the caller does not.
    let granted = Arc::new(Mutex::new(vec![]));
    for (i, bytes) in [(1, 6 * MIB), (2, 2 * MIB)] {
        let granted = granted.clone();
        allocator.allocate_with(request(&1, bytes, "big"), move |a| granted.lock().push((i, a.unwrap())));
    }
    assert!(granted.lock().is_empty());
    device.run_all();
    let granted: Vec<_> = granted.lock().drain(..).collect();
    assert_eq!(
        granted.iter().map(|(i, a)| (*i, a.bytes())).collect::<Vec<_>>(),
        [(1, 6 * MIB), (2, 2 * MIB)]
    );
    assert_eq!(allocator.statistics().bytes_reserved, 8 * MIB);
}

/// Nothing is reported, but a caller that asks again and waits receives the memory.
#[test]
fn unavailable_memory_is_granted_later() {
    let (device, allocator) = allocator(8 * MIB);
    let small: Vec<_> = (0..4).map(|_| get(&allocator, 0, 2 * MIB)).collect();
    for a in small {
        device.queue_use(0, &a);
        allocator.free(a).unwrap();
    }
    assert!(allocator.try_allocate(request(&1, 6 * MIB, "now")).is_none());
    let (tell, told) = std::sync::mpsc::channel();
    allocator.allocate_with(request(&1, 6 * MIB, "big"), move |granted| tell.send(granted.unwrap()).unwrap());
    assert!(told.try_recv().is_err());
    device.run_all();
    let granted = told.try_recv().unwrap();
    assert_eq!(granted.bytes(), 6 * MIB);
    allocator.free(granted).unwrap();
    let again = allocator.try_allocate(request(&1, 6 * MIB, "now")).unwrap().unwrap();
    assert_eq!(again.bytes(), 6 * MIB);
}

#[test]
fn out_of_memory_says_who_holds_what() {
    let (_, allocator) = allocator(8 * MIB);
    let a = allocator.allocate(request(&0, 5 * MIB, "weights")).unwrap();
    let b = allocator.allocate(request(&0, MIB / 2, "activations")).unwrap();
    let error = allocator.allocate(request(&0, 4 * MIB, "gradients")).unwrap_err();
    assert_eq!(error.code, ErrorCode::OutOfMemory);
    let text = error.to_string();
    for part in
        ["(4.0 MiB) requested by gradients", "5.0 MiB       1  weights", "512.0 KiB       1  activations"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    allocator.free(a).unwrap();
    let c = allocator.allocate(request(&0, 4 * MIB, "gradients")).unwrap();
    allocator.free(b).unwrap();
    allocator.free(c).unwrap();
}

/// Memory that arrived between the device's refusal and the wait for more is noticed, even though
/// more is on its way.
#[test]
fn memory_that_arrives_before_the_wait_is_used() {
    let device = Arc::new(Simulated::new(MIB).with_prompt_libraries(MIB));
    let allocator = CachingAllocator::new(device, Options::default());
    let (tell, told) = std::sync::mpsc::channel();
    allocator.allocate_with(request(&0, 2 * MIB, "all"), move |granted| tell.send(granted.is_ok()).unwrap());
    assert_eq!(told.try_recv(), Ok(true));
}

/// Regardless of how much the libraries allocate and release meanwhile.
#[test]
fn a_request_waits_once_for_what_libraries_give_back() {
    wait_for_libraries(Simulated::new(8 * MIB));
    wait_for_libraries(Simulated::with_pages(8 * MIB));
}

fn wait_for_libraries(device: Simulated) {
    let device = Arc::new(device.with_libraries());
    let allocator = CachingAllocator::new(device.clone(), Options::default());
    let held = allocator.allocate(request(&0, 6 * MIB, "weights")).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let ask = |bytes| {
        let told = told.clone();
        allocator.allocate_with(request(&0, bytes, "more"), move |outcome| {
            told.lock().push(outcome.map(drop).map_err(|error| error.code));
        });
    };
    // More than the device has: nothing is requested from the libraries.
    ask(9 * MIB);
    assert_eq!(
        (device.trims(), told.lock().drain(..).collect::<Vec<_>>()),
        (0, vec![Err(ErrorCode::OutOfMemory)])
    );
    ask(4 * MIB);
    assert_eq!((device.trims(), told.lock().len()), (1, 0));
    device.give_back();
    assert_eq!(
        (device.trims(), told.lock().drain(..).collect::<Vec<_>>()),
        (1, vec![Err(ErrorCode::OutOfMemory)])
    );
    // The next request starts anew.
    ask(4 * MIB);
    assert_eq!((device.trims(), told.lock().len()), (2, 0));
    allocator.free(held).unwrap();
    assert_eq!(*told.lock(), [Ok(())]);
}

#[test]
fn impossible_sizes_are_out_of_memory() {
    let (_, allocator) = allocator(8 * MIB);
    for bytes in [u64::MAX, u64::MAX - 511, u64::MAX / 2, 1 << 62] {
        assert_eq!(allocator.allocate(request(&0, bytes, "huge")).unwrap_err().code, ErrorCode::OutOfMemory);
    }
    let limited = CachingAllocator::new(
        Arc::new(Simulated::new(u64::MAX)),
        Options { bytes_limit: Some(3 * MIB), ..Options::default() },
    );
    let a = limited.allocate(request(&0, 3 * MIB, "")).unwrap();
    let error = limited.allocate(request(&0, 1, "")).unwrap_err();
    assert!(error.message.contains("limit 3.0 MiB"), "{error}");
    limited.free(a).unwrap();
}

#[test]
fn a_handle_is_good_once_and_for_its_own_allocator() {
    let (_, allocator) = allocator(8 * MIB);
    let (_, other) = self::allocator(8 * MIB);
    let a = get(&allocator, 0, 1);
    let copy = Allocation { ..a };
    let of_other = get(&other, 0, 1);
    assert_eq!(allocator.free(of_other).unwrap_err().code, ErrorCode::InvalidArgument);
    allocator.free(a).unwrap();
    assert_eq!(allocator.free(copy).unwrap_err().code, ErrorCode::InvalidArgument);
}

#[test]
fn forgotten_streams_leave_their_memory_to_others() {
    let (device, allocator) = allocator(4 * MIB);
    let (a, b) = (get(&allocator, 7, 2 * MIB), get(&allocator, 7, 2 * MIB));
    device.queue_use(7, &a);
    device.queue_use(7, &b);
    let addresses = [a.address(), b.address()];
    allocator.free(a).unwrap();
    allocator.forget_stream(&7).unwrap();
    // It was still live when its stream was dropped.
    allocator.free(b).unwrap();
    let c = get(&allocator, 1, 2 * MIB);
    assert!(addresses.contains(&c.address()) && device.waits() == 1);
    device.run_all();
    // The name may be reused for another stream.
    let d = get(&allocator, 7, 2 * MIB);
    assert_eq!(device.waits(), 1);
    allocator.free(c).unwrap();
    allocator.free(d).unwrap();
}

#[test]
fn clearing_the_cache_gives_everything_back() {
    let (device, allocator) = allocator(64 * MIB);
    let kept = get(&allocator, 0, 100);
    let others: Vec<_> = (0..6).map(|i| get(&allocator, i % 3, 3 * MIB)).collect();
    for a in others {
        allocator.record_use(&a, &2).unwrap();
        allocator.free(a).unwrap();
    }
    assert_eq!(allocator.clear_cache().unwrap(), device.reserved_max() - 2 * MIB);
    assert_eq!(allocator.statistics().bytes_reserved, 2 * MIB);
    allocator.free(kept).unwrap();
    drop(allocator);
    assert_eq!(device.reserved(), 0);
}

#[test]
fn memory_outlives_work_that_no_fence_can_mark() {
    for is_forgotten in [false, true] {
        let (device, allocator) = allocator(8 * MIB);
        let a = get(&allocator, 3, MIB);
        device.queue_use(3, &a);
        allocator.free(a).unwrap();
        // The next call, which records the fence, fails.
        device.fail(device.calls() + 1, device.calls() + 2);
        if is_forgotten {
            assert_eq!(allocator.forget_stream(&3).unwrap_err().code, ErrorCode::DeviceLost);
        }
        // The device checks that nothing uses what is freed.
        drop(allocator);
        assert_eq!((device.records(), device.reserved()), (0, 0));
    }
}

#[test]
fn recordings_tell_the_story() {
    let (_, allocator) = allocator(8 * MIB);
    allocator.start_recording();
    let a = allocator.allocate(request(&3, 100, "x")).unwrap();
    let address = a.address();
    allocator.free(a).unwrap();
    allocator.clear_cache().unwrap();
    let kinds: Vec<_> = allocator.take_recording().events.into_iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [
            EventKind::Reserved { address, bytes: 2 * MIB },
            EventKind::Granted { serial: 1, address, bytes: 100, stream: 0, origin: Origin::label("x") },
            EventKind::Freed { serial: 1 },
            EventKind::Released { address, bytes: 2 * MIB },
        ]
    );
    assert!(allocator.take_recording().events.is_empty());
}

#[test]
fn pages_of_free_blocks_make_a_block_that_none_of_them_holds() {
    let device = Arc::new(Simulated::with_pages(32 * MIB));
    let allocator = CachingAllocator::new(device.clone(), Options::default());
    let mut held: Vec<_> = (0..8).map(|_| get(&allocator, 0, 4 * MIB)).collect();
    for i in [6, 4, 2, 0] {
        device.queue_use(0, &held[i]);
        allocator.free(held.remove(i)).unwrap();
    }
    // Four holes of 4 MiB each, and the device has no more.
    let large = get(&allocator, 1, 16 * MIB);
    device.queue_use(1, &large);
    assert_eq!(
        (device.maps(), device.waits()),
        (16 + 8, 1),
        "the stream waits for the pages' last user, once"
    );
    assert_eq!(allocator.statistics().bytes_reserved, 32 * MIB);
    assert_eq!(allocator.allocate(request(&0, 1, "too much")).unwrap_err().code, ErrorCode::OutOfMemory);
    device.run_all();
    // The rest of the old segments is still in use. The new one is returned to the device page by
    // page.
    allocator.free(large).unwrap();
    assert_eq!(allocator.clear_cache().unwrap(), 16 * MIB);
    held.into_iter().for_each(|a| allocator.free(a).unwrap());
    drop(allocator);
    assert!(device.is_clean());
}

#[test]
fn a_stream_takes_pages_of_its_own_without_waiting() {
    let device = Arc::new(Simulated::with_pages(16 * MIB));
    let allocator = CachingAllocator::new(device.clone(), Options::default());
    let [a, b, c] = [4, 2, 6].map(|mib| get(&allocator, 0, mib * MIB));
    for x in [a, c] {
        device.queue_use(0, &x);
        allocator.free(x).unwrap();
    }
    // 4 + 6 MiB are free, with two between; 4 more are available.
    let d = get(&allocator, 0, 12 * MIB);
    device.queue_use(0, &d);
    assert_eq!((device.waits(), allocator.statistics().bytes_reserved), (0, 14 * MIB));
    device.run_all();
    allocator.free(b).unwrap();
    allocator.free(d).unwrap();
}

#[test]
fn threads_share_an_allocator() {
    const THREADS: u32 = 4;
    let (device, allocator) = allocator(64 * MIB);
    let running = Arc::new(AtomicUsize::new(THREADS as usize));
    let workers: Vec<_> = (0..THREADS)
        .map(|stream| {
            let (device, allocator, running) = (device.clone(), allocator.clone(), running.clone());
            thread::spawn(move || {
                let mut held = VecDeque::new();
                for i in 0..300u64 {
                    // Together they request more than there is, but no thread holds memory that
                    // another waits for.
                    let a = get(&allocator, stream, (i * 7919 % 2000) * 1024);
                    device.queue_use(stream, &a);
                    held.push_back(a);
                    if held.len() > 4 {
                        allocator.free(held.pop_front().unwrap()).unwrap();
                    }
                }
                held.into_iter().for_each(|a| allocator.free(a).unwrap());
                running.fetch_sub(1, Ordering::Release);
            })
        })
        .collect();
    while running.load(Ordering::Acquire) > 0 {
        for stream in 0..THREADS {
            device.step(stream);
        }
        thread::yield_now();
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    device.run_all();
    properties::check(&allocator);
    assert_eq!(allocator.statistics().bytes_in_use, 0);
    assert_eq!(
        allocator.clear_cache().unwrap(),
        device.reserved_max().min(allocator.statistics().peak_bytes_reserved)
    );
}

#[test]
fn all_comes_back_however_many_fences_are_outstanding() {
    let (device, allocator) = allocator(u64::MAX);
    let mut held = Vec::new();
    for _ in 0..if cfg!(miri) { 20 } else { 200 } {
        let a = get(&allocator, 0, MIB);
        device.queue_use(0, &a);
        allocator.free(a).unwrap();
        // Only the first stream has free memory. Its progress must be queried each time.
        held.push(get(&allocator, 1, 2 * MIB));
    }
    assert!(device.records() > 10, "{}", device.records());
    held.into_iter().for_each(|a| allocator.free(a).unwrap());
    let reserved = device.reserved();
    assert_eq!((allocator.clear_cache().unwrap(), device.reserved()), (reserved, 0));
}
