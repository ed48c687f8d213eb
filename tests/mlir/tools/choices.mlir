// A tool works on one file: were the second name to replace the first, another program would run than the user looks at.
// RUN: not bef_executor $(bef_name %s) another.bef 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tfrt_opt %s another.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: expected one file, but found '{{.*}}' and 'another.{{bef|mlir}}'

// The system's error does not say which file; whoever passed a wrong folder is told the name.
// RUN: not tfrt kernels --write no/such/folder 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: cannot write 'no/such/folder'

// Each emulated device has an entry and a share of the machine's memory before anybody uses it: billions of them would end the
// process when their table is allocated, or leave bytes to each.
// RUN: not tfrt devices --cpu-devices 4294967295 2>&1 | FileCheck %s --check-prefix=DEVICES
// DEVICES: error: CUDA_ERROR_INVALID_VALUE: at most 1024 devices can be emulated, not 4294967295

// RUN: bef_executor -work_queue_type=s --functions second,first --test_init_function init $(bef_name %s) | golden %s

// The init function runs first, then the functions asked for, in their order and no others.

func @first() -> i32 {
  %x = tfrt.constant.i32 1
  tfrt.return %x : i32
}

func @second() -> (i32, f32, i1, !tfrt.chain) {
  %a = tfrt.constant.i32 2
  %b = tfrt.constant.f32 2.5
  %c = tfrt.constant.i1 true
  %d = tfrt.new.chain
  tfrt.return %a, %b, %c, %d : i32, f32, i1, !tfrt.chain
}

func @third() -> i32 {
  %x = tfrt.constant.i32 3
  tfrt.return %x : i32
}

func @init() {
  tfrt.return
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'init':
// OUT: --- Running 'second':
// OUT: 'second' returned 2,2.500000e+00,1,!tfrt.chain value
// OUT: --- Running 'first':
// OUT: 'first' returned 1
