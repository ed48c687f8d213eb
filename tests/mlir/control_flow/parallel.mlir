// Loops whose iterations run side by side.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd:3 $(bef_name %s) | FileCheck %s

func @add_block(%start: i32, %end: i32, %sum: !test.atomic.i32) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %size = "tfrt_test.async_add.i32"(%start, %end) : (i32, i32) -> i32
  %ch1 = "tfrt_test.atomic.add.i32"(%sum, %size, %ch0) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// The bounds of the blocks of 0..1000 sum up to 1000 * 100 for blocks of 10.
// CHECK-LABEL: --- Running 'blocks'
func @blocks() -> (i32, i32, i32) {
  %ch0 = tfrt.new.chain
  %start = tfrt.constant.i32 0
  %end = tfrt.constant.i32 1000
  %size = tfrt.constant.i32 10
  %a = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %b = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %c = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %a_done = tfrt.parallel_for.i32 %start to %end fixed %size, %a : !test.atomic.i32 {
    %ch0 = tfrt.new.chain
    %sum = tfrt.add.i32 %start, %end
    %ch1 = "tfrt_test.atomic.add.i32"(%a, %sum, %ch0) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return
  }
  %b_done = tfrt.parallel_for.i32 %start to %end fixed %size, %b : !test.atomic.i32 {
    %ch0 = tfrt.new.chain
    %ch1 = "tfrt_test.atomic.inc.i32"(%b, %ch0) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
    tfrt.return %ch1 : !tfrt.chain
  }
  %c_done = tfrt.parallel_call.i32 %start to %end fixed %size @add_block(%c) : !test.atomic.i32
  %x, %ch1 = "tfrt_test.atomic.get.i32"(%a, %a_done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %y, %ch2 = "tfrt_test.atomic.get.i32"(%b, %b_done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  %z, %ch3 = "tfrt_test.atomic.get.i32"(%c, %c_done) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  // CHECK-NEXT: 'blocks' returned 100000,100,100000
  tfrt.return %x, %y, %z : i32, i32, i32
}

// CHECK-LABEL: --- Running 'nothing_to_do'
func @nothing_to_do() -> !tfrt.chain {
  %start = tfrt.constant.i32 1
  %end = tfrt.constant.i32 1
  %size = tfrt.constant.i32 1
  %done = tfrt.parallel_for.i32 %start to %end fixed %size {
    %ch0 = tfrt.new.chain
    %ch1 = "tfrt_test.print_hello"(%ch0) : (!tfrt.chain) -> !tfrt.chain
    tfrt.return
  }
  // CHECK-NEXT: 'nothing_to_do' returned !tfrt.chain value
  tfrt.return %done : !tfrt.chain
}

// CHECK-LABEL: --- Running 'bad_ranges'
func @bad_ranges() -> (!tfrt.chain, !tfrt.chain) {
  %zero = tfrt.constant.i32 0
  %one = tfrt.constant.i32 1
  // expected-error @+1 {{runtime error: the block size must be positive}}
  %a = tfrt.parallel_for.i32 %zero to %one fixed %zero {
    tfrt.return
  }
  // expected-error @+1 {{runtime error: the range from 1 to 0 is negative}}
  %b = tfrt.parallel_for.i32 %one to %zero fixed %one {
    tfrt.return
  }
  // CHECK-NEXT: 'bad_ranges' returned <<error: the block size must be positive>>,<<error: the range from 1 to 0 is negative>>
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}

// CHECK-LABEL: --- Running 'a_block_fails'
func @a_block_fails() -> !tfrt.chain {
  %start = tfrt.constant.i32 -3
  %end = tfrt.constant.i32 3
  %one = tfrt.constant.i32 1
  %done = tfrt.parallel_for.i32 %start to %end fixed %one {
    // expected-error @+1 {{runtime error: Divide by zero}}
    %q, %r = tfrt.div.i32 %end, %start
    %ch = "tfrt_test.as_chain"(%q) : (i32) -> !tfrt.chain
    tfrt.return %ch : !tfrt.chain
  }
  // CHECK-NEXT: 'a_block_fails' returned <<error: Divide by zero>>
  tfrt.return %done : !tfrt.chain
}
