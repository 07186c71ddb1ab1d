// The criterion of boosting: how much more a Newton step of each child lowers the loss than one
// step of both together.
// Labels add up; what they share (the second derivatives by two of them) is left out.
#pragma once

#include "core/criteria/histograms.hpp"
#include "core/criteria/vectors.hpp"

namespace prefero {

// Half is the number of blocks that hold the first derivatives of a row, behind its weight; as
// many hold the second ones, behind its examples. 0 if it is not known when compiling.
template <std::size_t Half>
class Newton : public CutByCut {
  public:
    using Left = VectorSums<2 * Half>;

    static constexpr bool kFindsCuts = true;
    static constexpr bool kBoosts = true;

    Newton(const Sample& sample, const Stopping& stopping, double penalty, double learning_rate)
        : sample_(sample),
          width_(sample.data.width()),
          fewest_(static_cast<float>(stopping.min_leaf) - 0.5f),
          penalty_(static_cast<float>(penalty)),
          learning_rate_(learning_rate),
          histograms_(sample, stopping.max_leaves),
          total_(width_),
          part_(width_),
          left_(Half ? 0 : width_),
          zero_(width_) {}

    // A tree of these features begins.
    void begin(const std::vector<std::uint16_t>& features) { histograms_.begin(features); }

    PREFERO_INLINE void enter(RowSpan rows, bool) {
        clear_all(total_.data(), width());
        // Sums of sums: many small terms are not lost in one large number.
        for (const std::uint32_t* row = rows.first; row != rows.last;) {
            const std::uint32_t* end = row + std::min<std::ptrdiff_t>(kTogether, rows.last - row);
            clear_all(part_.data(), width());
            for (; row != end; ++row) add_all(part_.data(), sample_.simd_row(*row), width());
            add_all(total_.data(), part_.data(), width());
        }
        own_ = sum(gain_of(total_.data()));
    }

    PREFERO_INLINE float weight() const { return total_[0].value[0]; }
    PREFERO_INLINE bool pure() const { return false; }
    PREFERO_INLINE bool finds_cuts() const { return true; }

    // Looks at the node that was entered; `histogram` is its histogram if there is one. Returns
    // the histogram that it has now.
    PREFERO_INLINE std::int32_t start_cuts(NodeRows node, std::int32_t histogram) {
        node_ = node;
        if (node.count <= kMostRows) return kNoHistogram;
        histogram_ = histogram == kNoHistogram ? histograms_.make(node) : histogram;
        return histogram_;
    }

    Histograms<2 * Half>& histograms() { return histograms_; }

    // The best cut of a numeric feature; false if all rows lie in one bin.
    PREFERO_INLINE bool find_cut(std::size_t feature, Cut& best) {
        best = Cut{};
        return node_.count <= kMostRows ? find_between_rows(feature, best)
                                        : find_between_bins(feature, best);
    }

    PREFERO_INLINE Left start() {
        if constexpr (Half == 0) {
            clear_all(left_.data(), width());
            return {left_.data()};
        } else {
            Left left;
            PREFERO_UNROLL
            for (std::size_t k = 0; k < 2 * Half; ++k) left.registers[k] = broadcast(0);
            return left;
        }
    }

    PREFERO_INLINE void push(Left& left, RowSpan rows) {
        for (std::uint32_t row : rows) take(left, sample_.simd_row(row));
    }

    PREFERO_INLINE float quality(const Left& left) const { return sum(gain(left)); }
    PREFERO_INLINE bool better(float quality, float than) const {
        return Rules::better(quality, than);
    }
    bool accepts(float quality) const { return Rules::accepts(quality, own_); }
    double decrease(float quality) const { return Rules::decrease(quality, own_); }

    // The Newton step of some rows, shortened by the learning rate.
    void write_leaf(RowSpan rows, float* scores) const {
        const std::size_t labels = sample_.data.labels(), half = width_ / 2 * kSimdWidth;
        std::vector<double> sums(width_ * kSimdWidth);
        for (std::uint32_t row : rows) {
            const float* own = sample_.simd_row(row)->value;
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
        }
        for (std::size_t j = 0; j < labels; ++j)
            scores[j] =
                newton_step(sums[1 + j], sums[half + 1 + j], double{penalty_}, learning_rate_);
    }

  private:
    using Rules = NewtonRules<float>;

    static constexpr std::ptrdiff_t kTogether = 256;
    static constexpr float kNoGain = -std::numeric_limits<float>::infinity();

    PREFERO_INLINE std::size_t width() const { return Half ? 2 * Half : width_; }
    PREFERO_INLINE std::size_t half() const { return Half ? Half : width_ / 2; }

    PREFERO_INLINE void take(Left& left, const Block* row) const {
        for (std::size_t k = 0; k < width(); ++k) {
            if constexpr (Half == 0)
                add(left.blocks[k], row[k]);
            else
                left.registers[k] += load(row[k]);
        }
    }

    PREFERO_INLINE static Eight block_of(const Left& left, std::size_t k) {
        if constexpr (Half == 0)
            return load(left.blocks[k]);
        else
            return left.registers[k];
    }

    // The first value of the first block is the weight.
    PREFERO_INLINE static Eight vector_only(const Eight& first, std::size_t k) {
        const Eight mask{0, 1, 1, 1, 1, 1, 1, 1};
        return k == 0 ? first * mask : first;
    }

    PREFERO_INLINE Eight gain_of(const Block* sums) const {
        Eight gains = broadcast(0);
        for (std::size_t k = 0; k < half(); ++k) {
            const Eight first = vector_only(load(sums[k]), k);
            gains += newton_gain(first, load(sums[half() + k]), broadcast(penalty_));
        }
        return gains;
    }

    // What steps of both sides gain, by labels. What is right of the cut is a difference, so
    // rounding may leave less than nothing of second derivatives.
    PREFERO_INLINE Eight gain(const Left& left) const {
        Eight gains = broadcast(0);
        const Eight none = broadcast(0), penalty = broadcast(penalty_);
        for (std::size_t k = 0; k < half(); ++k) {
            const Eight here = block_of(left, k), second = block_of(left, half() + k);
            const Eight rest = load(total_[half() + k]) - second;
            const Eight there = load(total_[k]) - here;
            gains += vector_only(newton_gain(here, second, penalty), k);
            gains +=
                vector_only(newton_gain(there, where_larger(rest, none, rest, none), penalty), k);
        }
        return gains;
    }

    // Rows of a small node in the order of their keys.
    struct RowItems {
        const Sample& sample;
        const std::uint32_t* rows;
        const SortedKeys& keys;

        PREFERO_INLINE const Block* operator[](std::size_t i) const {
            return sample.simd_row(rows[item_of(keys[i])]);
        }
        PREFERO_INLINE Eight where_open(std::size_t i, const Eight& gains) const {
            return where_upper_bytes_differ(keys.data() + i, keys.data() + i + 1, gains, kNoGain);
        }
    };

    // Bins of a large node, and nothing behind them. A cut behind an empty bin gains what the one
    // before it gains.
    struct BinItems {
        const Block* bins;
        const Block* nothing;
        std::size_t count, width;

        PREFERO_INLINE const Block* operator[](std::size_t i) const {
            return i < count ? bins + i * width : nothing;
        }
        PREFERO_INLINE Eight where_open(std::size_t, const Eight& gains) const { return gains; }
    };

    // Tries the cuts behind the first `count` items, with vectors of this sum left of them; returns
    // the item before the best one, or kMostItems if none is better than `most`.
    template <class Items>
    PREFERO_INLINE std::size_t scan(const Items& items, std::size_t count, Left& left,
                                    float& most) {
        const Eight all = broadcast(total_[half()].value[0]), fewest = broadcast(fewest_);
        const Eight never = broadcast(kNoGain);
        Eight best = broadcast(most), place = broadcast(0), here{0, 1, 2, 3, 4, 5, 6, 7};
        for (std::size_t i = 0; i < count; i += kSimdWidth) {
            Eight heads[kSimdWidth], parts[kSimdWidth];
            PREFERO_UNROLL
            for (std::size_t j = 0; j < kSimdWidth; ++j) {
                take(left, items[i + j]);
                heads[j] = block_of(left, half());
                parts[j] = gain(left);
            }
            const Eight examples = first_each(heads);
            Eight gains = items.where_open(i, sum_each(parts));
            gains = where_larger(examples, fewest, gains, never);
            gains = where_larger(all - examples, fewest, gains, never);
            place = where_larger(gains, best, here, place);
            best = where_larger(gains, best, gains, best);
            here += broadcast(kSimdWidth);
        }
        const float found = largest(best);
        if (!(found > most)) return kMostItems;
        most = found;
        // The first of equals.
        return static_cast<std::size_t>(
            smallest(where_larger(broadcast(found), best, broadcast(kMostItems), place)));
    }

    PREFERO_INLINE bool find_between_rows(std::size_t feature, Cut& best) {
        if (!keys_.read(sample_, node_, feature)) return false;
        const RowItems items{sample_, node_.rows, keys_};
        const bool missing = bin_of(keys_[keys_.count() - 1]) == kMissingBin;
        // One call in a loop: compilers take long for each copy of what is inlined here.
        for (int side = 0; side < (missing ? 2 : 1); ++side) {
            Left left = start();
            std::size_t known = keys_.count();
            if (side == 1) {
                for (; bin_of(keys_[known - 1]) == kMissingBin; --known)
                    take(left, items[known - 1]);
                keys_.keep(known);
            }
            const std::size_t at = scan(items, known - 1, left, best.quality);
            if (at == kMostItems) continue;
            best.left = bin_of(keys_[at]);
            best.right = bin_of(keys_[at + 1]);
            best.missing_left = side == 1;
        }
        best.missing_seen = missing;
        return true;
    }

    PREFERO_INLINE bool find_between_bins(std::size_t feature, Cut& best) {
        const Block* bins = histograms_.bins(histogram_, node_, feature);
        const std::size_t known = histograms_.known_bins(feature), head = half();
        const auto examples = [&](std::size_t bin) { return bins[bin * width() + head].value[0]; };
        const BinItems items{bins, zero_.data(), known, width()};
        const bool missing = examples(known) > 0;
        for (int side = 0; side < (missing ? 2 : 1); ++side) {
            Left left = start();
            if (side == 1) take(left, bins + known * width());
            std::size_t at = scan(items, known, left, best.quality);
            if (at == kMostItems) continue;
            std::size_t next = at + 1;
            while (next < known && !(examples(next) > 0)) ++next;
            while (at > 0 && !(examples(at) > 0)) --at;
            best.left = static_cast<std::uint8_t>(at);
            best.right = static_cast<std::uint8_t>(next < known ? next : kMissingBin);
            best.missing_left = side == 1;
        }
        best.missing_seen = missing;
        return best.quality > kNoGain;
    }

    const Sample& sample_;
    std::size_t width_;
    float fewest_, penalty_;
    double learning_rate_;
    float own_ = 0;  // what a step of the whole node gains
    NodeRows node_{};
    std::int32_t histogram_ = kNoHistogram;
    Histograms<2 * Half> histograms_;
    Blocks total_, part_, left_, zero_;
    SortedKeys keys_;
};

}  // namespace prefero
