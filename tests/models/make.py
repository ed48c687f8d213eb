#!/usr/bin/env python3
"""Writes the models of this folder. Needs the packages onnx and numpy:

    python3 tests/models/make.py
"""

import os

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))


def main():
    weights = numpy.arange(120, dtype=numpy.float32).reshape(3, 40) - 60
    bias = numpy.full(40, 0.5, numpy.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="dense"),
        helper.make_node("Add", ["product", "b"], ["sum"], name="bias"),
        helper.make_node("Relu", ["sum"], ["y"], name="activation"),
    ]
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 40])],
        [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(FOLDER, "layer.onnx"))
    write_unsupported()
    write_determinant()
    write_open_rank()


def write_unsupported():
    """A model with two ops that nobody knows, and a product whose matrices do not fit."""
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="odd"),
        helper.make_node("Quux", ["x"], ["b"], name="other", domain="com.example"),
        helper.make_node("Relu", ["a"], ["c"], name="behind"),
        helper.make_node("MatMul", ["x", "x"], ["y"], name="product"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "unsupported", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    onnx.save(
        helper.make_model(graph, opset_imports=opsets, ir_version=8), os.path.join(FOLDER, "unsupported.onnx")
    )


def write_determinant():
    """Determinants, which devices do not compute."""
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"], name="determinants")],
        "determinant",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [200, 3, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [200])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, os.path.join(FOLDER, "determinant.onnx"))


def write_open_rank():
    """A model that does not say how many dimensions its input has."""
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["x"], ["y"], name="flat")],
        "open_rank",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, os.path.join(FOLDER, "open_rank.onnx"))


if __name__ == "__main__":
    main()
