// The best cut of one feature in one node.
#pragma once

#include <vector>

#include "core/keys.hpp"
#include "core/tree_builder.hpp"

namespace prefero {

// The bins of a feature in a node, in ascending order, and the rows sorted by them.
class NodeHistogram {
  public:
    explicit NodeHistogram(const Sample& sample)
        : sample_(sample), bins_(sample.data.rows()), sorted_(sample.data.rows()) {}

    // Reads the bins of a feature; false if there is only one.
    PREFERO_INLINE bool read(NodeRows node, std::size_t feature) {
        return node.count <= kMostRows ? sort_few(node, feature) : sort_many(node, feature);
    }

    // The rows of the k-th bin.
    PREFERO_INLINE RowSpan rows(std::size_t k) const {
        return {sorted_.data() + (k ? ends_[k - 1] : 0), sorted_.data() + ends_[k]};
    }

    std::size_t examples(std::size_t k) const {
        std::size_t total = 0;
        for (std::uint32_t row : rows(k)) total += sample_.counts[row];
        return total;
    }

    std::size_t count() const { return count_; }
    std::uint8_t operator[](std::size_t k) const { return order_[k]; }
    bool missing() const { return order_[count_ - 1] == kMissingBin; }

  private:
    PREFERO_INLINE bool sort_few(NodeRows node, std::size_t feature) {
        if (!keys_.read(sample_, node, feature)) return false;
        std::size_t last = 0;
        for (std::size_t i = 0; i < node.count; ++i) {
            sorted_[i] = node.rows[item_of(keys_[i])];
            order_[last] = bin_of(keys_[i]);
            ends_[last] = static_cast<std::uint32_t>(i + 1);
            last += bin_of(keys_[i + 1]) != bin_of(keys_[i]);
        }
        count_ = last + 1;
        return true;
    }

    bool sort_many(NodeRows node, std::size_t feature);

    const Sample& sample_;
    std::vector<std::uint8_t> bins_;     // of a large node's rows
    std::vector<std::uint32_t> sorted_;  // the node's rows, bin by bin
    SortedKeys keys_;                    // of a small node's rows
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
PREFERO_INLINE void try_cuts(Criterion& criterion, const NodeHistogram& bins, NodeRows node,
                             Range range, std::size_t min_leaf, Cut& best) {
    auto left = criterion.start();
    constexpr std::size_t kNone = kBins;
    std::size_t size = 0, found = kNone, kept = 0;
    [[maybe_unused]] std::uint8_t after[kBins];  // the bins of the cuts that are kept
    if (range.missing_left) {
        criterion.push(left, bins.rows(bins.count() - 1));
        if (min_leaf > 1) size += bins.examples(bins.count() - 1);
    }
    for (std::size_t k = 0; k < range.last; ++k) {
        criterion.push(left, bins.rows(k));
        if (min_leaf > 1) {
            size += bins.examples(k);
            if (size < min_leaf) continue;
            if (node.examples - size < min_leaf) break;
        }
        if (k < range.first) continue;
        if constexpr (Criterion::kKeepsCuts) {
            after[kept++] = static_cast<std::uint8_t>(k);
            criterion.keep(left);
            continue;
        }
        const float quality = criterion.quality(left);
        // Without a branch, which would wait for the quality: a mask, as compilers are free to make
        // a branch of a choice.
        const std::size_t better = -static_cast<std::size_t>(quality > best.quality);
        best.quality = std::max(best.quality, quality);
        found = (found & ~better) | (k & better);
    }
    if constexpr (Criterion::kKeepsCuts) {
        const float* qualities = criterion.qualities();
        for (std::size_t cut = 0; cut < kept; ++cut) {
            if (!(qualities[cut] > best.quality)) continue;
            best.quality = qualities[cut];
            found = after[cut];
            criterion.note_best(cut);
        }
    }
    if (found != kNone) best = {best.quality, bins[found], bins[found + 1], range.missing_left};
}

// Best cut of a numeric feature, or with `random` only the one after a bin drawn at random.
// Missing values are tried on both sides.
template <class Criterion>
PREFERO_INLINE Cut best_cut(Criterion& criterion, const NodeHistogram& bins, NodeRows node,
                            std::size_t min_leaf, Random* random) {
    Cut best;
    Range range{0, bins.count() - 1, false};
    if (random) {
        const auto span = static_cast<std::uint32_t>(bins[range.last] - bins[0]);
        const std::size_t drawn = bins[0] + random->below(span);
        while (bins[range.first + 1] <= drawn) ++range.first;
        range.last = range.first + 1;
    }
    // One call in a loop: compilers take long for each copy of what is inlined here.
    const int sides = bins.missing() && bins.count() > 2 ? 2 : 1;
    for (int side = 0; side < sides; ++side) {
        if (side == 1) range = {range.first, std::min(range.last, bins.count() - 2), true};
        try_cuts(criterion, bins, node, range, min_leaf, best);
    }
    return best;
}

}  // namespace prefero
