// The best cut of one feature in one node.
#pragma once

#include <limits>
#include <vector>

#include "core/sample.hpp"
#include "core/tree.hpp"

namespace prefero {

inline int lowest_bit(std::uint64_t word) {
#if defined(__GNUC__)
    return __builtin_ctzll(word);
#else
    int bit = 0;
    while (!(word >> bit & 1)) ++bit;
    return bit;
#endif
}

// Rows of bins up to `left` go left, from `right` on right; no row of the node lies between.
struct Cut {
    float quality = -std::numeric_limits<float>::infinity();
    std::uint8_t left = 0, right = 0;
    bool missing_left = false;
};

// What a scan needs of the node.
struct NodeRows {
    const std::uint32_t* rows;
    std::size_t count;     // rows
    std::size_t examples;  // examples they stand for
};

// The bins of a feature in a node, in ascending order.
class FeatureBins {
  public:
    explicit FeatureBins(const Sample& sample) : sample_(sample), bins_(sample.rows) {}

    // Reads the bins of a feature; false if there is only one.
    PREFERO_INLINE bool read(NodeRows node, std::size_t feature) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.set.features;
        BinSet seen;
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::uint8_t bin = column[node.rows[i] * stride];
            bins_[i] = bin;
            seen.insert(bin);
        }
        count_ = 0;
        for (std::size_t word = 0; word < kBins / 64; ++word)
            for (std::uint64_t rest = seen.words[word]; rest; rest &= rest - 1)
                order_[count_++] = static_cast<std::uint8_t>(
                    word * 64 + static_cast<std::size_t>(lowest_bit(rest)));
        return count_ > 1;
    }

    PREFERO_INLINE void count_examples(NodeRows node) {
        for (std::size_t k = 0; k < count_; ++k) examples_[order_[k]] = 0;
        for (std::size_t i = 0; i < node.count; ++i)
            examples_[bins_[i]] += sample_.counts[node.rows[i]];
    }

    std::uint8_t of(std::size_t i) const { return bins_[i]; }
    std::size_t count() const { return count_; }
    std::uint8_t operator[](std::size_t k) const { return order_[k]; }
    std::size_t examples(std::size_t k) const { return examples_[order_[k]]; }
    bool missing() const { return order_[count_ - 1] == kMissingBin; }

  private:
    const Sample& sample_;
    std::vector<std::uint8_t> bins_;  // of the node's rows
    std::uint8_t order_[kBins];
    std::size_t count_ = 0;
    std::uint32_t examples_[kBins];
};

// Tries the cuts after each bin k in first..last-1, with the bins before `first` left and, if
// asked, the last bin (of missing values) too.
struct Range {
    std::size_t first, last;
    bool missing_left;
};

template <class Criterion>
PREFERO_INLINE void try_cuts(Criterion& criterion, const FeatureBins& bins, Range range,
                             std::size_t examples, std::size_t min_leaf, Cut& best) {
    auto left = criterion.start();
    std::size_t size = 0;
    if (range.missing_left) {
        criterion.take(left, kMissingBin);
        if (min_leaf > 1) size += bins.examples(bins.count() - 1);
    }
    for (std::size_t k = 0; k < range.last; ++k) {
        criterion.take(left, bins[k]);
        if (min_leaf > 1) {
            size += bins.examples(k);
            if (size < min_leaf) continue;
            if (examples - size < min_leaf) break;
        }
        if (k < range.first) continue;
        const float quality = criterion.quality(left);
        if (quality > best.quality) {
            best = {quality, bins[k], bins[k + 1], range.missing_left};
            criterion.note(left);
        }
    }
}

// Best cut of a numeric feature, or with `random` only the one after a bin drawn at random.
// Missing values are tried on both sides.
template <class Criterion>
PREFERO_CLONES Cut best_cut(Criterion& criterion, FeatureBins& bins, NodeRows node,
                            std::size_t min_leaf, Random* random) {
    for (std::size_t i = 0; i < node.count; ++i) criterion.add(node.rows[i], bins.of(i));
    if (min_leaf > 1) bins.count_examples(node);
    Cut best;
    Range range{0, bins.count() - 1, false};
    if (random) {
        const auto span = static_cast<std::uint32_t>(bins[range.last] - bins[0]);
        const std::size_t drawn = bins[0] + random->below(span);
        while (bins[range.first + 1] <= drawn) ++range.first;
        range.last = range.first + 1;
    }
    try_cuts(criterion, bins, range, node.examples, min_leaf, best);
    if (bins.missing() && bins.count() > 2) {
        range = {range.first, std::min(range.last, bins.count() - 2), true};
        try_cuts(criterion, bins, range, node.examples, min_leaf, best);
    }
    for (std::size_t k = 0; k < bins.count(); ++k) criterion.clear(bins[k]);
    return best;
}

}  // namespace prefero
