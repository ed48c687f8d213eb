//! The operations with a grammar or a check in code, one idea per file. None of them computes
//! anything.

mod benchmark;
mod call;
mod constant;
mod control_flow;
mod do_async;
mod execute;
mod parallel;
mod ret;

use crate::parser::{Parsed, Parser};
use crate::{Attribute, Name, OpId, OpRegistry, ValueId, Verifier};

/// The attribute of operations that may run before their operands are available.
pub(crate) const NONSTRICT: &str = "bef.nonstrict";
const RETURN: &str = "tfrt.return";

impl OpRegistry {
    /// Adds the operations with a custom grammar: `tfrt.return`, `tfrt.call`, `tfrt.if`,
    /// `tfrt.cond`, `tfrt.case`, `tfrt.repeat.i32`, `tfrt.while`, `tfrt.parallel_for.i32`,
    /// `tfrt.parallel_call.i32`, constants, `tfrt_test.do.async`, `tfrt_test.benchmark`,
    /// `tfrt_test.sync_benchmark`, `corert.executeop`, `corert.executeop.seq`,
    /// `corert_sync.executeop`, `corert.cond` and `corert.while`.
    ///
    /// They replace definitions with the same names.
    ///
    /// # Errors
    /// The operation whose format does not compile, and the mistake in it.
    pub fn add_core_ops(&mut self) -> Result<(), String> {
        let ops = [
            ret::definitions(),
            call::definitions(),
            control_flow::definitions()?,
            parallel::definitions(),
            constant::definitions(),
            do_async::definitions(),
            benchmark::definitions(),
            execute::definitions(),
        ];
        for definition in ops.into_iter().flatten() {
            self.add(definition);
        }
        Ok(())
    }
}

/// Parses `attributes {…}`, or nothing.
fn optional_attributes(parser: &mut Parser<'_, '_>) -> Parsed<Vec<(Name, Attribute)>> {
    if parser.eat_word("attributes") { parser.attr_entries() } else { Ok(Vec::new()) }
}

/// Checks that the single block of each region ends in a `tfrt.return` of the operation's result
/// types.
fn check_returns(verifier: &mut Verifier<'_>, op: OpId) {
    for &region in &verifier.op(op).regions {
        check_return(verifier, op, region, &verifier.op(op).results);
    }
}

/// Checks that the single block of a region ends in a `tfrt.return` of values with the types of
/// `results`.
fn check_return(verifier: &mut Verifier<'_>, op: OpId, region: crate::RegionId, results: &[ValueId]) {
    let module = verifier.module();
    let last = match module.region(region).blocks[..] {
        [block] => module.ops_in(block).next_back().filter(|(_, last)| last.name == RETURN),
        _ => None,
    };
    match last {
        None => verifier.error(op, "expected tfrt.return in body"),
        Some((last, data)) if module.types_of(&data.operands) != module.types_of(results) => {
            let name = &verifier.op(op).name;
            verifier.error(last, format!("operand types don't match '{name}' result"));
        }
        Some(_) => {}
    }
}

/// Checks that the entry arguments of each region have the types of `operands`.
fn check_entry_arguments(verifier: &mut Verifier<'_>, op: OpId, operands: &[ValueId]) {
    let module = verifier.module();
    for (index, &region) in verifier.op(op).regions.iter().enumerate() {
        let fits = match module.region(region).blocks[..] {
            [block] => module.types_of(&module.block(block).arguments) == module.types_of(operands),
            _ => false,
        };
        if !fits {
            verifier.error(op, format!("operand/argument type mismatch in region #{index}"));
        }
    }
}
