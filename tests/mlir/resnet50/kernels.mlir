// What the ResNet-50 programs need beside mathematics: images, weights, a report.
//
// RUN: tfrt run %s --function prepare -i @tests/images/shapes.png | FileCheck %s --check-prefix=PREPARE
// RUN: tfrt run %s --function prepare -i @tests/images/shapes.jpg | FileCheck %s --check-prefix=JPEG
// RUN: not tfrt run %s --function prepare -i 4xf32=0 2>&1 | FileCheck %s --check-prefix=NO_IMAGE
// RUN: not tfrt run %s --function prepare -i @%s.jpg 2>&1 | FileCheck %s --check-prefix=NO_FILE
// RUN: tfrt run %s --function report -i 2x3xf32=[0,1,2,9,0,0] | FileCheck %s --check-prefix=REPORT
// RUN: not tfrt run %s --function report -i 2xf32=0 --labels tests/mlir/resnet50/labels.txt 2>&1 | FileCheck %s --check-prefix=LABELS
// RUN: tfrt run %s --function report -i 3xf32=0 --labels tests/mlir/resnet50/labels.txt | FileCheck %s --check-prefix=LABELLED
// RUN: not tfrt run %s --function report -i f32=0 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: tfrt run %s --function bias | FileCheck %s --check-prefix=BIAS
// RUN: not tfrt run %s --function unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tfrt run %s --function bias --weights tests/images/shapes.png 2>&1 | FileCheck %s --check-prefix=NO_WEIGHTS
// RUN: tfrt run %s --function check -i 1x2x2x3xf32=0 | FileCheck %s --check-prefix=GOOD
// RUN: not tfrt run %s --function check -i 1x2x3x3xf32=0 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: tfrt run %s --function check_all -i 0x2x2x3xf32=0 -i 5x2x2x3xf32=0 | FileCheck %s --check-prefix=ANY_NUMBER
// RUN: not tfrt run %s --function check_all -i 1x2x2x3xf32=0 -i 1x1x2x3xf32=0 2>&1 | FileCheck %s --check-prefix=ANY_SHAPE
// RUN: not tfrt run models/resnet50/host.mlir --function infer --setup setup -i 1x32x32x3xf32=0 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: tfrt run %s --function add --setup make -i 3 | FileCheck %s --check-prefix=SETUP
// RUN: not tfrt run %s --function make --setup make 2>&1 | FileCheck %s --check-prefix=TOO_MANY
// RUN: not tfrt run %s --function add --setup unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tfrt resnet50 program --extent 100 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not tfrt resnet50 program --form device --batch 0 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not tfrt resnet50 program --precision f16 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: tfrt run %s --function half | FileCheck %s --check-prefix=HALF
// RUN: not tfrt resnet50 convert %s -o %t 2>&1 | FileCheck %s --check-prefix=FORMAT

// PREPARE: shape = [1, 1, 1, 3]
// JPEG: shape = [1, 1, 1, 3]
// NO_IMAGE: error: an image is a tensor of ui8 with rows, columns and 3 channels, not F32 [4]
// NO_FILE: failed to open file {{.*}}kernels.mlir.jpg for reading: No such file
func @prepare(%image: !t.tensor) -> !t.tensor {
  %x = "tfrt_image.prepare.f32"(%image) { bgr = false, crop = 1 : i64, deviation = [255.0 : f32, 255.0 : f32, 255.0 : f32], mean = [0.0 : f32, 0.0 : f32, 0.0 : f32], side = 8 : i64 } : (!t.tensor) -> !t.tensor
  tfrt.return %x : !t.tensor
}

// REPORT: image 1
// REPORT-NEXT: 66.52 %  class   2
// REPORT-NEXT: 24.47 %  class   1
// REPORT-NEXT: image 2
// REPORT-NEXT: 99.98 %  class   0
// REPORT-NEXT: 0.01 %  class   1
// REPORT-NEXT: The weights are random numbers
// LABELS: error: there are 3 labels for 2 classes
// LABELLED: 33.33 %  class   0  cat
// LABELLED-NEXT: 33.33 %  class   1  dog
// NUMBER: error: a number is no list of scores
func @report(%scores: !t.tensor, %ch: !tfrt.chain) -> !tfrt.chain {
  %ch1 = "tfrt_resnet50.report"(%scores, %ch) { count = 2 : i64 } : (!t.tensor, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}

// BIAS: result 0: !t.tensor = DenseHostTensor dtype = F32, shape = [64], md5sum = {{[0-9]+}}, values = [4.624812e-02, -7.591337e-02
// NO_WEIGHTS: error: tests/images/shapes.png: at byte 0:
func @bias() -> !t.tensor {
  %filter, %bias = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "OHWI", seed = 1 : i64, variant = "keras" } : () -> (!t.tensor, !t.tensor)
  tfrt.return %bias : !t.tensor
}

// HALF: dtype = F16, shape = [64]
func @half() -> !t.tensor {
  %filter, %bias = "tfrt_resnet50.weights.f16"() { layer = "conv1", layout = "OHWI", seed = 1 : i64, variant = "keras" } : () -> (!t.tensor, !t.tensor)
  tfrt.return %bias : !t.tensor
}

// UNKNOWN-DAG: error: ResNet-50 has no layer 'conv9'
// UNKNOWN-DAG: error: a filter's layout is HWIO, OHWI or IO, not 'IHWO'
// UNKNOWN-DAG: error: the filter of 'conv1' is no matrix
// UNKNOWN-DAG: error: 'caffe' is neither torchvision nor keras
func @unknown() -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %f1, %b1 = "tfrt_resnet50.weights.f32"() { layer = "conv9", layout = "OHWI", seed = 1 : i64, variant = "keras" } : () -> (!t.tensor, !t.tensor)
  %f2, %b2 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "IHWO", seed = 1 : i64, variant = "keras" } : () -> (!t.tensor, !t.tensor)
  %f3, %b3 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "IO", seed = 1 : i64, variant = "keras" } : () -> (!t.tensor, !t.tensor)
  %f4, %b4 = "tfrt_resnet50.weights.f32"() { layer = "conv1", layout = "HWIO", seed = 1 : i64, variant = "caffe" } : () -> (!t.tensor, !t.tensor)
  tfrt.return %f1, %f2, %f3, %f4 : !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

// GOOD: shape = [1, 2, 2, 3]
// SHAPE: error: the program takes images of F32 [1, 2, 2, 3], not F32 [1, 2, 3, 3]
func @check(%x: !t.tensor) -> !t.tensor {
  %y = "tfrt_resnet50.check_images"(%x) { shape = [1 : i64, 2 : i64, 2 : i64, 3 : i64] } : (!t.tensor) -> !t.tensor
  tfrt.return %y : !t.tensor
}

// ANY_NUMBER: shape = [0, 2, 2, 3]
// ANY_NUMBER: shape = [5, 2, 2, 3]
// ANY_SHAPE: error: the program takes images of F32 [any, 2, 2, 3], not F32 [1, 1, 2, 3]
// SMALL: error: the program takes images of F32 [any, 224, 224, 3], not F32 [1, 32, 32, 3]
func @check_all(%x: !t.tensor, %y: !t.tensor) -> (!t.tensor, !t.tensor) {
  %a = "tfrt_resnet50.check_images"(%x) { shape = [-1 : i64, 2 : i64, 2 : i64, 3 : i64] } : (!t.tensor) -> !t.tensor
  %b = "tfrt_resnet50.check_images"(%y) { shape = [-1 : i64, 2 : i64, 2 : i64, 3 : i64] } : (!t.tensor) -> !t.tensor
  tfrt.return %a, %b : !t.tensor, !t.tensor
}

// What a setup function gives comes before what the command line gives.
// SETUP: result 0: i32 = 42
// TOO_MANY: error: 'make' takes 0 arguments, but the setup function returns 2 results
func @make() -> (i32, i32) {
  %a = tfrt.constant.i32 30
  %b = tfrt.constant.i32 9
  tfrt.return %a, %b : i32, i32
}

func @add(%a: i32, %b: i32, %c: i32) -> i32 {
  %ab = tfrt.add.i32 %a, %b
  %abc = tfrt.add.i32 %ab, %c
  tfrt.return %abc : i32
}

// EXTENT: error: images must have a multiple of 32 pixels each way, 4096 at most, not 100
// BATCH: error: a device program cannot take 0 images of 224 x 224 pixels
// PRECISION: error: a host program computes in f32 alone
// FORMAT: is neither .safetensors nor .npz
