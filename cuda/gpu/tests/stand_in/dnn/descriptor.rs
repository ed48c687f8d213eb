//! Descriptors of cuDNN's backend interface: attributes that are set, checked when the descriptor
//! is finalized, and read.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendAttributeType_t as Type,
    cudnnBackendDescriptorType_t as Object,
};
use parking_lot::Mutex;

use super::{BAD_PARAM, Handle};
use crate::state::{Answer, find, own, violation};

/// `CUDNN_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: c_int = 1001;

/// The values of an attribute.
#[derive(Clone)]
enum Values {
    /// Numbers, as bytes of the library's type.
    Plain(c_int, Vec<u8>),
    Others(Vec<Arc<Descriptor>>),
}

/// A descriptor of any kind.
pub(super) struct Descriptor {
    pub(super) kind: c_int,
    attributes: Mutex<BTreeMap<c_int, Values>>,
    is_final: AtomicBool,
}

/// Returns the size in bytes of one value.
fn size(kind: c_int) -> Answer<usize> {
    let is = |known: &[Type]| known.iter().any(|&known| known as c_int == kind);
    if is(&[Type::CUDNN_TYPE_BOOLEAN, Type::CUDNN_TYPE_CHAR]) {
        Ok(1)
    } else if is(&[
        Type::CUDNN_TYPE_HANDLE,
        Type::CUDNN_TYPE_INT64,
        Type::CUDNN_TYPE_DOUBLE,
        Type::CUDNN_TYPE_VOID_PTR,
        Type::CUDNN_TYPE_BACKEND_DESCRIPTOR,
    ]) {
        Ok(8)
    } else if kind >= 0 && kind < Type::CUDNN_TYPE_CHAR as c_int {
        Ok(4)
    } else {
        Err(BAD_PARAM)
    }
}

/// Returns the handles in an entry point's array of descriptors.
///
/// # Safety
/// The array has `count` elements.
unsafe fn raw_descriptors(values: *const c_void, count: i64) -> Vec<*mut c_void> {
    // SAFETY: the caller promises the length.
    (0..count as usize).map(|index| unsafe { values.cast::<*mut c_void>().add(index).read() }).collect()
}

impl Descriptor {
    pub(super) fn new(kind: c_int) -> Self {
        Self { kind, attributes: Mutex::default(), is_final: AtomicBool::new(false) }
    }

    pub(super) fn is(&self, kind: Object) -> bool {
        self.kind == kind as c_int
    }

    pub(super) fn is_final(&self) -> bool {
        self.is_final.load(Ordering::SeqCst)
    }

    pub(super) fn set_final(&self) {
        self.is_final.store(true, Ordering::SeqCst);
    }

    /// Sets an attribute.
    ///
    /// # Safety
    /// The array has `count` values of the type.
    pub(super) unsafe fn set(&self, name: c_int, kind: c_int, count: i64, values: *const c_void) -> Answer {
        if self.is_final() {
            return Err(NOT_INITIALIZED);
        }
        if count < 0 || values.is_null() {
            return Err(BAD_PARAM);
        }
        let values = if kind == Type::CUDNN_TYPE_BACKEND_DESCRIPTOR as c_int {
            // SAFETY: this function requires as many values.
            let raws = unsafe { raw_descriptors(values, count) };
            let others: Vec<_> = raws.into_iter().map(|raw| find::<Self>(raw, "an attribute")).collect();
            if others.iter().any(|other| !other.is_final()) {
                return Err(BAD_PARAM);
            }
            Values::Others(others)
        } else {
            // SAFETY: this function requires as many values of this size.
            let bytes =
                unsafe { std::slice::from_raw_parts(values.cast::<u8>(), count as usize * size(kind)?) };
            if kind == Type::CUDNN_TYPE_HANDLE as c_int {
                let raw = usize::from_ne_bytes(bytes.try_into().map_err(|_| BAD_PARAM)?);
                drop(own::<Handle>(std::ptr::with_exposed_provenance_mut(raw), "an attribute"));
            }
            Values::Plain(kind, bytes.to_vec())
        };
        self.attributes.lock().insert(name, values);
        Ok(())
    }

    /// Copies an attribute into an entry point's array, and returns how many values there are.
    ///
    /// # Safety
    /// The array has room for `wanted` values of the type.
    pub(super) unsafe fn copy_to(&self, name: Name, wanted: i64, place: *mut c_void) -> Answer<i64> {
        let attributes = self.attributes.lock();
        let Some(Values::Plain(kind, bytes)) = attributes.get(&(name as c_int)) else {
            return Err(BAD_PARAM);
        };
        let size = size(*kind)?;
        let count = (bytes.len() / size).min(wanted as usize);
        if count > 0 {
            // SAFETY: this function requires room for as many values of this size.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast(), count * size) };
        }
        Ok((bytes.len() / size) as i64)
    }

    /// Makes an empty descriptor one with these attributes.
    pub(super) fn fill(&self, other: &Self) -> Answer {
        if self.kind != other.kind || self.is_final() {
            return Err(BAD_PARAM);
        }
        *self.attributes.lock() = other.attributes.lock().clone();
        self.set_final();
        Ok(())
    }

    /// Sets numbers that the library itself knows.
    pub(super) fn with(self, name: Name, kind: Type, numbers: &[i64]) -> Self {
        let bytes = match size(kind as c_int) {
            Ok(4) => numbers.iter().flat_map(|&number| (number as i32).to_ne_bytes()).collect(),
            _ => numbers.iter().flat_map(|number| number.to_ne_bytes()).collect(),
        };
        self.attributes.lock().insert(name as c_int, Values::Plain(kind as c_int, bytes));
        self
    }

    pub(super) fn with_text(self, name: Name, text: &str) -> Self {
        let values = Values::Plain(Type::CUDNN_TYPE_CHAR as c_int, text.as_bytes().to_vec());
        self.attributes.lock().insert(name as c_int, values);
        self
    }

    pub(super) fn with_other(self, name: Name, other: Arc<Self>) -> Self {
        self.attributes.lock().insert(name as c_int, Values::Others(vec![other]));
        self
    }

    pub(super) fn finalized(self) -> Arc<Self> {
        self.set_final();
        Arc::new(self)
    }

    fn values(&self, name: Name) -> Answer<Values> {
        self.attributes.lock().get(&(name as c_int)).cloned().ok_or(BAD_PARAM)
    }

    pub(super) fn has(&self, name: Name) -> bool {
        self.attributes.lock().contains_key(&(name as c_int))
    }

    /// Returns numbers of any type.
    pub(super) fn numbers(&self, name: Name) -> Answer<Vec<f64>> {
        let Values::Plain(kind, bytes) = self.values(name)? else { return Err(BAD_PARAM) };
        let (is_float, is_double) =
            (kind == Type::CUDNN_TYPE_FLOAT as c_int, kind == Type::CUDNN_TYPE_DOUBLE as c_int);
        let number = |bytes: &[u8]| match *bytes {
            [byte] => f64::from(byte),
            [a, b, c, d] if is_float => f64::from(f32::from_ne_bytes([a, b, c, d])),
            [a, b, c, d] => f64::from(i32::from_ne_bytes([a, b, c, d])),
            _ => {
                let bytes = <[u8; 8]>::try_from(bytes).unwrap_or_default();
                if is_double { f64::from_ne_bytes(bytes) } else { i64::from_ne_bytes(bytes) as f64 }
            }
        };
        Ok(bytes.chunks_exact(size(kind)?).map(number).collect())
    }

    pub(super) fn number(&self, name: Name) -> Answer<f64> {
        self.numbers(name)?.first().copied().ok_or(BAD_PARAM)
    }

    pub(super) fn sizes(&self, name: Name) -> Answer<Vec<usize>> {
        Ok(self.numbers(name)?.into_iter().map(|number| number as usize).collect())
    }

    /// Returns addresses, which a float could not hold.
    pub(super) fn addresses(&self, name: Name) -> Answer<Vec<u64>> {
        let Values::Plain(_, bytes) = self.values(name)? else { return Err(BAD_PARAM) };
        Ok(bytes.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap_or_default())).collect())
    }

    pub(super) fn text(&self, name: Name) -> Answer<String> {
        let Values::Plain(_, bytes) = self.values(name)? else { return Err(BAD_PARAM) };
        String::from_utf8(bytes).map_err(|_| BAD_PARAM)
    }

    pub(super) fn others(&self, name: Name) -> Answer<Vec<Arc<Self>>> {
        match self.values(name)? {
            Values::Others(others) => Ok(others),
            Values::Plain(..) => Err(BAD_PARAM),
        }
    }

    pub(super) fn other(&self, name: Name) -> Answer<Arc<Self>> {
        self.others(name)?.into_iter().next().ok_or(BAD_PARAM)
    }

    /// Appends a description of the descriptor and of all that it refers to.
    pub(super) fn describe(&self, text: &mut String) {
        let attributes = self.attributes.lock();
        let _ = write!(text, " [{} {}", self.kind, attributes.len());
        for (name, values) in &*attributes {
            match values {
                // Handles are not the same in another process.
                Values::Plain(kind, _) if *kind == Type::CUDNN_TYPE_HANDLE as c_int => {
                    let _ = write!(text, " {name} {kind} 0");
                }
                Values::Plain(kind, bytes) => {
                    let _ = write!(text, " {name} {kind} {}", bytes.len());
                    for byte in bytes {
                        let _ = write!(text, " {byte}");
                    }
                }
                Values::Others(others) => {
                    let _ = write!(text, " {name} -1 {}", others.len());
                    others.iter().for_each(|other| other.describe(text));
                }
            }
        }
        text.push_str(" ]");
    }

    /// Reads what [`Self::describe`] wrote.
    pub(super) fn read<'t>(words: &mut impl Iterator<Item = &'t str>) -> Answer<Arc<Self>> {
        let first = words.next().and_then(|word| word.strip_prefix('[')).ok_or(BAD_PARAM)?;
        let descriptor = Self::new(first.parse().map_err(|_| BAD_PARAM)?);
        for _ in 0..number_in(words)? {
            let (name, kind, count) = (number_in(words)?, number_in(words)?, number_in(words)?);
            let values = if kind < 0 {
                Values::Others((0..count).map(|_| Self::read(words)).collect::<Answer<_>>()?)
            } else {
                let byte = |_| u8::try_from(number_in(words)?).map_err(|_| BAD_PARAM);
                Values::Plain(kind, (0..count).map(byte).collect::<Answer<_>>()?)
            };
            descriptor.attributes.lock().insert(name, values);
        }
        if words.next() != Some("]") { Err(BAD_PARAM) } else { Ok(descriptor.finalized()) }
    }
}

fn number_in<'t>(words: &mut impl Iterator<Item = &'t str>) -> Answer<c_int> {
    words.next().and_then(|word| word.parse().ok()).ok_or(BAD_PARAM)
}

/// Returns the descriptors in an entry point's array, which the library fills.
///
/// # Safety
/// The array has `count` elements.
pub(super) unsafe fn to_fill(values: *mut c_void, count: i64) -> Vec<Arc<Descriptor>> {
    if values.is_null() {
        violation("there is no place for descriptors");
    }
    // SAFETY: the caller promises the length.
    let raws = unsafe { raw_descriptors(values, count) };
    raws.into_iter().map(|raw| find::<Descriptor>(raw, "cudnnBackendGetAttribute")).collect()
}
