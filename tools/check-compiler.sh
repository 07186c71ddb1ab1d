#!/usr/bin/env bash
# Stop with one sentence where no C++17 compiler answers to the given name.
set -u
compiler=${1:-g++}
if ! echo 'int main() { if constexpr (true) return 0; }' | "$compiler" -std=c++17 -x c++ -fsyntax-only - 2>/dev/null; then
    echo "Prefero compiles a C++17 core, and '$compiler' cannot:" \
        "install a compiler (Debian: apt-get install g++) or name one with make CXX=clang++." >&2
    exit 1
fi
