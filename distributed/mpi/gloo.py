"""Times of all-reduces by PyTorch's Gloo, as `bench.c` measures MPI: gloo.py RANKS prints one line of JSON."""

import json
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def rank_main(rank, ranks, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.set_num_threads(1)
    medians = {}
    for count, rounds in ((256, 2000), (16 << 20, 12)):
        data = torch.ones(count)
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            dist.all_reduce(data, op=dist.ReduceOp.MAX)
            times.append(time.perf_counter() - start)
        medians[f"{count * 4}_bytes_us"] = round(statistics.median(times) * 1e6, 1)
    if rank == 0:
        print(json.dumps(medians), flush=True)
    dist.barrier()
    # Ending the group may wait for ranks that have ended.
    os._exit(0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        count = int(sys.argv[1])
        processes.spawn(rank_main, (count, f"{folder}/store"), nprocs=count)
