// Reads 10,000 digits on a device with the trained network that comes with this program, ten times over: the CUDA device if
// there is one, else the CPU standing in for it. The compiler wrote everything below @main.
//
//   tfrt run models/mnist/device_inference.mlir
//   tfrt run models/mnist/device_inference.mlir --device cpu

func @main() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %none = tfrt.constant.i32 0
  %count = tfrt.constant.i32 10000
  %no_images, %no_labels, %images, %labels = "tfrt_mnist.load"(%none, %count, %ch0) {seed = 1 : i64}
    : (i32, i32, !tfrt.chain) -> (!t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %setup_results = tfrt.call @setup() : () -> (%setup_types)
  %ch1 = tfrt.call @upload(%setup_results, %images, %ch0) : (%setup_types, !t.tensor, !tfrt.chain) -> !tfrt.chain

  // The clock starts when everything is there.
  %ch2 = tfrt_cuda.stream.synchronize %p1, %ch1
  %start, %ch = "tfrt_mnist.now"(%ch2) : (!tfrt.chain) -> (i64, !tfrt.chain)
  %times = tfrt.constant.i32 10
  %correct = tfrt.constant.i32 0
  %last:%result_count = tfrt.repeat.i32 %times, %correct, %setup_results, %labels, %ch
      : i32, %setup_types, !t.tensor, !tfrt.chain {
    %ch3 = tfrt.call @launch(%setup_results, %ch) : (%setup_types, !tfrt.chain) -> !tfrt.chain
    %read, %ch4 = tfrt.call @download(%setup_results, %ch3) : (%setup_types, !tfrt.chain) -> (!t.tensor, !tfrt.chain)
    %right, %tried = "tfrt_math.count_equal.i32"(%read, %labels, %ch4) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
    tfrt.return %right, %setup_results, %labels, %tried : i32, %setup_types, !t.tensor, !tfrt.chain
  }
  %total = tfrt.mul.i32 %times, %count
  %first = tfrt.constant.i32 0
  %device, %ch5 = tfrt_cuda.device.get %first, %last#%chain_number
  %context, %ch6 = tfrt_cuda.context.primary %device, %ch5
  %place, %placed = tfrt_cuda.context.device_name %context, %ch6
  %told = "tfrt_mnist.report_accuracy"(%last#0, %count, %total, %start, %placed, %place)
    : (i32, i32, i32, i64, !tfrt.chain, !tfrt.string) -> !tfrt.chain
  tfrt.return %told : !tfrt.chain
}
