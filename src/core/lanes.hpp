// Eight floats at a time, and the one macro behind which wider instructions are chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// Compiles a hot function twice and picks the wider version where the processor has it. The
// arithmetic is the same (no fused multiply-add), so results do not depend on the choice.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PREFERO_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PREFERO_CLONES
#endif

#if defined(__GNUC__)
#define PREFERO_INLINE inline __attribute__((always_inline))
#if !defined(__clang__)
// Vectors pass between inlined functions only, so their calling convention does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
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

constexpr std::size_t kLanes = 8;
constexpr std::size_t kShorts = 16;

// Blocks of eight that hold so many floats.
inline std::size_t blocks(std::size_t floats) { return (floats + kLanes - 1) / kLanes; }

#if defined(__GNUC__)

typedef float Eight __attribute__((vector_size(32)));
typedef std::int16_t Shorts __attribute__((vector_size(32)));

PREFERO_INLINE Eight broadcast(float value) {
    return Eight{value, value, value, value, value, value, value, value};
}

// One where `low` is below a lane, else 0.
PREFERO_INLINE Shorts count_below(std::int16_t low, const Shorts& lanes) { return -(lanes > low); }

PREFERO_INLINE Eight magnitude(const Eight& x) { return x < 0 ? -x : x; }

// x where `sign` is more than `least`, -x where it is less than -least, else 0.
PREFERO_INLINE Eight with_sign(const Eight& x, const Eight& sign, float least) {
    return sign > least ? x : (sign < -least ? -x : broadcast(0));
}

#else

struct Eight {
    float lane[kLanes];
    float operator[](std::size_t i) const { return lane[i]; }
    Eight& operator+=(const Eight& other) { return *this = *this + other; }
    friend Eight operator+(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] += b.lane[i];
        return a;
    }
    friend Eight operator-(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] -= b.lane[i];
        return a;
    }
    friend Eight operator*(Eight a, const Eight& b) {
        for (std::size_t i = 0; i < kLanes; ++i) a.lane[i] *= b.lane[i];
        return a;
    }
};

struct Shorts {
    std::int16_t lane[kShorts];
    std::int16_t& operator[](std::size_t i) { return lane[i]; }
    Shorts& operator+=(const Shorts& other) {
        for (std::size_t i = 0; i < kShorts; ++i) lane[i] += other.lane[i];
        return *this;
    }
};

inline Shorts count_below(std::int16_t low, Shorts lanes) {
    for (std::int16_t& lane : lanes.lane) lane = low < lane;
    return lanes;
}

inline Eight broadcast(float value) {
    Eight all;
    for (float& lane : all.lane) lane = value;
    return all;
}

inline Eight magnitude(Eight x) {
    for (float& lane : x.lane) lane = lane < 0 ? -lane : lane;
    return x;
}

inline Eight with_sign(Eight x, const Eight& sign, float least) {
    for (std::size_t i = 0; i < kLanes; ++i)
        x.lane[i] = sign.lane[i] > least ? x.lane[i] : sign.lane[i] < -least ? -x.lane[i] : 0;
    return x;
}

#endif

// Eight floats in memory.
struct alignas(32) Block {
    float lane[kLanes] = {};
};

PREFERO_INLINE Eight load(const Block& from) {
    Eight lanes;
    std::memcpy(&lanes, from.lane, sizeof lanes);
    return lanes;
}

PREFERO_INLINE void store(Block& to, const Eight& lanes) {
    std::memcpy(to.lane, &lanes, sizeof lanes);
}

PREFERO_INLINE void add(Block& to, const Block& what) { store(to, load(to) + load(what)); }

PREFERO_INLINE float sum(const Eight& x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

}  // namespace prefero
