// Growing a tree from the rows of one machine: one grower for every criterion.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/categories.hpp"
#include "core/criteria/histograms.hpp"
#include "core/forest.hpp"
#include "core/scan.hpp"

namespace prefero {

template <class Criterion>
class Grower {
  public:
    // Grows from what the sample holds at the time.
    Grower(Sample& sample, Criterion& criterion, const GrowOptions& options,
           Interruption& interruption)
        : sample_(sample),
          criterion_(criterion),
          interruption_(interruption),
          search_(options.search),
          stopping_(options.stopping),
          bins_(sample),
          buffer_(sample.data.rows()),
          features_(sample.data.features()) {}

    // The tree stays here until the next one grows, and may be moved from.
    Tree& grow(std::uint64_t seed) {
        start(seed);
        open_node({0, sample_.rows, 0, 0});
        while (!frontier_.empty()) {
            Open next = pop();
            full() ? make_leaf(next.span) : split(next);
            while (!gathered_.empty() && gathered_.back().waiting == frontier_.size()) scatter();
        }
        builder_.write(tree_);
        write_leaves();
        return tree_;
    }

  private:
    // A node's rows are rows_[begin..end).
    struct Span {
        std::size_t begin, end, node, depth;
        std::int32_t histogram = kNoHistogram;
    };

    struct Leaf {
        std::uint32_t begin, end, node;
    };

    // Rows that stand together until no more nodes wait than did before theirs.
    struct Gathered {
        std::size_t begin, end, waiting;
    };

    struct Choice : Split {
        bool found = false;
        std::uint32_t left = 0;  // of categories: their place in left_
    };

    struct Open {
        Span span;
        Choice choice;
    };

    void start(std::uint64_t seed) {
        builder_.begin();
        random_ = Random(seed);
        rows_.resize(sample_.rows);
        std::iota(rows_.begin(), rows_.end(), 0u);
        leaves_.clear();
        left_.assign(1, {});
        leaves_known_ = 1;
        draw_features(random_, sample_.data.features(), search_.tree_features, features_);
        if constexpr (Criterion::kBoosts) criterion_.begin(features_);
    }

    // Whether the tree has all the leaves it may have.
    bool full() const { return stopping_.max_leaves && leaves_known_ >= stopping_.max_leaves; }

    // Trees grown depth first come back to the rows of a node until all below it is done.
    void gather(const Span& span) {
        if (Criterion::kBoosts || stopping_.max_leaves) return;
        if (!sample_.worth_gathering(span.end - span.begin)) return;
        sample_.gather({rows_.data() + span.begin, rows_.data() + span.end});
        std::iota(rows_.data() + span.begin, rows_.data() + span.end, 0u);
        gathered_.push_back({span.begin, span.end, frontier_.size()});
    }

    void scatter() {
        for (std::size_t i = gathered_.back().begin; i < gathered_.back().end; ++i)
            rows_[i] = sample_.number_outside(rows_[i]);
        sample_.scatter();
        gathered_.pop_back();
    }

    void open_node(const Span& span) {
        if (span.end - span.begin == 1 || full()) return make_leaf(span);
        open(span);
        if (interrupted_) throw Interrupted{};
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
        frontier_.push_back(open);
        if (stopping_.max_leaves) std::push_heap(frontier_.begin(), frontier_.end(), worse);
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

    std::size_t examples(const std::uint32_t* rows, std::size_t count) const {
        if (stopping_.min_split <= 2 && stopping_.min_leaf <= 1)
            return std::max<std::size_t>(count, 2);
        std::size_t total = 0;
        for (std::size_t i = 0; i < count; ++i) total += sample_.counts[rows[i]];
        return total;
    }

    static bool worse(const Open& a, const Open& b) {
        return a.choice.decrease < b.choice.decrease;
    }

    Open pop() {
        if (stopping_.max_leaves) std::pop_heap(frontier_.begin(), frontier_.end(), worse);
        Open next = frontier_.back();
        frontier_.pop_back();
        return next;
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
            interrupted_ = interruption_.stops(node.count * kLanes * sample_.data.width());
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

    void split(const Open& open) {
        const Span& span = open.span;
        ++leaves_known_;
        gather(span);
        const Choice& choice = open.choice;
        // One more for all bins puts the missing one, the last, before the others.
        const auto shift = static_cast<std::uint8_t>(choice.cut.missing_left ? 1 : 0);
        const auto most = static_cast<std::uint8_t>(choice.cut.left + shift);
        const std::size_t middle =
            choice.categorical
                ? partition(span, choice.feature,
                            [&](auto bin) { return left_[choice.left].contains(bin); })
                : partition(span, choice.feature, [=](auto bin) {
                      return static_cast<std::uint8_t>(bin + shift) <= most;
                  });
        const bool larger_left = middle - span.begin >= span.end - middle;
        const std::size_t child =
            builder_.split(span.node, choice, left_[choice.left], larger_left);
        Span left{span.begin, middle, child, span.depth + 1};
        Span right{middle, span.end, child + 1, span.depth + 1};
        if constexpr (Criterion::kBoosts) divide(span, left, right);
        open_node(right);
        open_node(left);
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

    template <class GoesLeft>
    std::size_t partition(const Span& span, std::uint16_t feature, GoesLeft goes_left) {
        const std::uint8_t* column = sample_.bins.data() + feature;
        const std::size_t stride = sample_.data.features();
        std::uint32_t* left = rows_.data() + span.begin;
        std::uint32_t* right = buffer_.data();
        for (std::size_t i = span.begin; i < span.end; ++i) {
            const std::uint32_t row = rows_[i];
            const bool here = goes_left(column[row * stride]);
            *left = row;
            *right = row;
            left += here;
            right += !here;
        }
        std::copy(buffer_.data(), right, left);
        return static_cast<std::size_t>(left - rows_.data());
    }

    // Makes a leaf of a node that is not split.
    void drop(const Span& span) {
        if constexpr (Criterion::kBoosts) criterion_.histograms().release(span.histogram);
        make_leaf(span);
    }

    void make_leaf(const Span& span) {
        builder_.set_leaf(span.node, leaves_.size());
        leaves_.push_back({static_cast<std::uint32_t>(span.begin),
                           static_cast<std::uint32_t>(span.end),
                           static_cast<std::uint32_t>(span.node)});
    }

    // All leaves at the end: while one waits for the votes of its rows, others go on.
    void write_leaves() {
        const TrainingData& data = sample_.data;
        if constexpr (Criterion::kBoosts) return write_steps();
        tree_.scores.resize(leaves_.size() * data.labels());
        if (data.any_unknown()) tree_.evidence.resize(tree_.scores.size());
        float* scores = tree_.scores.data();
        const auto votes = [&](std::uint32_t row) { return data.votes(sample_.origin[row]); };
        for (const Leaf& leaf : leaves_) {
            interruption_.spend((leaf.end - leaf.begin) * data.labels());
            tree_.weight[leaf.node] = mean(leaf, votes, scores);
            if (data.any_unknown()) write_evidence(leaf, scores);
            scores += data.labels();
        }
    }

    // A tree that is a leaf by itself says nothing.
    void write_steps() {
        const std::size_t labels = sample_.data.labels();
        tree_.scores.assign(leaves_.size() * labels, 0.0f);
        for (std::size_t i = 0; i < leaves_.size() && leaves_.size() > 1; ++i) {
            const Leaf& leaf = leaves_[i];
            const RowSpan rows{rows_.data() + leaf.begin, rows_.data() + leaf.end};
            interruption_.spend((leaf.end - leaf.begin) * sample_.data.width());
            criterion_.write_leaf(rows, tree_.scores.data() + i * labels);
            tree_.weight[leaf.node] = sample_.weight(rows);
        }
    }

    // The mean of what the rows said; returns their weight.
    template <class Said>
    double mean(const Leaf& leaf, Said said, float* mean) const {
        const std::size_t c = sample_.data.labels();
        const RowSpan rows{rows_.data() + leaf.begin, rows_.data() + leaf.end};
        if (leaf.end - leaf.begin == 1) {
            copy_few(said(*rows.first), c * sizeof(float), mean);
            return sample_.weights[*rows.first];
        }
        std::fill_n(mean, c, 0.0f);
        double total = 0;
        for (std::uint32_t row : rows) {
            const float weight = sample_.weight(row), *own = said(row);
            for (std::size_t k = 0; k < c; ++k) mean[k] += weight * own[k];
            total += sample_.weights[row];
        }
        const float scale = 1 / static_cast<float>(total);
        for (std::size_t k = 0; k < c; ++k) mean[k] *= scale;
        if (total > sample_.most_in_floats) large_mean(rows, said, total, mean);
        return total;
    }

    template <class Said>
    void large_mean(RowSpan rows, Said said, double total, float* mean) const {
        std::vector<double> sums(sample_.data.labels());
        for (std::uint32_t row : rows)
            for (std::size_t k = 0; k < sums.size(); ++k)
                sums[k] += sample_.weights[row] * said(row)[k];
        for (std::size_t k = 0; k < sums.size(); ++k) mean[k] = static_cast<float>(sums[k] / total);
    }

    // Votes are shares of the comparisons seen, and their number is kept beside them.
    void write_evidence(const Leaf& leaf, float* scores) {
        float* evidence = tree_.evidence.data() + (scores - tree_.scores.data());
        const auto seen = [&](std::uint32_t row) {
            return sample_.data.evidence(sample_.origin[row]);
        };
        mean(leaf, seen, evidence);
        for (std::size_t k = 0; k < sample_.data.labels(); ++k)
            scores[k] = evidence[k] > 0 ? scores[k] / evidence[k] : 0;
    }

    Sample& sample_;
    Criterion& criterion_;
    Interruption& interruption_;
    bool interrupted_ = false;
    const Search& search_;
    const Stopping& stopping_;
    Random random_{0};
    NodeHistogram bins_;
    std::vector<std::uint32_t> rows_, buffer_;
    std::vector<std::uint16_t> features_;
    std::vector<Open> frontier_;
    std::vector<Gathered> gathered_;
    std::vector<BinSet> left_;  // categories that choices send left; the first set is empty
    std::vector<Leaf> leaves_;
    std::size_t leaves_known_ = 0;  // or to be
    TreeBuilder builder_;
    Tree tree_;
};

}  // namespace prefero
