// Sets in the rows of sparse tensors, and crosses of features: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | golden %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

func @set_union() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [1, 0]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x3 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x4 = corert.const_dense_tensor dense<[3, 1, 2, 1, 2, 0]> : tensor<6xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SetOperation"(%x0, %x1, %x2, %x3, %x4) { set_operation = "union" } : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @set_intersection() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [1, 0]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x3 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x4 = corert.const_dense_tensor dense<[3, 1, 2, 1, 2, 0]> : tensor<6xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SetOperation"(%x0, %x1, %x2, %x3, %x4) { set_operation = "intersection" } : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @set_a_b() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [1, 0]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x3 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x4 = corert.const_dense_tensor dense<[3, 1, 2, 1, 2, 0]> : tensor<6xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SetOperation"(%x0, %x1, %x2, %x3, %x4) { set_operation = "a-b" } : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @set_b_a() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [1, 0]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x3 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x4 = corert.const_dense_tensor dense<[3, 1, 2, 1, 2, 0]> : tensor<6xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.SetOperation"(%x0, %x1, %x2, %x3, %x4) { set_operation = "b-a" } : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @set_size() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [0, 1], [0, 2], [1, 0]]> : tensor<4x2xi64>
  %x1 = corert.const_dense_tensor dense<[3, 3]> : tensor<2xi64>
  %x2 = corert.const_dense_tensor dense<[5, 5, 4, 1]> : tensor<4xi64>
  %y0 = corert.executeop(%cpu) "tfrt.SetSize"(%x0, %x1, %x2) : 1
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

func @hashed_cross() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_string_tensor {shape = [3], value = ["a", "b", "c"]}
  %x3 = corert.const_dense_tensor dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %x4 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi64>
  %x5 = corert.const_dense_tensor dense<[7, 8]> : tensor<2xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.HashedCross"(%x0, %x1, %x2, %x3, %x4, %x5) { hash_key = 956888297470 : i64, num_buckets = 100 : i64 } : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @bucketed_cross() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_string_tensor {shape = [3], value = ["a", "b", "c"]}
  %x3 = corert.const_dense_tensor dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %x4 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi64>
  %x5 = corert.const_dense_tensor dense<[7, 8]> : tensor<2xi64>
  %x6 = corert.const_dense_tensor dense<100> : tensor<i64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.BucketedCross"(%x0, %x1, %x2, %x3, %x4, %x5, %x6) : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @joined_cross() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_string_tensor {shape = [3], value = ["a", "b", "c"]}
  %x3 = corert.const_dense_tensor dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %x4 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi64>
  %x5 = corert.const_dense_tensor dense<[7, 8]> : tensor<2xi64>
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.JoinedCross"(%x0, %x1, %x2, %x3, %x4, %x5) : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

func @joined_by_a_separator() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_dense_tensor dense<[[0, 0], [1, 0], [1, 1]]> : tensor<3x2xi64>
  %x1 = corert.const_dense_tensor dense<[2, 2]> : tensor<2xi64>
  %x2 = corert.const_string_tensor {shape = [3], value = ["a", "b", "c"]}
  %x3 = corert.const_dense_tensor dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>
  %x4 = corert.const_dense_tensor dense<[2, 1]> : tensor<2xi64>
  %x5 = corert.const_dense_tensor dense<[7, 8]> : tensor<2xi64>
  %x6 = corert.const_string_tensor {shape = [], value = ["-"]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.JoinedCross"(%x0, %x1, %x2, %x3, %x4, %x5, %x6) : 3
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// OUT: Choosing memory leak check allocator.
// OUT: Choosing single-threaded work queue.
// OUT: --- Running 'register':
// OUT: --- Running 'set_union':
// OUT: DenseHostTensor dtype = I64, shape = [4, 2], values = [0, 0, 0, 1, 1, 0, 1, 1]
// OUT: DenseHostTensor dtype = I64, shape = [4], values = [1, 3, 0, 2]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
// OUT: 'set_union' returned !tfrt.chain value
// OUT: --- Running 'set_intersection':
// OUT: DenseHostTensor dtype = I64, shape = [2, 2], values = [0, 0, 1, 0]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [1, 2]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 1]
// OUT: 'set_intersection' returned !tfrt.chain value
// OUT: --- Running 'set_a_b':
// OUT: DenseHostTensor dtype = I64, shape = [1, 2], values = [0, 0]
// OUT: DenseHostTensor dtype = I64, shape = [1], values = [3]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 1]
// OUT: 'set_a_b' returned !tfrt.chain value
// OUT: --- Running 'set_b_a':
// OUT: DenseHostTensor dtype = I64, shape = [1, 2], values = [1, 0]
// OUT: DenseHostTensor dtype = I64, shape = [1], values = [0]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 1]
// OUT: 'set_b_a' returned !tfrt.chain value
// OUT: --- Running 'set_size':
// OUT: DenseHostTensor dtype = I32, shape = [3], values = [2, 1, 0]
// OUT: 'set_size' returned !tfrt.chain value
// OUT: --- Running 'hashed_cross':
// OUT: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 0, 1, 0, 1, 1]
// OUT: DenseHostTensor dtype = I64, shape = [3], values = [56, 26, 89]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
// OUT: 'hashed_cross' returned !tfrt.chain value
// OUT: --- Running 'bucketed_cross':
// OUT: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 0, 1, 0, 1, 1]
// OUT: DenseHostTensor dtype = I64, shape = [3], values = [1, 34, 63]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
// OUT: 'bucketed_cross' returned !tfrt.chain value
// OUT: --- Running 'joined_cross':
// OUT: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 0, 1, 0, 1, 1]
// OUT: StringHostTensor shape = [3], values = ["a_X_7", "b_X_8", "c_X_8"]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
// OUT: 'joined_cross' returned !tfrt.chain value
// OUT: --- Running 'joined_by_a_separator':
// OUT: DenseHostTensor dtype = I64, shape = [3, 2], values = [0, 0, 1, 0, 1, 1]
// OUT: StringHostTensor shape = [3], values = ["a-7", "b-8", "c-8"]
// OUT: DenseHostTensor dtype = I64, shape = [2], values = [2, 2]
// OUT: 'joined_by_a_separator' returned !tfrt.chain value
