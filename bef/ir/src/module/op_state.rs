//! The parts of an operation before it is created.

use super::{RegionId, ValueId};
use crate::{AttrDict, Attribute, Location, Name, Type};

/// The parts of an operation to create; see [`Module::create_op`](crate::Module::create_op).
#[derive(Clone, Debug)]
pub struct OpState {
    /// Full name.
    pub name: Name,
    /// Values used.
    pub operands: Vec<ValueId>,
    /// Types of the results.
    pub result_types: Vec<Type>,
    /// Attributes.
    pub attributes: AttrDict,
    /// Regions made with [`Module::create_region`](crate::Module::create_region).
    pub regions: Vec<RegionId>,
    /// The location in the source.
    pub location: Location,
}

impl OpState {
    /// Describes an operation with only this name, at an unknown location.
    pub fn new(name: impl Into<Name>) -> OpState {
        OpState {
            name: name.into(),
            operands: Vec::new(),
            result_types: Vec::new(),
            attributes: AttrDict::new(),
            regions: Vec::new(),
            location: Location::Unknown,
        }
    }

    /// Sets the operands.
    #[must_use]
    pub fn operands(mut self, operands: impl Into<Vec<ValueId>>) -> OpState {
        self.operands = operands.into();
        self
    }

    /// Sets the types of the results.
    #[must_use]
    pub fn results(mut self, types: impl Into<Vec<Type>>) -> OpState {
        self.result_types = types.into();
        self
    }

    /// Sets one attribute.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Name>, value: Attribute) -> OpState {
        self.attributes.set(name, value);
        self
    }

    /// Adds a region.
    #[must_use]
    pub fn region(mut self, region: RegionId) -> OpState {
        self.regions.push(region);
        self
    }

    /// Sets the location.
    #[must_use]
    pub fn at(mut self, location: Location) -> OpState {
        self.location = location;
        self
    }
}
