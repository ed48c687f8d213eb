// Lists of tensors: filled by place and at the end, read, and what they refuse.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'reserved'
func @reserved() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %unknown = corert.const_dense_tensor dense<-1> : tensor<i32>
  %three = corert.const_dense_tensor dense<3> : tensor<i32>
  %one = corert.const_dense_tensor dense<1> : tensor<i32>
  %x = corert.const_dense_tensor dense<[1.0, 2.0]> : tensor<2xf32>
  %list = corert.executeop(%cpu) "tf.TensorListReserve"(%unknown, %three) { element_dtype = f32 } : 1
  %set = corert.executeop(%cpu) "tf.TensorListSetItem"(%list, %one, %x) : 1
  %length = corert.executeop(%cpu) "tf.TensorListLength"(%set) : 1
  // CHECK: dtype = I32, shape = [], values = [3]
  %ch1 = "corert.print_tensorhandle"(%length, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %item = corert.executeop(%cpu) "tf.TensorListGetItem"(%set, %one, %unknown) { element_dtype = f32 } : 1
  // CHECK: dtype = F32, shape = [2], values = [1.000000e+00, 2.000000e+00]
  %ch2 = "corert.print_tensorhandle"(%item, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %all = corert.executeop(%cpu) "tf.TensorListStack"(%set, %unknown) { element_dtype = f32, num_elements = 3 : i64 } : 1
  // CHECK: shape = [3, 2], values = [0.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00]
  %ch3 = "corert.print_tensorhandle"(%all, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %again = corert.executeop(%cpu) "tf.TensorListFromTensor"(%all, %unknown) : 1
  %larger = corert.executeop(%cpu) "tf.TensorListResize"(%again, %one) : 1
  // CHECK: shape = [1, 2], values = [0.000000e+00, 0.000000e+00]
  %ch4 = "corert.print_tensorhandle"(%larger, %ch3) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pushed'
func @pushed() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %unknown = corert.const_dense_tensor dense<-1> : tensor<i32>
  %places = corert.const_dense_tensor dense<[1, 0, 1]> : tensor<3xi32>
  %x = corert.const_dense_tensor dense<[1, 2]> : tensor<2xi32>
  %y = corert.const_dense_tensor dense<[3, 4]> : tensor<2xi32>
  %list0 = corert.executeop(%cpu) "tf.EmptyTensorList"(%unknown, %unknown) { element_dtype = i32 } : 1
  %list1 = corert.executeop(%cpu) "tf.TensorListPushBack"(%list0, %x) : 1
  %list2 = corert.executeop(%cpu) "tf.TensorListPushBack"(%list1, %y) : 1
  %chosen = corert.executeop(%cpu) "tf.TensorListGather"(%list2, %places, %unknown) { element_dtype = i32 } : 1
  // CHECK: shape = [3, 2], values = [3, 4, 1, 2, 3, 4]
  %ch1 = "corert.print_tensorhandle"(%chosen, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %rest:2 = corert.executeop(%cpu) "tf.TensorListPopBack"(%list2, %unknown) { element_dtype = i32 } : 2
  // CHECK: shape = [1, 2], values = [1, 2]
  %ch2 = "corert.print_tensorhandle"(%rest#0, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: shape = [2], values = [3, 4]
  %ch3 = "corert.print_tensorhandle"(%rest#1, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'wrong_element'
func @wrong_element() -> !corert.tensorhandle {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %list = corert.const_dense_tensor dense<[[1, 2]]> : tensor<1x2xi32>
  %x = corert.const_dense_tensor dense<[1, 2, 3]> : tensor<3xi32>
  // expected-error @+1 {{the list has elements of shape [2], its new element has shape [3]}}
  %y = corert.executeop(%cpu) "tf.TensorListPushBack"(%list, %x) : 1
  tfrt.return %y : !corert.tensorhandle
}
