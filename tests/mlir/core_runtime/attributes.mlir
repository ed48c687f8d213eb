// Sets of attributes: built, printed by name, frozen; and no name twice.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'attributes'
func @attributes() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %attrs = "corert.create_op_attrs"() : () -> !corert.opattrs
  // CHECK-NEXT: OpAttrs is empty
  %ch1 = "tfrt_test.corert.op_attrs_print"(%attrs, %ch0) : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.op_attrs_set.bool"(%attrs, %ch1) { key = "bool", value = true } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.op_attrs_set.i32"(%attrs, %ch2) { key = "i32", value = -1 : i32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch4 = "corert.op_attrs_set.i64"(%attrs, %ch3) { key = "i64", value = 2 : i64 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch5 = "corert.op_attrs_set.f32"(%attrs, %ch4) { key = "f32", value = 0.5 : f32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch6 = "corert.op_attrs_set.str"(%attrs, %ch5) { key = "str", value = "SAME" } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch7 = "corert.op_attrs_set.dtype"(%attrs, %ch6) { key = "dtype", value = f32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch8 = "corert.op_attrs_set.dense"(%attrs, %ch7) { key = "dense", value = dense<[[1, 2]]> : tensor<1x2xi32> } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch9 = "corert.op_attrs_set.aggregate"(%attrs, %ch8) { key = "list", value = [dense<1> : tensor<1xi32>, 2 : i64] } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch10 = "corert.op_attrs_set.shape"(%attrs, %ch9) { key = "shape", value = #corert.shape<1x?x3> } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch11 = "corert.op_attrs_set_array.i32"(%attrs, %ch10) { key = "is", value = [1 : i32, 2 : i32] } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch12 = "corert.op_attrs_set_array.i64"(%attrs, %ch11) { key = "js", value = [1, 2, 3, 4, 5, 6] } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %ch13 = "corert.op_attrs_set_array.f32"(%attrs, %ch12) { key = "fs", value = [1.5 : f32] } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  %frozen, %ch14 = "tfrt_test.corert.op_attrs_freeze"(%attrs, %ch13) : (!corert.opattrs, !tfrt.chain) -> (!corert.opattrs_ref, !tfrt.chain)
  %ch15 = "corert.op_attrs_set.i32"(%attrs, %ch14) { key = "later", value = 0 : i32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  // CHECK-NEXT: OpAttrs contains 12 entries:
  // CHECK-NEXT: 'bool' type=BOOL value=1
  // CHECK-NEXT: 'dense' type=DENSE value=dtype=I32, rank=2, elt_count=2
  // CHECK-NEXT: 'dtype' type=DTYPE value=F32
  // CHECK-NEXT: 'f32' type=F32 value=5.000000e-01
  // CHECK-NEXT: 'fs' type=F32 value=[1.500000e+00]
  // CHECK-NEXT: 'i32' type=I32 value=-1
  // CHECK-NEXT: 'i64' type=I64 value=2
  // CHECK-NEXT: 'is' type=I32 value=[1, 2]
  // CHECK-NEXT: 'js' type=I64 value=[1, 2, 3, 4, 5...]
  // CHECK-NEXT: 'list' type=AGGREGATE value=elt_count=2 [{dtype=I32, rank=1, elt_count=1}, {2}]
  // CHECK-NEXT: 'shape' type=SHAPE value=<1x-1x3>
  // CHECK-NEXT: 'str' type=CHAR value=[S, A, M, E]
  %ch16 = "tfrt_test.corert.op_attrs_ref_print"(%frozen, %ch15) : (!corert.opattrs_ref, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch16 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'twice'
func @twice() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %attrs = "corert.create_op_attrs"() : () -> !corert.opattrs
  %ch1 = "corert.op_attrs_set.i32"(%attrs, %ch0) { key = "n", value = 1 : i32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  // expected-error @+1 {{attribute 'n' is set twice}}
  %ch2 = "corert.op_attrs_set.i32"(%attrs, %ch1) { key = "n", value = 2 : i32 } : (!corert.opattrs, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
