// A program with an error is refused when it is registered, with the place of the error.
//
// WORKERS: 1

func @main() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w) "broken" "<broken>"
  tfrt.return %c1 : !tfrt.chain
}

// ----- broken
func @broken() -> i32 {
  %x = tfrt.no_such_kernel
  tfrt.return %x : i32
}

// OUT: error: custom op 'tfrt.no_such_kernel' is unknown
// OUT:  = at broken:2:8
// OUT:   = in the program 'broken'
// OUT:   = in RegisterFunction on /job:worker/task:0 (ADDRESS0)
// OUT:   = called by 'tfrt_dist.register_tfrt_function' at PROGRAM:9:9
// OUT:
