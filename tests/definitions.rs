//! What the kernels' registrations say together: functions and chains.
#![cfg(feature = "full")]

use tfrt_convert::operations;
use tfrt_host::{Chain, Kernel, KernelRegistry, TypeSpec, Value};

fn kernels() -> KernelRegistry {
    let mut kernels = KernelRegistry::new();
    tfrt::register_kernels(&mut kernels);
    kernels
}

/// Kernels of synchronous functions run in the order of the file, so that they need no chains.
fn is_synchronous(kernel: &Kernel) -> bool {
    kernel.name().split_once('.').is_some_and(|(dialect, _)| dialect.ends_with("_sync"))
}

fn takes_and_gives_chain(kernel: &Kernel) -> bool {
    let chain = TypeSpec::Named(Chain::TYPE_NAME);
    let signature = kernel.signature();
    let takes = signature.arguments.contains(&chain) || signature.rest_arguments == Some(chain);
    takes && (signature.results.contains(&chain) || signature.rest_results == Some(chain))
}

/// An asynchronous kernel that reads or changes contents which others may change takes and gives a
/// chain, or names a kernel that does the same and does.
#[test]
fn chains_can_order_all_accesses() {
    let kernels = kernels();
    let mut wrong = Vec::new();
    for kernel in kernels.kernels() {
        let accesses = !kernels.read_arguments(kernel).is_empty() || !kernel.mutated_arguments().is_empty();
        if !accesses || is_synchronous(kernel) || takes_and_gives_chain(kernel) {
            continue;
        }
        match kernel.chain_form().and_then(|name| kernels.kernel(name)) {
            Some(form) if takes_and_gives_chain(form) => {}
            Some(form) => wrong.push(format!("{}: {} takes or gives no chain", kernel.name(), form.name())),
            None => wrong.push(kernel.name().to_owned()),
        }
    }
    assert!(wrong.is_empty(), "no chain orders what these read or change:\n{}", wrong.join("\n"));
}

/// A chain form takes and gives what the kernel does, and a chain at the end of each unless the
/// kernel has one there.
#[test]
fn chain_forms_differ_in_chains_alone() {
    let kernels = kernels();
    let chain = TypeSpec::Named(Chain::TYPE_NAME);
    let without_chain = |types: &[TypeSpec]| {
        let mut types = types.to_vec();
        types.pop_if(|last| *last == chain);
        types
    };
    for kernel in kernels.kernels() {
        let Some(name) = kernel.chain_form() else { continue };
        let form = kernels.kernel(name).unwrap_or_else(|| panic!("{name} is not registered"));
        let (form_signature, signature) = (form.signature(), kernel.signature());
        assert_eq!(form_signature.arguments.last(), Some(&chain), "{name}");
        assert_eq!(form_signature.results.last(), Some(&chain), "{name}");
        assert_eq!(
            (without_chain(&form_signature.arguments), without_chain(&form_signature.results)),
            (without_chain(&signature.arguments), without_chain(&signature.results)),
            "{name}"
        );
        assert_eq!(form_signature.attributes, signature.attributes, "{name}");
        assert_eq!(kernels.read_arguments(form), kernels.read_arguments(kernel), "{name}");
        assert_eq!(form.mutated_arguments(), kernel.mutated_arguments(), "{name}");
    }
}

/// An op with a custom grammar and its kernel use the same names for attributes that name
/// functions.
#[test]
fn grammars_and_kernels_agree_on_functions() {
    let kernels = kernels();
    let ops = operations(&kernels).expect("all kernels' signatures can be read");
    let mut compared = 0;
    for kernel in kernels.kernels() {
        let Some(definition) = ops.get(kernel.name()) else { continue };
        let of_kernel: Vec<_> =
            kernel.function_attributes().iter().map(|found| (found.name, found.is_list)).collect();
        let of_op = definition.function_attributes();
        let of_op: Vec<_> = of_op.iter().map(|found| (found.name.as_str(), found.is_list)).collect();
        assert_eq!(of_kernel, of_op, "{}", kernel.name());
        compared += of_op.len();
    }
    assert!(compared > 0, "there are ops that name functions");
}

/// Declarations refer to arguments and results that exist.
#[test]
fn declared_positions_exist() {
    let kernels = kernels();
    for kernel in kernels.kernels() {
        let signature = kernel.signature();
        let arguments = signature.arguments.len() + usize::from(signature.rest_arguments.is_some());
        let results = signature.results.len() + usize::from(signature.rest_results.is_some());
        let read = kernels.read_arguments(kernel);
        for &index in read.iter().chain(kernel.mutated_arguments()) {
            assert!(index < arguments, "{} has no argument {index}", kernel.name());
        }
        for alias in kernel.aliases() {
            assert!(alias.argument < arguments && alias.result < results, "{}", kernel.name());
        }
    }
}

/// A device kernel whose result could be a view of an argument's contents declares that it is one,
/// or is known to copy.
#[test]
fn device_kernels_declare_shared_contents() {
    const COPIES: &[&str] = &["tfrt_cuda.tensor.download", "tfrt_cuda_test.copy_tensor_host_to_device"];
    let kernels = kernels();
    let mut shared = 0;
    for kernel in kernels.kernels().filter(|kernel| kernel.name().starts_with("tfrt_cuda")) {
        let is_mutable = |ty: &TypeSpec| ty.name().is_some_and(|name| kernels.is_mutable_type(name));
        let signature = kernel.signature();
        let has_contents = signature.arguments.iter().any(is_mutable);
        for (index, _) in
            signature.results.iter().enumerate().filter(|(_, ty)| has_contents && is_mutable(ty))
        {
            let is_alias = kernel.aliases().iter().any(|alias| alias.result == index);
            let is_copy = COPIES.contains(&kernel.name());
            assert!(is_alias != is_copy, "result {index} of {} is neither shared nor copied", kernel.name());
            shared += usize::from(is_alias);
        }
    }
    assert!(shared > 0, "tensors and their buffers share contents");
}
