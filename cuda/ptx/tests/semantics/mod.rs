//! What single instructions compute, through the text of a module: every corner case that the PTX
//! manual defines.
//!
//! The tables beside this file hold instructions and rows of operands and results. An instruction
//! is PTX with its operands as `{name:type}`; those whose names begin with `d`, `p` or `q` are
//! results. A row has the operands, an arrow and the results, in the order in which the instruction
//! names them first. Numbers are decimal, or bits where they begin with `0x`; `nan` is the NaN that
//! operations make. All rows of an instruction run as the threads of one block.

use std::collections::BTreeMap;
use std::fmt::Write;

use tfrt_ptx::{Launch, Memory, Module, Params};

const TABLES: [(&str, &str); 8] = [
    ("integer", include_str!("integer.txt")),
    ("bits", include_str!("bits.txt")),
    ("single", include_str!("single.txt")),
    ("double", include_str!("double.txt")),
    ("half", include_str!("half.txt")),
    ("convert", include_str!("convert.txt")),
    ("compare", include_str!("compare.txt")),
    ("approximate", include_str!("approximate.txt")),
];

/// Miri takes about a second for each instruction, so it runs one in this many.
const STEP: usize = if cfg!(miri) { 16 } else { 1 };

/// The type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Pred,
    Int { bits: u32, signed: bool },
    F16,
    Bf16,
    F32,
    F64,
}

impl Type {
    fn parse(name: &str) -> Self {
        let int = |signed| Self::Int { bits: name[1..].parse().expect("a width"), signed };
        match name {
            "pred" => Self::Pred,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ if name.starts_with('s') => int(true),
            _ if name.starts_with(['u', 'b']) => int(false),
            _ => unreachable!("no type {name}"),
        }
    }

    fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::Int { bits, .. } => bits,
            Self::F16 | Self::Bf16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }

    /// The type of a register, and of a load or store to it.
    fn names(self) -> (String, String) {
        match self {
            Self::Pred => ("pred".into(), "u32".into()),
            Self::F32 => ("f32".into(), "f32".into()),
            Self::F64 => ("f64".into(), "f64".into()),
            Self::Int { bits: 8, signed } => ("b16".into(), if signed { "s8".into() } else { "u8".into() }),
            other => (format!("b{}", other.bits()), format!("b{}", other.bits())),
        }
    }

    fn value(self, text: &str) -> u64 {
        if let Some(hex) = text.strip_prefix("0x") {
            return u64::from_str_radix(hex, 16).expect(text);
        }
        let float = || if text == "nan" { f64::NAN } else { text.parse::<f64>().expect(text) };
        let nan = |canonical: u64, bits: u64| if text == "nan" { canonical } else { bits };
        match self {
            Self::F16 => nan(0x7fff, half::f16::from_f64(float()).to_bits().into()),
            Self::Bf16 => nan(0x7fff, half::bf16::from_f64(float()).to_bits().into()),
            Self::F32 => nan(0x7fff_ffff, (float() as f32).to_bits().into()),
            Self::F64 => nan(0xfff8 << 48, float().to_bits()),
            Self::Pred | Self::Int { .. } => {
                let mask = u64::MAX >> (64 - self.bits());
                text.parse::<i128>().expect(text) as u64 & mask
            }
        }
    }
}

/// An instruction of a table.
struct Case {
    line: usize,
    text: String,
    /// Operands in the order of their first mention.
    inputs: Vec<(String, Type)>,
    outputs: Vec<(String, Type)>,
    rows: Vec<(usize, Vec<u64>, Vec<u64>)>,
}

fn cases(table: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (line, text) in table.lines().enumerate().map(|(line, text)| (line + 1, text.trim())) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let Some((inputs, outputs)) = text.split_once("->") else {
            cases.push(Case::new(line, text));
            continue;
        };
        let case = cases.last_mut().expect("an instruction before its rows");
        let values = |names: &[(String, Type)], text: &str| -> Vec<u64> {
            let values: Vec<u64> =
                text.split_whitespace().zip(names).map(|(text, (_, ty))| ty.value(text)).collect();
            assert_eq!(
                (values.len(), text.split_whitespace().count()),
                (names.len(), names.len()),
                "line {line}"
            );
            values
        };
        let row = (line, values(&case.inputs, inputs), values(&case.outputs, outputs));
        case.rows.push(row);
    }
    cases
}

impl Case {
    fn new(line: usize, template: &str) -> Self {
        let mut case =
            Self { line, text: String::new(), inputs: Vec::new(), outputs: Vec::new(), rows: Vec::new() };
        let mut parts = template.split('{');
        case.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (placeholder, rest) = part.split_once('}').expect("a closing brace");
            let (name, ty) = placeholder.split_once(':').unwrap_or((placeholder, ""));
            let is_output = name.starts_with(['d', 'p', 'q']);
            let list = if is_output { &mut case.outputs } else { &mut case.inputs };
            if !list.iter().any(|(known, _)| known == name) {
                list.push((name.to_owned(), Type::parse(ty)));
            }
            write!(case.text, "%{name}{rest}").expect("a string takes all");
        }
        case
    }

    fn module(&self) -> String {
        let mut text = String::from(
            ".version 9.2\n.target sm_100a\n.address_size 64\n.visible .entry run(.param .u64 in, .param .u64 out)\n{\n",
        );
        let mut line = |part: String| writeln!(text, "    {part}").expect("a string takes all");
        for (name, ty) in self.inputs.iter().chain(&self.outputs) {
            line(format!(".reg .{} %{name};", ty.names().0));
        }
        line(".reg .b32 %row, %word;".into());
        line(".reg .b64 %from, %to;".into());
        line("mov.u32 %row, %tid.x;".into());
        for (register, parameter, count) in
            [("%from", "in", self.inputs.len()), ("%to", "out", self.outputs.len())]
        {
            line(format!("ld.param.u64 {register}, [{parameter}];"));
            line(format!("mad.wide.u32 {register}, %row, {}, {register};", 8 * count));
        }
        for (position, (name, ty)) in self.inputs.iter().enumerate() {
            let at = 8 * position;
            if *ty == Type::Pred {
                line(format!("ld.global.u32 %word, [%from+{at}];"));
                line(format!("setp.ne.u32 %{name}, %word, 0;"));
            } else {
                line(format!("ld.global.{} %{name}, [%from+{at}];", ty.names().1));
            }
        }
        line(self.text.clone());
        for (position, (name, ty)) in self.outputs.iter().enumerate() {
            let at = 8 * position;
            if *ty == Type::Pred {
                line(format!("selp.u32 %word, 1, 0, %{name};"));
                line(format!("st.global.u32 [%to+{at}], %word;"));
            } else {
                let stored = if ty.bits() == 8 { "b16".to_owned() } else { ty.names().1 };
                line(format!("st.global.{stored} [%to+{at}], %{name};"));
            }
        }
        line("ret;".into());
        text + "}\n"
    }

    /// What every row gives.
    fn run(&self) -> Result<Vec<Vec<u64>>, String> {
        let module = Module::parse(&self.module()).map_err(|errors| errors.to_string())?;
        let function = module.function("run").map_err(|error| error.to_string())?;
        let memory = Memory::new();
        let bytes: Vec<u8> =
            self.rows.iter().flat_map(|(_, inputs, _)| inputs.iter().flat_map(|x| x.to_le_bytes())).collect();
        let mut back = vec![0; 8 * self.rows.len() * self.outputs.len()];
        let allocate = |bytes: &[u8]| {
            let address = memory.allocate(bytes.len().max(1) as u64).map_err(|error| error.to_string())?;
            memory.write(address, bytes).map_err(|error| error.to_string())?;
            Ok::<u64, String>(address)
        };
        let (input, output) = (allocate(&bytes)?, allocate(&back)?);
        Launch::new(&function)
            .grid(1u32)
            .block(self.rows.len() as u32)
            .run(&Params::new().push(input).push(output), &memory)
            .map_err(|fault| fault.to_string())?;
        memory.read(output, &mut back).map_err(|error| error.to_string())?;
        let words: Vec<u64> =
            back.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect();
        Ok(words.chunks(self.outputs.len()).map(<[u64]>::to_vec).collect())
    }
}

fn check(name: &str) {
    let (_, table) = TABLES.iter().find(|(known, _)| *known == name).expect("a table");
    let mut wrong = Vec::new();
    for case in cases(table).into_iter().step_by(STEP) {
        assert!(!case.rows.is_empty(), "{name}.txt:{}: no rows", case.line);
        match case.run() {
            Err(reason) => wrong.push(format!("{name}.txt:{}: {}\n    {reason}", case.line, case.text)),
            Ok(results) => {
                for ((line, inputs, expected), got) in case.rows.iter().zip(results) {
                    if *expected != got {
                        wrong.push(format!(
                            "{name}.txt:{line}: {} of {inputs:x?} is {got:x?}, not {expected:x?}",
                            case.text
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn integer() {
    check("integer");
}

#[test]
fn bits() {
    check("bits");
}

#[test]
fn single() {
    check("single");
}

#[test]
fn double() {
    check("double");
}

#[test]
fn half_precision() {
    check("half");
}

#[test]
fn convert() {
    check("convert");
}

#[test]
fn compare() {
    check("compare");
}

#[test]
fn approximate() {
    check("approximate");
}

/// No instruction is listed twice: a second table of rows would be overlooked.
#[test]
fn instructions_are_listed_once() {
    let mut seen = BTreeMap::new();
    for (name, table) in TABLES {
        for case in cases(table) {
            let before = seen.insert(case.text.clone(), (name, case.line));
            assert!(before.is_none(), "{name}.txt:{} and {before:?}: {}", case.line, case.text);
        }
    }
}
