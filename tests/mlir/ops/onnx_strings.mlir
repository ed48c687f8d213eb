// ONNX's ops on strings: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'full_match'
func @full_match() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["ab", "abc", "b"]}
  %y0 = corert.executeop(%cpu) "onnx.RegexFullMatch"(%x0) { pattern = "a?b|c" } : 1
  // CHECK: DenseHostTensor dtype = I1, shape = [3], values = [1, 0, 1]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'normalize'
func @normalize() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [3], value = ["Monday", "Tuesday", "monday"]}
  %y0 = corert.executeop(%cpu) "onnx.StringNormalizer"(%x0) { case_change_action = "UPPER", is_case_sensitive = 0 : i64, stopwords = ["monday"] } : 1
  // CHECK: StringHostTensor shape = [1], values = ["TUESDAY"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'split'
func @split() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["a,b,c", "d"]}
  %y0, %y1 = corert.executeop(%cpu) "onnx.StringSplit"(%x0) { delimiter = ",", maxsplit = 1 : i64 } : 2
  // CHECK: StringHostTensor shape = [2, 2], values = ["a", "b,c", "d", ""]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [2, 1]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'n_grams'
func @n_grams() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[1, 4, 5, 6, 6], [1, 1, 1, 1, 2]]> : tensor<2x5xi32>
  %y0 = corert.executeop(%cpu) "onnx.TfIdfVectorizer"(%x0) { max_gram_length = 2 : i64, max_skip_count = 1 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], pool_int64s = [1, 2, 5, 6] } : 1
  // CHECK: DenseHostTensor dtype = F32, shape = [2, 3], values = [1.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 1.000000e+00, 0.000000e+00]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'tokens'
func @tokens() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["a dog, x", "it"]}
  %y0 = corert.executeop(%cpu) "onnx.Tokenizer"(%x0) { mark = 0 : i64, mincharnum = 1 : i64, pad_value = "#", tokenexp = "[a-z]+" } : 1
  // CHECK: StringHostTensor shape = [2, 3], values = ["a", "dog", "x", "it", "#", "#"]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %y1 = corert.executeop(%cpu) "onnx.Tokenizer"(%x0) { mark = 1 : i64, mincharnum = 2 : i64, pad_value = "#", separators = [",", " "] } : 1
  // CHECK: StringHostTensor shape = [2, 3], values = ["{{.}}", "dog", "{{.}}", "{{.}}", "it", "{{.}}"]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
