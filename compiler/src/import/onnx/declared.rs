//! What files declare of values: how far it is believed, and where it is wrong.

use std::collections::HashMap;

use tfrt_ir::{Diagnostic, Location, Severity, ValueId};

use super::{
    Importer,
    node::Imported,
    proto::{self, GraphProto, TypeValue, ValueInfoProto},
    tensor,
};
use crate::TensorType;

/// What is declared of values between nodes, and what is wrong with it.
#[derive(Default)]
pub(super) struct Declared {
    known: HashMap<String, Known>,
    /// The first value whose inferred type disagrees: where it is, and the message.
    first_wrong: Option<(Location, String)>,
    wrong_count: usize,
}

/// What is declared of a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    rank: Option<usize>,
    /// The type of a value that is no output: those are compared when all is known.
    ty: Option<TensorType>,
}

impl Declared {
    /// Takes out what is known, for a scope with other names.
    pub(super) fn set_aside(&mut self) -> HashMap<String, Known> {
        std::mem::take(&mut self.known)
    }

    /// Undoes [`Self::set_aside`].
    pub(super) fn bring_back(&mut self, known: HashMap<String, Known>) {
        self.known = known;
    }
}

impl Importer<'_> {
    /// The declared type of a value; `None` for types that are no tensors and where none is
    /// declared.
    pub(super) fn declared(&self, info: &ValueInfoProto) -> Imported<Option<TensorType>> {
        let Some(TypeValue::Tensor(ty)) = info.r#type.as_ref().and_then(|ty| ty.value.as_ref()) else {
            return Ok(None);
        };
        let dtype = tensor::dtype(ty.elem_type).map_err(|message| format!("'{}': {message}", info.name))?;
        let dims = ty.shape.as_ref().map(|shape| {
            let extent = |dim: &proto::DimensionProto| match &dim.value {
                Some(proto::DimensionValue::Value(extent)) => u64::try_from(*extent).ok(),
                Some(proto::DimensionValue::Parameter(name)) => self.options.dimensions.get(name).copied(),
                None => None,
            };
            shape.dim.iter().map(extent).collect()
        });
        Ok(Some(TensorType { dtype, dims }))
    }

    /// Warns where the declared type of an output and the inferred one disagree.
    pub(super) fn compare_declared(&mut self, info: &ValueInfoProto, inferred: &TensorType) {
        if let Ok(Some(declared)) = self.declared(info)
            && declared.merge(inferred).is_none()
        {
            self.warn(disagreement(&info.name, &declared, inferred));
        }
    }

    /// Notes what a graph declares of its values.
    pub(super) fn note_declared(&mut self, proto: &GraphProto) {
        for info in &proto.value_info {
            let ty = self.declared(info).ok().flatten();
            self.declared.known.insert(info.name.clone(), Known { rank: declared_rank(info), ty });
        }
        for info in &proto.output {
            self.declared.known.insert(info.name.clone(), Known { rank: declared_rank(info), ty: None });
        }
    }

    /// Believes the number of dimensions that the file declares of a value where inference does not
    /// find it, and notes where the two disagree. Extents are not believed: exporters declare those
    /// of an example.
    pub(super) fn compare_with_declared(&mut self, name: &str, value: ValueId) {
        let (Some(known), Some(ty)) = (self.declared.known.get(name), self.graph.tensor_type(value)) else {
            return;
        };
        let rank = known.rank;
        if let Some(declared) = &known.ty
            && declared.merge(&ty).is_none()
        {
            let message = disagreement(name, declared, &ty);
            self.declared.first_wrong.get_or_insert_with(|| (self.location.clone(), message));
            self.declared.wrong_count += 1;
        }
        if let (None, Some(rank)) = (ty.rank(), rank) {
            let ty = TensorType::ranked(ty.dtype, vec![None; rank]);
            self.graph.module.set_value_type(value, ty.to_ir());
        }
    }

    /// Warns of the first value whose declared type is wrong: those of values computed from it
    /// mostly are, too.
    pub(super) fn warn_of_disagreement(&mut self) {
        let Some((location, message)) = self.declared.first_wrong.take() else { return };
        let others = match self.declared.wrong_count - 1 {
            0 => String::new(),
            1 => "; the declared type of 1 other value is wrong, too".to_owned(),
            count => format!("; the declared types of {count} other values are wrong, too"),
        };
        self.diagnostics.push(Diagnostic::new(Severity::Warning, location, message + &others));
    }
}

fn declared_rank(info: &ValueInfoProto) -> Option<usize> {
    match info.r#type.as_ref()?.value.as_ref()? {
        TypeValue::Tensor(ty) => Some(ty.shape.as_ref()?.dim.len()),
        _ => None,
    }
}

fn disagreement(name: &str, declared: &TensorType, inferred: &TensorType) -> String {
    format!("'{name}' is declared as {declared}, but its type is {inferred}")
}
