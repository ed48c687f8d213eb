//! [`Emitter`]: items as ops, conditionals and loops as functions.

use std::collections::{BTreeSet, HashMap, HashSet};

use tfrt_ir::{
    AttrDict, Attribute, FUNC_TYPE, FunctionType, InsertionPoint, Location, OpId, OpState, Type, ValueId,
    ValueMap,
};

use super::{
    MAX_NESTING, Obstacle,
    captures::Captures,
    conditions::{Join, Region, obstacle_at},
    loops::{Item, Loop, Structure},
};
use crate::{
    Evaluator, Graph, GraphBuilder,
    dialect::tf,
    executor::{Kind, Output},
    import::onnx::RETURN,
};

/// How many items all steps together may look at, so that no graph takes time without bound.
const MAX_STEPS: usize = 20_000_000;

/// Where ops go, and the values that are known there.
struct Place {
    at: InsertionPoint,
    values: HashMap<Output, ValueId>,
    /// Whether this is where the graph is, so that values from outside of it are known.
    is_outermost: bool,
}

/// Makes ops of the items of a graph.
pub(super) struct Emitter<'a> {
    graph: &'a mut Graph,
    evaluator: &'a Evaluator,
    structure: &'a Structure<'a>,
    created: Vec<OpId>,
    functions: Vec<OpId>,
    steps: usize,
    depth: usize,
}

/// A function that was made.
struct Made {
    name: String,
}

/// Items and Merges that become one `tf.If`.
struct Choice<'r> {
    region: &'r Region,
    members: Vec<Item>,
    joins: Vec<(usize, Join)>,
    captures: Vec<Output>,
    depth: usize,
    at: OpId,
}

fn symbols(functions: [(&str, &Made); 2]) -> AttrDict {
    functions.into_iter().map(|(name, made)| (name, Attribute::symbol(made.name.as_str()))).collect()
}

impl<'a> Emitter<'a> {
    pub(super) fn new(graph: &'a mut Graph, evaluator: &'a Evaluator, structure: &'a Structure<'a>) -> Self {
        let (created, functions) = (Vec::new(), Vec::new());
        Self { graph, evaluator, structure, created, functions, steps: 0, depth: 0 }
    }

    /// Removes everything made so far.
    pub(super) fn undo(&mut self) {
        for &op in self.created.iter().rev().chain(self.functions.iter().rev()) {
            if !self.graph.module.is_erased(op) {
                self.graph.module.erase_op(op);
            }
        }
    }

    /// Makes ops of a whole graph, before it. Returns what it gives.
    pub(super) fn emit_graph(&mut self, graph: OpId) -> Result<Vec<ValueId>, Obstacle> {
        let structure = self.structure;
        let mut place =
            Place { at: InsertionPoint::Before(graph), values: HashMap::new(), is_outermost: true };
        let fetches = structure.nodes.fetches.clone();
        let fetch = structure.nodes.fetch;
        self.emit_region(&structure.top, &fetches, fetch, &mut place)?;
        fetches.iter().map(|&value| self.value(value, &mut place, fetch)).collect()
    }

    /// Makes ops of items. What they give must be live whenever they run.
    fn emit_region(
        &mut self,
        items: &[Item],
        given: &[Output],
        at: OpId,
        place: &mut Place,
    ) -> Result<(), Obstacle> {
        let region = Region::new(self.structure, items)?;
        let members = region.order.iter().copied().collect();
        for &value in given {
            let condition = region.condition(self.structure, &members, value);
            let is_dropped = condition.is_none();
            if is_dropped || condition.is_some_and(|condition| !condition.is_empty()) {
                return Err((at, "takes a value that is live under a condition only".to_owned()));
            }
        }
        let order = region.order.clone();
        self.emit_level(&region, &order, 0, &mut HashSet::new(), place)
    }

    /// Makes ops of items under the same `depth` conditions.
    fn emit_level(
        &mut self,
        region: &Region,
        items: &[Item],
        depth: usize,
        emitted: &mut HashSet<Item>,
        place: &mut Place,
    ) -> Result<(), Obstacle> {
        let mut left: Vec<Item> = items.to_vec();
        while !left.is_empty() {
            let before = left.len();
            for &item in &left {
                let is_join = matches!(item, Item::Node(node) if region.joins.contains_key(&node));
                if region.conditions[&item].len() == depth
                    && !is_join
                    && self.is_ready(region, item, emitted, None)
                {
                    self.emit_item(region, item, place)?;
                    emitted.insert(item);
                }
            }
            left.retain(|item| !emitted.contains(item));
            let predicates = self.predicates(region, &left, depth);
            for &predicate in &predicates {
                self.emit_choice(region, &left, depth, (predicate, false), emitted, place)?;
            }
            left.retain(|item| !emitted.contains(item));
            if left.len() == before {
                // A branch that waits for what another part of it gives is made in parts.
                for predicate in predicates {
                    self.emit_choice(region, &left, depth, (predicate, true), emitted, place)?;
                }
                left.retain(|item| !emitted.contains(item));
            }
            self.steps += before;
            if left.len() == before || self.steps > MAX_STEPS {
                return Err(obstacle_at(self.structure, left[0], "waits for a branch that waits for it"));
            }
        }
        Ok(())
    }

    /// What decides about the items that are left, in their order.
    fn predicates(&self, region: &Region, left: &[Item], depth: usize) -> Vec<Output> {
        let mut predicates = Vec::new();
        for item in left {
            let own = match item {
                Item::Node(node) if region.conditions[item].len() == depth => {
                    region.joins.get(node).map(|join| join.predicate)
                }
                _ => region.conditions[item].get(depth).map(|(predicate, _)| *predicate),
            };
            if let Some(predicate) = own
                && !predicates.contains(&predicate)
            {
                predicates.push(predicate);
            }
        }
        predicates
    }

    fn is_ready(
        &self,
        region: &Region,
        item: Item,
        emitted: &HashSet<Item>,
        besides: Option<&HashSet<Item>>,
    ) -> bool {
        self.structure.dependencies(item).all(|dependency| {
            !region.conditions.contains_key(&dependency)
                || emitted.contains(&dependency)
                || besides.is_some_and(|besides| besides.contains(&dependency))
        })
    }

    /// Makes a `tf.If` of the items under a condition and its opposite: of all, or if `is_partial`
    /// of those that have all they need.
    fn emit_choice(
        &mut self,
        region: &Region,
        left: &[Item],
        depth: usize,
        (predicate, is_partial): (Output, bool),
        emitted: &mut HashSet<Item>,
        place: &mut Place,
    ) -> Result<(), Obstacle> {
        if self
            .structure
            .maker(predicate)
            .is_some_and(|maker| region.conditions.contains_key(&maker) && !emitted.contains(&maker))
        {
            return Ok(());
        }
        let mut chosen = HashSet::new();
        let mut members = Vec::new();
        let mut is_complete = true;
        for &item in left.iter().filter(|item| !emitted.contains(item)) {
            let is_under = region.conditions[&item].get(depth).is_some_and(|(own, _)| *own == predicate);
            if is_under && self.is_ready(region, item, emitted, Some(&chosen)) {
                chosen.insert(item);
                members.push(item);
            } else if is_under {
                is_complete = false;
            }
        }
        let all_joins = left.iter().filter_map(|&item| match item {
            Item::Node(node) if region.conditions[&item].len() == depth => {
                let join = *region.joins.get(&node)?;
                let is_new = !emitted.contains(&item) && join.predicate == predicate;
                is_new.then_some((node, join))
            }
            _ => None,
        });
        let (joins, waiting): (Vec<_>, Vec<_>) =
            all_joins.partition(|(node, _)| self.is_ready(region, Item::Node(*node), emitted, Some(&chosen)));
        if !(is_partial || is_complete && waiting.is_empty()) {
            return Ok(());
        }
        let Some(&first) = members.first().or(left.first()) else { return Ok(()) };
        if members.is_empty() && joins.is_empty() {
            return Ok(());
        }
        let at = obstacle_at(self.structure, first, "").0;
        let captures = self.captures(region, &members, &joins);
        let choice = Choice { region, members, joins, captures, depth, at };
        let on_false = self.branch(&choice, false, emitted, place)?;
        let on_true = self.branch(&choice, true, emitted, place)?;
        self.append_if(predicate, [&on_false, &on_true], &choice, place)?;
        emitted.extend(choice.joins.iter().map(|&(node, _)| Item::Node(node)));
        emitted.extend(choice.members);
        Ok(())
    }

    /// What branches use of the values around them.
    fn captures(&self, region: &Region, members: &[Item], joins: &[(usize, Join)]) -> Vec<Output> {
        let inside: HashSet<Item> = members.iter().copied().collect();
        let mut captures = Captures {
            structure: self.structure,
            region: Some(region),
            inside: &inside,
            found: BTreeSet::new(),
        };
        for &member in members {
            captures.add_item(member);
        }
        for (_, join) in joins {
            join.values.iter().for_each(|&value| captures.add(value));
        }
        captures.found.into_iter().collect()
    }

    /// Makes the function of one branch.
    fn branch(
        &mut self,
        choice: &Choice<'_>,
        side: bool,
        emitted: &mut HashSet<Item>,
        place: &mut Place,
    ) -> Result<Made, Obstacle> {
        let Choice { region, members, joins, captures, depth, at } = choice;
        let own: Vec<Item> =
            members.iter().copied().filter(|item| region.conditions[item][*depth].1 == side).collect();
        let types = self.types(captures, place, *at)?;
        let name = if side { "then" } else { "else" };
        self.function(name, &types, captures, *at, |emitter, inner| {
            emitter.emit_level(region, &own, depth + 1, emitted, inner)?;
            let mut results = Vec::new();
            for (node, join) in joins {
                results.push(emitter.value(join.values[usize::from(side)], inner, *at)?);
                if emitter.structure.indexed.contains(node) {
                    results.push(emitter.index(join.indices[usize::from(side)], inner, *at)?);
                }
            }
            Ok(results)
        })
    }

    fn append_if(
        &mut self,
        predicate: Output,
        [on_false, on_true]: [&Made; 2],
        choice: &Choice<'_>,
        place: &mut Place,
    ) -> Result<(), Obstacle> {
        let at = choice.at;
        let mut operands = vec![self.value(predicate, place, at)?];
        for &capture in &choice.captures {
            operands.push(self.value(capture, place, at)?);
        }
        let (mut types, mut outputs) = (Vec::new(), Vec::new());
        for &(node, _) in &choice.joins {
            let results = self.graph.module.result_types(self.structure.nodes.list[node].op);
            let count = if self.structure.indexed.contains(&node) { 2 } else { 1 };
            types.extend(results.into_iter().take(count));
            outputs.extend((0..count).map(|output| Output::Of(node, output)));
        }
        let attributes = symbols([("else_branch", on_false), ("then_branch", on_true)]);
        let results = self.append(tf::IF, operands, attributes, types, place, at);
        place.values.extend(outputs.into_iter().zip(results));
        Ok(())
    }

    /// Makes ops of one item.
    fn emit_item(&mut self, region: &Region, item: Item, place: &mut Place) -> Result<(), Obstacle> {
        match item {
            Item::Loop(frame) => self.emit_loop(frame, place),
            Item::Node(node) => match self.structure.nodes.list[node].kind {
                Kind::Island if self.structure.is_constant(Output::Of(node, 0)).is_some() => Ok(()),
                Kind::Island => self.emit_island(node, place),
                Kind::Merge => {
                    let Some(&alias) = region.aliases.get(&node) else { return Ok(()) };
                    let at = self.structure.nodes.list[node].op;
                    let value = self.value(alias, place, at)?;
                    place.values.insert(Output::Of(node, 0), value);
                    Ok(())
                }
                _ => Ok(()),
            },
        }
    }

    /// Copies the ops of an island.
    fn emit_island(&mut self, node: usize, place: &mut Place) -> Result<(), Obstacle> {
        let structure = self.structure;
        let at = structure.nodes.list[node].op;
        let (ops, yielded) = structure.nodes.island(&self.graph.module, node);
        let (yielded, mut map) = (yielded.to_vec(), ValueMap::new());
        for &input in &structure.nodes.list[node].inputs {
            let value = self.value(input, place, at)?;
            let original = match input {
                Output::Outer(outer) => outer,
                Output::Of(of, output) => self.graph.module.op(structure.nodes.list[of].op).results[output],
            };
            map.insert(original, value);
        }
        for op in ops {
            let copy = self.graph.module.clone_op(op, &mut map);
            self.insert(copy, place);
        }
        for (output, value) in yielded.into_iter().enumerate() {
            place.values.insert(Output::Of(node, output), map.get(value));
        }
        Ok(())
    }

    /// Makes a `tf.While` of a loop.
    fn emit_loop(&mut self, frame: usize, place: &mut Place) -> Result<(), Obstacle> {
        let structure = self.structure;
        let found = &structure.loops[&frame];
        let at = structure.nodes.list[found.loop_cond].op;
        let [head, body] = self.parts(found, at)?;
        let captures = self.loop_captures(found, &head, &body);
        let merges: Vec<Output> = found.carried.iter().map(|carried| Output::Of(carried.merge, 0)).collect();
        let merge_types = found.carried.iter().map(|carried| {
            self.graph
                .module
                .value_type(self.graph.module.op(structure.nodes.list[carried.merge].op).results[0])
                .clone()
        });
        let mut types: Vec<Type> = merge_types.collect();
        types.extend(self.types(&captures, place, at)?);
        let arguments = [&merges[..], &captures].concat();
        let condition = self.function("cond", &types, &arguments, at, |emitter, inner| {
            emitter.emit_region(&head, &[found.condition], at, inner)?;
            Ok(vec![emitter.value(found.condition, inner, at)?])
        })?;
        let next: Vec<Output> = found.carried.iter().map(|carried| carried.next).collect();
        let step = self.function("body", &types, &arguments, at, |emitter, inner| {
            emitter.emit_region(&body, &next, at, inner)?;
            next.iter().chain(&captures).map(|&value| emitter.value(value, inner, at)).collect()
        })?;
        let mut operands = Vec::new();
        for value in found.carried.iter().map(|carried| carried.init).chain(captures.iter().copied()) {
            operands.push(self.value(value, place, at)?);
        }
        let attributes = symbols([("body", &step), ("cond", &condition)]);
        let results = self.append(tf::WHILE, operands, attributes, types, place, at);
        for &(exit, number) in &found.exits {
            place.values.insert(Output::Of(exit, 0), results[number]);
        }
        Ok(())
    }

    /// The items of a loop's condition and of its body. What both need runs in both.
    fn parts(&self, found: &Loop, at: OpId) -> Result<[Vec<Item>; 2], Obstacle> {
        let structure = self.structure;
        let head: HashSet<Item> = found.head.iter().copied().collect();
        let reach = |from: Vec<Item>| {
            let (mut reached, mut worklist) = (HashSet::new(), from);
            while let Some(item) = worklist.pop() {
                if head.contains(&item) && reached.insert(item) {
                    worklist.extend(structure.dependencies(item));
                }
            }
            reached
        };
        let effects = found.head.iter().copied().filter(|&item| !structure.is_pure(item));
        let decides = structure.maker(structure.resolve(found.condition));
        let in_condition = reach(decides.into_iter().chain(effects).collect());
        let data = found.body.iter().flat_map(|&item| structure.inputs(item).iter().copied());
        let data = data.chain(found.carried.iter().map(|carried| carried.next));
        let makers = data.filter_map(|value| structure.maker(structure.resolve(value))).collect();
        let in_body = reach(makers);
        if in_body.iter().any(|&item| !structure.is_pure(item)) {
            return Err((
                at,
                "decides by an op with side effects whose result the loop's body uses".to_owned(),
            ));
        }
        let select = |items: &[Item], wanted: &HashSet<Item>| -> Vec<Item> {
            items.iter().copied().filter(|item| wanted.contains(item)).collect()
        };
        let body = [select(&found.head, &in_body), found.body.clone()].concat();
        Ok([select(&found.head, &in_condition), body])
    }

    /// What a loop uses of the values around it.
    fn loop_captures(&self, found: &Loop, head: &[Item], body: &[Item]) -> Vec<Output> {
        let carried: HashSet<Output> =
            found.carried.iter().map(|carried| Output::Of(carried.merge, 0)).collect();
        let mut all = BTreeSet::new();
        let next = found.carried.iter().map(|carried| carried.next).collect::<Vec<_>>();
        for (items, given) in [(head, vec![found.condition]), (body, next)] {
            let inside: HashSet<Item> = items.iter().copied().collect();
            let mut captures =
                Captures { structure: self.structure, region: None, inside: &inside, found: BTreeSet::new() };
            items.iter().for_each(|&item| captures.add_item(item));
            given.into_iter().for_each(|value| captures.add(value));
            all.extend(captures.found);
        }
        all.into_iter().filter(|value| !carried.contains(value)).collect()
    }

    /// Makes a function whose arguments are these values.
    fn function(
        &mut self,
        what: &str,
        types: &[Type],
        arguments: &[Output],
        at: OpId,
        fill: impl FnOnce(&mut Self, &mut Place) -> Result<Vec<ValueId>, Obstacle>,
    ) -> Result<Made, Obstacle> {
        if self.depth >= MAX_NESTING {
            return Err((at, format!("nests deeper than {MAX_NESTING} levels")));
        }
        let name = self.unused_name(what);
        let location = self.graph.module.op(at).location.clone();
        let ty = FunctionType { inputs: types.to_vec(), results: Vec::new() };
        let (op, block) = self.graph.module.add_function(name.as_str(), ty, location.clone());
        self.functions.push(op);
        let values = arguments.iter().copied().zip(self.graph.module.block(block).arguments.iter().copied());
        let mut place =
            Place { at: InsertionPoint::End(block), values: values.collect(), is_outermost: false };
        self.depth += 1;
        let results = fill(self, &mut place)?;
        self.depth -= 1;
        let result_types = self.graph.module.types_of(&results);
        let end = self.graph.module.create_op(OpState::new(RETURN).operands(results).at(location));
        self.graph.module.append_op(block, end);
        let ty = Type::function(types.to_vec(), result_types);
        self.graph.module.op_mut(op).attributes.set(FUNC_TYPE, Attribute::Type(ty));
        Ok(Made { name })
    }

    fn unused_name(&self, what: &str) -> String {
        let first = self.graph.module.functions().count();
        (first..)
            .map(|number| format!("{what}.{number}"))
            .find(|name| self.graph.module.function(name).is_none())
            .unwrap_or_default()
    }

    fn types(&mut self, values: &[Output], place: &mut Place, at: OpId) -> Result<Vec<Type>, Obstacle> {
        let mut types = Vec::new();
        for &value in values {
            let value = self.value(value, place, at)?;
            types.push(self.graph.module.value_type(value).clone());
        }
        Ok(types)
    }

    /// A value at a place. A constant is made there.
    fn value(&mut self, value: Output, place: &mut Place, at: OpId) -> Result<ValueId, Obstacle> {
        let value = self.structure.resolve(value);
        if let Some(&known) = place.values.get(&value) {
            return Ok(known);
        }
        if let Some(node) = self.structure.is_constant(value) {
            self.emit_island(node, place)?;
            if let Some(&known) = place.values.get(&value) {
                return Ok(known);
            }
        }
        match value {
            Output::Outer(outer) if place.is_outermost => Ok(outer),
            _ => Err((at, "takes a value of another branch".to_owned())),
        }
    }

    /// The number of a Merge's input.
    fn index(&mut self, index: usize, place: &Place, at: OpId) -> Result<ValueId, Obstacle> {
        let mut builder = GraphBuilder::new(self.graph, self.evaluator, place.at);
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let made = builder.add_elements(&[], &[index]).map_err(|error| (at, error.message))?;
        self.created.extend(self.graph.module.defining_op(made));
        Ok(made)
    }

    fn append(
        &mut self,
        name: &str,
        operands: Vec<ValueId>,
        attributes: AttrDict,
        types: Vec<Type>,
        place: &Place,
        at: OpId,
    ) -> Vec<ValueId> {
        let location: Location = self.graph.module.op(at).location.clone();
        let mut state = OpState::new(name).operands(operands).results(types).at(location);
        state.attributes = attributes;
        let op = self.graph.module.create_op(state);
        self.insert(op, place);
        self.graph.module.op(op).results.clone()
    }

    fn insert(&mut self, op: OpId, place: &Place) {
        self.graph.module.insert_op(place.at, op);
        if place.is_outermost {
            self.created.push(op);
        }
    }
}
