// Growing a tree from the rows of one machine: one grower for every criterion.
#pragma once

#include <algorithm>

#include "core/categories.hpp"
#include "core/criteria/histograms.hpp"
#include "core/grow_base.hpp"
#include "core/scan.hpp"

namespace prefero {

template <class Criterion>
class Grower : private GrowerBase {
  public:
    // Grows from what the sample holds at the time.
    Grower(Sample& sample, Criterion& criterion, const GrowOptions& options,
           Interruption& interruption)
        : GrowerBase(sample, options, interruption, !Criterion::kBoosts),
          criterion_(criterion),
          bins_(sample) {}

    // The tree stays here until the next one grows, and may be moved from.
    Tree& grow(std::uint64_t seed) {
        start(seed);
        if constexpr (Criterion::kBoosts) criterion_.begin(features_);
        open_node({0, sample_.rows, 0, 0});
        while (!frontier_.empty()) {
            const Open next = pop();
            full() ? make_leaf(next.span) : split(next);
            scatter_done();
        }
        builder_.write(tree_);
        if constexpr (Criterion::kBoosts)
            write_steps();
        else
            write_votes();
        return tree_;
    }

  private:
    void open_node(const Span& span) {
        if (span.end - span.begin == 1 || full()) return make_leaf(span);
        open(span);
        if (interrupted_) throw Interrupted{};
    }

    void split(const Open& open) {
        Span left{}, right{};
        split_rows(open, left, right);
        if constexpr (Criterion::kBoosts) divide(open.span, left, right);
        open_node(right);
        open_node(left);
    }

    // Decides whether and how a new node will be split: nearly all the time is spent here.
    PREFERO_CLONES void open(const Span& span) {
        const std::uint32_t* rows = rows_.data() + span.begin;
        const std::size_t count = span.end - span.begin;
        builder_.set_weight(span.node, enter({rows, rows + count}));
        const NodeRows node{rows, count, examples(rows, count)};
        if (!stopping_.may_split(span.depth, node.examples) || criterion_.pure()) return drop(span);
        Open open{span, {}};
        if constexpr (Criterion::kBoosts)
            open.span.histogram = criterion_.start_cuts(node, span.histogram);
        else if constexpr (Criterion::kFindsCuts)
            if (criterion_finds_cuts()) criterion_.start_cuts(node);
        open.choice = choose(node, span.node == 0);
        if (!open.choice.found) return drop(open.span);
        push(open);
    }

    // Shows the node to the criterion and returns its weight.
    PREFERO_INLINE double enter(RowSpan rows) {
        if (sample_.counts_in_floats) {
            criterion_.enter(rows, false);
            return criterion_.weight();
        }
        const double weight = sample_.weight(rows);
        criterion_.enter(rows, weight > sample_.most_in_floats);
        return weight;
    }

    // Tries features in random order until enough of them vary in the node; at the root until
    // one is found that may be split.
    PREFERO_INLINE Choice choose(NodeRows node, bool root) {
        Choice best;
        std::size_t tried = 0;
        const std::size_t m = features_.size();
        for (std::size_t k = 0; k < m; ++k) {
            if (tried >= search_.max_features && (best.found || !root)) break;
            if (search_.max_features < m || search_.random_cuts)
                std::swap(features_[k],
                          features_[k + random_.below(static_cast<std::uint32_t>(m - k))]);
            Choice choice;
            choice.feature = features_[k];
            choice.categorical = sample_.data.categorical(choice.feature);
            interrupted_ = interruption_.stops(node.count * kSimdWidth * sample_.data.width());
            if (interrupted_) break;
            if (!find_cut(node, choice)) continue;
            ++tried;
            consider(choice, best);
            // All cuts of two rows are the same one.
            if (node.count == 2 && best.found) break;
        }
        return best;
    }

    bool criterion_finds_cuts() const {
        if (Criterion::kBoosts || Criterion::kCutsAlone) return true;
        return stopping_.min_leaf <= 1 && !search_.random_cuts && criterion_.finds_cuts();
    }

    // The best test on the choice's feature; false if all rows lie in one bin.
    PREFERO_INLINE bool find_cut(NodeRows node, Choice& choice) {
        if constexpr (Criterion::kFindsCuts) {
            if (Criterion::kCutsAlone || (!choice.categorical && criterion_finds_cuts()))
                return criterion_.find_cut(choice.feature, choice.cut);
        }
        if constexpr (!Criterion::kCutsAlone) return scan(node, choice);
        return false;
    }

    PREFERO_INLINE bool scan(NodeRows node, Choice& choice) {
        if (!bins_.read(node, choice.feature)) return false;
        if (choice.categorical) {
            const CategoryCut cut = best_categories(criterion_, bins_, sample_, node,
                                                    stopping_.min_leaf, search_.category_sets);
            choice.left = static_cast<std::uint32_t>(left_.size());
            choice.cut.quality = cut.quality;
            left_.push_back(cut.left);
        } else {
            choice.cut = best_cut(criterion_, bins_, node, stopping_.min_leaf,
                                  search_.random_cuts ? &random_ : nullptr);
        }
        choice.cut.missing_seen = bins_.missing();
        return true;
    }

    PREFERO_INLINE void consider(Choice choice, Choice& best) const {
        const float quality = choice.cut.quality;
        if (!better(quality, best.cut.quality) || !criterion_.accepts(quality)) return;
        choice.decrease = criterion_.decrease(quality);
        if (!stopping_.enough(choice.decrease, builder_.weight(0))) return;
        choice.found = true;
        best = choice;
    }

    PREFERO_INLINE bool better(float quality, float than) const {
        if constexpr (Criterion::kBoosts)
            return criterion_.better(quality, than);
        else
            return quality > than;
    }

    // Gives the children of a node what they inherit of its histogram, if they will look at it.
    PREFERO_CLONES void divide(const Span& parent, Span& left, Span& right) {
        const bool left_larger = left.end - left.begin >= right.end - right.begin;
        Span &larger = left_larger ? left : right, &smaller = left_larger ? right : left;
        const bool none = parent.histogram == kNoHistogram;
        if (none || full() || larger.depth >= stopping_.max_depth ||
            larger.end - larger.begin <= kMostRows)
            return criterion_.histograms().release(parent.histogram);
        const std::size_t count = smaller.end - smaller.begin;
        smaller.histogram = criterion_.histograms().divide(
            parent.histogram, {rows_.data() + smaller.begin, count, 0});
        larger.histogram = parent.histogram;
    }

    // Makes a leaf of a node that has been looked at and is not split.
    void drop(const Span& span) {
        if constexpr (Criterion::kBoosts) criterion_.histograms().release(span.histogram);
        make_leaf(span);
    }

    // A tree that is a leaf by itself says nothing.
    void write_steps() {
        const std::size_t labels = sample_.data.labels();
        tree_.scores.assign(leaves_.size() * labels, 0.0f);
        for (std::size_t i = 0; i < leaves_.size() && leaves_.size() > 1; ++i) {
            const Leaf& leaf = leaves_[i];
            const RowSpan rows = rows_of(leaf);
            interruption_.spend((leaf.end - leaf.begin) * sample_.data.width());
            criterion_.write_leaf(rows, tree_.scores.data() + i * labels);
            tree_.weight[leaf.node] = sample_.weight(rows);
        }
    }

    Criterion& criterion_;
    NodeHistogram bins_;
};

}  // namespace prefero
