// Host buffers, slices of them, and tensors over both.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'slices'
func @slices() {
  %ch0 = tfrt.new.chain
  %zero = tfrt.constant.i64 0
  %four = tfrt.constant.i64 4
  %eight = tfrt.constant.i64 8
  %buffer = tfrt_dht.allocate_buffer %eight, %four
  // CHECK-NEXT: HostBuffer<pointer={{0x[0-9a-f]+}}, size=8>
  %ch1 = tfrt_dht.print_buffer %buffer, %ch0
  %upper = tfrt_dht.get_buffer_slice %buffer, %four, %four
  %one = ts.build_shape [1 : i64]
  %two = ts.build_shape [2 : i64]
  %part, %ch2 = tfrt_dht.make_tensor.i32 %upper, %one, %ch1
  %whole, %ch3 = tfrt_dht.make_tensor.i32 %buffer, %two, %ch2
  %ch4 = tfrt_dht.fill_tensor_with_constant.i32 %whole, %ch3 3 : i32
  %ch5 = tfrt_dht.fill_tensor_with_constant.i32 %part, %ch4 -1 : i32
  // CHECK-NEXT: values = [3, -1]
  %ch6 = tfrt_dht.print_tensor %whole, %ch5
  %again, %ch7 = tfrt_dht.get_buffer %part, %ch6
  // CHECK-NEXT: size=4>
  %ch8 = tfrt_dht.print_buffer %again, %ch7
  tfrt.return
}

// CHECK-LABEL: --- Running 'errors'
func @errors() {
  %ch0 = tfrt.new.chain
  %two = tfrt.constant.i64 2
  %three = tfrt.constant.i64 3
  %eight = tfrt.constant.i64 8
  %minus = tfrt.constant.i64 -8
  %buffer = tfrt_dht.allocate_buffer %eight, %eight
  // expected-error @+1 {{alignment 3 is not a power of two}}
  %a = tfrt_dht.allocate_buffer %eight, %three
  // expected-error @+1 {{negative size -8}}
  %b = tfrt_dht.allocate_buffer %minus, %eight
  // expected-error @+1 {{8 bytes from byte 2 do not lie within a buffer of 8 bytes}}
  %c = tfrt_dht.get_buffer_slice %buffer, %two, %eight
  %shape = ts.build_shape [3 : i64]
  // expected-error @+1 {{dht.make_tensor failed: buffer_size (8) is not equal to the number of elements in shape ([3]) times element size (4)}}
  %d, %ch1 = tfrt_dht.make_tensor.f32 %buffer, %shape, %ch0
  %odd = tfrt_dht.get_buffer_slice %buffer, %three, %two
  %one = ts.build_shape [1 : i64]
  // expected-error @+1 {{the buffer is not aligned to 2 bytes}}
  %e, %ch2 = tfrt_dht.make_tensor.i16 %odd, %one, %ch0
  tfrt.return
}
