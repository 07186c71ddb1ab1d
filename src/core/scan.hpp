// The best cut of one feature in one node.
#pragma once

#include <limits>
#include <vector>

#include "core/sample.hpp"
#include "core/tree.hpp"

namespace prefero {

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

// The bins of a feature in a node, in ascending order, and the rows sorted by them.
class FeatureBins {
  public:
    explicit FeatureBins(const Sample& sample)
        : sample_(sample), bins_(sample.rows), sorted_(sample.rows) {}

    // Reads the bins of a feature; false if there is only one.
    PREFERO_INLINE bool read(NodeRows node, std::size_t feature) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.set.features;
        std::uint8_t least = kMissingBin, most = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::uint8_t bin = column[node.rows[i] * stride];
            bins_[i] = bin;
            least = bin < least ? bin : least;
            most = bin > most ? bin : most;
        }
        if (least == most) return false;
        if (node.count == 2)
            sort_two(node);
        else if (node.count <= kFewRows)
            sort_few(node);
        else
            sort_many(node, least, most);
        return true;
    }

    // Calls visit(row) for the rows of the k-th bin.
    template <class Visit>
    PREFERO_INLINE void for_each_row(std::size_t k, Visit visit) const {
        for (std::uint32_t i = begin(k); i < ends_[k]; ++i) visit(sorted_[i]);
    }

    std::size_t examples(std::size_t k) const {
        std::size_t total = 0;
        for_each_row(k, [&](std::uint32_t row) { total += sample_.counts[row]; });
        return total;
    }

    std::uint8_t of(std::size_t i) const { return bins_[i]; }
    std::size_t count() const { return count_; }
    std::uint8_t operator[](std::size_t k) const { return order_[k]; }
    bool missing() const { return order_[count_ - 1] == kMissingBin; }

  private:
    static constexpr std::size_t kFewRows = 4 * kShorts;

    std::uint32_t begin(std::size_t k) const { return k ? ends_[k - 1] : 0; }

    PREFERO_INLINE void sort_two(NodeRows node) {
        const bool swapped = bins_[1] < bins_[0];
        for (std::size_t i = 0; i < 2; ++i) {
            order_[i] = bins_[i ^ swapped];
            sorted_[i] = node.rows[i ^ swapped];
            ends_[i] = static_cast<std::uint32_t>(i + 1);
        }
        count_ = 2;
    }

    // A row goes to the place whose number is how many rows stand before it: comparing all with
    // all takes no branch that could be mispredicted.
    PREFERO_INLINE void sort_few(NodeRows node) {
        Shorts keys[kFewRows / kShorts], places[kFewRows / kShorts];
        const std::size_t last = (node.count - 1) / kShorts;
        keys[last] = Shorts{};
        for (std::size_t i = 0; i < node.count; ++i)
            keys[i / kShorts][i % kShorts] = static_cast<std::int16_t>(bins_[i] * kFewRows + i);
        for (std::size_t block = 0; block <= last; ++block) {
            Shorts before{};
            for (std::size_t i = 0; i < node.count; ++i)
                before += count_below(keys[i / kShorts][i % kShorts], keys[block]);
            places[block] = before;
        }
        std::uint8_t bins[kFewRows];
        for (std::size_t i = 0; i < node.count; ++i) {
            const auto place = static_cast<std::size_t>(places[i / kShorts][i % kShorts]);
            sorted_[place] = node.rows[i];
            bins[place] = bins_[i];
        }
        count_ = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            count_ += i == 0 || bins[i] != bins[i - 1];
            order_[count_ - 1] = bins[i];
            ends_[count_ - 1] = static_cast<std::uint32_t>(i + 1);
        }
    }

    PREFERO_INLINE void sort_many(NodeRows node, std::uint8_t least, std::uint8_t most) {
        std::uint32_t places[kBins];
        for (std::size_t bin = least; bin <= most; ++bin) places[bin] = 0;
        for (std::size_t i = 0; i < node.count; ++i) ++places[bins_[i]];
        std::uint32_t end = 0;
        count_ = 0;
        for (std::size_t bin = least; bin <= most; ++bin) {
            const std::uint32_t rows = places[bin];
            places[bin] = end;
            end += rows;
            order_[count_] = static_cast<std::uint8_t>(bin);
            ends_[count_] = end;
            count_ += rows > 0;
        }
        for (std::size_t i = 0; i < node.count; ++i) sorted_[places[bins_[i]]++] = node.rows[i];
    }

    const Sample& sample_;
    std::vector<std::uint8_t> bins_;     // of the node's rows
    std::vector<std::uint32_t> sorted_;  // the node's rows, bin by bin
    std::uint8_t order_[kBins];
    std::uint32_t ends_[kBins];  // where in sorted_ each bin's rows end
    std::size_t count_ = 0;
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
    const auto take = [&](std::size_t k) {
        bins.for_each_row(k, [&](std::uint32_t row) { criterion.push(left, row); });
    };
    constexpr std::size_t kNone = kBins;
    std::size_t size = 0, found = kNone;
    if (range.missing_left) {
        take(bins.count() - 1);
        if (min_leaf > 1) size += bins.examples(bins.count() - 1);
    }
    for (std::size_t k = 0; k < range.last; ++k) {
        take(k);
        if (min_leaf > 1) {
            size += bins.examples(k);
            if (size < min_leaf) continue;
            if (node.examples - size < min_leaf) break;
        }
        if (k < range.first) continue;
        const float quality = criterion.quality(left);
        // Without a branch, which would wait for the quality, unless the criterion takes notes.
        const bool better = quality > best.quality;
        best.quality = better ? quality : best.quality;
        found = better ? k : found;
        if (better) criterion.note(left);
    }
    if (found != kNone) best = {best.quality, bins[found], bins[found + 1], range.missing_left};
}

// Best cut of a numeric feature, or with `random` only the one after a bin drawn at random.
// Missing values are tried on both sides.
template <class Criterion>
PREFERO_INLINE Cut best_cut(Criterion& criterion, const FeatureBins& bins, NodeRows node,
                            std::size_t min_leaf, Random* random) {
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
