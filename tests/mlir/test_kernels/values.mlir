// Values with a life of their own.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'lifetimes'
func @lifetimes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  // CHECK-NEXT: constructed vt.value(1)
  // CHECK-NEXT: move constructed vt.value(1)
  %one = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  // CHECK-NEXT: constructed vt.value(2)
  // CHECK-NEXT: move constructed vt.value(2)
  // CHECK-NEXT: destroyed vt.value(1)
  %two = "vt.add"(%one, %one) : (!vt.value, !vt.value) -> !vt.value
  %a, %b = "tfrt_test.share_to_two"(%two) : (!vt.value) -> (!vt.value, !vt.value)
  // CHECK-NEXT: print vt_value(2)
  %ch1 = "vt.print"(%a, %ch0) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: print vt_value(2)
  // CHECK-NEXT: destroyed vt.value(2)
  %ch2 = "vt.print"(%b, %ch1) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: 'lifetimes' returned !tfrt.chain value
  tfrt.return %ch2 : !tfrt.chain
}

// A call hands its argument over: it goes at its last use inside.
// CHECK-LABEL: --- Running 'handed_over'
func @handed_over() -> !tfrt.chain {
  %one = "vt.constant"() {value = 1 : i32} : () -> !vt.value
  // CHECK: print vt_value(1)
  // CHECK-NEXT: destroyed vt.value(1)
  // CHECK-NEXT: hello host executor!
  %ch = tfrt.call @print_then_hello(%one) : (!vt.value) -> !tfrt.chain
  tfrt.return %ch : !tfrt.chain
}

func @print_then_hello(%x: !vt.value) -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %ch1 = "vt.print"(%x, %ch0) : (!vt.value, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_test.print_hello"(%ch1) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'counters'
func @counters() -> i32 {
  %ch0 = tfrt.new.chain
  %five = tfrt.constant.i32 5
  %counter = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %ch1 = "tfrt_test.atomic.inc.i32"(%counter, %ch0) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %ch2 = "tfrt_test.atomic.add.i32"(%counter, %five, %ch1) : (!test.atomic.i32, i32, !tfrt.chain) -> !tfrt.chain
  %sum, %ch3 = "tfrt_test.atomic.get.i32"(%counter, %ch2) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  // CHECK-NEXT: 'counters' returned 6
  tfrt.return %sum : i32
}

// CHECK-LABEL: --- Running 'resources'
func @resources() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  // CHECK-NEXT: Allocated TestResource
  %resource, %ch1 = "tfrt_test.allocate_resource"(%ch0) : (!tfrt.chain) -> (!tfrt.test.resource, !tfrt.chain)
  // CHECK-NEXT: Destroyed TestResource
  // CHECK-NEXT: tfrt_test.deallocate_resource done
  %ch2 = "tfrt_test.deallocate_resource"(%resource, %ch1) : (!tfrt.test.resource, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'shared_contexts'
func @shared_contexts() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %a, %ch1 = "tfrt_test.use_sample_shared_context"(%ch0) : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  %b, %ch2 = "tfrt_test.use_sample_shared_context"(%ch1) : (!tfrt.chain) -> (!tfrt.string, !tfrt.chain)
  // CHECK: string = sample_shared_context0
  %ch3 = "tfrt_test.print_string"(%a, %ch2) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: string = sample_shared_context0
  %ch4 = "tfrt_test.print_string"(%b, %ch3) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'points'
func @points() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %x = tfrt.constant.i32 2
  %y = tfrt.constant.i32 -4
  %point = "tfrt_tutorial.create_coordinate"(%x, %y) : (i32, i32) -> !my.coordinate
  // CHECK: (2, -4)
  %ch1 = "tfrt_tutorial.print_coordinate"(%point, %ch0) : (!my.coordinate, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
