"""What the models beside this file share: seeded numbers, and cases of each kind of model."""

import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def write_tensor(folder, name, value):
    value = np.asarray(value)
    if value.dtype.kind in "OSU":
        strings = [x if isinstance(x, bytes) else x.encode() for x in value.reshape(-1).tolist()]
        # Bytes that are no text are written as hexadecimal digits.
        try:
            return {"name": name, "shape": list(value.shape), "strings": [x.decode() for x in strings]}
        except UnicodeDecodeError:
            return {"name": name, "shape": list(value.shape), "bytes": [x.hex() for x in strings]}
    file = name.replace(":", "_").replace("/", "_") + ".npy"
    np.save(os.path.join(folder, file), value)
    return {"name": name, "file": file}


def describe(folder, model, inputs, outputs, **more):
    description = {
        "model": model,
        "inputs": [write_tensor(folder, name, value) for name, value in inputs.items()],
        "outputs": [write_tensor(folder, "out_" + name, value) | {"name": name} for name, value in outputs.items()],
    }
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(description | more, file, indent=1)
        file.write("\n")


def graph_case(folder, build, inputs, text=False, **more):
    """A GraphDef with v1 placeholders: `build` gets them by name and gives outputs by name."""
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(1)
        holders = {}
        for name, value in inputs.items():
            value = np.asarray(value)
            kind = tf.string if value.dtype.kind in "OSU" else value.dtype
            holders[name] = v1.placeholder(kind, value.shape, name)
        outputs = build(**holders)
        named = [tf.identity(value, name) for name, value in outputs.items()]
        # TensorFlow adds a number to a name that is taken.
        named = {value.op.name: value for value in named}
        with v1.Session() as session:
            values = session.run(named, {holders[name]: value for name, value in inputs.items()})
    name = "graph.pbtxt" if text else "graph.pb"
    tf.io.write_graph(graph.as_graph_def(), folder, name, as_text=text)
    describe(folder, name, inputs, values, **more)


def first_case(folder, build, inputs, text=False, direct="too"):
    """A GraphDef with control flow of the first version, which the direct executor runs "too" or "always"."""
    v1.disable_control_flow_v2()
    try:
        graph_case(folder, build, inputs, text, direct=direct)
    finally:
        v1.enable_control_flow_v2()


def frozen_case(folder, function, inputs, text=False, lower=False, is_open=False, **more):
    """A tf.function or Keras model, frozen into a GraphDef. `is_open` leaves the extents of the inputs open."""
    kind = lambda value: tf.string if value.dtype.kind in "OSU" else value.dtype
    shape = lambda value: [None] * value.ndim if is_open else value.shape
    specs = [tf.TensorSpec(shape(value), kind(value), name) for name, value in inputs.items()]
    concrete = tf.function(lambda *args: function(*args)).get_concrete_function(*specs)
    expected = concrete(*[tf.constant(value) for value in inputs.values()])
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lower)
    name = "graph.pbtxt" if text else "graph.pb"
    tf.io.write_graph(frozen.graph.as_graph_def(), folder, name, as_text=text)
    flat = tf.nest.flatten(expected)
    outputs = {tensor.name: value.numpy() for tensor, value in zip(frozen.outputs, flat)}
    assert len(outputs) == len(flat)
    describe(folder, name, inputs, outputs, **more)


def saved_case(folder, module, function, inputs, call=None, signature="serving_default"):
    """A SavedModel of a tf.function with dictionaries of outputs. The expected results are those of the loaded model."""
    path = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, path, signatures={signature: function})
    loaded = tf.saved_model.load(path)
    results = loaded.signatures[signature](**{name: tf.constant(value) for name, value in inputs.items()})
    more = {} if signature == "serving_default" else {"signature": signature}
    describe(folder, "saved_model", inputs, {name: value.numpy() for name, value in results.items()}, **more)


def keras_saved_case(folder, model, x):
    path = os.path.join(folder, "saved_model")
    model.export(path, verbose=False)
    loaded = tf.saved_model.load(path)
    signature = loaded.signatures["serving_default"]
    name = list(signature.structured_input_signature[1])[0]
    results = signature(**{name: tf.constant(x)})
    describe(folder, "saved_model", {name: x}, {name: value.numpy() for name, value in results.items()})


def seeded(seed=7):
    tf.keras.utils.set_random_seed(seed)
    return tf.keras.layers
