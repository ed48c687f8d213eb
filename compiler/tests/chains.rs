//! Chains that the compiler inserts, and chains that it finds missing, on programs of few kernels.

use tfrt_compiler::chains;
use tfrt_convert::operations;
use tfrt_host::{Arg, Chain, KernelRegistry, Rest, value_type};
use tfrt_ir::{
    InsertionPoint, Module, OpId, OpRegistry, OpState, ParseOptions, PrintOptions, Source, Type,
    parse_module, print_module, verify,
};

/// Contents that kernels change.
struct Cells;
value_type!(Cells, "!t.cells");

fn ops() -> OpRegistry {
    let mut kernels = KernelRegistry::new();
    kernels.add("tfrt.new.chain", || Chain);
    kernels.add("tfrt.merge.chains", |_: Rest<'_, Chain>| Chain);
    kernels.add_mutable_type::<Cells>();
    kernels.add("t.make", || Cells);
    kernels.add("t.true", || true);
    kernels.add("t.count", || 2_i32);
    kernels.add("t.view", |_: Arg<'_, Cells>| Cells).reads(&[]).aliases(0, 0);
    kernels.add("t.write", |_: Arg<'_, Cells>, _: Chain| Chain).mutates(&[0]);
    kernels.add("t.read", |_: Arg<'_, Cells>, _: Chain| Chain);
    kernels
        .add("t.kernel", |_: Arg<'_, Cells>, _: Arg<'_, Cells>, _: Arg<'_, Cells>, _: Chain| Chain)
        .mutates(&[2]);
    kernels.add("t.size", |_: Arg<'_, Cells>| 1_i32);
    kernels.add_chain_form("t.size");
    kernels.add("t.print", |_: i32, _: Chain| Chain).side_effecting();
    // In place, and also its result: the document's `in_place_add`.
    kernels
        .add("t.add", |_: Arg<'_, Cells>, _: Arg<'_, Cells>, _: Chain| (Cells, Chain))
        .mutates(&[0])
        .aliases(0, 0);
    operations(&kernels).expect("all signatures can be read")
}

fn parse(text: &str, ops: &OpRegistry) -> Module {
    let source = Source::new("test.mlir", text);
    let parsed = parse_module(&source, ops, &ParseOptions::default());
    parsed.map_err(|errors| format!("{errors:?}\n{text}")).expect("the text is right")
}

fn print(module: &Module, ops: &OpRegistry) -> String {
    print_module(module, ops, PrintOptions::default())
}

/// Inserts chains into text without any.
fn inserted(text: &str) -> (Module, String) {
    let ops = ops();
    let mut module = parse(text, &chains::without_chains(&ops));
    chains::insert(&mut module, &ops).expect("all kernels can be ordered");
    let text = print(&module, &ops);
    assert!(verify(&module, &ops).is_empty(), "{text}");
    (module, text)
}

/// The statements of the first function.
fn body(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.contains("func")).skip(1);
    lines.map(|line| line.trim().to_owned()).take_while(|line| line != "}").collect()
}

/// Four kernels in the graph of the document on explicit dependencies: the first two share a chain,
/// and a chain of both goes to the third.
#[test]
fn four_kernels_get_the_chains_of_their_graph() {
    let (_, text) = inserted(
        "func @main(%a: !t.cells, %b: !t.cells, %d: !t.cells, %e: !t.cells) {
           %c = t.make
           t.kernel %a, %b, %c
           %f = t.make
           t.kernel %d, %e, %f
           %g = t.make
           t.kernel %c, %f, %g
           %h = t.make
           t.kernel %g, %g, %h
           tfrt.return
         }",
    );
    let expected = [
        "%0 = tfrt.new.chain",
        "%1 = t.make",
        "%2 = t.kernel %arg0, %arg1, %1, %0",
        "%3 = t.make",
        "%4 = t.kernel %arg2, %arg3, %3, %0",
        "%5 = t.make",
        "%6 = tfrt.merge.chains %2, %4",
        "%7 = t.kernel %1, %3, %5, %6",
        "%8 = t.make",
        "%9 = t.kernel %5, %5, %8, %7",
        "tfrt.return",
    ];
    assert_eq!(body(&text), expected);
}

/// What is read in the end is what was changed, whatever becomes of the values between.
#[test]
fn a_view_keeps_its_dependency() {
    let (_, text) = inserted(
        "func @main(%a: !t.cells, %b: !t.cells) {
           %c = t.add %a, %b
           t.read %a
           t.write %c
           tfrt.return
         }",
    );
    let expected = [
        "%0 = tfrt.new.chain",
        "%1:2 = t.add %arg0, %arg1, %0",
        "%2 = t.read %arg0, %1#1",
        "%3 = t.write %1#0, %2",
        "tfrt.return",
    ];
    assert_eq!(body(&text), expected);
}

#[test]
fn kernels_without_chains_are_replaced_by_their_chain_forms() {
    let (_, text) = inserted(
        "func @main(%a: !t.cells) -> i32 {
           t.write %a
           %size = t.size %a
           t.write %a
           tfrt.return %size : i32
         }",
    );
    assert!(text.contains("%2:2 = t.size.chained %arg0, %1"), "{text}");
    assert!(text.contains("t.write %arg0, %2#1"), "{text}");
    let (_, text) =
        inserted("func @main(%a: !t.cells) -> i32 {\n%size = t.size %a\ntfrt.return %size : i32\n}");
    assert!(!text.contains("chained"), "nothing to order: {text}");
}

/// Chains go through functions, branches and loops where something must be ordered, and nowhere
/// else.
#[test]
fn functions_take_and_give_chains() {
    let (_, text) = inserted(
        "func @main(%a: !t.cells, %b: !t.cells) {
           %yes = t.true
           %count = t.count
           tfrt.call @read(%a) : (!t.cells) -> ()
           tfrt.if %yes, %a : (!t.cells) -> () {
             t.write %a
             tfrt.return
           }
           %r = tfrt.repeat.i32 %count, %b : !t.cells {
             %c = t.view %b
             t.write %c
             tfrt.return %b : !t.cells
           }
           tfrt.call @nothing(%a) : (!t.cells) -> ()
           tfrt.return
         }
         func @read(%a: !t.cells) {
           t.read %a
           tfrt.return
         }
         func @nothing(%a: !t.cells) {
           tfrt.return
         }",
    );
    assert!(text.contains("func @read(%arg0: !t.cells) -> !tfrt.chain {"), "{text}");
    assert!(text.contains("func @nothing(%arg0: !t.cells) {"), "{text}");
    assert!(text.contains("tfrt.if %1, %arg0, %3 : (!t.cells, !tfrt.chain) -> ()"), "{text}");
    assert!(text.contains("tfrt.repeat.i32 %2, %arg1, %0 : !t.cells, !tfrt.chain"), "{text}");
}

#[test]
fn effects_stay_in_the_order_of_the_text() {
    let (_, text) = inserted(
        "func @main() -> !tfrt.chain {
           %done = tfrt.new.chain
           %one = t.count
           t.print %one
           tfrt.call @more(%one) : (i32) -> ()
           t.print %one
           tfrt.return %done : !tfrt.chain
         }
         func @more(%x: i32) {
           t.print %x
           tfrt.return
         }",
    );
    let expected = [
        "%0 = tfrt.new.chain",
        "%1 = t.count",
        "%2 = t.print %1, %0",
        "%3 = tfrt.call @more(%1, %2) : (i32, !tfrt.chain) -> !tfrt.chain",
        "%4 = t.print %1, %3",
        "tfrt.return %4 : !tfrt.chain",
    ];
    assert_eq!(body(&text), expected);
}

#[test]
fn what_no_chain_can_order_is_an_error() {
    let mut kernels = KernelRegistry::new();
    kernels.add("tfrt.new.chain", || Chain);
    kernels.add_mutable_type::<Cells>();
    kernels.add("t.write", |_: Arg<'_, Cells>| ()).mutates(&[0]);
    let ops = operations(&kernels).unwrap();
    let mut module = parse("func @main(%a: !t.cells) {\n  t.write %a\n  t.write %a\n  tfrt.return\n}", &ops);
    let errors = chains::insert(&mut module, &ops).unwrap_err();
    let first = errors.iter().next().unwrap();
    assert_eq!(
        first.to_string(),
        "test.mlir:2:3: error: 't.write' must be ordered, but takes or gives no chain"
    );
}

#[test]
fn missing_chains_name_kernels_values_and_places() {
    let ops = ops();
    let text = "func @main() {
  %ch0 = tfrt.new.chain
  %a = t.make
  %ch1 = tfrt.call @fill(%a, %ch0) : (!t.cells, !tfrt.chain) -> !tfrt.chain
  %ch2 = t.read %a, %ch0
  tfrt.return
}
func @fill(%a: !t.cells, %ch: !tfrt.chain) -> !tfrt.chain {
  %b = t.view %a
  %ch1 = t.write %b, %ch
  tfrt.return %ch1 : !tfrt.chain
}";
    let module = parse(text, &ops);
    let found = chains::check_function(&module, &ops, "main");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].message,
        "'t.read' reads a !t.cells that 't.write' writes, and no chain orders the two (!t.cells made by 't.make' at \
         test.mlir:3:8)"
    );
    assert_eq!(found[0].location.file_position().map(|(_, line, _)| line), Some(5));
    let notes: Vec<_> = found[0].notes.iter().map(|note| note.message.as_str()).collect();
    let expected = [
        "written by 't.write' at test.mlir:10:10",
        "'t.write' at test.mlir:10:10 is called by 'tfrt.call' at test.mlir:4:10",
        "pass the chain of 'tfrt.call' at test.mlir:4:10 to 't.read' at test.mlir:5:10",
    ];
    assert_eq!(notes, expected);
    assert!(chains::check_function(&module, &ops, "fill").is_empty());
    let mended = text.replace("t.read %a, %ch0", "t.read %a, %ch1");
    assert!(chains::check(&parse(&mended, &ops), &ops).is_empty());
}

#[test]
fn disjoint_parts_of_an_operand_need_no_order() {
    let mut kernels = KernelRegistry::new();
    kernels.add("tfrt.new.chain", || Chain);
    kernels.add("tfrt.constant.i64", || 0_i64);
    kernels.add_mutable_type::<Cells>();
    kernels.add("t.make", || Cells);
    kernels.add("t.write", |_: Arg<'_, Cells>, _: Chain| Chain).mutates(&[0]);
    for slice in ["tfrt_cuda.mem.slice", "tfrt_dist.bucket_part", "t.view"] {
        kernels.add(slice, |_: Arg<'_, Cells>| Cells).reads(&[]).aliases(0, 0);
    }
    let slice = |_: Arg<'_, Cells>, _: i64, _: i64| Cells;
    kernels.add("tfrt_dht.get_buffer_slice", slice).reads(&[]).aliases(0, 0);
    let ops = operations(&kernels).unwrap();
    let missing = |statements: &str| {
        let text = format!(
            "func @main(%a: !t.cells, %size: i64) {{
               %ch0 = tfrt.new.chain
               %b0 = tfrt.constant.i64 0
               %b8 = tfrt.constant.i64 8
               {statements}
               tfrt.return
             }}
             func @fill(%a: !t.cells, %ch: !tfrt.chain) -> !tfrt.chain {{
               %ch1 = t.write %a, %ch
               tfrt.return %ch1 : !tfrt.chain
             }}"
        );
        chains::check_function(&parse(&text, &ops), &ops, "main").len()
    };
    let slice = |value: &str, of: &str, offset: i64, size: i64| {
        format!(
            "{value} = \"tfrt_cuda.mem.slice\"({of}) {{offset = {offset} : i64, size = {size} : i64}} : \
             (!t.cells) -> !t.cells\n"
        )
    };
    let write = |value: &str| format!("t.write {value}, %ch0\n");
    let writes = write("%l") + &write("%r");
    let halves = |at: i64| slice("%l", "%a", 0, 8) + &slice("%r", "%a", at, 8);
    assert_eq!(missing(&(halves(8) + &writes)), 0);
    assert_eq!(missing(&(halves(7) + &writes)), 1);
    // Parts of parts, and calls that write them.
    let nested = halves(8) + &slice("%i", "%r", 4, 4) + &slice("%o", "%a", 8, 4);
    assert_eq!(missing(&(nested.clone() + &write("%i") + &write("%o") + &write("%l"))), 0);
    assert_eq!(missing(&(nested + &write("%i") + &write("%r"))), 1);
    let call =
        |value: &str| format!("tfrt.call @fill({value}, %ch0) : (!t.cells, !tfrt.chain) -> !tfrt.chain\n");
    assert_eq!(missing(&(halves(8) + &call("%l") + &call("%r"))), 0);
    assert_eq!(missing(&(halves(6) + &call("%l") + &call("%r"))), 1);
    // The whole conflicts with each part, and parts that are not in order with it stay apart.
    assert_eq!(missing(&(halves(8) + &writes + &write("%a"))), 2);
    assert_eq!(missing(&(halves(8) + &slice("%m", "%a", 0, 8) + &writes + &write("%m"))), 1);
    // What is not known may be the same.
    let view = "%v = \"t.view\"(%l) : (!t.cells) -> !t.cells\n";
    assert_eq!(missing(&(halves(8) + view + &write("%v") + &write("%r"))), 1);
    let host = |size: &str| {
        let slice = "\"tfrt_dht.get_buffer_slice\"(%a, ";
        let ty = " : (!t.cells, i64, i64) -> !t.cells\n";
        format!("%l = {slice}%b0, {size}){ty}%r = {slice}%b8, %b8){ty}{writes}")
    };
    assert_eq!(missing(&host("%b8")), 0);
    assert_eq!(missing(&host("%size")), 1);
    let bucket = |offset: i64| {
        format!(
            "%l = \"tfrt_dist.bucket_part\"(%a) {{offset = 0 : i64, shape = [2 : i64, 4 : i64]}} : (!t.cells) -> !t.cells
             %r = \"tfrt_dist.bucket_part\"(%a) {{offset = {offset} : i64, shape = [2 : i64]}} : (!t.cells) -> !t.cells
             {writes}"
        )
    };
    assert_eq!(missing(&bucket(8)), 0);
    assert_eq!(missing(&bucket(7)), 1);
}

#[test]
fn iterations_of_loops_are_ordered() {
    let ops = ops();
    let text = |chain: &str| {
        format!(
            "func @main(%a: !t.cells, %n: i32, %ch0: !tfrt.chain) {{
               %r:2 = tfrt.repeat.i32 %n, %a, %ch0 : !t.cells, !tfrt.chain {{
                 %ch1 = t.write %a, %ch0
                 tfrt.return %a, {chain} : !t.cells, !tfrt.chain
               }}
               tfrt.return
             }}"
        )
    };
    assert!(chains::check(&parse(&text("%ch1"), &ops), &ops).is_empty());
    let found = chains::check(&parse(&text("%ch0"), &ops), &ops);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("in the iteration of 'tfrt.repeat.i32'"), "{}", found[0].message);
}

/// Programs without chains that only the seed decides.
struct Generator {
    state: u64,
    text: String,
    names: usize,
}

impl Generator {
    fn program(seed: u64) -> String {
        let mut generator = Generator { state: seed, text: String::new(), names: 0 };
        generator.text += "func @main() {\n%v0 = t.make\n%v1 = t.make\n%v2 = t.make\n";
        generator.statements(3, 3, 2);
        generator.text += "tfrt.return\n}\n";
        for function in 0..3 {
            generator.text += &format!("func @f{function}(%v0: !t.cells, %v1: !t.cells) {{\n");
            generator.statements(2, function, 1);
            generator.text += "tfrt.return\n}\n";
        }
        generator.text
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % bound
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    /// Appends statements on `count` values, which call functions and have regions.
    fn statements(&mut self, count: usize, functions: usize, depth: usize) {
        for _ in 0..2 + self.below(5) {
            let [a, b, c] = [0; 3].map(|_| format!("%v{}", self.below(count)));
            let all = (0..count).map(|index| format!("%v{index}")).collect::<Vec<_>>().join(", ");
            let types = vec!["!t.cells"; count].join(", ");
            let name = self.name();
            match self.below(9) {
                0 | 1 => self.text += &format!("t.write {a}\n"),
                2 | 3 => self.text += &format!("t.read {a}\n"),
                4 => self.text += &format!("t.kernel {a}, {b}, {c}\n"),
                5 => self.text += &format!("{name} = t.view {a}\nt.write {name}\n"),
                6 if functions > 0 => {
                    let callee = self.below(functions);
                    self.text += &format!("tfrt.call @f{callee}({a}, {b}) : (!t.cells, !t.cells) -> ()\n");
                }
                7 if depth > 0 => {
                    self.text += &format!("{name} = t.true\ntfrt.if {name}, {all} : ({types}) -> () {{\n");
                    self.statements(count, functions, depth - 1);
                    self.text += "tfrt.return\n} else {\n";
                    self.statements(count, functions, depth - 1);
                    self.text += "tfrt.return\n}\n";
                }
                8 if depth > 0 => {
                    let results = self.name();
                    self.text += &format!("{name} = t.count\n{results}:{count} = ");
                    self.text += &format!("tfrt.repeat.i32 {name}, {all} : {types} {{\n");
                    self.statements(count, functions, depth - 1);
                    self.text += &format!("tfrt.return {all} : {types}\n}}\n");
                }
                _ => {}
            }
        }
    }
}

/// Operands that are chains of operations and order something: each operation with the position. A
/// chain that a body takes stands for all that comes before, which may be more than what one of its
/// kernels has to follow; one that a body returns is for all its callers.
fn chain_operands(module: &Module) -> Vec<(OpId, usize)> {
    let chain = Type::chain();
    let mut found = Vec::new();
    let is_return = |op: OpId| module.op(op).name == "tfrt.return";
    let is_returned = |op: OpId| {
        let results = module.op(op).results.iter();
        results.flat_map(|&result| module.uses_of(result)).any(|found| is_return(found.op))
    };
    let is_for_callers =
        |op: OpId| is_return(op) || (module.op(op).name == "tfrt.merge.chains" && is_returned(op));
    for op in module.walk(module.root()).filter(|&op| !is_for_callers(op)) {
        for (index, &operand) in module.op(op).operands.iter().enumerate() {
            let orders = module.defining_op(operand).is_some_and(|op| module.op(op).name != "tfrt.new.chain");
            if *module.value_type(operand) == chain && orders {
                found.push((op, index));
            }
        }
    }
    found
}

/// The module with a new chain in place of one operand.
fn without_chain(module: &Module, op: OpId, index: usize) -> Module {
    let mut changed = module.clone();
    let block = changed.op(op).parent.expect("operations of functions are in blocks");
    let new = changed.create_op(OpState::new("tfrt.new.chain").results([Type::chain()]));
    changed.insert_op(InsertionPoint::Start(block), new);
    let chain = changed.op(new).results[0];
    changed.set_operand(op, index, chain);
    changed
}

/// All conflicts of random programs are ordered, and the check finds a race once any chain of an
/// operation is gone.
#[test]
fn inserted_chains_suffice_and_are_needed() {
    let ops = ops();
    let mut removed = 0;
    for seed in 0..12 {
        let text = Generator::program(seed);
        let (module, printed) = inserted(&text);
        let missing = chains::check(&module, &ops);
        assert!(missing.is_empty(), "seed {seed}: {}\n{text}\n{printed}", missing[0].message);
        for (op, index) in chain_operands(&module) {
            removed += 1;
            let found = chains::check(&without_chain(&module, op, index), &ops);
            assert!(!found.is_empty(), "seed {seed}: operand {index} of '{}'\n{printed}", module.op(op).name);
        }
        // Chains that are there suffice, so that no more are inserted.
        let mut again = module.clone();
        chains::insert(&mut again, &ops).expect("all kernels can be ordered");
        assert_eq!(print(&again, &ops), printed, "seed {seed}");
    }
    assert!(removed > 100, "{removed} chains removed");
}
