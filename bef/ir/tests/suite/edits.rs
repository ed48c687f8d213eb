//! Random sequences of edits, compared after each edit with a naive model.

use crate::edit_model::{Model, ModelBlock};
use proptest::prelude::*;
use tfrt_ir::{BlockId, Builder, InsertionPoint, Module, OpId, OpState, RegionId, Type, ValueId, ValueMap};

/// One edit. Numbers pick among what there is.
#[derive(Clone, Debug)]
enum Edit {
    Create { operands: Vec<usize>, results: usize, regions: usize, at: (u8, usize) },
    SetOperand(usize, usize, usize),
    SetOperands(usize, Vec<usize>),
    InsertOperand(usize, usize, usize),
    RemoveOperand(usize, usize),
    ReplaceAll(usize, usize),
    ReplaceSome(usize, usize, usize),
    Move(usize, (u8, usize)),
    Detach(usize),
    Erase(usize),
    ReplaceOp(usize, Vec<usize>),
    Inline(usize, usize, Vec<usize>),
    Clone(usize, (u8, usize)),
    CloneOpsOf(usize, usize),
    CreateBlock(usize, usize),
    EraseBlock(usize),
    MoveBlock(usize, usize),
    MoveBlocks(usize, usize),
    MoveRegion(usize, usize),
    EraseRegion(usize),
    AddArgument(usize),
    RemoveArgument(usize, usize),
    Compact,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let n = || any::<usize>();
    let at = || (0u8..4, n());
    let list = || prop::collection::vec(n(), 0..5);
    let edit = prop_oneof![
        6 => (list(), 0usize..3, 0usize..3, at())
            .prop_map(|(operands, results, regions, at)| Edit::Create { operands, results, regions, at }),
        2 => (n(), n(), n()).prop_map(|(a, b, c)| Edit::SetOperand(a, b, c)),
        2 => (n(), list()).prop_map(|(a, b)| Edit::SetOperands(a, b)),
        1 => (n(), n(), n()).prop_map(|(a, b, c)| Edit::InsertOperand(a, b, c)),
        1 => (n(), n()).prop_map(|(a, b)| Edit::RemoveOperand(a, b)),
        2 => (n(), n()).prop_map(|(a, b)| Edit::ReplaceAll(a, b)),
        1 => (n(), n(), n()).prop_map(|(a, b, c)| Edit::ReplaceSome(a, b, c)),
        4 => (n(), at()).prop_map(|(a, b)| Edit::Move(a, b)),
        1 => n().prop_map(Edit::Detach),
        1 => n().prop_map(Edit::Erase),
        1 => (n(), list()).prop_map(|(a, b)| Edit::ReplaceOp(a, b)),
        1 => (n(), n(), list()).prop_map(|(a, b, c)| Edit::Inline(a, b, c)),
        1 => (n(), at()).prop_map(|(a, b)| Edit::Clone(a, b)),
        1 => (n(), n()).prop_map(|(a, b)| Edit::CloneOpsOf(a, b)),
        2 => (n(), 0usize..3).prop_map(|(a, b)| Edit::CreateBlock(a, b)),
        1 => n().prop_map(Edit::EraseBlock),
        1 => (n(), n()).prop_map(|(a, b)| Edit::MoveBlock(a, b)),
        1 => (n(), n()).prop_map(|(a, b)| Edit::MoveBlocks(a, b)),
        1 => (n(), n()).prop_map(|(a, b)| Edit::MoveRegion(a, b)),
        1 => n().prop_map(Edit::EraseRegion),
        1 => n().prop_map(Edit::AddArgument),
        1 => (n(), n()).prop_map(|(a, b)| Edit::RemoveArgument(a, b)),
        1 => Just(Edit::Compact),
    ];
    prop::collection::vec(edit, 0..60)
}

/// A module and its model, edited together.
struct Pair {
    module: Module,
    model: Model,
    /// All values whose uses are compared, erased ones included.
    values: Vec<ValueId>,
}

impl Pair {
    fn new() -> Pair {
        let module = Module::new();
        let mut model = Model::default();
        model.learn(&module, module.root());
        Pair { module, model, values: Vec::new() }
    }

    /// An operation other than the module.
    fn op(&self, index: usize) -> Option<OpId> {
        let ops = &self.model.ops[1..];
        ops.get(index % ops.len().max(1)).map(|op| op.id)
    }

    fn block(&self, index: usize) -> BlockId {
        self.model.blocks[index % self.model.blocks.len()].id
    }

    fn region(&self, index: usize) -> RegionId {
        self.model.regions[index % self.model.regions.len()].id
    }

    fn value(&self, index: usize) -> Option<ValueId> {
        self.values.get(index % self.values.len().max(1)).copied()
    }

    fn value_list(&self, indices: &[usize]) -> Vec<ValueId> {
        indices.iter().filter_map(|&index| self.value(index)).collect()
    }

    fn point(&self, (kind, index): (u8, usize)) -> InsertionPoint {
        match (kind, self.op(index)) {
            (0, Some(op)) => InsertionPoint::Before(op),
            (1, Some(op)) => InsertionPoint::After(op),
            (2, _) => InsertionPoint::Start(self.block(index)),
            _ => InsertionPoint::End(self.block(index)),
        }
    }

    /// Whether moving `op` to the point would put it into itself.
    fn is_cyclic(&self, op: OpId, at: InsertionPoint) -> bool {
        let block = match at {
            InsertionPoint::Before(target) | InsertionPoint::After(target) => self.model.parent(target),
            InsertionPoint::Start(block) | InsertionPoint::End(block) => Some(block),
        };
        block.is_some_and(|block| self.model.holds(op, block))
    }

    /// Notes an operation that has just been created, with all in it.
    fn learn(&mut self, op: OpId) {
        self.model.learn(&self.module, op);
        for op in self.module.walk(op) {
            self.values.extend(&self.module.op(op).results);
            for &region in &self.module.op(op).regions {
                for &block in &self.module.region(region).blocks {
                    self.values.extend(&self.module.block(block).arguments);
                }
            }
        }
    }

    fn apply(&mut self, edit: &Edit) -> Option<()> {
        match edit {
            // Copies of copies would double the module each time.
            Edit::Clone(..) | Edit::CloneOpsOf(..) if self.model.ops.len() > 100 => return None,
            Edit::Create { operands, results, regions, at } => {
                let mut state = OpState::new("op").operands(self.value_list(operands));
                state.result_types = vec![Type::F32; *results];
                for _ in 0..*regions {
                    let region = self.module.create_region();
                    self.module.create_block(region, &[Type::F32]);
                    state = state.region(region);
                }
                let at = self.point(*at);
                let op = Builder::new(&mut self.module, at).create(state);
                self.learn(op);
                self.model.insert(at, op);
            }
            Edit::SetOperand(op, index, value) => {
                let (op, value) = (self.op(*op)?, self.value(*value)?);
                let index = index.checked_rem(self.model.op(op).operands.len())?;
                self.module.set_operand(op, index, value);
                self.model.op(op).operands[index] = value;
            }
            Edit::SetOperands(op, values) => {
                let (op, values) = (self.op(*op)?, self.value_list(values));
                self.module.set_operands(op, values.clone());
                self.model.op(op).operands = values;
            }
            Edit::InsertOperand(op, index, value) => {
                let (op, value) = (self.op(*op)?, self.value(*value)?);
                let index = index % (self.model.op(op).operands.len() + 1);
                self.module.insert_operand(op, index, value);
                self.model.op(op).operands.insert(index, value);
            }
            Edit::RemoveOperand(op, index) => {
                let op = self.op(*op)?;
                let index = index.checked_rem(self.model.op(op).operands.len())?;
                let removed = self.module.remove_operand(op, index);
                assert_eq!(removed, self.model.op(op).operands.remove(index));
            }
            Edit::ReplaceAll(from, to) => {
                let (from, to) = (self.value(*from)?, self.value(*to)?);
                self.module.replace_all_uses(from, to);
                self.model.replace(from, to, |_| true);
            }
            Edit::ReplaceSome(from, to, index) => {
                let (from, to, index) = (self.value(*from)?, self.value(*to)?, index % 3);
                self.module.replace_uses_if(from, to, |_, found| found.index == index);
                self.model.replace(from, to, |found| found.index == index);
            }
            Edit::Move(op, at) => {
                let (op, at) = (self.op(*op)?, self.point(*at));
                if self.is_cyclic(op, at) {
                    return None;
                }
                match at {
                    InsertionPoint::Before(target) => self.module.move_before(op, target),
                    InsertionPoint::After(target) => self.module.move_after(op, target),
                    at => self.module.insert_op(at, op),
                }
                self.model.insert(at, op);
            }
            Edit::Detach(op) => {
                let op = self.op(*op)?;
                self.module.detach_op(op);
                self.model.detach(op);
            }
            Edit::Erase(op) => {
                let op = self.op(*op)?;
                self.module.erase_op(op);
                self.model.erase(op);
                assert!(self.module.is_erased(op));
            }
            Edit::ReplaceOp(op, values) => {
                let (op, values) = (self.op(*op)?, self.value_list(values));
                self.module.replace_op(op, &values);
                for (result, value) in self.model.op(op).results.clone().into_iter().zip(values) {
                    self.model.replace(result, value, |_| true);
                }
                self.model.erase(op);
            }
            _ => return self.apply_to_blocks(edit),
        }
        Some(())
    }

    fn apply_to_blocks(&mut self, edit: &Edit) -> Option<()> {
        let body = self.module.body();
        match edit {
            Edit::Inline(op, block, values) => {
                let (op, block, values) = (self.op(*op)?, self.block(*block), self.value_list(values));
                let to = self.model.parent(op)?;
                let around = self.model.block(block).ops.clone();
                if block == body || to == block || around.iter().any(|&op| self.model.holds(op, to)) {
                    return None;
                }
                self.module.inline_block_before(op, block, &values);
                for (argument, value) in self.model.block(block).arguments.clone().into_iter().zip(values) {
                    self.model.replace(argument, value, |_| true);
                }
                for inner in around {
                    self.model.insert(InsertionPoint::Before(op), inner);
                }
                self.model.erase_block(block);
            }
            Edit::Clone(op, at) => {
                let (op, at) = (self.op(*op)?, self.point(*at));
                let mut map = ValueMap::new();
                let copy = self.module.clone_op(op, &mut map);
                let (mut originals, mut copies) = (Vec::new(), Vec::new());
                originals.extend(self.module.walk(op));
                copies.extend(self.module.walk(copy));
                assert_eq!(originals.len(), copies.len());
                for (&from, &to) in originals.iter().zip(&copies) {
                    let (from, to) = (self.module.op(from), self.module.op(to));
                    assert!(
                        from.operands.iter().map(|&value| map.get(value)).eq(to.operands.iter().copied())
                    );
                    assert!(from.results.iter().map(|&value| map.get(value)).eq(to.results.iter().copied()));
                    assert_eq!(from.regions.len(), to.regions.len());
                }
                self.learn(copy);
                self.module.insert_op(at, copy);
                self.model.insert(at, copy);
            }
            Edit::CloneOpsOf(from, to) => {
                let (from, to) = (self.block(*from), self.block(*to));
                let before = self.module.last_op(to);
                let count = self.module.op_count(from);
                self.module.clone_ops_of(from, to, &mut ValueMap::new());
                let mut copies = Vec::new();
                let mut next = before.map_or(self.module.first_op(to), |op| self.module.next_op(op));
                while let Some(op) = next {
                    copies.push(op);
                    next = self.module.next_op(op);
                }
                assert_eq!(copies.len(), count);
                for copy in copies {
                    self.learn(copy);
                    self.model.insert(InsertionPoint::End(to), copy);
                }
            }
            Edit::CreateBlock(region, arguments) => {
                let region = self.region(*region);
                if self.model.owner(region) == Some(self.module.root()) {
                    return None;
                }
                let id = self.module.create_block(region, &vec![Type::F32; *arguments]);
                let arguments = self.module.block(id).arguments.clone();
                self.values.extend(&arguments);
                self.model.blocks.push(ModelBlock { id, arguments, ops: Vec::new() });
                let region = self.model.regions.iter_mut().find(|other| other.id == region)?;
                region.blocks.push(id);
            }
            Edit::EraseBlock(block) => {
                let block = self.block(*block);
                if block != body {
                    self.module.erase_block(block);
                    self.model.erase_block(block);
                }
            }
            Edit::MoveBlock(block, region) => {
                let (block, region) = (self.block(*block), self.region(*region));
                let owner = self.model.owner(region)?;
                let inside = |pair: &Pair, op| {
                    op == owner || pair.model.parent(owner).is_some_and(|b| pair.model.holds(op, b))
                };
                let ops = self.model.block(block).ops.clone();
                if block == body || ops.into_iter().any(|op| inside(self, op)) {
                    return None;
                }
                self.module.append_block(region, block);
                for other in &mut self.model.regions {
                    other.blocks.retain(|&other| other != block);
                }
                self.model.regions.iter_mut().find(|other| other.id == region)?.blocks.push(block);
            }
            Edit::MoveBlocks(from, to) => {
                let (from, to) = (self.region(*from), self.region(*to));
                let blocks = self.model.regions.iter().find(|other| other.id == from)?.blocks.clone();
                let owner = self.model.owner(to)?;
                let within = |block: BlockId| {
                    let mut ops = self.model.blocks.iter().find(|other| other.id == block).into_iter();
                    ops.any(|found| {
                        found.ops.iter().any(|&op| {
                            op == owner || self.model.parent(owner).is_some_and(|b| self.model.holds(op, b))
                        })
                    })
                };
                if from == to || blocks.contains(&body) || blocks.iter().any(|&block| within(block)) {
                    return None;
                }
                self.module.move_blocks(from, to);
                self.model.regions.iter_mut().find(|other| other.id == from)?.blocks.clear();
                self.model.regions.iter_mut().find(|other| other.id == to)?.blocks.extend(blocks);
            }
            Edit::MoveRegion(region, op) => {
                let (region, op) = (self.region(*region), self.op(*op)?);
                let owner = self.model.owner(region);
                let inside = self.model.parent(op).is_some_and(|block| {
                    let mut block = Some(block);
                    while let Some(at) = block {
                        let around = self.model.region_of(at);
                        if around == Some(region) {
                            return true;
                        }
                        block = around.and_then(|r| self.model.owner(r)).and_then(|op| self.model.parent(op));
                    }
                    false
                });
                if owner == Some(self.module.root()) || inside {
                    return None;
                }
                self.module.append_region(op, region);
                if let Some(owner) = owner {
                    self.model.op(owner).regions.retain(|&other| other != region);
                }
                self.model.op(op).regions.push(region);
            }
            Edit::EraseRegion(region) => {
                let region = self.region(*region);
                if self.model.owner(region) != Some(self.module.root()) {
                    self.module.erase_region(region);
                    self.model.erase_region(region);
                }
            }
            Edit::AddArgument(block) => {
                let block = self.block(*block);
                let value = self.module.add_argument(block, Type::F32);
                self.model.block(block).arguments.push(value);
                self.values.push(value);
            }
            Edit::RemoveArgument(block, index) => {
                let block = self.block(*block);
                let index = index.checked_rem(self.model.block(block).arguments.len())?;
                self.module.remove_argument(block, index);
                self.model.block(block).arguments.remove(index);
            }
            _ => self.compact(),
        }
        Some(())
    }

    fn compact(&mut self) {
        let maps = self.module.compact();
        let model = &mut self.model;
        for op in &mut model.ops {
            op.id = maps.op(op.id).expect("it lives");
            op.results.iter_mut().for_each(|value| *value = maps.value(*value).expect("it lives"));
            op.operands.iter_mut().for_each(|value| *value = maps.value(*value).expect("it is used"));
            op.regions.iter_mut().for_each(|region| *region = maps.region(*region).expect("it lives"));
        }
        for block in &mut model.blocks {
            block.id = maps.block(block.id).expect("it lives");
            block.arguments.iter_mut().for_each(|value| *value = maps.value(*value).expect("it lives"));
            block.ops.iter_mut().for_each(|op| *op = maps.op(*op).expect("it lives"));
        }
        for region in &mut model.regions {
            region.id = maps.region(region.id).expect("it lives");
            region.blocks.iter_mut().for_each(|block| *block = maps.block(*block).expect("it lives"));
        }
        self.values = self.values.iter().filter_map(|&value| maps.value(value)).collect();
        let module = &self.module;
        let counts = (module.op_id_count(), module.block_id_count(), module.region_id_count());
        assert_eq!(counts, (model.ops.len(), model.blocks.len(), model.regions.len()));
        assert_eq!(module.value_id_count(), self.values.len());
    }
}

proptest! {
    #[test]
    fn edits_keep_a_module_consistent(edits in edits()) {
        let mut pair = Pair::new();
        for edit in &edits {
            pair.apply(edit);
            pair.model.check(&pair.module, &pair.values);
        }
    }
}

/// Insertions at one place use up the keys between two neighbours again and again.
#[test]
fn order_survives_insertions_at_one_place() {
    let mut module = Module::new();
    let body = module.body();
    let [first, last] = [0, 1].map(|_| module.create_op(OpState::new("end")));
    module.append_op(body, first);
    module.append_op(body, last);
    for index in 0..20_000 {
        let op = module.create_op(OpState::new("op"));
        let at = match index % 3 {
            0 => InsertionPoint::After(first),
            1 => InsertionPoint::Before(last),
            _ => InsertionPoint::Start(body),
        };
        module.insert_op(at, op);
    }
    let ops: Vec<OpId> = module.ops_in(body).map(|(op, _)| op).collect();
    assert_eq!(ops.len(), 20_002);
    assert!(ops.is_sorted_by(|&a, &b| module.is_before(a, b) && !module.is_before(b, a)));
}

/// What a use refers to may be erased; the verifier then says so.
#[test]
fn uses_of_erased_results_are_reported() {
    let mut module = Module::new();
    let body = module.body();
    let mut builder = Builder::new(&mut module, InsertionPoint::End(body));
    let value = builder.create_value(OpState::new("a.make"), Type::F32);
    let user = builder.create(OpState::new("a.use").operands([value]));
    let make = module.defining_op(value).expect("an operation makes it");
    module.erase_op(make);
    let found = tfrt_ir::verify(&module, &tfrt_ir::OpRegistry::new());
    assert!(found.to_string().contains("uses an undefined value as operand #0"), "{found}");
    module.erase_op(user);
    assert!(tfrt_ir::verify(&module, &tfrt_ir::OpRegistry::new()).is_empty());
}
