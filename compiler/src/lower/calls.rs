//! Lowering of calls and of graphs that the direct executor runs.

use std::collections::BTreeSet;

use tfrt_eager::graph::{GraphPlan, Input, NodeKind};
use tfrt_host::Diagnostic as HostDiagnostic;
use tfrt_ir::{Attribute, Diagnostic, OpId, OpState, Operation, Type, ValueId};

use super::corert::{Body, Lowering, handle, symbol};
use crate::{
    ConstantId,
    pass::{
        effects::callees,
        outline_islands::{ISLANDS, PLAN, TEXTS},
    },
};

impl Lowering<'_> {
    /// `tfrt.call @f(chain, constants…, values…)`.
    pub(super) fn lower_call(
        &mut self,
        body: &mut Body<'_>,
        id: OpId,
        operands: Vec<ValueId>,
    ) -> Vec<ValueId> {
        let op = body.source.op(id);
        let Some(callee) = symbol(&op.attributes, "f") else {
            self.errors.push(Diagnostic::error(op.location.clone(), "the call lacks a function"));
            return Vec::new();
        };
        let mut arguments = vec![body.chain];
        arguments.extend(self.constants_for(body, &callee));
        arguments.extend(operands);
        let state = OpState::new("tfrt.call")
            .operands(arguments)
            .attr("callee", Attribute::symbol(callee))
            .attr("bef.nonstrict", Attribute::Unit)
            .results(results(op))
            .at(op.location.clone());
        let results = self.append(body.block, state);
        self.after_call(body, id, results, 0)
    }

    /// `corert.execute_graph(chain, constants…, values…)`. The table gives each island the
    /// constants that it uses first.
    pub(super) fn lower_graph(
        &mut self,
        body: &mut Body<'_>,
        id: OpId,
        operands: Vec<ValueId>,
    ) -> Vec<ValueId> {
        let op = body.source.op(id);
        let islands: Vec<BTreeSet<ConstantId>> = callees(body.source, id)
            .into_iter()
            .map(|island| self.used.get(island).cloned().unwrap_or_default())
            .collect();
        let all: Vec<ConstantId> =
            islands.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let plan = match read(op).map(|plan| with_constants(plan, &islands, &all)) {
            Ok(plan) => plan,
            Err(error) => {
                self.errors.push(Diagnostic::error(op.location.clone(), error.message));
                return Vec::new();
            }
        };
        let (words, texts) = plan.encode();
        let words = words.into_iter().map(Attribute::i64).collect::<Vec<_>>();
        let texts = texts.into_iter().map(Attribute::string).collect::<Vec<_>>();
        let mut arguments = vec![body.chain];
        arguments.extend(all.iter().filter_map(|constant| body.constants.get(constant).copied()));
        arguments.extend(operands);
        let state = OpState::new("corert.execute_graph")
            .operands(arguments)
            .attr(ISLANDS, op.attr(ISLANDS).cloned().unwrap_or(Attribute::array([])))
            .attr(PLAN, Attribute::array(words))
            .attr(TEXTS, Attribute::array(texts))
            .results(results(op))
            .at(op.location.clone());
        let results = self.append(body.block, state);
        self.after_call(body, id, results, 0)
    }
}

/// A chain, and a handle for each result.
fn results(op: &Operation) -> Vec<Type> {
    let mut results = vec![Type::chain()];
    results.resize(1 + op.results.len(), handle());
    results
}

/// The table of a graph.
fn read(op: &Operation) -> Result<GraphPlan, HostDiagnostic> {
    let elements = |name| op.attr(name).and_then(Attribute::as_array).unwrap_or_default();
    let words = elements(PLAN).iter().filter_map(|word| i64::try_from(word.as_int()?).ok());
    let texts = elements(TEXTS).iter().filter_map(|text| Some(text.as_str()?.to_owned()));
    GraphPlan::decode(&words.collect::<Vec<_>>(), texts.collect())
}

/// Adds arguments for constants before all others.
fn with_constants(mut plan: GraphPlan, islands: &[BTreeSet<ConstantId>], all: &[ConstantId]) -> GraphPlan {
    let shift = |input: &mut Input| {
        if let Input::Argument(argument) = input {
            *argument += all.len() as u32;
        }
    };
    for node in &mut plan.nodes {
        node.inputs.iter_mut().for_each(shift);
        if let NodeKind::Island(island) = node.kind
            && let Some(used) = islands.get(island as usize)
        {
            let place = |constant: &ConstantId| all.binary_search(constant).ok();
            let added = used.iter().filter_map(place).map(|place| Input::Argument(place as u32));
            node.inputs.splice(0..0, added);
        }
    }
    plan.fetches.iter_mut().for_each(shift);
    plan
}
