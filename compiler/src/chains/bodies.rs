//! Bodies, and the operations that run them: functions, and the regions of branches and loops.

use std::collections::HashMap;

use tfrt_ir::{Attribute, BlockId, FUNC, Module, Name, OpId, Operation, RegionId};

/// The attribute of functions whose kernels run one after the other.
const SYNC: &str = "tfrt.sync";

/// A block that runs as a whole: the body of a function, or a region of an operation.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The function, or the operation with the region.
    pub(super) owner: OpId,
    /// The operations.
    pub(super) block: BlockId,
    /// Whether the kernels run one after the other, as the text has them.
    pub(super) is_sync: bool,
    /// Whether an operation of unknown meaning refers to it, so that nothing is known of its calls.
    pub(super) is_opaque: bool,
    /// Whether an operation of known meaning runs it.
    pub(super) is_called: bool,
}

/// How an operation runs its bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Once.
    Once,
    /// One of them, once.
    Branch,
    /// A number of times, each on the results of the time before.
    Repeat,
    /// As long as its last result is true, each time on the results of the time before.
    While,
    /// Many times at once, on different bounds.
    Parallel,
}

impl Control {
    /// Whether the results of one run are the arguments of the next.
    pub(super) fn is_loop(self) -> bool {
        matches!(self, Control::Repeat | Control::While)
    }
}

/// What an operation that runs bodies does.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    /// How it runs them.
    pub(super) control: Control,
    /// The bodies, by number.
    pub(super) callees: Vec<usize>,
}

impl Invocation {
    /// Returns the operand that an argument of the bodies comes from.
    pub(super) fn operand_of(&self, argument: usize) -> usize {
        match self.control {
            Control::Once => argument,
            Control::Branch | Control::Repeat | Control::While => argument + 1,
            Control::Parallel if argument < 2 => argument,
            Control::Parallel => argument + 1,
        }
    }

    /// Whether the operation waits for its first operand, which decides what runs.
    pub(super) fn has_decision(&self) -> bool {
        matches!(self.control, Control::Branch | Control::Repeat | Control::While)
    }
}

/// The bodies of a module.
#[derive(Debug)]
pub(crate) struct Bodies {
    list: Vec<Body>,
    by_name: HashMap<Name, usize>,
    by_block: HashMap<BlockId, usize>,
    invocations: HashMap<OpId, Invocation>,
}

impl Bodies {
    /// Finds the bodies of a module, and the operations that run them.
    pub(crate) fn new(module: &Module) -> Bodies {
        let mut bodies = Bodies {
            list: Vec::new(),
            by_name: HashMap::new(),
            by_block: HashMap::new(),
            invocations: HashMap::new(),
        };
        for op in module.walk(module.root()).skip(1) {
            let data = module.op(op);
            let is_function = data.name == FUNC;
            for block in data.regions.iter().filter_map(|&region| module.entry_block(region)) {
                let index = bodies.list.len();
                if let (true, Some(function)) = (is_function, module.as_function(op)) {
                    bodies.by_name.entry(function.name().into()).or_insert(index);
                }
                bodies.by_block.insert(block, index);
                let is_sync = data.attr(SYNC).is_some();
                bodies.list.push(Body { owner: op, block, is_sync, is_opaque: false, is_called: false });
            }
        }
        for op in module.walk(module.root()).skip(1).filter(|&op| module.op(op).name != FUNC) {
            bodies.connect(module, op);
        }
        bodies
    }

    /// Notes which bodies an operation runs.
    fn connect(&mut self, module: &Module, op: OpId) {
        let data = module.op(op);
        if let Some(invocation) = self.read_invocation(module, data)
            && invocation.callees.iter().all(|&callee| self.fits(module, data, &invocation, callee))
        {
            for &callee in &invocation.callees {
                self.list[callee].is_called = true;
            }
            self.invocations.insert(op, invocation);
            return;
        }
        let regions = data.regions.iter().filter_map(|&region| self.of_region(module, region));
        let functions = references(data).filter_map(|name| self.by_name.get(name).copied());
        let unknown: Vec<usize> = regions.chain(functions).collect();
        for body in unknown {
            self.list[body].is_opaque = true;
        }
    }

    fn read_invocation(&self, module: &Module, op: &Operation) -> Option<Invocation> {
        let named = |attr: &str| {
            let name = op.attr(attr)?.as_flat_symbol()?;
            self.by_name.get(name).copied()
        };
        let region = |index: usize| self.of_region(module, *op.regions.get(index)?);
        let (control, callees) = match &*op.name {
            "tfrt.call" => (Control::Once, vec![named("callee")]),
            "tfrt_test.do.async" => (Control::Once, vec![region(0)]),
            "tfrt.if" => (Control::Branch, vec![region(0), region(1)]),
            "tfrt.cond" => (Control::Branch, vec![named("a_true_fn"), named("b_false_fn")]),
            "tfrt.case" => {
                let branches = op.attr("branches")?.as_array()?.iter();
                let find = |branch: &Attribute| self.by_name.get(branch.as_flat_symbol()?).copied();
                (Control::Branch, branches.map(find).collect())
            }
            "tfrt.repeat.i32" => (Control::Repeat, vec![region(0)]),
            "tfrt.while" => (Control::While, vec![named("body_fn")]),
            "tfrt.parallel_for.i32" => (Control::Parallel, vec![region(0)]),
            "tfrt.parallel_call.i32" => (Control::Parallel, vec![named("callee")]),
            _ => return None,
        };
        Some(Invocation { control, callees: callees.into_iter().collect::<Option<_>>()? })
    }

    /// Whether the numbers of arguments and results fit, as the verifier demands.
    fn fits(&self, module: &Module, op: &Operation, invocation: &Invocation, callee: usize) -> bool {
        let block = self.list[callee].block;
        let arguments = module.block(block).arguments.len();
        let results = results_of(module, block).len();
        let operands = op.operands.len();
        let has_operands = match invocation.control {
            Control::Once => operands == arguments,
            _ => operands == arguments + 1,
        };
        let expected = op.results.len();
        has_operands
            && match invocation.control {
                Control::While => results == expected + 1,
                Control::Parallel => results <= 1 && expected == 1,
                _ => results == expected,
            }
    }

    fn of_region(&self, module: &Module, region: RegionId) -> Option<usize> {
        self.by_block.get(&module.entry_block(region)?).copied()
    }

    /// Returns the bodies, each at its number.
    pub(super) fn list(&self) -> &[Body] {
        &self.list
    }

    /// Returns the body of a function.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns how an operation runs bodies; `None` for other operations and for those of unknown
    /// meaning.
    pub(super) fn invocation(&self, op: OpId) -> Option<&Invocation> {
        self.invocations.get(&op)
    }

    /// Returns the operations that run bodies.
    pub(super) fn invocations(&self) -> impl Iterator<Item = (OpId, &Invocation)> {
        self.invocations.iter().map(|(&op, invocation)| (op, invocation))
    }

    /// Returns the bodies that run when this one does, itself first.
    pub(super) fn reachable(&self, module: &Module, from: usize) -> Vec<usize> {
        let mut found = vec![from];
        let mut is_found = vec![false; self.list.len()];
        is_found[from] = true;
        let mut next = 0;
        while let Some(&body) = found.get(next) {
            next += 1;
            for (_, data) in module.ops_in(self.list[body].block) {
                let regions = data.regions.iter().filter_map(|&region| self.of_region(module, region));
                let functions = references(data).filter_map(|name| self.by_name.get(name).copied());
                for callee in regions.chain(functions) {
                    if !std::mem::replace(&mut is_found[callee], true) {
                        found.push(callee);
                    }
                }
            }
        }
        found
    }
}

/// What the block returns.
pub(super) fn results_of(module: &Module, block: BlockId) -> &[tfrt_ir::ValueId] {
    module.last_op(block).map_or(&[], |last| &module.op(last).operands)
}

/// The functions that an operation refers to by attributes, also within arrays.
fn references(op: &Operation) -> impl Iterator<Item = &str> {
    let mut stack: Vec<&Attribute> = op.attributes.iter().map(|(_, value)| value).collect();
    std::iter::from_fn(move || {
        while let Some(value) = stack.pop() {
            stack.extend(value.as_array().unwrap_or_default());
            if let Some(name) = value.as_flat_symbol() {
                return Some(name.as_str());
            }
        }
        None
    })
}
