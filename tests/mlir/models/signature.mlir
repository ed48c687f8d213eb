// RUN: bef_executor $(bef_name %s) | FileCheck %s

// What a compiled model says of itself.
// CHECK-LABEL: --- Running 'signature'
func @signature() -> !tfrt_model.signature {
  // CHECK: 'signature' returned
  %s = "tfrt_model.signature"() { input_names = ["x"], input_types = ["?x3xf32"], output_names = ["y"], output_types = ["?xi64"] } : () -> !tfrt_model.signature
  tfrt.return %s : !tfrt_model.signature
}

// A program without its weights says so.
// CHECK-LABEL: --- Running 'missing_weight'
func @missing_weight() -> !t.tensor {
  // CHECK: 'missing_weight' returned <<error: the program was compiled from a model, and its weights are not loaded: they are in the .safetensors file that was written with it>>
  // expected-error @+1 {{runtime error: the program was compiled from a model, and its weights are not loaded}}
  %w = "tfrt_model.weight"() { name = "w" } : () -> !t.tensor
  tfrt.return %w : !t.tensor
}

// CHECK-LABEL: --- Running 'default_handler'
func @default_handler() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %handler = "corert.create_default_op_handler"() : () -> !corert.ophandler
  %x = corert.const_dense_tensor dense<[-1.0, 2.0]> : tensor<2xf32>
  %y = corert.executeop(%handler) "tf.Relu"(%x) : 1
  // CHECK: values = [0.000000e+00, 2.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// A branch that could not be compiled fails when it is taken.
// CHECK-LABEL: --- Running 'failing_branch'
func @failing_branch() -> !corert.tensorhandle {
  %handler = "corert.create_default_op_handler"() : () -> !corert.ophandler
  // CHECK: 'failing_branch' returned <<error: the else branch cannot be imported>>
  // expected-error @+1 {{runtime error: the else branch cannot be imported}}
  %y = corert.executeop(%handler) "tfrt.Fail"() { message = "the else branch cannot be imported" } : 1
  tfrt.return %y : !corert.tensorhandle
}

// The plan for a batch of images.
// CHECK-LABEL: --- Running 'batch_number'
func @batch_number() -> i32 {
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [4 : i64, 3 : i64]
  // CHECK: 'batch_number' returned 1
  %number = "tfrt_model.batch_number"(%x) { name = "x", sizes = [1, 4] } : (!t.tensor) -> i32
  tfrt.return %number : i32
}

// CHECK-LABEL: --- Running 'no_batch'
func @no_batch() -> i32 {
  %x = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  // CHECK: 'x' has the shape [2, 3], but the program was compiled for batches of 1, 4
  // expected-error @+1 {{runtime error: 'x' has the shape [2, 3], but the program was compiled for batches of 1, 4}}
  %number = "tfrt_model.batch_number"(%x) { name = "x", sizes = [1, 4] } : (!t.tensor) -> i32
  tfrt.return %number : i32
}
