// ResNet-50 (torchvision's) for images of 224 x 224 pixels in f32, on a device.
// Written by `tfrt resnet50 program`.

// Prints the likeliest classes of an image.
func @main(%image: !t.tensor) -> !tfrt.chain {
  %images = "tfrt_image.prepare.f32"(%image) { bgr = false, crop = 224 : i64, deviation = [58.395 : f32, 57.12 : f32, 57.375 : f32], mean = [123.675 : f32, 116.28 : f32, 103.53 : f32], side = 256 : i64 } : (!t.tensor) -> !t.tensor
  %context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready = tfrt.call @setup() : () -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain)
  %scores, %ch0 = tfrt.call @infer(%context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready, %images) : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain, !t.tensor) -> (!t.tensor, !tfrt.chain)
  %ch1 = "tfrt_resnet50.report"(%scores, %ch0) { count = 5 : i64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Weights, and what else is made once.
func @setup() -> (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain) {
  %start = tfrt.new.chain
  %o1 = tfrt_cuda.init %start
  %first = tfrt.constant.i32 0
  %device, %o2 = tfrt_cuda.device.get %first, %o1
  %context, %o3 = tfrt_cuda.context.primary %device, %o2
  %allocator, %o4 = tfrt_cuda.allocator.create %context, %o3
  %stream, %o5 = tfrt_cuda.stream.create %context, %o4
  %blas = tfrt_cuda.blas.create %context
  %o6 = tfrt_cuda.blas.set_stream %blas, %stream, %o5
  %dnn, %o7 = tfrt_cuda.dnn.create %context, %o6
  %o8 = tfrt_cuda.dnn.set_stream %dnn, %stream, %o7
  %relu_mode = tfrt.constant.ui32 1
  %identity_mode = tfrt.constant.ui32 5
  %keep_nan = tfrt.constant.ui32 1
  %unused = tfrt.constant.f64 0.0
  %relu, %o9 = tfrt_cuda.dnn.create_activation_descriptor %context, %relu_mode, %keep_nan, %unused, %o8
  %identity, %o10 = tfrt_cuda.dnn.create_activation_descriptor %context, %identity_mode, %keep_nan, %unused, %o9
  %add_bias, %c0 = tfrt_cuda.function.builtin %context, %o10 "bias_activation_f32"
  %float = tfrt.constant.ui32 0
  %half = tfrt.constant.ui32 2
  %one_group = tfrt.constant.i32 1
  %correlation = tfrt.constant.ui32 1
  %any = tfrt.constant.i32 -1
  %max = tfrt.constant.ui32 0
  %average = tfrt.constant.ui32 1
  %t1x224x224x3_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c1 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x224x224x3_dims, %c0 [1 : i32, 3 : i32, 224 : i32, 224 : i32]
  %t1x224x224x3_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c2 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x224x224x3_strides, %c1 [150528 : i32, 1 : i32, 672 : i32, 3 : i32]
  %t1x224x224x3, %c3 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x224x224x3_dims, %t1x224x224x3_strides, %c2
  %t1x112x112x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c4 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x112x112x64_dims, %c3 [1 : i32, 64 : i32, 112 : i32, 112 : i32]
  %t1x112x112x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c5 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x112x112x64_strides, %c4 [802816 : i32, 1 : i32, 7168 : i32, 64 : i32]
  %t1x112x112x64, %c6 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x112x112x64_dims, %t1x112x112x64_strides, %c5
  %t64x7x7x3_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c7 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x7x7x3_dims, %c6 [64 : i32, 3 : i32, 7 : i32, 7 : i32]
  %t64x7x7x3_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c8 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x7x7x3_strides, %c7 [147 : i32, 1 : i32, 21 : i32, 3 : i32]
  %t64x7x7x3, %c9 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t64x7x7x3_dims, %t64x7x7x3_strides, %c8
  %t1x1x1x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c10 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x64_dims, %c9 [1 : i32, 64 : i32, 1 : i32, 1 : i32]
  %t1x1x1x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c11 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x64_strides, %c10 [64 : i32, 1 : i32, 64 : i32, 64 : i32]
  %t1x1x1x64, %c12 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x64_dims, %t1x1x1x64_strides, %c11
  %conv7s2_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c13 = tfrt_dht.set_tensor_with_constant_values.i32 %conv7s2_padding, %c12 [3 : i32, 3 : i32]
  %conv7s2_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c14 = tfrt_dht.set_tensor_with_constant_values.i32 %conv7s2_strides, %c13 [2 : i32, 2 : i32]
  %conv7s2_dilations = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c15 = tfrt_dht.set_tensor_with_constant_values.i32 %conv7s2_dilations, %c14 [1 : i32, 1 : i32]
  %conv7s2, %c16 = tfrt_cuda.dnn.create_convolution_descriptor %context, %conv7s2_padding, %conv7s2_strides, %conv7s2_dilations, %one_group, %correlation, %float, %any, %c15
  %t1x56x56x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c17 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x64_dims, %c16 [1 : i32, 64 : i32, 56 : i32, 56 : i32]
  %t1x56x56x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c18 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x64_strides, %c17 [200704 : i32, 1 : i32, 3584 : i32, 64 : i32]
  %t1x56x56x64, %c19 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x56x56x64_dims, %t1x56x56x64_strides, %c18
  %max_pool_window = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c20 = tfrt_dht.set_tensor_with_constant_values.i32 %max_pool_window, %c19 [3 : i32, 3 : i32]
  %max_pool_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c21 = tfrt_dht.set_tensor_with_constant_values.i32 %max_pool_padding, %c20 [1 : i32, 1 : i32]
  %max_pool_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c22 = tfrt_dht.set_tensor_with_constant_values.i32 %max_pool_strides, %c21 [2 : i32, 2 : i32]
  %max_pool, %c23 = tfrt_cuda.dnn.create_pooling_descriptor %context, %max, %keep_nan, %max_pool_window, %max_pool_padding, %max_pool_strides, %c22
  %t1x56x56x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c24 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x256_dims, %c23 [1 : i32, 256 : i32, 56 : i32, 56 : i32]
  %t1x56x56x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c25 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x256_strides, %c24 [802816 : i32, 1 : i32, 14336 : i32, 256 : i32]
  %t1x56x56x256, %c26 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x56x56x256_dims, %t1x56x56x256_strides, %c25
  %t256x1x1x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c27 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x64_dims, %c26 [256 : i32, 64 : i32, 1 : i32, 1 : i32]
  %t256x1x1x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c28 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x64_strides, %c27 [64 : i32, 1 : i32, 64 : i32, 64 : i32]
  %t256x1x1x64, %c29 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t256x1x1x64_dims, %t256x1x1x64_strides, %c28
  %t1x1x1x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c30 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x256_dims, %c29 [1 : i32, 256 : i32, 1 : i32, 1 : i32]
  %t1x1x1x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c31 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x256_strides, %c30 [256 : i32, 1 : i32, 256 : i32, 256 : i32]
  %t1x1x1x256, %c32 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x256_dims, %t1x1x1x256_strides, %c31
  %conv1s1_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c33 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s1_padding, %c32 [0 : i32, 0 : i32]
  %conv1s1_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c34 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s1_strides, %c33 [1 : i32, 1 : i32]
  %conv1s1_dilations = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c35 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s1_dilations, %c34 [1 : i32, 1 : i32]
  %conv1s1, %c36 = tfrt_cuda.dnn.create_convolution_descriptor %context, %conv1s1_padding, %conv1s1_strides, %conv1s1_dilations, %one_group, %correlation, %float, %any, %c35
  %t64x1x1x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c37 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x1x1x64_dims, %c36 [64 : i32, 64 : i32, 1 : i32, 1 : i32]
  %t64x1x1x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c38 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x1x1x64_strides, %c37 [64 : i32, 1 : i32, 64 : i32, 64 : i32]
  %t64x1x1x64, %c39 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t64x1x1x64_dims, %t64x1x1x64_strides, %c38
  %t64x3x3x64_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c40 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x3x3x64_dims, %c39 [64 : i32, 64 : i32, 3 : i32, 3 : i32]
  %t64x3x3x64_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c41 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x3x3x64_strides, %c40 [576 : i32, 1 : i32, 192 : i32, 64 : i32]
  %t64x3x3x64, %c42 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t64x3x3x64_dims, %t64x3x3x64_strides, %c41
  %conv3s1_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c43 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s1_padding, %c42 [1 : i32, 1 : i32]
  %conv3s1_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c44 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s1_strides, %c43 [1 : i32, 1 : i32]
  %conv3s1_dilations = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c45 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s1_dilations, %c44 [1 : i32, 1 : i32]
  %conv3s1, %c46 = tfrt_cuda.dnn.create_convolution_descriptor %context, %conv3s1_padding, %conv3s1_strides, %conv3s1_dilations, %one_group, %correlation, %float, %any, %c45
  %t64x1x1x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c47 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x1x1x256_dims, %c46 [64 : i32, 256 : i32, 1 : i32, 1 : i32]
  %t64x1x1x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c48 = tfrt_dht.set_tensor_with_constant_values.i32 %t64x1x1x256_strides, %c47 [256 : i32, 1 : i32, 256 : i32, 256 : i32]
  %t64x1x1x256, %c49 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t64x1x1x256_dims, %t64x1x1x256_strides, %c48
  %t1x28x28x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c50 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x512_dims, %c49 [1 : i32, 512 : i32, 28 : i32, 28 : i32]
  %t1x28x28x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c51 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x512_strides, %c50 [401408 : i32, 1 : i32, 14336 : i32, 512 : i32]
  %t1x28x28x512, %c52 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x28x28x512_dims, %t1x28x28x512_strides, %c51
  %t512x1x1x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c53 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x256_dims, %c52 [512 : i32, 256 : i32, 1 : i32, 1 : i32]
  %t512x1x1x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c54 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x256_strides, %c53 [256 : i32, 1 : i32, 256 : i32, 256 : i32]
  %t512x1x1x256, %c55 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t512x1x1x256_dims, %t512x1x1x256_strides, %c54
  %t1x1x1x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c56 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x512_dims, %c55 [1 : i32, 512 : i32, 1 : i32, 1 : i32]
  %t1x1x1x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c57 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x512_strides, %c56 [512 : i32, 1 : i32, 512 : i32, 512 : i32]
  %t1x1x1x512, %c58 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x512_dims, %t1x1x1x512_strides, %c57
  %conv1s2_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c59 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s2_padding, %c58 [0 : i32, 0 : i32]
  %conv1s2_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c60 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s2_strides, %c59 [2 : i32, 2 : i32]
  %conv1s2_dilations = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c61 = tfrt_dht.set_tensor_with_constant_values.i32 %conv1s2_dilations, %c60 [1 : i32, 1 : i32]
  %conv1s2, %c62 = tfrt_cuda.dnn.create_convolution_descriptor %context, %conv1s2_padding, %conv1s2_strides, %conv1s2_dilations, %one_group, %correlation, %float, %any, %c61
  %t1x56x56x128_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c63 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x128_dims, %c62 [1 : i32, 128 : i32, 56 : i32, 56 : i32]
  %t1x56x56x128_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c64 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x56x56x128_strides, %c63 [401408 : i32, 1 : i32, 7168 : i32, 128 : i32]
  %t1x56x56x128, %c65 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x56x56x128_dims, %t1x56x56x128_strides, %c64
  %t128x1x1x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c66 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x1x1x256_dims, %c65 [128 : i32, 256 : i32, 1 : i32, 1 : i32]
  %t128x1x1x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c67 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x1x1x256_strides, %c66 [256 : i32, 1 : i32, 256 : i32, 256 : i32]
  %t128x1x1x256, %c68 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t128x1x1x256_dims, %t128x1x1x256_strides, %c67
  %t1x1x1x128_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c69 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x128_dims, %c68 [1 : i32, 128 : i32, 1 : i32, 1 : i32]
  %t1x1x1x128_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c70 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x128_strides, %c69 [128 : i32, 1 : i32, 128 : i32, 128 : i32]
  %t1x1x1x128, %c71 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x128_dims, %t1x1x1x128_strides, %c70
  %t1x28x28x128_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c72 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x128_dims, %c71 [1 : i32, 128 : i32, 28 : i32, 28 : i32]
  %t1x28x28x128_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c73 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x128_strides, %c72 [100352 : i32, 1 : i32, 3584 : i32, 128 : i32]
  %t1x28x28x128, %c74 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x28x28x128_dims, %t1x28x28x128_strides, %c73
  %t128x3x3x128_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c75 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x3x3x128_dims, %c74 [128 : i32, 128 : i32, 3 : i32, 3 : i32]
  %t128x3x3x128_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c76 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x3x3x128_strides, %c75 [1152 : i32, 1 : i32, 384 : i32, 128 : i32]
  %t128x3x3x128, %c77 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t128x3x3x128_dims, %t128x3x3x128_strides, %c76
  %conv3s2_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c78 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s2_padding, %c77 [1 : i32, 1 : i32]
  %conv3s2_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c79 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s2_strides, %c78 [2 : i32, 2 : i32]
  %conv3s2_dilations = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c80 = tfrt_dht.set_tensor_with_constant_values.i32 %conv3s2_dilations, %c79 [1 : i32, 1 : i32]
  %conv3s2, %c81 = tfrt_cuda.dnn.create_convolution_descriptor %context, %conv3s2_padding, %conv3s2_strides, %conv3s2_dilations, %one_group, %correlation, %float, %any, %c80
  %t512x1x1x128_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c82 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x128_dims, %c81 [512 : i32, 128 : i32, 1 : i32, 1 : i32]
  %t512x1x1x128_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c83 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x128_strides, %c82 [128 : i32, 1 : i32, 128 : i32, 128 : i32]
  %t512x1x1x128, %c84 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t512x1x1x128_dims, %t512x1x1x128_strides, %c83
  %t128x1x1x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c85 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x1x1x512_dims, %c84 [128 : i32, 512 : i32, 1 : i32, 1 : i32]
  %t128x1x1x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c86 = tfrt_dht.set_tensor_with_constant_values.i32 %t128x1x1x512_strides, %c85 [512 : i32, 1 : i32, 512 : i32, 512 : i32]
  %t128x1x1x512, %c87 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t128x1x1x512_dims, %t128x1x1x512_strides, %c86
  %t1x14x14x1024_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c88 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x1024_dims, %c87 [1 : i32, 1024 : i32, 14 : i32, 14 : i32]
  %t1x14x14x1024_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c89 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x1024_strides, %c88 [200704 : i32, 1 : i32, 14336 : i32, 1024 : i32]
  %t1x14x14x1024, %c90 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x14x14x1024_dims, %t1x14x14x1024_strides, %c89
  %t1024x1x1x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c91 = tfrt_dht.set_tensor_with_constant_values.i32 %t1024x1x1x512_dims, %c90 [1024 : i32, 512 : i32, 1 : i32, 1 : i32]
  %t1024x1x1x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c92 = tfrt_dht.set_tensor_with_constant_values.i32 %t1024x1x1x512_strides, %c91 [512 : i32, 1 : i32, 512 : i32, 512 : i32]
  %t1024x1x1x512, %c93 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1024x1x1x512_dims, %t1024x1x1x512_strides, %c92
  %t1x1x1x1024_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c94 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x1024_dims, %c93 [1 : i32, 1024 : i32, 1 : i32, 1 : i32]
  %t1x1x1x1024_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c95 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x1024_strides, %c94 [1024 : i32, 1 : i32, 1024 : i32, 1024 : i32]
  %t1x1x1x1024, %c96 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x1024_dims, %t1x1x1x1024_strides, %c95
  %t1x28x28x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c97 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x256_dims, %c96 [1 : i32, 256 : i32, 28 : i32, 28 : i32]
  %t1x28x28x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c98 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x28x28x256_strides, %c97 [200704 : i32, 1 : i32, 7168 : i32, 256 : i32]
  %t1x28x28x256, %c99 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x28x28x256_dims, %t1x28x28x256_strides, %c98
  %t256x1x1x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c100 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x512_dims, %c99 [256 : i32, 512 : i32, 1 : i32, 1 : i32]
  %t256x1x1x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c101 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x512_strides, %c100 [512 : i32, 1 : i32, 512 : i32, 512 : i32]
  %t256x1x1x512, %c102 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t256x1x1x512_dims, %t256x1x1x512_strides, %c101
  %t1x14x14x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c103 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x256_dims, %c102 [1 : i32, 256 : i32, 14 : i32, 14 : i32]
  %t1x14x14x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c104 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x256_strides, %c103 [50176 : i32, 1 : i32, 3584 : i32, 256 : i32]
  %t1x14x14x256, %c105 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x14x14x256_dims, %t1x14x14x256_strides, %c104
  %t256x3x3x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c106 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x3x3x256_dims, %c105 [256 : i32, 256 : i32, 3 : i32, 3 : i32]
  %t256x3x3x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c107 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x3x3x256_strides, %c106 [2304 : i32, 1 : i32, 768 : i32, 256 : i32]
  %t256x3x3x256, %c108 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t256x3x3x256_dims, %t256x3x3x256_strides, %c107
  %t1024x1x1x256_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c109 = tfrt_dht.set_tensor_with_constant_values.i32 %t1024x1x1x256_dims, %c108 [1024 : i32, 256 : i32, 1 : i32, 1 : i32]
  %t1024x1x1x256_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c110 = tfrt_dht.set_tensor_with_constant_values.i32 %t1024x1x1x256_strides, %c109 [256 : i32, 1 : i32, 256 : i32, 256 : i32]
  %t1024x1x1x256, %c111 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1024x1x1x256_dims, %t1024x1x1x256_strides, %c110
  %t256x1x1x1024_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c112 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x1024_dims, %c111 [256 : i32, 1024 : i32, 1 : i32, 1 : i32]
  %t256x1x1x1024_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c113 = tfrt_dht.set_tensor_with_constant_values.i32 %t256x1x1x1024_strides, %c112 [1024 : i32, 1 : i32, 1024 : i32, 1024 : i32]
  %t256x1x1x1024, %c114 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t256x1x1x1024_dims, %t256x1x1x1024_strides, %c113
  %t1x7x7x2048_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c115 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x7x7x2048_dims, %c114 [1 : i32, 2048 : i32, 7 : i32, 7 : i32]
  %t1x7x7x2048_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c116 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x7x7x2048_strides, %c115 [100352 : i32, 1 : i32, 14336 : i32, 2048 : i32]
  %t1x7x7x2048, %c117 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x7x7x2048_dims, %t1x7x7x2048_strides, %c116
  %t2048x1x1x1024_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c118 = tfrt_dht.set_tensor_with_constant_values.i32 %t2048x1x1x1024_dims, %c117 [2048 : i32, 1024 : i32, 1 : i32, 1 : i32]
  %t2048x1x1x1024_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c119 = tfrt_dht.set_tensor_with_constant_values.i32 %t2048x1x1x1024_strides, %c118 [1024 : i32, 1 : i32, 1024 : i32, 1024 : i32]
  %t2048x1x1x1024, %c120 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t2048x1x1x1024_dims, %t2048x1x1x1024_strides, %c119
  %t1x1x1x2048_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c121 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x2048_dims, %c120 [1 : i32, 2048 : i32, 1 : i32, 1 : i32]
  %t1x1x1x2048_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c122 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x1x1x2048_strides, %c121 [2048 : i32, 1 : i32, 2048 : i32, 2048 : i32]
  %t1x1x1x2048, %c123 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x1x1x2048_dims, %t1x1x1x2048_strides, %c122
  %t1x14x14x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c124 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x512_dims, %c123 [1 : i32, 512 : i32, 14 : i32, 14 : i32]
  %t1x14x14x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c125 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x14x14x512_strides, %c124 [100352 : i32, 1 : i32, 7168 : i32, 512 : i32]
  %t1x14x14x512, %c126 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x14x14x512_dims, %t1x14x14x512_strides, %c125
  %t512x1x1x1024_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c127 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x1024_dims, %c126 [512 : i32, 1024 : i32, 1 : i32, 1 : i32]
  %t512x1x1x1024_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c128 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x1024_strides, %c127 [1024 : i32, 1 : i32, 1024 : i32, 1024 : i32]
  %t512x1x1x1024, %c129 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t512x1x1x1024_dims, %t512x1x1x1024_strides, %c128
  %t1x7x7x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c130 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x7x7x512_dims, %c129 [1 : i32, 512 : i32, 7 : i32, 7 : i32]
  %t1x7x7x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c131 = tfrt_dht.set_tensor_with_constant_values.i32 %t1x7x7x512_strides, %c130 [25088 : i32, 1 : i32, 3584 : i32, 512 : i32]
  %t1x7x7x512, %c132 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t1x7x7x512_dims, %t1x7x7x512_strides, %c131
  %t512x3x3x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c133 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x3x3x512_dims, %c132 [512 : i32, 512 : i32, 3 : i32, 3 : i32]
  %t512x3x3x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c134 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x3x3x512_strides, %c133 [4608 : i32, 1 : i32, 1536 : i32, 512 : i32]
  %t512x3x3x512, %c135 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t512x3x3x512_dims, %t512x3x3x512_strides, %c134
  %t2048x1x1x512_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c136 = tfrt_dht.set_tensor_with_constant_values.i32 %t2048x1x1x512_dims, %c135 [2048 : i32, 512 : i32, 1 : i32, 1 : i32]
  %t2048x1x1x512_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c137 = tfrt_dht.set_tensor_with_constant_values.i32 %t2048x1x1x512_strides, %c136 [512 : i32, 1 : i32, 512 : i32, 512 : i32]
  %t2048x1x1x512, %c138 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t2048x1x1x512_dims, %t2048x1x1x512_strides, %c137
  %t512x1x1x2048_dims = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c139 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x2048_dims, %c138 [512 : i32, 2048 : i32, 1 : i32, 1 : i32]
  %t512x1x1x2048_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [4 : i64]
  %c140 = tfrt_dht.set_tensor_with_constant_values.i32 %t512x1x1x2048_strides, %c139 [2048 : i32, 1 : i32, 2048 : i32, 2048 : i32]
  %t512x1x1x2048, %c141 = tfrt_cuda.dnn.create_tensor_descriptor %context, %float, %t512x1x1x2048_dims, %t512x1x1x2048_strides, %c140
  %average_pool_window = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c142 = tfrt_dht.set_tensor_with_constant_values.i32 %average_pool_window, %c141 [7 : i32, 7 : i32]
  %average_pool_padding = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c143 = tfrt_dht.set_tensor_with_constant_values.i32 %average_pool_padding, %c142 [0 : i32, 0 : i32]
  %average_pool_strides = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %c144 = tfrt_dht.set_tensor_with_constant_values.i32 %average_pool_strides, %c143 [1 : i32, 1 : i32]
  %average_pool, %c145 = tfrt_cuda.dnn.create_pooling_descriptor %context, %average, %keep_nan, %average_pool_window, %average_pool_padding, %average_pool_strides, %c144
  %f0, %b0 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w0_bytes = tfrt.constant.i64 37632
  %w0, %c146 = tfrt_cuda.mem.allocate %allocator, %stream, %w0_bytes, %c145
  %w0_host, %c147 = tfrt_dht.get_buffer %f0, %c146
  %c148 = tfrt_cuda.mem.copy_host_to_device %context, %w0, %w0_host, %w0_bytes, %stream, %c147
  %bias0_bytes = tfrt.constant.i64 256
  %bias0, %c149 = tfrt_cuda.mem.allocate %allocator, %stream, %bias0_bytes, %c148
  %bias0_host, %c150 = tfrt_dht.get_buffer %b0, %c149
  %c151 = tfrt_cuda.mem.copy_host_to_device %context, %bias0, %bias0_host, %bias0_bytes, %stream, %c150
  %f1, %b1 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w1_bytes = tfrt.constant.i64 65536
  %w1, %c152 = tfrt_cuda.mem.allocate %allocator, %stream, %w1_bytes, %c151
  %w1_host, %c153 = tfrt_dht.get_buffer %f1, %c152
  %c154 = tfrt_cuda.mem.copy_host_to_device %context, %w1, %w1_host, %w1_bytes, %stream, %c153
  %bias1_bytes = tfrt.constant.i64 1024
  %bias1, %c155 = tfrt_cuda.mem.allocate %allocator, %stream, %bias1_bytes, %c154
  %bias1_host, %c156 = tfrt_dht.get_buffer %b1, %c155
  %c157 = tfrt_cuda.mem.copy_host_to_device %context, %bias1, %bias1_host, %bias1_bytes, %stream, %c156
  %f2, %b2 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w2_bytes = tfrt.constant.i64 16384
  %w2, %c158 = tfrt_cuda.mem.allocate %allocator, %stream, %w2_bytes, %c157
  %w2_host, %c159 = tfrt_dht.get_buffer %f2, %c158
  %c160 = tfrt_cuda.mem.copy_host_to_device %context, %w2, %w2_host, %w2_bytes, %stream, %c159
  %bias2_bytes = tfrt.constant.i64 256
  %bias2, %c161 = tfrt_cuda.mem.allocate %allocator, %stream, %bias2_bytes, %c160
  %bias2_host, %c162 = tfrt_dht.get_buffer %b2, %c161
  %c163 = tfrt_cuda.mem.copy_host_to_device %context, %bias2, %bias2_host, %bias2_bytes, %stream, %c162
  %f3, %b3 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w3_bytes = tfrt.constant.i64 147456
  %w3, %c164 = tfrt_cuda.mem.allocate %allocator, %stream, %w3_bytes, %c163
  %w3_host, %c165 = tfrt_dht.get_buffer %f3, %c164
  %c166 = tfrt_cuda.mem.copy_host_to_device %context, %w3, %w3_host, %w3_bytes, %stream, %c165
  %bias3_bytes = tfrt.constant.i64 256
  %bias3, %c167 = tfrt_cuda.mem.allocate %allocator, %stream, %bias3_bytes, %c166
  %bias3_host, %c168 = tfrt_dht.get_buffer %b3, %c167
  %c169 = tfrt_cuda.mem.copy_host_to_device %context, %bias3, %bias3_host, %bias3_bytes, %stream, %c168
  %f4, %b4 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w4_bytes = tfrt.constant.i64 65536
  %w4, %c170 = tfrt_cuda.mem.allocate %allocator, %stream, %w4_bytes, %c169
  %w4_host, %c171 = tfrt_dht.get_buffer %f4, %c170
  %c172 = tfrt_cuda.mem.copy_host_to_device %context, %w4, %w4_host, %w4_bytes, %stream, %c171
  %bias4_bytes = tfrt.constant.i64 1024
  %bias4, %c173 = tfrt_cuda.mem.allocate %allocator, %stream, %bias4_bytes, %c172
  %bias4_host, %c174 = tfrt_dht.get_buffer %b4, %c173
  %c175 = tfrt_cuda.mem.copy_host_to_device %context, %bias4, %bias4_host, %bias4_bytes, %stream, %c174
  %f5, %b5 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w5_bytes = tfrt.constant.i64 65536
  %w5, %c176 = tfrt_cuda.mem.allocate %allocator, %stream, %w5_bytes, %c175
  %w5_host, %c177 = tfrt_dht.get_buffer %f5, %c176
  %c178 = tfrt_cuda.mem.copy_host_to_device %context, %w5, %w5_host, %w5_bytes, %stream, %c177
  %bias5_bytes = tfrt.constant.i64 256
  %bias5, %c179 = tfrt_cuda.mem.allocate %allocator, %stream, %bias5_bytes, %c178
  %bias5_host, %c180 = tfrt_dht.get_buffer %b5, %c179
  %c181 = tfrt_cuda.mem.copy_host_to_device %context, %bias5, %bias5_host, %bias5_bytes, %stream, %c180
  %f6, %b6 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w6_bytes = tfrt.constant.i64 147456
  %w6, %c182 = tfrt_cuda.mem.allocate %allocator, %stream, %w6_bytes, %c181
  %w6_host, %c183 = tfrt_dht.get_buffer %f6, %c182
  %c184 = tfrt_cuda.mem.copy_host_to_device %context, %w6, %w6_host, %w6_bytes, %stream, %c183
  %bias6_bytes = tfrt.constant.i64 256
  %bias6, %c185 = tfrt_cuda.mem.allocate %allocator, %stream, %bias6_bytes, %c184
  %bias6_host, %c186 = tfrt_dht.get_buffer %b6, %c185
  %c187 = tfrt_cuda.mem.copy_host_to_device %context, %bias6, %bias6_host, %bias6_bytes, %stream, %c186
  %f7, %b7 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w7_bytes = tfrt.constant.i64 65536
  %w7, %c188 = tfrt_cuda.mem.allocate %allocator, %stream, %w7_bytes, %c187
  %w7_host, %c189 = tfrt_dht.get_buffer %f7, %c188
  %c190 = tfrt_cuda.mem.copy_host_to_device %context, %w7, %w7_host, %w7_bytes, %stream, %c189
  %bias7_bytes = tfrt.constant.i64 1024
  %bias7, %c191 = tfrt_cuda.mem.allocate %allocator, %stream, %bias7_bytes, %c190
  %bias7_host, %c192 = tfrt_dht.get_buffer %b7, %c191
  %c193 = tfrt_cuda.mem.copy_host_to_device %context, %bias7, %bias7_host, %bias7_bytes, %stream, %c192
  %f8, %b8 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w8_bytes = tfrt.constant.i64 65536
  %w8, %c194 = tfrt_cuda.mem.allocate %allocator, %stream, %w8_bytes, %c193
  %w8_host, %c195 = tfrt_dht.get_buffer %f8, %c194
  %c196 = tfrt_cuda.mem.copy_host_to_device %context, %w8, %w8_host, %w8_bytes, %stream, %c195
  %bias8_bytes = tfrt.constant.i64 256
  %bias8, %c197 = tfrt_cuda.mem.allocate %allocator, %stream, %bias8_bytes, %c196
  %bias8_host, %c198 = tfrt_dht.get_buffer %b8, %c197
  %c199 = tfrt_cuda.mem.copy_host_to_device %context, %bias8, %bias8_host, %bias8_bytes, %stream, %c198
  %f9, %b9 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w9_bytes = tfrt.constant.i64 147456
  %w9, %c200 = tfrt_cuda.mem.allocate %allocator, %stream, %w9_bytes, %c199
  %w9_host, %c201 = tfrt_dht.get_buffer %f9, %c200
  %c202 = tfrt_cuda.mem.copy_host_to_device %context, %w9, %w9_host, %w9_bytes, %stream, %c201
  %bias9_bytes = tfrt.constant.i64 256
  %bias9, %c203 = tfrt_cuda.mem.allocate %allocator, %stream, %bias9_bytes, %c202
  %bias9_host, %c204 = tfrt_dht.get_buffer %b9, %c203
  %c205 = tfrt_cuda.mem.copy_host_to_device %context, %bias9, %bias9_host, %bias9_bytes, %stream, %c204
  %f10, %b10 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w10_bytes = tfrt.constant.i64 65536
  %w10, %c206 = tfrt_cuda.mem.allocate %allocator, %stream, %w10_bytes, %c205
  %w10_host, %c207 = tfrt_dht.get_buffer %f10, %c206
  %c208 = tfrt_cuda.mem.copy_host_to_device %context, %w10, %w10_host, %w10_bytes, %stream, %c207
  %bias10_bytes = tfrt.constant.i64 1024
  %bias10, %c209 = tfrt_cuda.mem.allocate %allocator, %stream, %bias10_bytes, %c208
  %bias10_host, %c210 = tfrt_dht.get_buffer %b10, %c209
  %c211 = tfrt_cuda.mem.copy_host_to_device %context, %bias10, %bias10_host, %bias10_bytes, %stream, %c210
  %f11, %b11 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w11_bytes = tfrt.constant.i64 524288
  %w11, %c212 = tfrt_cuda.mem.allocate %allocator, %stream, %w11_bytes, %c211
  %w11_host, %c213 = tfrt_dht.get_buffer %f11, %c212
  %c214 = tfrt_cuda.mem.copy_host_to_device %context, %w11, %w11_host, %w11_bytes, %stream, %c213
  %bias11_bytes = tfrt.constant.i64 2048
  %bias11, %c215 = tfrt_cuda.mem.allocate %allocator, %stream, %bias11_bytes, %c214
  %bias11_host, %c216 = tfrt_dht.get_buffer %b11, %c215
  %c217 = tfrt_cuda.mem.copy_host_to_device %context, %bias11, %bias11_host, %bias11_bytes, %stream, %c216
  %f12, %b12 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w12_bytes = tfrt.constant.i64 131072
  %w12, %c218 = tfrt_cuda.mem.allocate %allocator, %stream, %w12_bytes, %c217
  %w12_host, %c219 = tfrt_dht.get_buffer %f12, %c218
  %c220 = tfrt_cuda.mem.copy_host_to_device %context, %w12, %w12_host, %w12_bytes, %stream, %c219
  %bias12_bytes = tfrt.constant.i64 512
  %bias12, %c221 = tfrt_cuda.mem.allocate %allocator, %stream, %bias12_bytes, %c220
  %bias12_host, %c222 = tfrt_dht.get_buffer %b12, %c221
  %c223 = tfrt_cuda.mem.copy_host_to_device %context, %bias12, %bias12_host, %bias12_bytes, %stream, %c222
  %f13, %b13 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w13_bytes = tfrt.constant.i64 589824
  %w13, %c224 = tfrt_cuda.mem.allocate %allocator, %stream, %w13_bytes, %c223
  %w13_host, %c225 = tfrt_dht.get_buffer %f13, %c224
  %c226 = tfrt_cuda.mem.copy_host_to_device %context, %w13, %w13_host, %w13_bytes, %stream, %c225
  %bias13_bytes = tfrt.constant.i64 512
  %bias13, %c227 = tfrt_cuda.mem.allocate %allocator, %stream, %bias13_bytes, %c226
  %bias13_host, %c228 = tfrt_dht.get_buffer %b13, %c227
  %c229 = tfrt_cuda.mem.copy_host_to_device %context, %bias13, %bias13_host, %bias13_bytes, %stream, %c228
  %f14, %b14 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w14_bytes = tfrt.constant.i64 262144
  %w14, %c230 = tfrt_cuda.mem.allocate %allocator, %stream, %w14_bytes, %c229
  %w14_host, %c231 = tfrt_dht.get_buffer %f14, %c230
  %c232 = tfrt_cuda.mem.copy_host_to_device %context, %w14, %w14_host, %w14_bytes, %stream, %c231
  %bias14_bytes = tfrt.constant.i64 2048
  %bias14, %c233 = tfrt_cuda.mem.allocate %allocator, %stream, %bias14_bytes, %c232
  %bias14_host, %c234 = tfrt_dht.get_buffer %b14, %c233
  %c235 = tfrt_cuda.mem.copy_host_to_device %context, %bias14, %bias14_host, %bias14_bytes, %stream, %c234
  %f15, %b15 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w15_bytes = tfrt.constant.i64 262144
  %w15, %c236 = tfrt_cuda.mem.allocate %allocator, %stream, %w15_bytes, %c235
  %w15_host, %c237 = tfrt_dht.get_buffer %f15, %c236
  %c238 = tfrt_cuda.mem.copy_host_to_device %context, %w15, %w15_host, %w15_bytes, %stream, %c237
  %bias15_bytes = tfrt.constant.i64 512
  %bias15, %c239 = tfrt_cuda.mem.allocate %allocator, %stream, %bias15_bytes, %c238
  %bias15_host, %c240 = tfrt_dht.get_buffer %b15, %c239
  %c241 = tfrt_cuda.mem.copy_host_to_device %context, %bias15, %bias15_host, %bias15_bytes, %stream, %c240
  %f16, %b16 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w16_bytes = tfrt.constant.i64 589824
  %w16, %c242 = tfrt_cuda.mem.allocate %allocator, %stream, %w16_bytes, %c241
  %w16_host, %c243 = tfrt_dht.get_buffer %f16, %c242
  %c244 = tfrt_cuda.mem.copy_host_to_device %context, %w16, %w16_host, %w16_bytes, %stream, %c243
  %bias16_bytes = tfrt.constant.i64 512
  %bias16, %c245 = tfrt_cuda.mem.allocate %allocator, %stream, %bias16_bytes, %c244
  %bias16_host, %c246 = tfrt_dht.get_buffer %b16, %c245
  %c247 = tfrt_cuda.mem.copy_host_to_device %context, %bias16, %bias16_host, %bias16_bytes, %stream, %c246
  %f17, %b17 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w17_bytes = tfrt.constant.i64 262144
  %w17, %c248 = tfrt_cuda.mem.allocate %allocator, %stream, %w17_bytes, %c247
  %w17_host, %c249 = tfrt_dht.get_buffer %f17, %c248
  %c250 = tfrt_cuda.mem.copy_host_to_device %context, %w17, %w17_host, %w17_bytes, %stream, %c249
  %bias17_bytes = tfrt.constant.i64 2048
  %bias17, %c251 = tfrt_cuda.mem.allocate %allocator, %stream, %bias17_bytes, %c250
  %bias17_host, %c252 = tfrt_dht.get_buffer %b17, %c251
  %c253 = tfrt_cuda.mem.copy_host_to_device %context, %bias17, %bias17_host, %bias17_bytes, %stream, %c252
  %f18, %b18 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w18_bytes = tfrt.constant.i64 262144
  %w18, %c254 = tfrt_cuda.mem.allocate %allocator, %stream, %w18_bytes, %c253
  %w18_host, %c255 = tfrt_dht.get_buffer %f18, %c254
  %c256 = tfrt_cuda.mem.copy_host_to_device %context, %w18, %w18_host, %w18_bytes, %stream, %c255
  %bias18_bytes = tfrt.constant.i64 512
  %bias18, %c257 = tfrt_cuda.mem.allocate %allocator, %stream, %bias18_bytes, %c256
  %bias18_host, %c258 = tfrt_dht.get_buffer %b18, %c257
  %c259 = tfrt_cuda.mem.copy_host_to_device %context, %bias18, %bias18_host, %bias18_bytes, %stream, %c258
  %f19, %b19 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w19_bytes = tfrt.constant.i64 589824
  %w19, %c260 = tfrt_cuda.mem.allocate %allocator, %stream, %w19_bytes, %c259
  %w19_host, %c261 = tfrt_dht.get_buffer %f19, %c260
  %c262 = tfrt_cuda.mem.copy_host_to_device %context, %w19, %w19_host, %w19_bytes, %stream, %c261
  %bias19_bytes = tfrt.constant.i64 512
  %bias19, %c263 = tfrt_cuda.mem.allocate %allocator, %stream, %bias19_bytes, %c262
  %bias19_host, %c264 = tfrt_dht.get_buffer %b19, %c263
  %c265 = tfrt_cuda.mem.copy_host_to_device %context, %bias19, %bias19_host, %bias19_bytes, %stream, %c264
  %f20, %b20 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w20_bytes = tfrt.constant.i64 262144
  %w20, %c266 = tfrt_cuda.mem.allocate %allocator, %stream, %w20_bytes, %c265
  %w20_host, %c267 = tfrt_dht.get_buffer %f20, %c266
  %c268 = tfrt_cuda.mem.copy_host_to_device %context, %w20, %w20_host, %w20_bytes, %stream, %c267
  %bias20_bytes = tfrt.constant.i64 2048
  %bias20, %c269 = tfrt_cuda.mem.allocate %allocator, %stream, %bias20_bytes, %c268
  %bias20_host, %c270 = tfrt_dht.get_buffer %b20, %c269
  %c271 = tfrt_cuda.mem.copy_host_to_device %context, %bias20, %bias20_host, %bias20_bytes, %stream, %c270
  %f21, %b21 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w21_bytes = tfrt.constant.i64 262144
  %w21, %c272 = tfrt_cuda.mem.allocate %allocator, %stream, %w21_bytes, %c271
  %w21_host, %c273 = tfrt_dht.get_buffer %f21, %c272
  %c274 = tfrt_cuda.mem.copy_host_to_device %context, %w21, %w21_host, %w21_bytes, %stream, %c273
  %bias21_bytes = tfrt.constant.i64 512
  %bias21, %c275 = tfrt_cuda.mem.allocate %allocator, %stream, %bias21_bytes, %c274
  %bias21_host, %c276 = tfrt_dht.get_buffer %b21, %c275
  %c277 = tfrt_cuda.mem.copy_host_to_device %context, %bias21, %bias21_host, %bias21_bytes, %stream, %c276
  %f22, %b22 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w22_bytes = tfrt.constant.i64 589824
  %w22, %c278 = tfrt_cuda.mem.allocate %allocator, %stream, %w22_bytes, %c277
  %w22_host, %c279 = tfrt_dht.get_buffer %f22, %c278
  %c280 = tfrt_cuda.mem.copy_host_to_device %context, %w22, %w22_host, %w22_bytes, %stream, %c279
  %bias22_bytes = tfrt.constant.i64 512
  %bias22, %c281 = tfrt_cuda.mem.allocate %allocator, %stream, %bias22_bytes, %c280
  %bias22_host, %c282 = tfrt_dht.get_buffer %b22, %c281
  %c283 = tfrt_cuda.mem.copy_host_to_device %context, %bias22, %bias22_host, %bias22_bytes, %stream, %c282
  %f23, %b23 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w23_bytes = tfrt.constant.i64 262144
  %w23, %c284 = tfrt_cuda.mem.allocate %allocator, %stream, %w23_bytes, %c283
  %w23_host, %c285 = tfrt_dht.get_buffer %f23, %c284
  %c286 = tfrt_cuda.mem.copy_host_to_device %context, %w23, %w23_host, %w23_bytes, %stream, %c285
  %bias23_bytes = tfrt.constant.i64 2048
  %bias23, %c287 = tfrt_cuda.mem.allocate %allocator, %stream, %bias23_bytes, %c286
  %bias23_host, %c288 = tfrt_dht.get_buffer %b23, %c287
  %c289 = tfrt_cuda.mem.copy_host_to_device %context, %bias23, %bias23_host, %bias23_bytes, %stream, %c288
  %f24, %b24 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w24_bytes = tfrt.constant.i64 2097152
  %w24, %c290 = tfrt_cuda.mem.allocate %allocator, %stream, %w24_bytes, %c289
  %w24_host, %c291 = tfrt_dht.get_buffer %f24, %c290
  %c292 = tfrt_cuda.mem.copy_host_to_device %context, %w24, %w24_host, %w24_bytes, %stream, %c291
  %bias24_bytes = tfrt.constant.i64 4096
  %bias24, %c293 = tfrt_cuda.mem.allocate %allocator, %stream, %bias24_bytes, %c292
  %bias24_host, %c294 = tfrt_dht.get_buffer %b24, %c293
  %c295 = tfrt_cuda.mem.copy_host_to_device %context, %bias24, %bias24_host, %bias24_bytes, %stream, %c294
  %f25, %b25 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w25_bytes = tfrt.constant.i64 524288
  %w25, %c296 = tfrt_cuda.mem.allocate %allocator, %stream, %w25_bytes, %c295
  %w25_host, %c297 = tfrt_dht.get_buffer %f25, %c296
  %c298 = tfrt_cuda.mem.copy_host_to_device %context, %w25, %w25_host, %w25_bytes, %stream, %c297
  %bias25_bytes = tfrt.constant.i64 1024
  %bias25, %c299 = tfrt_cuda.mem.allocate %allocator, %stream, %bias25_bytes, %c298
  %bias25_host, %c300 = tfrt_dht.get_buffer %b25, %c299
  %c301 = tfrt_cuda.mem.copy_host_to_device %context, %bias25, %bias25_host, %bias25_bytes, %stream, %c300
  %f26, %b26 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w26_bytes = tfrt.constant.i64 2359296
  %w26, %c302 = tfrt_cuda.mem.allocate %allocator, %stream, %w26_bytes, %c301
  %w26_host, %c303 = tfrt_dht.get_buffer %f26, %c302
  %c304 = tfrt_cuda.mem.copy_host_to_device %context, %w26, %w26_host, %w26_bytes, %stream, %c303
  %bias26_bytes = tfrt.constant.i64 1024
  %bias26, %c305 = tfrt_cuda.mem.allocate %allocator, %stream, %bias26_bytes, %c304
  %bias26_host, %c306 = tfrt_dht.get_buffer %b26, %c305
  %c307 = tfrt_cuda.mem.copy_host_to_device %context, %bias26, %bias26_host, %bias26_bytes, %stream, %c306
  %f27, %b27 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w27_bytes = tfrt.constant.i64 1048576
  %w27, %c308 = tfrt_cuda.mem.allocate %allocator, %stream, %w27_bytes, %c307
  %w27_host, %c309 = tfrt_dht.get_buffer %f27, %c308
  %c310 = tfrt_cuda.mem.copy_host_to_device %context, %w27, %w27_host, %w27_bytes, %stream, %c309
  %bias27_bytes = tfrt.constant.i64 4096
  %bias27, %c311 = tfrt_cuda.mem.allocate %allocator, %stream, %bias27_bytes, %c310
  %bias27_host, %c312 = tfrt_dht.get_buffer %b27, %c311
  %c313 = tfrt_cuda.mem.copy_host_to_device %context, %bias27, %bias27_host, %bias27_bytes, %stream, %c312
  %f28, %b28 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w28_bytes = tfrt.constant.i64 1048576
  %w28, %c314 = tfrt_cuda.mem.allocate %allocator, %stream, %w28_bytes, %c313
  %w28_host, %c315 = tfrt_dht.get_buffer %f28, %c314
  %c316 = tfrt_cuda.mem.copy_host_to_device %context, %w28, %w28_host, %w28_bytes, %stream, %c315
  %bias28_bytes = tfrt.constant.i64 1024
  %bias28, %c317 = tfrt_cuda.mem.allocate %allocator, %stream, %bias28_bytes, %c316
  %bias28_host, %c318 = tfrt_dht.get_buffer %b28, %c317
  %c319 = tfrt_cuda.mem.copy_host_to_device %context, %bias28, %bias28_host, %bias28_bytes, %stream, %c318
  %f29, %b29 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w29_bytes = tfrt.constant.i64 2359296
  %w29, %c320 = tfrt_cuda.mem.allocate %allocator, %stream, %w29_bytes, %c319
  %w29_host, %c321 = tfrt_dht.get_buffer %f29, %c320
  %c322 = tfrt_cuda.mem.copy_host_to_device %context, %w29, %w29_host, %w29_bytes, %stream, %c321
  %bias29_bytes = tfrt.constant.i64 1024
  %bias29, %c323 = tfrt_cuda.mem.allocate %allocator, %stream, %bias29_bytes, %c322
  %bias29_host, %c324 = tfrt_dht.get_buffer %b29, %c323
  %c325 = tfrt_cuda.mem.copy_host_to_device %context, %bias29, %bias29_host, %bias29_bytes, %stream, %c324
  %f30, %b30 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w30_bytes = tfrt.constant.i64 1048576
  %w30, %c326 = tfrt_cuda.mem.allocate %allocator, %stream, %w30_bytes, %c325
  %w30_host, %c327 = tfrt_dht.get_buffer %f30, %c326
  %c328 = tfrt_cuda.mem.copy_host_to_device %context, %w30, %w30_host, %w30_bytes, %stream, %c327
  %bias30_bytes = tfrt.constant.i64 4096
  %bias30, %c329 = tfrt_cuda.mem.allocate %allocator, %stream, %bias30_bytes, %c328
  %bias30_host, %c330 = tfrt_dht.get_buffer %b30, %c329
  %c331 = tfrt_cuda.mem.copy_host_to_device %context, %bias30, %bias30_host, %bias30_bytes, %stream, %c330
  %f31, %b31 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w31_bytes = tfrt.constant.i64 1048576
  %w31, %c332 = tfrt_cuda.mem.allocate %allocator, %stream, %w31_bytes, %c331
  %w31_host, %c333 = tfrt_dht.get_buffer %f31, %c332
  %c334 = tfrt_cuda.mem.copy_host_to_device %context, %w31, %w31_host, %w31_bytes, %stream, %c333
  %bias31_bytes = tfrt.constant.i64 1024
  %bias31, %c335 = tfrt_cuda.mem.allocate %allocator, %stream, %bias31_bytes, %c334
  %bias31_host, %c336 = tfrt_dht.get_buffer %b31, %c335
  %c337 = tfrt_cuda.mem.copy_host_to_device %context, %bias31, %bias31_host, %bias31_bytes, %stream, %c336
  %f32, %b32 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w32_bytes = tfrt.constant.i64 2359296
  %w32, %c338 = tfrt_cuda.mem.allocate %allocator, %stream, %w32_bytes, %c337
  %w32_host, %c339 = tfrt_dht.get_buffer %f32, %c338
  %c340 = tfrt_cuda.mem.copy_host_to_device %context, %w32, %w32_host, %w32_bytes, %stream, %c339
  %bias32_bytes = tfrt.constant.i64 1024
  %bias32, %c341 = tfrt_cuda.mem.allocate %allocator, %stream, %bias32_bytes, %c340
  %bias32_host, %c342 = tfrt_dht.get_buffer %b32, %c341
  %c343 = tfrt_cuda.mem.copy_host_to_device %context, %bias32, %bias32_host, %bias32_bytes, %stream, %c342
  %f33, %b33 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w33_bytes = tfrt.constant.i64 1048576
  %w33, %c344 = tfrt_cuda.mem.allocate %allocator, %stream, %w33_bytes, %c343
  %w33_host, %c345 = tfrt_dht.get_buffer %f33, %c344
  %c346 = tfrt_cuda.mem.copy_host_to_device %context, %w33, %w33_host, %w33_bytes, %stream, %c345
  %bias33_bytes = tfrt.constant.i64 4096
  %bias33, %c347 = tfrt_cuda.mem.allocate %allocator, %stream, %bias33_bytes, %c346
  %bias33_host, %c348 = tfrt_dht.get_buffer %b33, %c347
  %c349 = tfrt_cuda.mem.copy_host_to_device %context, %bias33, %bias33_host, %bias33_bytes, %stream, %c348
  %f34, %b34 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w34_bytes = tfrt.constant.i64 1048576
  %w34, %c350 = tfrt_cuda.mem.allocate %allocator, %stream, %w34_bytes, %c349
  %w34_host, %c351 = tfrt_dht.get_buffer %f34, %c350
  %c352 = tfrt_cuda.mem.copy_host_to_device %context, %w34, %w34_host, %w34_bytes, %stream, %c351
  %bias34_bytes = tfrt.constant.i64 1024
  %bias34, %c353 = tfrt_cuda.mem.allocate %allocator, %stream, %bias34_bytes, %c352
  %bias34_host, %c354 = tfrt_dht.get_buffer %b34, %c353
  %c355 = tfrt_cuda.mem.copy_host_to_device %context, %bias34, %bias34_host, %bias34_bytes, %stream, %c354
  %f35, %b35 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w35_bytes = tfrt.constant.i64 2359296
  %w35, %c356 = tfrt_cuda.mem.allocate %allocator, %stream, %w35_bytes, %c355
  %w35_host, %c357 = tfrt_dht.get_buffer %f35, %c356
  %c358 = tfrt_cuda.mem.copy_host_to_device %context, %w35, %w35_host, %w35_bytes, %stream, %c357
  %bias35_bytes = tfrt.constant.i64 1024
  %bias35, %c359 = tfrt_cuda.mem.allocate %allocator, %stream, %bias35_bytes, %c358
  %bias35_host, %c360 = tfrt_dht.get_buffer %b35, %c359
  %c361 = tfrt_cuda.mem.copy_host_to_device %context, %bias35, %bias35_host, %bias35_bytes, %stream, %c360
  %f36, %b36 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w36_bytes = tfrt.constant.i64 1048576
  %w36, %c362 = tfrt_cuda.mem.allocate %allocator, %stream, %w36_bytes, %c361
  %w36_host, %c363 = tfrt_dht.get_buffer %f36, %c362
  %c364 = tfrt_cuda.mem.copy_host_to_device %context, %w36, %w36_host, %w36_bytes, %stream, %c363
  %bias36_bytes = tfrt.constant.i64 4096
  %bias36, %c365 = tfrt_cuda.mem.allocate %allocator, %stream, %bias36_bytes, %c364
  %bias36_host, %c366 = tfrt_dht.get_buffer %b36, %c365
  %c367 = tfrt_cuda.mem.copy_host_to_device %context, %bias36, %bias36_host, %bias36_bytes, %stream, %c366
  %f37, %b37 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w37_bytes = tfrt.constant.i64 1048576
  %w37, %c368 = tfrt_cuda.mem.allocate %allocator, %stream, %w37_bytes, %c367
  %w37_host, %c369 = tfrt_dht.get_buffer %f37, %c368
  %c370 = tfrt_cuda.mem.copy_host_to_device %context, %w37, %w37_host, %w37_bytes, %stream, %c369
  %bias37_bytes = tfrt.constant.i64 1024
  %bias37, %c371 = tfrt_cuda.mem.allocate %allocator, %stream, %bias37_bytes, %c370
  %bias37_host, %c372 = tfrt_dht.get_buffer %b37, %c371
  %c373 = tfrt_cuda.mem.copy_host_to_device %context, %bias37, %bias37_host, %bias37_bytes, %stream, %c372
  %f38, %b38 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w38_bytes = tfrt.constant.i64 2359296
  %w38, %c374 = tfrt_cuda.mem.allocate %allocator, %stream, %w38_bytes, %c373
  %w38_host, %c375 = tfrt_dht.get_buffer %f38, %c374
  %c376 = tfrt_cuda.mem.copy_host_to_device %context, %w38, %w38_host, %w38_bytes, %stream, %c375
  %bias38_bytes = tfrt.constant.i64 1024
  %bias38, %c377 = tfrt_cuda.mem.allocate %allocator, %stream, %bias38_bytes, %c376
  %bias38_host, %c378 = tfrt_dht.get_buffer %b38, %c377
  %c379 = tfrt_cuda.mem.copy_host_to_device %context, %bias38, %bias38_host, %bias38_bytes, %stream, %c378
  %f39, %b39 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w39_bytes = tfrt.constant.i64 1048576
  %w39, %c380 = tfrt_cuda.mem.allocate %allocator, %stream, %w39_bytes, %c379
  %w39_host, %c381 = tfrt_dht.get_buffer %f39, %c380
  %c382 = tfrt_cuda.mem.copy_host_to_device %context, %w39, %w39_host, %w39_bytes, %stream, %c381
  %bias39_bytes = tfrt.constant.i64 4096
  %bias39, %c383 = tfrt_cuda.mem.allocate %allocator, %stream, %bias39_bytes, %c382
  %bias39_host, %c384 = tfrt_dht.get_buffer %b39, %c383
  %c385 = tfrt_cuda.mem.copy_host_to_device %context, %bias39, %bias39_host, %bias39_bytes, %stream, %c384
  %f40, %b40 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w40_bytes = tfrt.constant.i64 1048576
  %w40, %c386 = tfrt_cuda.mem.allocate %allocator, %stream, %w40_bytes, %c385
  %w40_host, %c387 = tfrt_dht.get_buffer %f40, %c386
  %c388 = tfrt_cuda.mem.copy_host_to_device %context, %w40, %w40_host, %w40_bytes, %stream, %c387
  %bias40_bytes = tfrt.constant.i64 1024
  %bias40, %c389 = tfrt_cuda.mem.allocate %allocator, %stream, %bias40_bytes, %c388
  %bias40_host, %c390 = tfrt_dht.get_buffer %b40, %c389
  %c391 = tfrt_cuda.mem.copy_host_to_device %context, %bias40, %bias40_host, %bias40_bytes, %stream, %c390
  %f41, %b41 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w41_bytes = tfrt.constant.i64 2359296
  %w41, %c392 = tfrt_cuda.mem.allocate %allocator, %stream, %w41_bytes, %c391
  %w41_host, %c393 = tfrt_dht.get_buffer %f41, %c392
  %c394 = tfrt_cuda.mem.copy_host_to_device %context, %w41, %w41_host, %w41_bytes, %stream, %c393
  %bias41_bytes = tfrt.constant.i64 1024
  %bias41, %c395 = tfrt_cuda.mem.allocate %allocator, %stream, %bias41_bytes, %c394
  %bias41_host, %c396 = tfrt_dht.get_buffer %b41, %c395
  %c397 = tfrt_cuda.mem.copy_host_to_device %context, %bias41, %bias41_host, %bias41_bytes, %stream, %c396
  %f42, %b42 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w42_bytes = tfrt.constant.i64 1048576
  %w42, %c398 = tfrt_cuda.mem.allocate %allocator, %stream, %w42_bytes, %c397
  %w42_host, %c399 = tfrt_dht.get_buffer %f42, %c398
  %c400 = tfrt_cuda.mem.copy_host_to_device %context, %w42, %w42_host, %w42_bytes, %stream, %c399
  %bias42_bytes = tfrt.constant.i64 4096
  %bias42, %c401 = tfrt_cuda.mem.allocate %allocator, %stream, %bias42_bytes, %c400
  %bias42_host, %c402 = tfrt_dht.get_buffer %b42, %c401
  %c403 = tfrt_cuda.mem.copy_host_to_device %context, %bias42, %bias42_host, %bias42_bytes, %stream, %c402
  %f43, %b43 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.downsample.0", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w43_bytes = tfrt.constant.i64 8388608
  %w43, %c404 = tfrt_cuda.mem.allocate %allocator, %stream, %w43_bytes, %c403
  %w43_host, %c405 = tfrt_dht.get_buffer %f43, %c404
  %c406 = tfrt_cuda.mem.copy_host_to_device %context, %w43, %w43_host, %w43_bytes, %stream, %c405
  %bias43_bytes = tfrt.constant.i64 8192
  %bias43, %c407 = tfrt_cuda.mem.allocate %allocator, %stream, %bias43_bytes, %c406
  %bias43_host, %c408 = tfrt_dht.get_buffer %b43, %c407
  %c409 = tfrt_cuda.mem.copy_host_to_device %context, %bias43, %bias43_host, %bias43_bytes, %stream, %c408
  %f44, %b44 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w44_bytes = tfrt.constant.i64 2097152
  %w44, %c410 = tfrt_cuda.mem.allocate %allocator, %stream, %w44_bytes, %c409
  %w44_host, %c411 = tfrt_dht.get_buffer %f44, %c410
  %c412 = tfrt_cuda.mem.copy_host_to_device %context, %w44, %w44_host, %w44_bytes, %stream, %c411
  %bias44_bytes = tfrt.constant.i64 2048
  %bias44, %c413 = tfrt_cuda.mem.allocate %allocator, %stream, %bias44_bytes, %c412
  %bias44_host, %c414 = tfrt_dht.get_buffer %b44, %c413
  %c415 = tfrt_cuda.mem.copy_host_to_device %context, %bias44, %bias44_host, %bias44_bytes, %stream, %c414
  %f45, %b45 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w45_bytes = tfrt.constant.i64 9437184
  %w45, %c416 = tfrt_cuda.mem.allocate %allocator, %stream, %w45_bytes, %c415
  %w45_host, %c417 = tfrt_dht.get_buffer %f45, %c416
  %c418 = tfrt_cuda.mem.copy_host_to_device %context, %w45, %w45_host, %w45_bytes, %stream, %c417
  %bias45_bytes = tfrt.constant.i64 2048
  %bias45, %c419 = tfrt_cuda.mem.allocate %allocator, %stream, %bias45_bytes, %c418
  %bias45_host, %c420 = tfrt_dht.get_buffer %b45, %c419
  %c421 = tfrt_cuda.mem.copy_host_to_device %context, %bias45, %bias45_host, %bias45_bytes, %stream, %c420
  %f46, %b46 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w46_bytes = tfrt.constant.i64 4194304
  %w46, %c422 = tfrt_cuda.mem.allocate %allocator, %stream, %w46_bytes, %c421
  %w46_host, %c423 = tfrt_dht.get_buffer %f46, %c422
  %c424 = tfrt_cuda.mem.copy_host_to_device %context, %w46, %w46_host, %w46_bytes, %stream, %c423
  %bias46_bytes = tfrt.constant.i64 8192
  %bias46, %c425 = tfrt_cuda.mem.allocate %allocator, %stream, %bias46_bytes, %c424
  %bias46_host, %c426 = tfrt_dht.get_buffer %b46, %c425
  %c427 = tfrt_cuda.mem.copy_host_to_device %context, %bias46, %bias46_host, %bias46_bytes, %stream, %c426
  %f47, %b47 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w47_bytes = tfrt.constant.i64 4194304
  %w47, %c428 = tfrt_cuda.mem.allocate %allocator, %stream, %w47_bytes, %c427
  %w47_host, %c429 = tfrt_dht.get_buffer %f47, %c428
  %c430 = tfrt_cuda.mem.copy_host_to_device %context, %w47, %w47_host, %w47_bytes, %stream, %c429
  %bias47_bytes = tfrt.constant.i64 2048
  %bias47, %c431 = tfrt_cuda.mem.allocate %allocator, %stream, %bias47_bytes, %c430
  %bias47_host, %c432 = tfrt_dht.get_buffer %b47, %c431
  %c433 = tfrt_cuda.mem.copy_host_to_device %context, %bias47, %bias47_host, %bias47_bytes, %stream, %c432
  %f48, %b48 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w48_bytes = tfrt.constant.i64 9437184
  %w48, %c434 = tfrt_cuda.mem.allocate %allocator, %stream, %w48_bytes, %c433
  %w48_host, %c435 = tfrt_dht.get_buffer %f48, %c434
  %c436 = tfrt_cuda.mem.copy_host_to_device %context, %w48, %w48_host, %w48_bytes, %stream, %c435
  %bias48_bytes = tfrt.constant.i64 2048
  %bias48, %c437 = tfrt_cuda.mem.allocate %allocator, %stream, %bias48_bytes, %c436
  %bias48_host, %c438 = tfrt_dht.get_buffer %b48, %c437
  %c439 = tfrt_cuda.mem.copy_host_to_device %context, %bias48, %bias48_host, %bias48_bytes, %stream, %c438
  %f49, %b49 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w49_bytes = tfrt.constant.i64 4194304
  %w49, %c440 = tfrt_cuda.mem.allocate %allocator, %stream, %w49_bytes, %c439
  %w49_host, %c441 = tfrt_dht.get_buffer %f49, %c440
  %c442 = tfrt_cuda.mem.copy_host_to_device %context, %w49, %w49_host, %w49_bytes, %stream, %c441
  %bias49_bytes = tfrt.constant.i64 8192
  %bias49, %c443 = tfrt_cuda.mem.allocate %allocator, %stream, %bias49_bytes, %c442
  %bias49_host, %c444 = tfrt_dht.get_buffer %b49, %c443
  %c445 = tfrt_cuda.mem.copy_host_to_device %context, %bias49, %bias49_host, %bias49_bytes, %stream, %c444
  %f50, %b50 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv1", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w50_bytes = tfrt.constant.i64 4194304
  %w50, %c446 = tfrt_cuda.mem.allocate %allocator, %stream, %w50_bytes, %c445
  %w50_host, %c447 = tfrt_dht.get_buffer %f50, %c446
  %c448 = tfrt_cuda.mem.copy_host_to_device %context, %w50, %w50_host, %w50_bytes, %stream, %c447
  %bias50_bytes = tfrt.constant.i64 2048
  %bias50, %c449 = tfrt_cuda.mem.allocate %allocator, %stream, %bias50_bytes, %c448
  %bias50_host, %c450 = tfrt_dht.get_buffer %b50, %c449
  %c451 = tfrt_cuda.mem.copy_host_to_device %context, %bias50, %bias50_host, %bias50_bytes, %stream, %c450
  %f51, %b51 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv2", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w51_bytes = tfrt.constant.i64 9437184
  %w51, %c452 = tfrt_cuda.mem.allocate %allocator, %stream, %w51_bytes, %c451
  %w51_host, %c453 = tfrt_dht.get_buffer %f51, %c452
  %c454 = tfrt_cuda.mem.copy_host_to_device %context, %w51, %w51_host, %w51_bytes, %stream, %c453
  %bias51_bytes = tfrt.constant.i64 2048
  %bias51, %c455 = tfrt_cuda.mem.allocate %allocator, %stream, %bias51_bytes, %c454
  %bias51_host, %c456 = tfrt_dht.get_buffer %b51, %c455
  %c457 = tfrt_cuda.mem.copy_host_to_device %context, %bias51, %bias51_host, %bias51_bytes, %stream, %c456
  %f52, %b52 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv3", layout = "OHWI", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w52_bytes = tfrt.constant.i64 4194304
  %w52, %c458 = tfrt_cuda.mem.allocate %allocator, %stream, %w52_bytes, %c457
  %w52_host, %c459 = tfrt_dht.get_buffer %f52, %c458
  %c460 = tfrt_cuda.mem.copy_host_to_device %context, %w52, %w52_host, %w52_bytes, %stream, %c459
  %bias52_bytes = tfrt.constant.i64 8192
  %bias52, %c461 = tfrt_cuda.mem.allocate %allocator, %stream, %bias52_bytes, %c460
  %bias52_host, %c462 = tfrt_dht.get_buffer %b52, %c461
  %c463 = tfrt_cuda.mem.copy_host_to_device %context, %bias52, %bias52_host, %bias52_bytes, %stream, %c462
  %f53, %b53 = "tfrt_resnet50.weights.f32"() { layer = "fc", layout = "IO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w53_bytes = tfrt.constant.i64 8192000
  %w53, %c464 = tfrt_cuda.mem.allocate %allocator, %stream, %w53_bytes, %c463
  %w53_host, %c465 = tfrt_dht.get_buffer %f53, %c464
  %c466 = tfrt_cuda.mem.copy_host_to_device %context, %w53, %w53_host, %w53_bytes, %stream, %c465
  %bias53_bytes = tfrt.constant.i64 4000
  %bias53, %c467 = tfrt_cuda.mem.allocate %allocator, %stream, %bias53_bytes, %c466
  %bias53_host, %c468 = tfrt_dht.get_buffer %b53, %c467
  %c469 = tfrt_cuda.mem.copy_host_to_device %context, %bias53, %bias53_host, %bias53_bytes, %stream, %c468
  %ready = tfrt.merge.chains %c469
  tfrt.return %context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready : !tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain
}

// The scores of images.
func @infer(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %images: !t.tensor) -> (!t.tensor, !tfrt.chain) {
  %x, %c1 = tfrt.call @upload(%context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready, %images) : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain, !t.tensor) -> (!tfrt_cuda.buffer, !tfrt.chain)
  %y, %c2 = tfrt.call @compute(%context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready, %x, %c1) : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain, !tfrt_cuda.buffer, !tfrt.chain) -> (!tfrt_cuda.buffer, !tfrt.chain)
  %scores, %c3 = tfrt.call @download(%context, %allocator, %stream, %blas, %dnn, %relu, %identity, %add_bias, %t1x224x224x3, %t1x112x112x64, %t64x7x7x3, %t1x1x1x64, %conv7s2, %t1x56x56x64, %max_pool, %t1x56x56x256, %t256x1x1x64, %t1x1x1x256, %conv1s1, %t64x1x1x64, %t64x3x3x64, %conv3s1, %t64x1x1x256, %t1x28x28x512, %t512x1x1x256, %t1x1x1x512, %conv1s2, %t1x56x56x128, %t128x1x1x256, %t1x1x1x128, %t1x28x28x128, %t128x3x3x128, %conv3s2, %t512x1x1x128, %t128x1x1x512, %t1x14x14x1024, %t1024x1x1x512, %t1x1x1x1024, %t1x28x28x256, %t256x1x1x512, %t1x14x14x256, %t256x3x3x256, %t1024x1x1x256, %t256x1x1x1024, %t1x7x7x2048, %t2048x1x1x1024, %t1x1x1x2048, %t1x14x14x512, %t512x1x1x1024, %t1x7x7x512, %t512x3x3x512, %t2048x1x1x512, %t512x1x1x2048, %average_pool, %w0, %bias0, %w1, %bias1, %w2, %bias2, %w3, %bias3, %w4, %bias4, %w5, %bias5, %w6, %bias6, %w7, %bias7, %w8, %bias8, %w9, %bias9, %w10, %bias10, %w11, %bias11, %w12, %bias12, %w13, %bias13, %w14, %bias14, %w15, %bias15, %w16, %bias16, %w17, %bias17, %w18, %bias18, %w19, %bias19, %w20, %bias20, %w21, %bias21, %w22, %bias22, %w23, %bias23, %w24, %bias24, %w25, %bias25, %w26, %bias26, %w27, %bias27, %w28, %bias28, %w29, %bias29, %w30, %bias30, %w31, %bias31, %w32, %bias32, %w33, %bias33, %w34, %bias34, %w35, %bias35, %w36, %bias36, %w37, %bias37, %w38, %bias38, %w39, %bias39, %w40, %bias40, %w41, %bias41, %w42, %bias42, %w43, %bias43, %w44, %bias44, %w45, %bias45, %w46, %bias46, %w47, %bias47, %w48, %bias48, %w49, %bias49, %w50, %bias50, %w51, %bias51, %w52, %bias52, %w53, %bias53, %ready, %y, %c2) : (!tfrt_cuda.context, !tfrt_cuda.allocator, !tfrt_cuda.stream, !tfrt_cuda.blas_handle, !tfrt_cuda.dnn_handle, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.dnn_activation_descriptor, !tfrt_cuda.function, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_convolution_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_tensor_descriptor, !tfrt_cuda.dnn_pooling_descriptor, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt.chain, !tfrt_cuda.buffer, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
  tfrt.return %scores, %c3 : !t.tensor, !tfrt.chain
}

// Copies images to the device.
func @upload(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %images: !t.tensor) -> (!tfrt_cuda.buffer, !tfrt.chain) {
  %c0 = tfrt.merge.chains %ready
  %checked = "tfrt_resnet50.check_images"(%images) { shape = [1 : i64, 224 : i64, 224 : i64, 3 : i64] } : (!t.tensor) -> !t.tensor
  %x_bytes = tfrt.constant.i64 602112
  %x, %c1 = tfrt_cuda.mem.allocate %allocator, %stream, %x_bytes, %c0
  %x_host, %c2 = tfrt_dht.get_buffer %checked, %c1
  %c3 = tfrt_cuda.mem.copy_host_to_device %context, %x, %x_host, %x_bytes, %stream, %c2
  tfrt.return %x, %c3 : !tfrt_cuda.buffer, !tfrt.chain
}

// Queues the scores of images that are on the device.
func @compute(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %x: !tfrt_cuda.buffer, %c0: !tfrt.chain) -> (!tfrt_cuda.buffer, !tfrt.chain) {
  %single = tfrt.constant.ui32 1
  %nothing = tfrt.constant.ui32 0
  %threads = tfrt.constant.ui32 256
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %plain = tfrt.constant.i32 0
  // conv1
  %y0_bytes = tfrt.constant.i64 3211264
  %y0, %c1 = tfrt_cuda.mem.allocate %allocator, %stream, %y0_bytes, %c0
  %c2 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv7s2, %one, %t1x224x224x3, %x, %t64x7x7x3, %w0, %zero, %t1x112x112x64, %y0, %t1x1x1x64, %bias0, %relu, %t1x112x112x64, %y0, %c1
  %pooled_bytes = tfrt.constant.i64 802816
  %pooled, %c3 = tfrt_cuda.mem.allocate %allocator, %stream, %pooled_bytes, %c2
  %c4 = tfrt_cuda.dnn.pooling_forward %context, %dnn, %max_pool, %one, %t1x112x112x64, %y0, %zero, %t1x56x56x64, %pooled, %c3
  // layer1.0.downsample.0
  %y1_bytes = tfrt.constant.i64 3211264
  %y1, %c5 = tfrt_cuda.mem.allocate %allocator, %stream, %y1_bytes, %c4
  %c6 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %pooled, %t256x1x1x64, %w1, %zero, %t1x56x56x256, %y1, %t1x1x1x256, %bias1, %identity, %t1x56x56x256, %y1, %c5
  // layer1.0.conv1
  %y2_bytes = tfrt.constant.i64 802816
  %y2, %c7 = tfrt_cuda.mem.allocate %allocator, %stream, %y2_bytes, %c6
  %c8 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %pooled, %t64x1x1x64, %w2, %zero, %t1x56x56x64, %y2, %t1x1x1x64, %bias2, %relu, %t1x56x56x64, %y2, %c7
  // layer1.0.conv2
  %y3_bytes = tfrt.constant.i64 802816
  %y3, %c9 = tfrt_cuda.mem.allocate %allocator, %stream, %y3_bytes, %c8
  %c10 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y2, %t64x3x3x64, %w3, %zero, %t1x56x56x64, %y3, %t1x1x1x64, %bias3, %relu, %t1x56x56x64, %y3, %c9
  // layer1.0.conv3
  %y4_bytes = tfrt.constant.i64 3211264
  %y4, %c11 = tfrt_cuda.mem.allocate %allocator, %stream, %y4_bytes, %c10
  %c12 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y3, %t256x1x1x64, %w4, %one, %t1x56x56x256, %y1, %t1x1x1x256, %bias4, %relu, %t1x56x56x256, %y4, %c11
  // layer1.1.conv1
  %y5_bytes = tfrt.constant.i64 802816
  %y5, %c13 = tfrt_cuda.mem.allocate %allocator, %stream, %y5_bytes, %c12
  %c14 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y4, %t64x1x1x256, %w5, %zero, %t1x56x56x64, %y5, %t1x1x1x64, %bias5, %relu, %t1x56x56x64, %y5, %c13
  // layer1.1.conv2
  %y6_bytes = tfrt.constant.i64 802816
  %y6, %c15 = tfrt_cuda.mem.allocate %allocator, %stream, %y6_bytes, %c14
  %c16 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y5, %t64x3x3x64, %w6, %zero, %t1x56x56x64, %y6, %t1x1x1x64, %bias6, %relu, %t1x56x56x64, %y6, %c15
  // layer1.1.conv3
  %y7_bytes = tfrt.constant.i64 3211264
  %y7, %c17 = tfrt_cuda.mem.allocate %allocator, %stream, %y7_bytes, %c16
  %c18 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y6, %t256x1x1x64, %w7, %one, %t1x56x56x256, %y4, %t1x1x1x256, %bias7, %relu, %t1x56x56x256, %y7, %c17
  // layer1.2.conv1
  %y8_bytes = tfrt.constant.i64 802816
  %y8, %c19 = tfrt_cuda.mem.allocate %allocator, %stream, %y8_bytes, %c18
  %c20 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y7, %t64x1x1x256, %w8, %zero, %t1x56x56x64, %y8, %t1x1x1x64, %bias8, %relu, %t1x56x56x64, %y8, %c19
  // layer1.2.conv2
  %y9_bytes = tfrt.constant.i64 802816
  %y9, %c21 = tfrt_cuda.mem.allocate %allocator, %stream, %y9_bytes, %c20
  %c22 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y8, %t64x3x3x64, %w9, %zero, %t1x56x56x64, %y9, %t1x1x1x64, %bias9, %relu, %t1x56x56x64, %y9, %c21
  // layer1.2.conv3
  %y10_bytes = tfrt.constant.i64 3211264
  %y10, %c23 = tfrt_cuda.mem.allocate %allocator, %stream, %y10_bytes, %c22
  %c24 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y9, %t256x1x1x64, %w10, %one, %t1x56x56x256, %y7, %t1x1x1x256, %bias10, %relu, %t1x56x56x256, %y10, %c23
  // layer2.0.downsample.0
  %y11_bytes = tfrt.constant.i64 1605632
  %y11, %c25 = tfrt_cuda.mem.allocate %allocator, %stream, %y11_bytes, %c24
  %c26 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x56x56x256, %y10, %t512x1x1x256, %w11, %zero, %t1x28x28x512, %y11, %t1x1x1x512, %bias11, %identity, %t1x28x28x512, %y11, %c25
  // layer2.0.conv1
  %y12_bytes = tfrt.constant.i64 1605632
  %y12, %c27 = tfrt_cuda.mem.allocate %allocator, %stream, %y12_bytes, %c26
  %c28 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y10, %t128x1x1x256, %w12, %zero, %t1x56x56x128, %y12, %t1x1x1x128, %bias12, %relu, %t1x56x56x128, %y12, %c27
  // layer2.0.conv2
  %y13_bytes = tfrt.constant.i64 401408
  %y13, %c29 = tfrt_cuda.mem.allocate %allocator, %stream, %y13_bytes, %c28
  %c30 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x56x56x128, %y12, %t128x3x3x128, %w13, %zero, %t1x28x28x128, %y13, %t1x1x1x128, %bias13, %relu, %t1x28x28x128, %y13, %c29
  // layer2.0.conv3
  %y14_bytes = tfrt.constant.i64 1605632
  %y14, %c31 = tfrt_cuda.mem.allocate %allocator, %stream, %y14_bytes, %c30
  %c32 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y13, %t512x1x1x128, %w14, %one, %t1x28x28x512, %y11, %t1x1x1x512, %bias14, %relu, %t1x28x28x512, %y14, %c31
  // layer2.1.conv1
  %y15_bytes = tfrt.constant.i64 401408
  %y15, %c33 = tfrt_cuda.mem.allocate %allocator, %stream, %y15_bytes, %c32
  %c34 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y14, %t128x1x1x512, %w15, %zero, %t1x28x28x128, %y15, %t1x1x1x128, %bias15, %relu, %t1x28x28x128, %y15, %c33
  // layer2.1.conv2
  %y16_bytes = tfrt.constant.i64 401408
  %y16, %c35 = tfrt_cuda.mem.allocate %allocator, %stream, %y16_bytes, %c34
  %c36 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y15, %t128x3x3x128, %w16, %zero, %t1x28x28x128, %y16, %t1x1x1x128, %bias16, %relu, %t1x28x28x128, %y16, %c35
  // layer2.1.conv3
  %y17_bytes = tfrt.constant.i64 1605632
  %y17, %c37 = tfrt_cuda.mem.allocate %allocator, %stream, %y17_bytes, %c36
  %c38 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y16, %t512x1x1x128, %w17, %one, %t1x28x28x512, %y14, %t1x1x1x512, %bias17, %relu, %t1x28x28x512, %y17, %c37
  // layer2.2.conv1
  %y18_bytes = tfrt.constant.i64 401408
  %y18, %c39 = tfrt_cuda.mem.allocate %allocator, %stream, %y18_bytes, %c38
  %c40 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y17, %t128x1x1x512, %w18, %zero, %t1x28x28x128, %y18, %t1x1x1x128, %bias18, %relu, %t1x28x28x128, %y18, %c39
  // layer2.2.conv2
  %y19_bytes = tfrt.constant.i64 401408
  %y19, %c41 = tfrt_cuda.mem.allocate %allocator, %stream, %y19_bytes, %c40
  %c42 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y18, %t128x3x3x128, %w19, %zero, %t1x28x28x128, %y19, %t1x1x1x128, %bias19, %relu, %t1x28x28x128, %y19, %c41
  // layer2.2.conv3
  %y20_bytes = tfrt.constant.i64 1605632
  %y20, %c43 = tfrt_cuda.mem.allocate %allocator, %stream, %y20_bytes, %c42
  %c44 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y19, %t512x1x1x128, %w20, %one, %t1x28x28x512, %y17, %t1x1x1x512, %bias20, %relu, %t1x28x28x512, %y20, %c43
  // layer2.3.conv1
  %y21_bytes = tfrt.constant.i64 401408
  %y21, %c45 = tfrt_cuda.mem.allocate %allocator, %stream, %y21_bytes, %c44
  %c46 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y20, %t128x1x1x512, %w21, %zero, %t1x28x28x128, %y21, %t1x1x1x128, %bias21, %relu, %t1x28x28x128, %y21, %c45
  // layer2.3.conv2
  %y22_bytes = tfrt.constant.i64 401408
  %y22, %c47 = tfrt_cuda.mem.allocate %allocator, %stream, %y22_bytes, %c46
  %c48 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y21, %t128x3x3x128, %w22, %zero, %t1x28x28x128, %y22, %t1x1x1x128, %bias22, %relu, %t1x28x28x128, %y22, %c47
  // layer2.3.conv3
  %y23_bytes = tfrt.constant.i64 1605632
  %y23, %c49 = tfrt_cuda.mem.allocate %allocator, %stream, %y23_bytes, %c48
  %c50 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y22, %t512x1x1x128, %w23, %one, %t1x28x28x512, %y20, %t1x1x1x512, %bias23, %relu, %t1x28x28x512, %y23, %c49
  // layer3.0.downsample.0
  %y24_bytes = tfrt.constant.i64 802816
  %y24, %c51 = tfrt_cuda.mem.allocate %allocator, %stream, %y24_bytes, %c50
  %c52 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x28x28x512, %y23, %t1024x1x1x512, %w24, %zero, %t1x14x14x1024, %y24, %t1x1x1x1024, %bias24, %identity, %t1x14x14x1024, %y24, %c51
  // layer3.0.conv1
  %y25_bytes = tfrt.constant.i64 802816
  %y25, %c53 = tfrt_cuda.mem.allocate %allocator, %stream, %y25_bytes, %c52
  %c54 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y23, %t256x1x1x512, %w25, %zero, %t1x28x28x256, %y25, %t1x1x1x256, %bias25, %relu, %t1x28x28x256, %y25, %c53
  // layer3.0.conv2
  %y26_bytes = tfrt.constant.i64 200704
  %y26, %c55 = tfrt_cuda.mem.allocate %allocator, %stream, %y26_bytes, %c54
  %c56 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x28x28x256, %y25, %t256x3x3x256, %w26, %zero, %t1x14x14x256, %y26, %t1x1x1x256, %bias26, %relu, %t1x14x14x256, %y26, %c55
  // layer3.0.conv3
  %y27_bytes = tfrt.constant.i64 802816
  %y27, %c57 = tfrt_cuda.mem.allocate %allocator, %stream, %y27_bytes, %c56
  %c58 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y26, %t1024x1x1x256, %w27, %one, %t1x14x14x1024, %y24, %t1x1x1x1024, %bias27, %relu, %t1x14x14x1024, %y27, %c57
  // layer3.1.conv1
  %y28_bytes = tfrt.constant.i64 200704
  %y28, %c59 = tfrt_cuda.mem.allocate %allocator, %stream, %y28_bytes, %c58
  %c60 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y27, %t256x1x1x1024, %w28, %zero, %t1x14x14x256, %y28, %t1x1x1x256, %bias28, %relu, %t1x14x14x256, %y28, %c59
  // layer3.1.conv2
  %y29_bytes = tfrt.constant.i64 200704
  %y29, %c61 = tfrt_cuda.mem.allocate %allocator, %stream, %y29_bytes, %c60
  %c62 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y28, %t256x3x3x256, %w29, %zero, %t1x14x14x256, %y29, %t1x1x1x256, %bias29, %relu, %t1x14x14x256, %y29, %c61
  // layer3.1.conv3
  %y30_bytes = tfrt.constant.i64 802816
  %y30, %c63 = tfrt_cuda.mem.allocate %allocator, %stream, %y30_bytes, %c62
  %c64 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y29, %t1024x1x1x256, %w30, %one, %t1x14x14x1024, %y27, %t1x1x1x1024, %bias30, %relu, %t1x14x14x1024, %y30, %c63
  // layer3.2.conv1
  %y31_bytes = tfrt.constant.i64 200704
  %y31, %c65 = tfrt_cuda.mem.allocate %allocator, %stream, %y31_bytes, %c64
  %c66 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y30, %t256x1x1x1024, %w31, %zero, %t1x14x14x256, %y31, %t1x1x1x256, %bias31, %relu, %t1x14x14x256, %y31, %c65
  // layer3.2.conv2
  %y32_bytes = tfrt.constant.i64 200704
  %y32, %c67 = tfrt_cuda.mem.allocate %allocator, %stream, %y32_bytes, %c66
  %c68 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y31, %t256x3x3x256, %w32, %zero, %t1x14x14x256, %y32, %t1x1x1x256, %bias32, %relu, %t1x14x14x256, %y32, %c67
  // layer3.2.conv3
  %y33_bytes = tfrt.constant.i64 802816
  %y33, %c69 = tfrt_cuda.mem.allocate %allocator, %stream, %y33_bytes, %c68
  %c70 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y32, %t1024x1x1x256, %w33, %one, %t1x14x14x1024, %y30, %t1x1x1x1024, %bias33, %relu, %t1x14x14x1024, %y33, %c69
  // layer3.3.conv1
  %y34_bytes = tfrt.constant.i64 200704
  %y34, %c71 = tfrt_cuda.mem.allocate %allocator, %stream, %y34_bytes, %c70
  %c72 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y33, %t256x1x1x1024, %w34, %zero, %t1x14x14x256, %y34, %t1x1x1x256, %bias34, %relu, %t1x14x14x256, %y34, %c71
  // layer3.3.conv2
  %y35_bytes = tfrt.constant.i64 200704
  %y35, %c73 = tfrt_cuda.mem.allocate %allocator, %stream, %y35_bytes, %c72
  %c74 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y34, %t256x3x3x256, %w35, %zero, %t1x14x14x256, %y35, %t1x1x1x256, %bias35, %relu, %t1x14x14x256, %y35, %c73
  // layer3.3.conv3
  %y36_bytes = tfrt.constant.i64 802816
  %y36, %c75 = tfrt_cuda.mem.allocate %allocator, %stream, %y36_bytes, %c74
  %c76 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y35, %t1024x1x1x256, %w36, %one, %t1x14x14x1024, %y33, %t1x1x1x1024, %bias36, %relu, %t1x14x14x1024, %y36, %c75
  // layer3.4.conv1
  %y37_bytes = tfrt.constant.i64 200704
  %y37, %c77 = tfrt_cuda.mem.allocate %allocator, %stream, %y37_bytes, %c76
  %c78 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y36, %t256x1x1x1024, %w37, %zero, %t1x14x14x256, %y37, %t1x1x1x256, %bias37, %relu, %t1x14x14x256, %y37, %c77
  // layer3.4.conv2
  %y38_bytes = tfrt.constant.i64 200704
  %y38, %c79 = tfrt_cuda.mem.allocate %allocator, %stream, %y38_bytes, %c78
  %c80 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y37, %t256x3x3x256, %w38, %zero, %t1x14x14x256, %y38, %t1x1x1x256, %bias38, %relu, %t1x14x14x256, %y38, %c79
  // layer3.4.conv3
  %y39_bytes = tfrt.constant.i64 802816
  %y39, %c81 = tfrt_cuda.mem.allocate %allocator, %stream, %y39_bytes, %c80
  %c82 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y38, %t1024x1x1x256, %w39, %one, %t1x14x14x1024, %y36, %t1x1x1x1024, %bias39, %relu, %t1x14x14x1024, %y39, %c81
  // layer3.5.conv1
  %y40_bytes = tfrt.constant.i64 200704
  %y40, %c83 = tfrt_cuda.mem.allocate %allocator, %stream, %y40_bytes, %c82
  %c84 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y39, %t256x1x1x1024, %w40, %zero, %t1x14x14x256, %y40, %t1x1x1x256, %bias40, %relu, %t1x14x14x256, %y40, %c83
  // layer3.5.conv2
  %y41_bytes = tfrt.constant.i64 200704
  %y41, %c85 = tfrt_cuda.mem.allocate %allocator, %stream, %y41_bytes, %c84
  %c86 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y40, %t256x3x3x256, %w41, %zero, %t1x14x14x256, %y41, %t1x1x1x256, %bias41, %relu, %t1x14x14x256, %y41, %c85
  // layer3.5.conv3
  %y42_bytes = tfrt.constant.i64 802816
  %y42, %c87 = tfrt_cuda.mem.allocate %allocator, %stream, %y42_bytes, %c86
  %c88 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y41, %t1024x1x1x256, %w42, %one, %t1x14x14x1024, %y39, %t1x1x1x1024, %bias42, %relu, %t1x14x14x1024, %y42, %c87
  // layer4.0.downsample.0
  %y43_bytes = tfrt.constant.i64 401408
  %y43, %c89 = tfrt_cuda.mem.allocate %allocator, %stream, %y43_bytes, %c88
  %c90 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x14x14x1024, %y42, %t2048x1x1x1024, %w43, %zero, %t1x7x7x2048, %y43, %t1x1x1x2048, %bias43, %identity, %t1x7x7x2048, %y43, %c89
  // layer4.0.conv1
  %y44_bytes = tfrt.constant.i64 401408
  %y44, %c91 = tfrt_cuda.mem.allocate %allocator, %stream, %y44_bytes, %c90
  %c92 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y42, %t512x1x1x1024, %w44, %zero, %t1x14x14x512, %y44, %t1x1x1x512, %bias44, %relu, %t1x14x14x512, %y44, %c91
  // layer4.0.conv2
  %y45_bytes = tfrt.constant.i64 100352
  %y45, %c93 = tfrt_cuda.mem.allocate %allocator, %stream, %y45_bytes, %c92
  %c94 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x14x14x512, %y44, %t512x3x3x512, %w45, %zero, %t1x7x7x512, %y45, %t1x1x1x512, %bias45, %relu, %t1x7x7x512, %y45, %c93
  // layer4.0.conv3
  %y46_bytes = tfrt.constant.i64 401408
  %y46, %c95 = tfrt_cuda.mem.allocate %allocator, %stream, %y46_bytes, %c94
  %c96 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y45, %t2048x1x1x512, %w46, %one, %t1x7x7x2048, %y43, %t1x1x1x2048, %bias46, %relu, %t1x7x7x2048, %y46, %c95
  // layer4.1.conv1
  %y47_bytes = tfrt.constant.i64 100352
  %y47, %c97 = tfrt_cuda.mem.allocate %allocator, %stream, %y47_bytes, %c96
  %c98 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x2048, %y46, %t512x1x1x2048, %w47, %zero, %t1x7x7x512, %y47, %t1x1x1x512, %bias47, %relu, %t1x7x7x512, %y47, %c97
  // layer4.1.conv2
  %y48_bytes = tfrt.constant.i64 100352
  %y48, %c99 = tfrt_cuda.mem.allocate %allocator, %stream, %y48_bytes, %c98
  %c100 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x7x7x512, %y47, %t512x3x3x512, %w48, %zero, %t1x7x7x512, %y48, %t1x1x1x512, %bias48, %relu, %t1x7x7x512, %y48, %c99
  // layer4.1.conv3
  %y49_bytes = tfrt.constant.i64 401408
  %y49, %c101 = tfrt_cuda.mem.allocate %allocator, %stream, %y49_bytes, %c100
  %c102 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y48, %t2048x1x1x512, %w49, %one, %t1x7x7x2048, %y46, %t1x1x1x2048, %bias49, %relu, %t1x7x7x2048, %y49, %c101
  // layer4.2.conv1
  %y50_bytes = tfrt.constant.i64 100352
  %y50, %c103 = tfrt_cuda.mem.allocate %allocator, %stream, %y50_bytes, %c102
  %c104 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x2048, %y49, %t512x1x1x2048, %w50, %zero, %t1x7x7x512, %y50, %t1x1x1x512, %bias50, %relu, %t1x7x7x512, %y50, %c103
  // layer4.2.conv2
  %y51_bytes = tfrt.constant.i64 100352
  %y51, %c105 = tfrt_cuda.mem.allocate %allocator, %stream, %y51_bytes, %c104
  %c106 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x7x7x512, %y50, %t512x3x3x512, %w51, %zero, %t1x7x7x512, %y51, %t1x1x1x512, %bias51, %relu, %t1x7x7x512, %y51, %c105
  // layer4.2.conv3
  %y52_bytes = tfrt.constant.i64 401408
  %y52, %c107 = tfrt_cuda.mem.allocate %allocator, %stream, %y52_bytes, %c106
  %c108 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y51, %t2048x1x1x512, %w52, %one, %t1x7x7x2048, %y49, %t1x1x1x2048, %bias52, %relu, %t1x7x7x2048, %y52, %c107
  %mean_bytes = tfrt.constant.i64 8192
  %mean, %c109 = tfrt_cuda.mem.allocate %allocator, %stream, %mean_bytes, %c108
  %c110 = tfrt_cuda.dnn.pooling_forward %context, %dnn, %average_pool, %one, %t1x7x7x2048, %y52, %zero, %t1x1x1x2048, %mean, %c109
  // fc: rows of ours are columns of BLAS, so that it computes the transpose.
  %inputs = tfrt.constant.i32 2048
  %outputs = tfrt.constant.i32 1000
  %rows = tfrt.constant.i32 1
  %y53_bytes = tfrt.constant.i64 4000
  %y53, %c111 = tfrt_cuda.mem.allocate %allocator, %stream, %y53_bytes, %c110
  %element = tfrt.constant.i32 0
  %float = tfrt.constant.i32 0
  %any = tfrt.constant.i32 -1
  %c112 = tfrt_cuda.blas.gemm.ex %context, %blas, %plain, %plain, %outputs, %rows, %inputs, %one, %w53, %element, %outputs, %mean, %element, %inputs, %zero, %y53, %float, %outputs, %float, %any, %c111
  %no_residual = tfrt.constant.i64 0
  %row_count = tfrt.constant.i64 1
  %column_count = tfrt.constant.i64 1000
  %add_bias_blocks = tfrt.constant.ui32 4
  %c113 = tfrt_cuda.function.launch %add_bias %add_bias_blocks %single %single %threads %single %single %nothing %stream %c112
    { cooperative = false } (%y53, %y53, %bias53, %no_residual, %row_count, %column_count, %nothing) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, i64, i64, i64, ui32)
  tfrt.return %y53, %c113 : !tfrt_cuda.buffer, !tfrt.chain
}

// Copies scores to the host.
func @download(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %y: !tfrt_cuda.buffer, %c0: !tfrt.chain) -> (!t.tensor, !tfrt.chain) {
  %bytes = tfrt.constant.i64 4000
  %to_fill = tfrt_dht.create_uninitialized_tensor.f32.2 [1 : i64, 1000 : i64]
  %scores_buffer, %c1 = tfrt_dht.get_buffer %to_fill, %c0
  %c2 = tfrt_cuda.mem.copy_device_to_host %context, %scores_buffer, %y, %bytes, %stream, %c1
  %scores = "tfrt.alias.value"(%c2, %to_fill) : (!tfrt.chain, !t.tensor) -> !t.tensor
  tfrt.return %scores, %c2 : !t.tensor, !tfrt.chain
}

// Records @compute as a graph, which reads the images and writes the scores where they are now.
func @record(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %x: !tfrt_cuda.buffer, %c0: !tfrt.chain) -> (!tfrt_cuda.graph, !tfrt_cuda.buffer, !tfrt.chain) {
  %y0_bytes = tfrt.constant.i64 3211264
  %y0, %c1 = tfrt_cuda.mem.allocate %allocator, %stream, %y0_bytes, %c0
  %pooled_bytes = tfrt.constant.i64 802816
  %pooled, %c2 = tfrt_cuda.mem.allocate %allocator, %stream, %pooled_bytes, %c1
  %y1_bytes = tfrt.constant.i64 3211264
  %y1, %c3 = tfrt_cuda.mem.allocate %allocator, %stream, %y1_bytes, %c2
  %y2_bytes = tfrt.constant.i64 802816
  %y2, %c4 = tfrt_cuda.mem.allocate %allocator, %stream, %y2_bytes, %c3
  %y3_bytes = tfrt.constant.i64 802816
  %y3, %c5 = tfrt_cuda.mem.allocate %allocator, %stream, %y3_bytes, %c4
  %y4_bytes = tfrt.constant.i64 3211264
  %y4, %c6 = tfrt_cuda.mem.allocate %allocator, %stream, %y4_bytes, %c5
  %y5_bytes = tfrt.constant.i64 802816
  %y5, %c7 = tfrt_cuda.mem.allocate %allocator, %stream, %y5_bytes, %c6
  %y6_bytes = tfrt.constant.i64 802816
  %y6, %c8 = tfrt_cuda.mem.allocate %allocator, %stream, %y6_bytes, %c7
  %y7_bytes = tfrt.constant.i64 3211264
  %y7, %c9 = tfrt_cuda.mem.allocate %allocator, %stream, %y7_bytes, %c8
  %y8_bytes = tfrt.constant.i64 802816
  %y8, %c10 = tfrt_cuda.mem.allocate %allocator, %stream, %y8_bytes, %c9
  %y9_bytes = tfrt.constant.i64 802816
  %y9, %c11 = tfrt_cuda.mem.allocate %allocator, %stream, %y9_bytes, %c10
  %y10_bytes = tfrt.constant.i64 3211264
  %y10, %c12 = tfrt_cuda.mem.allocate %allocator, %stream, %y10_bytes, %c11
  %y11_bytes = tfrt.constant.i64 1605632
  %y11, %c13 = tfrt_cuda.mem.allocate %allocator, %stream, %y11_bytes, %c12
  %y12_bytes = tfrt.constant.i64 1605632
  %y12, %c14 = tfrt_cuda.mem.allocate %allocator, %stream, %y12_bytes, %c13
  %y13_bytes = tfrt.constant.i64 401408
  %y13, %c15 = tfrt_cuda.mem.allocate %allocator, %stream, %y13_bytes, %c14
  %y14_bytes = tfrt.constant.i64 1605632
  %y14, %c16 = tfrt_cuda.mem.allocate %allocator, %stream, %y14_bytes, %c15
  %y15_bytes = tfrt.constant.i64 401408
  %y15, %c17 = tfrt_cuda.mem.allocate %allocator, %stream, %y15_bytes, %c16
  %y16_bytes = tfrt.constant.i64 401408
  %y16, %c18 = tfrt_cuda.mem.allocate %allocator, %stream, %y16_bytes, %c17
  %y17_bytes = tfrt.constant.i64 1605632
  %y17, %c19 = tfrt_cuda.mem.allocate %allocator, %stream, %y17_bytes, %c18
  %y18_bytes = tfrt.constant.i64 401408
  %y18, %c20 = tfrt_cuda.mem.allocate %allocator, %stream, %y18_bytes, %c19
  %y19_bytes = tfrt.constant.i64 401408
  %y19, %c21 = tfrt_cuda.mem.allocate %allocator, %stream, %y19_bytes, %c20
  %y20_bytes = tfrt.constant.i64 1605632
  %y20, %c22 = tfrt_cuda.mem.allocate %allocator, %stream, %y20_bytes, %c21
  %y21_bytes = tfrt.constant.i64 401408
  %y21, %c23 = tfrt_cuda.mem.allocate %allocator, %stream, %y21_bytes, %c22
  %y22_bytes = tfrt.constant.i64 401408
  %y22, %c24 = tfrt_cuda.mem.allocate %allocator, %stream, %y22_bytes, %c23
  %y23_bytes = tfrt.constant.i64 1605632
  %y23, %c25 = tfrt_cuda.mem.allocate %allocator, %stream, %y23_bytes, %c24
  %y24_bytes = tfrt.constant.i64 802816
  %y24, %c26 = tfrt_cuda.mem.allocate %allocator, %stream, %y24_bytes, %c25
  %y25_bytes = tfrt.constant.i64 802816
  %y25, %c27 = tfrt_cuda.mem.allocate %allocator, %stream, %y25_bytes, %c26
  %y26_bytes = tfrt.constant.i64 200704
  %y26, %c28 = tfrt_cuda.mem.allocate %allocator, %stream, %y26_bytes, %c27
  %y27_bytes = tfrt.constant.i64 802816
  %y27, %c29 = tfrt_cuda.mem.allocate %allocator, %stream, %y27_bytes, %c28
  %y28_bytes = tfrt.constant.i64 200704
  %y28, %c30 = tfrt_cuda.mem.allocate %allocator, %stream, %y28_bytes, %c29
  %y29_bytes = tfrt.constant.i64 200704
  %y29, %c31 = tfrt_cuda.mem.allocate %allocator, %stream, %y29_bytes, %c30
  %y30_bytes = tfrt.constant.i64 802816
  %y30, %c32 = tfrt_cuda.mem.allocate %allocator, %stream, %y30_bytes, %c31
  %y31_bytes = tfrt.constant.i64 200704
  %y31, %c33 = tfrt_cuda.mem.allocate %allocator, %stream, %y31_bytes, %c32
  %y32_bytes = tfrt.constant.i64 200704
  %y32, %c34 = tfrt_cuda.mem.allocate %allocator, %stream, %y32_bytes, %c33
  %y33_bytes = tfrt.constant.i64 802816
  %y33, %c35 = tfrt_cuda.mem.allocate %allocator, %stream, %y33_bytes, %c34
  %y34_bytes = tfrt.constant.i64 200704
  %y34, %c36 = tfrt_cuda.mem.allocate %allocator, %stream, %y34_bytes, %c35
  %y35_bytes = tfrt.constant.i64 200704
  %y35, %c37 = tfrt_cuda.mem.allocate %allocator, %stream, %y35_bytes, %c36
  %y36_bytes = tfrt.constant.i64 802816
  %y36, %c38 = tfrt_cuda.mem.allocate %allocator, %stream, %y36_bytes, %c37
  %y37_bytes = tfrt.constant.i64 200704
  %y37, %c39 = tfrt_cuda.mem.allocate %allocator, %stream, %y37_bytes, %c38
  %y38_bytes = tfrt.constant.i64 200704
  %y38, %c40 = tfrt_cuda.mem.allocate %allocator, %stream, %y38_bytes, %c39
  %y39_bytes = tfrt.constant.i64 802816
  %y39, %c41 = tfrt_cuda.mem.allocate %allocator, %stream, %y39_bytes, %c40
  %y40_bytes = tfrt.constant.i64 200704
  %y40, %c42 = tfrt_cuda.mem.allocate %allocator, %stream, %y40_bytes, %c41
  %y41_bytes = tfrt.constant.i64 200704
  %y41, %c43 = tfrt_cuda.mem.allocate %allocator, %stream, %y41_bytes, %c42
  %y42_bytes = tfrt.constant.i64 802816
  %y42, %c44 = tfrt_cuda.mem.allocate %allocator, %stream, %y42_bytes, %c43
  %y43_bytes = tfrt.constant.i64 401408
  %y43, %c45 = tfrt_cuda.mem.allocate %allocator, %stream, %y43_bytes, %c44
  %y44_bytes = tfrt.constant.i64 401408
  %y44, %c46 = tfrt_cuda.mem.allocate %allocator, %stream, %y44_bytes, %c45
  %y45_bytes = tfrt.constant.i64 100352
  %y45, %c47 = tfrt_cuda.mem.allocate %allocator, %stream, %y45_bytes, %c46
  %y46_bytes = tfrt.constant.i64 401408
  %y46, %c48 = tfrt_cuda.mem.allocate %allocator, %stream, %y46_bytes, %c47
  %y47_bytes = tfrt.constant.i64 100352
  %y47, %c49 = tfrt_cuda.mem.allocate %allocator, %stream, %y47_bytes, %c48
  %y48_bytes = tfrt.constant.i64 100352
  %y48, %c50 = tfrt_cuda.mem.allocate %allocator, %stream, %y48_bytes, %c49
  %y49_bytes = tfrt.constant.i64 401408
  %y49, %c51 = tfrt_cuda.mem.allocate %allocator, %stream, %y49_bytes, %c50
  %y50_bytes = tfrt.constant.i64 100352
  %y50, %c52 = tfrt_cuda.mem.allocate %allocator, %stream, %y50_bytes, %c51
  %y51_bytes = tfrt.constant.i64 100352
  %y51, %c53 = tfrt_cuda.mem.allocate %allocator, %stream, %y51_bytes, %c52
  %y52_bytes = tfrt.constant.i64 401408
  %y52, %c54 = tfrt_cuda.mem.allocate %allocator, %stream, %y52_bytes, %c53
  %mean_bytes = tfrt.constant.i64 8192
  %mean, %c55 = tfrt_cuda.mem.allocate %allocator, %stream, %mean_bytes, %c54
  %y53_bytes = tfrt.constant.i64 4000
  %y53, %c56 = tfrt_cuda.mem.allocate %allocator, %stream, %y53_bytes, %c55
  %c57 = tfrt_cuda.graph.begin_capture %stream, %c56
  %single = tfrt.constant.ui32 1
  %nothing = tfrt.constant.ui32 0
  %threads = tfrt.constant.ui32 256
  %one = tfrt.constant.f32 1.0
  %zero = tfrt.constant.f32 0.0
  %plain = tfrt.constant.i32 0
  // conv1
  %c58 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv7s2, %one, %t1x224x224x3, %x, %t64x7x7x3, %w0, %zero, %t1x112x112x64, %y0, %t1x1x1x64, %bias0, %relu, %t1x112x112x64, %y0, %c57
  %c59 = tfrt_cuda.dnn.pooling_forward %context, %dnn, %max_pool, %one, %t1x112x112x64, %y0, %zero, %t1x56x56x64, %pooled, %c58
  // layer1.0.downsample.0
  %c60 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %pooled, %t256x1x1x64, %w1, %zero, %t1x56x56x256, %y1, %t1x1x1x256, %bias1, %identity, %t1x56x56x256, %y1, %c59
  // layer1.0.conv1
  %c61 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %pooled, %t64x1x1x64, %w2, %zero, %t1x56x56x64, %y2, %t1x1x1x64, %bias2, %relu, %t1x56x56x64, %y2, %c60
  // layer1.0.conv2
  %c62 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y2, %t64x3x3x64, %w3, %zero, %t1x56x56x64, %y3, %t1x1x1x64, %bias3, %relu, %t1x56x56x64, %y3, %c61
  // layer1.0.conv3
  %c63 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y3, %t256x1x1x64, %w4, %one, %t1x56x56x256, %y1, %t1x1x1x256, %bias4, %relu, %t1x56x56x256, %y4, %c62
  // layer1.1.conv1
  %c64 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y4, %t64x1x1x256, %w5, %zero, %t1x56x56x64, %y5, %t1x1x1x64, %bias5, %relu, %t1x56x56x64, %y5, %c63
  // layer1.1.conv2
  %c65 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y5, %t64x3x3x64, %w6, %zero, %t1x56x56x64, %y6, %t1x1x1x64, %bias6, %relu, %t1x56x56x64, %y6, %c64
  // layer1.1.conv3
  %c66 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y6, %t256x1x1x64, %w7, %one, %t1x56x56x256, %y4, %t1x1x1x256, %bias7, %relu, %t1x56x56x256, %y7, %c65
  // layer1.2.conv1
  %c67 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y7, %t64x1x1x256, %w8, %zero, %t1x56x56x64, %y8, %t1x1x1x64, %bias8, %relu, %t1x56x56x64, %y8, %c66
  // layer1.2.conv2
  %c68 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x56x56x64, %y8, %t64x3x3x64, %w9, %zero, %t1x56x56x64, %y9, %t1x1x1x64, %bias9, %relu, %t1x56x56x64, %y9, %c67
  // layer1.2.conv3
  %c69 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x64, %y9, %t256x1x1x64, %w10, %one, %t1x56x56x256, %y7, %t1x1x1x256, %bias10, %relu, %t1x56x56x256, %y10, %c68
  // layer2.0.downsample.0
  %c70 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x56x56x256, %y10, %t512x1x1x256, %w11, %zero, %t1x28x28x512, %y11, %t1x1x1x512, %bias11, %identity, %t1x28x28x512, %y11, %c69
  // layer2.0.conv1
  %c71 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x56x56x256, %y10, %t128x1x1x256, %w12, %zero, %t1x56x56x128, %y12, %t1x1x1x128, %bias12, %relu, %t1x56x56x128, %y12, %c70
  // layer2.0.conv2
  %c72 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x56x56x128, %y12, %t128x3x3x128, %w13, %zero, %t1x28x28x128, %y13, %t1x1x1x128, %bias13, %relu, %t1x28x28x128, %y13, %c71
  // layer2.0.conv3
  %c73 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y13, %t512x1x1x128, %w14, %one, %t1x28x28x512, %y11, %t1x1x1x512, %bias14, %relu, %t1x28x28x512, %y14, %c72
  // layer2.1.conv1
  %c74 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y14, %t128x1x1x512, %w15, %zero, %t1x28x28x128, %y15, %t1x1x1x128, %bias15, %relu, %t1x28x28x128, %y15, %c73
  // layer2.1.conv2
  %c75 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y15, %t128x3x3x128, %w16, %zero, %t1x28x28x128, %y16, %t1x1x1x128, %bias16, %relu, %t1x28x28x128, %y16, %c74
  // layer2.1.conv3
  %c76 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y16, %t512x1x1x128, %w17, %one, %t1x28x28x512, %y14, %t1x1x1x512, %bias17, %relu, %t1x28x28x512, %y17, %c75
  // layer2.2.conv1
  %c77 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y17, %t128x1x1x512, %w18, %zero, %t1x28x28x128, %y18, %t1x1x1x128, %bias18, %relu, %t1x28x28x128, %y18, %c76
  // layer2.2.conv2
  %c78 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y18, %t128x3x3x128, %w19, %zero, %t1x28x28x128, %y19, %t1x1x1x128, %bias19, %relu, %t1x28x28x128, %y19, %c77
  // layer2.2.conv3
  %c79 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y19, %t512x1x1x128, %w20, %one, %t1x28x28x512, %y17, %t1x1x1x512, %bias20, %relu, %t1x28x28x512, %y20, %c78
  // layer2.3.conv1
  %c80 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y20, %t128x1x1x512, %w21, %zero, %t1x28x28x128, %y21, %t1x1x1x128, %bias21, %relu, %t1x28x28x128, %y21, %c79
  // layer2.3.conv2
  %c81 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x28x28x128, %y21, %t128x3x3x128, %w22, %zero, %t1x28x28x128, %y22, %t1x1x1x128, %bias22, %relu, %t1x28x28x128, %y22, %c80
  // layer2.3.conv3
  %c82 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x128, %y22, %t512x1x1x128, %w23, %one, %t1x28x28x512, %y20, %t1x1x1x512, %bias23, %relu, %t1x28x28x512, %y23, %c81
  // layer3.0.downsample.0
  %c83 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x28x28x512, %y23, %t1024x1x1x512, %w24, %zero, %t1x14x14x1024, %y24, %t1x1x1x1024, %bias24, %identity, %t1x14x14x1024, %y24, %c82
  // layer3.0.conv1
  %c84 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x28x28x512, %y23, %t256x1x1x512, %w25, %zero, %t1x28x28x256, %y25, %t1x1x1x256, %bias25, %relu, %t1x28x28x256, %y25, %c83
  // layer3.0.conv2
  %c85 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x28x28x256, %y25, %t256x3x3x256, %w26, %zero, %t1x14x14x256, %y26, %t1x1x1x256, %bias26, %relu, %t1x14x14x256, %y26, %c84
  // layer3.0.conv3
  %c86 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y26, %t1024x1x1x256, %w27, %one, %t1x14x14x1024, %y24, %t1x1x1x1024, %bias27, %relu, %t1x14x14x1024, %y27, %c85
  // layer3.1.conv1
  %c87 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y27, %t256x1x1x1024, %w28, %zero, %t1x14x14x256, %y28, %t1x1x1x256, %bias28, %relu, %t1x14x14x256, %y28, %c86
  // layer3.1.conv2
  %c88 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y28, %t256x3x3x256, %w29, %zero, %t1x14x14x256, %y29, %t1x1x1x256, %bias29, %relu, %t1x14x14x256, %y29, %c87
  // layer3.1.conv3
  %c89 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y29, %t1024x1x1x256, %w30, %one, %t1x14x14x1024, %y27, %t1x1x1x1024, %bias30, %relu, %t1x14x14x1024, %y30, %c88
  // layer3.2.conv1
  %c90 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y30, %t256x1x1x1024, %w31, %zero, %t1x14x14x256, %y31, %t1x1x1x256, %bias31, %relu, %t1x14x14x256, %y31, %c89
  // layer3.2.conv2
  %c91 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y31, %t256x3x3x256, %w32, %zero, %t1x14x14x256, %y32, %t1x1x1x256, %bias32, %relu, %t1x14x14x256, %y32, %c90
  // layer3.2.conv3
  %c92 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y32, %t1024x1x1x256, %w33, %one, %t1x14x14x1024, %y30, %t1x1x1x1024, %bias33, %relu, %t1x14x14x1024, %y33, %c91
  // layer3.3.conv1
  %c93 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y33, %t256x1x1x1024, %w34, %zero, %t1x14x14x256, %y34, %t1x1x1x256, %bias34, %relu, %t1x14x14x256, %y34, %c92
  // layer3.3.conv2
  %c94 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y34, %t256x3x3x256, %w35, %zero, %t1x14x14x256, %y35, %t1x1x1x256, %bias35, %relu, %t1x14x14x256, %y35, %c93
  // layer3.3.conv3
  %c95 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y35, %t1024x1x1x256, %w36, %one, %t1x14x14x1024, %y33, %t1x1x1x1024, %bias36, %relu, %t1x14x14x1024, %y36, %c94
  // layer3.4.conv1
  %c96 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y36, %t256x1x1x1024, %w37, %zero, %t1x14x14x256, %y37, %t1x1x1x256, %bias37, %relu, %t1x14x14x256, %y37, %c95
  // layer3.4.conv2
  %c97 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y37, %t256x3x3x256, %w38, %zero, %t1x14x14x256, %y38, %t1x1x1x256, %bias38, %relu, %t1x14x14x256, %y38, %c96
  // layer3.4.conv3
  %c98 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y38, %t1024x1x1x256, %w39, %one, %t1x14x14x1024, %y36, %t1x1x1x1024, %bias39, %relu, %t1x14x14x1024, %y39, %c97
  // layer3.5.conv1
  %c99 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y39, %t256x1x1x1024, %w40, %zero, %t1x14x14x256, %y40, %t1x1x1x256, %bias40, %relu, %t1x14x14x256, %y40, %c98
  // layer3.5.conv2
  %c100 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x14x14x256, %y40, %t256x3x3x256, %w41, %zero, %t1x14x14x256, %y41, %t1x1x1x256, %bias41, %relu, %t1x14x14x256, %y41, %c99
  // layer3.5.conv3
  %c101 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x256, %y41, %t1024x1x1x256, %w42, %one, %t1x14x14x1024, %y39, %t1x1x1x1024, %bias42, %relu, %t1x14x14x1024, %y42, %c100
  // layer4.0.downsample.0
  %c102 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s2, %one, %t1x14x14x1024, %y42, %t2048x1x1x1024, %w43, %zero, %t1x7x7x2048, %y43, %t1x1x1x2048, %bias43, %identity, %t1x7x7x2048, %y43, %c101
  // layer4.0.conv1
  %c103 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x14x14x1024, %y42, %t512x1x1x1024, %w44, %zero, %t1x14x14x512, %y44, %t1x1x1x512, %bias44, %relu, %t1x14x14x512, %y44, %c102
  // layer4.0.conv2
  %c104 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s2, %one, %t1x14x14x512, %y44, %t512x3x3x512, %w45, %zero, %t1x7x7x512, %y45, %t1x1x1x512, %bias45, %relu, %t1x7x7x512, %y45, %c103
  // layer4.0.conv3
  %c105 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y45, %t2048x1x1x512, %w46, %one, %t1x7x7x2048, %y43, %t1x1x1x2048, %bias46, %relu, %t1x7x7x2048, %y46, %c104
  // layer4.1.conv1
  %c106 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x2048, %y46, %t512x1x1x2048, %w47, %zero, %t1x7x7x512, %y47, %t1x1x1x512, %bias47, %relu, %t1x7x7x512, %y47, %c105
  // layer4.1.conv2
  %c107 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x7x7x512, %y47, %t512x3x3x512, %w48, %zero, %t1x7x7x512, %y48, %t1x1x1x512, %bias48, %relu, %t1x7x7x512, %y48, %c106
  // layer4.1.conv3
  %c108 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y48, %t2048x1x1x512, %w49, %one, %t1x7x7x2048, %y46, %t1x1x1x2048, %bias49, %relu, %t1x7x7x2048, %y49, %c107
  // layer4.2.conv1
  %c109 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x2048, %y49, %t512x1x1x2048, %w50, %zero, %t1x7x7x512, %y50, %t1x1x1x512, %bias50, %relu, %t1x7x7x512, %y50, %c108
  // layer4.2.conv2
  %c110 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv3s1, %one, %t1x7x7x512, %y50, %t512x3x3x512, %w51, %zero, %t1x7x7x512, %y51, %t1x1x1x512, %bias51, %relu, %t1x7x7x512, %y51, %c109
  // layer4.2.conv3
  %c111 = tfrt_cuda.dnn.convolution_bias_activation_forward %context, %dnn, %conv1s1, %one, %t1x7x7x512, %y51, %t2048x1x1x512, %w52, %one, %t1x7x7x2048, %y49, %t1x1x1x2048, %bias52, %relu, %t1x7x7x2048, %y52, %c110
  %c112 = tfrt_cuda.dnn.pooling_forward %context, %dnn, %average_pool, %one, %t1x7x7x2048, %y52, %zero, %t1x1x1x2048, %mean, %c111
  // fc: rows of ours are columns of BLAS, so that it computes the transpose.
  %inputs = tfrt.constant.i32 2048
  %outputs = tfrt.constant.i32 1000
  %rows = tfrt.constant.i32 1
  %element = tfrt.constant.i32 0
  %float = tfrt.constant.i32 0
  %any = tfrt.constant.i32 -1
  %c113 = tfrt_cuda.blas.gemm.ex %context, %blas, %plain, %plain, %outputs, %rows, %inputs, %one, %w53, %element, %outputs, %mean, %element, %inputs, %zero, %y53, %float, %outputs, %float, %any, %c112
  %no_residual = tfrt.constant.i64 0
  %row_count = tfrt.constant.i64 1
  %column_count = tfrt.constant.i64 1000
  %add_bias_blocks = tfrt.constant.ui32 4
  %c114 = tfrt_cuda.function.launch %add_bias %add_bias_blocks %single %single %threads %single %single %nothing %stream %c113
    { cooperative = false } (%y53, %y53, %bias53, %no_residual, %row_count, %column_count, %nothing) : (!tfrt_cuda.buffer, !tfrt_cuda.buffer, !tfrt_cuda.buffer, i64, i64, i64, ui32)
  %graph, %c115 = tfrt_cuda.graph.end_capture %stream, %c114
  tfrt.return %graph, %y53, %c115 : !tfrt_cuda.graph, !tfrt_cuda.buffer, !tfrt.chain
}

// Queues a graph of @record.
func @replay(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %graph: !tfrt_cuda.graph, %c0: !tfrt.chain) -> !tfrt.chain {
  %c1 = tfrt_cuda.graph.launch %graph, %stream, %c0
  tfrt.return %c1 : !tfrt.chain
}

// The chain is available when all queued work is done.
func @wait(%context: !tfrt_cuda.context, %allocator: !tfrt_cuda.allocator, %stream: !tfrt_cuda.stream, %blas: !tfrt_cuda.blas_handle, %dnn: !tfrt_cuda.dnn_handle, %relu: !tfrt_cuda.dnn_activation_descriptor, %identity: !tfrt_cuda.dnn_activation_descriptor, %add_bias: !tfrt_cuda.function, %t1x224x224x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x112x112x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x7x7x3: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %conv7s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x64: !tfrt_cuda.dnn_tensor_descriptor, %max_pool: !tfrt_cuda.dnn_pooling_descriptor, %t1x56x56x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %conv1s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x64: !tfrt_cuda.dnn_tensor_descriptor, %t64x3x3x64: !tfrt_cuda.dnn_tensor_descriptor, %conv3s1: !tfrt_cuda.dnn_convolution_descriptor, %t64x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %conv1s2: !tfrt_cuda.dnn_convolution_descriptor, %t1x56x56x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x3x3x128: !tfrt_cuda.dnn_tensor_descriptor, %conv3s2: !tfrt_cuda.dnn_convolution_descriptor, %t512x1x1x128: !tfrt_cuda.dnn_tensor_descriptor, %t128x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x28x28x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x3x3x256: !tfrt_cuda.dnn_tensor_descriptor, %t1024x1x1x256: !tfrt_cuda.dnn_tensor_descriptor, %t256x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x2048: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %t1x14x14x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x1024: !tfrt_cuda.dnn_tensor_descriptor, %t1x7x7x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x3x3x512: !tfrt_cuda.dnn_tensor_descriptor, %t2048x1x1x512: !tfrt_cuda.dnn_tensor_descriptor, %t512x1x1x2048: !tfrt_cuda.dnn_tensor_descriptor, %average_pool: !tfrt_cuda.dnn_pooling_descriptor, %w0: !tfrt_cuda.buffer, %bias0: !tfrt_cuda.buffer, %w1: !tfrt_cuda.buffer, %bias1: !tfrt_cuda.buffer, %w2: !tfrt_cuda.buffer, %bias2: !tfrt_cuda.buffer, %w3: !tfrt_cuda.buffer, %bias3: !tfrt_cuda.buffer, %w4: !tfrt_cuda.buffer, %bias4: !tfrt_cuda.buffer, %w5: !tfrt_cuda.buffer, %bias5: !tfrt_cuda.buffer, %w6: !tfrt_cuda.buffer, %bias6: !tfrt_cuda.buffer, %w7: !tfrt_cuda.buffer, %bias7: !tfrt_cuda.buffer, %w8: !tfrt_cuda.buffer, %bias8: !tfrt_cuda.buffer, %w9: !tfrt_cuda.buffer, %bias9: !tfrt_cuda.buffer, %w10: !tfrt_cuda.buffer, %bias10: !tfrt_cuda.buffer, %w11: !tfrt_cuda.buffer, %bias11: !tfrt_cuda.buffer, %w12: !tfrt_cuda.buffer, %bias12: !tfrt_cuda.buffer, %w13: !tfrt_cuda.buffer, %bias13: !tfrt_cuda.buffer, %w14: !tfrt_cuda.buffer, %bias14: !tfrt_cuda.buffer, %w15: !tfrt_cuda.buffer, %bias15: !tfrt_cuda.buffer, %w16: !tfrt_cuda.buffer, %bias16: !tfrt_cuda.buffer, %w17: !tfrt_cuda.buffer, %bias17: !tfrt_cuda.buffer, %w18: !tfrt_cuda.buffer, %bias18: !tfrt_cuda.buffer, %w19: !tfrt_cuda.buffer, %bias19: !tfrt_cuda.buffer, %w20: !tfrt_cuda.buffer, %bias20: !tfrt_cuda.buffer, %w21: !tfrt_cuda.buffer, %bias21: !tfrt_cuda.buffer, %w22: !tfrt_cuda.buffer, %bias22: !tfrt_cuda.buffer, %w23: !tfrt_cuda.buffer, %bias23: !tfrt_cuda.buffer, %w24: !tfrt_cuda.buffer, %bias24: !tfrt_cuda.buffer, %w25: !tfrt_cuda.buffer, %bias25: !tfrt_cuda.buffer, %w26: !tfrt_cuda.buffer, %bias26: !tfrt_cuda.buffer, %w27: !tfrt_cuda.buffer, %bias27: !tfrt_cuda.buffer, %w28: !tfrt_cuda.buffer, %bias28: !tfrt_cuda.buffer, %w29: !tfrt_cuda.buffer, %bias29: !tfrt_cuda.buffer, %w30: !tfrt_cuda.buffer, %bias30: !tfrt_cuda.buffer, %w31: !tfrt_cuda.buffer, %bias31: !tfrt_cuda.buffer, %w32: !tfrt_cuda.buffer, %bias32: !tfrt_cuda.buffer, %w33: !tfrt_cuda.buffer, %bias33: !tfrt_cuda.buffer, %w34: !tfrt_cuda.buffer, %bias34: !tfrt_cuda.buffer, %w35: !tfrt_cuda.buffer, %bias35: !tfrt_cuda.buffer, %w36: !tfrt_cuda.buffer, %bias36: !tfrt_cuda.buffer, %w37: !tfrt_cuda.buffer, %bias37: !tfrt_cuda.buffer, %w38: !tfrt_cuda.buffer, %bias38: !tfrt_cuda.buffer, %w39: !tfrt_cuda.buffer, %bias39: !tfrt_cuda.buffer, %w40: !tfrt_cuda.buffer, %bias40: !tfrt_cuda.buffer, %w41: !tfrt_cuda.buffer, %bias41: !tfrt_cuda.buffer, %w42: !tfrt_cuda.buffer, %bias42: !tfrt_cuda.buffer, %w43: !tfrt_cuda.buffer, %bias43: !tfrt_cuda.buffer, %w44: !tfrt_cuda.buffer, %bias44: !tfrt_cuda.buffer, %w45: !tfrt_cuda.buffer, %bias45: !tfrt_cuda.buffer, %w46: !tfrt_cuda.buffer, %bias46: !tfrt_cuda.buffer, %w47: !tfrt_cuda.buffer, %bias47: !tfrt_cuda.buffer, %w48: !tfrt_cuda.buffer, %bias48: !tfrt_cuda.buffer, %w49: !tfrt_cuda.buffer, %bias49: !tfrt_cuda.buffer, %w50: !tfrt_cuda.buffer, %bias50: !tfrt_cuda.buffer, %w51: !tfrt_cuda.buffer, %bias51: !tfrt_cuda.buffer, %w52: !tfrt_cuda.buffer, %bias52: !tfrt_cuda.buffer, %w53: !tfrt_cuda.buffer, %bias53: !tfrt_cuda.buffer, %ready: !tfrt.chain, %c0: !tfrt.chain) -> !tfrt.chain {
  %c1 = tfrt_cuda.stream.synchronize %stream, %c0
  tfrt.return %c1 : !tfrt.chain
}
