// RUN: tfrt_opt --scalar-loops %s | FileCheck %s

// A loop that computes with scalars alone is a list of instructions: here x * n while n counts down. A loop that carries a
// vector stays.

// CHECK-LABEL: func @main
// CHECK-NEXT: %[[LOOP:[0-9]+]]:2 = "tfrt.ScalarLoop"(%arg0, %arg1) {body = [{{.*}}], condition = [{{.*}}], constants = [{{.*}}], decides = 3 : i64, next = [5, 6], registers = 7 : i64}
// CHECK-NEXT: tfrt.return %[[LOOP]]#1
func @main(%n: tensor<i32>, %x: tensor<i32>) -> tensor<i32> {
  %r:2 = "tf.While"(%n, %x) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  tfrt.return %r#1 : tensor<i32>
}
func @cond(%n: tensor<i32>, %x: tensor<i32>) -> tensor<i1> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %c = "tf.Greater"(%n, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %c : tensor<i1>
}
func @body(%n: tensor<i32>, %x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %m = "tf.Sub"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.Mul"(%x, %n) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %m, %y : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: func @vectors
// CHECK-NEXT: "tf.While"
func @vectors(%n: tensor<i32>, %x: tensor<2xi32>) -> tensor<2xi32> {
  %r:2 = "tf.While"(%n, %x) {cond = @of_vectors, body = @step} : (tensor<i32>, tensor<2xi32>) -> (tensor<i32>, tensor<2xi32>)
  tfrt.return %r#1 : tensor<2xi32>
}
func @of_vectors(%n: tensor<i32>, %x: tensor<2xi32>) -> tensor<i1> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %c = "tf.Greater"(%n, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %c : tensor<i1>
}
func @step(%n: tensor<i32>, %x: tensor<2xi32>) -> (tensor<i32>, tensor<2xi32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %m = "tf.Sub"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.Neg"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  tfrt.return %m, %y : tensor<i32>, tensor<2xi32>
}
