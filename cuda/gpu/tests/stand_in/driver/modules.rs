//! Modules, functions and launches.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::{CUfunction_attribute as FunctionAttribute, CUlaunchConfig};
use parking_lot::Mutex;
use tfrt_ptx::{FaultKind, Launch, OwnThreads, Params};

use super::{NOT_FOUND, entry_points, put};
use crate::paging;
use crate::state::{
    Context, INVALID_VALUE, MEMORY, add_variable, all, forget, forget_variables, keep, own, violation,
};
use crate::stream::Stream;

struct Module {
    ptx: tfrt_ptx::Module,
    functions: Mutex<Vec<usize>>,
}

struct Function {
    ptx: tfrt_ptx::Function,
    /// The dynamic shared memory that it may be launched with.
    dynamic_bytes: AtomicU32,
}

/// Returns the buffer in which the caller of cuModuleLoadDataEx wants error messages.
fn log(count: c_uint, options: *const c_int, values: *const *mut c_void) -> Option<(*mut u8, usize)> {
    let (mut buffer, mut bytes) = (None, 0);
    for index in 0..count as usize {
        // SAFETY: the entry point's two arrays have `count` elements each.
        let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
        match option {
            5 => buffer = Some(value.cast::<u8>()),
            6 => bytes = value.addr(),
            _ => violation("an option of the compiler that it does not know"),
        }
    }
    buffer.map(|buffer| (buffer, bytes))
}

fn fault(kind: &FaultKind) -> c_int {
    match kind {
        FaultKind::OutOfBounds | FaultKind::UseAfterFree | FaultKind::WrongSpace => 700,
        FaultKind::Misaligned => 716,
        FaultKind::Assert { .. } => 710,
        _ => 719,
    }
}

entry_points! {
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_char,
        count: c_uint,
        options: *const c_int,
        values: *const *mut c_void,
    ) {
        let context = Context::working("cuModuleLoadDataEx")?;
        // SAFETY: the caller's image is a text with a final zero, or a binary with zeros in its
        // header.
        let text = unsafe { CStr::from_ptr(image) }.to_str().map_err(|_| 200)?;
        if text.starts_with('\x7f') {
            return Err(209);
        }
        match tfrt_ptx::Module::parse(text) {
            Ok(ptx) => {
                let loaded = Module { ptx, functions: Mutex::default() };
                put(module, keep(context, "module", Arc::new(loaded)))
            }
            Err(errors) => {
                if let Some((buffer, bytes)) = log(count, options, values) {
                    let message = errors.to_string();
                    let length = message.len().min(bytes - 1);
                    // SAFETY: the caller's buffer has `bytes` bytes, which the text and a zero do
                    // not exceed.
                    unsafe {
                        std::ptr::copy_nonoverlapping(message.as_ptr(), buffer, length);
                        buffer.add(length).write(0);
                    }
                }
                Err(218)
            }
        }
    }
    fn cuModuleUnload(module: *mut c_void) {
        // Running code must finish before it is unloaded.
        all::<Stream>(Context::current("cuModuleUnload")).iter().for_each(|stream| stream.synchronize());
        forget_variables(module);
        let module = forget::<Module>(module, "cuModuleUnload");
        for function in module.functions.lock().drain(..) {
            let raw = std::ptr::with_exposed_provenance_mut(function);
            drop(forget::<Function>(raw, "cuModuleUnload"));
        }
        Ok(())
    }
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        let context = Context::working("cuModuleGetFunction")?;
        let module = own::<Module>(module, "cuModuleGetFunction");
        // SAFETY: the caller's name ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| NOT_FOUND)?;
        let ptx = module.ptx.function(name).map_err(|_| NOT_FOUND)?;
        let dynamic_bytes = AtomicU32::new((48 << 10) - ptx.shared_bytes().min(48 << 10));
        let raw = keep(context, "function", Arc::new(Function { ptx, dynamic_bytes }));
        module.functions.lock().push(raw.expose_provenance());
        put(function, raw)
    }
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char) {
        Context::working("cuModuleGetGlobal")?;
        // SAFETY: the caller's name ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| NOT_FOUND)?;
        let ptx = &own::<Module>(module, "cuModuleGetGlobal").ptx;
        let global = ptx.global(name).ok_or(NOT_FOUND)?;
        add_variable(module, ptx, global.address, global.bytes);
        put(address, global.address)?;
        put(bytes, global.bytes as usize)
    }
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void) {
        use FunctionAttribute as A;
        let ptx = &own::<Function>(function, "cuFuncGetAttribute").ptx;
        let known = [
            (A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, ptx.max_threads()),
            (A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, ptx.shared_bytes()),
            (A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 0),
            (A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, ptx.local_bytes()),
            (A::CU_FUNC_ATTRIBUTE_NUM_REGS, ptx.registers()),
        ];
        put(value, known.iter().find(|(known, _)| *known as c_int == attribute).ok_or(INVALID_VALUE)?.1 as c_int)
    }
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int) {
        let function = own::<Function>(function, "cuFuncSetAttribute");
        let most = (227 << 10) - function.ptx.shared_bytes() as c_int;
        if attribute != FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_int || value > most {
            return Err(INVALID_VALUE);
        }
        // Gives concurrent requests time to interleave.
        std::thread::sleep(std::time::Duration::from_millis(2));
        function.dynamic_bytes.store(value as u32, Ordering::SeqCst);
        Ok(())
    }
    fn cuFuncGetParamInfo(function: *mut c_void, index: usize, offset: *mut usize, size: *mut usize) {
        let function = own::<Function>(function, "cuFuncGetParamInfo");
        let parameter = function.ptx.parameters().get(index).ok_or(INVALID_VALUE)?;
        put(offset, parameter.offset as usize)?;
        put(size, parameter.bytes as usize)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *mut c_void,
        threads: c_int,
        dynamic_bytes: usize,
    ) {
        let function = own::<Function>(function, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        let fits = dynamic_bytes <= function.dynamic_bytes.load(Ordering::SeqCst) as usize;
        put(blocks, if fits { 2048 / threads.max(1) } else { 0 })
    }
    fn cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: *mut c_void,
        parameters: *const *const c_void,
        extra: *const c_void,
    ) {
        Context::working("cuLaunchKernelEx")?.launch();
        let function = own::<Function>(function, "cuLaunchKernelEx");
        // SAFETY: the caller's configuration is valid for the call.
        let config = unsafe { &*config };
        let stream = own::<Stream>(config.hStream.cast(), "cuLaunchKernelEx");
        let (grid, block) = (
            [config.gridDimX, config.gridDimY, config.gridDimZ],
            [config.blockDimX, config.blockDimY, config.blockDimZ],
        );
        let threads: u64 = block.iter().map(|&extent| u64::from(extent)).product();
        let shared = config.sharedMemBytes;
        if !extra.is_null()
            || grid.contains(&0)
            || threads == 0
            || threads > 1024
            || shared > function.dynamic_bytes.load(Ordering::SeqCst)
        {
            return Err(INVALID_VALUE);
        }
        let mut params = Params::new();
        for (index, parameter) in function.ptx.parameters().iter().enumerate() {
            // SAFETY: the caller's array has a pointer for each parameter of the function, to as
            // many bytes as it declares.
            let bytes = unsafe {
                let source = (*parameters.add(index)).cast::<u8>();
                std::slice::from_raw_parts(source, parameter.bytes as usize)
            };
            params = params.bytes(bytes);
        }
        stream.submit("launch", move || {
            let launch = Launch::new(&function.ptx)
                .grid((grid[0], grid[1], grid[2]))
                .block((block[0], block[1], block[2]))
                .shared(shared.into())
                .parallel(&OwnThreads);
            let _pages = paging::stay();
            launch.run(&params, &MEMORY).map(drop).map_err(|failure| fault(&failure.kind))
        })
    }
}
