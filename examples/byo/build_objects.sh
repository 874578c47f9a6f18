#!/bin/sh
# mul.c as objects for two machines, in a folder: kernels stand alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for machine in x86_64 aarch64; do
  "${CC:-clang-19}" --target=$machine-none-elf -std=c99 -O2 -Wall -Wextra \
    -ffreestanding -fno-builtin -fPIC -fvisibility=hidden \
    -fno-stack-protector -ffunction-sections -I"$here/../../include" \
    -c "$here/cpu/mul.c" -o "$1/mul_$machine.o"
done
