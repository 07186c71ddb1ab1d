// Marks a hot function to be compiled for wider vector registers as well: the loader picks the
// widest the machine has. Not under sanitizers, whose code cannot run that early.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PREFERO_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PREFERO_WIDE
#endif
