//! The CPU standing in for a GPU: asynchronous streams, device memory of its own, PTX, BLAS and DNN on the cores.
