// Strings.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'strings'
func @strings() -> (i1, i1) {
  %ch0 = tfrt.new.chain
  %a = tfrt_test.get_string {value = "bark"}
  %b = tfrt_test.get_string {value = "rarf"}
  %ab = "tfrt_test.append_string"(%a, %b) : (!tfrt.string, !tfrt.string) -> !tfrt.string
  // CHECK-NEXT: string = barkrarf
  %ch1 = "tfrt_test.print_string"(%ab, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %same = "tfrt_test.string_equal"(%a, %a) : (!tfrt.string, !tfrt.string) -> i1
  %other = "tfrt_test.string_equal"(%a, %b) : (!tfrt.string, !tfrt.string) -> i1
  // CHECK-NEXT: 'strings' returned 1,0
  tfrt.return %same, %other : i1, i1
}

// CHECK-LABEL: --- Running 'formats'
func @formats() -> !tfrt.string {
  %ch0 = tfrt.new.chain
  %seven = tfrt.constant.i32 7
  %format = "tfrt_test.get_string"() {value = "image_%03d.jpg, 100%%"} : () -> !tfrt.string
  %name = "tfrt_test.format_string"(%format, %seven) : (!tfrt.string, i32) -> !tfrt.string
  // CHECK-NEXT: string = image_007.jpg, 100%
  %ch1 = "tfrt_test.print_string"(%name, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %wrong = "tfrt_test.get_string"() {value = "%s"} : () -> !tfrt.string
  // expected-error @+1 {{'%s' is no format for one number}}
  %bad = "tfrt_test.format_string"(%wrong, %seven) : (!tfrt.string, i32) -> !tfrt.string
  // CHECK-NEXT: 'formats' returned <<error: '%s' is no format for one number>>
  tfrt.return %bad : !tfrt.string
}

// CHECK-LABEL: --- Running 'files'
func @files() -> !tfrt.string {
  %name = "tfrt_test.get_string"() {value = "no/such/file"} : () -> !tfrt.string
  // expected-error @+1 {{failed to read from file no/such/file}}
  %text = "tfrt_test.read_string_from_file"(%name) : (!tfrt.string) -> !tfrt.string
  // CHECK-NEXT: 'files' returned <<error: failed to read from file no/such/file
  tfrt.return %text : !tfrt.string
}

// CHECK-LABEL: --- Running 'logs'
func @logs() -> !tfrt.chain {
  %ch0 = tfrt.new.chain
  %text = "tfrt_test.get_string"() {value = "hello"} : () -> !tfrt.string
  // CHECK-NEXT: from TFRT_LOG(INFO): hello
  // CHECK-NEXT: from TFRT_LOG(WARNING): hello
  // CHECK-NEXT: from TFRT_LOG(ERROR): hello
  // CHECK-NEXT: from TFRT_LOG_IF(INFO, true): hello
  // CHECK-NEXT: from TFRT_LOG_IF(WARNING, true): hello
  // CHECK-NEXT: from TFRT_LOG_IF(ERROR, true): hello
  %ch1 = "tfrt_test.logging"(%text, %ch0) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %ch1 : !tfrt.chain
}
