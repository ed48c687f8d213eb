//! Programs in the making, and the kernels they use.

use tfrt::host::KernelRegistry;
use tfrt_bef::{BefBuilder, FunctionBuilder, FunctionKind, KernelSpec, OptionalSections, Register};

/// A program of one function, `f`, in the making: its parameter and all values are `i32`.
pub(crate) struct Program {
    bef: BefBuilder,
    body: FunctionBuilder,
    lines: u32,
}

impl Program {
    pub(crate) fn new() -> Self {
        let mut bef = BefBuilder::new(OptionalSections::Keep);
        let location = bef.location("bench.mlir", 1, 1);
        let parameter = bef.type_name("i32");
        Self { body: FunctionBuilder::new(location, &[parameter]), bef, lines: 1 }
    }

    pub(crate) fn parameter(&self) -> Register {
        self.body.arguments()[0]
    }

    /// Adds a kernel of one result.
    pub(crate) fn kernel(&mut self, name: &str, arguments: &[Register]) -> Register {
        self.lines += 1;
        self.body.kernel(&KernelSpec {
            kernel: self.bef.kernel(name),
            location: self.bef.location("bench.mlir", self.lines, 1),
            arguments,
            attributes: &[],
            functions: &[],
            result_types: &[self.bef.type_name("i32")],
            nonstrict: false,
        })[0]
    }

    /// The file, whose function gives `result`.
    pub(crate) fn finish(mut self, kind: FunctionKind, result: Register) -> Vec<u8> {
        let f = self.bef.declare_function("f");
        self.bef.define_function(f, kind, &self.body, &[result]);
        self.bef.finish().expect("a program that can be written")
    }
}

/// Each kernel adds to the sum of the one before.
pub(crate) fn serial(kernels: usize, kind: FunctionKind) -> Vec<u8> {
    let mut p = Program::new();
    let one = p.parameter();
    let sum = (0..kernels).fold(one, |sum, _| p.kernel("tfrt.add.i32", &[sum, one]));
    p.finish(kind, sum)
}

/// The kernels that come with the runtime.
pub(crate) fn registry() -> KernelRegistry {
    let mut registry = KernelRegistry::new();
    tfrt::register_kernels(&mut registry);
    registry
}
