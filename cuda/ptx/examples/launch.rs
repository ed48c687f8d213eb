//! Loads a module of PTX, launches its kernel on this processor, prints the result.

use tfrt_ptx::{Memory, Module, Params};

#[expect(clippy::print_stdout, reason = "what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ptx/saxpy.compute_75.ptx");
    let module = Module::parse(&std::fs::read_to_string(path)?)?;
    let saxpy = module.function("saxpy")?;

    let n = 100u32;
    let floats = |f: fn(u32) -> f32| (0..n).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let memory = Memory::new();
    let x = memory.allocate_from(&floats(|i| i as f32))?;
    let y = memory.allocate_from(&floats(|_| 0.5))?;

    saxpy.launch(n.div_ceil(32), 32, 0, &Params::new().push(2.0f32).push(x).push(y).push(n), &memory)?;

    let mut bytes = [0; 4];
    for i in [0, 1, 2, 99] {
        memory.read(y + 4 * i, &mut bytes)?;
        println!("y[{i}] = {}", f32::from_le_bytes(bytes));
    }
    Ok(())
}
