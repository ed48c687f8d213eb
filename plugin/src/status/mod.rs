//! `TF_Status`: how a plug-in reports whether a call succeeded.
//!
//! A plug-in receives a number in the form of a pointer. It encodes the place of a slot in a table
//! and how often the slot was handed out. So a plug-in that keeps the number beyond its call,
//! deletes it twice or invents one has no effect and does no harm. The memory of slots is never
//! freed.
//!
//! The functions are in a small library that is loaded before the first plug-in (`provide`).

#![expect(
    unsafe_code,
    reason = "C strings that come from plug-ins, and the library that plug-ins are linked with"
)]

mod code;
mod provide;

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use parking_lot::Mutex;

pub use code::Code;
pub(crate) use provide::provide;

/// The target of a pointer to a status, which is never accessed.
#[repr(C)]
#[derive(Debug)]
pub struct TF_Status {
    _opaque: [u8; 0],
}

/// A function that receives the payloads of a status.
pub(crate) type PayloadVisitor = unsafe extern "C-unwind" fn(*const c_char, *const c_char, *mut c_void);

/// The memory of a status.
struct Slot {
    /// Incremented when the slot is handed out and when it is returned, so it is odd while in use.
    turn: AtomicU32,
    code: AtomicI32,
    /// Whether a plug-in created the status and so may delete it.
    is_plugins: AtomicBool,
    text: Mutex<Text>,
}

struct Text {
    message: Option<CString>,
    payloads: Vec<(CString, CString)>,
}

const CHUNK: usize = 256;
const CHUNKS: usize = 1024;
static TABLE: [OnceLock<Box<[Slot; CHUNK]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];

/// The places of slots.
struct Places {
    /// The unused places.
    free: Vec<u32>,
    /// The number of places created so far.
    made: u32,
}

static PLACES: Mutex<Places> = Mutex::new(Places { free: Vec::new(), made: 0 });

/// Returns the slot at this place, if it was created.
fn slot(place: u32) -> Option<&'static Slot> {
    let chunk = TABLE.get(place as usize / CHUNK)?.get()?;
    chunk.get(place as usize % CHUNK)
}

/// Takes an unused place. Returns `None` if the maximum number is in use.
fn take_place() -> Option<u32> {
    let mut places = PLACES.lock();
    if let Some(place) = places.free.pop() {
        return Some(place);
    }
    let place = places.made;
    TABLE.get(place as usize / CHUNK)?.get_or_init(|| {
        let empty = || Slot {
            turn: AtomicU32::new(0),
            code: AtomicI32::new(0),
            is_plugins: AtomicBool::new(false),
            text: Mutex::new(Text { message: None, payloads: Vec::new() }),
        };
        Box::new(std::array::from_fn(|_| empty()))
    });
    places.made += 1;
    Some(place)
}

fn give_place(place: u32) {
    PLACES.lock().free.push(place);
}

/// The slot that a thread keeps for its calls.
struct Kept(Cell<Option<u32>>);

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(give_place);
    }
}

thread_local! {
    static KEPT: Kept = const { Kept(Cell::new(None)) };
}

/// Returns the number for a slot that was handed out at this turn.
fn token(place: u32, turn: u32) -> *mut TF_Status {
    let number = (u64::from(place) + 1) << 32 | u64::from(turn);
    std::ptr::without_provenance_mut(number as usize)
}

/// Returns the slot of a number, if it is still handed out at that turn.
fn find(status: *const TF_Status) -> Option<(u32, &'static Slot)> {
    let number = status.addr() as u64;
    let place = u32::try_from((number >> 32).checked_sub(1)?).ok()?;
    let slot = slot(place)?;
    let turn = slot.turn.load(Ordering::Acquire);
    (turn == number as u32 && turn % 2 == 1).then_some((place, slot))
}

/// A failure that a plug-in reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

/// The status of one call.
pub(crate) struct CallStatus {
    place: Option<u32>,
    slot: Option<&'static Slot>,
    turn: u32,
}

impl CallStatus {
    /// Creates a status without failure.
    #[inline]
    pub(crate) fn new() -> Self {
        let place = KEPT.try_with(|kept| kept.0.take()).ok().flatten().or_else(take_place);
        let slot = place.and_then(slot);
        let turn = slot.map_or(0, |slot| {
            let turn = slot.turn.load(Ordering::Relaxed).wrapping_add(1);
            slot.code.store(0, Ordering::Relaxed);
            slot.is_plugins.store(false, Ordering::Relaxed);
            slot.turn.store(turn, Ordering::Release);
            turn
        });
        Self { place, slot, turn }
    }

    /// Returns the pointer to pass to the plug-in.
    #[inline]
    pub(crate) fn pointer(&self) -> *mut TF_Status {
        self.place.map_or(std::ptr::null_mut(), |place| token(place, self.turn))
    }

    /// Returns the outcome that the plug-in reported.
    #[inline]
    pub(crate) fn result(&self) -> Result<(), Failure> {
        match self.slot {
            Some(slot) if slot.code.load(Ordering::Acquire) == 0 => Ok(()),
            Some(slot) => Err(failure(slot)),
            None => Err(Failure {
                code: Code::ResourceExhausted,
                message: "too many statuses are in use".to_owned(),
            }),
        }
    }
}

#[cold]
fn failure(slot: &Slot) -> Failure {
    let code = Code::from_number(slot.code.load(Ordering::Acquire));
    let text = slot.text.lock();
    let mut message = text.message.as_deref().unwrap_or_default().to_string_lossy().into_owned();
    for (key, value) in &text.payloads {
        message.push_str(&format!(" [{}: {}]", key.to_string_lossy(), value.to_string_lossy()));
    }
    Failure { code, message }
}

impl Drop for CallStatus {
    #[inline]
    fn drop(&mut self) {
        let (Some(place), Some(slot)) = (self.place, self.slot) else { return };
        slot.turn.store(self.turn.wrapping_add(1), Ordering::Release);
        let left = KEPT.try_with(|kept| kept.0.replace(Some(place))).unwrap_or(Some(place));
        if let Some(left) = left {
            give_place(left);
        }
    }
}

extern "C" fn create() -> *mut TF_Status {
    let Some((place, slot)) = take_place().and_then(|place| Some((place, slot(place)?))) else {
        return std::ptr::null_mut();
    };
    slot.code.store(0, Ordering::Relaxed);
    slot.is_plugins.store(true, Ordering::Relaxed);
    let turn = slot.turn.load(Ordering::Relaxed).wrapping_add(1);
    slot.turn.store(turn, Ordering::Release);
    token(place, turn)
}

extern "C" fn destroy(status: *mut TF_Status) {
    let Some((place, slot)) = find(status) else { return };
    if !slot.is_plugins.load(Ordering::Relaxed) {
        return;
    }
    let turn = status.addr() as u32;
    // A second deletion has no effect.
    let next = turn.wrapping_add(1);
    if slot.turn.compare_exchange(turn, next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        give_place(place);
    }
}

/// Copies a plug-in's text. A null pointer gives an empty text.
fn text_of(text: *const c_char) -> CString {
    if text.is_null() {
        return CString::default();
    }
    // SAFETY: the API requires a string that ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_owned()
}

extern "C" fn set(status: *mut TF_Status, code: i32, message: *const c_char) {
    let Some((_, slot)) = find(status) else { return };
    if code == 0 && slot.code.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut text = slot.text.lock();
    text.message = (code != 0).then(|| text_of(message));
    text.payloads.clear();
    slot.code.store(code, Ordering::Release);
}

/// Makes a status of the core report a failure.
pub(crate) fn fail(status: *mut TF_Status, code: Code, message: &CStr) {
    set(status, code as i32, message.as_ptr());
}

extern "C" fn set_payload(status: *mut TF_Status, key: *const c_char, value: *const c_char) {
    let Some((_, slot)) = find(status) else { return };
    if slot.code.load(Ordering::Relaxed) != 0 {
        let (key, value) = (text_of(key), text_of(value));
        let mut text = slot.text.lock();
        text.payloads.retain(|(known, _)| *known != key);
        text.payloads.push((key, value));
    }
}

extern "C-unwind" fn for_each_payload(
    status: *const TF_Status,
    visitor: Option<PayloadVisitor>,
    capture: *mut c_void,
) {
    let (Some((_, slot)), Some(visitor)) = (find(status), visitor) else { return };
    if slot.code.load(Ordering::Relaxed) == 0 {
        return;
    }
    let payloads = slot.text.lock().payloads.clone();
    for (key, value) in &payloads {
        // SAFETY: this is the caller's function, and both strings outlive the call.
        unsafe { visitor(key.as_ptr(), value.as_ptr(), capture) };
    }
}

extern "C" fn set_from_io_error(status: *mut TF_Status, number: i32, context: *const c_char) {
    use std::io::ErrorKind;
    let error = std::io::Error::from_raw_os_error(number);
    let code = match error.kind() {
        _ if number == 0 => Code::Ok,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::PermissionDenied => Code::PermissionDenied,
        ErrorKind::InvalidInput => Code::InvalidArgument,
        ErrorKind::OutOfMemory | ErrorKind::StorageFull => Code::ResourceExhausted,
        ErrorKind::TimedOut => Code::DeadlineExceeded,
        ErrorKind::Unsupported => Code::Unimplemented,
        _ => Code::Unknown,
    };
    let message =
        CString::new(format!("{}; {error}", text_of(context).to_string_lossy())).unwrap_or_default();
    set(status, code as i32, message.as_ptr());
}

extern "C" fn code(status: *const TF_Status) -> i32 {
    find(status).map_or(Code::Unknown as i32, |(_, slot)| slot.code.load(Ordering::Acquire))
}

extern "C" fn message(status: *const TF_Status) -> *const c_char {
    let Some((_, slot)) = find(status) else { return c"".as_ptr() };
    if slot.code.load(Ordering::Acquire) == 0 {
        return c"".as_ptr();
    }
    // The API keeps the text valid until the status is changed or deleted, and so does its memory.
    slot.text.lock().message.as_ref().map_or(c"".as_ptr(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_tells_what_went_wrong() {
        let status = CallStatus::new();
        assert_eq!(status.result(), Ok(()));
        set(status.pointer(), 0, std::ptr::null());
        set_payload(status.pointer(), c"key".as_ptr(), c"lost, as there is no error".as_ptr());
        assert_eq!(status.result(), Ok(()));
        set(status.pointer(), 8, c"nothing left".as_ptr());
        set_payload(status.pointer(), c"asked".as_ptr(), c"64".as_ptr());
        let told = Failure { code: Code::ResourceExhausted, message: "nothing left [asked: 64]".to_owned() };
        assert_eq!(status.result(), Err(told));
        set(status.pointer(), 0, c"ignored".as_ptr());
        assert_eq!(status.result(), Ok(()));
        // A call's status belongs to the core.
        destroy(status.pointer());
        set(status.pointer(), 1234, std::ptr::null());
        assert_eq!(status.result(), Err(Failure { code: Code::Unknown, message: String::new() }));
    }

    #[test]
    fn statuses_kept_too_long_say_nothing() {
        let first = CallStatus::new();
        let stale = first.pointer();
        drop(first);
        let second = CallStatus::new();
        assert_ne!(second.pointer(), stale);
        set(stale, 13, c"too late".as_ptr());
        assert_eq!(second.result(), Ok(()));
        assert_eq!(code(stale), 2);
        // SAFETY: the function always returns a string.
        assert!(unsafe { CStr::from_ptr(message(stale)) }.is_empty());
        for made_up in [0usize, 1, usize::MAX, stale.addr() + (7 << 32)] {
            set(std::ptr::without_provenance_mut(made_up), 13, c"made up".as_ptr());
            destroy(std::ptr::without_provenance_mut(made_up));
        }
        assert_eq!(second.result(), Ok(()));
    }

    #[test]
    fn deleting_twice_deletes_once() {
        let (first, second) = (create(), create());
        destroy(first);
        destroy(first);
        let (third, fourth) = (create(), create());
        let all = [second, third, fourth];
        assert!(all.iter().enumerate().all(|(i, a)| all[i + 1..].iter().all(|b| a != b)), "{all:?}");
        set_from_io_error(second, libc::ENOENT, c"/nowhere".as_ptr());
        assert_eq!(code(second), 5);
        all.into_iter().for_each(|status| destroy(status));
    }
}
