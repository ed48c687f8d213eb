//! Chains: the tokens that order side effects.

use tfrt_host::{Arg, AsyncValue, Chain, KernelRegistry, Rest};

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt.new.chain", || Chain)
        .doc("A chain that depends on nothing, for side effects that come first.");
    registry
        .add("tfrt.merge.chains", |_chains: Rest<'_, Chain>| Chain)
        .doc("A chain that is there when all the given ones are.");
    registry
        .add("tfrt.alias.value", |_chain: Chain, value: Arg<'_, AsyncValue>| value.clone())
        .aliases(0, 1)
        .doc("The given value, once the chain is there.");
}
