// Feature lists of messages: each op once.
//
// RUN: bef_executor --test_init_function=register $(bef_name %s) | FileCheck %s

func @register() {
  %null = "corert.create_null_op_handler"() : () -> !corert.ophandler
  %cpu = "corert.create_cpu_op_handler"(%null) : (!corert.ophandler) -> !corert.ophandler
  corert.register_op_handler %cpu "cpu"
  tfrt.return
}

// CHECK-LABEL: --- Running 'dense'
func @dense() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["\12\0F\0A\0D\0A\01t\12\08\0A\06\1A\04\0A\02\00\01", "\12\17\0A\15\0A\01t\12\10\0A\06\1A\04\0A\02\00\01\0A\06\1A\04\0A\02\0A\0B"]}
  %y0, %y1 = corert.executeop(%cpu) "tfrt.ParseSequenceDense"(%x0) { dense_shape = [2 : i64], dtype = i64, key = "t" } : 2
  // CHECK: DenseHostTensor dtype = I64, shape = [2, 2, 2], values = [0, 1, 0, 0, 0, 1, 10, 11]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [2], values = [1, 2]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'sparse'
func @sparse() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["\12\0E\0A\0C\0A\01t\12\07\0A\05\1A\03\0A\01\00", "\12\1A\0A\18\0A\01t\12\13\0A\02\1A\00\0A\05\1A\03\0A\01\0A\0A\06\1A\04\0A\02\14\15"]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.ParseSequenceSparse"(%x0) { dtype = i64, key = "t" } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [4, 3], values = [0, 0, 0, 1, 1, 0, 1, 2, 0, 1, 2, 1]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [0, 10, 20, 21]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [3], values = [2, 3, 2]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'ragged'
func @ragged() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [2], value = ["\12\0E\0A\0C\0A\01t\12\07\0A\05\1A\03\0A\01\00", "\12\1A\0A\18\0A\01t\12\13\0A\02\1A\00\0A\05\1A\03\0A\01\0A\0A\06\1A\04\0A\02\14\15"]}
  %y0, %y1, %y2 = corert.executeop(%cpu) "tfrt.ParseSequenceRagged"(%x0) { Tsplits = i32, dtype = i64, key = "t" } : 3
  // CHECK: DenseHostTensor dtype = I64, shape = [4], values = [0, 10, 20, 21]
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [3], values = [0, 1, 4]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I32, shape = [5], values = [0, 1, 1, 2, 4]
  %ch3 = "corert.print_tensorhandle"(%y2, %ch2) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch3 : !tfrt.chain
}

// CHECK-LABEL: --- Running 'missing'
func @missing() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %cpu = corert.get_op_handler %ch0 "cpu"
  %x0 = corert.const_string_tensor {shape = [1], value = ["\12\0E\0A\0C\0A\01t\12\07\0A\05\1A\03\0A\01\00"]}
  %y0, %y1 = corert.executeop(%cpu) "tfrt.ParseSequenceDense"(%x0) { dense_shape = [1 : i64], dtype = f32, key = "u", may_be_missing = true } : 2
  // CHECK: DenseHostTensor dtype = F32, shape = [1, 0, 1], values = []
  %ch1 = "corert.print_tensorhandle"(%y0, %ch0) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  // CHECK: DenseHostTensor dtype = I64, shape = [1], values = [0]
  %ch2 = "corert.print_tensorhandle"(%y1, %ch1) : (!corert.tensorhandle, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch2 : !tfrt.chain
}
