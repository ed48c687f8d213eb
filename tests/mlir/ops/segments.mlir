// Elements combined by segments, places among sorted numbers, and shapes that are demanded: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'segment_sum'
func @segment_sum() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %ids = corert.const_dense_tensor dense<[0, 0, 2, 2]> : tensor<4xi32>
  %y = corert.executeop(%cpu) "tf.SegmentSum"(%x, %ids) : 1
  // CHECK: dtype = I32, shape = [3], values = [3, 0, 7]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'segment_prod'
func @segment_prod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %ids = corert.const_dense_tensor dense<[0, 0, 2, 2]> : tensor<4xi32>
  %y = corert.executeop(%cpu) "tf.SegmentProd"(%x, %ids) : 1
  // CHECK: dtype = I32, shape = [3], values = [2, 1, 12]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'segment_max'
func @segment_max() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %ids = corert.const_dense_tensor dense<[0, 0, 2, 2]> : tensor<4xi32>
  %y = corert.executeop(%cpu) "tf.SegmentMax"(%x, %ids) : 1
  // CHECK: dtype = I32, shape = [3], values = [2, 0, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'segment_min'
func @segment_min() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %ids = corert.const_dense_tensor dense<[0, 0, 2, 2]> : tensor<4xi32>
  %y = corert.executeop(%cpu) "tf.SegmentMin"(%x, %ids) : 1
  // CHECK: dtype = I32, shape = [3], values = [1, 0, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unsorted_segment_prod'
func @unsorted_segment_prod() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %any = corert.const_dense_tensor dense<[-1, 1, 0, 1]> : tensor<4xi32>
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.UnsortedSegmentProd"(%x, %any, %two) : 1
  // CHECK: dtype = I32, shape = [2], values = [3, 8]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unsorted_segment_max'
func @unsorted_segment_max() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %any = corert.const_dense_tensor dense<[-1, 1, 0, 1]> : tensor<4xi32>
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.UnsortedSegmentMax"(%x, %any, %two) : 1
  // CHECK: dtype = I32, shape = [2], values = [3, 4]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unsorted_segment_min'
func @unsorted_segment_min() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1, 2, 3, 4]> : tensor<4xi32>
  %any = corert.const_dense_tensor dense<[-1, 1, 0, 1]> : tensor<4xi32>
  %two = corert.const_dense_tensor dense<2> : tensor<i32>
  %y = corert.executeop(%cpu) "tf.UnsortedSegmentMin"(%x, %any, %two) : 1
  // CHECK: dtype = I32, shape = [2], values = [3, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'lower_bound'
func @lower_bound() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %row = corert.const_dense_tensor dense<[[5, 7, 7]]> : tensor<1x3xi32>
  %y = corert.executeop(%cpu) "tf.LowerBound"(%row, %row) : 1
  // CHECK: dtype = I32, shape = [1, 3], values = [0, 1, 1]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'upper_bound'
func @upper_bound() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %row = corert.const_dense_tensor dense<[[5, 7, 7]]> : tensor<1x3xi32>
  %y = corert.executeop(%cpu) "tf.UpperBound"(%row, %row) : 1
  // CHECK: dtype = I32, shape = [1, 3], values = [1, 3, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'broadcast_args'
func @broadcast_args() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %a = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi32>
  %b = corert.const_dense_tensor dense<[3]> : tensor<1xi32>
  %y = corert.executeop(%cpu) "tf.BroadcastArgs"(%a, %b) : 1
  // CHECK: dtype = I32, shape = [2], values = [2, 3]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ensure_shape'
func @ensure_shape() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1, 2]]> : tensor<1x2xi32>
  %y = corert.executeop(%cpu) "tf.EnsureShape"(%x) { shape = #corert.shape<?x2> } : 1
  // CHECK: dtype = I32, shape = [1, 2], values = [1, 2]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_shape'
func @wrong_shape() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1, 2]]> : tensor<1x2xi32>
  // expected-error @+1 {{Shape of tensor [1, 2] is not compatible with expected shape}}
  %y = corert.executeop(%cpu) "tf.EnsureShape"(%x) { shape = #corert.shape<?x3> } : 1
  tfrt.return %y : !corert.tensorhandle
}
