//! [`Trial`]: calls of ops on a device that does nothing, to learn what memory they ask for.
//!
//! So the compiler knows of every op that runs on devices what it needs there, by the same code
//! that programs run.

use std::{cell::RefCell, sync::Arc};

use smallvec::SmallVec;
use tfrt_device::{
    front::{DeviceBuffer, Platform},
    noop::{self, NoopFault},
};
use tfrt_host::{AsyncValue, Diagnostic, ErrorCode, ExecutionContext};
use tfrt_tensor::{HostTensor, TensorMetadata};

use super::{DeviceArgument, DeviceCall, DeviceOpError, DeviceQueue, DeviceTensor, Place, call::CallMemory};
use crate::{Op, OpAttrs, OpResult};

/// The alignment of scratch memory, which every device allocation has too.
const ALIGNMENT: u64 = 256;

/// A device that does nothing, for trials.
#[derive(Debug)]
pub struct Trial {
    queue: Arc<DeviceQueue>,
    _platform: Platform,
}

/// An argument of a trial.
#[derive(Clone, Copy, Debug)]
pub enum TrialArgument<'a> {
    /// A tensor in device memory.
    Device(&'a TensorMetadata),
    /// A tensor in host memory.
    Host(&'a HostTensor),
}

/// Where a result of an op comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrigin {
    /// The op computes it.
    Computed,
    /// It is the memory of the argument with this number.
    Argument(usize),
}

/// What an op needs on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Where each result comes from.
    pub results: Vec<ResultOrigin>,
    /// The place of each request for memory, in order.
    pub places: Vec<Place>,
    /// The bytes of scratch memory.
    pub scratch_bytes: u64,
    /// The bytes of memory that nothing else may use.
    pub kept_bytes: u64,
    /// Pairs of a result and an argument that may share their memory.
    pub in_place: Vec<(usize, usize)>,
}

/// A request for memory that an op made.
struct Noted {
    buffer: DeviceBuffer,
    is_copy: bool,
    /// The request before which the op no longer used the memory.
    end: usize,
}

/// The requests of one call.
#[derive(Default)]
pub(crate) struct Requests {
    noted: RefCell<Vec<Noted>>,
    in_place: RefCell<Vec<(usize, usize)>>,
}

impl Requests {
    pub(super) fn note(&self, buffer: &DeviceBuffer, is_copy: bool) {
        let mut noted = self.noted.borrow_mut();
        let number = noted.len();
        for earlier in noted.iter_mut().filter(|earlier| earlier.end == usize::MAX) {
            if earlier.buffer.is_exclusive() {
                earlier.end = number;
            }
        }
        noted.push(Noted { buffer: buffer.clone(), is_copy, end: usize::MAX });
    }

    pub(super) fn note_in_place(&self, result: usize, argument: usize) {
        self.in_place.borrow_mut().push((result, argument));
    }
}

impl Trial {
    /// Makes the device.
    ///
    /// # Errors
    /// Internal if it cannot be made.
    pub fn new() -> Result<Self, Diagnostic> {
        let platform = Platform::new(noop::open(1, 0, NoopFault::None)?);
        let queue = Arc::new(DeviceQueue::new(&platform.device(0)?)?);
        Ok(Self { queue, _platform: platform })
    }

    /// Calls an op and returns what it asked for.
    ///
    /// # Errors
    /// NotFound if the op has no form for devices, or has results in host memory; the op's own
    /// errors.
    pub fn run(
        &self,
        cx: &ExecutionContext,
        op: &Op,
        attrs: &OpAttrs,
        arguments: &[TrialArgument<'_>],
        results: &[TensorMetadata],
    ) -> Result<Footprint, Diagnostic> {
        let refused = |why: &str| Diagnostic::new(ErrorCode::NotFound, format!("{} {why}", op.name()));
        let (function, _) = op.device.ok_or_else(|| refused("has no form for devices"))?;
        let tensor = |argument: &TrialArgument<'_>| match argument {
            TrialArgument::Device(metadata) => DeviceTensor::allocate(metadata, &self.queue, true).map(Some),
            TrialArgument::Host(_) => Ok(None),
        };
        let tensors = arguments.iter().map(tensor).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let given: SmallVec<[_; 4]> = arguments
            .iter()
            .zip(&tensors)
            .filter_map(|(argument, tensor)| match (argument, tensor) {
                (TrialArgument::Host(tensor), _) => Some(DeviceArgument::Host(tensor)),
                (_, tensor) => tensor.as_ref().map(DeviceArgument::Device),
            })
            .collect();
        let requests = Requests::default();
        let memory = CallMemory::Trial(&requests);
        let call = DeviceCall::planned(cx, &self.queue, &given, (attrs, results), memory);
        let made = function(&call).map_err(failed)?;
        let made = device_tensors(&made).ok_or_else(|| refused("has a result in host memory"))?;
        if made.len() != results.len() {
            return Err(Diagnostic::internal(format!("{} has {} results", op.name(), made.len())));
        }
        Ok(footprint(requests, &made, &tensors))
    }
}

fn failed(error: DeviceOpError) -> Diagnostic {
    match error {
        DeviceOpError::Failed(error) => error,
        DeviceOpError::Later => Diagnostic::internal("a device that does nothing has to be waited for"),
    }
}

fn device_tensors(result: &OpResult) -> Option<Vec<DeviceTensor>> {
    result.tensors.iter().map(|tensor: &AsyncValue| tensor.get::<DeviceTensor>().cloned()).collect()
}

/// Assigns places to the requests of a call with these results and arguments.
fn footprint(requests: Requests, results: &[DeviceTensor], arguments: &[Option<DeviceTensor>]) -> Footprint {
    let noted = requests.noted.into_inner();
    let is_same = |a: &DeviceBuffer, b: &DeviceBuffer| a.address() == b.address() && a.len() == b.len();
    let origin = |result: &DeviceTensor| {
        let argument = arguments.iter().position(|argument| {
            argument.as_ref().is_some_and(|argument| is_same(argument.buffer(), result.buffer()))
        });
        argument.map_or(ResultOrigin::Computed, ResultOrigin::Argument)
    };
    let mut places: Vec<Place> = Vec::new();
    let mut kept_bytes = 0;
    for (number, request) in noted.iter().enumerate() {
        let bytes = request.buffer.len();
        let result = results.iter().position(|result| is_same(result.buffer(), &request.buffer));
        let place = match result {
            Some(index) if !request.is_copy && !places.contains(&Place::Result(index)) => {
                Place::Result(index)
            }
            _ if request.is_copy => {
                let offset = kept_bytes;
                kept_bytes += padded(bytes);
                Place::Kept { offset, bytes }
            }
            _ => Place::Scratch { offset: free_offset(&noted[..number], &places, bytes, number), bytes },
        };
        places.push(place);
    }
    let end = |place: &Place| match *place {
        Place::Scratch { offset, bytes } => offset + padded(bytes),
        Place::Result(_) | Place::Kept { .. } => 0,
    };
    Footprint {
        results: results.iter().map(origin).collect(),
        scratch_bytes: places.iter().map(end).max().unwrap_or(0),
        kept_bytes,
        places,
        in_place: requests.in_place.into_inner(),
    }
}

/// The bytes that a request takes, at least some, so that its memory exists.
fn padded(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(ALIGNMENT)
}

/// Returns the first offset at which no earlier request still uses the scratch memory.
fn free_offset(earlier: &[Noted], places: &[Place], bytes: u64, number: usize) -> u64 {
    let mut used: Vec<(u64, u64)> = earlier
        .iter()
        .zip(places)
        .filter(|(request, _)| request.end > number)
        .filter_map(|(_, place)| match *place {
            Place::Scratch { offset, bytes } => Some((offset, offset + padded(bytes))),
            Place::Result(_) | Place::Kept { .. } => None,
        })
        .collect();
    used.sort_unstable();
    let mut offset = 0;
    for (start, end) in used {
        if offset + bytes <= start {
            break;
        }
        offset = offset.max(end);
    }
    offset
}
