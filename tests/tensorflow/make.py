#!/usr/bin/env python3
"""Makes TensorFlow models with inputs and TensorFlow's results, for the runner beside this file.

    make.py FOLDER [NAME...]    all cases, or those whose name contains a NAME

Each case of `models` is a folder with a model (graph.pb, graph.pbtxt or saved_model), tensors as .npy files, and case.json, which
names them. Weights and inputs are seeded. A few small cases are committed.
"""

import importlib
import os
import pkgutil
import shutil
import sys

import models
from models.support import CASES, tf

for module in pkgutil.iter_modules(models.__path__):
    importlib.import_module("models." + module.name)


def main():
    root, names = sys.argv[1], sys.argv[2:]
    wanted = [name for name in CASES if not names or any(part in name for part in names)]
    failed = []
    for name in wanted:
        folder = os.path.join(root, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        try:
            CASES[name](folder)
        except Exception as error:  # One case that TensorFlow refuses should not hide the others.
            failed.append(f"{name}: {type(error).__name__}: {error}")
            shutil.rmtree(folder, ignore_errors=True)
        tf.keras.backend.clear_session()
    print(f"made {len(wanted) - len(failed)} of {len(wanted)} cases in {root}")
    for line in failed:
        print(line, file=sys.stderr)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
