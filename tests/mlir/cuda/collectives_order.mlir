// What collectives order, as the checker knows it: whoever receives comes behind what those did before who send, and nobody
// else does. Each program has two ranks, each of which has written a buffer of its own; after the exchange one of them reads the
// other's.
//
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function all_reduce
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function second_first
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function broadcast
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function reduce
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function message
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function known_by_events
// RUN: tfrt run %s --device cpu --cpu-devices 2 --check --function two_streams | FileCheck %s --check-prefix=STREAMS
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function grouped 2>&1 | FileCheck %s --check-prefix=GROUPED
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function broadcast_back 2>&1 | FileCheck %s --check-prefix=BACK
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function reduce_on 2>&1 | FileCheck %s --check-prefix=ON
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function message_back 2>&1 | FileCheck %s --check-prefix=ANSWER
// RUN: not tfrt run %s --device cpu --cpu-devices 2 --check --function nothing_exchanged 2>&1 | FileCheck %s --check-prefix=NOTHING

// A rank with its stream and communicator, a buffer of eight numbers that it has written, and one to receive in.
func @open(%number : i32, %id : !tfrt_cuda.ccl_id, %ch0 : !tfrt.chain)
    -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) {
  %ranks = tfrt.constant.i32 2
  %device, %ch1 = tfrt_cuda.device.get %number, %ch0
  %context, %ch2 = tfrt_cuda.context.create %device, %ch1
  %stream, %ch3 = tfrt_cuda.stream.create %context, %ch2
  %allocator, %ch4 = tfrt_cuda.allocator.create %context, %ch3
  %communicator, %ch5 = "tfrt_cuda.ccl.create"(%context, %id, %ranks, %number, %ch4) {timeout_ms = 60000 : i64}
    : (!tfrt_cuda.context, !tfrt_cuda.ccl_id, i32, i32, !tfrt.chain) -> (!tfrt_cuda.ccl_communicator, !tfrt.chain)
  %bytes = tfrt.constant.i64 32
  %count = tfrt.constant.i64 8
  %mine, %ch6 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch5
  %other, %ch7 = tfrt_cuda.mem.allocate %allocator, %stream, %bytes, %ch6
  %seven = tfrt.constant.ui32 7
  %ch8 = tfrt_cuda.mem.set.ui32 %context, %mine, %seven, %count, %stream, %ch7
  %ch9 = tfrt_cuda.mem.set.ui32 %context, %other, %seven, %count, %stream, %ch8
  tfrt.return %context, %stream, %communicator, %mine, %other, %ch9
    : !tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain
}

func @id() -> (!tfrt_cuda.ccl_id, !tfrt.chain) {
  %ch0 = tfrt.new.chain
  %ch1 = tfrt_cuda.init %ch0
  %zero = tfrt.constant.i32 0
  %device, %ch2 = tfrt_cuda.device.get %zero, %ch1
  %context, %ch3 = tfrt_cuda.context.create %device, %ch2
  %id, %ch4 = tfrt_cuda.ccl.unique_id %context, %ch3
  tfrt.return %id, %ch4 : !tfrt_cuda.ccl_id, !tfrt.chain
}

// All send and receive, so all is ordered, both ways.
func @all_reduce() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %eight, %stream0, %ch2 { op = "sum", type = "i32" }
  %ch4 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %eight, %stream1, %ch3 { op = "sum", type = "i32" }
  %ch5 = tfrt_cuda.mem.copy_peer %other0, %mine1, %bytes, %stream0, %ch4
  %ch6 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch5
  tfrt.return %ch6 : !tfrt.chain
}

// The second rank is queued as a whole before the first has come to anything: the order is that of the ranks, not of the host.
func @second_first() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %eight, %stream1, %ch2 { op = "sum", type = "i32" }
  %ch4 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch3
  %value = tfrt.constant.ui32 9
  %ch5 = tfrt_cuda.mem.set.ui32 %context0, %mine0, %value, %eight, %stream0, %ch4
  %ch6 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %eight, %stream0, %ch5 { op = "sum", type = "i32" }
  tfrt.return %ch6 : !tfrt.chain
}

// The root's work comes before what all others do.
func @broadcast() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.broadcast %ccl0, %mine0, %other0, %eight, %zero, %stream0, %ch2 { type = "i32" }
  %ch4 = tfrt_cuda.ccl.broadcast %ccl1, %mine1, %other1, %eight, %zero, %stream1, %ch3 { type = "i32" }
  %ch5 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// But the root waits for nobody.
func @broadcast_back() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.broadcast %ccl0, %mine0, %other0, %eight, %zero, %stream0, %ch2 { type = "i32" }
  %ch4 = tfrt_cuda.ccl.broadcast %ccl1, %mine1, %other1, %eight, %zero, %stream1, %ch3 { type = "i32" }
  // BACK: error: copy from device to device on stream 0 reads bytes that memory set on stream 1 writes, and nothing orders the two
  // BACK: collectives_order.mlir:[[@LINE+1]]:
  %ch5 = tfrt_cuda.mem.copy_peer %other0, %mine1, %bytes, %stream0, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// Everybody's work comes before what the root does.
func @reduce() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.reduce %ccl0, %mine0, %other0, %eight, %zero, %stream0, %ch2 { op = "sum", type = "i32" }
  %ch4 = tfrt_cuda.ccl.reduce %ccl1, %mine1, %other1, %eight, %zero, %stream1, %ch3 { op = "sum", type = "i32" }
  %ch5 = tfrt_cuda.mem.copy_peer %other0, %mine1, %bytes, %stream0, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// But nobody waits for the root.
func @reduce_on() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.reduce %ccl0, %mine0, %other0, %eight, %zero, %stream0, %ch2 { op = "sum", type = "i32" }
  %ch4 = tfrt_cuda.ccl.reduce %ccl1, %mine1, %other1, %eight, %zero, %stream1, %ch3 { op = "sum", type = "i32" }
  // ON: error: copy from device to device on stream 1 reads bytes that memory set on stream 0 writes, and nothing orders the two
  // ON: collectives_order.mlir:[[@LINE+1]]:
  %ch5 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// What is sent comes behind the sender's work, and whoever receives it does too.
func @message() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.send %ccl0, %mine0, %eight, %one, %stream0, %ch2 { type = "i32" }
  %ch4 = tfrt_cuda.ccl.recv %ccl1, %other1, %eight, %zero, %stream1, %ch3 { type = "i32" }
  %ch5 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// But the sender hears nothing of the receiver.
func @message_back() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.send %ccl0, %mine0, %eight, %one, %stream0, %ch2 { type = "i32" }
  %ch4 = tfrt_cuda.ccl.recv %ccl1, %other1, %eight, %zero, %stream1, %ch3 { type = "i32" }
  // ANSWER: error: copy from device to device on stream 0 reads bytes that memory set on stream 1 writes, and nothing orders the two
  // ANSWER: collectives_order.mlir:[[@LINE+1]]:
  %ch5 = tfrt_cuda.mem.copy_peer %other0, %mine1, %bytes, %stream0, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// A collective of no elements promises nothing.
func @nothing_exchanged() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %none = tfrt.constant.i64 0
  %ch3 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %none, %stream0, %ch2 { op = "sum", type = "i32" }
  %ch4 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %none, %stream1, %ch3 { op = "sum", type = "i32" }
  // NOTHING: error: copy from device to device on stream 1 reads bytes that memory set on stream 0 writes, and nothing orders the two
  // NOTHING: collectives_order.mlir:[[@LINE+1]]:
  %ch5 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream1, %ch4
  tfrt.return %ch5 : !tfrt.chain
}

// What the second rank learns goes on by events, before the first has told it.
func @known_by_events() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %ch3 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %eight, %stream1, %ch2 { op = "sum", type = "i32" }
  %event, %ch4 = tfrt_cuda.event.create %context1, %ch3
  %ch5 = tfrt_cuda.event.record %event, %stream1, %ch4
  %third, %ch6 = tfrt_cuda.stream.create %context1, %ch5
  %ch7 = tfrt_cuda.stream.wait %third, %event, %ch6
  %ch8 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %third, %ch7
  %ch9 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %eight, %stream0, %ch8 { op = "sum", type = "i32" }
  tfrt.return %ch9 : !tfrt.chain
}

// A rank's calls are on two streams, the first of which is late: they are the first and the second all the same.
func @two_streams() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %no = tfrt.constant.ui32 0
  %single = tfrt.constant.ui32 1
  %late, %ch3 = tfrt_cuda.stream.create %context1, %ch2
  %written, %ch4 = tfrt_cuda.event.create %context1, %ch3
  %ch5 = tfrt_cuda.event.record %written, %stream1, %ch4
  %ch6 = tfrt_cuda.stream.wait %late, %written, %ch5
  %module, %ch7 = tfrt_cuda.module.load %context1, %ch6 ".version 6.0\n.target sm_35\n.address_size 64\n.visible .entry f() { .reg .pred %p; .reg .u32 %r; mov.u32 %r, 500000; again: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra again; ret; }"
  %f, %ch8 = tfrt_cuda.function.get %module, %ch7 "f"
  %ch9 = tfrt_cuda.function.launch %f %single %single %single %single %single %single %no %late %ch8 { cooperative = false } () : ()
  %first, %ch10 = "tfrt_cuda.ccl.group_start"(%ch9, %ccl0, %ccl1)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %ch11 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %eight, %stream0, %ch10 { op = "sum", type = "i32" }
  %ch12 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %eight, %late, %ch11 { op = "sum", type = "i32" }
  %ch13 = tfrt_cuda.ccl.group_end %first, %ch12
  %second, %ch14 = "tfrt_cuda.ccl.group_start"(%ch13, %ccl0, %ccl1)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %ch15 = tfrt_cuda.ccl.reduce %ccl0, %other0, %mine0, %eight, %zero, %stream0, %ch14 { op = "sum", type = "i32" }
  %ch16 = tfrt_cuda.ccl.reduce %ccl1, %mine1, %mine1, %eight, %zero, %stream1, %ch15 { op = "sum", type = "i32" }
  %ch17 = tfrt_cuda.ccl.group_end %second, %ch16
  %result = tfrt_dht.create_uninitialized_tensor.i32.1 [8 : i64]
  %host, %ch18 = tfrt_dht.get_buffer %result, %ch17
  %ch19 = tfrt_cuda.mem.copy_device_to_host %context0, %host, %mine0, %bytes, %stream0, %ch18
  // STREAMS: values = [21, 21, 21, 21, 21, 21, 21, 21]
  %ch20 = tfrt_dht.print_tensor %result, %ch19
  %ch21 = tfrt_cuda.stream.synchronize %late, %ch20
  tfrt.return %ch21 : !tfrt.chain
}

// What a group queues at its end comes from where each of its calls is.
func @grouped() -> !tfrt.chain {
  %id, %ch0 = tfrt.call @id() : () -> (!tfrt_cuda.ccl_id, !tfrt.chain)
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  %eight = tfrt.constant.i64 8
  %bytes = tfrt.constant.i64 32
  %context0, %stream0, %ccl0, %mine0, %other0, %ch1 = tfrt.call @open(%zero, %id, %ch0)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %context1, %stream1, %ccl1, %mine1, %other1, %ch2 = tfrt.call @open(%one, %id, %ch1)
    : (i32, !tfrt_cuda.ccl_id, !tfrt.chain) -> (!tfrt_cuda.context, !tfrt_cuda.stream, !tfrt_cuda.ccl_communicator, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %group, %ch3 = "tfrt_cuda.ccl.group_start"(%ch2, %ccl0, %ccl1)
    : (!tfrt.chain, !tfrt_cuda.ccl_communicator, !tfrt_cuda.ccl_communicator) -> (!tfrt_cuda.ccl_group, !tfrt.chain)
  %ch4 = tfrt_cuda.ccl.all_reduce %ccl0, %mine0, %other0, %eight, %stream0, %ch3 { op = "sum", type = "i32" }
  // GROUPED: error: copy from device to device on stream 0 writes bytes that all_reduce on stream 1 writes, and nothing orders the two
  // GROUPED: collectives_order.mlir:[[@LINE+4]]:
  // GROUPED: written by 'tfrt_cuda.ccl.all_reduce' at {{.*}}collectives_order.mlir:[[@LINE+1]]:
  %ch5 = tfrt_cuda.ccl.all_reduce %ccl1, %mine1, %other1, %eight, %stream1, %ch4 { op = "sum", type = "i32" }
  %ch6 = tfrt_cuda.ccl.group_end %group, %ch5
  %ch7 = tfrt_cuda.mem.copy_peer %other1, %mine0, %bytes, %stream0, %ch6
  tfrt.return %ch7 : !tfrt.chain
}
