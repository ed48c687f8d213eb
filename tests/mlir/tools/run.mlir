// RUN: tfrt run %s --input 21 --input 2x2xf32=[[1,2],[3,4]] --expected-output 42 | FileCheck %s
// RUN: tfrt run %s --input 1=f32=1.5 --input 0=-1 -o %t.npy | FileCheck %s --check-prefix=NUMBERED
// RUN: tfrt run %s --input 4 --input i32=4 --json | FileCheck %s --check-prefix=JSON
// RUN: cat %s | tfrt run - --input 4 --input i32=4 --json | FileCheck %s --check-prefix=JSON
// RUN: cat %s | tfrt inspect - | FileCheck %s --check-prefix=INSPECT
// RUN: not tfrt run %s --input 1 --input 2x2xf32=[[1,2,3],[4]] 2>&1 | FileCheck %s --check-prefix=RAGGED
// RUN: not tfrt run %s --function fails --cpu-devices 0 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not tfrt run %s --input 1 --input i32=4 --expected-output 3 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tfrt run %s --input 1 --input i32=4 -o a.npy -o b.npy 2>&1 | FileCheck %s --check-prefix=TOO_MANY
// RUN: not tfrt run %s --input 1 --input i32=4 -o 0=a.npy 2>&1 | FileCheck %s --check-prefix=NO_TENSOR
// RUN: not tfrt run %s --input 1 --input i32=4 -o a.txt 2>&1 | FileCheck %s --check-prefix=NO_FORMAT
// RUN: not tfrt run %s --input 1 --input i32=4 -o %t.none/a.npy 2>&1 | FileCheck %s --check-prefix=NO_FOLDER
// RUN: not tfrt run %s --input 1 --input i32=4 --expected-output x 2>&1 | FileCheck %s --check-prefix=NO_NUMBER
// RUN: not tfrt run %s 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not tfrt run %s --function fails 2>&1 | FileCheck %s --check-prefix=FAILS

// Arguments come from the command line, chains by themselves; results are printed, compared and told as JSON.

// CHECK: int32 = 42
// CHECK: result 0: i32 = 42
// CHECK: result 1: !t.tensor = DenseHostTensor dtype = F32, shape = [2, 2], values = [1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]
// CHECK-NOT: result 2
// NUMBERED: result 0: i32 = -2
// JSON: "errors": []
// JSON: "function": "main"
// JSON: "value": 8
// JSON: "dtype": "i32"
// INSPECT: main(i32, !t.tensor, !tfrt.chain) -> (i32, !t.tensor, !tfrt.chain): async
// RAGGED: error: argument 1 (!t.tensor): a list has 3 elements, but the shape has 2 there
// DEVICES: error: invalid value '0' for '--cpu-devices <N>': at least one CPU device is needed
// WRONG: error: result 0 is not as expected: it is 2, expected 3
// What is asked of results is looked at before they are computed.
// TOO_MANY-NOT: int32
// TOO_MANY: error: there is no result for 'b.npy'
// NO_TENSOR-NOT: int32
// NO_TENSOR: error: 'a.npy': only tensors can be written to a file, not i32
// NO_FORMAT-NOT: int32
// NO_FORMAT: error: 'a.txt' is neither .npy nor .btf nor .safetensors
// NO_FOLDER-NOT: int32
// NO_FOLDER: error: cannot write '{{.*}}none/a.npy': No such file
// NO_NUMBER-NOT: int32
// NO_NUMBER: error: expected output 0 (i32): 'x' is not a number of this type
// USAGE: error: 'main' needs argument 0 (i32): pass it with --input
// FAILS: error: something bad happened
// FAILS: run.mlir:[[@LINE+10]]:8
// FAILS: in kernel 'tfrt_test.fail'

func @main(%a: i32, %t: !t.tensor, %ch: !tfrt.chain) -> (i32, !t.tensor, !tfrt.chain) {
  %b = tfrt.add.i32 %a, %a
  %ch1 = tfrt.print.i32 %b, %ch
  tfrt.return %b, %t, %ch1 : i32, !t.tensor, !tfrt.chain
}

func @fails() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
