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

// The bins of a feature in a node, in ascending order, and the rows of each as a linked list.
class FeatureBins {
  public:
    explicit FeatureBins(const Sample& sample)
        : sample_(sample), bins_(sample.rows), next_(sample.rows) {}

    // Reads the bins of a feature; false if there is only one.
    PREFERO_INLINE bool read(NodeRows node, std::size_t feature) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.set.features;
        // The four words of a BinSet in registers: a loop through memory would wait for itself.
        std::uint64_t a = 0, b = 0, c = 0, d = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::uint8_t bin = column[node.rows[i] * stride];
            bins_[i] = bin;
            const std::uint64_t bit = std::uint64_t{1} << (bin % 64);
            const unsigned word = bin / 64;
            a |= bit & -std::uint64_t{word == 0};
            b |= bit & -std::uint64_t{word == 1};
            c |= bit & -std::uint64_t{word == 2};
            d |= bit & -std::uint64_t{word == 3};
        }
        const BinSet seen{{a, b, c, d}};
        count_ = 0;
        for (std::size_t word = 0; word < kBins / 64; ++word)
            for (std::uint64_t rest = seen.words[word]; rest; rest &= rest - 1)
                order_[count_++] = static_cast<std::uint8_t>(
                    word * 64 + static_cast<std::size_t>(lowest_bit(rest)));
        return count_ > 1;
    }

    // Puts the rows into the lists of their bins.
    PREFERO_INLINE void link(NodeRows node) {
        for (std::size_t k = 0; k < count_; ++k) heads_[order_[k]] = kEnd;
        for (std::size_t i = node.count; i-- > 0;) {
            next_[i] = heads_[bins_[i]];
            heads_[bins_[i]] = static_cast<std::uint32_t>(i);
        }
    }

    // Calls visit(row) for the rows of a bin.
    template <class Visit>
    PREFERO_INLINE void for_each_row(NodeRows node, std::size_t bin, Visit visit) const {
        for (std::uint32_t i = heads_[bin]; i != kEnd; i = next_[i]) visit(node.rows[i]);
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
    static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

    const Sample& sample_;
    std::vector<std::uint8_t> bins_;  // of the node's rows
    std::vector<std::uint32_t> next_;
    std::uint32_t heads_[kBins];
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
PREFERO_INLINE void try_cuts(Criterion& criterion, const FeatureBins& bins, NodeRows node,
                             Range range, std::size_t min_leaf, Cut& best) {
    auto left = criterion.start();
    const auto take = [&](std::size_t bin) {
        bins.for_each_row(node, bin, [&](std::uint32_t row) { criterion.push(left, row); });
    };
    std::size_t size = 0;
    if (range.missing_left) {
        take(kMissingBin);
        if (min_leaf > 1) size += bins.examples(bins.count() - 1);
    }
    for (std::size_t k = 0; k < range.last; ++k) {
        take(bins[k]);
        if (min_leaf > 1) {
            size += bins.examples(k);
            if (size < min_leaf) continue;
            if (node.examples - size < min_leaf) break;
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
PREFERO_INLINE Cut best_cut(Criterion& criterion, FeatureBins& bins, NodeRows node,
                            std::size_t min_leaf, Random* random) {
    bins.link(node);
    if (min_leaf > 1) bins.count_examples(node);
    Cut best;
    Range range{0, bins.count() - 1, false};
    if (random) {
        const auto span = static_cast<std::uint32_t>(bins[range.last] - bins[0]);
        const std::size_t drawn = bins[0] + random->below(span);
        while (bins[range.first + 1] <= drawn) ++range.first;
        range.last = range.first + 1;
    }
    try_cuts(criterion, bins, node, range, min_leaf, best);
    if (bins.missing() && bins.count() > 2) {
        range = {range.first, std::min(range.last, bins.count() - 2), true};
        try_cuts(criterion, bins, node, range, min_leaf, best);
    }
    return best;
}

}  // namespace prefero
