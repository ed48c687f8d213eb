// ResNet-50 (torchvision's) for images of 224 x 224 pixels in f32, by kernels of tensor mathematics.
// Written by `tfrt resnet50 program`.

// Prints the likeliest classes of an image.
func @main(%image: !t.tensor) -> !tfrt.chain {
  %images = "tfrt_image.prepare.f32"(%image) { bgr = false, crop = 224 : i64, deviation = [58.395 : f32, 57.12 : f32, 57.375 : f32], mean = [123.675 : f32, 116.28 : f32, 103.53 : f32], side = 256 : i64 } : (!t.tensor) -> !t.tensor
  %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %w12, %w13, %w14, %w15, %w16, %w17, %w18, %w19, %w20, %w21, %w22, %w23, %w24, %w25, %w26, %w27, %w28, %w29, %w30, %w31, %w32, %w33, %w34, %w35, %w36, %w37, %w38, %w39, %w40, %w41, %w42, %w43, %w44, %w45, %w46, %w47, %w48, %w49, %w50, %w51, %w52, %w53 = tfrt.call @setup() : () -> (!tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter)
  %scores, %ch0 = tfrt.call @infer(%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %w12, %w13, %w14, %w15, %w16, %w17, %w18, %w19, %w20, %w21, %w22, %w23, %w24, %w25, %w26, %w27, %w28, %w29, %w30, %w31, %w32, %w33, %w34, %w35, %w36, %w37, %w38, %w39, %w40, %w41, %w42, %w43, %w44, %w45, %w46, %w47, %w48, %w49, %w50, %w51, %w52, %w53, %images) : (!tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !t.tensor) -> (!t.tensor, !tfrt.chain)
  %ch1 = "tfrt_resnet50.report"(%scores, %ch0) { count = 5 : i64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Weights, and what else is made once.
func @setup() -> (!tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter) {
  %ch = tfrt.new.chain
  %f0, %b0 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w0 = "tfrt_math.conv2d.pack.f32"(%f0, %b0, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f1, %b1 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w1 = "tfrt_math.conv2d.pack.f32"(%f1, %b1, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f2, %b2 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w2 = "tfrt_math.conv2d.pack.f32"(%f2, %b2, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f3, %b3 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w3 = "tfrt_math.conv2d.pack.f32"(%f3, %b3, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f4, %b4 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w4 = "tfrt_math.conv2d.pack.f32"(%f4, %b4, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f5, %b5 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w5 = "tfrt_math.conv2d.pack.f32"(%f5, %b5, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f6, %b6 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w6 = "tfrt_math.conv2d.pack.f32"(%f6, %b6, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f7, %b7 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w7 = "tfrt_math.conv2d.pack.f32"(%f7, %b7, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f8, %b8 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w8 = "tfrt_math.conv2d.pack.f32"(%f8, %b8, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f9, %b9 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w9 = "tfrt_math.conv2d.pack.f32"(%f9, %b9, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f10, %b10 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w10 = "tfrt_math.conv2d.pack.f32"(%f10, %b10, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f11, %b11 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w11 = "tfrt_math.conv2d.pack.f32"(%f11, %b11, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f12, %b12 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w12 = "tfrt_math.conv2d.pack.f32"(%f12, %b12, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f13, %b13 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w13 = "tfrt_math.conv2d.pack.f32"(%f13, %b13, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f14, %b14 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w14 = "tfrt_math.conv2d.pack.f32"(%f14, %b14, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f15, %b15 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w15 = "tfrt_math.conv2d.pack.f32"(%f15, %b15, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f16, %b16 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w16 = "tfrt_math.conv2d.pack.f32"(%f16, %b16, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f17, %b17 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w17 = "tfrt_math.conv2d.pack.f32"(%f17, %b17, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f18, %b18 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w18 = "tfrt_math.conv2d.pack.f32"(%f18, %b18, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f19, %b19 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w19 = "tfrt_math.conv2d.pack.f32"(%f19, %b19, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f20, %b20 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w20 = "tfrt_math.conv2d.pack.f32"(%f20, %b20, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f21, %b21 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w21 = "tfrt_math.conv2d.pack.f32"(%f21, %b21, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f22, %b22 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w22 = "tfrt_math.conv2d.pack.f32"(%f22, %b22, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f23, %b23 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w23 = "tfrt_math.conv2d.pack.f32"(%f23, %b23, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f24, %b24 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w24 = "tfrt_math.conv2d.pack.f32"(%f24, %b24, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f25, %b25 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w25 = "tfrt_math.conv2d.pack.f32"(%f25, %b25, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f26, %b26 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w26 = "tfrt_math.conv2d.pack.f32"(%f26, %b26, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f27, %b27 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w27 = "tfrt_math.conv2d.pack.f32"(%f27, %b27, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f28, %b28 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w28 = "tfrt_math.conv2d.pack.f32"(%f28, %b28, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f29, %b29 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w29 = "tfrt_math.conv2d.pack.f32"(%f29, %b29, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f30, %b30 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w30 = "tfrt_math.conv2d.pack.f32"(%f30, %b30, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f31, %b31 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w31 = "tfrt_math.conv2d.pack.f32"(%f31, %b31, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f32, %b32 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w32 = "tfrt_math.conv2d.pack.f32"(%f32, %b32, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f33, %b33 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w33 = "tfrt_math.conv2d.pack.f32"(%f33, %b33, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f34, %b34 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w34 = "tfrt_math.conv2d.pack.f32"(%f34, %b34, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f35, %b35 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w35 = "tfrt_math.conv2d.pack.f32"(%f35, %b35, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f36, %b36 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w36 = "tfrt_math.conv2d.pack.f32"(%f36, %b36, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f37, %b37 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w37 = "tfrt_math.conv2d.pack.f32"(%f37, %b37, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f38, %b38 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w38 = "tfrt_math.conv2d.pack.f32"(%f38, %b38, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f39, %b39 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w39 = "tfrt_math.conv2d.pack.f32"(%f39, %b39, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f40, %b40 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w40 = "tfrt_math.conv2d.pack.f32"(%f40, %b40, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f41, %b41 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w41 = "tfrt_math.conv2d.pack.f32"(%f41, %b41, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f42, %b42 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w42 = "tfrt_math.conv2d.pack.f32"(%f42, %b42, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f43, %b43 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w43 = "tfrt_math.conv2d.pack.f32"(%f43, %b43, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f44, %b44 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w44 = "tfrt_math.conv2d.pack.f32"(%f44, %b44, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f45, %b45 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w45 = "tfrt_math.conv2d.pack.f32"(%f45, %b45, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f46, %b46 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w46 = "tfrt_math.conv2d.pack.f32"(%f46, %b46, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f47, %b47 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w47 = "tfrt_math.conv2d.pack.f32"(%f47, %b47, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f48, %b48 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w48 = "tfrt_math.conv2d.pack.f32"(%f48, %b48, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f49, %b49 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w49 = "tfrt_math.conv2d.pack.f32"(%f49, %b49, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f50, %b50 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w50 = "tfrt_math.conv2d.pack.f32"(%f50, %b50, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f51, %b51 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w51 = "tfrt_math.conv2d.pack.f32"(%f51, %b51, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f52, %b52 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w52 = "tfrt_math.conv2d.pack.f32"(%f52, %b52, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  %f53, %b53 = "tfrt_resnet50.weights.f32"() { layer = "fc", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %w53 = "tfrt_math.conv2d.pack.f32"(%f53, %b53, %ch) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt_math.conv2d_filter
  tfrt.return %w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7, %w8, %w9, %w10, %w11, %w12, %w13, %w14, %w15, %w16, %w17, %w18, %w19, %w20, %w21, %w22, %w23, %w24, %w25, %w26, %w27, %w28, %w29, %w30, %w31, %w32, %w33, %w34, %w35, %w36, %w37, %w38, %w39, %w40, %w41, %w42, %w43, %w44, %w45, %w46, %w47, %w48, %w49, %w50, %w51, %w52, %w53 : !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter, !tfrt_math.conv2d_filter
}

// The scores of images.
func @infer(%w0: !tfrt_math.conv2d_filter, %w1: !tfrt_math.conv2d_filter, %w2: !tfrt_math.conv2d_filter, %w3: !tfrt_math.conv2d_filter, %w4: !tfrt_math.conv2d_filter, %w5: !tfrt_math.conv2d_filter, %w6: !tfrt_math.conv2d_filter, %w7: !tfrt_math.conv2d_filter, %w8: !tfrt_math.conv2d_filter, %w9: !tfrt_math.conv2d_filter, %w10: !tfrt_math.conv2d_filter, %w11: !tfrt_math.conv2d_filter, %w12: !tfrt_math.conv2d_filter, %w13: !tfrt_math.conv2d_filter, %w14: !tfrt_math.conv2d_filter, %w15: !tfrt_math.conv2d_filter, %w16: !tfrt_math.conv2d_filter, %w17: !tfrt_math.conv2d_filter, %w18: !tfrt_math.conv2d_filter, %w19: !tfrt_math.conv2d_filter, %w20: !tfrt_math.conv2d_filter, %w21: !tfrt_math.conv2d_filter, %w22: !tfrt_math.conv2d_filter, %w23: !tfrt_math.conv2d_filter, %w24: !tfrt_math.conv2d_filter, %w25: !tfrt_math.conv2d_filter, %w26: !tfrt_math.conv2d_filter, %w27: !tfrt_math.conv2d_filter, %w28: !tfrt_math.conv2d_filter, %w29: !tfrt_math.conv2d_filter, %w30: !tfrt_math.conv2d_filter, %w31: !tfrt_math.conv2d_filter, %w32: !tfrt_math.conv2d_filter, %w33: !tfrt_math.conv2d_filter, %w34: !tfrt_math.conv2d_filter, %w35: !tfrt_math.conv2d_filter, %w36: !tfrt_math.conv2d_filter, %w37: !tfrt_math.conv2d_filter, %w38: !tfrt_math.conv2d_filter, %w39: !tfrt_math.conv2d_filter, %w40: !tfrt_math.conv2d_filter, %w41: !tfrt_math.conv2d_filter, %w42: !tfrt_math.conv2d_filter, %w43: !tfrt_math.conv2d_filter, %w44: !tfrt_math.conv2d_filter, %w45: !tfrt_math.conv2d_filter, %w46: !tfrt_math.conv2d_filter, %w47: !tfrt_math.conv2d_filter, %w48: !tfrt_math.conv2d_filter, %w49: !tfrt_math.conv2d_filter, %w50: !tfrt_math.conv2d_filter, %w51: !tfrt_math.conv2d_filter, %w52: !tfrt_math.conv2d_filter, %w53: !tfrt_math.conv2d_filter, %images: !t.tensor) -> (!t.tensor, !tfrt.chain) {
  %ch = tfrt.new.chain
  %x = "tfrt_resnet50.check_images"(%images) { shape = [-1 : i64, 224 : i64, 224 : i64, 3 : i64] } : (!t.tensor) -> !t.tensor
  // conv1
  %y0 = "tfrt_math.conv2d.f32"(%x, %w0, %ch)
    { padding = [3 : i64, 3 : i64, 3 : i64, 3 : i64], relu = true, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  %pooled = "tfrt_math.max_pool_2d.f32"(%y0, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], strides = [2 : i64, 2 : i64], window = [3 : i64, 3 : i64] }
    : (!t.tensor, !tfrt.chain) -> !t.tensor
  // layer1.0.downsample.0
  %y1 = "tfrt_math.conv2d.f32"(%pooled, %w1, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.0.conv1
  %y2 = "tfrt_math.conv2d.f32"(%pooled, %w2, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.0.conv2
  %y3 = "tfrt_math.conv2d.f32"(%y2, %w3, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.0.conv3
  %y4 = "tfrt_math.conv2d.residual.f32"(%y3, %w4, %y1, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer1.1.conv1
  %y5 = "tfrt_math.conv2d.f32"(%y4, %w5, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.1.conv2
  %y6 = "tfrt_math.conv2d.f32"(%y5, %w6, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.1.conv3
  %y7 = "tfrt_math.conv2d.residual.f32"(%y6, %w7, %y4, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer1.2.conv1
  %y8 = "tfrt_math.conv2d.f32"(%y7, %w8, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.2.conv2
  %y9 = "tfrt_math.conv2d.f32"(%y8, %w9, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer1.2.conv3
  %y10 = "tfrt_math.conv2d.residual.f32"(%y9, %w10, %y7, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer2.0.downsample.0
  %y11 = "tfrt_math.conv2d.f32"(%y10, %w11, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.0.conv1
  %y12 = "tfrt_math.conv2d.f32"(%y10, %w12, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.0.conv2
  %y13 = "tfrt_math.conv2d.f32"(%y12, %w13, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.0.conv3
  %y14 = "tfrt_math.conv2d.residual.f32"(%y13, %w14, %y11, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer2.1.conv1
  %y15 = "tfrt_math.conv2d.f32"(%y14, %w15, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.1.conv2
  %y16 = "tfrt_math.conv2d.f32"(%y15, %w16, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.1.conv3
  %y17 = "tfrt_math.conv2d.residual.f32"(%y16, %w17, %y14, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer2.2.conv1
  %y18 = "tfrt_math.conv2d.f32"(%y17, %w18, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.2.conv2
  %y19 = "tfrt_math.conv2d.f32"(%y18, %w19, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.2.conv3
  %y20 = "tfrt_math.conv2d.residual.f32"(%y19, %w20, %y17, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer2.3.conv1
  %y21 = "tfrt_math.conv2d.f32"(%y20, %w21, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.3.conv2
  %y22 = "tfrt_math.conv2d.f32"(%y21, %w22, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer2.3.conv3
  %y23 = "tfrt_math.conv2d.residual.f32"(%y22, %w23, %y20, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.0.downsample.0
  %y24 = "tfrt_math.conv2d.f32"(%y23, %w24, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.0.conv1
  %y25 = "tfrt_math.conv2d.f32"(%y23, %w25, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.0.conv2
  %y26 = "tfrt_math.conv2d.f32"(%y25, %w26, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.0.conv3
  %y27 = "tfrt_math.conv2d.residual.f32"(%y26, %w27, %y24, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.1.conv1
  %y28 = "tfrt_math.conv2d.f32"(%y27, %w28, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.1.conv2
  %y29 = "tfrt_math.conv2d.f32"(%y28, %w29, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.1.conv3
  %y30 = "tfrt_math.conv2d.residual.f32"(%y29, %w30, %y27, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.2.conv1
  %y31 = "tfrt_math.conv2d.f32"(%y30, %w31, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.2.conv2
  %y32 = "tfrt_math.conv2d.f32"(%y31, %w32, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.2.conv3
  %y33 = "tfrt_math.conv2d.residual.f32"(%y32, %w33, %y30, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.3.conv1
  %y34 = "tfrt_math.conv2d.f32"(%y33, %w34, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.3.conv2
  %y35 = "tfrt_math.conv2d.f32"(%y34, %w35, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.3.conv3
  %y36 = "tfrt_math.conv2d.residual.f32"(%y35, %w36, %y33, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.4.conv1
  %y37 = "tfrt_math.conv2d.f32"(%y36, %w37, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.4.conv2
  %y38 = "tfrt_math.conv2d.f32"(%y37, %w38, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.4.conv3
  %y39 = "tfrt_math.conv2d.residual.f32"(%y38, %w39, %y36, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer3.5.conv1
  %y40 = "tfrt_math.conv2d.f32"(%y39, %w40, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.5.conv2
  %y41 = "tfrt_math.conv2d.f32"(%y40, %w41, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer3.5.conv3
  %y42 = "tfrt_math.conv2d.residual.f32"(%y41, %w42, %y39, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer4.0.downsample.0
  %y43 = "tfrt_math.conv2d.f32"(%y42, %w43, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.0.conv1
  %y44 = "tfrt_math.conv2d.f32"(%y42, %w44, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.0.conv2
  %y45 = "tfrt_math.conv2d.f32"(%y44, %w45, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [2 : i64, 2 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.0.conv3
  %y46 = "tfrt_math.conv2d.residual.f32"(%y45, %w46, %y43, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer4.1.conv1
  %y47 = "tfrt_math.conv2d.f32"(%y46, %w47, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.1.conv2
  %y48 = "tfrt_math.conv2d.f32"(%y47, %w48, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.1.conv3
  %y49 = "tfrt_math.conv2d.residual.f32"(%y48, %w49, %y46, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  // layer4.2.conv1
  %y50 = "tfrt_math.conv2d.f32"(%y49, %w50, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.2.conv2
  %y51 = "tfrt_math.conv2d.f32"(%y50, %w51, %ch)
    { padding = [1 : i64, 1 : i64, 1 : i64, 1 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  // layer4.2.conv3
  %y52 = "tfrt_math.conv2d.residual.f32"(%y51, %w52, %y49, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = true, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !t.tensor, !tfrt.chain) -> !t.tensor
  %mean = "tfrt_math.avg_pool_2d.f32"(%y52, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], strides = [1 : i64, 1 : i64], window = [7 : i64, 7 : i64] }
    : (!t.tensor, !tfrt.chain) -> !t.tensor
  // fc
  %y53 = "tfrt_math.conv2d.f32"(%mean, %w53, %ch)
    { padding = [0 : i64, 0 : i64, 0 : i64, 0 : i64], relu = false, strides = [1 : i64, 1 : i64] }
    : (!t.tensor, !tfrt_math.conv2d_filter, !tfrt.chain) -> !t.tensor
  %scores = "tfrt_math.as_matrix"(%y53) : (!t.tensor) -> !t.tensor
  tfrt.return %scores, %ch : !t.tensor, !tfrt.chain
}
