//! Any text as PTX: it is a module or it has errors, each with a place in it; and the kernels of a
//! module run, with and without checks, until they end, fail or have taken enough steps.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tfrt_ptx::{Launch, Memory, Module, Parameter, Params};

/// Instructions after which a launch is ended.
const INSTRUCTIONS_MAX: u64 = 2_000;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(errors) => {
            let lines = text.lines().count() as u32 + 1;
            for error in &errors {
                assert!((1..=lines).contains(&error.span.line) && error.span.column >= 1, "{error}");
            }
            return;
        }
    };
    let names: Vec<String> = module.functions().map(str::to_owned).collect();
    for name in names {
        let function = module.function(&name).expect("the module has named it");
        for checked in [false, true] {
            let memory = Memory::new();
            let address = memory.allocate(1 << 12).expect("there is memory");
            let launch = Launch::new(&function)
                .grid(2)
                .block(40)
                .threads(1)
                .check_races(checked)
                .check_uninitialized(checked)
                .statistics(checked)
                .instruction_limit(INSTRUCTIONS_MAX);
            let _ = launch.run(&arguments(function.parameters(), address), &memory);
        }
    }
});

/// An address wherever there is room for one.
fn arguments(parameters: &[Parameter], address: u64) -> Params {
    parameters.iter().fold(Params::new(), |params, parameter| {
        let bytes: Vec<u8> = address.to_le_bytes().into_iter().cycle().take(parameter.bytes as usize).collect();
        params.bytes(&bytes)
    })
}
