// What nobody waits for: a kernel that fails, one that never ends, an event that was never recorded, a capture that is left
// open; and an image that is no text.
//
// RUN: not tfrt run %s --device cpu --function fault 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: not tfrt run %s --device cpu --function fault --trace /dev/full 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not tfrt run %s --device cpu --function fault_of_all 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not bef_executor $(bef_name %s) --device=cpu --functions=fault,told,fine 2>&1 | FileCheck %s --check-prefix=EXECUTOR
// RUN: not tfrt run %s --device cpu --function endless --deadline 500ms 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not tfrt run %s --device cpu --function endless_and_forgotten --deadline 500ms 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: not tfrt run %s --device cpu --check --function endless_beside --deadline 500ms 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: not tfrt run %s --device cpu --check --function never_recorded 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: not tfrt run %s --device cpu --check --function left_open 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not tfrt run %s --device cpu --function binary 2>&1 | FileCheck %s --check-prefix=BINARY
// RUN: not tfrt run %s --device cpu --function nothing_in_it 2>&1 | FileCheck %s --check-prefix=EMPTY

func @open() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  tfrt.return %context, %stream, %ch4 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain
}

// What else goes wrong does not hide it.
// NOWHERE: error: {{.*}}/dev/full
// NOWHERE: error: CUDA_ERROR_LAUNCH_FAILED
// What is told names the launch, whoever hears of it.
// FAULT: error: CUDA_ERROR_LAUNCH_FAILED
// FAULT: unwaited.mlir:[[@LINE+12]]:
// FAULT: of work queued by 'tfrt_cuda.function.launch' at {{.*}}unwaited.mlir:[[@LINE+11]]:
// FAULT: no kernel of the program waited for this work
// EXECUTOR: --- Running 'fault'
// EXECUTOR-NEXT: 'fault' returned
// EXECUTOR-NEXT: unwaited.mlir:[[@LINE+7]]:{{.*}}CUDA_ERROR_LAUNCH_FAILED
func @fault() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { trap; ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %ch3 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch2 { cooperative = false } () : ()
  tfrt.return %ch3 : !tfrt.chain
}

// The same in the context that all share, which is there at the end.
// SHARED: error: CUDA_ERROR_LAUNCH_FAILED
// SHARED: no kernel of the program waited for this work
func @fault_of_all() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch5 = tfrt_cuda.module.load %context, %ch4 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { trap; ret; }"
  %f, %ch6 = tfrt_cuda.function.get %module, %ch5 "f"
  %ch7 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch6 { cooperative = false } () : ()
  tfrt.return %ch7 : !tfrt.chain
}

// A failure that the program was told of is not told again, nor held against the next one.
// EXECUTOR: --- Running 'told'
// EXECUTOR-NEXT: 'told' returned <<error: {{.*}}CUDA_ERROR_LAUNCH_FAILED
func @told() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { trap; ret; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %ch3 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch2 { cooperative = false } () : ()
  // expected-error @+1 {{CUDA_ERROR_LAUNCH_FAILED}}
  %ch4 = tfrt_cuda.stream.synchronize %stream, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

// EXECUTOR-NEXT: --- Running 'fine'
// EXECUTOR-NEXT: 'fine' returned
// EXECUTOR-NOT: CUDA_ERROR
func @fine() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %ch1 = tfrt_cuda.stream.synchronize %stream, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

// ENDLESS: error: {{.*}}deadline
func @endless() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { L: bra L; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %ch3 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch2 { cooperative = false } () : ()
  %ch4 = tfrt_cuda.stream.synchronize %stream, %ch3
  tfrt.return %ch4 : !tfrt.chain
}

// The program itself is over in time; the kernel is stopped all the same, and told of, with where it was launched.
// FORGOTTEN: error: CUDA_ERROR_LAUNCH_TIMEOUT: the program has run out of time; kernel f: cancelled
// FORGOTTEN: of work queued by 'tfrt_cuda.function.launch' at {{.*}}unwaited.mlir:[[@LINE+8]]:
// FORGOTTEN: no kernel of the program waited for this work
func @endless_and_forgotten() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { L: bra L; }"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %ch3 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch2 { cooperative = false } () : ()
  tfrt.return %ch3 : !tfrt.chain
}

// Results and errors of the host's, and what the checker found, are told beside it.
// BESIDE: result 0: i32 = 7
// BESIDE: error: {{.*}}something bad happened
// BESIDE: unwaited.mlir:[[@LINE+5]]:
// BESIDE: error: the host waits for an event that was never recorded
func @endless_beside() -> (i32, i32, !tfrt.chain) {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %seven = tfrt.constant.i32 7
  %failed = tfrt_test.fail
  %event, %ch1 = tfrt_cuda.event.create %context, %ch0
  %ch2 = tfrt_cuda.event.synchronize %event, %ch1
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %module, %ch3 = tfrt_cuda.module.load %context, %ch2 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { L: bra L; }"
  %f, %ch4 = tfrt_cuda.function.get %module, %ch3 "f"
  %ch5 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %stream %ch4 { cooperative = false } () : ()
  tfrt.return %seven, %failed, %ch5 : i32, i32, !tfrt.chain
}

// NEVER: error: the host waits for an event that was never recorded, so it does not wait
// NEVER: tfrt_cuda.event.synchronize
func @never_recorded() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %event, %ch1 = tfrt_cuda.event.create %context, %ch0
  %ch2 = tfrt_cuda.event.synchronize %event, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

// OPEN: error: a capture on stream 0 was never ended, so nothing of it ran
// OPEN: tfrt_cuda.graph.begin_capture
func @left_open() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %ch1 = tfrt_cuda.graph.begin_capture %stream, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

// BINARY: CUDA_ERROR_NO_BINARY_FOR_GPU{{.*}}the CPU device runs PTX, and the image is a binary
func @binary() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 "\7FELF\02\01\01"
  tfrt.return %ch1 : !tfrt.chain
}

// EMPTY: the module has no kernel f; it has none
func @nothing_in_it() -> !tfrt.chain {
  %context, %stream, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.0\n.target sm_35\n.address_size 64"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  tfrt.return %ch2 : !tfrt.chain
}
