#!/usr/bin/env bash
# Fuzzes with libFuzzer under the address and undefined-behaviour sanitizers.
#   tests/proof/cpp/fuzz.sh fen|actions|states SECONDS
set -euo pipefail
cd "$(dirname "$0")"
command -v clang++ >/dev/null || { echo "fuzz $1: skipped, clang++ is not installed"; exit 0; }
echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' \
  | clang++ -x c++ -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null \
  || { echo "fuzz $1: skipped, clang++ has no libFuzzer (Debian: libclang-rt-dev)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus"
cut -d ';' -f 1 ../data/tricky.epd | grep -v '^#' | sed 's/ *$//' | split -l 1 - "$work/corpus/fen"
# split leaves the end of each line, which no FEN has
for file in "$work"/corpus/*; do truncate -s -1 "$file"; done
clang++ -std=c++20 -O1 -g -march=native -fsanitize=fuzzer,address,undefined \
  -fno-sanitize-recover=all -I../../../cpp "-DTARGET=fuzz_$1" fuzz.cpp -o "$work/fuzz"
"$work/fuzz" -max_total_time="$2" -max_len=400 -print_final_stats=1 \
  -artifact_prefix="fuzz_$1-" "$work/corpus" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "fuzz $1: $(sed -n 's/^stat::number_of_executed_units: //p' "$work/log") inputs, no fault"
