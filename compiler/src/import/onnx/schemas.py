#!/usr/bin/env python3
"""Writes schemas.rs: the ops of ONNX's default domain and the operator sets that changed them. Needs the package onnx:

    python3 compiler/src/import/onnx/schemas.py
"""

import collections
import os

import onnx


def main():
    versions = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            versions[schema.name].append(schema.since_version)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas.rs")
    with open(path, "w", encoding="utf-8") as file:
        file.write("//! The ops of ONNX's default domain. `schemas.py` writes this file.\n\n")
        file.write("/// Each op with the operator sets that introduced or changed it.\n")
        file.write("pub(super) const SCHEMAS: &[(&str, &[i64])] = &[\n")
        for name in sorted(versions):
            numbers = ", ".join(str(version) for version in sorted(versions[name]))
            file.write(f'    ("{name}", &[{numbers}]),\n')
        file.write("];\n")


if __name__ == "__main__":
    main()
