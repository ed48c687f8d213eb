//! [`OpAttrs`]: the attributes of one call of an op, by name.
//!
//! Most ops have few and small attributes, so that six entries and 128 bytes of names and values
//! need no heap. Constant tensors, shapes and nested lists are shared, not copied, when attributes
//! are cloned.

mod convert;
mod derived;
mod print;

use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit};
use smallvec::SmallVec;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{DenseHostTensor, PartialTensorShape};

pub use convert::FromAttr;
use derived::Derived;

/// Entries kept without the heap.
const ENTRIES_INLINE: usize = 6;
/// Words of names and values kept without the heap: 128 bytes.
const WORDS_INLINE: usize = 16;

/// The attributes of one call of an op. Cloning is how they are kept beyond it.
#[derive(Clone, Debug, Default)]
pub struct OpAttrs {
    entries: SmallVec<[Entry; ENTRIES_INLINE]>,
    /// Names and plain values, each at the start of a word.
    words: SmallVec<[u64; WORDS_INLINE]>,
    derived: Derived,
}

/// Bytes in `words`.
#[derive(Clone, Copy, Debug)]
struct Extent {
    word: u32,
    bytes: u32,
}

#[derive(Clone, Debug)]
struct Entry {
    name: Extent,
    value: Stored,
}

#[derive(Clone, Debug)]
enum Stored {
    Scalar(DType, Extent),
    Array(DType, Extent),
    String(Extent),
    Function(Extent),
    Type(DType),
    Shape(Arc<PartialTensorShape>),
    Dense(Arc<DenseHostTensor>),
    Aggregate(Arc<[OpAttrs]>),
}

/// An attribute's value, as it is read.
#[derive(Clone, Copy, Debug)]
pub enum AttrValue<'a> {
    /// One number, in memory form.
    Scalar(DType, &'a [u8]),
    /// Numbers of one type, in memory form and aligned for it.
    Array(DType, &'a [u8]),
    /// Text.
    String(&'a str),
    /// The name of a function.
    Function(&'a str),
    /// A data type.
    Type(DType),
    /// A shape, perhaps not known in full.
    Shape(&'a PartialTensorShape),
    /// A constant tensor, which must not be written.
    Dense(&'a DenseHostTensor),
    /// Values without names.
    Aggregate(Elements<'a>),
}

/// The elements of an aggregate attribute.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a>(&'a [OpAttrs]);

impl<'a> Elements<'a> {
    /// Returns the elements in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = AttrValue<'a>> {
        // Each element is a set of one attribute.
        self.0.iter().map(|element| element.value(&element.entries[0]))
    }
}

impl OpAttrs {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether none of them holds a tensor.
    pub fn has_no_tensors(&self) -> bool {
        self.entries.iter().all(|entry| match &entry.value {
            Stored::Dense(_) => false,
            Stored::Aggregate(elements) => elements.iter().all(Self::has_no_tensors),
            _ => true,
        })
    }

    /// Returns all of them, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, AttrValue<'_>)> {
        self.entries.iter().map(|entry| (self.text(entry.name), self.value(entry)))
    }

    /// Returns the value of this name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<AttrValue<'_>> {
        if self.entries.is_empty() {
            // As most ops' are.
            return None;
        }
        let entry = self.entries.iter().find(|entry| self.text(entry.name) == name)?;
        Some(self.value(entry))
    }

    /// Returns the value of this name as a `T`; `None` if there is none.
    ///
    /// # Errors
    /// InvalidArgument if it is something else.
    pub fn optional<'a, T: FromAttr<'a>>(&'a self, name: &str) -> Result<Option<T>, Diagnostic> {
        let Some(value) = self.get(name) else { return Ok(None) };
        T::from_attr(value).map(Some).ok_or_else(|| {
            Diagnostic::invalid_argument(format!(
                "attribute '{name}' is {}, expected {}",
                value.description(),
                T::EXPECTED
            ))
        })
    }

    /// Returns the value of this name as a `T`.
    ///
    /// # Errors
    /// InvalidArgument if there is none or it is something else.
    pub fn required<'a, T: FromAttr<'a>>(&'a self, name: &str) -> Result<T, Diagnostic> {
        let missing = || Diagnostic::invalid_argument(format!("attribute '{name}' is missing"));
        self.optional(name)?.ok_or_else(missing)
    }

    /// Sets a number.
    ///
    /// # Errors
    /// As every setter: InvalidArgument if there is an attribute of this name already.
    pub fn set<T: tfrt_tensor::Element>(&mut self, name: &str, value: T) -> Result<(), Diagnostic> {
        self.insert(name, |attrs| Stored::Scalar(T::DTYPE, attrs.push(bytemuck::bytes_of(&value))))
    }

    /// Sets an array of numbers.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_array<T: tfrt_tensor::Element>(&mut self, name: &str, values: &[T]) -> Result<(), Diagnostic> {
        self.set_array_bytes(name, T::DTYPE, bytemuck::cast_slice(values))
    }

    /// Sets a text.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_string(&mut self, name: &str, value: &str) -> Result<(), Diagnostic> {
        self.insert(name, |attrs| Stored::String(attrs.push(value.as_bytes())))
    }

    /// Sets the name of a function.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_function(&mut self, name: &str, function: &str) -> Result<(), Diagnostic> {
        self.insert(name, |attrs| Stored::Function(attrs.push(function.as_bytes())))
    }

    /// Sets a data type.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_type(&mut self, name: &str, value: DType) -> Result<(), Diagnostic> {
        self.insert(name, |_| Stored::Type(value))
    }

    /// Sets a shape.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_shape(&mut self, name: &str, value: PartialTensorShape) -> Result<(), Diagnostic> {
        self.insert(name, |_| Stored::Shape(Arc::new(value)))
    }

    /// Sets a constant tensor. Nobody may write to it from here on.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_dense(&mut self, name: &str, value: DenseHostTensor) -> Result<(), Diagnostic> {
        self.insert(name, |_| Stored::Dense(Arc::new(value)))
    }

    /// Sets a list of texts.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn set_strings<'a>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Diagnostic> {
        let elements = values.into_iter().map(|value| {
            let mut element = Self::new();
            element.set_string("", value).map(|()| element)
        });
        self.set_aggregate(name, elements)
    }

    fn set_scalar_bytes(&mut self, name: &str, dtype: DType, bytes: &[u8]) -> Result<(), Diagnostic> {
        self.insert(name, |attrs| Stored::Scalar(dtype, attrs.push(bytes)))
    }

    fn set_array_bytes(&mut self, name: &str, dtype: DType, bytes: &[u8]) -> Result<(), Diagnostic> {
        self.insert(name, |attrs| Stored::Array(dtype, attrs.push(bytes)))
    }

    fn insert(&mut self, name: &str, store: impl FnOnce(&mut Self) -> Stored) -> Result<(), Diagnostic> {
        if self.get(name).is_some() {
            return Err(Diagnostic::invalid_argument(format!("attribute '{name}' is set twice")));
        }
        let name = self.push(name.as_bytes());
        let value = store(self);
        self.entries.push(Entry { name, value });
        self.derived.clear();
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) -> Extent {
        let word = self.words.len();
        self.words.resize(word + bytes.len().div_ceil(size_of::<u64>()), 0);
        bytemuck::cast_slice_mut(&mut self.words[word..])[..bytes.len()].copy_from_slice(bytes);
        // Attributes come from programs, whose sections are smaller than 4 GiB.
        Extent { word: word as u32, bytes: bytes.len() as u32 }
    }

    fn bytes(&self, extent: Extent) -> &[u8] {
        &bytemuck::cast_slice(&self.words[extent.word as usize..])[..extent.bytes as usize]
    }

    fn text(&self, extent: Extent) -> &str {
        // Only text is stored as text.
        std::str::from_utf8(self.bytes(extent)).unwrap_or_default()
    }

    fn value<'a>(&'a self, entry: &'a Entry) -> AttrValue<'a> {
        match &entry.value {
            Stored::Scalar(dtype, extent) => AttrValue::Scalar(*dtype, self.bytes(*extent)),
            Stored::Array(dtype, extent) => AttrValue::Array(*dtype, self.bytes(*extent)),
            Stored::String(extent) => AttrValue::String(self.text(*extent)),
            Stored::Function(extent) => AttrValue::Function(self.text(*extent)),
            Stored::Type(dtype) => AttrValue::Type(*dtype),
            Stored::Shape(shape) => AttrValue::Shape(shape),
            Stored::Dense(tensor) => AttrValue::Dense(tensor),
            Stored::Aggregate(elements) => AttrValue::Aggregate(Elements(elements)),
        }
    }
}

impl AttrValue<'_> {
    /// Returns the value of a scalar whose type has this size.
    fn scalar<T: AnyBitPattern + NoUninit>(self, expected: DType) -> Option<T> {
        match self {
            AttrValue::Scalar(dtype, bytes) if dtype == expected => {
                bytemuck::try_pod_read_unaligned(bytes).ok()
            }
            _ => None,
        }
    }

    /// What kind of value it is, for errors.
    fn description(self) -> String {
        match self {
            AttrValue::Scalar(dtype, _) => dtype.to_string(),
            AttrValue::Array(dtype, _) => format!("an array of {dtype}"),
            AttrValue::String(_) => "a string".into(),
            AttrValue::Function(_) => "a function".into(),
            AttrValue::Type(_) => "a type".into(),
            AttrValue::Shape(_) => "a shape".into(),
            AttrValue::Dense(_) => "a tensor".into(),
            AttrValue::Aggregate(_) => "a list".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_small_attributes_need_no_heap() {
        let mut attrs = OpAttrs::new();
        attrs.set("alpha", 0.5f32).unwrap();
        attrs.set_array("strides", &[1i64, 2, 2, 1]).unwrap();
        attrs.set_string("padding", "SAME").unwrap();
        attrs.set_type("T", DType::F32).unwrap();
        assert!(!attrs.entries.spilled() && !attrs.words.spilled());
        assert_eq!(attrs.required::<f32>("alpha"), Ok(0.5));
        assert_eq!(attrs.required::<&[i64]>("strides"), Ok(&[1i64, 2, 2, 1][..]));
        assert_eq!(attrs.required::<&str>("padding"), Ok("SAME"));
        assert_eq!(attrs.required::<DType>("T"), Ok(DType::F32));
    }

    #[test]
    fn many_attributes_move_to_the_heap_and_stay_the_same() {
        let mut attrs = OpAttrs::new();
        for number in 0..40i32 {
            attrs.set(&format!("attribute {number}"), number).unwrap();
        }
        let kept = attrs.clone();
        drop(attrs);
        assert!(kept.entries.spilled());
        for number in 0..40i32 {
            assert_eq!(kept.required::<i32>(&format!("attribute {number}")), Ok(number));
        }
    }

    #[test]
    fn wrong_missing_and_double_ones_are_errors() {
        let mut attrs = OpAttrs::new();
        attrs.set("n", 1i32).unwrap();
        assert_eq!(attrs.set("n", 2i32).unwrap_err().message, "attribute 'n' is set twice");
        assert_eq!(attrs.required::<i64>("m").unwrap_err().message, "attribute 'm' is missing");
        assert_eq!(attrs.required::<f32>("n").unwrap_err().message, "attribute 'n' is i32, expected f32");
        assert_eq!(attrs.optional::<f32>("m"), Ok(None));
    }
}
