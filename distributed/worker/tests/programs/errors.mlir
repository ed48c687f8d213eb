// The error of a remote kernel arrives with its place in the remote program, the function and the task.
//
// WORKERS: 1

func @main() -> !tfrt.chain {
  %c0 = tfrt.new.chain
  %ctx = tfrt_dist.get_distributed_context
  %w = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %one = tfrt_dist.create_remote_execute_spec %ctx {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %c1 = tfrt_dist.register_tfrt_function(%c0, %ctx, %w) "fail" "<fail>"
  %c2, %id = tfrt_dist.remote_execute[%c1, %ctx, %w, %one] "fail"() : () -> (!tfrt_dist.remote_object_id)
  tfrt.return %c2 : !tfrt.chain
}

// ----- fail
func @fail() -> i32 {
  %x = tfrt.constant.i32 1
  %y = tfrt_test.fail
  tfrt.return %y : i32
}

// OUT: error: something bad happened
// OUT:  = at fail:3:8
// OUT:   = in kernel 'tfrt_test.fail'
// OUT:   = in function 'fail'
// OUT:   = in RemoteExecute on /job:worker/task:0 (ADDRESS0)
// OUT:   = called by 'tfrt_dist.remote_execute' at PROGRAM:11:14
// OUT:
