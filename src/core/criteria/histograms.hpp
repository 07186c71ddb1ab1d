// Sums of the rows of large nodes, bin by bin, for all features of a tree. A node inherits them:
// what is left of its parent's when those of the smaller child are taken away.
#pragma once

#include <limits>

#include "core/criteria/sums.hpp"
#include "core/grow_base.hpp"
#include "core/keys.hpp"

namespace prefero {

// Width is the number of blocks per row if it is known when compiling, else 0.
template <std::size_t Width>
class Histograms {
  public:
    // Of trees with so many leaves at most; 0: no bound.
    Histograms(const Sample& sample, std::size_t max_leaves)
        : sample_(sample), width_(sample.data.width()), starts_(sample.data.features() + 1) {
        const TrainingData& data = sample.data;
        known_ = known_bins(data);
        for (std::size_t f = 0; f < data.features(); ++f)
            starts_[f + 1] = starts_[f] + (known_[f] + 1) * width();
        const std::size_t bytes = starts_.back() * sizeof(Block);
        kept_ = max_leaves > 0 && bytes * (max_leaves + 1) <= kMostBytes;
        one_.resize(kBins * width());
    }

    void begin(const std::vector<std::uint16_t>& features) {
        features_ = &features;
        free_.clear();
        for (std::size_t i = 0; i < sums_.size(); ++i)
            free_.push_back(static_cast<std::int32_t>(i));
    }

    // How many bins of a feature hold known values; that of missing ones stands behind them.
    std::size_t known_bins(std::size_t feature) const { return known_[feature]; }

    // The histogram of a node, if there is room for one per leaf.
    PREFERO_INLINE std::int32_t make(NodeRows node) {
        if (!kept_) return kNoHistogram;
        const std::int32_t to = take();
        for (std::uint16_t feature : *features_)
            if (!sample_.data.categorical(feature)) sum(node, feature, place(to, feature));
        return to;
    }

    // The bins of a feature, from the histogram or, if the node has none, by its rows.
    PREFERO_INLINE const Block* bins(std::int32_t histogram, NodeRows node, std::size_t feature) {
        if (histogram != kNoHistogram) return place(histogram, feature);
        sum(node, feature, one_.data());
        return one_.data();
    }

    // Makes the histogram of the larger child of a parent's, in its place, and returns that of
    // the smaller one, which has none if it is small.
    PREFERO_INLINE std::int32_t divide(std::int32_t parent, NodeRows smaller) {
        if (smaller.count <= kMostRows) {
            subtract_rows(parent, smaller);
            return kNoHistogram;
        }
        const std::int32_t made = make(smaller);
        for (std::uint16_t feature : *features_) {
            if (sample_.data.categorical(feature)) continue;
            subtract(place(parent, feature), place(made, feature),
                     starts_[feature + 1] - starts_[feature]);
        }
        return made;
    }

    void release(std::int32_t histogram) {
        if (histogram != kNoHistogram) free_.push_back(histogram);
    }

  private:
    static constexpr std::size_t kMostBytes = std::size_t{1} << 28;

    PREFERO_INLINE std::size_t width() const { return Width ? Width : width_; }

    static std::vector<std::size_t> known_bins(const TrainingData& data) {
        std::vector<std::size_t> known(data.features(), 1);
        for (std::size_t row = 0; row < data.rows(); ++row) {
            const std::uint8_t* bins = data.bins(row);
            for (std::size_t f = 0; f < known.size(); ++f)
                if (bins[f] != kMissingBin && bins[f] >= known[f]) known[f] = bins[f] + 1u;
        }
        return known;
    }

    std::int32_t take() {
        if (free_.empty()) {
            free_.push_back(static_cast<std::int32_t>(sums_.size()));
            sums_.emplace_back(starts_.back());
        }
        const std::int32_t taken = free_.back();
        free_.pop_back();
        return taken;
    }

    PREFERO_INLINE Block* place(std::int32_t histogram, std::size_t feature) {
        return sums_[static_cast<std::size_t>(histogram)].data() + starts_[feature];
    }

    PREFERO_INLINE void sum(NodeRows node, std::size_t feature, Block* bins) const {
        const std::size_t last = known_[feature];
        clear_all(bins, (last + 1) * width());
        each_row(node, feature, [&](std::size_t bin, const Block* from) {
            for (std::size_t k = 0; k < width(); ++k) add(bins[bin * width() + k], from[k]);
        });
    }

    PREFERO_INLINE void subtract_rows(std::int32_t from, NodeRows node) {
        for (std::uint16_t feature : *features_) {
            if (sample_.data.categorical(feature)) continue;
            Block* bins = place(from, feature);
            each_row(node, feature, [&](std::size_t bin, const Block* from) {
                subtract(bins + bin * width(), from, width());
            });
        }
    }

    template <class Visit>
    PREFERO_INLINE void each_row(NodeRows node, std::size_t feature, Visit visit) const {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.data.features(), last = known_[feature];
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::uint32_t row = node.rows[i];
            visit(std::min<std::size_t>(column[row * stride], last), sample_.simd_row(row));
        }
    }

    PREFERO_INLINE static void subtract(Block* from, const Block* what, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) store(from[k], load(from[k]) - load(what[k]));
    }

    const Sample& sample_;
    std::size_t width_;
    bool kept_ = false;
    std::vector<std::size_t> starts_;  // of the features, in blocks
    std::vector<std::size_t> known_;
    std::vector<Blocks> sums_;
    std::vector<std::int32_t> free_;
    const std::vector<std::uint16_t>* features_ = nullptr;
    Blocks one_;
};

}  // namespace prefero
