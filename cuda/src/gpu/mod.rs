//! NVIDIA GPUs through the CUDA driver, which is looked for at run time.
