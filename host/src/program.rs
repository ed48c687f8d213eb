//! A loaded program: a verified file with its kernels found and its functions planned.
//!
//! Loading does once what every call would repeat: it looks kernels up by name, checks each record against
//! its kernel's signature, reads scalar attributes, and works out where each value is used last. The plan of
//! a function is a handful of flat tables; running it allocates nothing for bookkeeping.

#![expect(unsafe_code, reason = "where a step's operands lie is settled when it is loaded, not at every use")]

use std::{collections::HashMap, fmt, sync::Arc};

use tfrt_bef::{FunctionKind, KernelRecord, VerifiedBef};

use crate::{
    diagnostic::{Diagnostic, ErrorCode, SourceLocation},
    kernel::{
        AttributeSpec, Kernel, KernelFn, KernelRegistry, NativeFn, Placement, ScalarFn,
        attributes::AttributeCell, frame::Operand,
    },
};

/// One kernel call.
#[derive(Clone)]
pub(crate) struct Step {
    /// The kernel's function, at hand without a look at the kernel.
    pub(crate) run: Arc<KernelFn>,
    /// A shorter way to call it when its arguments are scalars.
    pub(crate) scalar: Option<ScalarFn>,
    /// Where its operands begin: arguments, then results.
    operands: u32,
    argument_count: u32,
    result_count: u32,
    attributes: u32,
    attribute_count: u32,
    functions: u32,
    function_count: u32,
    pub(crate) kernel: u32,
    pub(crate) location: u32,
    pub(crate) dispatch: Dispatch,
    /// Whether nobody uses some result.
    pub(crate) has_unused_result: bool,
}

impl Step {
    /// Numbers of arguments and results.
    #[inline]
    pub(crate) fn operand_counts(&self) -> (usize, usize) {
        (self.argument_count as usize, self.result_count as usize)
    }
}

/// How the executor treats a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dispatch {
    /// Run at once, whatever the arguments are.
    NonStrict,
    /// Wait for the arguments, then run at once.
    Inline,
    /// As [`Dispatch::Inline`], but it computes for long: if it had to wait, and others are ready on the same thread
    /// by then, it goes to the work queue after all.
    Long,
    /// Wait for the arguments, then run on the work queue.
    Queue,
    /// Wait for the arguments, then run on the blocking pool.
    Blocking,
}

/// A function's kernels in file order, which verification proved to be an order of their dependences.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// A result marked as last used is used by nobody.
    operands: Vec<Operand>,
    attributes: Vec<AttributeCell>,
    functions: Vec<u32>,
    pub(crate) register_count: usize,
    /// Registers of the function's own arguments; marked as last used if nobody uses them.
    pub(crate) parameters: Vec<Operand>,
    /// Registers of the function's results.
    pub(crate) returns: Vec<Operand>,
}

/// What a function runs.
pub(crate) enum Body {
    Async(Plan),
    Sync(Plan),
    Native(Arc<NativeFn>),
}

/// A program ready to run.
pub struct BefFile {
    bef: VerifiedBef,
    kernels: Vec<Arc<Kernel>>,
    bodies: Vec<Body>,
    by_name: HashMap<String, u32>,
}

/// A function of a loaded program.
#[derive(Clone, Copy)]
pub struct FunctionRef<'f> {
    program: &'f Arc<BefFile>,
    index: u32,
}

/// A function that keeps its program alive.
#[derive(Clone, Debug)]
pub struct Function {
    program: Arc<BefFile>,
    index: u32,
}

impl BefFile {
    /// Resolves a verified file against the kernels at hand.
    ///
    /// # Errors
    /// All kernels and native functions that are unknown, and all records that do not fit their kernel, each at
    /// the place of its first use.
    pub fn load(bef: VerifiedBef, registry: &KernelRegistry) -> Result<Arc<Self>, Vec<Diagnostic>> {
        let mut loader = Loader { bef: &bef, registry, errors: Vec::new(), kernels: Vec::new() };
        loader.find_kernels();
        let bodies = loader.bodies();
        let Loader { errors, kernels, .. } = loader;
        if !errors.is_empty() {
            return Err(errors);
        }
        let kernels = kernels.into_iter().flatten().collect();
        let named = bef.functions().iter().enumerate().filter(|(_, info)| !info.name.is_empty());
        let by_name = named.map(|(index, info)| (info.name.to_string(), index as u32)).collect();
        Ok(Arc::new(Self { by_name, bef, kernels, bodies }))
    }

    /// The file behind the program.
    pub fn bef(&self) -> &VerifiedBef {
        &self.bef
    }

    /// The function of this name.
    pub fn function<'f>(self: &'f Arc<Self>, name: &str) -> Option<FunctionRef<'f>> {
        self.by_name.get(name).map(|&index| FunctionRef::new(self, index))
    }

    /// All functions in file order, nested ones included (they have no name).
    pub fn functions<'f>(self: &'f Arc<Self>) -> impl ExactSizeIterator<Item = FunctionRef<'f>> {
        (0..self.bodies.len()).map(|index| FunctionRef::new(self, index as u32))
    }

    pub(crate) fn source_location(&self, offset: u32) -> Option<SourceLocation> {
        source_location(&self.bef, offset)
    }

    pub(crate) fn kernel_name(&self, kernel: u32) -> Option<&str> {
        self.kernels.get(kernel as usize).map(|kernel| kernel.name())
    }
}

fn source_location(bef: &VerifiedBef, offset: u32) -> Option<SourceLocation> {
    let location = bef.location(offset)?;
    (location.line > 0).then(|| SourceLocation {
        file: location.file.into(),
        line: location.line,
        column: location.column,
    })
}

impl<'f> FunctionRef<'f> {
    pub(crate) fn new(program: &'f Arc<BefFile>, index: u32) -> Self {
        Self { program, index }
    }

    /// The function's name; empty for a nested one.
    pub fn name(&self) -> &'f str {
        &self.info().name
    }

    /// MLIR spellings of the argument types.
    pub fn argument_types(&self) -> impl ExactSizeIterator<Item = &'f str> + use<'f> {
        let bef = &self.program.bef;
        self.info().argument_types.iter().map(|&index| bef.type_name(index as usize))
    }

    /// MLIR spellings of the result types.
    pub fn result_types(&self) -> impl ExactSizeIterator<Item = &'f str> + use<'f> {
        let bef = &self.program.bef;
        self.info().result_types.iter().map(|&index| bef.type_name(index as usize))
    }

    /// How the function runs.
    pub fn kind(&self) -> FunctionKind {
        self.info().kind
    }

    /// A handle that keeps the program alive.
    pub fn to_function(self) -> Function {
        Function { program: self.program.clone(), index: self.index }
    }

    /// The program the function belongs to.
    pub fn program(&self) -> &'f Arc<BefFile> {
        self.program
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    fn info(&self) -> &'f tfrt_bef::FunctionInfo {
        &self.program.bef.functions()[self.index as usize]
    }

    pub(crate) fn body(&self) -> &'f Body {
        &self.program.bodies[self.index as usize]
    }
}

impl Function {
    /// The function, borrowed.
    pub fn as_ref(&self) -> FunctionRef<'_> {
        FunctionRef::new(&self.program, self.index)
    }
}

struct Loader<'b> {
    bef: &'b VerifiedBef,
    registry: &'b KernelRegistry,
    errors: Vec<Diagnostic>,
    kernels: Vec<Option<Arc<Kernel>>>,
}

impl Loader<'_> {
    fn find_kernels(&mut self) {
        let names = (0..self.bef.kernel_count()).map(|index| self.bef.kernel_name(index));
        self.kernels = names.map(|name| self.registry.kernel(name).cloned()).collect();
    }

    fn error(&mut self, code: ErrorCode, location: u32, message: String) {
        let mut error = Diagnostic::new(code, message);
        error.location = source_location(self.bef, location);
        self.errors.push(error);
    }

    fn bodies(&mut self) -> Vec<Body> {
        let bef = self.bef;
        let mut unknown = vec![false; self.kernels.len()];
        let infos = bef.functions().iter().enumerate();
        infos.map(|(index, info)| self.body(index, info, &mut unknown)).collect()
    }

    fn body(&mut self, index: usize, info: &tfrt_bef::FunctionInfo, unknown: &mut [bool]) -> Body {
        if info.kind == FunctionKind::Native {
            let native = self.registry.native(&info.name).cloned();
            return Body::Native(native.unwrap_or_else(|| {
                self.error(ErrorCode::NotFound, u32::MAX, format!("unknown native function '{}'", info.name));
                Arc::new(|_, _, _| Vec::new())
            }));
        }
        let plan = self.plan(index, unknown);
        if info.kind == FunctionKind::Sync { Body::Sync(plan) } else { Body::Async(plan) }
    }

    fn plan(&mut self, index: usize, unknown: &mut [bool]) -> Plan {
        let mut plan = Plan::default();
        let Some(function) = self.bef.function(index) else { return plan };
        plan.register_count = function.register_use_counts().len();
        if plan.register_count > Operand::REGISTER_MAX as usize {
            let message = format!("a function has {} registers", plan.register_count);
            self.error(ErrorCode::ResourceExhausted, function.location(), message);
            return plan;
        }
        for (number, record) in function.kernels().enumerate() {
            if number == 0 {
                // The pseudo kernel defines the parameters, after a register for kernels without arguments to hang
                // on, which this executor has no use for.
                let parameters = self.bef.functions()[index].argument_types.len();
                let first = record.results().len().saturating_sub(parameters);
                plan.parameters = record.results()[first..].iter().map(|&r| Operand::new(r)).collect();
            } else {
                self.step(&mut plan, &record, unknown);
            }
        }
        plan.returns = function.result_registers().iter().map(|&r| Operand::new(r)).collect();
        plan.seal();
        plan
    }

    fn step(&mut self, plan: &mut Plan, record: &KernelRecord<'_>, unknown: &mut [bool]) {
        let code = record.kernel_code() as usize;
        let Some(kernel) = self.kernels[code].clone() else {
            if !std::mem::replace(&mut unknown[code], true) {
                let message = format!("unknown kernel name '{}'", self.bef.kernel_name(code));
                self.error(ErrorCode::NotFound, record.location(), message);
            }
            return;
        };
        let counts = (record.attributes().len(), record.functions().len(), record.results().len());
        if let Some(why) = kernel.signature().mismatch(record.arguments().len(), counts.0, counts.1, counts.2)
        {
            self.error(
                ErrorCode::InvalidArgument,
                record.location(),
                format!("kernel '{}': {why}", kernel.name()),
            );
            return;
        }
        let dispatch = match kernel.placement() {
            _ if record.nonstrict() || kernel.is_non_strict() => Dispatch::NonStrict,
            Placement::Inline => Dispatch::Inline,
            Placement::Parallel => Dispatch::Queue,
            Placement::Blocking => Dispatch::Blocking,
        };
        plan.steps.push(Step {
            run: kernel.function().clone(),
            scalar: kernel.scalar().filter(|_| dispatch == Dispatch::Inline),
            operands: plan.operands.len() as u32,
            argument_count: record.arguments().len() as u32,
            result_count: counts.2 as u32,
            attributes: plan.attributes.len() as u32,
            attribute_count: counts.0 as u32,
            functions: plan.functions.len() as u32,
            function_count: counts.1 as u32,
            kernel: code as u32,
            location: record.location(),
            dispatch,
            has_unused_result: false,
        });
        let operands = record.arguments().iter().chain(record.results());
        plan.operands.extend(operands.map(|&register| Operand::new(register)));
        plan.functions.extend(record.functions());
        for (number, &offset) in record.attributes().iter().enumerate() {
            let signature = kernel.signature();
            let named = signature.attributes.get(number);
            let spec = named.map(|a| a.spec).or(signature.rest_attributes).unwrap_or(AttributeSpec::Any);
            match AttributeCell::resolve(self.bef.attribute(offset), offset, spec) {
                Ok(cell) => plan.attributes.push(cell),
                Err(why) => {
                    let name = named.map_or("?", |a| a.name);
                    let message = format!("kernel '{}': attribute {number} ('{name}'): {why}", kernel.name());
                    self.error(ErrorCode::InvalidArgument, record.location(), message);
                }
            }
        }
    }
}

/// A step's parts of the tables.
impl Plan {
    /// Arguments and results.
    #[inline]
    pub(crate) fn operands_of(&self, step: &Step) -> (&[Operand], &[Operand]) {
        self.all_operands_of(step).split_at(step.argument_count as usize)
    }

    /// Arguments, then results.
    #[inline]
    pub(crate) fn all_operands_of(&self, step: &Step) -> &[Operand] {
        let first = step.operands as usize;
        let count = (step.argument_count + step.result_count) as usize;
        debug_assert!(first + count <= self.operands.len());
        // SAFETY: the loader made the step together with its part of the table, and both are only read since.
        unsafe { self.operands.get_unchecked(first..first + count) }
    }

    pub(crate) fn attributes_of(&self, step: &Step) -> &[AttributeCell] {
        &self.attributes[step.attributes as usize..][..step.attribute_count as usize]
    }

    pub(crate) fn functions_of(&self, step: &Step) -> &[u32] {
        &self.functions[step.functions as usize..][..step.function_count as usize]
    }
}

impl Plan {
    /// Marks last uses, unused results and what is worth the queue.
    fn seal(&mut self) {
        self.place();
        let mut used = vec![false; self.register_count];
        let mut mark = |operand: &mut Operand| {
            if !std::mem::replace(&mut used[operand.register()], true) {
                operand.set_last_use();
            }
        };
        self.returns.iter_mut().rev().for_each(&mut mark);
        for step in self.steps.iter_mut().rev() {
            let operands = &mut self.operands[step.operands as usize..];
            let (arguments, results) = operands.split_at_mut(step.argument_count as usize);
            // A result that nobody behind uses, nobody uses.
            let results = &mut results[..step.result_count as usize];
            results.iter_mut().for_each(&mut mark);
            step.has_unused_result = results.iter().any(|result| result.is_last_use());
            arguments.iter_mut().rev().for_each(&mut mark);
        }
        self.parameters.iter_mut().for_each(&mut mark);
    }

    /// Keeps a long kernel off the queue when nothing could run beside it.
    ///
    /// Kernels get a level: one more than the longest chain of long kernels that leads to them. Long kernels of
    /// one level may run beside each other, so all but the last of them go to the queue; the thread at hand runs
    /// that one itself.
    fn place(&mut self) {
        if self.steps.iter().all(|step| step.dispatch != Dispatch::Queue) {
            return;
        }
        let mut level_of = vec![0u32; self.register_count];
        let mut last_at_level: Vec<usize> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let (arguments, results) = self.operands_of(step);
            let mut level = arguments.iter().map(|o| level_of[o.register()]).max().unwrap_or(0);
            if step.dispatch == Dispatch::Queue {
                if last_at_level.len() <= level as usize {
                    last_at_level.resize(level as usize + 1, usize::MAX);
                }
                last_at_level[level as usize] = number;
                level += 1;
            }
            for result in results {
                level_of[result.register()] = level;
            }
        }
        for number in last_at_level.into_iter().filter(|&number| number != usize::MAX) {
            self.steps[number].dispatch = Dispatch::Long;
        }
    }
}

impl fmt::Debug for BefFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BefFile({} functions, {} kernels)", self.bodies.len(), self.kernels.len())
    }
}

impl fmt::Debug for FunctionRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function '{}'", self.name())
    }
}
