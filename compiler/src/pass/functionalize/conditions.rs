//! Conditions: under which Switches each item runs.

use std::collections::{HashMap, HashSet};

use super::{
    Obstacle,
    loops::{Item, Structure},
};
use crate::executor::{Kind, Output};

/// What Switches decided, from the outermost on: the value and what it was.
pub(super) type Condition = Vec<(Output, bool)>;

/// A Merge of two branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Join {
    pub(super) predicate: Output,
    /// What it gives if the predicate is false, and if it is true.
    pub(super) values: [Output; 2],
    /// Which of its inputs that is.
    pub(super) indices: [usize; 2],
}

/// Items that make no cycle, ordered, with the conditions under which they run. Items that never
/// run are left out.
pub(super) struct Region {
    pub(super) order: Vec<Item>,
    pub(super) conditions: HashMap<Item, Condition>,
    pub(super) joins: HashMap<usize, Join>,
    /// Merges of which only one input can be live, with that.
    pub(super) aliases: HashMap<usize, Output>,
}

impl Region {
    pub(super) fn new(structure: &Structure<'_>, items: &[Item]) -> Result<Self, Obstacle> {
        let order = sort(structure, items)?;
        let mut region = Self {
            order: Vec::new(),
            conditions: HashMap::new(),
            joins: HashMap::new(),
            aliases: HashMap::new(),
        };
        let members: HashSet<Item> = order.iter().copied().collect();
        for item in order {
            if let Some(condition) = region.condition_of(structure, &members, item)? {
                region.order.push(item);
                region.conditions.insert(item, condition);
            }
        }
        Ok(region)
    }

    /// The condition under which a value is live; `None` if it never is. Values from outside of the
    /// region are.
    pub(super) fn condition(
        &self,
        structure: &Structure<'_>,
        members: &HashSet<Item>,
        value: Output,
    ) -> Option<Condition> {
        let Some(maker) = structure.maker(value).filter(|maker| members.contains(maker)) else {
            return Some(Condition::new());
        };
        let mut condition = self.conditions.get(&maker)?.clone();
        if let (Item::Node(node), Output::Of(_, output)) = (maker, value)
            && structure.nodes.list[node].kind == Kind::Switch
        {
            let predicate = structure.predicate(structure.nodes.list[node].inputs[1]);
            match condition.iter().find(|(known, _)| *known == predicate) {
                Some((_, decided)) if *decided == (output == 1) => {}
                Some(_) => return None,
                None => condition.push((predicate, output == 1)),
            }
        }
        Some(condition)
    }

    fn condition_of(
        &mut self,
        structure: &Structure<'_>,
        members: &HashSet<Item>,
        item: Item,
    ) -> Result<Option<Condition>, Obstacle> {
        if let Item::Node(node) = item {
            match structure.nodes.list[node].kind {
                Kind::ControlTrigger => return Ok(Some(Condition::new())),
                Kind::Merge => return self.merge(structure, members, node),
                _ => {}
            }
        }
        let mut all = Condition::new();
        for &input in structure.inputs(item) {
            let Some(condition) = self.condition(structure, members, input) else { return Ok(None) };
            all = join(structure, item, all, condition)?;
        }
        for control in structure.controls(item).filter(|control| members.contains(control)) {
            let Some(condition) = self.conditions.get(&control) else { return Ok(None) };
            all = join(structure, item, all, condition.clone())?;
        }
        Ok(Some(all))
    }

    /// A Merge is live under the condition that its inputs, live under opposite ones, share.
    fn merge(
        &mut self,
        structure: &Structure<'_>,
        members: &HashSet<Item>,
        node: usize,
    ) -> Result<Option<Condition>, Obstacle> {
        let inputs = structure.nodes.list[node].inputs.iter().enumerate();
        let live: Vec<_> = inputs
            .filter_map(|(index, &input)| Some((index, input, self.condition(structure, members, input)?)))
            .collect();
        let shared = match &live[..] {
            [] => return Ok(None),
            [(_, input, condition)] if !structure.indexed.contains(&node) => {
                self.aliases.insert(node, *input);
                condition.clone()
            }
            [(a, on_a, first), (b, on_b, second)] => match (first.split_last(), second.split_last()) {
                (Some((&(p, x), outer)), Some((&(q, y), other))) if outer == other && p == q && x != y => {
                    let (values, indices) =
                        if x { ([*on_b, *on_a], [*b, *a]) } else { ([*on_a, *on_b], [*a, *b]) };
                    self.joins.insert(node, Join { predicate: p, values, indices });
                    outer.to_vec()
                }
                _ => return Err(structure.obstacle(node, "does not merge the two branches of one condition")),
            },
            _ => return Err(structure.obstacle(node, "does not merge the two branches of one condition")),
        };
        let item = Item::Node(node);
        let mut all = shared;
        for control in structure.controls(item).filter(|control| members.contains(control)) {
            let Some(condition) = self.conditions.get(&control) else { return Ok(None) };
            if !all.starts_with(condition) {
                return Err(structure.obstacle(node, "has a control input of another branch"));
            }
        }
        all.shrink_to_fit();
        Ok(Some(all))
    }
}

/// The condition of an item that needs both: one begins with the other.
fn join(structure: &Structure<'_>, item: Item, a: Condition, b: Condition) -> Result<Condition, Obstacle> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if long.len() > super::MAX_NESTING {
        return Err(obstacle_at(structure, item, "stands under too many conditions"));
    }
    if long.starts_with(&short) {
        return Ok(long);
    }
    Err(obstacle_at(structure, item, "depends on branches of several conditions at once"))
}

pub(super) fn obstacle_at(structure: &Structure<'_>, item: Item, why: &str) -> Obstacle {
    match item {
        Item::Node(node) => structure.obstacle(node, why),
        Item::Loop(frame) => structure.obstacle(structure.loops[&frame].loop_cond, why),
    }
}

/// Items in an order in which each follows what it depends on; among those that could be next, the
/// first in the text.
fn sort(structure: &Structure<'_>, items: &[Item]) -> Result<Vec<Item>, Obstacle> {
    let members: HashSet<Item> = items.iter().copied().collect();
    let mut users: HashMap<Item, Vec<Item>> = HashMap::new();
    let mut missing: HashMap<Item, usize> = HashMap::new();
    for &item in items {
        for dependency in structure.dependencies(item).filter(|dependency| members.contains(dependency)) {
            users.entry(dependency).or_default().push(item);
            *missing.entry(item).or_default() += 1;
        }
    }
    let mut ready: std::collections::BTreeSet<Item> =
        items.iter().copied().filter(|item| !missing.contains_key(item)).collect();
    let mut order = Vec::with_capacity(items.len());
    while let Some(item) = ready.pop_first() {
        order.push(item);
        for &user in users.get(&item).into_iter().flatten() {
            if let Some(count) = missing.get_mut(&user) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(user);
                }
            }
        }
    }
    let Some(&stuck) = items.iter().find(|item| missing.get(item).is_some_and(|&count| count > 0)) else {
        return Ok(order);
    };
    Err(obstacle_at(structure, stuck, "is part of a cycle that is no loop"))
}
