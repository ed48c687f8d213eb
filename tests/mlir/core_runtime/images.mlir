// Convolution, pooling and batch normalization as ops.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s
// RUN: bef_executor --work_queue_type=mstd --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'layers'
func @layers() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [1, 3, 3, 1], values = [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32, 5.0 : f32, 6.0 : f32, 7.0 : f32, 8.0 : f32, 9.0 : f32] } : 1
  %w = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [2, 2, 1, 1], values = [1.0 : f32, 0.0 : f32, 0.0 : f32, -1.0 : f32] } : 1
  %conv = corert.executeop(%cpu) "tf.Conv2D"(%x, %w) { data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [], padding = "SAME", strides = [1, 1, 1, 1] } : 1
  // CHECK: shape = [1, 3, 3, 1], values = [-4.000000e+00, -4.000000e+00, 3.000000e+00, -4.000000e+00, -4.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch1 = corert.executeop.seq(%cpu, %ch0) "tfrt_test.print"(%conv) : 0
  %max = corert.executeop(%cpu) "tf.MaxPool"(%conv) { ksize = [1, 2, 2, 1], padding = "VALID", strides = [1, 1, 1, 1] } : 1
  // CHECK: shape = [1, 2, 2, 1], values = [-4.000000e+00, 6.000000e+00, 8.000000e+00, 9.000000e+00]
  %ch2 = corert.executeop.seq(%cpu, %ch1) "tfrt_test.print"(%max) : 0
  %mean = corert.executeop(%cpu) "tf.AvgPool"(%conv) { ksize = [1, 2, 2, 1], padding = "SAME", strides = [1, 2, 2, 1] } : 1
  // CHECK: shape = [1, 2, 2, 1], values = [-4.000000e+00, 4.500000e+00, 7.500000e+00, 9.000000e+00]
  %ch3 = corert.executeop.seq(%cpu, %ch2) "tfrt_test.print"(%mean) : 0
  %one = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [1], values = [1.0 : f32] } : 1
  %four = corert.executeop(%cpu) "tfrt_test.create_dense_tensor"() { shape = [1], values = [4.0 : f32] } : 1
  %norm:5 = corert.executeop(%cpu) "tf.FusedBatchNormV2"(%max, %one, %one, %four, %four) { epsilon = 0.0 : f32, is_training = false } : 5
  // CHECK: values = [-3.000000e+00, 2.000000e+00, 3.000000e+00, 3.500000e+00]
  %ch4 = corert.executeop.seq(%cpu, %ch3) "tfrt_test.print"(%norm#0) : 0
  tfrt.return %ch4 : !tfrt.chain
}
