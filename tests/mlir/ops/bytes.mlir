// Strings as bytes: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'stringtohashbucket'
func @stringtohashbucket() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %y0 = corert.executeop(%cpu) "tf.StringToHashBucket"(%x0) { num_buckets = 1000 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [941, 105, 899]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'stringtohashbucketfast'
func @stringtohashbucketfast() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %y0 = corert.executeop(%cpu) "tf.StringToHashBucketFast"(%x0) { num_buckets = 1000 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [151, 877, 263]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'strong'
func @strong() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %y0 = corert.executeop(%cpu) "tf.StringToHashBucketStrong"(%x0) { key = [3 : i64, 7 : i64], num_buckets = 1000 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [916, 96, 481]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'fingerprint'
func @fingerprint() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %x1 = corert.const_string_tensor {shape = [], value = ["farmhash64"]}
  %y0 = corert.executeop(%cpu) "tf.Fingerprint"(%x0, %x1) : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [3, 8], values = [135, 32, 107, 50, 30, 124, 200, 213, 53, 224, 149, 0, 211, 107, 23, 15, 79, 64, 144, 47, 59, 106, 225, 154]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'decode'
func @decode() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["hé"]}
  %y0, %y1 = corert.executeop(%cpu) "tf.UnicodeDecode"(%x0) { errors = "strict", input_encoding = "UTF-8" } : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [0, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [104, 233]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'offsets'
func @offsets() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["hé!"]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tf.UnicodeDecodeWithOffsets"(%x0) { input_encoding = "UTF-8" } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [0, 3]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [104, 233, 33]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 1, 3]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'encode'
func @encode() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[104, 233]> : tensor<2xi32>
  %x1 = corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi64>
  %y0 = corert.executeop(%cpu) "tf.UnicodeEncode"(%x0, %x1) { output_encoding = "UTF-8" } : 1
  // CHECK: StringHostTensor shape = [2], values = ["h", "é"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'transcode'
func @transcode() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %y0 = corert.executeop(%cpu) "tf.UnicodeTranscode"(%x0) { input_encoding = "UTF-8", output_encoding = "UTF-8" } : 1
  // CHECK: StringHostTensor shape = [3], values = ["Hello", "a b", ""]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'split'
func @split() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %x1 = corert.const_string_tensor {shape = [], value = [""]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tf.StringSplit"(%x0, %x1) : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [8, 2], values = [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 1, 0, 1, 1, 1, 2]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: StringHostTensor shape = [8], values = ["H", "e", "l", "l", "o", "a", " ", "b"]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [3, 5]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'base64'
func @base64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %y0 = corert.executeop(%cpu) "tf.EncodeBase64"(%x0) { pad = true } : 1
  // CHECK: StringHostTensor shape = [3], values = ["SGVsbG8=", "YSBi", ""]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'unbase64'
func @unbase64() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["SGVsbG8"]}
  %y0 = corert.executeop(%cpu) "tf.DecodeBase64"(%x0) : 1
  // CHECK: StringHostTensor shape = [1], values = ["Hello"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'raw'
func @raw() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["ab"]}
  %y0 = corert.executeop(%cpu) "tf.DecodeRaw"(%x0) { out_type = ui8 } : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [1, 2], values = [97, 98]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'padded'
func @padded() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["ab"]}
  %x1 = corert.const_dense_tensor dense<4> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tf.DecodePaddedRaw"(%x0, %x1) { out_type = ui8 } : 1
  // CHECK: DenseHostTensor dtype = UI8, shape = [1, 4], values = [97, 98, 0, 0]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'join'
func @join() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %x1 = corert.const_dense_tensor dense<[0, 1, 0]> : tensor<3xi32>
  %x2 = corert.const_dense_tensor dense<2> : tensor<i32>
  %y0 = corert.executeop(%cpu) "tf.UnsortedSegmentJoin"(%x0, %x1, %x2) { separator = "+" } : 1
  // CHECK: StringHostTensor shape = [2], values = ["Hello+", "a b"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'grams'
func @grams() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Hello", "a b", ""]}
  %x1 = corert.const_dense_tensor dense<[0, 2, 3]> : tensor<3xi64>
  %y0, %y1 = corert.executeop(%cpu) "tf.StringNGrams"(%x0, %x1) { left_pad = "<", ngram_widths = [2 : i64], pad_width = 1 : i64, right_pad = ">", separator = "_" } : 2
  // CHECK: StringHostTensor shape = [5], values = ["<_Hello", "Hello_a b", "a b_>", "<_", "_>"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [0, 3, 5]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'csv'
func @csv() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["1,2", "3,"]}
  %x1 = corert.const_dense_tensor dense<[7]> : tensor<1xi32>
  %y0 = corert.executeop(%cpu) "tfrt.DecodeCsvColumn"(%x0, %x1) { column = 1 : i64, columns = 2 : i64 } : 1
  // CHECK: DenseHostTensor dtype = I32, shape = [2], values = [2, 7]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'serialize'
func @serialize() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["q"]}
  %y0 = corert.executeop(%cpu) "tf.SerializeTensor"(%x0) : 1
  // CHECK: StringHostTensor shape = [], values = [{{.*}}q"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'parse'
func @parse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [], value = ["\08\07\12\04\12\02\08\01B\01q"]}
  %y0 = corert.executeop(%cpu) "tf.ParseTensor"(%x0) { out_type = !corert.string } : 1
  // CHECK: StringHostTensor shape = [1], values = ["q"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'dense'
func @dense() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["\0A\0F\0A\0D\0A\01a\12\08\1A\06\0A\04\01\02\03\04"]}
  %x1 = corert.const_dense_tensor dense<[]> : tensor<0xi64>
  %y0 = corert.executeop(%cpu) "tfrt.ParseExampleDense"(%x0, %x1) { dense_shape = [4 : i64], dtype = i64, key = "a" } : 1
  // CHECK: DenseHostTensor dtype = I64, shape = [1, 4], values = [1, 2, 3, 4]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sparse'
func @sparse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["\0A\0F\0A\0D\0A\01a\12\08\1A\06\0A\04\01\02\03\04"]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.ParseExampleSparse"(%x0) { dtype = i64, key = "a" } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [4, 2], values = [0, 0, 0, 1, 0, 2, 0, 3]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [1, 2, 3, 4]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [1, 4]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ragged'
func @ragged() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["\0A\0F\0A\0D\0A\01a\12\08\1A\06\0A\04\01\02\03\04"]}
  %y0, %y1 = corert.executeop(%cpu) "tfrt.ParseExampleRagged"(%x0) { dtype = i64, key = "a" } : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [1, 2, 3, 4]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [0, 4]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
