//! The requirements of instructions: the version of the PTX ISA that introduced a form, and the
//! first target that supports it.
//!
//! The numbers come from the notes on each instruction in the PTX manual, as ptxas applies them. A
//! module whose `.version` or `.target` does not support a form that it uses fails to load, as it
//! would on a GPU.

use super::emit::Checked;
use crate::syntax::ast::{Features, Function, Instruction, Module, Operand, Target, Version};
use crate::syntax::types::{SpecialRegister, Type};

/// Groups of words, and the version (84 is 8.4) and target that an instruction with one word of
/// each group requires.
///
/// A word is a modifier, or two consecutive ones (`.f32.bf16`), or a property of the operands or
/// the target (`#sink`, see [`Form::has`]).
type Rule = (&'static [&'static [&'static str]], u32, u32);

/// `words!["f16" | "bf16", "relu"]`: one of two words, and a third.
macro_rules! words {
    ($($($word:literal)|+),+) => { &[$(&[$($word),+]),+] };
}

/// A flag in a target: the feature exists on this architecture only, such as sm_90a.
const SPECIFIC: u32 = 1000;
/// A flag in a target: the feature exists on this architecture and later ones, in modules that
/// target only an architecture or its family, such as sm_100f.
const EXTENDED: u32 = 2000;
/// A flag in a target: the feature exists on this architecture and in its family only.
const FAMILY: u32 = 3000;
/// The target of `wgmma`.
const SM_90A: u32 = 90 + SPECIFIC;
/// The first target of features that the family of sm_100 has and later families lack.
const SM_100A: u32 = 100 + FAMILY;

/// Returns the requirements of an instruction's forms.
fn rules(opcode: &str) -> &'static [Rule] {
    match opcode {
        "add" | "sub" | "mul" => &[
            (words!["f32x2" | ".f32.f16" | ".f32.bf16"], 86, 100),
            (words!["u16x2" | "s16x2"], 80, 90),
            (words!["f16" | "f16x2"], 42, 53),
            (words!["bf16" | "bf16x2"], 78, 90),
            (words!["cc", "u64" | "s64"], 43, 30),
        ],
        "mad" | "addc" | "subc" | "madc" => &[(words!["cc", "u64" | "s64"], 43, 30)],
        "fma" => &[
            (words!["f32x2" | ".f32.f16" | ".f32.bf16"], 86, 100),
            (words!["f16" | "f16x2"], 42, 53),
            (words!["bf16" | "bf16x2"], 70, 80),
            (words!["relu"], 70, 80),
        ],
        "min" | "max" => &[
            (words!["u16x2" | "s16x2"], 80, 90),
            (words!["relu"], 80, 90),
            (words!["f16" | "f16x2" | "bf16" | "bf16x2" | "NaN"], 70, 80),
            (words!["xorsign"], 72, 86),
            (words!["#three sources"], 88, 100),
        ],
        "abs" => &[(words!["f16" | "f16x2"], 65, 53), (words!["bf16" | "bf16x2"], 70, 80)],
        "neg" => &[(words!["f16" | "f16x2"], 60, 53), (words!["bf16" | "bf16x2"], 70, 80)],
        "ex2" => &[(words!["f16" | "f16x2"], 70, 75), (words!["bf16" | "bf16x2"], 78, 90)],
        "tanh" => &[(&[], 70, 75), (words!["bf16" | "bf16x2"], 78, 90)],
        "rsqrt" => &[(words!["ftz", "f64"], 40, 30)],
        "setp" => &[(words!["f16" | "f16x2"], 42, 53), (words!["bf16" | "bf16x2"], 78, 90)],
        "set" => &[
            (words!["f16" | "f16x2"], 42, 53),
            (words![".u16.f16" | ".s16.f16" | ".u32.f16" | ".s32.f16" | ".u32.f16x2" | ".s32.f16x2"], 65, 53),
            (words!["bf16" | "bf16x2"], 78, 90),
        ],
        "shf" => &[(&[], 31, 32)],
        "lop3" => &[(&[], 43, 50), (words!["and" | "or"], 82, 70)],
        "fns" => &[(&[], 60, 30)],
        "szext" | "bmsk" => &[(&[], 76, 70)],
        "dp4a" | "dp2a" => &[(&[], 50, 61)],
        "cvt" => &[
            (words!["pack"], 65, 72),
            (words!["pack", "u4" | "s4" | "u2" | "s2"], 65, 75),
            (words!["relu"], 70, 80),
            (words!["satfinite", ".f16.f32" | ".bf16.f32" | ".f16x2.f32" | ".bf16x2.f32" | "tf32"], 81, 70),
            (words![".f16x2.f32" | ".bf16x2.f32" | ".bf16.f32" | "tf32"], 70, 80),
            (words![".f32.bf16"], 71, 80),
            (
                words![
                    ".bf16.u8"
                        | ".bf16.u16"
                        | ".bf16.u32"
                        | ".bf16.u64"
                        | ".bf16.s8"
                        | ".bf16.s16"
                        | ".bf16.s32"
                        | ".bf16.s64"
                ],
                78,
                90,
            ),
            (
                words![
                    ".u8.bf16"
                        | ".u16.bf16"
                        | ".u32.bf16"
                        | ".u64.bf16"
                        | ".s8.bf16"
                        | ".s16.bf16"
                        | ".s32.bf16"
                        | ".s64.bf16"
                ],
                78,
                90,
            ),
            (words![".bf16.f16" | ".bf16.bf16" | ".bf16.f64" | ".f16.bf16" | ".f64.bf16"], 78, 90),
            (words!["tf32", "rn" | "rz"], 78, 90),
            (words!["tf32", "rn" | "rz", "satfinite"], 86, 100),
            (words!["e4m3x2" | "e5m2x2"], 78, 89),
            (words!["e4m3x2" | "e5m2x2", "#before sm_90"], 81, 89),
            (words!["e2m3x2" | "e3m2x2" | "e2m1x2" | "ue8m0x2"], 86, 100 + EXTENDED),
            (
                words![
                    ".e2m3x2.f16x2"
                        | ".e3m2x2.f16x2"
                        | ".e2m1x2.f16x2"
                        | ".e2m3x2.bf16x2"
                        | ".e3m2x2.bf16x2"
                        | ".e2m1x2.bf16x2"
                        | ".e4m3x2.bf16x2"
                        | ".e5m2x2.bf16x2"
                ],
                91,
                100 + EXTENDED,
            ),
            (
                words![
                    ".bf16x2.e2m3x2"
                        | ".bf16x2.e3m2x2"
                        | ".bf16x2.e2m1x2"
                        | ".bf16x2.e4m3x2"
                        | ".bf16x2.e5m2x2"
                ],
                92,
                100 + EXTENDED,
            ),
        ],
        "mov" => &[(words!["b128"], 83, 70)],
        "cvta" | "isspacep" => &[
            (words!["const"], 31, 30),
            (words!["param"], 77, 70),
            (words!["param::entry"], 83, 70),
            (words!["shared::cta"], 78, 30),
            (words!["shared::cluster"], 78, 90),
        ],
        "mapa" | "getctarank" => &[(&[], 78, 90)],
        "ld" | "ldu" | "st" => &[
            (words!["weak" | "relaxed" | "acquire" | "release"], 60, 70),
            (words!["mmio"], 82, 70),
            (words!["cluster" | "shared::cluster"], 78, 90),
            (words!["shared::cta"], 78, 30),
            (words!["volatile", "local"], 91, 30),
            (words!["nc"], 31, 32),
            (
                words![
                    "L1::evict_normal"
                        | "L1::evict_unchanged"
                        | "L1::evict_first"
                        | "L1::evict_last"
                        | "L1::no_allocate"
                ],
                74,
                70,
            ),
            (words!["L2::64B" | "L2::128B"], 74, 75),
            (words!["L2::256B" | "L2::cache_hint"], 74, 80),
            (words!["L2::evict_normal" | "L2::evict_first" | "L2::evict_last"], 88, 100),
            (words!["unified"], 80, 90),
            (words!["param::entry" | "param::func"], 83, 30),
            (words!["b128"], 83, 70),
            (words!["b128", "sys"], 84, 70),
            (words!["v8"], 88, 100),
            (words!["v4", "b64" | "u64" | "s64" | "f64"], 88, 100),
            (words!["async"], 81, 90),
            (words!["bulk"], 86, 100),
        ],
        "prefetch" => {
            &[(words!["L2::evict_normal" | "L2::evict_last"], 74, 80), (words!["tensormap"], 80, 90)]
        }
        "applypriority" | "discard" | "createpolicy" => &[(&[], 74, 80)],
        "alloca" | "stacksave" | "stackrestore" => &[(&[], 73, 52)],
        "membar" => &[(words!["proxy"], 75, 60)],
        "fence" => &[
            (&[], 60, 70),
            (words!["cluster"], 78, 90),
            (words!["proxy"], 75, 70),
            (words!["async" | "mbarrier_init"], 80, 90),
            (words!["tensormap::generic"], 83, 90),
            (words!["async::generic"], 86, 90),
            (words!["sync_restrict::shared::cta" | "sync_restrict::shared::cluster"], 86, 90),
        ],
        "brx" => &[(&[], 60, 30)],
        "nanosleep" => &[(&[], 62, 70)],
        "griddepcontrol" => &[(&[], 78, 90)],
        "setmaxnreg" => &[(&[], 80, 90 + EXTENDED)],
        "bar" => &[(words!["cta"], 78, 30), (words!["warp"], 60, 30)],
        "barrier" => &[
            (&[], 60, 30),
            (words!["cta"], 78, 30),
            (words!["cluster"], 78, 90),
            (words!["acquire" | "release" | "relaxed"], 80, 90),
        ],
        "shfl" | "vote" => &[(words!["sync"], 60, 30)],
        "match" => &[(&[], 60, 70)],
        "redux" => &[(&[], 70, 80), (words!["f32"], 86, SM_100A)],
        "elect" => &[(&[], 80, 90)],
        "activemask" => &[(&[], 62, 30)],
        "atom" | "red" => &[
            (words!["add", "f64"], 50, 60),
            (words!["cta" | "gpu" | "sys"], 50, 60),
            (words!["relaxed" | "acquire" | "release" | "acq_rel"], 60, 70),
            (words!["cluster" | "shared::cluster"], 78, 90),
            (words!["shared::cta"], 78, 30),
            (words!["f16x2"], 62, 60),
            (words!["f16"], 63, 70),
            (words!["b16"], 63, 70),
            (words!["bf16" | "bf16x2"], 78, 90),
            (words!["v2" | "v4" | "v8"], 81, 90),
            (words!["b128"], 83, 90),
            (words!["b128", "sys"], 84, 90),
            (words!["L2::cache_hint"], 74, 80),
            (words!["and" | "or" | "xor" | "min" | "max", "b64" | "u64" | "s64"], 31, 32),
            (words!["async"], 81, 90),
        ],
        "cp" => &[
            (&[], 70, 80),
            (words!["L2::64B" | "L2::128B" | "L2::256B" | "L2::cache_hint"], 74, 80),
            (words!["#predicate"], 75, 80),
            (words!["mbarrier", "shared::cta"], 78, 80),
            (words!["bulk"], 80, 90),
            (words!["bulk", ".shared::cta.global"], 86, 90),
        ],
        "mbarrier" => &[
            (&[], 70, 80),
            (words!["parity"], 71, 80),
            (words!["#sink"], 71, 80),
            (words!["shared::cta"], 78, 80),
            (words!["try_wait"], 78, 90),
            (words!["arrive" | "arrive_drop", "#count"], 78, 90),
            (words!["expect_tx" | "complete_tx" | "shared::cluster" | "cluster"], 80, 90),
            (words!["acquire" | "release" | "cta"], 80, 80),
            (words!["arrive" | "arrive_drop" | "test_wait" | "try_wait", "relaxed"], 86, 90),
        ],
        "mma" => &[
            (&[], 64, 70),
            (words!["m16n8k8" | "m8n8k16" | "m8n8k32"], 65, 75),
            (words!["m16n8k16" | "m16n8k4" | "m16n8k32" | "m16n8k64" | "m16n8k128" | "m16n8k256"], 70, 80),
            (words!["bf16" | "tf32" | "f64"], 70, 80),
            (words!["b1"], 70, 75),
            (words!["b1", "and"], 71, 80),
            (words!["f64", "m16n8k4" | "m16n8k8" | "m16n8k16"], 78, 90),
            (words!["e4m3" | "e5m2"], 84, 89),
            (words!["e4m3" | "e5m2", "m16n8k16" | "f16"], 87, 89),
        ],
        "wmma" => &[
            (&[], 60, 70),
            (words!["m8n32k16" | "m32n8k16"], 61, 70),
            (words!["aligned"], 63, 70),
            (words!["u8" | "s8" | "s32"], 63, 72),
            (words!["m8n8k32" | "m8n8k128"], 63, 75),
            (words!["m16n16k8" | "m8n8k4"], 70, 80),
            (words!["b1", "and"], 71, 80),
            (words!["bf16" | "tf32" | "f64"], 70, 80),
            (words!["shared::cta"], 78, 70),
        ],
        "ldmatrix" => &[(&[], 65, 75), (words!["shared::cta"], 78, 75)],
        "stmatrix" => &[(&[], 78, 90)],
        "movmatrix" => &[(&[], 78, 75)],
        "wgmma" => &[(&[], 80, SM_90A), (words![".u8.s8" | ".s8.u8"], 84, SM_90A)],
        _ => &[],
    }
}

/// Returns the version and target that reading a special register requires.
fn register_needs(register: SpecialRegister) -> (u32, u32) {
    use SpecialRegister as S;
    match register {
        S::GlobalTimer | S::GlobalTimerLo | S::GlobalTimerHi => (31, 30),
        S::TotalSmemSize | S::DynamicSmemSize => (41, 30),
        S::PerformanceCounter64(_) => (40, 50),
        S::ClockHi => (50, 30),
        S::ReservedSmemOffset(_) => (76, 80),
        S::ClusterId(_) | S::NClusterId(_) | S::ClusterCtaId(_) | S::ClusterNCtaId(_) => (78, 90),
        S::ClusterCtaRank | S::ClusterNCtaRank | S::IsExplicitCluster => (78, 90),
        S::CurrentGraphExec => (80, 50),
        S::AggrSmemSize => (81, 90),
        _ => (30, 30),
    }
}

/// An instruction and its function and module.
struct Form<'a, 's> {
    module: &'a Module<'s>,
    function: &'a Function<'s>,
    instruction: &'a Instruction<'s>,
}

impl Form<'_, '_> {
    /// Returns whether the instruction has a word of each group.
    fn matches(&self, words: &[&[&str]]) -> bool {
        words.iter().all(|one_of| one_of.iter().any(|word| self.has(word)))
    }

    fn has(&self, word: &str) -> bool {
        let modifiers = &self.instruction.modifiers;
        match word.as_bytes()[0] {
            b'#' => self.has_operands(&word[1..]),
            b'.' => modifiers.windows(2).any(|pair| word[1..].split('.').eq(pair.iter().copied())),
            _ => self.instruction.has(word),
        }
    }

    fn has_operands(&self, word: &str) -> bool {
        let i = self.instruction;
        let is_predicate = |operand: &Operand| match operand {
            Operand::Register(register) | Operand::Not(register) => {
                self.function.registers[register.index()].ty == Type::Pred
            }
            _ => false,
        };
        match word {
            "three sources" => i.operands.len() == 4,
            "predicate" => i.operands.get(3).is_some_and(is_predicate),
            "sink" => i.operands.first() == Some(&Operand::Sink),
            // Arrivals have three operands with a count: `mbarrier.arrive.b64 state, [barrier],
            // count`.
            "count" => i.operands.len() == 3 && !i.has("noComplete") && !i.has("expect_tx"),
            "before sm_90" => self.module.target.architecture < 90,
            _ => false,
        }
    }
}

/// Checks that the module's version and target support an instruction.
pub(super) fn check(
    module: &Module<'_>,
    function: &Function<'_>,
    instruction: &Instruction<'_>,
) -> Checked<()> {
    let (version, target) = (module.version, module.target);
    let form = Form { module, function, instruction };
    let number = 10 * version.major + version.minor;
    let lacks = |needed: u32| {
        let (own, architecture) = (target.features, needed % SPECIFIC);
        match needed - architecture {
            0 => target.architecture < architecture,
            SPECIFIC => target.architecture != architecture || own != Features::Specific,
            // The one family with features of its own is that of sm_100.
            FAMILY => !matches!(target.architecture, 100 | 103) || own == Features::Common,
            _ => target.architecture < architecture || own == Features::Common,
        }
    };
    if matches!(instruction.opcode, "shfl" | "vote")
        && !instruction.has("sync")
        && number >= 64
        && target.architecture >= 70
    {
        return Err(format!(".sync is needed; in PTX ISA {version}, {target} has no other form"));
    }
    let unmet = |needed: &(u32, u32)| number < needed.0 || lacks(needed.1);
    let of_forms = rules(instruction.opcode)
        .iter()
        .filter(|(words, version, target)| unmet(&(*version, *target)) && form.matches(words))
        .map(|(_, version, target)| (*version, *target));
    let of_operands = instruction.operands.iter().filter_map(|operand| match operand {
        Operand::Special(register) => Some(register_needs(*register)).filter(unmet),
        _ => None,
    });
    let most = of_forms.chain(of_operands).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
    let Some((least, first)) = most else { return Ok(()) };
    let least = (number < least).then_some(Version { major: least / 10, minor: least % 10 });
    let first = lacks(first).then_some(Target {
        architecture: first % SPECIFIC,
        features: if first > SPECIFIC { Features::Specific } else { Features::Common },
        debug: false,
    });
    Err(match (least, first) {
        (Some(least), Some(first)) => {
            format!(
                "PTX ISA {least} and {first} are needed; this is a module of version {version} for {target}"
            )
        }
        (Some(least), None) => format!("PTX ISA {least} is needed; this is a module of version {version}"),
        (None, Some(first)) => format!("{first} is needed; this is a module for {target}"),
        // The version and the target satisfy everything.
        (None, None) => return Ok(()),
    })
}
