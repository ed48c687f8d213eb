//! A function's kernels as a graph, and its pictures: text for Graphviz, or SVG.

mod svg;

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use tfrt_ir::{Attribute, Func, Module, Operation, ValueId};

pub(super) use svg::to_svg;

use super::report::visible;

/// The most kernels that are drawn one by one.
const MAX_KERNELS: usize = 150;

/// The number of groups that the kernels of a longer function are drawn as, about.
const GROUP_COUNT: usize = 50;

/// The most arrows that leave a box. Further users of its results refer to it by its number
/// instead.
const MAX_ARROWS: usize = 4;

/// The most kernels without arguments that are drawn as boxes of their own above their only user.
const MAX_SOURCES: usize = 3;

/// The most characters of an attribute in a label.
const MAX_ATTRIBUTE_CHARACTERS: usize = 24;

/// The most characters of the inputs in a box.
const MAX_INPUT_CHARACTERS: usize = 36;

/// The kernel that makes chains.
const NEW_CHAIN: &str = "tfrt.new.chain";

/// The op of an op graph that is a constant.
const OP_CONST: &str = "tf.Const";

/// The kernels of a function, and which of them use the results of others.
pub(super) struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A box of the picture.
struct Node {
    /// One or two lines.
    label: String,
    /// Constants, arguments and numbers of other boxes that the kernel uses. They have no boxes and
    /// arrows of their own, which would cross the picture.
    inputs: Vec<String>,
    tooltip: String,
    kind: Kind,
}

impl Node {
    /// Returns the lines in the box.
    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.label.lines().map(str::to_owned).collect();
        if !self.inputs.is_empty() {
            lines.push(format!("← {}", shorten(&self.inputs.join(", "), MAX_INPUT_CHARACTERS)));
        }
        lines
    }

    fn full_tooltip(&self) -> String {
        match &*self.inputs {
            [] => self.tooltip.clone(),
            inputs => format!("{}\n← {}", self.tooltip, inputs.join(", ")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The results of the function.
    Results,
    Kernel,
    /// Kernels that follow each other in the file.
    Group,
}

/// An arrow of the picture.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    /// The types of the values that are passed on.
    tooltip: String,
    /// Whether chains alone are passed on.
    is_chain: bool,
}

impl Graph {
    /// Returns the graph of a function; empty if it has no body. The kernels of a long function are
    /// collected in groups of kernels that follow each other, so that the picture stays readable.
    pub(super) fn of(module: &Module, function: Func<'_>) -> Self {
        let mut builder =
            Builder { module, nodes: Vec::new(), makers: HashMap::new(), edges: BTreeMap::new() };
        builder.add_function(function);
        builder.replace_long_arrows();
        let Builder { nodes, edges, .. } = builder;
        let edge = |((from, to), types): ((usize, usize), Vec<String>)| Edge {
            from,
            to,
            is_chain: types.iter().all(|ty| ty == "!tfrt.chain"),
            tooltip: types.join(", "),
        };
        let mut graph = Self { nodes, edges: edges.into_iter().map(edge).collect() };
        graph.merge_sources();
        graph
    }

    /// Draws many kernels without arguments that belong to one user as one box.
    fn merge_sources(&mut self) {
        let mut degrees = vec![(0, 0); self.nodes.len()];
        for edge in &self.edges {
            degrees[edge.from].1 += 1;
            degrees[edge.to].0 += 1;
        }
        let mut sources: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| degrees[edge.from] == (0, 1)) {
            sources.entry(edge.to).or_default().push(edge.from);
        }
        sources.retain(|_, sources| sources.len() > MAX_SOURCES);
        let mut is_merged = vec![false; self.nodes.len()];
        for sources in sources.values() {
            let lines: Vec<_> = sources.iter().map(|&source| self.nodes[source].lines().join(" ")).collect();
            let first = &mut self.nodes[sources[0]];
            first.label = format!("{} kernels\n{}, …", sources.len(), lines[0]);
            first.inputs.clear();
            first.tooltip = lines.join("\n");
            first.kind = Kind::Group;
            sources[1..].iter().for_each(|&source| is_merged[source] = true);
        }
        self.remove(&is_merged);
    }

    /// Removes nodes and their edges.
    fn remove(&mut self, is_removed: &[bool]) {
        let mut kept = 0..;
        let indices: Vec<_> =
            is_removed.iter().map(|is_removed| if *is_removed { None } else { kept.next() }).collect();
        let mut index = 0..;
        self.nodes.retain(|_| index.next().is_some_and(|index: usize| !is_removed[index]));
        let edges = std::mem::take(&mut self.edges);
        let renumbered = edges
            .into_iter()
            .filter_map(|edge| Some(Edge { from: indices[edge.from]?, to: indices[edge.to]?, ..edge }));
        self.edges = renumbered.collect();
    }

    /// Writes the graph for Graphviz.
    pub(super) fn to_dot(&self) -> String {
        let mut text = String::from("digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n");
        for (number, node) in self.nodes.iter().enumerate() {
            // Writing to a string does not fail.
            let (label, tooltip) = (node.lines().join("\n"), node.full_tooltip());
            let _ = writeln!(text, "  n{number} [label={label:?}, tooltip={tooltip:?}];");
        }
        for Edge { from, to, tooltip, is_chain } in &self.edges {
            let style = if *is_chain { ", style=dashed" } else { "" };
            let _ = writeln!(text, "  n{from} -> n{to} [tooltip={tooltip:?}{style}];");
        }
        text + "}\n"
    }
}

/// Where a value comes from.
#[derive(Clone)]
enum Maker {
    Node(usize),
    /// A constant or an argument, which is text in the boxes of its users.
    Text(String),
}

struct Builder<'m> {
    module: &'m Module,
    nodes: Vec<Node>,
    makers: HashMap<ValueId, Maker>,
    /// The types of the values between two nodes.
    edges: BTreeMap<(usize, usize), Vec<String>>,
}

impl Builder<'_> {
    fn add_function(&mut self, function: Func<'_>) {
        let Some(body) = function.body() else { return };
        for (number, &value) in function.arguments().iter().enumerate() {
            self.makers.insert(value, Maker::Text(format!("argument {number}")));
        }
        let mut kernels: Vec<&Operation> = self.module.ops_in(body).map(|(_, op)| op).collect();
        let end = kernels.pop_if(|op| op.name.as_str() == "tfrt.return");
        let size = match kernels.len() {
            count if count > MAX_KERNELS => count.div_ceil(GROUP_COUNT),
            _ => 1,
        };
        let is_grouped = size > 1;
        for (number, group) in kernels.chunks(size).enumerate() {
            match group {
                [op] if !is_grouped && is_constant(op) => {
                    let maker = Maker::Text(constant(op));
                    self.makers.extend(op.results.iter().map(|&value| (value, maker.clone())));
                }
                [op] => {
                    let node = self.add_node(label(op), self.tooltip(op), Kind::Kernel);
                    self.connect(op, node);
                }
                group => {
                    let first = number * size + 1;
                    let (label, tooltip) = describe_group(first, group);
                    let node = self.add_node(label, tooltip, Kind::Group);
                    for op in group {
                        self.connect(op, node);
                    }
                }
            }
        }
        if let Some(end) = end.filter(|end| !end.operands.is_empty()) {
            let tooltip = self.types(&end.operands).join(", ");
            let node = self.add_node("results".to_owned(), tooltip, Kind::Results);
            self.connect(end, node);
        }
    }

    fn add_node(&mut self, label: String, tooltip: String, kind: Kind) -> usize {
        self.nodes.push(Node { label, inputs: Vec::new(), tooltip, kind });
        self.nodes.len() - 1
    }

    /// Adds the edges to an operation in `node`, and makes `node` the origin of its results.
    fn connect(&mut self, op: &Operation, node: usize) {
        for &operand in &op.operands {
            let from = match self.makers.get(&operand).cloned() {
                // Values within a group are no edges.
                Some(Maker::Node(from)) if from == node => continue,
                Some(Maker::Node(from)) => from,
                Some(Maker::Text(text)) => {
                    if !text.is_empty() {
                        self.nodes[node].inputs.push(text);
                    }
                    continue;
                }
                None => continue,
            };
            let ty = self.module.value_type(operand).to_string();
            let types = self.edges.entry((from, node)).or_default();
            if !types.contains(&ty) {
                types.push(ty);
            }
        }
        self.makers.extend(op.results.iter().map(|&value| (value, Maker::Node(node))));
    }

    /// Replaces arrows of boxes that have many by references, which are drawn beside the users.
    fn replace_long_arrows(&mut self) {
        let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &(from, to) in self.edges.keys() {
            users.entry(from).or_default().push(to);
        }
        users.retain(|_, users| users.len() > MAX_ARROWS);
        for (number, (from, users)) in users.into_iter().enumerate() {
            let reference = format!("[{}]", number + 1);
            self.nodes[from].label.insert_str(0, &format!("{reference} "));
            for to in users.into_iter().skip(MAX_ARROWS) {
                self.edges.remove(&(from, to));
                self.nodes[to].inputs.push(reference.clone());
            }
        }
    }

    fn types(&self, values: &[ValueId]) -> Vec<String> {
        values.iter().map(|&value| self.module.value_type(value).to_string()).collect()
    }

    /// Describes an operation in full: its types, attributes, location and the kernels of its
    /// regions.
    fn tooltip(&self, op: &Operation) -> String {
        let (operands, results) = (self.types(&op.operands), self.types(&op.results));
        let mut text = format!("{}\n({}) -> ({})", op.name, operands.join(", "), results.join(", "));
        for (name, value) in op.attributes.iter() {
            // Writing to a string does not fail.
            let _ = write!(text, "\n{name} = {}", shorten(&value.to_string(), 200));
        }
        match op.location.file_position() {
            Some((place, 0, _)) => _ = write!(text, "\nat {place}"),
            Some((file, line, column)) => _ = write!(text, "\nat {file}:{line}:{column}"),
            None => {}
        }
        for &region in &op.regions {
            if let Some(block) = self.module.entry_block(region) {
                let names = self.module.ops_in(block).map(|(_, op)| op.name.as_str().to_owned());
                let _ = write!(text, "\n{{ {} }}", shorten(&names.collect::<Vec<_>>().join(", "), 400));
            }
        }
        text
    }
}

/// Whether an operation is a constant: a value in an attribute, or a chain.
fn is_constant(op: &Operation) -> bool {
    let name = op.name.as_str();
    let is_known =
        name == NEW_CHAIN || name == OP_CONST || name.contains("constant") && !op.attributes.is_empty();
    op.operands.is_empty() && op.regions.is_empty() && op.results.len() == 1 && is_known
}

/// Returns a constant's name or value, and nothing for a chain, which carries none.
fn constant(op: &Operation) -> String {
    if op.name == OP_CONST
        && let Some(name) = op.attr("name")
    {
        return visible(&shorten(&attribute(name), MAX_ATTRIBUTE_CHARACTERS)).into_owned();
    }
    let values: Vec<_> = op.attributes.iter().map(|(_, value)| attribute(value)).collect();
    visible(&shorten(&values.join(", "), MAX_ATTRIBUTE_CHARACTERS)).into_owned()
}

/// Returns an operation's name, and on a second line its attributes as far as they are short.
fn label(op: &Operation) -> String {
    let shown = op.attributes.iter().filter(|(name, _)| !name.starts_with("bef."));
    let attributes = shown.filter_map(|(name, value)| {
        let value = attribute(value);
        let is_short = value.chars().count() <= MAX_ATTRIBUTE_CHARACTERS;
        is_short.then(|| if op.attributes.len() == 1 { value.clone() } else { format!("{name} = {value}") })
    });
    let attributes: Vec<_> = attributes.take(2).collect();
    let mut text = visible(op.name.as_str()).into_owned();
    if !op.regions.is_empty() {
        text += " {…}";
    }
    if !attributes.is_empty() {
        let _ = write!(text, "\n{}", visible(&attributes.join(", ")));
    }
    text
}

/// Formats an attribute without its type.
fn attribute(value: &Attribute) -> String {
    let text = value.to_string();
    match text.split_once(" : ") {
        Some((number, _)) if value.as_int().is_some() || value.as_f64().is_some() => number.to_owned(),
        _ => text,
    }
}

fn shorten(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns label and tooltip of a group of operations, of which the first has the number `first`.
fn describe_group(first: usize, group: &[&Operation]) -> (String, String) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for op in group {
        *counts.entry(op.name.as_str()).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let listed = |(name, count): &(&str, usize)| match count {
        1 => visible(name).into_owned(),
        count => format!("{} × {count}", visible(name)),
    };
    let all: Vec<_> = counts.iter().map(listed).collect();
    let more = if all.len() > 1 { ", …" } else { "" };
    let label = format!("kernels {first}–{}\n{}{more}", first + group.len() - 1, all[0]);
    (label, all.join("\n"))
}

#[cfg(test)]
mod tests {
    use tfrt_ir::{OpRegistry, ParseOptions, Source, parse_module};

    use super::*;

    fn graph(text: &str) -> Graph {
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        let module = parse_module(&Source::new("test.mlir", text), &OpRegistry::new(), &options).unwrap();
        Graph::of(&module, module.function("main").unwrap())
    }

    const DIAMOND: &str = r#"func @main(%x: i32) -> i32 {
        %two = "my.constant"() {value = 2 : i32} : () -> i32
        %a = "my.a"(%x, %two) : (i32, i32) -> i32
        %b = "my.b<c>"(%x, %two) : (i32, i32) -> i32
        %c, %ch = "my.join"(%a, %b) {name = "n", bef.nonstrict} : (i32, i32) -> (i32, !tfrt.chain)
        "my.end"(%ch) : (!tfrt.chain) -> ()
        "tfrt.return"(%c) : (i32) -> ()
    }"#;

    #[test]
    fn constants_and_arguments_stand_in_the_boxes_of_their_users() {
        let graph = graph(DIAMOND);
        let lines: Vec<_> = graph.nodes.iter().map(|node| node.lines().join("|")).collect();
        let expected =
            ["my.a|← argument 0, 2", "my.b<c>|← argument 0, 2", "my.join|name = \"n\"", "my.end", "results"];
        assert_eq!(lines, expected);
        let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.is_chain)).collect();
        assert_eq!(edges, [(0, 2, false), (1, 2, false), (2, 3, true), (2, 4, false)]);
        assert!(graph.nodes[0].tooltip.contains("(i32, i32) -> (i32)\nat test.mlir:3:"));
        let dot = graph.to_dot();
        assert!(dot.contains("n2 -> n3 [tooltip=\"!tfrt.chain\", style=dashed];"), "{dot}");
    }

    #[test]
    fn boxes_do_not_overlap_and_arrows_have_heads() {
        let svg = to_svg(&graph(DIAMOND));
        assert_eq!((svg.matches("<rect").count(), svg.matches("marker-end").count()), (5, 4), "{svg}");
        assert!(svg.contains("my.b&lt;c>") && svg.contains("<title>my.join"), "{svg}");
        let number = |text: &str, name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let boxes: Vec<_> = svg.split("<rect").skip(1).collect();
        for (index, a) in boxes.iter().enumerate() {
            for b in &boxes[..index] {
                let apart = |at: &str, size: &str| {
                    number(a, at) + number(a, size) <= number(b, at)
                        || number(b, at) + number(b, size) <= number(a, at)
                };
                assert!(apart("x", "width") || apart("y", "height"), "{a} {b}");
            }
        }
    }

    #[test]
    fn long_functions_are_collected_in_groups() {
        let mut text = String::from("func @main(%x0: i32) -> i32 {\n");
        for number in 0..1000 {
            let _ = writeln!(text, "%x{} = \"my.op\"(%x{number}) : (i32) -> i32", number + 1);
        }
        text += "\"tfrt.return\"(%x1000) : (i32) -> ()\n}";
        let graph = graph(&text);
        assert_eq!(graph.nodes.len(), GROUP_COUNT + 1);
        assert_eq!(graph.nodes[0].label, "kernels 1–20\nmy.op × 20");
        assert_eq!(graph.edges.len(), GROUP_COUNT);
        assert_eq!(to_svg(&graph).matches("<rect").count(), GROUP_COUNT + 1);
    }

    #[test]
    fn boxes_with_many_users_or_inputs_have_few_arrows() {
        let mut text = String::from("func @main() {\n%x = \"my.make\"() : () -> i32\n");
        for number in 0..10 {
            let _ = writeln!(text, "\"my.use\"(%x) : (i32) -> ()\n%y{number} = \"my.y\"() : () -> i32");
        }
        let all: Vec<_> = (0..10).map(|number| format!("%y{number}")).collect();
        let _ = writeln!(text, "\"my.all\"({}) : ({}) -> ()", all.join(", "), ["i32"; 10].join(", "));
        text += "\"tfrt.return\"() : () -> ()\n}";
        let graph = graph(&text);
        let count = |line: &str| graph.nodes.iter().filter(|node| node.lines().join("|") == line).count();
        assert_eq!((count("[1] my.make"), count("my.use"), count("my.use|← [1]")), (1, 4, 6));
        assert_eq!((count("10 kernels|my.y, …"), graph.edges.len()), (1, 5));
    }

    #[test]
    fn empty_functions_have_pictures() {
        let graph = graph("func @main() {\n \"tfrt.return\"() : () -> ()\n}");
        assert!(graph.nodes.is_empty() && to_svg(&graph).ends_with("</svg>\n"));
    }
}
