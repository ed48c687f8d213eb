//! Chain forms: kernels that do what others do, but take and give a chain, so that programs can
//! order them.

use std::{borrow::Cow, sync::Arc};

use super::{Kernel, KernelSignature, TypeSpec};
use crate::{
    async_value::{AsyncValue, AsyncValueRef, Promise, Status},
    diagnostic::Diagnostic,
    program::KernelFrame,
    value::{Chain, Value},
};

const CHAIN: TypeSpec = TypeSpec::Named(Chain::TYPE_NAME);

impl Kernel {
    /// Returns a kernel that does the same, takes a chain after its arguments unless the last one
    /// is a chain already, and gives a chain after its results. `None` if there is no result, or if
    /// further arguments or results may follow.
    pub(super) fn with_chain(&self, name: Cow<'static, str>) -> Option<Self> {
        let mut signature = self.signature.clone();
        let KernelSignature { arguments, rest_arguments, results, rest_results, .. } = &mut signature;
        if rest_arguments.is_some() || rest_results.is_some() || results.is_empty() {
            return None;
        }
        if arguments.last() != Some(&CHAIN) {
            arguments.push(CHAIN);
        }
        results.push(CHAIN);
        let run = Arc::clone(&self.run);
        let run = move |frame: &mut KernelFrame<'_>| {
            frame.clear_results();
            run(frame);
            let Some(last) = frame.result_count().checked_sub(1) else { return };
            let results: Vec<AsyncValue> = (0..last).map(|index| frame.result(index).clone()).collect();
            frame.set_result(last, chain_after(results).into_untyped());
        };
        Some(Self {
            name,
            signature,
            run: Arc::new(run),
            scalar: None,
            placement: self.placement,
            non_strict: self.non_strict,
            side_effecting: self.side_effecting,
            mutated: self.mutated.clone(),
            read: self.read.clone(),
            aliases: self.aliases.clone(),
            function_attributes: self.function_attributes.clone(),
            typed_attributes: self.typed_attributes,
            chain_form: None,
            assembly: None,
            doc: "Does what the kernel without `.chained` in its name does, and gives a chain that is available when the \
                  results are.",
        })
    }
}

/// A chain that is available when all values are; an error if one of them is.
fn chain_after(values: Vec<AsyncValue>) -> AsyncValueRef<Chain> {
    if values.iter().all(|value| value.status() == Status::Ready) {
        return Chain.into();
    }
    let (promise, chain) = Promise::new();
    wait_for(values, promise);
    chain
}

/// Resolves the promise when all values are available.
fn wait_for(mut values: Vec<AsyncValue>, promise: Promise<Chain>) {
    while let Some(value) = values.pop() {
        match value.status() {
            Status::Ready => {}
            Status::Failed => {
                let error = value.error();
                return promise
                    .set_error(error.unwrap_or_else(|| Arc::new(Diagnostic::from("a result is an error"))));
            }
            Status::Pending => {
                return value.clone().and_then(move || {
                    values.push(value);
                    wait_for(values, promise);
                });
            }
        }
    }
    promise.emplace(Chain);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, KernelRegistry};

    #[test]
    fn chains_wait_for_all_values() {
        let (first, one) = Promise::<String>::new();
        let (second, two) = Promise::<String>::new();
        let chain = chain_after(vec![one.into_untyped(), two.into_untyped()]);
        first.emplace("a".to_owned());
        assert_eq!(chain.status(), Status::Pending);
        second.emplace("b".to_owned());
        assert_eq!(chain.status(), Status::Ready);
    }

    #[test]
    fn chains_of_errors_are_errors() {
        let (promise, value) = Promise::<String>::new();
        let chain = chain_after(vec![value.into_untyped(), AsyncValue::new(1_i32)]);
        promise.set_error(Diagnostic::from("no"));
        assert_eq!(chain.as_untyped().error().unwrap().message, "no");
    }

    #[test]
    fn forms_take_and_give_a_chain() {
        let mut registry = KernelRegistry::new();
        registry.add("my.length", |text: Arg<String>| text.len() as i64).reads(&[0]);
        registry.add("my.ordered", |text: Arg<String>, _: Chain| text.len() as i64);
        registry.add_chain_form("my.length");
        registry.add_chain_form("my.ordered");
        for name in ["my.length", "my.ordered"] {
            let kernel = registry.kernel(name).unwrap();
            let form = registry.kernel(kernel.chain_form().unwrap()).unwrap();
            assert_eq!(form.name(), format!("{name}.chained"));
            assert_eq!(form.signature().arguments, [TypeSpec::Named("!tfrt.string"), CHAIN]);
            assert_eq!(form.signature().results, [TypeSpec::Named("i64"), CHAIN]);
        }
        assert_eq!(registry.kernel("my.length.chained").unwrap().read, Some(vec![0]));
    }
}
