#include "core/first_steps.hpp"

#include <algorithm>

#include "core/simd.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(PREFERO_SCALAR)
#include <immintrin.h>
#if !defined(__clang__)  // gcc warns of what its own header leaves open on purpose
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define PREFERO_PERMUTES __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#endif

namespace prefero {

namespace {

constexpr std::size_t kTablePair = 8;  // features that two registers hold of sixteen rows

}  // namespace

TurnedBins::TurnedBins(BinMatrix bins)
    : features_(bins.features),
      room_((bins.features + kTablePair - 1) / kTablePair * kTablePair),
      data_((bins.rows + kAtOnce - 1) / kAtOnce * kAtOnce * room_ / sizeof(Register)) {
    for (std::size_t row = 0; row < bins.rows; ++row) {
        const std::uint8_t* own = bins.data + row * features_;
        std::uint8_t* to = data_.data()->bytes + row / kRows * kRows * room_ + row % kRows;
        for (std::size_t f = 0; f < features_; ++f) to[f * kRows] = own[f];
    }
}

#if defined(PREFERO_PERMUTES)

namespace {

constexpr std::size_t kMostPairs = 4;
constexpr std::size_t kTop = TurnedBins::kFewestSteps;  // levels: four registers hold their tests
constexpr std::size_t kBelow = std::size_t{1} << kTop;

bool has_permutes() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}

// The tests of the first levels, the children of test h at 2h and 2h + 1, and the nodes below. A
// leaf sends all rows to the left.
struct TopLevels {
    alignas(64) std::int32_t tests[kBelow];
    alignas(64) std::int32_t below[kBelow];

    explicit TopLevels(const Steps& tree) {
        std::int32_t nodes[2 * kBelow];
        nodes[1] = 0;
        tests[0] = 0;
        for (std::size_t h = 1; h < kBelow; ++h) {
            const std::uint32_t word = tree.words[nodes[h]], way = word >> tree.shift;
            tests[h] = static_cast<std::int32_t>(word & ((1u << tree.shift) - 1));
            nodes[2 * h] = nodes[h] + static_cast<std::int32_t>(way);
            nodes[2 * h + 1] = nodes[2 * h] + (way > 0);
        }
        std::copy_n(nodes + kBelow, kBelow, below);
    }
};

PREFERO_PERMUTES PREFERO_INLINE __m512i places() {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

// An entry of a table of 32, or of 64, for each of sixteen places; higher bits do not count.
PREFERO_PERMUTES PREFERO_INLINE __m512i of_32(const __m512i* table, __m512i place) {
    return _mm512_permutex2var_epi32(table[0], place, table[1]);
}

PREFERO_PERMUTES PREFERO_INLINE __m512i of_64(const __m512i* table, __m512i place) {
    const __mmask16 upper = _mm512_test_epi32_mask(place, _mm512_set1_epi32(32));
    return _mm512_mask_mov_epi32(of_32(table, place), upper, of_32(table + 2, place));
}

// The bins of sixteen rows, each at its place: sixteen times the feature, and the row.
PREFERO_PERMUTES PREFERO_INLINE __m512i of_pair(const std::uint8_t* bins, __m512i place) {
    return _mm512_permutex2var_epi8(_mm512_load_si512(bins), place, _mm512_load_si512(bins + 64));
}

template <std::size_t Pairs>
PREFERO_PERMUTES PREFERO_INLINE __m512i bins_at(const std::uint8_t* bins, __m512i place) {
    constexpr std::size_t kPairBytes = 128;
    const __m512i one = of_pair(bins, place);
    if constexpr (Pairs == 1) return one;
    const __mmask64 odd = _mm512_movepi8_mask(place);
    const __m512i two = _mm512_mask_mov_epi8(one, odd, of_pair(bins + kPairBytes, place));
    if constexpr (Pairs == 2) return two;
    const __mmask16 upper = _mm512_test_epi32_mask(place, _mm512_set1_epi32(256));
    const __m512i three = of_pair(bins + 2 * kPairBytes, place);
    if constexpr (Pairs == 3) return _mm512_mask_mov_epi32(two, upper, three);
    const __m512i four = _mm512_mask_mov_epi8(three, odd, of_pair(bins + 3 * kPairBytes, place));
    return _mm512_mask_mov_epi32(two, upper, four);
}

// Sixteen rows on their way.
template <std::size_t Pairs>
struct Sixteen {
    __m512i at;
    const std::uint8_t* bins;

    // Goes on to `first`, or by one to the right of it, as a test of each row says.
    PREFERO_PERMUTES PREFERO_INLINE void go(__m512i test, __m512i features, __m512i first) {
        constexpr int kFirstAndSecondOrThird = 0xEA;
        const __m512i place = _mm512_ternarylogic_epi32(_mm512_srli_epi32(test, 4), features,
                                                        places(), kFirstAndSecondOrThird);
        const __m512i byte = _mm512_set1_epi32(255);
        const __m512i bin = _mm512_and_si512(bins_at<Pairs>(bins, place), byte);
        const __mmask16 right = _mm512_cmpgt_epi32_mask(bin, _mm512_and_si512(test, byte));
        at = _mm512_mask_add_epi32(first, right, first, _mm512_set1_epi32(1));
    }

    // The same in the first levels.
    PREFERO_PERMUTES PREFERO_INLINE void go_down(__m512i test, __m512i features) {
        go(test, features, _mm512_add_epi32(at, at));
    }
};

// Notes where sixteen rows are, and the numbers of those that have not arrived.
PREFERO_PERMUTES PREFERO_INLINE std::uint16_t* note(const Steps& tree, __m512i at, std::size_t row,
                                                    std::int32_t* nodes, std::uint16_t* still) {
    _mm512_storeu_si512(nodes + row, at);
    const __m512i test = _mm512_i32gather_epi32(at, tree.words, sizeof(std::uint32_t));
    const __mmask16 walking =
        _mm512_cmpge_epu32_mask(test, _mm512_set1_epi32(static_cast<int>(1u << tree.shift)));
    const __m512i number = _mm512_add_epi32(places(), _mm512_set1_epi32(static_cast<int>(row)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(still),
                        _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(walking, number)));
    return still + __builtin_popcount(walking);
}

template <std::size_t Pairs>
PREFERO_PERMUTES std::uint16_t* step(const Steps& tree, const TurnedBins& bins,
                                     const FirstRows& rows, std::size_t steps, std::int32_t* nodes,
                                     std::uint16_t* still) {
    const TopLevels top(tree);
    __m512i tests[4], below[4];
    for (std::size_t i = 0; i < 4; ++i) {
        tests[i] = _mm512_load_si512(top.tests + 16 * i);
        below[i] = _mm512_load_si512(top.below + 16 * i);
    }
    const __m512i features = _mm512_set1_epi32(((1 << tree.shift) - 1) >> 8 << 4);
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(tree.shift));
    for (std::size_t row = 0; row < rows.count; row += TurnedBins::kAtOnce) {
        Sixteen<Pairs> walkers[TurnedBins::kAtOnce / TurnedBins::kRows];
        std::size_t from = row;
        for (Sixteen<Pairs>& own : walkers) {
            own = {_mm512_set1_epi32(1), bins.from(rows.first + from)};
            from += TurnedBins::kRows;
        }
        for (std::size_t level = 0; level < 4; ++level)
            for (Sixteen<Pairs>& own : walkers)
                own.go_down(_mm512_permutexvar_epi32(own.at, tests[0]), features);
        for (Sixteen<Pairs>& own : walkers)
            own.go_down(_mm512_permutexvar_epi32(own.at, tests[1]), features);
        for (Sixteen<Pairs>& own : walkers) own.go_down(of_32(tests + 2, own.at), features);
        for (Sixteen<Pairs>& own : walkers) own.at = of_64(below, own.at);
        for (std::size_t step = kTop; step < steps; ++step)
            for (Sixteen<Pairs>& own : walkers) {
                const __m512i test =
                    _mm512_i32gather_epi32(own.at, tree.words, sizeof(std::uint32_t));
                own.go(test, features, _mm512_add_epi32(own.at, _mm512_srl_epi32(test, shift)));
            }
        from = row;
        for (const Sixteen<Pairs>& own : walkers) {
            still = note(tree, own.at, from, nodes, still);
            from += TurnedBins::kRows;
        }
    }
    return still;
}

}  // namespace

bool TurnedBins::useful(std::size_t features) {
    static const bool possible = has_permutes();
    return possible && features > 0 && features <= kMostPairs * kTablePair;
}

std::uint16_t* first_steps(const Steps& tree, const TurnedBins& bins, const FirstRows& rows,
                           std::size_t steps, std::int32_t* nodes, std::uint16_t* still) {
    switch (bins.room() / kTablePair) {
        case 1:
            return step<1>(tree, bins, rows, steps, nodes, still);
        case 2:
            return step<2>(tree, bins, rows, steps, nodes, still);
        case 3:
            return step<3>(tree, bins, rows, steps, nodes, still);
        default:
            return step<4>(tree, bins, rows, steps, nodes, still);
    }
}

#else

bool TurnedBins::useful(std::size_t) { return false; }

std::uint16_t* first_steps(const Steps&, const TurnedBins&, const FirstRows&, std::size_t,
                           std::int32_t*, std::uint16_t* still) {
    return still;
}

#endif

}  // namespace prefero
