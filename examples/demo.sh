#!/usr/bin/env bash
# demo.sh [BUILD]: a JAX model becomes one file, and a C program without Python runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
work=$build/demo
JAX_PLATFORMS=cpu .venv/bin/python examples/digits/train.py "$work"
time "$build/bin/alula-compile" "$work/model.mlir" -o "$work/model.alula"
"$build/examples/example-classify" "$work/model.alula" "$work/images.f32" "$work/labels.i32"
strip -o "$work/classify" "$build/examples/example-classify"
printf 'model %d bytes, artifact %d bytes, C program %d bytes\n' \
  "$(stat -c %s "$work/model.mlir")" "$(stat -c %s "$work/model.alula")" \
  "$(stat -c %s "$work/classify")"
