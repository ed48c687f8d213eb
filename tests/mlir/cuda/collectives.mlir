// Collectives: a communicator of four devices.
//
// RUN: bef_executor --device=cpu --cpu_devices=4 $(bef_name %s) | FileCheck %s
// RUN: bef_executor --device=cpu --cpu_devices=4 --work_queue_type=mstd:4 $(bef_name %s) | FileCheck %s

// A device's context, stream, allocator; its part in the communicator, and two buffers of eight numbers: the device's number
// and zeros.
func @open(%number : i32, %ranks : i32, %id : !tfrt_cuda.ccl_id, %ch0 : !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) {
  %device, %ch1 = tfrt_cuda.device.get %number, %ch0
  %context, %ch2 = tfrt_cuda.context.primary %device, %ch1
  %stream, %ch3 = tfrt_cuda.stream.create %context, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %communicator, %ch5 = "tfrt_cuda.ccl.create"(%context, %id, %ranks, %number, %ch4) {timeout_ms = 60000 : i64}
    : (!tfrt_cuda.context, !tfrt_cuda.ccl_id, i32, i32, !tfrt.chain) -> (!tfrt_cuda.ccl_communicator, !tfrt.chain)
  %bytes = tfrt.constant.i64 32
  %count = tfrt.constant.i64 8
  %mine, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %all, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %pattern = tfrt.cast.i32_to_ui32 %number
  %none = tfrt.constant.ui32 0
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %mine, %pattern, %count, %stream, %ch7
  %ch9 = tfrt_cuda.mem.set.ui32 %context, %all, %none, %count, %stream, %ch8
  tfrt.return %context, %stream, %communicator, %mine, %all, %ch9
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain
}

// What a buffer's eight numbers are.
func @show(%context : !tfrt_cuda.context, %stream : !tfrt_cuda.stream, %buffer : !tfrt_cuda.buffer, %ch0 : !tfrt.chain) -> !tfrt.chain {
  %bytes = tfrt.constant.i64 32
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch1 = tfrt_dht.get_buffer %result, %ch0
  %ch2 = tfrt_cuda.mem.copy_device_to_host %context, %host, %buffer, %bytes, %stream, %ch1
  %ch3 = tfrt_dht.print_tensor %result, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

// Each of four devices brings its number.
// CHECK-LABEL: --- Running 'collectives'
func @collectives() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %ranks = tfrt.constant.i32 4
  %first, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %first, %ch2
  %id, %ch4 = tfrt_cuda.ccl.unique_id %context, %ch3
  %i0 = tfrt.constant.i32 0
  %context0, %stream0, %ccl0, %mine0, %all0, %open0 = tfrt.call @open(%i0, %ranks, %id, %ch4)
    : (i32, i32, !tfrt_cuda.ccl_id, !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %i1 = tfrt.constant.i32 1
  %context1, %stream1, %ccl1, %mine1, %all1, %open1 = tfrt.call @open(%i1, %ranks, %id, %open0)
    : (i32, i32, !tfrt_cuda.ccl_id, !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %i2 = tfrt.constant.i32 2
  %context2, %stream2, %ccl2, %mine2, %all2, %open2 = tfrt.call @open(%i2, %ranks, %id, %open1)
    : (i32, i32, !tfrt_cuda.ccl_id, !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %i3 = tfrt.constant.i32 3
  %context3, %stream3, %ccl3, %mine3, %all3, %open3 = tfrt.call @open(%i3, %ranks, %id, %open2)
    : (i32, i32, !tfrt_cuda.ccl_id, !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %two = tfrt.constant.i64 2
  %eight = tfrt.constant.i64 8
  %group0, %g0_0 = "tfrt_cuda.ccl.group_start"(%open3, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g0_1 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %all0, %eight, %stream0, %g0_0 { op = "sum", type = "i32" }
  %g0_2 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %all1, %eight, %stream1, %g0_1 { op = "sum", type = "i32" }
  %g0_3 = tfrt_cuda.ccl.all_reduce %ccl2, %mine2, %all2, %eight, %stream2, %g0_2 { op = "sum", type = "i32" }
  %g0_4 = tfrt_cuda.ccl.all_reduce %ccl3, %mine3, %all3, %eight, %stream3, %g0_3 { op = "sum", type = "i32" }
  %g0 = tfrt_cuda.ccl.group_end %group0, %g0_4
  // CHECK-NEXT: values = [6, 6, 6, 6, 6, 6, 6, 6]
  %shown0 = tfrt.call @show(%context0, %stream0, %all0, %g0)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [6, 6, 6, 6, 6, 6, 6, 6]
  %shown1 = tfrt.call @show(%context3, %stream3, %all3, %shown0)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %group1, %g1_0 = "tfrt_cuda.ccl.group_start"(%shown1, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g1_1 = tfrt_cuda.ccl.all_gather %ccl0, %mine0, %all0, %two, %stream0, %g1_0 { type = "i32" }
  %g1_2 = tfrt_cuda.ccl.all_gather %ccl1, %mine1, %all1, %two, %stream1, %g1_1 { type = "i32" }
  %g1_3 = tfrt_cuda.ccl.all_gather %ccl2, %mine2, %all2, %two, %stream2, %g1_2 { type = "i32" }
  %g1_4 = tfrt_cuda.ccl.all_gather %ccl3, %mine3, %all3, %two, %stream3, %g1_3 { type = "i32" }
  %g1 = tfrt_cuda.ccl.group_end %group1, %g1_4
  // CHECK-NEXT: values = [0, 0, 1, 1, 2, 2, 3, 3]
  %shown2 = tfrt.call @show(%context1, %stream1, %all1, %g1)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  // The sum of what all have gathered, a part for each: eight for the third device.
  %group2, %g2_0 = "tfrt_cuda.ccl.group_start"(%shown2, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g2_1 = tfrt_cuda.ccl.reduce_scatter %ccl0, %all0, %mine0, %two, %stream0, %g2_0 { op = "sum", type = "i32" }
  %g2_2 = tfrt_cuda.ccl.reduce_scatter %ccl1, %all1, %mine1, %two, %stream1, %g2_1 { op = "sum", type = "i32" }
  %g2_3 = tfrt_cuda.ccl.reduce_scatter %ccl2, %all2, %mine2, %two, %stream2, %g2_2 { op = "sum", type = "i32" }
  %g2_4 = tfrt_cuda.ccl.reduce_scatter %ccl3, %all3, %mine3, %two, %stream3, %g2_3 { op = "sum", type = "i32" }
  %g2 = tfrt_cuda.ccl.group_end %group2, %g2_4
  // CHECK-NEXT: values = [8, 8, 2, 2, 2, 2, 2, 2]
  %shown3 = tfrt.call @show(%context2, %stream2, %mine2, %g2)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %group3, %g3_0 = "tfrt_cuda.ccl.group_start"(%shown3, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g3_1 = tfrt_cuda.ccl.broadcast %ccl0, %mine0, %all0, %eight, %i2, %stream0, %g3_0 { type = "i32" }
  %g3_2 = tfrt_cuda.ccl.broadcast %ccl1, %mine1, %all1, %eight, %i2, %stream1, %g3_1 { type = "i32" }
  %g3_3 = tfrt_cuda.ccl.broadcast %ccl2, %mine2, %all2, %eight, %i2, %stream2, %g3_2 { type = "i32" }
  %g3_4 = tfrt_cuda.ccl.broadcast %ccl3, %mine3, %all3, %eight, %i2, %stream3, %g3_3 { type = "i32" }
  %g3 = tfrt_cuda.ccl.group_end %group3, %g3_4
  // CHECK-NEXT: values = [8, 8, 2, 2, 2, 2, 2, 2]
  %shown4 = tfrt.call @show(%context0, %stream0, %all0, %g3)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %group4, %g4_0 = "tfrt_cuda.ccl.group_start"(%shown4, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g4_1 = tfrt_cuda.ccl.reduce %ccl0, %mine0, %all0, %eight, %i1, %stream0, %g4_0 { op = "max", type = "i32" }
  %g4_2 = tfrt_cuda.ccl.reduce %ccl1, %mine1, %all1, %eight, %i1, %stream1, %g4_1 { op = "max", type = "i32" }
  %g4_3 = tfrt_cuda.ccl.reduce %ccl2, %mine2, %all2, %eight, %i1, %stream2, %g4_2 { op = "max", type = "i32" }
  %g4_4 = tfrt_cuda.ccl.reduce %ccl3, %mine3, %all3, %eight, %i1, %stream3, %g4_3 { op = "max", type = "i32" }
  %g4 = tfrt_cuda.ccl.group_end %group4, %g4_4
  // CHECK-NEXT: values = [12, 12, 3, 3, 3, 3, 3, 3]
  %shown5 = tfrt.call @show(%context1, %stream1, %all1, %g4)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [8, 8, 2, 2, 2, 2, 2, 2]
  %shown6 = tfrt.call @show(%context0, %stream0, %all0, %shown5)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  // Round the ring: sends wait for nobody within a group.
  %group5, %g5_0 = "tfrt_cuda.ccl.group_start"(%shown6, %ccl0, %ccl1, %ccl2, %ccl3)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %g5_1 = tfrt_cuda.ccl.send %ccl0, %mine0, %eight, %i1, %stream0, %g5_0 { type = "i32" }
  %g5_2 = tfrt_cuda.ccl.recv %ccl0, %all0, %eight, %i3, %stream0, %g5_1 { type = "i32" }
  %g5_3 = tfrt_cuda.ccl.send %ccl1, %mine1, %eight, %i2, %stream1, %g5_2 { type = "i32" }
  %g5_4 = tfrt_cuda.ccl.recv %ccl1, %all1, %eight, %i0, %stream1, %g5_3 { type = "i32" }
  %g5_5 = tfrt_cuda.ccl.send %ccl2, %mine2, %eight, %i3, %stream2, %g5_4 { type = "i32" }
  %g5_6 = tfrt_cuda.ccl.recv %ccl2, %all2, %eight, %i1, %stream2, %g5_5 { type = "i32" }
  %g5_7 = tfrt_cuda.ccl.send %ccl3, %mine3, %eight, %i0, %stream3, %g5_6 { type = "i32" }
  %g5_8 = tfrt_cuda.ccl.recv %ccl3, %all3, %eight, %i2, %stream3, %g5_7 { type = "i32" }
  %g5 = tfrt_cuda.ccl.group_end %group5, %g5_8
  // CHECK-NEXT: values = [12, 12, 3, 3, 3, 3, 3, 3]
  %shown7 = tfrt.call @show(%context0, %stream0, %all0, %g5)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: values = [4, 4, 1, 1, 1, 1, 1, 1]
  %shown8 = tfrt.call @show(%context2, %stream2, %all2, %shown7)
    : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> !tfrt.chain
  %end0 = tfrt_cuda.ccl.destroy %ccl0, %stream0, %shown8
  %end1 = tfrt_cuda.ccl.destroy %ccl1, %stream1, %end0
  %end2 = tfrt_cuda.ccl.destroy %ccl2, %stream2, %end1
  %end3 = tfrt_cuda.ccl.destroy %ccl3, %stream3, %end2
  // expected-error @+1 {{CUDA_ERROR_INVALID_HANDLE: the communicator was destroyed}}
  %wrong5 = tfrt_cuda.ccl.destroy %ccl0, %stream0, %end3
  tfrt.return %end3 : !tfrt.chain
}

// What does not fit is an error of the call.
// CHECK-LABEL: --- Running 'wrong_calls'
func @wrong_calls() {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %i0 = tfrt.constant.i32 0
  %i1 = tfrt.constant.i32 1
  %ranks = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %nine = tfrt.constant.i64 9
  %device0, %ch2 = tfrt_cuda.device.get %i0, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device0, %ch2
  %id, %ch4 = tfrt_cuda.ccl.unique_id %context, %ch3
  %context0, %stream0, %ccl0, %mine0, %all0, %open0 = tfrt.call @open(%i0, %ranks, %id, %ch4)
    : (i32, i32, !tfrt_cuda.ccl_id, !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %device1, %ch5 = tfrt_cuda.device.get %i1, %open0
  %context1, %ch6 = tfrt_cuda.context.primary %device1, %ch5
  %stream1, %ch7 = tfrt_cuda.stream.create %context1, %ch6
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: what is sent (36 bytes from byte 0) exceeds a buffer of 32 bytes}}
  %wrong0 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %all0, %nine, %stream0, %ch7 { op = "sum", type = "i32" }
  // expected-error @+1 {{'mean' is none of sum, prod, max, min, avg}}
  %wrong1 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %all0, %eight, %stream0, %ch7 { op = "mean", type = "i32" }
  // expected-error @+1 {{there is no element type 'float'}}
  %wrong2 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %all0, %eight, %stream0, %ch7 { op = "sum", type = "float" }
  // expected-error @+1 {{CUDA_ERROR_INVALID_VALUE: broadcast: rank 1 is out of range for 1 ranks}}
  %wrong3 = tfrt_cuda.ccl.broadcast %ccl0, %mine0, %all0, %eight, %ranks, %stream0, %ch7 { type = "i32" }
  // expected-error @+1 {{CUDA_ERROR_INVALID_CONTEXT: the communicator belongs to device 0}}
  %wrong4 = tfrt_cuda.ccl.broadcast %ccl0, %mine0, %all0, %eight, %i0, %stream1, %ch7 { type = "i32" }
  tfrt.return
}

// A rank that never calls: the one that waits for it fails when the communicator's time is up, and says so. The device's
// next context is as good as new.
// CHECK-LABEL: --- Running 'missing'
func @missing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %ranks = tfrt.constant.i32 2
  %device0, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %device1, %ch3 = tfrt_cuda.device.get %one, %ch2
  %context0, %ch4 = tfrt_cuda.context.create %device0, %ch3
  %context1, %ch5 = tfrt_cuda.context.create %device1, %ch4
  %id, %ch6 = tfrt_cuda.ccl.unique_id %context0, %ch5
  %ccl0, %ch7 = "tfrt_cuda.ccl.create"(%context0, %id, %ranks, %zero, %ch6) {timeout_ms = 200 : i64}
    : (!tfrt_cuda.context, !tfrt_cuda.ccl_id, i32, i32, !tfrt.chain) -> (!tfrt_cuda.ccl_communicator, !tfrt.chain)
  %ccl1, %ch8 = "tfrt_cuda.ccl.create"(%context1, %id, %ranks, %one, %ch7) {timeout_ms = 200 : i64}
    : (!tfrt_cuda.context, !tfrt_cuda.ccl_id, i32, i32, !tfrt.chain) -> (!tfrt_cuda.ccl_communicator, !tfrt.chain)
  %stream, %ch9 = tfrt_cuda.stream.create %context0, %ch8
  %allocator, %ch10 = tfrt_cuda.allocator.create %context0, %ch9
  %bytes = tfrt.constant.i64 32
  %count = tfrt.constant.i64 8
  %buffer, %ch11 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch10
  %value = tfrt.constant.ui32 1
  %ch12 = tfrt_cuda.mem.set.ui32 %context0, %buffer, %value, %count, %stream, %ch11
  %ch13 = tfrt_cuda.ccl.all_reduce %ccl0, %buffer, %buffer, %count, %stream, %ch12 { op = "sum", type = "i32" }
  // expected-error @+1 {{NCCL_ERROR_FAILED: all_reduce (call 1) of rank 0 of 2 misses rank 1: not all ranks called within 200ms}}
  %ch14 = tfrt_cuda.stream.synchronize %stream, %ch13
  %again, %ch15 = tfrt_cuda.context.primary %device0, %ch13
  %next, %ch16 = tfrt_cuda.stream.create %again, %ch15
  %ch17 = tfrt_cuda.stream.synchronize %next, %ch16
  tfrt.return %ch17 : !tfrt.chain
}
