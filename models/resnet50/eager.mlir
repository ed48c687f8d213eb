// ResNet-50 (torchvision's) for images of 224 x 224 pixels in f32, by ops through the core runtime.
// Written by `tfrt resnet50 program`.

// Prints the likeliest classes of an image.
func @main(%image: !t.tensor) -> !tfrt.chain {
  %images = "tfrt_image.prepare.f32"(%image) { bgr = false, crop = 224 : i64, deviation = [58.395 : f32, 57.12 : f32, 57.375 : f32], mean = [123.675 : f32, 116.28 : f32, 103.53 : f32], side = 256 : i64 } : (!t.tensor) -> !t.tensor
  %handler, %filter0, %bias0, %filter1, %bias1, %filter2, %bias2, %filter3, %bias3, %filter4, %bias4, %filter5, %bias5, %filter6, %bias6, %filter7, %bias7, %filter8, %bias8, %filter9, %bias9, %filter10, %bias10, %filter11, %bias11, %filter12, %bias12, %filter13, %bias13, %filter14, %bias14, %filter15, %bias15, %filter16, %bias16, %filter17, %bias17, %filter18, %bias18, %filter19, %bias19, %filter20, %bias20, %filter21, %bias21, %filter22, %bias22, %filter23, %bias23, %filter24, %bias24, %filter25, %bias25, %filter26, %bias26, %filter27, %bias27, %filter28, %bias28, %filter29, %bias29, %filter30, %bias30, %filter31, %bias31, %filter32, %bias32, %filter33, %bias33, %filter34, %bias34, %filter35, %bias35, %filter36, %bias36, %filter37, %bias37, %filter38, %bias38, %filter39, %bias39, %filter40, %bias40, %filter41, %bias41, %filter42, %bias42, %filter43, %bias43, %filter44, %bias44, %filter45, %bias45, %filter46, %bias46, %filter47, %bias47, %filter48, %bias48, %filter49, %bias49, %filter50, %bias50, %filter51, %bias51, %filter52, %bias52, %filter53, %bias53 = tfrt.call @setup() : () -> (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle)
  %scores, %ch0 = tfrt.call @infer(%handler, %filter0, %bias0, %filter1, %bias1, %filter2, %bias2, %filter3, %bias3, %filter4, %bias4, %filter5, %bias5, %filter6, %bias6, %filter7, %bias7, %filter8, %bias8, %filter9, %bias9, %filter10, %bias10, %filter11, %bias11, %filter12, %bias12, %filter13, %bias13, %filter14, %bias14, %filter15, %bias15, %filter16, %bias16, %filter17, %bias17, %filter18, %bias18, %filter19, %bias19, %filter20, %bias20, %filter21, %bias21, %filter22, %bias22, %filter23, %bias23, %filter24, %bias24, %filter25, %bias25, %filter26, %bias26, %filter27, %bias27, %filter28, %bias28, %filter29, %bias29, %filter30, %bias30, %filter31, %bias31, %filter32, %bias32, %filter33, %bias33, %filter34, %bias34, %filter35, %bias35, %filter36, %bias36, %filter37, %bias37, %filter38, %bias38, %filter39, %bias39, %filter40, %bias40, %filter41, %bias41, %filter42, %bias42, %filter43, %bias43, %filter44, %bias44, %filter45, %bias45, %filter46, %bias46, %filter47, %bias47, %filter48, %bias48, %filter49, %bias49, %filter50, %bias50, %filter51, %bias51, %filter52, %bias52, %filter53, %bias53, %images) : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !t.tensor) -> (!t.tensor, !tfrt.chain)
  %ch1 = "tfrt_resnet50.report"(%scores, %ch0) { count = 5 : i64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// Weights, and what else is made once.
func @setup() -> (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle) {
  %ch = tfrt.new.chain
  %handler = "corert.create_default_op_handler"() : () -> !corert.ophandler
  %f0, %b0 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f0 = "corert.ht_to_tensorhandle"(%f0, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter0 = corert.executeop(%handler) "tf.Identity"(%host_f0)  : 1
  %host_b0 = "corert.ht_to_tensorhandle"(%b0, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias0 = corert.executeop(%handler) "tf.Identity"(%host_b0)  : 1
  %f1, %b1 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f1 = "corert.ht_to_tensorhandle"(%f1, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter1 = corert.executeop(%handler) "tf.Identity"(%host_f1)  : 1
  %host_b1 = "corert.ht_to_tensorhandle"(%b1, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias1 = corert.executeop(%handler) "tf.Identity"(%host_b1)  : 1
  %f2, %b2 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f2 = "corert.ht_to_tensorhandle"(%f2, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter2 = corert.executeop(%handler) "tf.Identity"(%host_f2)  : 1
  %host_b2 = "corert.ht_to_tensorhandle"(%b2, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias2 = corert.executeop(%handler) "tf.Identity"(%host_b2)  : 1
  %f3, %b3 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f3 = "corert.ht_to_tensorhandle"(%f3, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter3 = corert.executeop(%handler) "tf.Identity"(%host_f3)  : 1
  %host_b3 = "corert.ht_to_tensorhandle"(%b3, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias3 = corert.executeop(%handler) "tf.Identity"(%host_b3)  : 1
  %f4, %b4 = "tfrt_resnet50.weights.f32"() { layer = "layer1.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f4 = "corert.ht_to_tensorhandle"(%f4, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter4 = corert.executeop(%handler) "tf.Identity"(%host_f4)  : 1
  %host_b4 = "corert.ht_to_tensorhandle"(%b4, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias4 = corert.executeop(%handler) "tf.Identity"(%host_b4)  : 1
  %f5, %b5 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f5 = "corert.ht_to_tensorhandle"(%f5, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter5 = corert.executeop(%handler) "tf.Identity"(%host_f5)  : 1
  %host_b5 = "corert.ht_to_tensorhandle"(%b5, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias5 = corert.executeop(%handler) "tf.Identity"(%host_b5)  : 1
  %f6, %b6 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f6 = "corert.ht_to_tensorhandle"(%f6, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter6 = corert.executeop(%handler) "tf.Identity"(%host_f6)  : 1
  %host_b6 = "corert.ht_to_tensorhandle"(%b6, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias6 = corert.executeop(%handler) "tf.Identity"(%host_b6)  : 1
  %f7, %b7 = "tfrt_resnet50.weights.f32"() { layer = "layer1.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f7 = "corert.ht_to_tensorhandle"(%f7, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter7 = corert.executeop(%handler) "tf.Identity"(%host_f7)  : 1
  %host_b7 = "corert.ht_to_tensorhandle"(%b7, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias7 = corert.executeop(%handler) "tf.Identity"(%host_b7)  : 1
  %f8, %b8 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f8 = "corert.ht_to_tensorhandle"(%f8, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter8 = corert.executeop(%handler) "tf.Identity"(%host_f8)  : 1
  %host_b8 = "corert.ht_to_tensorhandle"(%b8, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias8 = corert.executeop(%handler) "tf.Identity"(%host_b8)  : 1
  %f9, %b9 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f9 = "corert.ht_to_tensorhandle"(%f9, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter9 = corert.executeop(%handler) "tf.Identity"(%host_f9)  : 1
  %host_b9 = "corert.ht_to_tensorhandle"(%b9, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias9 = corert.executeop(%handler) "tf.Identity"(%host_b9)  : 1
  %f10, %b10 = "tfrt_resnet50.weights.f32"() { layer = "layer1.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f10 = "corert.ht_to_tensorhandle"(%f10, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter10 = corert.executeop(%handler) "tf.Identity"(%host_f10)  : 1
  %host_b10 = "corert.ht_to_tensorhandle"(%b10, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias10 = corert.executeop(%handler) "tf.Identity"(%host_b10)  : 1
  %f11, %b11 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f11 = "corert.ht_to_tensorhandle"(%f11, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter11 = corert.executeop(%handler) "tf.Identity"(%host_f11)  : 1
  %host_b11 = "corert.ht_to_tensorhandle"(%b11, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias11 = corert.executeop(%handler) "tf.Identity"(%host_b11)  : 1
  %f12, %b12 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f12 = "corert.ht_to_tensorhandle"(%f12, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter12 = corert.executeop(%handler) "tf.Identity"(%host_f12)  : 1
  %host_b12 = "corert.ht_to_tensorhandle"(%b12, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias12 = corert.executeop(%handler) "tf.Identity"(%host_b12)  : 1
  %f13, %b13 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f13 = "corert.ht_to_tensorhandle"(%f13, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter13 = corert.executeop(%handler) "tf.Identity"(%host_f13)  : 1
  %host_b13 = "corert.ht_to_tensorhandle"(%b13, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias13 = corert.executeop(%handler) "tf.Identity"(%host_b13)  : 1
  %f14, %b14 = "tfrt_resnet50.weights.f32"() { layer = "layer2.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f14 = "corert.ht_to_tensorhandle"(%f14, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter14 = corert.executeop(%handler) "tf.Identity"(%host_f14)  : 1
  %host_b14 = "corert.ht_to_tensorhandle"(%b14, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias14 = corert.executeop(%handler) "tf.Identity"(%host_b14)  : 1
  %f15, %b15 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f15 = "corert.ht_to_tensorhandle"(%f15, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter15 = corert.executeop(%handler) "tf.Identity"(%host_f15)  : 1
  %host_b15 = "corert.ht_to_tensorhandle"(%b15, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias15 = corert.executeop(%handler) "tf.Identity"(%host_b15)  : 1
  %f16, %b16 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f16 = "corert.ht_to_tensorhandle"(%f16, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter16 = corert.executeop(%handler) "tf.Identity"(%host_f16)  : 1
  %host_b16 = "corert.ht_to_tensorhandle"(%b16, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias16 = corert.executeop(%handler) "tf.Identity"(%host_b16)  : 1
  %f17, %b17 = "tfrt_resnet50.weights.f32"() { layer = "layer2.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f17 = "corert.ht_to_tensorhandle"(%f17, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter17 = corert.executeop(%handler) "tf.Identity"(%host_f17)  : 1
  %host_b17 = "corert.ht_to_tensorhandle"(%b17, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias17 = corert.executeop(%handler) "tf.Identity"(%host_b17)  : 1
  %f18, %b18 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f18 = "corert.ht_to_tensorhandle"(%f18, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter18 = corert.executeop(%handler) "tf.Identity"(%host_f18)  : 1
  %host_b18 = "corert.ht_to_tensorhandle"(%b18, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias18 = corert.executeop(%handler) "tf.Identity"(%host_b18)  : 1
  %f19, %b19 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f19 = "corert.ht_to_tensorhandle"(%f19, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter19 = corert.executeop(%handler) "tf.Identity"(%host_f19)  : 1
  %host_b19 = "corert.ht_to_tensorhandle"(%b19, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias19 = corert.executeop(%handler) "tf.Identity"(%host_b19)  : 1
  %f20, %b20 = "tfrt_resnet50.weights.f32"() { layer = "layer2.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f20 = "corert.ht_to_tensorhandle"(%f20, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter20 = corert.executeop(%handler) "tf.Identity"(%host_f20)  : 1
  %host_b20 = "corert.ht_to_tensorhandle"(%b20, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias20 = corert.executeop(%handler) "tf.Identity"(%host_b20)  : 1
  %f21, %b21 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f21 = "corert.ht_to_tensorhandle"(%f21, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter21 = corert.executeop(%handler) "tf.Identity"(%host_f21)  : 1
  %host_b21 = "corert.ht_to_tensorhandle"(%b21, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias21 = corert.executeop(%handler) "tf.Identity"(%host_b21)  : 1
  %f22, %b22 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f22 = "corert.ht_to_tensorhandle"(%f22, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter22 = corert.executeop(%handler) "tf.Identity"(%host_f22)  : 1
  %host_b22 = "corert.ht_to_tensorhandle"(%b22, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias22 = corert.executeop(%handler) "tf.Identity"(%host_b22)  : 1
  %f23, %b23 = "tfrt_resnet50.weights.f32"() { layer = "layer2.3.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f23 = "corert.ht_to_tensorhandle"(%f23, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter23 = corert.executeop(%handler) "tf.Identity"(%host_f23)  : 1
  %host_b23 = "corert.ht_to_tensorhandle"(%b23, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias23 = corert.executeop(%handler) "tf.Identity"(%host_b23)  : 1
  %f24, %b24 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f24 = "corert.ht_to_tensorhandle"(%f24, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter24 = corert.executeop(%handler) "tf.Identity"(%host_f24)  : 1
  %host_b24 = "corert.ht_to_tensorhandle"(%b24, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias24 = corert.executeop(%handler) "tf.Identity"(%host_b24)  : 1
  %f25, %b25 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f25 = "corert.ht_to_tensorhandle"(%f25, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter25 = corert.executeop(%handler) "tf.Identity"(%host_f25)  : 1
  %host_b25 = "corert.ht_to_tensorhandle"(%b25, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias25 = corert.executeop(%handler) "tf.Identity"(%host_b25)  : 1
  %f26, %b26 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f26 = "corert.ht_to_tensorhandle"(%f26, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter26 = corert.executeop(%handler) "tf.Identity"(%host_f26)  : 1
  %host_b26 = "corert.ht_to_tensorhandle"(%b26, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias26 = corert.executeop(%handler) "tf.Identity"(%host_b26)  : 1
  %f27, %b27 = "tfrt_resnet50.weights.f32"() { layer = "layer3.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f27 = "corert.ht_to_tensorhandle"(%f27, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter27 = corert.executeop(%handler) "tf.Identity"(%host_f27)  : 1
  %host_b27 = "corert.ht_to_tensorhandle"(%b27, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias27 = corert.executeop(%handler) "tf.Identity"(%host_b27)  : 1
  %f28, %b28 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f28 = "corert.ht_to_tensorhandle"(%f28, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter28 = corert.executeop(%handler) "tf.Identity"(%host_f28)  : 1
  %host_b28 = "corert.ht_to_tensorhandle"(%b28, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias28 = corert.executeop(%handler) "tf.Identity"(%host_b28)  : 1
  %f29, %b29 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f29 = "corert.ht_to_tensorhandle"(%f29, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter29 = corert.executeop(%handler) "tf.Identity"(%host_f29)  : 1
  %host_b29 = "corert.ht_to_tensorhandle"(%b29, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias29 = corert.executeop(%handler) "tf.Identity"(%host_b29)  : 1
  %f30, %b30 = "tfrt_resnet50.weights.f32"() { layer = "layer3.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f30 = "corert.ht_to_tensorhandle"(%f30, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter30 = corert.executeop(%handler) "tf.Identity"(%host_f30)  : 1
  %host_b30 = "corert.ht_to_tensorhandle"(%b30, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias30 = corert.executeop(%handler) "tf.Identity"(%host_b30)  : 1
  %f31, %b31 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f31 = "corert.ht_to_tensorhandle"(%f31, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter31 = corert.executeop(%handler) "tf.Identity"(%host_f31)  : 1
  %host_b31 = "corert.ht_to_tensorhandle"(%b31, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias31 = corert.executeop(%handler) "tf.Identity"(%host_b31)  : 1
  %f32, %b32 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f32 = "corert.ht_to_tensorhandle"(%f32, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter32 = corert.executeop(%handler) "tf.Identity"(%host_f32)  : 1
  %host_b32 = "corert.ht_to_tensorhandle"(%b32, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias32 = corert.executeop(%handler) "tf.Identity"(%host_b32)  : 1
  %f33, %b33 = "tfrt_resnet50.weights.f32"() { layer = "layer3.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f33 = "corert.ht_to_tensorhandle"(%f33, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter33 = corert.executeop(%handler) "tf.Identity"(%host_f33)  : 1
  %host_b33 = "corert.ht_to_tensorhandle"(%b33, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias33 = corert.executeop(%handler) "tf.Identity"(%host_b33)  : 1
  %f34, %b34 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f34 = "corert.ht_to_tensorhandle"(%f34, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter34 = corert.executeop(%handler) "tf.Identity"(%host_f34)  : 1
  %host_b34 = "corert.ht_to_tensorhandle"(%b34, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias34 = corert.executeop(%handler) "tf.Identity"(%host_b34)  : 1
  %f35, %b35 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f35 = "corert.ht_to_tensorhandle"(%f35, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter35 = corert.executeop(%handler) "tf.Identity"(%host_f35)  : 1
  %host_b35 = "corert.ht_to_tensorhandle"(%b35, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias35 = corert.executeop(%handler) "tf.Identity"(%host_b35)  : 1
  %f36, %b36 = "tfrt_resnet50.weights.f32"() { layer = "layer3.3.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f36 = "corert.ht_to_tensorhandle"(%f36, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter36 = corert.executeop(%handler) "tf.Identity"(%host_f36)  : 1
  %host_b36 = "corert.ht_to_tensorhandle"(%b36, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias36 = corert.executeop(%handler) "tf.Identity"(%host_b36)  : 1
  %f37, %b37 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f37 = "corert.ht_to_tensorhandle"(%f37, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter37 = corert.executeop(%handler) "tf.Identity"(%host_f37)  : 1
  %host_b37 = "corert.ht_to_tensorhandle"(%b37, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias37 = corert.executeop(%handler) "tf.Identity"(%host_b37)  : 1
  %f38, %b38 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f38 = "corert.ht_to_tensorhandle"(%f38, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter38 = corert.executeop(%handler) "tf.Identity"(%host_f38)  : 1
  %host_b38 = "corert.ht_to_tensorhandle"(%b38, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias38 = corert.executeop(%handler) "tf.Identity"(%host_b38)  : 1
  %f39, %b39 = "tfrt_resnet50.weights.f32"() { layer = "layer3.4.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f39 = "corert.ht_to_tensorhandle"(%f39, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter39 = corert.executeop(%handler) "tf.Identity"(%host_f39)  : 1
  %host_b39 = "corert.ht_to_tensorhandle"(%b39, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias39 = corert.executeop(%handler) "tf.Identity"(%host_b39)  : 1
  %f40, %b40 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f40 = "corert.ht_to_tensorhandle"(%f40, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter40 = corert.executeop(%handler) "tf.Identity"(%host_f40)  : 1
  %host_b40 = "corert.ht_to_tensorhandle"(%b40, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias40 = corert.executeop(%handler) "tf.Identity"(%host_b40)  : 1
  %f41, %b41 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f41 = "corert.ht_to_tensorhandle"(%f41, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter41 = corert.executeop(%handler) "tf.Identity"(%host_f41)  : 1
  %host_b41 = "corert.ht_to_tensorhandle"(%b41, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias41 = corert.executeop(%handler) "tf.Identity"(%host_b41)  : 1
  %f42, %b42 = "tfrt_resnet50.weights.f32"() { layer = "layer3.5.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f42 = "corert.ht_to_tensorhandle"(%f42, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter42 = corert.executeop(%handler) "tf.Identity"(%host_f42)  : 1
  %host_b42 = "corert.ht_to_tensorhandle"(%b42, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias42 = corert.executeop(%handler) "tf.Identity"(%host_b42)  : 1
  %f43, %b43 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.downsample.0", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f43 = "corert.ht_to_tensorhandle"(%f43, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter43 = corert.executeop(%handler) "tf.Identity"(%host_f43)  : 1
  %host_b43 = "corert.ht_to_tensorhandle"(%b43, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias43 = corert.executeop(%handler) "tf.Identity"(%host_b43)  : 1
  %f44, %b44 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f44 = "corert.ht_to_tensorhandle"(%f44, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter44 = corert.executeop(%handler) "tf.Identity"(%host_f44)  : 1
  %host_b44 = "corert.ht_to_tensorhandle"(%b44, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias44 = corert.executeop(%handler) "tf.Identity"(%host_b44)  : 1
  %f45, %b45 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f45 = "corert.ht_to_tensorhandle"(%f45, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter45 = corert.executeop(%handler) "tf.Identity"(%host_f45)  : 1
  %host_b45 = "corert.ht_to_tensorhandle"(%b45, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias45 = corert.executeop(%handler) "tf.Identity"(%host_b45)  : 1
  %f46, %b46 = "tfrt_resnet50.weights.f32"() { layer = "layer4.0.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f46 = "corert.ht_to_tensorhandle"(%f46, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter46 = corert.executeop(%handler) "tf.Identity"(%host_f46)  : 1
  %host_b46 = "corert.ht_to_tensorhandle"(%b46, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias46 = corert.executeop(%handler) "tf.Identity"(%host_b46)  : 1
  %f47, %b47 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f47 = "corert.ht_to_tensorhandle"(%f47, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter47 = corert.executeop(%handler) "tf.Identity"(%host_f47)  : 1
  %host_b47 = "corert.ht_to_tensorhandle"(%b47, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias47 = corert.executeop(%handler) "tf.Identity"(%host_b47)  : 1
  %f48, %b48 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f48 = "corert.ht_to_tensorhandle"(%f48, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter48 = corert.executeop(%handler) "tf.Identity"(%host_f48)  : 1
  %host_b48 = "corert.ht_to_tensorhandle"(%b48, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias48 = corert.executeop(%handler) "tf.Identity"(%host_b48)  : 1
  %f49, %b49 = "tfrt_resnet50.weights.f32"() { layer = "layer4.1.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f49 = "corert.ht_to_tensorhandle"(%f49, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter49 = corert.executeop(%handler) "tf.Identity"(%host_f49)  : 1
  %host_b49 = "corert.ht_to_tensorhandle"(%b49, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias49 = corert.executeop(%handler) "tf.Identity"(%host_b49)  : 1
  %f50, %b50 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv1", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f50 = "corert.ht_to_tensorhandle"(%f50, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter50 = corert.executeop(%handler) "tf.Identity"(%host_f50)  : 1
  %host_b50 = "corert.ht_to_tensorhandle"(%b50, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias50 = corert.executeop(%handler) "tf.Identity"(%host_b50)  : 1
  %f51, %b51 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv2", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f51 = "corert.ht_to_tensorhandle"(%f51, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter51 = corert.executeop(%handler) "tf.Identity"(%host_f51)  : 1
  %host_b51 = "corert.ht_to_tensorhandle"(%b51, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias51 = corert.executeop(%handler) "tf.Identity"(%host_b51)  : 1
  %f52, %b52 = "tfrt_resnet50.weights.f32"() { layer = "layer4.2.conv3", layout = "HWIO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f52 = "corert.ht_to_tensorhandle"(%f52, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter52 = corert.executeop(%handler) "tf.Identity"(%host_f52)  : 1
  %host_b52 = "corert.ht_to_tensorhandle"(%b52, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias52 = corert.executeop(%handler) "tf.Identity"(%host_b52)  : 1
  %f53, %b53 = "tfrt_resnet50.weights.f32"() { layer = "fc", layout = "IO", seed = 1 : i64, variant = "torchvision" } : () -> (!t.tensor, !t.tensor)
  %host_f53 = "corert.ht_to_tensorhandle"(%f53, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %filter53 = corert.executeop(%handler) "tf.Identity"(%host_f53)  : 1
  %host_b53 = "corert.ht_to_tensorhandle"(%b53, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  %bias53 = corert.executeop(%handler) "tf.Identity"(%host_b53)  : 1
  tfrt.return %handler, %filter0, %bias0, %filter1, %bias1, %filter2, %bias2, %filter3, %bias3, %filter4, %bias4, %filter5, %bias5, %filter6, %bias6, %filter7, %bias7, %filter8, %bias8, %filter9, %bias9, %filter10, %bias10, %filter11, %bias11, %filter12, %bias12, %filter13, %bias13, %filter14, %bias14, %filter15, %bias15, %filter16, %bias16, %filter17, %bias17, %filter18, %bias18, %filter19, %bias19, %filter20, %bias20, %filter21, %bias21, %filter22, %bias22, %filter23, %bias23, %filter24, %bias24, %filter25, %bias25, %filter26, %bias26, %filter27, %bias27, %filter28, %bias28, %filter29, %bias29, %filter30, %bias30, %filter31, %bias31, %filter32, %bias32, %filter33, %bias33, %filter34, %bias34, %filter35, %bias35, %filter36, %bias36, %filter37, %bias37, %filter38, %bias38, %filter39, %bias39, %filter40, %bias40, %filter41, %bias41, %filter42, %bias42, %filter43, %bias43, %filter44, %bias44, %filter45, %bias45, %filter46, %bias46, %filter47, %bias47, %filter48, %bias48, %filter49, %bias49, %filter50, %bias50, %filter51, %bias51, %filter52, %bias52, %filter53, %bias53 : !corert.ophandler, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle, !corert.tensorhandle
}

// The scores of images.
func @infer(%handler: !corert.ophandler, %filter0: !corert.tensorhandle, %bias0: !corert.tensorhandle, %filter1: !corert.tensorhandle, %bias1: !corert.tensorhandle, %filter2: !corert.tensorhandle, %bias2: !corert.tensorhandle, %filter3: !corert.tensorhandle, %bias3: !corert.tensorhandle, %filter4: !corert.tensorhandle, %bias4: !corert.tensorhandle, %filter5: !corert.tensorhandle, %bias5: !corert.tensorhandle, %filter6: !corert.tensorhandle, %bias6: !corert.tensorhandle, %filter7: !corert.tensorhandle, %bias7: !corert.tensorhandle, %filter8: !corert.tensorhandle, %bias8: !corert.tensorhandle, %filter9: !corert.tensorhandle, %bias9: !corert.tensorhandle, %filter10: !corert.tensorhandle, %bias10: !corert.tensorhandle, %filter11: !corert.tensorhandle, %bias11: !corert.tensorhandle, %filter12: !corert.tensorhandle, %bias12: !corert.tensorhandle, %filter13: !corert.tensorhandle, %bias13: !corert.tensorhandle, %filter14: !corert.tensorhandle, %bias14: !corert.tensorhandle, %filter15: !corert.tensorhandle, %bias15: !corert.tensorhandle, %filter16: !corert.tensorhandle, %bias16: !corert.tensorhandle, %filter17: !corert.tensorhandle, %bias17: !corert.tensorhandle, %filter18: !corert.tensorhandle, %bias18: !corert.tensorhandle, %filter19: !corert.tensorhandle, %bias19: !corert.tensorhandle, %filter20: !corert.tensorhandle, %bias20: !corert.tensorhandle, %filter21: !corert.tensorhandle, %bias21: !corert.tensorhandle, %filter22: !corert.tensorhandle, %bias22: !corert.tensorhandle, %filter23: !corert.tensorhandle, %bias23: !corert.tensorhandle, %filter24: !corert.tensorhandle, %bias24: !corert.tensorhandle, %filter25: !corert.tensorhandle, %bias25: !corert.tensorhandle, %filter26: !corert.tensorhandle, %bias26: !corert.tensorhandle, %filter27: !corert.tensorhandle, %bias27: !corert.tensorhandle, %filter28: !corert.tensorhandle, %bias28: !corert.tensorhandle, %filter29: !corert.tensorhandle, %bias29: !corert.tensorhandle, %filter30: !corert.tensorhandle, %bias30: !corert.tensorhandle, %filter31: !corert.tensorhandle, %bias31: !corert.tensorhandle, %filter32: !corert.tensorhandle, %bias32: !corert.tensorhandle, %filter33: !corert.tensorhandle, %bias33: !corert.tensorhandle, %filter34: !corert.tensorhandle, %bias34: !corert.tensorhandle, %filter35: !corert.tensorhandle, %bias35: !corert.tensorhandle, %filter36: !corert.tensorhandle, %bias36: !corert.tensorhandle, %filter37: !corert.tensorhandle, %bias37: !corert.tensorhandle, %filter38: !corert.tensorhandle, %bias38: !corert.tensorhandle, %filter39: !corert.tensorhandle, %bias39: !corert.tensorhandle, %filter40: !corert.tensorhandle, %bias40: !corert.tensorhandle, %filter41: !corert.tensorhandle, %bias41: !corert.tensorhandle, %filter42: !corert.tensorhandle, %bias42: !corert.tensorhandle, %filter43: !corert.tensorhandle, %bias43: !corert.tensorhandle, %filter44: !corert.tensorhandle, %bias44: !corert.tensorhandle, %filter45: !corert.tensorhandle, %bias45: !corert.tensorhandle, %filter46: !corert.tensorhandle, %bias46: !corert.tensorhandle, %filter47: !corert.tensorhandle, %bias47: !corert.tensorhandle, %filter48: !corert.tensorhandle, %bias48: !corert.tensorhandle, %filter49: !corert.tensorhandle, %bias49: !corert.tensorhandle, %filter50: !corert.tensorhandle, %bias50: !corert.tensorhandle, %filter51: !corert.tensorhandle, %bias51: !corert.tensorhandle, %filter52: !corert.tensorhandle, %bias52: !corert.tensorhandle, %filter53: !corert.tensorhandle, %bias53: !corert.tensorhandle, %images: !t.tensor) -> (!t.tensor, !tfrt.chain) {
  %ch = tfrt.new.chain
  %x = "corert.ht_to_tensorhandle"(%images, %ch) : (!t.tensor, !tfrt.chain) -> !corert.tensorhandle
  // conv1
  %y0 = corert.executeop(%handler) "tf._FusedConv2D"(%x, %filter0, %bias0) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 3, 3, 3, 3, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  %pooled = corert.executeop(%handler) "tf.MaxPool"(%y0) { data_format = "NHWC", explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], ksize = [1, 3, 3, 1], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer1.0.downsample.0
  %y1 = corert.executeop(%handler) "tf._FusedConv2D"(%pooled, %filter1, %bias1) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.0.conv1
  %y2 = corert.executeop(%handler) "tf._FusedConv2D"(%pooled, %filter2, %bias2) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.0.conv2
  %y3 = corert.executeop(%handler) "tf._FusedConv2D"(%y2, %filter3, %bias3) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.0.conv3
  %conv4 = corert.executeop(%handler) "tf._FusedConv2D"(%y3, %filter4, %bias4) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum4 = corert.executeop(%handler) "tf.AddV2"(%conv4, %y1)  : 1
  %y4 = corert.executeop(%handler) "tf.Relu"(%sum4)  : 1
  // layer1.1.conv1
  %y5 = corert.executeop(%handler) "tf._FusedConv2D"(%y4, %filter5, %bias5) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.1.conv2
  %y6 = corert.executeop(%handler) "tf._FusedConv2D"(%y5, %filter6, %bias6) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.1.conv3
  %conv7 = corert.executeop(%handler) "tf._FusedConv2D"(%y6, %filter7, %bias7) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum7 = corert.executeop(%handler) "tf.AddV2"(%conv7, %y4)  : 1
  %y7 = corert.executeop(%handler) "tf.Relu"(%sum7)  : 1
  // layer1.2.conv1
  %y8 = corert.executeop(%handler) "tf._FusedConv2D"(%y7, %filter8, %bias8) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.2.conv2
  %y9 = corert.executeop(%handler) "tf._FusedConv2D"(%y8, %filter9, %bias9) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer1.2.conv3
  %conv10 = corert.executeop(%handler) "tf._FusedConv2D"(%y9, %filter10, %bias10) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum10 = corert.executeop(%handler) "tf.AddV2"(%conv10, %y7)  : 1
  %y10 = corert.executeop(%handler) "tf.Relu"(%sum10)  : 1
  // layer2.0.downsample.0
  %y11 = corert.executeop(%handler) "tf._FusedConv2D"(%y10, %filter11, %bias11) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer2.0.conv1
  %y12 = corert.executeop(%handler) "tf._FusedConv2D"(%y10, %filter12, %bias12) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.0.conv2
  %y13 = corert.executeop(%handler) "tf._FusedConv2D"(%y12, %filter13, %bias13) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer2.0.conv3
  %conv14 = corert.executeop(%handler) "tf._FusedConv2D"(%y13, %filter14, %bias14) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum14 = corert.executeop(%handler) "tf.AddV2"(%conv14, %y11)  : 1
  %y14 = corert.executeop(%handler) "tf.Relu"(%sum14)  : 1
  // layer2.1.conv1
  %y15 = corert.executeop(%handler) "tf._FusedConv2D"(%y14, %filter15, %bias15) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.1.conv2
  %y16 = corert.executeop(%handler) "tf._FusedConv2D"(%y15, %filter16, %bias16) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.1.conv3
  %conv17 = corert.executeop(%handler) "tf._FusedConv2D"(%y16, %filter17, %bias17) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum17 = corert.executeop(%handler) "tf.AddV2"(%conv17, %y14)  : 1
  %y17 = corert.executeop(%handler) "tf.Relu"(%sum17)  : 1
  // layer2.2.conv1
  %y18 = corert.executeop(%handler) "tf._FusedConv2D"(%y17, %filter18, %bias18) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.2.conv2
  %y19 = corert.executeop(%handler) "tf._FusedConv2D"(%y18, %filter19, %bias19) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.2.conv3
  %conv20 = corert.executeop(%handler) "tf._FusedConv2D"(%y19, %filter20, %bias20) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum20 = corert.executeop(%handler) "tf.AddV2"(%conv20, %y17)  : 1
  %y20 = corert.executeop(%handler) "tf.Relu"(%sum20)  : 1
  // layer2.3.conv1
  %y21 = corert.executeop(%handler) "tf._FusedConv2D"(%y20, %filter21, %bias21) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.3.conv2
  %y22 = corert.executeop(%handler) "tf._FusedConv2D"(%y21, %filter22, %bias22) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer2.3.conv3
  %conv23 = corert.executeop(%handler) "tf._FusedConv2D"(%y22, %filter23, %bias23) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum23 = corert.executeop(%handler) "tf.AddV2"(%conv23, %y20)  : 1
  %y23 = corert.executeop(%handler) "tf.Relu"(%sum23)  : 1
  // layer3.0.downsample.0
  %y24 = corert.executeop(%handler) "tf._FusedConv2D"(%y23, %filter24, %bias24) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer3.0.conv1
  %y25 = corert.executeop(%handler) "tf._FusedConv2D"(%y23, %filter25, %bias25) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.0.conv2
  %y26 = corert.executeop(%handler) "tf._FusedConv2D"(%y25, %filter26, %bias26) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer3.0.conv3
  %conv27 = corert.executeop(%handler) "tf._FusedConv2D"(%y26, %filter27, %bias27) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum27 = corert.executeop(%handler) "tf.AddV2"(%conv27, %y24)  : 1
  %y27 = corert.executeop(%handler) "tf.Relu"(%sum27)  : 1
  // layer3.1.conv1
  %y28 = corert.executeop(%handler) "tf._FusedConv2D"(%y27, %filter28, %bias28) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.1.conv2
  %y29 = corert.executeop(%handler) "tf._FusedConv2D"(%y28, %filter29, %bias29) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.1.conv3
  %conv30 = corert.executeop(%handler) "tf._FusedConv2D"(%y29, %filter30, %bias30) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum30 = corert.executeop(%handler) "tf.AddV2"(%conv30, %y27)  : 1
  %y30 = corert.executeop(%handler) "tf.Relu"(%sum30)  : 1
  // layer3.2.conv1
  %y31 = corert.executeop(%handler) "tf._FusedConv2D"(%y30, %filter31, %bias31) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.2.conv2
  %y32 = corert.executeop(%handler) "tf._FusedConv2D"(%y31, %filter32, %bias32) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.2.conv3
  %conv33 = corert.executeop(%handler) "tf._FusedConv2D"(%y32, %filter33, %bias33) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum33 = corert.executeop(%handler) "tf.AddV2"(%conv33, %y30)  : 1
  %y33 = corert.executeop(%handler) "tf.Relu"(%sum33)  : 1
  // layer3.3.conv1
  %y34 = corert.executeop(%handler) "tf._FusedConv2D"(%y33, %filter34, %bias34) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.3.conv2
  %y35 = corert.executeop(%handler) "tf._FusedConv2D"(%y34, %filter35, %bias35) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.3.conv3
  %conv36 = corert.executeop(%handler) "tf._FusedConv2D"(%y35, %filter36, %bias36) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum36 = corert.executeop(%handler) "tf.AddV2"(%conv36, %y33)  : 1
  %y36 = corert.executeop(%handler) "tf.Relu"(%sum36)  : 1
  // layer3.4.conv1
  %y37 = corert.executeop(%handler) "tf._FusedConv2D"(%y36, %filter37, %bias37) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.4.conv2
  %y38 = corert.executeop(%handler) "tf._FusedConv2D"(%y37, %filter38, %bias38) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.4.conv3
  %conv39 = corert.executeop(%handler) "tf._FusedConv2D"(%y38, %filter39, %bias39) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum39 = corert.executeop(%handler) "tf.AddV2"(%conv39, %y36)  : 1
  %y39 = corert.executeop(%handler) "tf.Relu"(%sum39)  : 1
  // layer3.5.conv1
  %y40 = corert.executeop(%handler) "tf._FusedConv2D"(%y39, %filter40, %bias40) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.5.conv2
  %y41 = corert.executeop(%handler) "tf._FusedConv2D"(%y40, %filter41, %bias41) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer3.5.conv3
  %conv42 = corert.executeop(%handler) "tf._FusedConv2D"(%y41, %filter42, %bias42) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum42 = corert.executeop(%handler) "tf.AddV2"(%conv42, %y39)  : 1
  %y42 = corert.executeop(%handler) "tf.Relu"(%sum42)  : 1
  // layer4.0.downsample.0
  %y43 = corert.executeop(%handler) "tf._FusedConv2D"(%y42, %filter43, %bias43) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer4.0.conv1
  %y44 = corert.executeop(%handler) "tf._FusedConv2D"(%y42, %filter44, %bias44) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer4.0.conv2
  %y45 = corert.executeop(%handler) "tf._FusedConv2D"(%y44, %filter45, %bias45) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 2, 2, 1] } : 1
  // layer4.0.conv3
  %conv46 = corert.executeop(%handler) "tf._FusedConv2D"(%y45, %filter46, %bias46) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum46 = corert.executeop(%handler) "tf.AddV2"(%conv46, %y43)  : 1
  %y46 = corert.executeop(%handler) "tf.Relu"(%sum46)  : 1
  // layer4.1.conv1
  %y47 = corert.executeop(%handler) "tf._FusedConv2D"(%y46, %filter47, %bias47) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer4.1.conv2
  %y48 = corert.executeop(%handler) "tf._FusedConv2D"(%y47, %filter48, %bias48) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer4.1.conv3
  %conv49 = corert.executeop(%handler) "tf._FusedConv2D"(%y48, %filter49, %bias49) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum49 = corert.executeop(%handler) "tf.AddV2"(%conv49, %y46)  : 1
  %y49 = corert.executeop(%handler) "tf.Relu"(%sum49)  : 1
  // layer4.2.conv1
  %y50 = corert.executeop(%handler) "tf._FusedConv2D"(%y49, %filter50, %bias50) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer4.2.conv2
  %y51 = corert.executeop(%handler) "tf._FusedConv2D"(%y50, %filter51, %bias51) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 1, 1, 1, 1, 0, 0], fused_ops = ["BiasAdd", "Relu"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  // layer4.2.conv3
  %conv52 = corert.executeop(%handler) "tf._FusedConv2D"(%y51, %filter52, %bias52) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [0, 0, 0, 0, 0, 0, 0, 0], fused_ops = ["BiasAdd"], padding = "EXPLICIT", strides = [1, 1, 1, 1] } : 1
  %sum52 = corert.executeop(%handler) "tf.AddV2"(%conv52, %y49)  : 1
  %y52 = corert.executeop(%handler) "tf.Relu"(%sum52)  : 1
  %axes = corert.executeop(%handler) "tf.Const"() { dtype = i32, value = dense<[1, 2]> : tensor<2xi32> } : 1
  %mean = corert.executeop(%handler) "tf.Mean"(%y52, %axes) { keep_dims = false } : 1
  %y53 = corert.executeop(%handler) "tf._FusedMatMul"(%mean, %filter53, %bias53) { fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false } : 1
  %scores = "corert.tensorhandle_to_ht"(%y53) : (!corert.tensorhandle) -> !t.tensor
  tfrt.return %scores, %ch : !t.tensor, !tfrt.chain
}
