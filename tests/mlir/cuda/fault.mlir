// A fault on the device: the chain that waits for it is an error.
//
// On a GPU nothing else of the process can use the device any more, so the fault has a process of its own. The CPU device
// gives the next program a new context.
//
// RUN: alone bef_executor --functions=fault $(bef_name %s) | FileCheck %s
// RUN: bef_executor --device=cpu --functions=fault,next $(bef_name %s) | FileCheck %s --check-prefix=RECOVERY

// CHECK-LABEL: --- Running 'fault'
func @fault() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %module, %ch5 = tfrt_cuda.module.load %context, %ch4 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry wild() {\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\nmov.u64 %rd1, 64;\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nret;\n}\n"
  %wild, %ch6 = tfrt_cuda.function.get %module, %ch5 "wild"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  %ch7 = tfrt_cuda.function.launch %wild %one %one %one %one %one %one %none %stream %ch6 { cooperative = false }
  // expected-error @+1 {{CUDA_ERROR_ILLEGAL_ADDRESS}}
  %ch8 = tfrt_cuda.stream.synchronize %stream, %ch7
  tfrt.return %ch7 : !tfrt.chain
}

// RECOVERY: --- Running 'next'
// RECOVERY-NEXT: 'next' returned
func @next() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %ch5 = tfrt_cuda.stream.synchronize %stream, %ch4
  tfrt.return %ch5 : !tfrt.chain
}
