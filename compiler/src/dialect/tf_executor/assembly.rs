//! The custom forms of the dialect's operations, as TensorFlow writes them.
//!
//! A node that forwards data writes one type if that says them all: its data has the type of its
//! outputs. Otherwise it writes a function type.

use std::fmt;

use tfrt_ir::{
    Attribute, CustomAssembly, FunctionType, Module, OpId, OpState, Operation, Parsed, Parser, Printer, Type,
    UnresolvedOperand, ValueId,
};

use super::{
    DEFAULT_PARALLEL_ITERATIONS, FETCH, FRAME_NAME, IS_CONSTANT, NUM_OUTS, PARALLEL_ITERATIONS, YIELD,
    control, is_control, token,
};

fn scalar(element: Type) -> Type {
    Type::tensor(&[], element)
}

/// Appends the terminator that a block lacks, for text may leave out one without operands.
fn ensure_terminator(
    parser: &mut Parser<'_, '_>,
    state: &OpState,
    at: tfrt_ir::Span,
    terminator: &str,
) -> Parsed<()> {
    let name = state.name.clone();
    let Some(&region) = state.regions.last() else { return Ok(()) };
    let [block] = parser.module().region(region).blocks[..] else {
        return Err(parser.error(at, format!("custom op '{name}' expects a single block region")));
    };
    let module = parser.module();
    let last = module.last_op(block).map(|last| module.op(last).name.clone());
    let ends = last
        .as_ref()
        .is_some_and(|last| parser.registry().get(last).is_some_and(|definition| definition.terminator));
    match last {
        Some(last) if last == *terminator => Ok(()),
        Some(last) if ends => {
            let message = format!("custom op '{name}' expects a {terminator} terminator, but ends in {last}");
            Err(parser.error(at, message))
        }
        _ => {
            let module = parser.module();
            let op = module.create_op(OpState::new(terminator).at(state.location.clone()));
            module.append_op(block, op);
            Ok(())
        }
    }
}

/// The types of the data that the last operation of the only block of the last region takes.
fn types_at_end(parser: &mut Parser<'_, '_>, state: &OpState) -> Vec<Type> {
    let module = parser.module();
    let region = state.regions.last().map(|&region| module.region(region));
    let last = region.and_then(|region| module.last_op(*region.blocks.first()?));
    let mut types = last.map(|last| module.operand_types(last)).unwrap_or_default();
    types.retain(|ty| !is_control(ty));
    types
}

/// `{…}` and attributes.
#[derive(Debug)]
pub(super) struct Graph;

impl CustomAssembly for Graph {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        state.regions.push(parser.capturing_region(&[])?);
        ensure_terminator(parser, state, at, FETCH)?;
        state.attributes = parser.optional_attr_dict()?;
        state.result_types = types_at_end(parser, state);
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        printer.write(" ")?;
        printer.region(data.regions[0], true)?;
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        module.op(op).operands.is_empty() && ends_alike(module, op, FETCH, 0)
    }
}

/// Whether the only region of `op` has one block without arguments that ends in `terminator` with
/// what the operation gives before its last `extra` results.
fn ends_alike(module: &Module, op: OpId, terminator: &str, extra: usize) -> bool {
    let data = module.op(op);
    let [region] = data.regions[..] else { return false };
    let [block] = module.region(region).blocks[..] else { return false };
    let Some(last) = module.last_op(block) else { return false };
    let mut types = module.operand_types(last);
    types.retain(|ty| !is_control(ty));
    let count = data.results.len().saturating_sub(extra);
    module.op(last).name == *terminator
        && module.block(block).arguments.is_empty()
        && module.types_of(&data.results[..count]) == types
}

/// Prints operands behind a space, if there are any.
fn print_operands(printer: &mut Printer<'_>, operands: &[ValueId]) -> fmt::Result {
    if operands.is_empty() {
        return Ok(());
    }
    printer.write(" ")?;
    printer.values(operands)
}

/// `%a, %b : types` and attributes, or attributes alone.
#[derive(Debug)]
pub(super) struct Terminator;

impl CustomAssembly for Terminator {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        let operands = parser.operand_list()?;
        if !operands.is_empty() {
            parser.expect_punctuation(":", "before the types")?;
            let types = parser.type_list()?;
            state.operands = parser.resolve_all(&operands, &types, at)?;
        }
        state.attributes = parser.optional_attr_dict()?;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_operands(printer, &data.operands)?;
        if !data.operands.is_empty() {
            printer.write(" : ")?;
            printer.types(&data.operands)?;
        }
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        module.op(op).results.is_empty()
    }
}

/// `(%control) {…}` and attributes, or `(%control) wraps` and an operation.
#[derive(Debug)]
pub(super) struct Island;

impl Island {
    fn parse_wrapped(parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let (region, op) = parser.wrapped_op()?;
        let module = parser.module();
        let (location, results) = (module.op(op).location.clone(), module.op(op).results.clone());
        if let Some(block) = module.entry_block(region) {
            let end = module.create_op(OpState::new(YIELD).operands(results).at(location.clone()));
            module.append_op(block, end);
        }
        state.location = location;
        state.regions.push(region);
        Ok(())
    }

    /// The operation that the short form wraps, if that can say all.
    fn wrapped(module: &Module, op: OpId) -> Option<OpId> {
        let data = module.op(op);
        let block = module.entry_block(*data.regions.first()?)?;
        let (first, last) = (module.first_op(block)?, module.last_op(block)?);
        let end = module.op(last);
        let is_whole = module.next_op(first) == Some(last)
            && end.operands == module.op(first).results
            && data.attributes.is_empty()
            && end.attributes.is_empty();
        is_whole.then_some(first)
    }
}

impl CustomAssembly for Island {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        if parser.eat_punctuation("(") {
            let at = parser.span();
            let operands = parser.operand_list()?;
            parser.expect_punctuation(")", "after the control inputs")?;
            state.operands = parser.resolve_all(&operands, &vec![control(); operands.len()], at)?;
        }
        if parser.eat_word("wraps") {
            Self::parse_wrapped(parser, state)?;
        } else {
            let at = parser.span();
            state.regions.push(parser.capturing_region(&[])?);
            ensure_terminator(parser, state, at, YIELD)?;
            state.attributes = parser.optional_attr_dict()?;
        }
        state.result_types = types_at_end(parser, state);
        state.result_types.push(control());
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let module = printer.module();
        let data = module.op(op);
        if !data.operands.is_empty() {
            printer.write("(")?;
            printer.values(&data.operands)?;
            printer.write(")")?;
        }
        if let Some(wrapped) = Self::wrapped(module, op) {
            printer.write(" wraps ")?;
            return printer.wrapped_op(wrapped);
        }
        printer.write(" ")?;
        printer.region(data.regions[0], true)?;
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        ends_alike(module, op, YIELD, 1)
            && data.results.last().is_some_and(|&last| is_control(module.value_type(last)))
            && data.operands.iter().all(|&operand| is_control(module.value_type(operand)))
    }
}

/// What a short form says of the types: those of the fixed operands and of the results, all from
/// one type.
pub(super) struct Short {
    pub(super) inputs: Vec<Type>,
    pub(super) results: Vec<Type>,
}

/// Types after a `:`, short or as a function type, and attributes.
pub(super) fn parse_types<'s>(
    parser: &mut Parser<'s, '_>,
    state: &mut OpState,
    operands: &[UnresolvedOperand<'s>],
    wanted: &str,
    short: impl FnOnce(Type) -> Short,
) -> Parsed<()> {
    let at = parser.span();
    parser.expect_punctuation(":", "before the types")?;
    let types = match parser.types_or_function()? {
        Ok(FunctionType { inputs, results }) => Short { inputs, results },
        Err(types) => {
            let mut types = types.into_iter();
            let (Some(ty), None) = (types.next(), types.next()) else {
                let message = format!("custom op '{}' expects only a single data type", state.name);
                return Err(parser.error(at, message));
            };
            let mut short = short(ty);
            if operands.len() < short.inputs.len() {
                let message = format!("custom op '{}' expects {wanted}", state.name);
                return Err(parser.error(at, message));
            }
            short.inputs.resize(operands.len(), control());
            short
        }
    };
    state.operands = parser.resolve_all(operands, &types.inputs, at)?;
    state.result_types = types.results;
    for (name, value) in parser.optional_attr_entries()? {
        state.attributes.set(name, value);
    }
    Ok(())
}

/// Whether the types are those that a short form stands for.
fn is_short(module: &Module, op: &Operation, short: &Short) -> bool {
    let inputs = module.types_of(&op.operands);
    let fixed = short.inputs.len();
    inputs.len() >= fixed
        && inputs[..fixed] == short.inputs
        && inputs[fixed..].iter().all(is_control)
        && module.types_of(&op.results) == short.results
}

/// Writes types and attributes.
fn print_types(
    printer: &mut Printer<'_>,
    op: OpId,
    short: Option<Short>,
    keep: impl Fn(&str) -> bool,
) -> fmt::Result {
    let module = printer.module();
    let data = module.op(op);
    printer.write(" : ")?;
    match short.filter(|short| is_short(module, data, short)) {
        Some(_) => printer.types(&data.results[..1])?,
        None => printer.function_type(&data.operands, &data.results)?,
    }
    printer.optional_attr_dict(data, keep)
}

/// The type of the first result, which short forms write.
fn first_result(module: &Module, op: OpId) -> Option<Type> {
    module.op(op).results.first().map(|&result| module.value_type(result).clone())
}

/// A node written as operands, types and attributes, whose short form one type completes.
trait Plain: fmt::Debug {
    const WANTED: &'static str;

    fn short(ty: Type) -> Short;
}

fn parse_plain<P: Plain>(parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
    let operands = parser.operand_list()?;
    parse_types(parser, state, &operands, P::WANTED, P::short)
}

fn print_plain<P: Plain>(printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
    let module = printer.module();
    printer.write(" ")?;
    printer.values(&module.op(op).operands)?;
    print_types(printer, op, first_result(module, op).map(P::short), |_| true)
}

macro_rules! plain {
    ($name:ident, $doc:literal, $wanted:literal, |$ty:ident| $inputs:expr, $results:expr) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub(super) struct $name;

        impl Plain for $name {
            const WANTED: &'static str = $wanted;

            fn short($ty: Type) -> Short {
                Short { inputs: $inputs.into(), results: $results.into() }
            }
        }

        impl CustomAssembly for $name {
            fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
                parse_plain::<Self>(parser, state)
            }

            fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
                print_plain::<Self>(printer, op)
            }

            fn can_print(&self, module: &Module, op: OpId) -> bool {
                let op = module.op(op);
                !op.operands.is_empty() && !op.results.is_empty()
            }
        }
    };
}

plain!(
    Switch,
    "`%data, %predicate, %control : type`.",
    "a single data type and a predicate",
    |ty| [ty.clone(), scalar(Type::i1())],
    [ty.clone(), ty, control()]
);
plain!(
    Merge,
    "`%a, %b, %control : type`.",
    "two data inputs with a single type, or a function type",
    |ty| [ty.clone(), ty.clone()],
    [ty, scalar(Type::int(32)), control()]
);
plain!(Forward, "`%data, %control : type`.", "a data input", |ty| [ty.clone()], [ty, control()]);

/// `%data, %index of 3 (%control) : type`.
#[derive(Debug)]
pub(super) struct SwitchN;

impl SwitchN {
    fn short(ty: Type, count: usize) -> Short {
        let mut results = vec![ty.clone(); count];
        results.push(control());
        Short { inputs: vec![ty, scalar(Type::int(32))], results }
    }

    fn count(op: &Operation) -> Option<usize> {
        usize::try_from(op.attr(NUM_OUTS)?.as_int()?).ok()
    }
}

impl CustomAssembly for SwitchN {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        let mut operands = parser.operand_list()?;
        if operands.len() != 2 {
            let message = format!("custom op '{}' expects a data input and an index", state.name);
            return Err(parser.error(at, message));
        }
        parser.expect_word("of")?;
        let count = parser.count("a number of outputs")?;
        if parser.eat_punctuation("(") {
            operands.extend(parser.operand_list()?);
            parser.expect_punctuation(")", "after the control inputs")?;
        }
        state.attributes.set(NUM_OUTS, Attribute::i64(count as i64));
        parse_types(parser, state, &operands, "a data input and an index", |ty| Self::short(ty, count))
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let module = printer.module();
        let data = module.op(op);
        let count = Self::count(data).unwrap_or_default();
        printer.write(" ")?;
        printer.values(&data.operands[..2])?;
        write!(printer, " of {count}")?;
        if data.operands.len() > 2 {
            printer.write(" (")?;
            printer.values(&data.operands[2..])?;
            printer.write(")")?;
        }
        let short = first_result(module, op).map(|ty| Self::short(ty, count));
        print_types(printer, op, short, |name| name != NUM_OUTS)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        let fits = |count: usize| count + 1 == data.results.len();
        let has_type = |value: &Attribute| value.ty() == Some(Type::int(64));
        data.operands.len() >= 2
            && data.attr(NUM_OUTS).is_some_and(has_type)
            && Self::count(data).is_some_and(fits)
            && data.results.len() > 1
    }
}

/// `%data, %control frame "name" parallel_iterations 4 constant : type`.
#[derive(Debug)]
pub(super) struct Enter;

impl CustomAssembly for Enter {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let operands = parser.operand_list()?;
        parser.expect_word("frame")?;
        let name = parser.string("the name of the frame")?;
        let parallel = if parser.eat_word(PARALLEL_ITERATIONS) {
            parser.integer("a number of iterations")?
        } else {
            DEFAULT_PARALLEL_ITERATIONS
        };
        let constant = parser.eat_word("constant");
        state.attributes.set(FRAME_NAME, Attribute::string(name.as_bytes()));
        state.attributes.set(PARALLEL_ITERATIONS, Attribute::i64(parallel.into()));
        state.attributes.set(IS_CONSTANT, Attribute::Bool(constant));
        parse_types(parser, state, &operands, Forward::WANTED, Forward::short)
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let module = printer.module();
        let data = module.op(op);
        printer.write(" ")?;
        printer.values(&data.operands)?;
        printer.write(" frame ")?;
        printer.string(data.attr(FRAME_NAME).and_then(Attribute::as_str).unwrap_or_default())?;
        let parallel = data.attr(PARALLEL_ITERATIONS).and_then(Attribute::as_int);
        if let Some(parallel) = parallel.filter(|&count| count != DEFAULT_PARALLEL_ITERATIONS.into()) {
            write!(printer, " {PARALLEL_ITERATIONS} {parallel}")?;
        }
        if data.attr(IS_CONSTANT) == Some(&Attribute::Bool(true)) {
            printer.write(" constant")?;
        }
        let own = [FRAME_NAME, PARALLEL_ITERATIONS, IS_CONSTANT];
        print_types(printer, op, first_result(module, op).map(Forward::short), |name| !own.contains(&name))
    }

    /// The short form says all three attributes, in their usual types.
    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        let is_count = |value: &Attribute| {
            let count = value.as_int().is_some_and(|count| u32::try_from(count).is_ok());
            count && value.ty() == Some(Type::int(64))
        };
        !data.operands.is_empty()
            && !data.results.is_empty()
            && data.attr(FRAME_NAME).is_some_and(|name| name.as_str().is_some())
            && data.attr(PARALLEL_ITERATIONS).is_some_and(is_count)
            && matches!(data.attr(IS_CONSTANT), Some(Attribute::Bool(_)))
    }
}

/// `: type`.
#[derive(Debug)]
pub(super) struct Source;

impl CustomAssembly for Source {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        parser.expect_punctuation(":", "before the type")?;
        let ty = parser.ty()?;
        state.result_types = vec![ty, token(), control()];
        state.attributes = parser.optional_attr_dict()?;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        printer.write(" : ")?;
        printer.types(&data.results[..1])?;
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let data = module.op(op);
        data.operands.is_empty() && module.types_of(&data.results).get(1..) == Some(&[token(), control()][..])
    }
}

/// `[%token] %data, %control : type`.
#[derive(Debug)]
pub(super) struct Sink;

impl CustomAssembly for Sink {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        parser.expect_punctuation("[", "before the token")?;
        let mut operands = vec![parser.operand()?];
        parser.expect_punctuation("]", "after the token")?;
        operands.extend(parser.operand_list()?);
        parser.expect_punctuation(":", "before the type")?;
        let mut types = vec![token(), parser.ty()?];
        types.resize(operands.len().max(2), control());
        state.operands = parser.resolve_all(&operands, &types, at)?;
        state.attributes = parser.optional_attr_dict()?;
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        printer.write(" [")?;
        printer.value(data.operands[0])?;
        printer.write("] ")?;
        printer.values(&data.operands[1..])?;
        printer.write(" : ")?;
        printer.types(&data.operands[1..2])?;
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        let types = module.operand_types(op);
        types.len() >= 2 && types[0] == token() && types[2..].iter().all(is_control)
    }
}

/// `%control, %control` and attributes.
#[derive(Debug)]
pub(super) struct ControlTrigger;

impl CustomAssembly for ControlTrigger {
    fn parse(&self, parser: &mut Parser<'_, '_>, state: &mut OpState) -> Parsed<()> {
        let at = parser.span();
        let operands = parser.operand_list()?;
        state.operands = parser.resolve_all(&operands, &vec![control(); operands.len()], at)?;
        state.attributes = parser.optional_attr_dict()?;
        state.result_types = vec![control()];
        Ok(())
    }

    fn print(&self, printer: &mut Printer<'_>, op: OpId) -> fmt::Result {
        let data = printer.module().op(op);
        print_operands(printer, &data.operands)?;
        printer.optional_attr_dict(data, |_| true)
    }

    fn can_print(&self, module: &Module, op: OpId) -> bool {
        module.operand_types(op).iter().all(is_control) && module.result_types(op) == [control()]
    }
}
