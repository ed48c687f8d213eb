// TensorFlow's ops on images, on a device: both layouts, each kind of padding.
//
// RUN: bef_executor --device=cpu --test_init_function=register $(bef_name %s) 2>&1 | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %zero = tfrt.constant.i32 0
  %gpu = "corert.create_gpu_op_handler"(%zero, %null) : (i32, !corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %gpu "gpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'convolutions'
func @convolutions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, -2.0], [3.0, 0.0], [0.0, 1.0], [-2.0, 3.0], [-3.0, -2.0]], [[3.0, -1.0], [-1.0, -3.0], [3.0, 1.0], [-3.0, 1.0], [-3.0, 0.0]], [[-1.0, 3.0], [0.0, 1.0], [1.0, 2.0], [-3.0, -3.0], [2.0, -3.0]], [[0.0, 2.0], [-3.0, -1.0], [-3.0, -2.0], [3.0, 3.0], [1.0, 3.0]]]]> : tensor<1x4x5x2xf32> } : 1
  %y = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, 3.0, 0.0, -2.0, -3.0], [3.0, -1.0, 3.0, -3.0, -3.0], [-1.0, 0.0, 1.0, -3.0, 2.0], [0.0, -3.0, -3.0, 3.0, 1.0]], [[-2.0, 0.0, 1.0, 3.0, -2.0], [-1.0, -3.0, 1.0, 1.0, 0.0], [3.0, 1.0, 2.0, -3.0, -3.0], [2.0, -1.0, -2.0, 3.0, 3.0]]]]> : tensor<1x2x4x5xf32> } : 1
  %w = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[-2.0, 0.0], [0.0, -3.0]], [[0.0, -3.0], [-2.0, -3.0]], [[-3.0, 3.0], [2.0, 1.0]]], [[[1.0, 1.0], [-1.0, -2.0]], [[0.0, -3.0], [2.0, 1.0]], [[-3.0, 2.0], [1.0, 0.0]]]]> : tensor<2x3x2x2xf32> } : 1
  %a = corert.executeop(%gpu) "tf.Conv2D"(%x, %w) { padding = "SAME", strides = [1, 2, 2, 1] } : 1
  %b = corert.executeop(%gpu) "tf.Conv2D"(%y, %w) { padding = "SAME", strides = [1, 1, 2, 2], data_format = "NCHW" } : 1
  %c = corert.executeop(%gpu) "tf.Conv2D"(%x, %w) { padding = "EXPLICIT", strides = [1, 1, 2, 1], explicit_paddings = [0, 0, 1, 0, 0, 2, 0, 0] } : 1
  %d = corert.executeop(%gpu) "tf.Conv2D"(%y, %w) { padding = "EXPLICIT", strides = [1, 1, 1, 2], explicit_paddings = [0, 0, 0, 0, 1, 0, 0, 2], data_format = "NCHW" } : 1
  %e = corert.executeop(%gpu) "tf.Conv2D"(%x, %w) { padding = "VALID", strides = [1, 1, 1, 1], dilations = [1, 2, 1, 1] } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [-7, 0, 18, -15, 4, 10, 8, -9, -13, -12, 18, 9]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [-7, 18, 4, 8, -13, 18, 0, -15, 10, -9, -12, 9]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 4, 3, 2], values = [4, -4, 12, 1, -1, 1, -10, 9, 12, -12, 3, 3, -10, 21, -15, 1, 11, 8, 4, -9, -3, 12, -6, 4]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%d) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 4, 3], values = [4, 12, -1, -10, 12, 3, -10, -15, 11, 4, -3, -6, -4, 1, 1, 9, -12, 3, 21, 1, 8, -9, 12, 4]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  %h4 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%e) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [-3, -6, 13, -15, -17, -10, -4, 23, -1, 1, 6, -9]
  %p4 = corert.executeop.seq(%gpu, %p3) "tfrt_test.print"(%h4) : 0
  tfrt.return %p4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fused_convolutions'
func @fused_convolutions() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, -2.0], [3.0, 0.0]], [[3.0, -1.0], [-1.0, -3.0]]]]> : tensor<1x2x2x2xf32> } : 1
  %y = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, 3.0], [3.0, -1.0]], [[-2.0, 0.0], [-1.0, -3.0]]]]> : tensor<1x2x2x2xf32> } : 1
  %w = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, 2.0, -1.0], [0.0, -3.0, 2.0]]]]> : tensor<1x1x2x3xf32> } : 1
  %bias = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[0.5, -1.0, 2.0]> : tensor<3xf32> } : 1
  %a = corert.executeop(%gpu) "tf._FusedConv2D"(%x, %w, %bias) { fused_ops = ["BiasAdd"], padding = "VALID", strides = [1, 1, 1, 1] } : 1
  %b = corert.executeop(%gpu) "tf._FusedConv2D"(%x, %w, %bias) { fused_ops = ["BiasAdd", "Relu"], padding = "VALID", strides = [1, 1, 1, 1] } : 1
  %c = corert.executeop(%gpu) "tf._FusedConv2D"(%y, %w, %bias) { fused_ops = ["BiasAdd", "Relu6"], padding = "VALID", strides = [1, 1, 1, 1], data_format = "NCHW" } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [1.5, 7, -3, 3.5, 5, -1, 3.5, 8, -3, -0.5, 6, -3]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [1.5, 7, 0, 3.5, 5, 0, 3.5, 8, 0, 0, 6, 0]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 3, 2, 2], values = [1.5, 3.5, 3.5, 0, 6, 5, 6, 6, 0, 0, 0, 0]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %d = corert.executeop(%gpu) "tf._FusedConv2D"(%x, %w, %bias) { fused_ops = ["BiasAdd", "LeakyRelu"], leakyrelu_alpha = 0.5 : f32, padding = "VALID", strides = [1, 1, 1, 1] } : 1
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%d) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [1.5, 7, -1.5, 3.5, 5, -0.5, 3.5, 8, -1.5, -0.25, 6, -1.5]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  %scale = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[2.0, 1.0, 1.0]> : tensor<3xf32> } : 1
  %offset = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[0.0, 1.0, 0.0]> : tensor<3xf32> } : 1
  %mean = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[1.0, 0.0, 0.0]> : tensor<3xf32> } : 1
  %variance = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[4.0, 1.0, 1.0]> : tensor<3xf32> } : 1
  %e = corert.executeop(%gpu) "tf._FusedConv2D"(%x, %w, %scale, %offset, %mean, %variance) { fused_ops = ["FusedBatchNorm", "Relu"], epsilon = 0.0 : f32, padding = "VALID", strides = [1, 1, 1, 1] } : 1
  %h4 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%e) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [0, 9, 0, 2, 7, 0, 2, 10, 0, 0, 8, 0]
  %p4 = corert.executeop.seq(%gpu, %p3) "tfrt_test.print"(%h4) : 0
  tfrt.return %p4 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'pools'
func @pools() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, -2.0], [3.0, 0.0], [0.0, 1.0], [-2.0, 3.0], [-3.0, -2.0]], [[3.0, -1.0], [-1.0, -3.0], [3.0, 1.0], [-3.0, 1.0], [-3.0, 0.0]], [[-1.0, 3.0], [0.0, 1.0], [1.0, 2.0], [-3.0, -3.0], [2.0, -3.0]], [[0.0, 2.0], [-3.0, -1.0], [-3.0, -2.0], [3.0, 3.0], [1.0, 3.0]]]]> : tensor<1x4x5x2xf32> } : 1
  %y = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[1.0, 3.0, 0.0, -2.0, -3.0], [3.0, -1.0, 3.0, -3.0, -3.0], [-1.0, 0.0, 1.0, -3.0, 2.0], [0.0, -3.0, -3.0, 3.0, 1.0]], [[-2.0, 0.0, 1.0, 3.0, -2.0], [-1.0, -3.0, 1.0, 1.0, 0.0], [3.0, 1.0, 2.0, -3.0, -3.0], [2.0, -1.0, -2.0, 3.0, 3.0]]]]> : tensor<1x2x4x5xf32> } : 1
  %a = corert.executeop(%gpu) "tf.MaxPool"(%x) { ksize = [1, 2, 3, 1], padding = "SAME", strides = [1, 2, 2, 1] } : 1
  %b = corert.executeop(%gpu) "tf.MaxPool"(%y) { ksize = [1, 1, 2, 3], padding = "SAME", strides = [1, 1, 2, 2], data_format = "NCHW" } : 1
  %c = corert.executeop(%gpu) "tf.AvgPool"(%x) { ksize = [1, 2, 2, 1], padding = "SAME", strides = [1, 2, 2, 1] } : 1
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [3, 0, 3, 3, -2, 3, 0, 3, 3, 3, 3, 3]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 2, 3], values = [3, 3, -2, 0, 3, 3, 0, 3, 3, 3, 3, 3]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 3, 2], values = [1.5, -1.5, -0.5, 1.5, -3, -1, -1, 1.25, -0.5, 0, 1.5, 0]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  tfrt.return %p2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'normalized'
func @normalized() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[-2.0, 0.0], [0.0, 0.0]]]]> : tensor<1x1x2x2xf32> } : 1
  %y = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[-2.0, 0.0]], [[0.0, 0.0]]]]> : tensor<1x2x1x2xf32> } : 1
  %scale = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[2.0, 1.0]> : tensor<2xf32> } : 1
  %offset = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[1.0, -1.0]> : tensor<2xf32> } : 1
  %mean = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[1.0, 0.0]> : tensor<2xf32> } : 1
  %variance = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[3.0, 0.0]> : tensor<2xf32> } : 1
  %side = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[0.0, 5.0], [-9.0, 1.0]]]]> : tensor<1x1x2x2xf32> } : 1
  %a:6 = corert.executeop(%gpu) "tf.FusedBatchNormV3"(%x, %scale, %offset, %mean, %variance) { epsilon = 1.0 : f32, is_training = false } : 6
  %b:6 = corert.executeop(%gpu) "tf.FusedBatchNormV3"(%y, %scale, %offset, %mean, %variance) { epsilon = 1.0 : f32, is_training = false, data_format = "NCHW" } : 6
  %c:6 = corert.executeop(%gpu) "tf._FusedBatchNormEx"(%x, %scale, %offset, %mean, %variance, %side) { epsilon = 1.0 : f32, activation_mode = "Relu" } : 6
  %h0 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a#0) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [-2, -1, 0, -1]
  %p0 = corert.executeop.seq(%gpu, %ch0) "tfrt_test.print"(%h0) : 0
  %h1 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%a#2) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [2], values = [3, 0]
  %p1 = corert.executeop.seq(%gpu, %p0) "tfrt_test.print"(%h1) : 0
  %h2 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%b#0) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 2, 1, 2], values = [-2, 0, -1, -1]
  %p2 = corert.executeop.seq(%gpu, %p1) "tfrt_test.print"(%h2) : 0
  %h3 = corert.executeop(%gpu) "tfrt_test.gpu_tensor_to_host_tensor"(%c#0) : 1
  // CHECK-NEXT: DenseHostTensor dtype = F32, shape = [1, 1, 2, 2], values = [0, 4, 0, 0]
  %p3 = corert.executeop.seq(%gpu, %p2) "tfrt_test.print"(%h3) : 0
  tfrt.return %p3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'refused'
func @refused() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %gpu = corert.get_op_handler %ch0 "gpu"
  %x = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<[[[[-2.0, 0.0], [0.0, 0.0]]]]> : tensor<1x1x2x2xf32> } : 1
  %c = corert.executeop(%gpu) "tf.Const"() { dtype = f32, value = dense<2.0> : tensor<1xf32> } : 1
  // expected-error @+1 {{scale must have the same number of elements as the channels of x, got [1] and 2}}
  %a:6 = corert.executeop(%gpu) "tf.FusedBatchNormV3"(%x, %c, %c, %c, %c) { epsilon = 1.0 : f32 } : 6
  // expected-error @+1 {{'NHCW' is no data_format: NHWC and NCHW are}}
  %b = corert.executeop(%gpu) "tf.MaxPool"(%x) { ksize = [1, 1, 1, 1], padding = "SAME", strides = [1, 1, 1, 1], data_format = "NHCW" } : 1
  // CHECK-NEXT: 'refused' returned !tfrt.chain value
  tfrt.return %ch0 : !tfrt.chain
}
