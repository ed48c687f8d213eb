// What classical models need: decision trees, probabilities of pairs of classes, narrow numbers and sequences.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// One tree: feature 1 is at most 0.5, or else feature 0 is less than 3; its leaves have one, two and one weight.
// CHECK-LABEL: --- Running 'trees'
func @trees() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1.0, 0.0], [1.0, 2.0], [5.0, 2.0]]> : tensor<3x2xf32>
  %thresholds = corert.const_dense_tensor dense<[0.5, 0.0, 3.0, 0.0, 0.0]> : tensor<5xf32>
  %features = corert.const_dense_tensor dense<[1, 0, 0, 0, 0]> : tensor<5xi64>
  %modes = corert.const_dense_tensor dense<[0, 7, 1, 7, 7]> : tensor<5xui8>
  %children = corert.const_dense_tensor dense<[[1, 2], [0, 1], [3, 4], [1, 3], [3, 4]]> : tensor<5x2xi64>
  %missing = corert.const_dense_tensor dense<[0, 0, 0, 0, 0]> : tensor<5xi1>
  %roots = corert.const_dense_tensor dense<[0]> : tensor<1xi64>
  %targets = corert.const_dense_tensor dense<[0, 0, 1, 1]> : tensor<4xi64>
  %weights = corert.const_dense_tensor dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = corert.executeop(%cpu) "onnx.DecisionTrees"(%x, %thresholds, %features, %modes, %children, %missing, %roots, %targets, %weights) { aggregate = "SUM", n_targets = 2 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3, 2], values = [1.000000e+00, 0.000000e+00, 2.000000e+00, 3.000000e+00, 0.000000e+00, 4.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// A node that is its own child is an error, and no loop without end.
// CHECK-LABEL: --- Running 'circle'
func @circle() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1.0]]> : tensor<1x1xf32>
  %thresholds = corert.const_dense_tensor dense<[0.5]> : tensor<1xf32>
  %zero = corert.const_dense_tensor dense<[0]> : tensor<1xi64>
  %modes = corert.const_dense_tensor dense<[0]> : tensor<1xui8>
  %children = corert.const_dense_tensor dense<[[0, 0]]> : tensor<1x2xi64>
  %missing = corert.const_dense_tensor dense<[0]> : tensor<1xi1>
  // expected-error @+1 {{runtime error: the decision trees refer to what is not there}}
  %y = corert.executeop(%cpu) "onnx.DecisionTrees"(%x, %thresholds, %zero, %modes, %children, %missing, %zero, %zero, %thresholds) { aggregate = "SUM", n_targets = 1 : i64 } : 1
  // CHECK: 'circle' returned <<error: the decision trees refer to what is not there
  tfrt.return %y : !corert.tensorhandle
}

// CHECK-LABEL: --- Running 'pairs'
func @pairs() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[0.5, 0.5, 0.5]]> : tensor<1x3xf32>
  %y = corert.executeop(%cpu) "onnx.CouplePairs"(%x) { class_count = 3 : i64 } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 3], values = [3.333333e-01, 3.333333e-01, 3.333333e-01]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'narrow'
func @narrow() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[1.06, -500.0, 9.0]> : tensor<3xf32>
  %y = corert.executeop(%cpu) "onnx.Narrow"(%x) { type = "float8e4m3fn" } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [3], values = [1.000000e+00, -4.480000e+02, 9.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %z = corert.executeop(%cpu) "onnx.Narrow"(%x) { type = "int4" } : 1
  // CHECK: DenseHostTensor dtype = I8, shape = [3], values = [1, -4, -7]
  %ch2 = "corert.print_tensorhandle"(%z, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sequences'
func @sequences() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.const_dense_tensor dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %sizes = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi64>
  %data, %shapes = corert.executeop(%cpu) "onnx.SplitToSequence"(%x, %sizes) { axis = 1 : i64 } : 2
  // CHECK: DenseHostTensor dtype = I32, shape = [6], values = [1, 4, 2, 3, 5, 6]
  %ch1 = "corert.print_tensorhandle"(%data, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 2], values = [2, 1, 2, 2]
  %ch2 = "corert.print_tensorhandle"(%shapes, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %first = corert.const_dense_tensor dense<0> : tensor<i64>
  %data2, %shapes2 = corert.executeop(%cpu) "onnx.SequenceInsert"(%data, %shapes, %x, %first) : 2
  %joined = corert.executeop(%cpu) "onnx.ConcatFromSequence"(%data2, %shapes2) { axis = -1 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 6], values = [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]
  %ch3 = "corert.print_tensorhandle"(%joined, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %data3, %shapes3 = corert.executeop(%cpu) "onnx.SequenceErase"(%data2, %shapes2, %first) : 2
  %last = corert.const_dense_tensor dense<-1> : tensor<i64>
  %at = corert.executeop(%cpu) "onnx.SequenceAt"(%data3, %shapes3, %last) : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2, 2], values = [2, 3, 5, 6]
  %ch4 = "corert.print_tensorhandle"(%at, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}
