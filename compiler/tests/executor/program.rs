//! Random programs with nested conditionals and loops: as a graph of Switches, Merges and frames,
//! and what they compute.

use std::fmt::Write as _;

/// How many variables a program has.
pub(crate) const VARIABLES: usize = 3;

#[derive(Debug)]
enum Statement {
    /// A variable becomes the sum, difference or product of two.
    Op(usize, &'static str, usize, usize),
    /// A variable becomes a number.
    Set(usize, i32),
    /// One of two blocks runs, whether the first variable is less than the second.
    If(usize, usize, Vec<Statement>, Vec<Statement>),
    /// A block runs at most so often, while the first variable is less than the second or the other
    /// way round.
    While(u32, usize, usize, Vec<Statement>),
}

/// A program over variables of 32-bit integers.
#[derive(Debug)]
pub(crate) struct Program(Vec<Statement>);

/// Numbers that look random.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    pub(crate) fn number(&mut self) -> i32 {
        self.below(21) as i32 - 10
    }
}

impl Program {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self(block(random, 3))
    }

    /// What the variables are at the end.
    pub(crate) fn run(&self, variables: &mut [i32; VARIABLES]) {
        run(&self.0, variables);
    }

    /// The program as a function with a graph.
    pub(crate) fn to_graph(&self) -> String {
        let mut writer = Writer { text: String::new(), next: 0 };
        let mut variables: Vec<String> = (0..VARIABLES).map(|number| format!("%arg{number}")).collect();
        writer.block(&self.0, &mut variables, None);
        let types = ["tensor<i32>"; VARIABLES].join(", ");
        let arguments: Vec<String> = variables_with_types();
        format!(
            "func @main({}) -> ({types}) {{\n %r:{VARIABLES} = tf_executor.graph {{\n{} tf_executor.fetch {} : {types}\n }}\n \
             return %r#0, %r#1, %r#2 : {types}\n}}\n",
            arguments.join(", "),
            writer.text,
            variables.join(", "),
        )
    }
}

fn variables_with_types() -> Vec<String> {
    (0..VARIABLES).map(|number| format!("%arg{number}: tensor<i32>")).collect()
}

fn block(random: &mut Random, depth: usize) -> Vec<Statement> {
    let count = 1 + random.below(3);
    (0..count).map(|_| statement(random, depth)).collect()
}

fn statement(random: &mut Random, depth: usize) -> Statement {
    let mut variable = || random.below(VARIABLES);
    let [to, a, b] = [variable(), variable(), variable()];
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0 => Statement::Set(to, random.number()),
        1..=3 => Statement::Op(to, ["tf.AddV2", "tf.Sub", "tf.Mul"][random.below(3)], a, b),
        4 | 5 => {
            let on_true = block(random, depth - 1);
            let on_false = if random.below(3) == 0 { Vec::new() } else { block(random, depth - 1) };
            Statement::If(a, b, on_true, on_false)
        }
        _ => Statement::While(random.below(4) as u32, a, b, block(random, depth - 1)),
    }
}

fn run(statements: &[Statement], variables: &mut [i32; VARIABLES]) {
    for statement in statements {
        match statement {
            Statement::Set(to, value) => variables[*to] = *value,
            Statement::Op(to, op, a, b) => {
                let (a, b) = (variables[*a], variables[*b]);
                variables[*to] = match *op {
                    "tf.AddV2" => a.wrapping_add(b),
                    "tf.Sub" => a.wrapping_sub(b),
                    _ => a.wrapping_mul(b),
                };
            }
            Statement::If(a, b, on_true, on_false) => {
                run(if variables[*a] < variables[*b] { on_true } else { on_false }, variables);
            }
            Statement::While(bound, a, b, body) => {
                let mut iteration = 0;
                while iteration < *bound && variables[*a] <= variables[*b] {
                    run(body, variables);
                    iteration += 1;
                }
            }
        }
    }
}

/// Writes nodes.
struct Writer {
    text: String,
    next: usize,
}

impl Writer {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%n{}", self.next)
    }

    fn node(&mut self, results: usize, text: &str) -> String {
        let name = self.name();
        let count = results + 1;
        if results == 0 {
            let _ = writeln!(self.text, "  {name} = {text}");
        } else {
            let _ = writeln!(self.text, "  {name}:{count} = {text}");
        }
        name
    }

    fn island(&mut self, control: Option<&str>, op: &str, operands: &str, ty: &str) -> String {
        let control = control.map_or(String::new(), |control| format!("({control})"));
        let name = self.node(1, &format!("tf_executor.island{control} wraps \"{op}\"({operands}){ty}"));
        format!("{name}#0")
    }

    fn constant(&mut self, control: Option<&str>, value: i32) -> String {
        let ty = format!(" {{value = dense<{value}> : tensor<i32>}} : () -> tensor<i32>");
        self.island(control, "tf.Const", "", &ty)
    }

    fn binary(&mut self, op: &str, a: &str, b: &str, result: &str) -> String {
        let ty = format!(" : (tensor<i32>, tensor<i32>) -> tensor<{result}>");
        self.island(None, op, &format!("{a}, {b}"), &ty)
    }

    /// Control that is live when this value is.
    fn pivot(&mut self, value: &str) -> String {
        let node = self.island(None, "tf.Identity", value, " : (tensor<i32>) -> tensor<i32>");
        node.replace("#0", "#1")
    }

    fn block(&mut self, statements: &[Statement], variables: &mut [String], pivot: Option<&str>) {
        for statement in statements {
            match statement {
                Statement::Set(to, value) => variables[*to] = self.constant(pivot, *value),
                Statement::Op(to, op, a, b) => {
                    let (a, b) = (variables[*a].clone(), variables[*b].clone());
                    variables[*to] = self.binary(op, &a, &b, "i32");
                }
                Statement::If(a, b, on_true, on_false) => {
                    let predicate =
                        self.binary("tf.Less", &variables[*a].clone(), &variables[*b].clone(), "i1");
                    self.choice(&predicate, [on_false, on_true], variables);
                }
                Statement::While(bound, a, b, body) => self.repeat(*bound, [*a, *b], body, variables, pivot),
            }
        }
    }

    fn choice(&mut self, predicate: &str, blocks: [&[Statement]; 2], variables: &mut [String]) {
        let switches: Vec<String> = variables
            .iter()
            .map(|variable| format!("tf_executor.Switch {variable}, {predicate} : tensor<i32>"))
            .collect();
        let switches: Vec<String> = switches.iter().map(|switch| self.node(2, switch)).collect();
        let mut ends = Vec::new();
        for (side, block) in blocks.into_iter().enumerate() {
            let mut inner: Vec<String> = switches.iter().map(|switch| format!("{switch}#{side}")).collect();
            let pivot = self.pivot(&inner[0].clone());
            self.block(block, &mut inner, Some(&pivot));
            ends.push(inner);
        }
        for (number, variable) in variables.iter_mut().enumerate() {
            let merge = format!("tf_executor.Merge {}, {} : tensor<i32>", ends[0][number], ends[1][number]);
            *variable = format!("{}#0", self.node(2, &merge));
        }
    }

    fn repeat(
        &mut self,
        bound: u32,
        [a, b]: [usize; 2],
        body: &[Statement],
        variables: &mut [String],
        pivot: Option<&str>,
    ) {
        let frame = format!("frame.{}", self.next);
        let parallel = 1 + self.next % 3;
        let [zero, one, bound] = [0, 1, bound as i32].map(|value| self.constant(pivot, value));
        let mut constant = |value: &str| {
            let enter = format!("tf_executor.Enter {value} frame \"{frame}\" constant : tensor<i32>");
            format!("{}#0", self.node(1, &enter))
        };
        let (one, bound) = (constant(&one), constant(&bound));
        let carried: Vec<String> = variables.iter().cloned().chain([zero]).collect();
        let (mut merges, mut tokens) = (Vec::new(), Vec::new());
        for value in &carried {
            let enter = self.node(
                1,
                &format!(
                    "tf_executor.Enter {value} frame \"{frame}\" parallel_iterations {parallel} : tensor<i32>"
                ),
            );
            let source = self.node(2, "tf_executor.NextIteration.Source : tensor<i32>");
            let merge = self.node(2, &format!("tf_executor.Merge {enter}#0, {source}#0 : tensor<i32>"));
            merges.push(format!("{merge}#0"));
            tokens.push(format!("{source}#1"));
        }
        let counter = merges[VARIABLES].clone();
        let less = self.binary("tf.Less", &counter, &bound, "i1");
        let order = self.binary("tf.LessEqual", &merges[a].clone(), &merges[b].clone(), "i1");
        let both = self.island(
            None,
            "tf.LogicalAnd",
            &format!("{less}, {order}"),
            " : (tensor<i1>, tensor<i1>) -> tensor<i1>",
        );
        let condition = self.node(1, &format!("tf_executor.LoopCond {both} : tensor<i1>"));
        let switches: Vec<String> = merges
            .iter()
            .map(|merge| self.node(2, &format!("tf_executor.Switch {merge}, {condition}#0 : tensor<i32>")))
            .collect();
        let mut inner: Vec<String> = switches.iter().map(|switch| format!("{switch}#1")).collect();
        let counter = inner.pop().expect("the counter");
        let pivot = self.pivot(&counter);
        self.block(body, &mut inner, Some(&pivot));
        inner.push(self.binary("tf.AddV2", &counter, &one, "i32"));
        for (token, value) in tokens.iter().zip(&inner) {
            let _ = writeln!(self.text, "  tf_executor.NextIteration.Sink [{token}] {value} : tensor<i32>");
        }
        for (variable, switch) in variables.iter_mut().zip(&switches) {
            *variable = format!("{}#0", self.node(1, &format!("tf_executor.Exit {switch}#0 : tensor<i32>")));
        }
    }
}
