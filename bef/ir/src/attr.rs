//! Attributes: constant data attached to operations. They have values and types; operations
//! interpret them.

use std::sync::Arc;

use half::{bf16, f16};

use crate::types::{DialectSymbol, Signedness};
use crate::{DenseElements, Location, Name, Type};

/// Constant data. It is cheap to clone and compared by structure, floats bit by bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attribute {
    /// `unit`, whose presence is its meaning.
    Unit,
    /// `true` or `false`: an integer of type `i1`.
    Bool(bool),
    /// `42 : i32`. Build through [`Attribute::int`], which keeps `i1` a [`Attribute::Bool`].
    Integer {
        /// The value as a mathematical integer: unsigned types hold it non-negative, others
        /// sign-extended.
        value: i128,
        /// An integer type or `index`.
        ty: Type,
    },
    /// `1.5 : f32`.
    Float {
        /// The value's bits in the format of `ty`, zero-extended.
        bits: u64,
        /// One of the four float types.
        ty: Type,
    },
    /// `"text"`: bytes, mostly but not necessarily UTF-8.
    String(Arc<[u8]>),
    /// `"text" : !type`.
    TypedString(Arc<(Arc<[u8]>, Type)>),
    /// `[a, b]`.
    Array(Arc<[Attribute]>),
    /// `{a = 1, b}`, sorted by name.
    Dictionary(AttrDict),
    /// A type as data.
    Type(Type),
    /// `@a` or nested `@a::@b`: at least one name.
    SymbolRef(Arc<[Name]>),
    /// `dense<…> : tensor<…>`.
    Dense(Arc<DenseElements>),
    /// `#dialect.body`, kept as text.
    Dialect(Arc<DialectSymbol>),
    /// `loc(…)` as data.
    Location(Arc<Location>),
}

impl Attribute {
    /// Creates an integer attribute. For type `i1` that is a [`Attribute::Bool`]. Returns `None` if
    /// `ty` is not an integer type or the value does not fit. A signless type of N bits holds
    /// -2^(N-1) to 2^N-1; values from 2^(N-1) up become the negative number with the same bits.
    pub fn int(value: i128, ty: Type) -> Option<Attribute> {
        let (width, signedness) = match &ty {
            Type::Integer { width, signedness } => (*width, *signedness),
            Type::Index => (64, Signedness::Signless),
            _ => return None,
        };
        let value = fit_integer(value, width, signedness)?;
        Some(if ty.is_i1() { Attribute::Bool(value != 0) } else { Attribute::Integer { value, ty } })
    }

    /// Creates `value : i32`.
    pub fn i32(value: i32) -> Attribute {
        Attribute::Integer { value: value.into(), ty: Type::int(32) }
    }

    /// Creates `value : i64`.
    pub fn i64(value: i64) -> Attribute {
        Attribute::Integer { value: value.into(), ty: Type::int(64) }
    }

    /// Creates `value : index`.
    pub fn index(value: i64) -> Attribute {
        Attribute::Integer { value: value.into(), ty: Type::Index }
    }

    /// Creates `value : f32`.
    pub fn f32(value: f32) -> Attribute {
        Attribute::Float { bits: value.to_bits().into(), ty: Type::F32 }
    }

    /// Creates `value : f64`.
    pub fn f64(value: f64) -> Attribute {
        Attribute::Float { bits: value.to_bits(), ty: Type::F64 }
    }

    /// Creates a float rounded to the float type `ty`. Returns `None` if `ty` is not a float type.
    pub fn float(value: f64, ty: Type) -> Option<Attribute> {
        Some(Attribute::Float { bits: float_bits(value, &ty)?, ty })
    }

    /// Creates a string attribute.
    pub fn string(text: impl AsRef<[u8]>) -> Attribute {
        Attribute::String(text.as_ref().into())
    }

    /// Creates an array.
    pub fn array(elements: impl Into<Vec<Attribute>>) -> Attribute {
        Attribute::Array(elements.into().into())
    }

    /// Creates a flat symbol reference `@name`.
    pub fn symbol(name: impl Into<Name>) -> Attribute {
        Attribute::SymbolRef([name.into()].into())
    }

    /// Creates a dialect attribute from its namespace and body, such as `("corert", "shape<2x?>")`.
    pub fn dialect(dialect: impl Into<Name>, body: impl Into<Name>) -> Attribute {
        Attribute::Dialect(Arc::new(DialectSymbol { dialect: dialect.into(), body: body.into() }))
    }

    /// Returns the type of an integer, bool, float, typed string or dense elements.
    pub fn ty(&self) -> Option<Type> {
        match self {
            Attribute::Bool(_) => Some(Type::i1()),
            Attribute::Integer { ty, .. } | Attribute::Float { ty, .. } => Some(ty.clone()),
            Attribute::TypedString(pair) => Some(pair.1.clone()),
            Attribute::Dense(dense) => Some(dense.ty().clone()),
            _ => None,
        }
    }

    /// Returns the value of an integer or bool (0 or 1).
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Attribute::Bool(value) => Some((*value).into()),
            Attribute::Integer { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Returns the value of a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Attribute::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value of a float, widened.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Attribute::Float { bits, ty } => Some(float_value(*bits, ty)),
            _ => None,
        }
    }

    /// Returns the bytes of a string, typed or not.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Attribute::String(bytes) => Some(bytes),
            Attribute::TypedString(pair) => Some(&pair.0),
            _ => None,
        }
    }

    /// Returns the text of a string that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()?).ok()
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Attribute]> {
        match self {
            Attribute::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the name of a flat symbol reference.
    pub fn as_flat_symbol(&self) -> Option<&Name> {
        match self {
            Attribute::SymbolRef(path) => match &**path {
                [name] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the type held by a type attribute.
    pub fn as_type(&self) -> Option<&Type> {
        match self {
            Attribute::Type(ty) => Some(ty),
            _ => None,
        }
    }
}

/// Returns the value in an integer type of `width` bits, or `None` if it does not fit.
fn fit_integer(value: i128, width: u32, signedness: Signedness) -> Option<i128> {
    if width >= 128 {
        return if signedness == Signedness::Unsigned && value < 0 { None } else { Some(value) };
    }
    let (half, full) = (1i128 << (width - 1), (1i128 << (width - 1)).checked_mul(2));
    let below_full = full.is_none_or(|full| value < full);
    match signedness {
        Signedness::Unsigned => (value >= 0 && below_full).then_some(value),
        Signedness::Signed => (-half..half).contains(&value).then_some(value),
        Signedness::Signless if value < -half || !below_full => None,
        // The sign-extended value with the same bits. For `i1` that is -1, which counts as true.
        Signedness::Signless if value >= half => Some(full.map_or(value, |full| value - full)),
        Signedness::Signless => Some(value),
    }
}

/// Returns the `f32` next to `value` whose last digit is odd, or the exact one. It rounds to a half
/// as `value` does. (tfrt-math's `element.rs` has the same function; this crate does not depend on
/// it.)
fn rounded_to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value || value.is_nan() {
        return near;
    }
    let is_beyond = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(is_beyond)) | 1)
}

/// Returns the bits of `value`, rounded to nearest even, in the float type `ty`.
pub(crate) fn float_bits(value: f64, ty: &Type) -> Option<u64> {
    match ty {
        Type::F16 => Some(f16::from_f32(rounded_to_odd(value)).to_bits().into()),
        Type::BF16 => Some(bf16::from_f32(rounded_to_odd(value)).to_bits().into()),
        Type::F32 => Some((value as f32).to_bits().into()),
        Type::F64 => Some(value.to_bits()),
        _ => None,
    }
}

/// Returns the value of `bits` in the float type `ty`; NaN for other types.
pub(crate) fn float_value(bits: u64, ty: &Type) -> f64 {
    match ty {
        Type::F16 => f16::from_bits(bits as u16).to_f64(),
        Type::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Type::F32 => f32::from_bits(bits as u32).into(),
        Type::F64 => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

/// Named attributes, sorted by unique names. It is cheap to clone: a clone shares the entries until
/// one changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttrDict {
    entries: Option<Arc<Vec<(Name, Attribute)>>>,
}

impl AttrDict {
    /// Creates an empty dictionary, without allocating.
    pub fn new() -> AttrDict {
        AttrDict::default()
    }

    /// Returns the entries, sorted by name.
    pub fn entries(&self) -> &[(Name, Attribute)] {
        self.entries.as_ref().map_or(&[], |entries| entries.as_slice())
    }

    /// Returns the entries, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Attribute)> {
        self.entries().iter().map(|(name, value)| (name, value))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        let entries = self.entries();
        let index = entries.binary_search_by(|(key, _)| key.as_str().cmp(name)).ok()?;
        entries.get(index).map(|(_, value)| value)
    }

    /// Returns whether there is an attribute of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets an attribute and returns the one it replaces.
    pub fn set(&mut self, name: impl Into<Name>, value: Attribute) -> Option<Attribute> {
        let name = name.into();
        let entries = Arc::make_mut(self.entries.get_or_insert_default());
        match entries.binary_search_by(|(key, _)| key.cmp(&name)) {
            Ok(index) => entries.get_mut(index).map(|entry| std::mem::replace(&mut entry.1, value)),
            Err(index) => {
                entries.insert(index, (name, value));
                None
            }
        }
    }

    /// Removes an attribute and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let entries = Arc::make_mut(self.entries.as_mut()?);
        let index = entries.binary_search_by(|(key, _)| key.as_str().cmp(name)).ok()?;
        Some(entries.remove(index).1)
    }
}

impl<N: Into<Name>> FromIterator<(N, Attribute)> for AttrDict {
    /// Sorts the entries. If a name occurs several times, the last entry wins.
    fn from_iter<I: IntoIterator<Item = (N, Attribute)>>(iter: I) -> AttrDict {
        let mut entries: Vec<(Name, Attribute)> = iter.into_iter().map(|(n, v)| (n.into(), v)).collect();
        if entries.is_empty() {
            return AttrDict::new();
        }
        entries.reverse();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|later, kept| later.0 == kept.0);
        AttrDict { entries: Some(Arc::new(entries)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_once() {
        let (above, tie) = (2f64.powi(-40), |digits: i32| 1.0 + 2f64.powi(-digits));
        assert_eq!(
            [tie(8), tie(8) + above].map(|x| float_bits(x, &Type::BF16)),
            [Some(0x3f80), Some(0x3f81)]
        );
        assert_eq!(
            [tie(11), tie(11) + above].map(|x| float_bits(x, &Type::F16)),
            [Some(0x3c00), Some(0x3c01)]
        );
        assert_eq!(float_bits(tie(11) + 2.0 * 2f64.powi(-11) - above, &Type::F16), Some(0x3c01));
        assert_eq!([1e300, -1e-300].map(|x| float_bits(x, &Type::BF16)), [Some(0x7f80), Some(0x8000)]);
    }

    #[test]
    fn integers_fit_their_type_or_not() {
        let table = [
            (255, Type::int(8), Some(-1)),
            (256, Type::int(8), None),
            (-128, Type::int(8), Some(-128)),
            (-129, Type::int(8), None),
            (255, Type::uint(8), Some(255)),
            (-1, Type::uint(8), None),
            (128, Type::sint(8), None),
            (i128::from(u64::MAX), Type::uint(64), Some(u64::MAX.into())),
            (1, Type::F32, None),
        ];
        for (value, ty, expected) in table {
            assert_eq!(
                Attribute::int(value, ty.clone()).and_then(|a| a.as_int()),
                expected,
                "{value} : {ty}"
            );
        }
        assert_eq!(Attribute::int(1, Type::i1()), Some(Attribute::Bool(true)));
        assert_eq!(Attribute::int(-1, Type::i1()), Some(Attribute::Bool(true)));
        assert!(Attribute::int(2, Type::i1()).is_none());
        assert!(Attribute::int(i128::MAX, Type::int(127)).is_some());
    }

    #[test]
    fn dictionaries_stay_sorted_and_unique() {
        let mut dict: AttrDict = [("b", Attribute::i32(1)), ("a", Attribute::Unit), ("b", Attribute::i32(2))]
            .into_iter()
            .collect();
        assert_eq!(dict.len(), 2);
        assert_eq!(dict.get("b"), Some(&Attribute::i32(2)));
        assert_eq!(dict.set("aa", Attribute::Unit), None);
        let names: Vec<&str> = dict.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "aa", "b"]);
        let before = dict.clone();
        assert_eq!(dict.remove("aa"), Some(Attribute::Unit));
        assert_eq!((before.len(), dict.len()), (3, 2));
    }
}
