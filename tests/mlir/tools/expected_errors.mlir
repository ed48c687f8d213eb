// RUN: tfrt_opt -split-input-file -verify-diagnostics %s

// Each part is parsed on its own, and must have the errors that its comments announce.

func @operand_type(%x: i64) { // expected-note {{prior use here}}
  // expected-error @+1 {{expects different type than prior uses}}
  %y = tfrt.add.i32 %x, %x
  tfrt.return
}

// -----

func @unknown_operation() {
  // expected-error @+1 {{custom op 'tfrt.no_such_kernel' is unknown}}
  tfrt.no_such_kernel
  tfrt.return
}

// -----

func @fine() {
  tfrt.return
}
