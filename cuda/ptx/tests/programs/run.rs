//! A program through the engine, compared with the evaluator.

use tfrt_ptx::{Launch, Memory, Module, Params};

use super::evaluate::evaluate;
use super::print::{REGISTER_BYTES, print};
use super::{BLOCKS, Kind, OWN_BYTES, Program, REGISTERS, THREADS, initial_words};

/// Runs a program both ways. The error says what differs, with the program's text.
pub(crate) fn run(program: &Program) -> Result<(), String> {
    let text = print(program);
    compare(program, &text, false).map_err(|reason| format!("{reason}\n{text}"))?;
    // These programs neither race nor read what nobody wrote, so that the checks must find nothing.
    compare(program, &text, true).map_err(|reason| format!("with all checks: {reason}\n{text}"))
}

fn compare(program: &Program, text: &str, checked: bool) -> Result<(), String> {
    let module = Module::parse(text).map_err(|errors| errors.to_string())?;
    let function = module.function("program").map_err(|error| error.to_string())?;
    let memory = Memory::new();
    let place = |bytes: &[u8]| -> Result<u64, String> {
        let address = memory.allocate(bytes.len() as u64).map_err(|error| error.to_string())?;
        memory.write(address, bytes).map_err(|error| error.to_string())?;
        Ok(address)
    };
    let threads = BLOCKS * THREADS;
    let words = (0..threads).flat_map(|thread| initial_words(program.seed, thread));
    let registers = place(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())?;
    let own = place(&vec![0; threads * OWN_BYTES])?;
    let counter = place(&[0; 4])?;
    Launch::new(&function)
        .grid(BLOCKS as u32)
        .block(THREADS as u32)
        .check_uninitialized(checked)
        .check_races(checked)
        .statistics(checked)
        .run(&Params::new().push(registers).push(own).push(counter), &memory)
        .map_err(|fault| fault.to_string())?;
    let fetch = |address, bytes| -> Result<Vec<u8>, String> {
        let mut back = vec![0; bytes];
        memory.read(address, &mut back).map_err(|error| error.to_string())?;
        Ok(back)
    };
    let expected = evaluate(program);
    let back = fetch(registers, threads * REGISTER_BYTES)?;
    for (thread, (bytes, expected)) in back.chunks_exact(REGISTER_BYTES).zip(&expected.registers).enumerate()
    {
        for (index, (bytes, &expected)) in bytes.chunks_exact(8).zip(expected).enumerate() {
            let kind = Kind::ALL[index / REGISTERS];
            let got = u64::from_le_bytes(bytes.try_into().expect("8 bytes")) & kind.mask();
            if got != expected {
                let register = format!("{}{}", kind.names().1, index % REGISTERS);
                return Err(format!("thread {thread}: {register} is {got:#x}, not {expected:#x}"));
            }
        }
    }
    let back = fetch(own, threads * OWN_BYTES)?;
    for (thread, (bytes, expected)) in back.chunks_exact(OWN_BYTES).zip(&expected.memory).enumerate() {
        if bytes != expected {
            return Err(format!("thread {thread}: memory is {bytes:x?}, not {expected:x?}"));
        }
    }
    let count = fetch(counter, 4)?;
    if count != expected.count.to_le_bytes() {
        return Err(format!("the counter is {count:x?}, not {:#x}", expected.count));
    }
    Ok(())
}
