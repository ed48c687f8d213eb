//! [`Captures`]: what functions that are made of items take from around them.

use std::collections::{BTreeSet, HashSet};

use super::{
    conditions::Region,
    loops::{Item, Structure},
};
use crate::executor::{Kind, Output};

/// Collects values that items use and do not make.
pub(super) struct Captures<'e> {
    pub(super) structure: &'e Structure<'e>,
    pub(super) region: Option<&'e Region>,
    pub(super) inside: &'e HashSet<Item>,
    pub(super) found: BTreeSet<Output>,
}

impl Captures<'_> {
    pub(super) fn add(&mut self, value: Output) {
        let value = self.structure.resolve(value);
        let is_inside = self.structure.maker(value).is_some_and(|maker| self.inside.contains(&maker));
        if !is_inside && self.structure.is_constant(value).is_none() {
            self.found.insert(value);
        }
    }

    pub(super) fn add_item(&mut self, item: Item) {
        for &input in self.structure.inputs(item) {
            self.add(input);
        }
        match item {
            Item::Loop(frame) => self.add_outer(frame),
            Item::Node(node) => {
                if self.structure.nodes.list[node].kind == Kind::Switch {
                    self.add(self.structure.predicate(self.structure.nodes.list[node].inputs[1]));
                }
                if let Some(join) = self.region.and_then(|region| region.joins.get(&node)) {
                    self.add(join.predicate);
                }
            }
        }
    }

    /// Adds what a loop uses from outside of the graph.
    fn add_outer(&mut self, frame: usize) {
        let found = &self.structure.loops[&frame];
        for &item in found.head.iter().chain(&found.body) {
            for &input in self.structure.inputs(item) {
                if let value @ Output::Outer(_) = self.structure.resolve(input) {
                    self.found.insert(value);
                }
            }
            if let Item::Loop(inner) = item {
                self.add_outer(inner);
            }
        }
        for value in found.carried.iter().map(|carried| carried.next).chain([found.condition]) {
            if let value @ Output::Outer(_) = self.structure.resolve(value) {
                self.found.insert(value);
            }
        }
    }
}
