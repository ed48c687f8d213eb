// The context of a process that is alone.
//
// RUN: bef_executor $(bef_name %s) | FileCheck %s

// CHECK-LABEL: --- Running 'tasks'
func @tasks() -> (!tfrt_dist.task_handle, !tfrt_dist.task_handle) {
  %ctx = tfrt_dist.get_distributed_context
  %own = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:0"}
  %same = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/replica:0/task:0/device:CPU:0"}
  tfrt.return %own, %same : !tfrt_dist.task_handle, !tfrt_dist.task_handle
}

// CHECK-LABEL: --- Running 'unknown_task'
func @unknown_task() -> !tfrt_dist.task_handle {
  %ctx = tfrt_dist.get_distributed_context
  // expected-error @+1 {{the cluster has no task '/job:worker/task:1': the tasks of job 'worker' are [0]}}
  %other = tfrt_dist.get_task_handle %ctx {task_name = "/job:worker/task:1"}
  tfrt.return %other : !tfrt_dist.task_handle
}

// CHECK-LABEL: --- Running 'malformed_name'
func @malformed_name() -> !tfrt_dist.task_handle {
  %ctx = tfrt_dist.get_distributed_context
  // expected-error @+1 {{'worker 1' is not the name of a task: it does not start with '/job:'}}
  %other = tfrt_dist.get_task_handle %ctx {task_name = "worker 1"}
  tfrt.return %other : !tfrt_dist.task_handle
}
