"""Loads our CPU device into TensorFlow, and sends tensors there and back.

Called by ci/tensorflow-plugin with the path of the plug-in; the exit code says whether all of it held.
"""

import sys
import threading

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import load_library

EXPECTED_DEVICES = int(sys.argv[2])
TYPES = [
    tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16, tf.int32, tf.uint32, tf.int64, tf.uint64,
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128,
]
SHAPES = [(), (0,), (1,), (3,), (5, 7), (2, 3, 4, 5), (1021,), (1 << 16,), (513, 1027), (1 << 22,)]


def values(dtype, shape, seed):
    bits = np.random.default_rng(seed).integers(0, 100, shape)
    return bits.astype(dtype.as_numpy_dtype)


def round_trip(device, dtype, shape, seed):
    sent = values(dtype, shape, seed)
    on_host = tf.constant(sent, dtype)
    with tf.device(device):
        there = tf.identity(on_host)
    assert device.split("/")[-1] in there.device, f"placed on {there.device}"
    with tf.device("/CPU:0"):
        back = tf.identity(there)
    assert back.device.endswith("/device:CPU:0"), back.device
    np.testing.assert_array_equal(back.numpy(), sent)
    np.testing.assert_array_equal(there.numpy(), sent)


def main():
    load_library.load_pluggable_device_library(sys.argv[1])
    devices = tf.config.list_physical_devices("TFRT_CPU")
    print("TensorFlow", tf.__version__, "lists", [device.name for device in devices])
    assert len(devices) == EXPECTED_DEVICES, devices
    logical = [device.name for device in tf.config.list_logical_devices("TFRT_CPU")]
    assert len(logical) == EXPECTED_DEVICES, logical
    count = 0
    for device in logical:
        for dtype in TYPES:
            for shape in SHAPES:
                round_trip(device, dtype, shape, count)
                count += 1
    print(count, "tensors came back intact from", len(logical), "devices")

    failures = []

    def one_thread(number):
        try:
            for turn in range(40):
                dtype = TYPES[(number + turn) % len(TYPES)]
                shape = SHAPES[(3 * number + turn) % len(SHAPES)]
                round_trip(logical[(number + turn) % len(logical)], dtype, shape, 1000 * number + turn)
        except BaseException as error:
            failures.append((number, error))

    threads = [threading.Thread(target=one_thread, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    print("320 tensors came back intact from 8 threads")


main()
