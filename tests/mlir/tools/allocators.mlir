// RUN: bef_executor --host_allocator_type profiled_allocator $(bef_name %s) | FileCheck %s --check-prefix=PROFILED
// RUN: bef_executor --host_allocator_type=malloc $(bef_name %s) | FileCheck %s --check-prefix=MALLOC
// RUN: bef_executor --host_allocator_type=recycling_allocator $(bef_name %s) | FileCheck %s --check-prefix=RECYCLING
// RUN: bef_executor --host_allocator_type=test_fixed_size_1k $(bef_name %s) 2>&1 | FileCheck %s --check-prefix=FIXED

// PROFILED: Choosing profiled allocator based on malloc.
// PROFILED: HostAllocator profile:
// PROFILED: Current number of bytes allocated = 0
// PROFILED: Max number of bytes allocated = {{[1-9]}}
// MALLOC: Choosing malloc.
// RECYCLING: Choosing recycling allocator based on malloc.
// FIXED: Choosing fixed size malloc.
// FIXED: Allocating {{[0-9]+}} bytes.
// FIXED: Freeing {{[0-9]+}} bytes.

func @tensor() {
  %x = tfrt_dht.create_uninitialized_tensor.f32.1 [64 : i64]
  tfrt.return
}
