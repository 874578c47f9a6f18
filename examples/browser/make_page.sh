#!/usr/bin/env bash
# make_page.sh MODEL.mlir FOLDER [ALULA-COMPILE]: a page that runs a digits model, with all of it inside.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
model=$1 folder=$2 compile=${3:-alula-compile}
mkdir -p "$folder"
"$compile" "$model" --emit=static --target=cpu:wasm32 -o "$folder/digits"
clang-19 --target=wasm32 -std=c11 -Os -ffreestanding -I"$folder" -c "$here/digits.c" -o "$folder/page.o"
wasm-ld-19 --no-entry --gc-sections --strip-all -z stack-size=65536 \
  "$folder/page.o" "$folder/digits.a" -o "$folder/digits.wasm"
base64 -w0 "$folder/digits.wasm" >"$folder/digits.base64"
awk -v file="$folder/digits.base64" '
  BEGIN { getline module < file }
  { at = index($0, "@MODULE@"); print at ? substr($0, 1, at - 1) module substr($0, at + 8) : $0 }
' "$here/page.html" >"$folder/digits.html"
printf 'module %d bytes, page %d bytes\n' "$(stat -c %s "$folder/digits.wasm")" "$(stat -c %s "$folder/digits.html")"
