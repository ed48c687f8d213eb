//! Op graphs as text: a module in which constants carry their elements.
//!
//! In a [`Graph`], a `tf.Const` has only the number of its tensor. In text it has the attribute
//! `value` with the elements, and the function [`MAIN`] names the model's inputs and outputs in its
//! argument and result attributes, `{name = "x"}`.

use std::path::Path;

use tfrt_ir::{
    Attribute, DenseData, DenseElements, Diagnostic, Diagnostics, Module, OpId, OpRegistry, ParseOptions,
    Source, Type, parse_module,
};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorShape};

use crate::{
    Evaluator, Graph, MAIN, Port, TensorType,
    attributes::{dense_attribute, dense_tensor, to_op_attrs},
    dialect::{self, RETURNS},
    graph::{CONST, CONSTANT},
    import::onnx::RETURN,
};

/// The attribute with a constant's elements.
const VALUE: &str = "value";
/// The attribute with the name of a constant, an input or an output.
const NAME: &str = "name";

impl Graph {
    /// Returns the functions with constants written into them. A constant of more than `max_bytes`
    /// keeps its number instead, and such a module cannot be read back.
    pub fn to_module(&self, max_bytes: usize) -> Module {
        let mut module = self.module.clone();
        let ops: Vec<_> = module.walk(module.root()).collect();
        for op in ops {
            let Some(id) = self.constant_id(op) else { continue };
            let op = module.op_mut(op);
            if !self.constants.name(id).is_empty() {
                op.attributes.set(NAME, Attribute::string(self.constants.name(id)));
            }
            let tensor = self.constants.tensor(id);
            let value = tensor.filter(|tensor| size(tensor) <= max_bytes).and_then(text_attribute);
            if let Some(value) = value {
                op.attributes.set(VALUE, value);
                op.attributes.remove(CONSTANT);
            }
        }
        if let Some(main) = self.module.function(MAIN) {
            let main = module.op_mut(main.op());
            for (kind, ports) in [("arg", &self.inputs), ("result", &self.outputs)] {
                for (index, port) in ports.iter().enumerate() {
                    let name = [(NAME, Attribute::string(&port.name))];
                    let names = Attribute::Dictionary(name.into_iter().collect());
                    main.attributes.set(format!("{kind}{index}"), names);
                }
            }
        }
        module
    }

    /// Makes a graph of a module that [`Self::to_module`] made or a person wrote.
    ///
    /// # Errors
    /// Each constant without elements or of another type than its result, and a module without the
    /// function [`MAIN`].
    pub fn from_module(module: Module, evaluator: &Evaluator) -> Result<Self, Diagnostics> {
        let mut graph = Self { module, ..Self::default() };
        let mut errors = Diagnostics::new();
        let ops: Vec<_> = graph.module.walk(graph.module.root()).collect();
        for &op in &ops {
            if RETURNS.contains(&graph.module.op(op).name.as_str()) {
                *graph.module.op_mut(op).name = RETURN.into();
            }
            if graph.module.op(op).name == CONST
                && let Err(message) = graph.read_constant(op, evaluator)
            {
                errors.push(Diagnostic::error(graph.module.op(op).location.clone(), message));
            }
        }
        if let Err(message) = graph.read_ports() {
            errors.push(Diagnostic::error(graph.module.op(graph.module.root()).location.clone(), message));
        }
        if errors.has_errors() {
            return Err(errors);
        }
        for op in ops {
            graph.find_known_elements(op, evaluator);
        }
        Ok(graph)
    }

    fn read_constant(&mut self, id: OpId, evaluator: &Evaluator) -> Result<(), String> {
        let op = self.module.op(id);
        let Some(Attribute::Dense(dense)) = op.attr(VALUE) else {
            return Err("the constant has no dense attribute 'value'".to_owned());
        };
        let tensor = match dense.data() {
            DenseData::Strings(strings) => string_tensor(dense, strings)?,
            _ => dense_tensor(dense, evaluator.allocator()).map_err(|error| error.message)?.into(),
        };
        let name = op.attr(NAME).and_then(Attribute::as_str).unwrap_or_default().to_owned();
        let ty = TensorType::of(tensor.metadata());
        match op.results[..] {
            [result] if self.tensor_type(result).as_ref() == Some(&ty) => {}
            _ => return Err(format!("a constant of {ty} has one result of this type")),
        }
        let number = Attribute::i64(i64::try_from(self.constants.add(&name, tensor).0).unwrap_or(i64::MAX));
        let op = self.module.op_mut(id);
        op.attributes.remove(VALUE);
        op.attributes.remove(NAME);
        op.attributes.set(CONSTANT, number);
        Ok(())
    }

    fn read_ports(&mut self) -> Result<(), String> {
        let missing = || format!("the module has no function '{MAIN}' with a body");
        let main = self.module.function(MAIN).ok_or_else(missing)?;
        let ty = main.ty().ok_or_else(missing)?;
        main.body().ok_or_else(missing)?;
        let port = |kind: &str, index: usize, ty: &Type| {
            let attributes = match main.attr(&format!("{kind}{index}")) {
                Some(Attribute::Dictionary(attributes)) => attributes.get(NAME),
                _ => None,
            };
            let name = attributes
                .and_then(Attribute::as_str)
                .map_or_else(|| format!("{kind}{index}"), str::to_owned);
            let ty = TensorType::from_ir(ty).ok_or_else(|| format!("'{name}' of {ty} is not a tensor"))?;
            Ok::<_, String>(Port { name, ty })
        };
        let ports = |kind: &str, types: &[Type]| {
            types.iter().enumerate().map(|(index, ty)| port(kind, index, ty)).collect::<Result<Vec<_>, _>>()
        };
        let (inputs, outputs) = (ports("arg", &ty.inputs)?, ports("result", &ty.results)?);
        (self.inputs, self.outputs) = (inputs, outputs);
        Ok(())
    }

    /// Tracks small integer tensors, as the builder does when it creates an operation.
    fn find_known_elements(&mut self, id: OpId, evaluator: &Evaluator) {
        let op = self.module.op(id);
        let [result] = op.results[..] else { return };
        let Ok(attrs) = to_op_attrs(&op.attributes, evaluator.allocator()) else { return };
        if op.name != CONST
            && let Ok((_, Some(known))) = self.infer(evaluator, &op.name, &op.operands, &attrs, 1)
        {
            self.known_elements.insert(result, known);
        }
    }
}

/// Whether a file is an op graph as text: MLIR with ops of models.
pub fn is_op_graph(path: &Path) -> bool {
    let is_mlir = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mlir"));
    is_mlir && parse_file(path).is_ok_and(|module| has_ops_of_models(&module))
}

fn has_ops_of_models(module: &Module) -> bool {
    module.walk(module.root()).any(|op| matches!(module.op(op).dialect(), "tf" | "tf_executor" | "onnx"))
}

/// Reads an op graph from a file.
///
/// # Errors
/// A file that cannot be read, and everything wrong with its text.
pub(crate) fn read_file(path: &Path, evaluator: &Evaluator) -> Result<Graph, Diagnostics> {
    Graph::from_module(parse_file(path)?, evaluator)
}

fn parse_file(path: &Path) -> Result<Module, Diagnostics> {
    let failed = |message: String| {
        let mut errors = Diagnostics::new();
        errors.push(Diagnostic::error(tfrt_ir::Location::Unknown, message));
        errors
    };
    let name = path.to_string_lossy();
    let text = std::fs::read(path).map_err(|error| failed(format!("cannot read '{name}': {error}")))?;
    let mut ops = OpRegistry::new();
    ops.add_core_ops().and_then(|()| dialect::register(&mut ops)).map_err(failed)?;
    parse_module(&Source::new(&*name, text), &ops, &ParseOptions::default())
}

fn size(tensor: &HostTensor) -> usize {
    tensor.metadata().size_bytes().unwrap_or(0)
}

/// The elements of a tensor; `None` for types that text cannot hold.
fn text_attribute(tensor: &HostTensor) -> Option<Attribute> {
    let HostTensor::String(strings) = tensor else { return dense_attribute(tensor) };
    let dims: Vec<u64> = tensor.shape().dims().iter().map(|&dim| dim as u64).collect();
    let element = tfrt_convert::type_of(tensor.dtype());
    let texts = strings.strings().iter().map(|text| text.as_slice().into()).collect();
    Some(Attribute::Dense(DenseElements::strings(Type::tensor(&dims, element), texts).ok()?.into()))
}

fn string_tensor(dense: &DenseElements, strings: &[std::sync::Arc<[u8]>]) -> Result<HostTensor, String> {
    let dims = dense.shape().into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
    let shape = dims.map_err(|error| error.to_string())?;
    let shape = TensorShape::new(&shape).map_err(|error| error.message)?;
    let mut texts: Vec<_> = strings.iter().map(|bytes| bytes.to_vec()).collect();
    if let ([only], Ok(count)) = (&texts[..], shape.num_elements()) {
        texts = vec![only.clone(); count];
    }
    StringHostTensor::new(shape, texts).map(HostTensor::from).map_err(|error| error.message)
}

#[cfg(test)]
mod tests {
    use tfrt_host::DType;
    use tfrt_ir::InsertionPoint;
    use tfrt_tensor::DenseHostTensor;

    use super::*;
    use crate::GraphBuilder;

    #[test]
    fn a_graph_is_the_same_after_text() {
        let host = crate::evaluate::test_host();
        let evaluator = Evaluator::new(&host).unwrap();
        let mut graph = Graph::new();
        let x = TensorType::ranked(DType::F32, [None, Some(2)]);
        let ty = Type::function(vec![x.to_ir()], vec![x.to_ir()]);
        let ty = ty.as_function().unwrap().clone();
        let (_, block) = graph.module.add_function(MAIN, ty, tfrt_ir::Location::Unknown);
        let argument = graph.module.block(block).arguments[0];
        let mut builder = GraphBuilder::new(&mut graph, &evaluator, InsertionPoint::End(block));
        let two = DenseHostTensor::from_slice([2], &[1.5_f32, 2.5], evaluator.allocator()).unwrap();
        let two = builder.add_constant("bias", two);
        let none: [(&str, Attribute); 0] = [];
        let sum = builder.op("tf.AddV2", &[argument, two], none).unwrap();
        builder.append_op(RETURN, &[sum], tfrt_ir::AttrDict::default(), Vec::new());
        graph.inputs = vec![Port { name: "x".to_owned(), ty: x.clone() }];
        graph.outputs = vec![Port { name: "y".to_owned(), ty: x }];

        let module = graph.to_module(usize::MAX);
        let again = Graph::from_module(module.clone(), &evaluator).unwrap();
        assert_eq!((&again.inputs, &again.outputs), (&graph.inputs, &graph.outputs));
        let registry = tfrt_ir::OpRegistry::new();
        let print = |module: &Module| tfrt_ir::print_module(module, &registry, Default::default());
        assert_eq!(print(&again.to_module(usize::MAX)), print(&module));
        assert!(print(&module).contains(r#"name = "bias", value = dense<[1.5"#), "{}", print(&module));
        // A constant that is too large keeps its number, and cannot be read.
        let errors = Graph::from_module(graph.to_module(4), &evaluator).unwrap_err();
        assert!(errors.to_string().contains("the constant has no dense attribute 'value'"), "{errors}");
    }
}
