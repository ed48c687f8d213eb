// What `tfrt check` proves from the text, and what it finds.
//
// RUN: tfrt check %s --function ordered --function captured --function counted --function either | FileCheck %s --check-prefix=PROVED
// RUN: not tfrt check %s --function unordered 2>&1 | FileCheck %s --check-prefix=UNORDERED
// RUN: not tfrt check %s --function chainless 2>&1 | FileCheck %s --check-prefix=CHAINLESS
// RUN: not tfrt check %s --function loose 2>&1 | FileCheck %s --check-prefix=LOOSE
// RUN: not tfrt check %s --function launches 2>&1 | FileCheck %s --check-prefix=LAUNCHES
// RUN: not tfrt check %s --function early_host 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not tfrt check %s --function forgotten_branch 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not tfrt check %s --function one_side 2>&1 | FileCheck %s --check-prefix=SIDE
// RUN: not tfrt check %s --function endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not tfrt check %s --function beside_a_capture 2>&1 | FileCheck %s --check-prefix=BESIDE
// RUN: not tfrt check %s --function unordered --json | FileCheck %s --check-prefix=JSON
// RUN: tfrt run %s --device cpu --check --function ordered
// RUN: tfrt run %s --device cpu --check --function captured
// RUN: not tfrt run %s --device cpu --check --function forgotten_branch 2>&1 | FileCheck %s --check-prefix=DYNAMIC

func @open() -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.primary %device, %ch2
  %first, %ch4 = tfrt_cuda.stream.create %context, %ch3
  %second, %ch5 = tfrt_cuda.stream.create %context, %ch4
  %allocator, %ch6 = tfrt_cuda.allocator.create %context, %ch5
  %bytes = tfrt.constant.i64 64
  %buffer, %ch7 = tfrt_cuda.mem.allocate %allocator, %first, %bytes, %ch6
  tfrt.return %context, %first, %second, %buffer, %ch7
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain
}

// Two streams fill two halves at the same time. The first one goes on with the whole when the second one is done.
// PROVED: ordered: 3 operations on 2 streams, all in order
func @ordered() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %left = tfrt_cuda.mem.slice %buffer {offset = 0 : i64, size = 32 : i64}
  %right = tfrt_cuda.mem.slice %buffer {offset = 32 : i64, size = 32 : i64}
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %all = tfrt.constant.i64 16
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %left, %seven, %eight, %first, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %right, %seven, %eight, %second, %ch1
  %done, %ch3 = tfrt_cuda.event.create %context, %ch2
  %ch4 = tfrt_cuda.event.record %done, %second, %ch3
  %ch5 = tfrt_cuda.stream.wait %first, %done, %ch4
  %ch6 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %all, %first, %ch5
  %ch7 = tfrt_cuda.stream.synchronize %first, %ch6
  tfrt.return %ch7 : !tfrt.chain
}

// UNORDERED: error: 'tfrt_cuda.mem.set.ui32' on stream 1 writes bytes that 'tfrt_cuda.mem.set.ui32' on stream 0 writes, and nothing orders the two (a buffer of 64 bytes made by 'tfrt_cuda.mem.allocate' at
// UNORDERED: order.mlir:[[@LINE+13]]:
// UNORDERED: written by 'tfrt_cuda.mem.set.ui32' at {{.*}}order.mlir:[[@LINE+11]]:
// UNORDERED: record an event on stream 0 after 'tfrt_cuda.mem.set.ui32' at {{.*}}, and let stream 1 wait for it before
// UNORDERED: unordered: 2 operations on 2 streams, 1 out of order
// JSON: "certain": true
// JSON: "in_order": false
func @unordered() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %part = tfrt_cuda.mem.slice %buffer {offset = 28 : i64, size = 8 : i64}
  %seven = tfrt.constant.ui32 7
  %two = tfrt.constant.i64 2
  %eight = tfrt.constant.i64 8
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %eight, %first, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %part, %seven, %two, %second, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

// Calls without an order give none to a stream: the two may be queued either way.
// CHAINLESS: error: 'tfrt_cuda.mem.set.ui32' on stream 0 writes bytes that 'tfrt_cuda.mem.set.ui32' on stream 0 writes, and nothing orders the two
// CHAINLESS: pass the chain of 'tfrt_cuda.mem.set.ui32' at {{.*}}, because nothing orders the two calls
func @chainless() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.ui32 8
  %count = tfrt.constant.i64 8
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %eight, %count, %first, %ch0
  %ch3 = tfrt.merge.chains %ch1, %ch2
  tfrt.return %ch3 : !tfrt.chain
}

// An event that is recorded and waited for, but not certainly in this order. A run finds the order of the text.
// LOOSE: error: 'tfrt_cuda.mem.set.ui32' on stream 1 writes bytes that 'tfrt_cuda.mem.set.ui32' on stream 0 writes
// LOOSE: no chain orders 'tfrt_cuda.event.record' at {{.*}} and 'tfrt_cuda.stream.wait' at {{.*}}, so the wait may not see that record
func @loose() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 8
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch0
  %done, %ch2 = tfrt_cuda.event.create %context, %ch1
  %ch3 = tfrt_cuda.event.record %done, %first, %ch2
  %ch4 = tfrt_cuda.stream.wait %second, %done, %ch2
  %ch5 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %second, %ch4
  %ch6 = tfrt.merge.chains %ch3, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

// The kernel stores through its parameter, to bytes that are not known before it runs.
// LAUNCHES: error: 'tfrt_cuda.function.launch' on stream 1 may write bytes that 'tfrt_cuda.mem.set.ui32' on stream 0 may write, and nothing orders the two
// LAUNCHES: which bytes of its arguments a launch accesses is not known before it runs
// LAUNCHES: launches: 2 operations on 2 streams, 1 possibly out of order
func @launches() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %module, %ch1 = tfrt_cuda.module.load %context, %ch0 ".version 6.4\n.target sm_30\n.address_size 64\n.visible .entry f(.param .u64 x)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [x];\nst.global.u32 [%rd1], 7;\nret;\n}\n"
  %f, %ch2 = tfrt_cuda.function.get %module, %ch1 "f"
  %no = tfrt.constant.ui32 0
  %one = tfrt.constant.ui32 1
  %count = tfrt.constant.i64 8
  %ch3 = tfrt_cuda.mem.set.ui32 %context, %buffer, %one, %count, %first, %ch2
  %ch4 = tfrt_cuda.function.launch %f %one %one %one %one %one %one %no %second %ch3 { cooperative = false } (%buffer) : (!tfrt_cuda.buffer)
  tfrt.return %ch4 : !tfrt.chain
}

// Pinned memory: the chain of the copy says that it is queued.
// HOST: error: 'tfrt_dht.print_tensor' on the host reads bytes that 'tfrt_cuda.mem.copy_device_to_host' on stream 0 writes
// HOST: let 'tfrt_dht.print_tensor' at {{.*}} wait for stream 0
func @early_host() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %bytes = tfrt.constant.i64 64
  %tensor = tfrt_dht.create_uninitialized_tensor.i32.1 [16 : i64]
  %host, %ch1 = tfrt_dht.get_buffer %tensor, %ch0
  %ch2 = tfrt_cuda.mem.register %context, %host, %ch1
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %ch3 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch2
  %ch4 = tfrt_cuda.mem.copy_device_to_host %context, %host, %buffer, %bytes, %first, %ch3
  %ch5 = tfrt_dht.print_tensor %tensor, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// A graph of two branches, launched twice in a row.
// PROVED: captured: 6 operations on 2 streams, all in order
func @captured() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %part = tfrt_cuda.mem.slice %buffer {offset = 32 : i64, size = 32 : i64}
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %all = tfrt.constant.i64 16
  %fork, %ch1 = tfrt_cuda.event.create %context, %ch0
  %join, %ch2 = tfrt_cuda.event.create %context, %ch1
  %ch3 = tfrt_cuda.graph.begin_capture %first, %ch2
  %ch4 = tfrt_cuda.event.record %fork, %first, %ch3
  %ch5 = tfrt_cuda.stream.wait %second, %fork, %ch4
  %ch6 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %eight, %first, %ch5
  %ch7 = tfrt_cuda.mem.set.ui32 %context, %part, %seven, %eight, %second, %ch6
  %ch8 = tfrt_cuda.event.record %join, %second, %ch7
  %ch9 = tfrt_cuda.stream.wait %first, %join, %ch8
  %ch10 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %all, %first, %ch9
  %graph, %ch11 = tfrt_cuda.graph.end_capture %first, %ch10
  %ch12 = tfrt_cuda.graph.launch %graph, %first, %ch11
  %ch13 = tfrt_cuda.graph.launch %graph, %first, %ch12
  %ch14 = tfrt_cuda.stream.synchronize %first, %ch13
  tfrt.return %ch14 : !tfrt.chain
}

// The branches join behind the operation that needs both.
// BRANCH: error: 'tfrt_cuda.mem.set.ui32' on stream 0 writes bytes that 'tfrt_cuda.mem.set.ui32' on stream 1 writes, and nothing orders the two
// BRANCH: is part of the graph that is launched by 'tfrt_cuda.graph.launch'
// DYNAMIC: nothing orders the two
func @forgotten_branch() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %part = tfrt_cuda.mem.slice %buffer {offset = 32 : i64, size = 32 : i64}
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %all = tfrt.constant.i64 16
  %fork, %ch1 = tfrt_cuda.event.create %context, %ch0
  %join, %ch2 = tfrt_cuda.event.create %context, %ch1
  %ch3 = tfrt_cuda.graph.begin_capture %first, %ch2
  %ch4 = tfrt_cuda.event.record %fork, %first, %ch3
  %ch5 = tfrt_cuda.stream.wait %second, %fork, %ch4
  %ch6 = tfrt_cuda.mem.set.ui32 %context, %part, %seven, %eight, %second, %ch5
  %ch7 = tfrt_cuda.event.record %join, %second, %ch6
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %all, %first, %ch7
  %ch9 = tfrt_cuda.stream.wait %first, %join, %ch8
  %graph, %ch10 = tfrt_cuda.graph.end_capture %first, %ch9
  %ch11 = tfrt_cuda.graph.launch %graph, %first, %ch10
  %ch12 = tfrt_cuda.stream.synchronize %first, %ch11
  tfrt.return %ch12 : !tfrt.chain
}

// A loop that runs a constant number of times.
// PROVED: counted: 4 operations on 2 streams, all in order
func @counted() -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %times = tfrt.constant.i32 4
  %last:6 = tfrt.repeat.i32 %times, %context, %first, %buffer, %seven, %count, %ch0 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, ui32, i64, !tfrt.chain {
    %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch0
    tfrt.return %context, %first, %buffer, %seven, %count, %ch2 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, ui32, i64, !tfrt.chain
  }
  tfrt.return %last#5 : !tfrt.chain
}

// Both sides of a branch on data are followed.
// PROVED: either: 2 operations on 2 streams, all in order
func @either(%which: i1) -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %ch1 = tfrt.cond %which @fill_first @fill_second(%context, %first, %second, %buffer, %ch0) : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> (!tfrt.chain)
  tfrt.return %ch1 : !tfrt.chain
}

// Only one of the sides is in order with what follows.
// SIDE: error: 'tfrt_cuda.mem.set.ui32' on stream 0 writes bytes that 'tfrt_cuda.mem.set.ui32' on stream 1 writes
// SIDE: one_side: 4 operations on 2 streams, 1 out of order
func @one_side(%which: i1) -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %ch1 = tfrt.cond %which @fill_first @fill_second(%context, %first, %second, %buffer, %ch0) : (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain) -> (!tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch1
  tfrt.return %ch2 : !tfrt.chain
}

func @fill_first(%context: !tfrt_cuda.context, %first: !tfrt_cuda.stream, %second: !tfrt_cuda.stream, %buffer: !tfrt_cuda.buffer, %ch0: !tfrt.chain) -> !tfrt.chain {
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

func @fill_second(%context: !tfrt_cuda.context, %first: !tfrt_cuda.stream, %second: !tfrt_cuda.stream, %buffer: !tfrt_cuda.buffer, %ch0: !tfrt.chain) -> !tfrt.chain {
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %ch1 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %second, %ch0
  tfrt.return %ch1 : !tfrt.chain
}

// How often a loop runs is not known, so nothing is proved.
// ENDLESS: error: cannot decide: how often the loop runs depends on data
// ENDLESS: endless: 3 operations on 2 streams, not decided
func @endless(%times: i32) -> !tfrt.chain {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %count = tfrt.constant.i64 16
  %last:6 = tfrt.repeat.i32 %times, %context, %first, %buffer, %seven, %count, %ch0 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, ui32, i64, !tfrt.chain {
    %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %count, %first, %ch0
    tfrt.return %context, %first, %buffer, %seven, %count, %ch2 : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.buffer, ui32, i64, !tfrt.chain
  }
  tfrt.return %last#5 : !tfrt.chain
}

// A fill that may come while a graph is recorded on its stream, where it would become a part of the graph. In the order of the text it comes behind.
// BESIDE: error: 'tfrt_cuda.mem.set.ui32' at {{.*}} may use stream 0 while a graph is recorded on it
// BESIDE: order.mlir:[[@LINE+11]]:
// BESIDE: the recording begins with 'tfrt_cuda.graph.begin_capture' at {{.*}}order.mlir:[[@LINE+7]]:
// BESIDE: pass it a chain behind the end of the capture, or let the capture begin behind it
// BESIDE: beside_a_capture: 1 operations on 2 streams, 2 out of order
func @beside_a_capture() -> (!tfrt.chain, !tfrt.chain) {
  %context, %first, %second, %buffer, %ch0 = tfrt.call @open() : () -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.stream, !tfrt_cuda.buffer, !tfrt.chain)
  %seven = tfrt.constant.ui32 7
  %eight = tfrt.constant.i64 8
  %ch1 = tfrt_cuda.graph.begin_capture %first, %ch0
  %ch2 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %eight, %first, %ch1
  %graph, %ch3 = tfrt_cuda.graph.end_capture %first, %ch2
  %ch4 = tfrt_cuda.mem.set.ui32 %context, %buffer, %seven, %eight, %first, %ch0
  tfrt.return %ch3, %ch4 : !tfrt.chain, !tfrt.chain
}
