#!/usr/bin/env python3
"""Exports networks of torchvision to ONNX, with weights from a fixed seed. Needs torch and torchvision:

    python3 tests/models/networks.py FOLDER [NAME...]
"""

import os
import sys

import torch
import torchvision

NETWORKS = {
    "resnet18": torchvision.models.resnet18,
    "resnet50": torchvision.models.resnet50,
    "mobilenet_v3_large": torchvision.models.mobilenet_v3_large,
    "efficientnet_b0": torchvision.models.efficientnet_b0,
    "vit_b_16": torchvision.models.vit_b_16,
}
# These are exported with numbers of 16 bits, too.
HALF = ["resnet18", "resnet50"]
SEED = 20


def build(name):
    """A network whose results depend on the picture: normalizations have statistics as if it were trained."""
    torch.manual_seed(SEED)
    network = NETWORKS[name](weights=None).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.1)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            # Some networks begin with a classifier of zeros.
            module.weight.data.normal_(0, 0.02)
    return network


def export(network, picture, path):
    options = {"input_names": ["x"], "output_names": ["y"], "dynamo": False}
    if picture.dtype == torch.float32:
        options["dynamic_axes"] = {"x": {0: "batch"}, "y": {0: "batch"}}
    with torch.no_grad():
        torch.onnx.export(network, (picture,), path, opset_version=17, **options)


def main(folder, names):
    # The exporter knows attention by its parts.
    torch.backends.mha.set_fastpath_enabled(False)
    for name in names or NETWORKS:
        network = build(name)
        export(network, torch.zeros(1, 3, 224, 224), os.path.join(folder, f"{name}.onnx"))
        if name in HALF:
            picture = torch.zeros(1, 3, 224, 224, dtype=torch.float16)
            export(network.half(), picture, os.path.join(folder, f"{name}_f16.onnx"))
        print("exported", name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
