// String tensors.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'strings'
func @strings() {
  %ch0 = tfrt.new.chain
  %t = "tfrt_sht.create_tensor"() {shape = [2], values = ["one", "two"]} : () -> !t.tensor
  // CHECK-NEXT: StringHostTensor shape = [2], values = ["one", "two"]
  %ch1 = tfrt_dht.print_tensor %t, %ch0
  // expected-error @+1 {{2 strings do not fill a tensor of shape [3]}}
  %u = "tfrt_sht.create_tensor"() {shape = [3], values = ["one", "two"]} : () -> !t.tensor
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_strings'
func @sync_strings() attributes {tfrt.sync} {
  %t = "tfrt_sht_sync.create_uninitialized_tensor"() {shape = [1, 2]} : () -> !t.tensor
  // CHECK-NEXT: StringHostTensor shape = [1, 2], values = ["", ""]
  tfrt_dht_sync.print_tensor %t
  tfrt.return
}

// CHECK-LABEL: --- Running 'empty_strings'
func @empty_strings() {
  %ch0 = tfrt.new.chain
  %t = "tfrt_sht.create_uninitialized_tensor"() {shape = [2, 1]} : () -> !t.tensor
  // CHECK-NEXT: StringHostTensor shape = [2, 1], values = ["", ""]
  %ch1 = tfrt_dht.print_tensor %t, %ch0
  tfrt.return
}

// CHECK-LABEL: --- Running 'sync_values'
func @sync_values() attributes {tfrt.sync} {
  %t = "tfrt_sht_sync.create_tensor"() {shape = [1, 2], values = ["one", ""]} : () -> !t.tensor
  // CHECK-NEXT: StringHostTensor shape = [1, 2], values = ["one", ""]
  tfrt_dht_sync.print_tensor %t
  tfrt.return
}
