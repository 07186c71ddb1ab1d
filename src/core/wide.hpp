// Marks a hot function to be compiled for wider vector registers as well: the loader picks the
// widest the machine has. The arithmetic is the same (no fused multiply-add), so results do not
// depend on it. Not under sanitizers, whose code cannot run that early.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PREFERO_TARGETS(...) __attribute__((target_clones(__VA_ARGS__, "default")))
#else
#define PREFERO_TARGETS(...)
#endif

#define PREFERO_WIDE PREFERO_TARGETS("avx512f", "avx2")
// For functions on blocks of eight floats, which registers of avx2 hold as a whole.
#define PREFERO_CLONES PREFERO_TARGETS("avx2")
