//! Models made by hand: the programs that they become.

use std::fs;

use prost::Message;
use tfrt_ir::{AttrDict, OpId};

use super::tests::{graph_of, host, integers, model, node};
use crate::{CompileOptions, CompiledModel, compile};

#[test]
fn a_model_becomes_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    fs::write(&path, model(graph_of(vec![node("Relu", &["x"], &["y"])], vec![])).encode_to_vec()).unwrap();
    let compiled = compile(&path, &CompileOptions::default(), &host()).unwrap();
    let functions: Vec<_> = compiled.module.functions().map(|function| function.name().to_owned()).collect();
    assert_eq!(functions, ["signature", "setup", "main"]);
    assert!(compiled.weights.is_empty());
}

/// The ops that a function of a program calls, in order.
fn called_ops(compiled: &CompiledModel, function: &str) -> Vec<String> {
    let function = compiled.module.function(function).unwrap();
    let ops = compiled.module.walk(function.op()).map(|op| &compiled.module.op(op).attributes);
    let name = |attributes: &AttrDict| Some(attributes.get("op_name")?.as_str()?.to_owned());
    ops.filter_map(name).collect()
}

#[test]
fn what_is_too_large_to_fold_is_computed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let nodes = vec![
        node("ConstantOfShape", &["dims"], &["zeros"]),
        node("Exp", &["zeros"], &["ones"]),
        node("MatMul", &["x", "ones"], &["product"]),
        node("RandomNormalLike", &["zeros"], &["noise"]),
        node("Add", &["product", "zeros"], &["sum"]),
        node("Sub", &["sum", "noise"], &["y"]),
    ];
    let graph = graph_of(nodes, vec![integers("dims", &[2], &[4, 1_000_000])]);
    fs::write(&path, model(graph).encode_to_vec()).unwrap();
    let compiled = compile(&path, &CompileOptions::default(), &host()).unwrap();
    assert_eq!(called_ops(&compiled, "setup"), ["tf.Fill", "tf.Exp"]);
    let main = called_ops(&compiled, "main");
    assert!(main.iter().any(|op| op.contains("Random")), "{main:?}");
    assert!(!main.iter().any(|op| ["tf.Fill", "tf.Exp"].contains(&op.as_str())), "{main:?}");
    // Ops keep what they prepare of it only if it is read-only.
    let setup = compiled.module.function("setup").unwrap();
    let is_frozen = |op: &OpId| compiled.module.op(*op).name == "corert.freeze";
    assert_eq!(compiled.module.walk(setup.op()).filter(is_frozen).count(), 2);
    // The product and the sum take a constant each, beside the handler and the input.
    let takes = compiled.module.function("main").unwrap().ty().unwrap().inputs.len();
    let gives = compiled.module.function("setup").unwrap().ty().unwrap().results.len();
    assert_eq!(takes, gives + 1);
}
