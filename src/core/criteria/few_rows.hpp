// The best cut of a feature in a node of two to four rows, which are many.
//
// Four rows can be parted in seven ways, so the gains of all are known before any feature is looked
// at, and a feature is a look-up: no loop, no branch, and little to wait for.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/criteria/sums.hpp"
#include "core/keys.hpp"
#include "core/scan.hpp"

namespace prefero {

class FewRows {
  public:
    static constexpr std::size_t kMost = 4;

    // Looks at a node of this weight whose rows are the items, of so many blocks each: centred, the
    // weight before the vector, and as many of nothing behind them as make four.
    PREFERO_INLINE void enter(const Sample& sample, NodeRows node, const Block* items,
                              std::size_t width, float weight) {
        // Four all the same: the last row again, with nothing to add.
        for (std::size_t i = 0; i < kMost; ++i)
            bins_[i] = sample.bins.data() +
                       node.rows[std::min(i, node.count - 1)] * sample.data.features();
        set_gains(items, width, weight);
    }

    enum class Answer { kOneBin, kFound, kMissing };

    // The best cut of a numeric feature, unless all rows lie in one bin or some are missing.
    PREFERO_INLINE Answer find(std::size_t feature, Cut& best) const {
        std::uint64_t bin[kMost];
        std::uint64_t highest = 0, lowest = kMissingBin;
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kMost; ++i) {
            bin[i] = bins_[i][feature];
            highest = std::max(highest, bin[i]);
            lowest = std::min(lowest, bin[i]);
        }
        if (lowest == highest) return Answer::kOneBin;
        if (highest == kMissingBin) return Answer::kMissing;
        const std::uint64_t sides = left_sides(bin);
        // The largest gain and, of equal ones, the lowest bin. Gains are no less than zero, whose
        // bits compare as numbers do.
        std::int64_t most = 0;
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kMost; ++i) {
            const std::int64_t gain = gains_[sides >> (16 * i) & 15];
            most = std::max(most, gain * kUpper + static_cast<std::int64_t>(kMissingBin - bin[i]));
        }
        const std::uint64_t left = kMissingBin - (static_cast<std::uint64_t>(most) & 255);
        std::uint64_t right = kMissingBin;
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kMost; ++i)
            right = std::min(right, bin[i] > left ? bin[i] : right);
        const auto bits = static_cast<std::int32_t>(most / kUpper);
        best = Cut{0, static_cast<std::uint8_t>(left), static_cast<std::uint8_t>(right)};
        std::memcpy(&best.quality, &bits, sizeof bits);
        return Answer::kFound;
    }

  private:
    static constexpr std::int64_t kUpper = std::int64_t{1} << 32;

    // Word i: a bit for each row whose bin is at most that of row i.
    PREFERO_INLINE static std::uint64_t left_sides(const std::uint64_t (&bin)[kMost]) {
        constexpr std::uint64_t kOnes = 0x0001000100010001u, kAbove = 256 * kOnes;
        const std::uint64_t all = (bin[0] | bin[1] << 16) | (bin[2] << 32 | bin[3] << 48);
        std::uint64_t sides = 0;
        PREFERO_UNROLL
        for (std::size_t j = 0; j < kMost; ++j)
            sides |= ((all + kAbove - bin[j] * kOnes) >> 8 & kOnes) << j;
        return sides;
    }

    // One block of the sums of the rows that go left: one of four, or the first and another one.
    PREFERO_INLINE static void add_parts(const Block* items, std::size_t width,
                                         Eight (&sums)[kSimdWidth]) {
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kMost; ++i) {
            sums[i] = load(items[i * width]);
            sums[kMost + i] = i > 0 ? sums[0] + sums[i] : sums[0];
        }
    }

    // The items add up to nothing, so both sides of a cut have the same squares.
    PREFERO_INLINE void set_gains(const Block* items, std::size_t width, float weight) {
        Eight heads[kSimdWidth], squares[kSimdWidth], sums[kSimdWidth];
        add_parts(items, width, heads);
        PREFERO_UNROLL
        for (std::size_t part = 0; part < kSimdWidth; ++part)
            squares[part] = heads[part] * kVectorOnly * heads[part];
        for (std::size_t k = 1; k < width; ++k) {
            add_parts(items + k, width, sums);
            PREFERO_UNROLL
            for (std::size_t part = 0; part < kSimdWidth; ++part)
                squares[part] += sums[part] * sums[part];
        }
        const Eight all = broadcast(weight), left = first_each(heads);
        Block gains;
        store(gains, sum_each(squares) / (all * left * (all - left)));
        std::int32_t bits[kSimdWidth];
        std::memcpy(bits, gains.value, sizeof bits);
        for (std::size_t i = 0; i < kMost; ++i) {
            gains_[1 << i] = gains_[15 ^ (1 << i)] = bits[i];
            if (i > 0) gains_[1 | 1 << i] = gains_[14 ^ (1 << i)] = bits[kMost + i];
        }
    }

    const std::uint8_t* bins_[kMost];  // of the rows
    // The bits of the gain of each set of rows that goes left; those of none or all are no gain.
    std::int32_t gains_[16] = {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1};
};

}  // namespace prefero
