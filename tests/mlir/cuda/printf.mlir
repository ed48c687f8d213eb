// What kernels print on the CPU device comes where the host's kernels print, in the order of the stream.
//
// RUN: bef_executor --device=cpu $(bef_name %s) | FileCheck %s
// RUN: bef_executor --device=cpu --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'main'
func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %stream, %ch4 = tfrt_cuda.stream.create %context, %ch3
  // printf("%s %d\n", "seven", n)
  %module, %ch5 = tfrt_cuda.module.load %context, %ch4 ".version 6.4\n.target sm_52\n.address_size 64\n.extern .func (.param .b32 printed) vprintf (.param .b64 format, .param .b64 arguments);\n.global .align 1 .b8 format[7] = {37, 115, 32, 37, 100, 10, 0};\n.global .align 1 .b8 seven[6] = {115, 101, 118, 101, 110, 0};\n.visible .entry say(.param .u32 n)\n{\n.local .align 8 .b8 frame[16];\n.reg .b32 %r<3>;\n.reg .b64 %rd<8>;\nmov.u64 %rd1, frame;\ncvta.local.u64 %rd2, %rd1;\nmov.u64 %rd3, seven;\ncvta.global.u64 %rd4, %rd3;\nst.local.u64 [%rd1], %rd4;\nld.param.u32 %r1, [n];\nst.local.u32 [%rd1+8], %r1;\nmov.u64 %rd5, format;\ncvta.global.u64 %rd6, %rd5;\n{\n.param .b64 p0;\nst.param.b64 [p0], %rd6;\n.param .b64 p1;\nst.param.b64 [p1], %rd2;\n.param .b32 r0;\ncall.uni (r0), vprintf, (p0, p1);\nld.param.b32 %r2, [r0];\n}\nret;\n}\n"
  %say, %ch6 = tfrt_cuda.function.get %module, %ch5 "say"
  %one = tfrt.constant.ui32 1
  %none = tfrt.constant.ui32 0
  %seven = tfrt.constant.i32 7
  %eight = tfrt.constant.i32 8
  // CHECK-NEXT: seven 7
  %ch7 = tfrt_cuda.function.launch %say %one %one %one %one %one %one %none %stream %ch6 { cooperative = false } (%seven) : (i32)
  // CHECK-NEXT: seven 8
  %ch8 = tfrt_cuda.function.launch %say %one %one %one %one %one %one %none %stream %ch7 { cooperative = false } (%eight) : (i32)
  %ch9 = tfrt_cuda.stream.synchronize %stream, %ch8
  // CHECK-NEXT: int32 = 7
  %ch10 = tfrt.print.i32 %seven, %ch9
  tfrt.return %ch10 : !tfrt.chain
}
