// Eight floats at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/wide.hpp"

#if defined(__GNUC__)
#define PREFERO_INLINE inline __attribute__((always_inline))
// Vectors pass between inlined functions only, so their calling convention does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#else
#define PREFERO_INLINE inline
#endif

// Keeps short loops from becoming calls of memset, which are slower.
#if defined(__GNUC__) && !defined(__clang__)
#define PREFERO_UNROLL _Pragma("GCC unroll 16")
#else
#define PREFERO_UNROLL
#endif

namespace prefero {

// Asks memory for what will soon be read.
inline void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

// Copies a few bytes, sooner than a call would.
PREFERO_INLINE void copy_few(const void* from, std::size_t bytes, void* to) {
    const auto* source = static_cast<const unsigned char*>(from);
    auto* target = static_cast<unsigned char*>(to);
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::uint64_t word;
    if (bytes < kWord) {
        for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
        return;
    }
    for (std::size_t i = 0; i + kWord < bytes; i += kWord) {
        std::memcpy(&word, source + i, kWord);
        std::memcpy(target + i, &word, kWord);
    }
    std::memcpy(&word, source + bytes - kWord, kWord);
    std::memcpy(target + bytes - kWord, &word, kWord);
}

constexpr std::size_t kSimdWidth = 8;
constexpr std::size_t kShorts = 16;

// Blocks of eight that hold so many floats.
inline std::size_t blocks(std::size_t floats) { return (floats + kSimdWidth - 1) / kSimdWidth; }

// PREFERO_SCALAR asks for what compilers without vector types get.
#if defined(__GNUC__) && !defined(PREFERO_SCALAR)

// Whether the compiler can be asked for one shuffle of two vectors.
#if defined(__clang__) || __GNUC__ >= 12
#define PREFERO_SHUFFLES
#endif

typedef float Eight __attribute__((vector_size(32)));
typedef std::int16_t Shorts __attribute__((vector_size(32)));

PREFERO_INLINE Eight broadcast(float value) {
#if defined(PREFERO_SHUFFLES)
    // One instruction, where gcc makes a constructor of eight equal floats.
    const Eight first{value};
    return __builtin_shufflevector(first, first, 0, 0, 0, 0, 0, 0, 0, 0);
#else
    return Eight{value, value, value, value, value, value, value, value};
#endif
}

// One where `low` is below a value, else 0.
PREFERO_INLINE Shorts count_below(std::int16_t low, const Shorts& values) {
    return -(values > low);
}

PREFERO_INLINE Eight magnitude(const Eight& x) { return x < 0 ? -x : x; }

// x where a > b, else y.
PREFERO_INLINE Eight where_larger(const Eight& a, const Eight& b, const Eight& x, const Eight& y) {
    return a > b ? x : y;
}

// x where the upper bytes of a and b differ, else `otherwise`.
PREFERO_INLINE Eight where_upper_bytes_differ(const std::int16_t* a, const std::int16_t* b,
                                              const Eight& x, float otherwise) {
    typedef std::int16_t Words __attribute__((vector_size(16)));
    typedef std::int32_t Mask __attribute__((vector_size(32)));
    Words left, right;
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    const Words differ = ((left ^ right) & ~Words{255, 255, 255, 255, 255, 255, 255, 255}) != 0;
    return __builtin_convertvector(differ, Mask) != 0 ? x : broadcast(otherwise);
}

// Every other short as a float, from the first or the second one on.
PREFERO_INLINE Eight every_other(const Shorts& values, bool second) {
    typedef std::int32_t Pairs __attribute__((vector_size(32)));
    Pairs pairs;  // of a first short in the lower and a second in the upper half
    std::memcpy(&pairs, &values, sizeof pairs);
    return __builtin_convertvector((second ? pairs : pairs << 16) >> 16, Eight);
}

// Whole numbers by turns as shorts.
PREFERO_INLINE Shorts by_turns(const Eight& first, const Eight& second) {
    typedef std::int32_t Pairs __attribute__((vector_size(32)));
    const Pairs low = __builtin_convertvector(first, Pairs) & 0xffff;
    const Pairs pairs = __builtin_convertvector(second, Pairs) << 16 | low;
    Shorts values;
    std::memcpy(&values, &pairs, sizeof values);
    return values;
}

// x where `sign` is more than `least`, -x where it is less than -least, else 0.
PREFERO_INLINE Eight with_sign(const Eight& x, const Eight& sign, float least) {
    return sign > least ? x : (sign < -least ? -x : broadcast(0));
}

#else

struct Eight {
    float value[kSimdWidth];
    float operator[](std::size_t i) const { return value[i]; }
    Eight& operator+=(const Eight& other) { return *this = *this + other; }
    friend Eight operator+(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kSimdWidth; ++i) a.value[i] += b.value[i];
        return a;
    }
    friend Eight operator-(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kSimdWidth; ++i) a.value[i] -= b.value[i];
        return a;
    }
    friend Eight operator*(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kSimdWidth; ++i) a.value[i] *= b.value[i];
        return a;
    }
    friend Eight operator*(float a, Eight b) {
        for (float& one : b.value) one *= a;
        return b;
    }
    friend Eight operator/(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kSimdWidth; ++i) a.value[i] /= b.value[i];
        return a;
    }
};

struct Shorts {
    std::int16_t value[kShorts];
    std::int16_t& operator[](std::size_t i) { return value[i]; }
    Shorts& operator+=(const Shorts& other) {
        for (std::size_t i = 0; i < kShorts; ++i) value[i] += other.value[i];
        return *this;
    }
};

inline Shorts by_turns(const Eight& first, const Eight& second) {
    Shorts values;
    for (std::size_t i = 0; i < kSimdWidth; ++i) {
        values.value[2 * i] = static_cast<std::int16_t>(first.value[i]);
        values.value[2 * i + 1] = static_cast<std::int16_t>(second.value[i]);
    }
    return values;
}

inline Eight every_other(const Shorts& values, bool second) {
    Eight floats;
    for (std::size_t i = 0; i < kSimdWidth; ++i) floats.value[i] = values.value[2 * i + second];
    return floats;
}

inline Shorts count_below(std::int16_t low, Shorts values) {
    for (std::int16_t& one : values.value) one = low < one;
    return values;
}

inline Eight broadcast(float value) {
    Eight all;
    for (float& one : all.value) one = value;
    return all;
}

inline Eight magnitude(Eight x) {
    for (float& one : x.value) one = one < 0 ? -one : one;
    return x;
}

inline Eight where_larger(const Eight& a, const Eight& b, Eight x, const Eight& y) {
    for (std::size_t i = 0; i < kSimdWidth; ++i)
        if (!(a.value[i] > b.value[i])) x.value[i] = y.value[i];
    return x;
}

inline Eight where_upper_bytes_differ(const std::int16_t* a, const std::int16_t* b, Eight x,
                                      float otherwise) {
    for (std::size_t i = 0; i < kSimdWidth; ++i)
        if (!((a[i] ^ b[i]) & ~255)) x.value[i] = otherwise;
    return x;
}

inline Eight with_sign(Eight x, const Eight& sign, float least) {
    for (std::size_t i = 0; i < kSimdWidth; ++i)
        x.value[i] = sign.value[i] > least ? x.value[i] : sign.value[i] < -least ? -x.value[i] : 0;
    return x;
}

#endif

// Eight floats in memory.
struct alignas(32) Block {
    float value[kSimdWidth] = {};
};

PREFERO_INLINE Eight load(const Block& from) {
    Eight values;
    std::memcpy(&values, from.value, sizeof values);
    return values;
}

PREFERO_INLINE void store(Block& to, const Eight& values) {
    std::memcpy(to.value, &values, sizeof values);
}

PREFERO_INLINE void add(Block& to, const Block& what) { store(to, load(to) + load(what)); }

// Two blocks of whole numbers in the memory of one: theirs by turns.
struct alignas(32) ShortBlock {
    std::int16_t value[kShorts] = {};
};

PREFERO_INLINE Shorts load(const ShortBlock& from) {
    Shorts values;
    std::memcpy(&values, from.value, sizeof values);
    return values;
}

PREFERO_INLINE void store(ShortBlock& to, const Shorts& values) {
    std::memcpy(to.value, &values, sizeof values);
}

PREFERO_INLINE void add(ShortBlock& to, const ShortBlock& what) {
    Shorts values = load(to);
    values += load(what);
    store(to, values);
}

PREFERO_INLINE float sum(const Eight& x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

template <class Pick>
PREFERO_INLINE float pick_value(const Eight& x, Pick pick) {
    return pick(pick(pick(x[0], x[4]), pick(x[2], x[6])), pick(pick(x[1], x[5]), pick(x[3], x[7])));
}

PREFERO_INLINE float largest(const Eight& x) {
    return pick_value(x, [](float a, float b) { return a > b ? a : b; });
}

PREFERO_INLINE float smallest(const Eight& x) {
    return pick_value(x, [](float a, float b) { return a < b ? a : b; });
}

// The first values of eight blocks.
PREFERO_INLINE Eight first_each(const Eight (&x)[kSimdWidth]) {
    return Eight{x[0][0], x[1][0], x[2][0], x[3][0], x[4][0], x[5][0], x[6][0], x[7][0]};
}

#if defined(PREFERO_SHUFFLES)
typedef std::int16_t Words __attribute__((vector_size(16)));

// Compares each word with its partner; the one that comes first keeps the smaller word.
template <int... Partner, int... Place>
PREFERO_INLINE Words compare_values(const Words& x, std::integer_sequence<int, Place...>) {
    const Words y = __builtin_shufflevector(x, x, Partner...);
    const Words low = x < y ? x : y, high = x < y ? y : x;
    return __builtin_shufflevector(low, high, (Partner < Place ? Place + 8 : Place)...);
}

// Writes eight words, given as two halves, in ascending order: a sorting network.
PREFERO_INLINE void sort_eight(const std::uint64_t (&halves)[2], std::int16_t* to) {
    constexpr std::make_integer_sequence<int, kSimdWidth> places;
    // Joined in a register: a load of two stores would wait for both.
    typedef std::uint64_t Halves __attribute__((vector_size(16)));
    const Halves joined{halves[0], halves[1]};
    Words x;
    std::memcpy(&x, &joined, sizeof x);
    x = compare_values<2, 3, 0, 1, 6, 7, 4, 5>(x, places);
    x = compare_values<4, 5, 6, 7, 0, 1, 2, 3>(x, places);
    x = compare_values<1, 0, 3, 2, 5, 4, 7, 6>(x, places);
    x = compare_values<0, 1, 4, 5, 2, 3, 6, 7>(x, places);
    x = compare_values<0, 4, 2, 6, 1, 5, 3, 7>(x, places);
    x = compare_values<0, 2, 1, 4, 3, 6, 5, 7>(x, places);
    std::memcpy(to, &x, sizeof x);
}
#else
inline void sort_eight(const std::uint64_t (&halves)[2], std::int16_t* to) {
    std::memcpy(to, halves, sizeof halves);
    std::sort(to, to + kSimdWidth);
}
#endif

// The sums of eight blocks, added up side by side.
PREFERO_INLINE Eight sum_each(const Eight (&x)[kSimdWidth]) {
#if defined(PREFERO_SHUFFLES)
    Eight twos[4], fours[2];
    for (std::size_t i = 0; i < 4; ++i)
        twos[i] = __builtin_shufflevector(x[2 * i], x[2 * i + 1], 0, 2, 8, 10, 4, 6, 12, 14) +
                  __builtin_shufflevector(x[2 * i], x[2 * i + 1], 1, 3, 9, 11, 5, 7, 13, 15);
    for (std::size_t i = 0; i < 2; ++i)
        fours[i] =
            __builtin_shufflevector(twos[2 * i], twos[2 * i + 1], 0, 2, 8, 10, 4, 6, 12, 14) +
            __builtin_shufflevector(twos[2 * i], twos[2 * i + 1], 1, 3, 9, 11, 5, 7, 13, 15);
    return __builtin_shufflevector(fours[0], fours[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(fours[0], fours[1], 4, 5, 6, 7, 12, 13, 14, 15);
#else
    Block sums;
    for (std::size_t i = 0; i < kSimdWidth; ++i) sums.value[i] = sum(x[i]);
    return load(sums);
#endif
}

}  // namespace prefero
