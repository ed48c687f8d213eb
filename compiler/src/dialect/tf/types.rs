//! The types of the dialect, all of them element types of tensors: strings, resources, variants,
//! quantized numbers, and references to variables of any of TensorFlow's types.

use tfrt_ir::{ShapedType, Type};

use super::{DIALECT, NEW_TYPES};

/// The types without parameters.
const PLAIN: [&str; 8] = ["string", "resource", "variant", "qint8", "quint8", "qint16", "quint16", "qint32"];

/// What references may refer to, with the type that this is.
const REFERENCED: [&str; 27] = [
    "f32",
    "f64",
    "half",
    "bfloat16",
    "complex64",
    "complex128",
    "bool",
    "int4",
    "uint4",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "string",
    "resource",
    "variant",
    "qint8",
    "quint8",
    "qint16",
    "quint16",
    "qint32",
    "float8e5m2",
    "float8e4m3fn",
];

/// Says what is wrong with the body of a type of the dialect.
pub(super) fn check(body: &str) -> Result<(), String> {
    if PLAIN.contains(&body) || body == "control" {
        return Ok(());
    }
    if let Some(subtypes) = subtypes(body) {
        return check_subtypes(subtypes);
    }
    match body.strip_suffix("ref") {
        Some(referenced) if REFERENCED.contains(&referenced) => Ok(()),
        _ => Err(format!(
            "unknown tf type: {body}; expected {}, or one of the references such as f32ref",
            PLAIN.join(", ")
        )),
    }
}

/// The text between `<` and `>` of a resource or variant.
fn subtypes(body: &str) -> Option<&str> {
    let rest = body.strip_prefix("resource").or_else(|| body.strip_prefix("variant"))?;
    rest.strip_prefix('<')?.strip_suffix('>')
}

/// Subtypes are tensor types separated by commas.
fn check_subtypes(text: &str) -> Result<(), String> {
    let ty = Type::parse(&format!("tuple<{text}>"))?;
    let Type::Tuple(types) = ty else { return Err(format!("'{text}' is no list of types")) };
    if types.is_empty() {
        return Err("expected a tensor type between '<' and '>'".to_owned());
    }
    for ty in types.iter() {
        let Type::Tensor(tensor) = ty else {
            return Err(format!("subtypes of resources and variants are tensor types, but found {ty}"));
        };
        if let Type::Dialect(symbol) = &tensor.element
            && is_tf(&symbol.dialect)
        {
            check(&symbol.body)?;
        }
    }
    Ok(())
}

fn is_tf(dialect: &str) -> bool {
    dialect == DIALECT || dialect == NEW_TYPES
}

/// The body of a type of the dialect.
fn body(ty: &Type) -> Option<&str> {
    match ty {
        Type::Dialect(symbol) if is_tf(&symbol.dialect) => Some(&symbol.body),
        _ => None,
    }
}

/// The type that a reference refers to; `None` for types that are no references.
pub fn referenced(ty: &Type) -> Option<Type> {
    let name = body(ty)?.strip_suffix("ref")?;
    Some(match name {
        "f32" => Type::F32,
        "f64" => Type::F64,
        "half" => Type::F16,
        "bfloat16" => Type::BF16,
        "complex64" => Type::complex(Type::F32),
        "complex128" => Type::complex(Type::F64),
        "bool" => Type::i1(),
        "string" | "resource" | "variant" | "qint8" | "quint8" | "qint16" | "quint16" | "qint32" => {
            Type::dialect(DIALECT, name)
        }
        _ => match name.strip_prefix("uint") {
            Some(width) => Type::uint(width.parse().ok()?),
            None => Type::int(name.strip_prefix("int")?.parse().ok()?),
        },
    })
}

/// Whether a value of one type can be passed on as one of another: the same elements, or those that
/// a reference refers to, and shapes that can be the same.
pub fn is_castable(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Tensor(from), Type::Tensor(to)) => {
            is_element_castable(&from.element, &to.element) && may_agree(from, to)
        }
        _ => from == to,
    }
}

fn is_element_castable(from: &Type, to: &Type) -> bool {
    let kind = |ty: &Type| body(ty).map(|body| body.split('<').next().unwrap_or_default().to_owned());
    let same = |a: &Type, b: &Type| a == b || (kind(a).is_some() && kind(a) == kind(b));
    same(from, to) || referenced(from).is_some_and(|from| same(&from, to))
}

/// Whether two shapes can be the same.
fn may_agree(a: &ShapedType, b: &ShapedType) -> bool {
    let (Some(a), Some(b)) = (&a.dims, &b.dims) else { return true };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_none() || b.is_none() || a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_or_refused() {
        for good in
            ["string", "resource", "resource<tensor<4xi32>>", "variant<tensor<*xf32>, tensor<2x!tf.string>>"]
        {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for good in ["quint16", "f32ref", "uint8ref", "stringref", "complex128ref", "qint32ref"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["strings", "resource<>", "resource<i32>", "ref", "f99ref", "variant<tensor<!tf.none>>"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn references_become_values_and_not_the_other_way() {
        let tensor = |element| Type::tensor(&[4], element);
        let reference = Type::dialect(DIALECT, "f32ref");
        assert!(is_castable(&tensor(reference.clone()), &tensor(Type::F32)));
        assert!(!is_castable(&tensor(Type::F32), &tensor(reference)));
        assert!(is_castable(&tensor(Type::F32), &Type::unranked_tensor(Type::F32)));
        assert!(!is_castable(&tensor(Type::F32), &Type::tensor(&[5], Type::F32)));
        assert!(!is_castable(&tensor(Type::F32), &Type::F32));
    }
}
