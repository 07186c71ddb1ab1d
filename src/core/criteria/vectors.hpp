// The best cut of a feature for a criterion of vectors, eight cuts at a time.
//
// With T the sum of the node's vectors and w their weight, the gain of a cut is
//   |w S - v T|^2 / (w v (w - v)),
// S and v the sum and weight left of it. So a vector t of weight u enters as w t - u T: centred,
// and a whole number if the vectors are. What is moved from right to left are items: the rows of
// a small node, the bins of a large one.
#pragma once

#include "core/criteria/few_rows.hpp"
#include "core/criteria/sums.hpp"
#include "core/keys.hpp"
#include "core/scan.hpp"

namespace prefero {

// Width is the number of blocks per row if it is known when compiling, else 0; the sample has its
// rows in floats or in shorts.
template <std::size_t Width, bool InShorts = false>
class VectorCuts {
  public:
    explicit VectorCuts(const Sample& sample)
        : sample_(sample),
          width_(sample.data.width()),
          items_(kMostItems * width_),
          bins_(sample.data.rows() > kMostRows ? kBins * width_ : 0),
          short_bins_(InShorts && sample.data.rows() > kMostRows ? kBins * sample.short_width()
                                                                 : 0),
          sums_(Width ? 0 : width_) {}

    // Looks at a node whose vectors add up to `total`, which must stay where it is.
    PREFERO_INLINE void enter(NodeRows node, const Block* total) {
        node_ = node;
        total_ = total;
        if (node.count > kMostRows) return;
        for (std::size_t i = 0; i < node.count; ++i) set_item(i, row_blocks(node.rows[i]));
        if (node.count > kSimdWidth) return;
        if (node.count > FewRows::kMost) return pad();
        clear_items(node.count, FewRows::kMost);
        few_rows_.enter(sample_, node, items_.data(), width(), total->value[kWeightAt]);
    }

    // The best cut of a numeric feature; false if all rows lie in one bin. Missing values, whose
    // bin is the last, are tried on both sides.
    PREFERO_INLINE bool find(std::size_t feature, Cut& best) {
        if (node_.count <= FewRows::kMost) {
            const FewRows::Answer answer = few_rows_.find(feature, best);
            if (answer != FewRows::Answer::kMissing) return answer == FewRows::Answer::kFound;
            pad();
        }
        if (!make_keys(feature)) return false;
        best = Cut{};
        // One call in a loop: compilers take long for each copy of what is inlined here.
        const bool missing = bin_of(keys_[keys_.count() - 1]) == kMissingBin;
        for (int side = 0; side < (missing ? 2 : 1); ++side) {
            VectorSums<Width> sums = zero();
            if (side == 1) take_missing(sums);
            scan(sums, side == 1, best);
        }
        best.missing_seen = missing;
        return true;
    }

  private:
    PREFERO_INLINE std::size_t width() const { return Width ? Width : width_; }
    PREFERO_INLINE const Block* item(std::size_t i) const { return items_.data() + i * width(); }

    PREFERO_INLINE void clear_items(std::size_t begin, std::size_t end) {
        clear_all(items_.data() + begin * width(), (end - begin) * width());
    }

    // Eight all the same: the last row again, with nothing to add.
    PREFERO_INLINE void pad() {
        for (std::size_t i = 0; i < kSimdWidth; ++i)
            eight_[i] = node_.rows[std::min(i, node_.count - 1)];
        clear_items(node_.count, kSimdWidth);
    }

    PREFERO_INLINE auto row_blocks(std::uint32_t row) const {
        if constexpr (InShorts)
            return sample_.short_row(row);
        else
            return sample_.simd_row(row);
    }

    // Of the values before the vector, only the weight is kept.
    template <class Row>
    PREFERO_INLINE void set_item(std::size_t i, const Row* from) {
        const Eight weight = broadcast(total_->value[kWeightAt]);
        const Eight part = broadcast(from->value[kWeightAt]);
        const Eight weight_only{1, 0, 0, 0, 0, 0, 0, 0};
        Block* to = items_.data() + i * width();
        store(to[0], (weight * block_at(from, 0) - part * load(total_[0])) * kVectorOnly +
                         part * weight_only);
        for (std::size_t k = 1; k < width(); ++k)
            store(to[k], weight * block_at(from, k) - part * load(total_[k]));
    }

    // Sorts the items by the feature; false if there is only one bin.
    PREFERO_INLINE bool make_keys(std::size_t feature) {
        if (node_.count <= kSimdWidth) return keys_.read_eight(sample_, eight_, feature);
        if (node_.count <= kMostRows) return keys_.read(sample_, node_, feature);
        return sum_bins(feature);
    }

    // Makes the bins of the feature the items; false if there is only one.
    PREFERO_INLINE bool sum_bins(std::size_t feature) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.data.features();
        if constexpr (InShorts) {
            const std::size_t short_width = Width ? (Width + 1) / 2 : sample_.short_width();
            if (total_->value[kWeightAt] <= sample_.most_in_shorts()) {
                add_rows(column, stride, sample_.shorts.data(), short_bins_.data(), short_width);
                return take_bins(short_bins_.data(), short_width);
            }
            add_rows(column, stride, sample_.shorts.data(), bins_.data(), width(), short_width);
        } else if constexpr (Width == 0) {
            sum_sorted(column, stride);
        } else {
            add_rows(column, stride, sample_.simd_rows.data(), bins_.data(), width());
        }
        return take_bins(bins_.data(), width());
    }

    template <class Row, class Sums>
    PREFERO_INLINE void add_rows(const std::uint8_t* column, std::size_t stride,
                                 const Row* all_rows, Sums* bins, std::size_t width,
                                 std::size_t row_width = 0) const {
        const NodeRows node = node_;
        if (row_width == 0) row_width = width;
        for (std::size_t i = 0; i < node.count; ++i) {
            const std::size_t row = node.rows[i];
            add_all(bins + column[row * stride] * width, all_rows + row * row_width, width);
        }
    }

    template <class Sums>
    PREFERO_INLINE bool take_bins(Sums* bins, std::size_t width) {
        keys_.clear();
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            Sums* sums = bins + bin * width;
            if (!(sums->value[kWeightAt] > 0)) continue;
            set_item(keys_.count(), sums);
            keys_.push(static_cast<std::uint8_t>(bin));
            clear_all(sums, width);
        }
        if (keys_.count() < 2) return false;
        keys_.finish();
        return true;
    }

    // Sums long vectors bin after bin, rows in their order: no cache holds the sums of all bins.
    PREFERO_INLINE void sum_sorted(const std::uint8_t* column, std::size_t stride) {
        std::uint32_t ends[kBins] = {};
        for (std::size_t i = 0; i < node_.count; ++i) ++ends[column[node_.rows[i] * stride]];
        std::uint32_t begin = 0;
        for (std::uint32_t& end : ends) {
            const std::uint32_t count = end;
            end = begin;
            begin += count;
        }
        sorted_.resize(node_.count);
        for (std::size_t i = 0; i < node_.count; ++i)
            sorted_[ends[column[node_.rows[i] * stride]]++] = node_.rows[i];
        begin = 0;
        for (std::size_t bin = 0; bin < kBins; ++bin) {
            VectorSums<0> sums{bins_.data() + bin * width()};
            const RowSpan rows{sorted_.data() + begin, sorted_.data() + ends[bin]};
            accumulate(sums, sample_, rows, width());
            begin = ends[bin];
        }
    }

    // Moves the rows of missing values to the left, and their keys away.
    PREFERO_INLINE void take_missing(VectorSums<Width>& sums) {
        std::size_t known = keys_.count();
        for (; bin_of(keys_[known - 1]) == kMissingBin; --known) take(sums, keys_[known - 1]);
        keys_.keep(known);
    }

    // Tries the cuts between the keys, with vectors of this sum left of them.
    PREFERO_INLINE void scan(VectorSums<Width>& sums, bool missing_left, Cut& best) {
        const std::size_t count = blocks(keys_.count() - 1);
        const Eight all = broadcast(total_->value[kWeightAt]);
        Eight most = broadcast(best.quality), place = broadcast(0), here{0, 1, 2, 3, 4, 5, 6, 7};
        for (std::size_t k = 0; k < count; ++k) {
            const Key* keys = keys_.data() + k * kSimdWidth;
            Eight heads[kSimdWidth], squares[kSimdWidth];
            if constexpr (Width == 0) {
                take_eight(sums, keys, heads, squares);
            } else {
                PREFERO_UNROLL
                for (std::size_t j = 0; j < kSimdWidth; ++j) {
                    take(sums, keys[j]);
                    heads[j] = block_of(sums, 0);
                    squares[j] = square(sums);
                }
            }
            const Eight left = first_each(heads);
            const Eight gains = where_upper_bytes_differ(
                keys, keys + 1, sum_each(squares) / (all * left * (all - left)), kNoGain);
            place = where_larger(gains, most, here, place);
            most = where_larger(gains, most, gains, most);
            here += broadcast(kSimdWidth);
        }
        const float gain = largest(most);
        if (!(gain > best.quality)) return;
        // The first of equals.
        const Eight equals = where_larger(broadcast(gain), most, broadcast(kMostItems), place);
        const auto at = static_cast<std::size_t>(smallest(equals));
        best = {gain, bin_of(keys_[at]), bin_of(keys_[at + 1]), missing_left};
    }

    PREFERO_INLINE VectorSums<Width> zero() { return zero_sums<Width>(sums_); }

    PREFERO_INLINE void take(VectorSums<Width>& sums, Key key) const {
        accumulate(sums, item(item_of(key)), width());
    }

    // Eight items block by block: of long vectors only the block that grows is in a register.
    PREFERO_INLINE void take_eight(VectorSums<0>& sums, const Key* keys, Eight (&heads)[kSimdWidth],
                                   Eight (&squares)[kSimdWidth]) const {
        const Block* items[kSimdWidth];
        Eight grown = load(sums.blocks[0]);
        PREFERO_UNROLL
        for (std::size_t j = 0; j < kSimdWidth; ++j) {
            items[j] = item(item_of(keys[j]));
            grown += load(items[j][0]);
            heads[j] = grown;
            squares[j] = grown * kVectorOnly * grown;
        }
        store(sums.blocks[0], grown);
        for (std::size_t k = 1; k < width(); ++k) {
            grown = load(sums.blocks[k]);
            PREFERO_UNROLL
            for (std::size_t j = 0; j < kSimdWidth; ++j) {
                grown += load(items[j][k]);
                squares[j] += grown * grown;
            }
            store(sums.blocks[k], grown);
        }
    }

    PREFERO_INLINE Eight square(const VectorSums<Width>& sums) const {
        const Eight head = block_of(sums, 0);
        Eight squares = head * kVectorOnly * head;
        for (std::size_t k = 1; k < width(); ++k) squares += block_of(sums, k) * block_of(sums, k);
        return squares;
    }

    static constexpr float kNoGain = -std::numeric_limits<float>::infinity();

    const Sample& sample_;
    std::size_t width_;
    NodeRows node_{};
    const Block* total_ = nullptr;
    Blocks items_;
    Blocks bins_;  // sums per bin, zero between two features
    std::vector<ShortBlock> short_bins_;
    Blocks sums_;
    std::vector<std::uint32_t> sorted_;  // rows, bin by bin
    SortedKeys keys_;
    std::uint32_t eight_[kSimdWidth];  // the rows of a node of at most eight, the last one repeated
    FewRows few_rows_;
};

}  // namespace prefero
