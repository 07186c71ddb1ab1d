// Sums of rows that criteria share.
//
// A criterion offers the grower
//   enter(rows, large)  look at a node; then pure(), weight(). Large nodes are summed in doubles
//   start()             nothing is left of the cut
//   push(left, rows)    move rows to the left
//   quality(left)       how good the cut here is; larger is better
//   accepts(quality)    whether the best cut of a feature may be made
//   decrease(quality)   weight times what the cut gains
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/sample.hpp"
#include "core/split_rules.hpp"
#include "core/stopping.hpp"

namespace prefero {

// What a criterion does beyond that: nothing, unless it says so itself.
struct CutByCut {
    static constexpr bool kFindsCuts = false;  // find_cut(feature, cut) tries all cuts of a feature
    static constexpr bool kCutsAlone = false;  // and nothing else: no categories, no single cuts
    // keep(left) in place of quality(left), qualities() of all that were kept, and note_best(which)
    // for one that is better than all before.
    static constexpr bool kKeepsCuts = false;
    static constexpr bool kBoosts = false;  // leaves are steps against derivatives
};

using Blocks = std::vector<Block>;

// The values of a first block that belong to the vector, as factors.
constexpr Eight kVectorOnly{0, 0, 1, 1, 1, 1, 1, 1};

// The k-th block of a row, as floats.
PREFERO_INLINE Eight block_at(const Block* row, std::size_t k) { return load(row[k]); }
PREFERO_INLINE Eight block_at(const ShortBlock* row, std::size_t k) {
    return every_other(load(row[k / 2]), k % 2 != 0);
}

template <class Row>
PREFERO_INLINE void add_all(Row* sums, const Row* row, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) add(sums[k], row[k]);
}
PREFERO_INLINE void add_all(Block* sums, const ShortBlock* row, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) store(sums[k], load(sums[k]) + block_at(row, k));
}

template <class Row>
PREFERO_INLINE void clear_all(Row* sums, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) store(sums[k], decltype(load(*sums)){});
}

// Sums of vectors; in registers where Width, their number of blocks, is known.
template <std::size_t Width>
struct VectorSums {
    Eight registers[Width];
};

template <>
struct VectorSums<0> {
    Block* blocks;
};

// Nothing yet, kept in `memory` if the width is not known.
template <std::size_t Width>
PREFERO_INLINE VectorSums<Width> zero_sums(Blocks& memory) {
    VectorSums<Width> sums;
    if constexpr (Width == 0) {
        clear_all(memory.data(), memory.size());
        sums.blocks = memory.data();
    } else {
        PREFERO_UNROLL
        for (std::size_t k = 0; k < Width; ++k) sums.registers[k] = broadcast(0);
    }
    return sums;
}

template <std::size_t Width>
PREFERO_INLINE Eight block_of(const VectorSums<Width>& sums, std::size_t k) {
    if constexpr (Width == 0)
        return load(sums.blocks[k]);
    else
        return sums.registers[k];
}

template <std::size_t Width>
PREFERO_INLINE void accumulate(VectorSums<Width>& sums, const Block* row, std::size_t width) {
    for (std::size_t k = 0; k < (Width ? Width : width); ++k) {
        if constexpr (Width == 0)
            add(sums.blocks[k], row[k]);
        else
            sums.registers[k] += load(row[k]);
    }
}

// The same for rows; long vectors four rows at a time, which reads and writes the sums once.
template <std::size_t Width>
PREFERO_INLINE void accumulate(VectorSums<Width>& sums, const Sample& sample, RowSpan rows,
                               std::size_t width) {
    const std::uint32_t* row = rows.begin();
    if constexpr (Width == 0) {
        for (; rows.end() - row >= 4; row += 4) {
            const Block *a = sample.simd_row(row[0]), *b = sample.simd_row(row[1]);
            const Block *c = sample.simd_row(row[2]), *d = sample.simd_row(row[3]);
            for (std::size_t k = 0; k < width; ++k)
                store(sums.blocks[k],
                      load(sums.blocks[k]) + load(a[k]) + load(b[k]) + load(c[k]) + load(d[k]));
        }
    }
    for (; row != rows.end(); ++row) accumulate(sums, sample.simd_row(*row), width);
}

// Whether the rankings whose signs are summed agree; `unit` is the number of pairs.
PREFERO_INLINE bool consistent(const Block* sums, std::size_t width, double unit) {
    Eight lengths = broadcast(0);
    for (std::size_t k = 0; k < width; ++k) lengths += magnitude(load(sums[k]));
    const float weight = sums->value[kWeightAt], length = sums->value[kLengthAt];
    return signs_agree(sum(lengths) - weight - length, static_cast<float>(unit) * length);
}

// The sums in doubles.
class LargeSums {
  public:
    explicit LargeSums(std::size_t width) : sums_(width * kSimdWidth) {}

    void clear() { std::fill(sums_.begin(), sums_.end(), 0.0); }

    void add(const Sample& sample, RowSpan rows) {
        for (std::uint32_t row : rows) {
            const float* own = sample.simd_row(row)->value;
            for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += own[i];
        }
    }

    std::size_t size() const { return sums_.size(); }
    double operator[](std::size_t i) const { return sums_[i]; }
    double weight() const { return sums_[kWeightAt]; }
    double length() const { return sums_[kLengthAt]; }

    // As above, of the sums before `end`.
    bool consistent(std::size_t end, double unit) const {
        double lengths = 0;
        for (std::size_t i = kVectorAt; i < end; ++i) lengths += std::fabs(sums_[i]);
        return signs_agree(lengths, unit * length());
    }

    void round(Block* to) const {
        for (std::size_t i = 0; i < sums_.size(); ++i)
            to[i / kSimdWidth].value[i % kSimdWidth] = static_cast<float>(sums_[i]);
    }

  private:
    std::vector<double> sums_;
};

}  // namespace prefero
