//! Loading: a verified file becomes a program.
//!
//! Loading does once what every call would repeat: it looks kernels up by name, checks each record
//! against its kernel's signature, reads scalar attributes, and works out where each value is used
//! last. The plan of a function is a handful of flat tables; running it allocates nothing for
//! bookkeeping.

use std::sync::Arc;

use tfrt_bef::{FunctionKind, KernelRecord, VerifiedBef};

use crate::{
    diagnostic::{Diagnostic, ErrorCode},
    kernel::{AttributeSpec, Kernel, KernelRegistry, Placement},
    program::{AttributeCell, BefFile, Body, Dispatch, NewStep, Operand, Plan, source_location},
};

impl BefFile {
    /// Resolves a verified file against the kernels at hand.
    ///
    /// # Errors
    /// All kernels and native functions that are unknown, and all records that do not fit their
    /// kernel, each at the place of its first use.
    pub fn load(bef: VerifiedBef, registry: &KernelRegistry) -> Result<Arc<Self>, Vec<Diagnostic>> {
        let mut loader = Loader { bef: &bef, registry, errors: Vec::new(), kernels: Vec::new() };
        loader.find_kernels();
        let bodies = loader.bodies();
        let errors = loader.errors;
        if errors.is_empty() { Ok(Self::new(bef, bodies)) } else { Err(errors) }
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
        let plan = self.plan(index, info.kind, unknown);
        if info.kind == FunctionKind::Sync { Body::Sync(plan) } else { Body::Async(plan) }
    }

    fn plan(&mut self, index: usize, kind: FunctionKind, unknown: &mut [bool]) -> Plan {
        let mut plan = Plan::default();
        let Some(function) = self.bef.function(index) else { return plan };
        plan.register_count = function.register_use_counts().len();
        if plan.register_count > Operand::MAX_REGISTER as usize {
            let message = format!("a function has {} registers", plan.register_count);
            self.error(ErrorCode::ResourceExhausted, function.location(), message);
            return plan;
        }
        for (number, record) in function.kernels().enumerate() {
            if number == 0 {
                // The pseudo kernel defines the parameters, after a register for kernels without
                // arguments to hang on, which this executor has no use for.
                let parameters = self.bef.functions()[index].argument_types.len();
                let first = record.results().len().saturating_sub(parameters);
                plan.parameters = record.results()[first..].iter().map(|&r| Operand::new(r)).collect();
            } else {
                self.step(&mut plan, &record, kind, unknown);
            }
        }
        plan.returns = function.result_registers().iter().map(|&r| Operand::new(r)).collect();
        plan.seal();
        plan
    }

    fn step(&mut self, plan: &mut Plan, record: &KernelRecord<'_>, kind: FunctionKind, unknown: &mut [bool]) {
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
        let dispatch = match dispatch(&kernel, record.nonstrict(), kind) {
            Ok(dispatch) => dispatch,
            Err(why) => {
                let message = format!("kernel '{}' may wait and {why}", kernel.name());
                return self.error(ErrorCode::FailedPrecondition, record.location(), message);
            }
        };
        for (number, &offset) in record.attributes().iter().enumerate() {
            let signature = kernel.signature();
            let named = signature.attributes.get(number);
            let spec = named.map(|a| a.spec).or(signature.rest_attributes).unwrap_or(AttributeSpec::Any);
            match AttributeCell::resolve(self.bef.attribute(offset), offset, spec) {
                Ok(cell) => plan.push_attribute(cell),
                Err(why) => {
                    let name = named.map_or("?", |a| a.name);
                    let message = format!("kernel '{}': attribute {number} ('{name}'): {why}", kernel.name());
                    return self.error(ErrorCode::InvalidArgument, record.location(), message);
                }
            }
        }
        plan.push_step(NewStep {
            run: kernel.function().clone(),
            scalar: kernel.scalar(),
            dispatch,
            kernel: code as u32,
            location: record.location(),
            arguments: record.arguments(),
            attribute_count: counts.0,
            functions: record.functions(),
            results: record.results(),
        });
    }
}

/// Returns how to treat a call of `kernel` in a function of this kind.
///
/// # Errors
/// The end of a message, if the kernel is blocking and the call would run on a compute thread.
fn dispatch(kernel: &Kernel, nonstrict: bool, kind: FunctionKind) -> Result<Dispatch, &'static str> {
    let nonstrict = nonstrict || kernel.is_non_strict();
    match kernel.placement() {
        Placement::Blocking if nonstrict => {
            Err("cannot run before its arguments are available (bef.nonstrict)")
        }
        Placement::Blocking if kind == FunctionKind::Sync => {
            Err("cannot be called in a synchronous function")
        }
        Placement::Blocking => Ok(Dispatch::Blocking),
        _ if nonstrict => Ok(Dispatch::NonStrict),
        Placement::Inline => Ok(Dispatch::Inline),
        Placement::Parallel => Ok(Dispatch::Queue),
    }
}
