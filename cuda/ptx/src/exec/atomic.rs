//! Atomic operations: `atom`, `red`.
//!
//! On global memory they are atomic between the threads that run blocks, with the strongest
//! ordering of the host, which covers every scope and ordering of PTX. Shared memory is accessed by
//! one host thread only, so its updates are plain.

#![expect(unsafe_code, reason = "reads and writes checked addresses")]

use std::marker::PhantomData;

use super::access::Region;
use super::address::{AccessSpace, space_of};
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::{Value, lanes};
use super::level::{Body, Handlers};
use super::locate::Request;
use super::machine::{Flow, Machine, Site};
use super::program::Inst;
use super::raw::Word;
use super::slots::Reg;

/// A flag in `aux` of [`Update::apply`]: the generic address lies in shared memory.
pub(crate) const IN_SHARED: u64 = 1 << 32;

/// A read-modify-write operation.
pub(crate) trait Update {
    /// The type in memory.
    type Word: Word + Into<u64>;
    /// The type in registers.
    type Value: Value;
    fn read(word: Self::Word) -> Self::Value;
    fn write(value: Self::Value) -> Self::Word;
    /// Returns the new value; `b` and `c` are the instruction's operands.
    fn apply(aux: u64, old: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value;
}

/// An update and the region it applies to.
pub(crate) trait Place {
    type Update: Update;
    type Region: Region<Address = u64>;
    /// Whether the address of every lane is looked up.
    const LOOK_UP: bool;
}
impl<U: Update, R: Region<Address = u64>> Place for PhantomData<(U, R)> {
    type Update = U;
    type Region = R;
    const LOOK_UP: bool = false;
}
/// A place in an instrumented launch, where every address is looked up.
pub(crate) struct LookedUp<P>(PhantomData<P>);
impl<P: Place> Place for LookedUp<P> {
    type Update = P::Update;
    type Region = P::Region;
    const LOOK_UP: bool = true;
}

type RegOf<P> = Reg<<<<P as Place>::Update as Update>::Value as Value>::Slot>;
type Atomic<P> = Inst<RegOf<P>, Reg<u64>, RegOf<P>, RegOf<P>>;

impl Machine<'_> {
    /// Returns the pointer to the bytes of one lane's access. Looks the address up if it is not
    /// inside `view`.
    #[inline(always)]
    pub(crate) fn reach(&mut self, view: Site, request: &Request) -> Result<*mut u8, Trap> {
        let offset = request.address.wrapping_sub(view.base);
        if offset < view.limit(request.bytes)
            && request.address & (request.bytes - 1) == 0
            && self.instruments.is_none()
        {
            return Ok(view.pointer.wrapping_add(offset as usize));
        }
        self.locate(request)
    }

    /// Returns the pointer to the bytes of one lane's access to shared memory, by a shared or a
    /// generic address.
    #[inline(always)]
    pub(crate) fn reach_shared(&mut self, request: &Request) -> Result<*mut u8, Trap> {
        let generic = request.space != AccessSpace::Shared;
        if generic && space_of(request.address) != AccessSpace::Shared {
            let detail = "a generic address that is none of shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, request.lane, detail).at(request.address));
        }
        let base = if generic { AccessSpace::Shared.window() } else { 0 };
        self.reach(Site { base, ..self.shared }, request)
    }
}

unsafe fn run_atomic<P: Place>(m: &mut Machine<'_>, i: &Atomic<P>) -> Flow {
    let bytes = size_of::<<P::Update as Update>::Word>() as u64;
    // SAFETY: `reach` and `locate` check addresses; registers are those of the current window, see
    // `Handler`.
    unsafe {
        let (addresses, b, c) = (m.read(i.a), m.read(i.b), m.read(i.c));
        let mut result = m.read(i.dst);
        let aux = u64::from(i.d >> 16);
        let space = AccessSpace::from_number(i.d as u8);
        for lane in lanes(m.mask) {
            let address = addresses.0[lane].wrapping_add(i.imm);
            let request = Request { address, bytes, space, kind: AccessKind::Atomic, lane, site: i.site };
            let view = P::Region::view(m, i.site);
            let pointer = if P::LOOK_UP { m.locate(&request) } else { m.reach(view, &request) };
            let pointer = match pointer {
                Ok(pointer) => pointer,
                Err(trap) => return m.fail(trap),
            };
            let (b, c) = (Value::unpack(b.0[lane]), Value::unpack(c.0[lane]));
            let shared = space == AccessSpace::Generic && space_of(address) == AccessSpace::Shared;
            let aux = if shared { aux | IN_SHARED } else { aux };
            let update = |old| {
                let new = P::Update::apply(aux, <P::Update as Update>::read(old), b, c);
                <P::Update as Update>::write(new)
            };
            let old =
                if P::Region::CONCURRENT { exchange(pointer, update) } else { replace(pointer, update) };
            result.0[lane] = <P::Update as Update>::read(old).pack();
        }
        *m.line(i.dst) = result;
    }
    m.poll();
    Flow::Next
}
/// Runs [`run_atomic`] in an instrumented launch.
unsafe fn run_looked_up<P: Place>(m: &mut Machine<'_>, i: &Atomic<P>) -> Flow {
    // SAFETY: the caller upholds the contract of `Handler`, which `run_atomic` requires.
    unsafe { run_atomic::<LookedUp<P>>(m, i) }
}

/// Atomically updates a word that other threads may access, and returns its old value.
///
/// # Safety
/// The pointer refers to an aligned word of program memory that stays valid while the instruction
/// runs.
#[inline(always)]
unsafe fn exchange<W: Word>(pointer: *mut u8, update: impl Fn(W) -> W) -> W {
    // SAFETY: the caller promises a valid, aligned pointer, as `Word` requires.
    unsafe {
        let mut old = W::load(pointer);
        loop {
            match W::compare_exchange(pointer, old, update(old)) {
                Ok(old) => return old,
                Err(found) => old = found,
            }
        }
    }
}

/// Updates a word that only this thread accesses, and returns its old value.
///
/// # Safety
/// The pointer refers to an aligned word of memory that only this thread accesses.
#[inline(always)]
unsafe fn replace<W: Word>(pointer: *mut u8, update: impl Fn(W) -> W) -> W {
    // SAFETY: the caller promises a valid, aligned pointer, as `Word` requires.
    unsafe {
        let old = W::load(pointer);
        W::store(pointer, update(old));
        old
    }
}

/// `atom`, `red`: `a` is the address, to which `imm` is added, `b` and `c` are the operands, `dst`
/// is the old value. `d` holds the space in its low half and the operation's constant in its high
/// half.
pub(crate) const fn atomic<U: Update, R: Region<Address = u64>>() -> Handlers {
    // One lane after the other, so that vector instructions gain nothing.
    let plain: Body<_, _, _, _, _, _> = run_atomic::<PhantomData<(U, R)>>;
    let instrumented: Body<_, _, _, _, _, _> = run_looked_up::<PhantomData<(U, R)>>;
    Handlers::new([plain; 3], [instrumented; 3])
}
