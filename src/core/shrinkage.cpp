#include "core/shrinkage.hpp"

#include <algorithm>
#include <cmath>

#include "core/simd.hpp"

namespace prefero {

namespace {

struct Extent {
    std::size_t labels, strengths;
};

// A node's own values and those of its parent.
struct Way {
    const double *own, *parent;
};

// The parts of the way from a node to its parent at each strength: those of a label stand `step`
// behind those of the label before it, or are the same, if that is 0.
struct Parts {
    const double* values;
    std::size_t step;
};

PREFERO_INLINE double moved(double own, double parent, double part, double above) {
    return own + ((above - parent) + part * (parent - own));
}

template <class Number>
PREFERO_INLINE void move(Extent size, Way way, Parts parts, const double* above, Number* to) {
    constexpr std::size_t kUsual = 8;  // strengths, which fill registers
    if (size.strengths == 1 && parts.step == 0) {
        Number* __restrict out = to;
        for (std::size_t k = 0; k < size.labels; ++k)
            out[k] =
                static_cast<Number>(moved(way.own[k], way.parent[k], parts.values[0], above[k]));
        return;
    }
    for (std::size_t k = 0; k < size.labels; ++k) {
        const double own = way.own[k], parent = way.parent[k];
        const double* part = parts.values + k * parts.step;
        if (size.strengths == kUsual) {
            Number values[kUsual];
            for (std::size_t s = 0; s < kUsual; ++s)
                values[s] = static_cast<Number>(moved(own, parent, part[s], above[s]));
            std::copy_n(values, kUsual, to);
        } else {
            for (std::size_t s = 0; s < size.strengths; ++s)
                to[s] = static_cast<Number>(moved(own, parent, part[s], above[s]));
        }
        above += size.strengths;
        to += size.strengths;
    }
}

PREFERO_WIDE void move_all(Extent size, Way way, Parts parts, const double* above, double* to) {
    move(size, way, parts, above, to);
}

PREFERO_WIDE void move_all(Extent size, Way way, Parts parts, const double* above, float* to) {
    move(size, way, parts, above, to);
}

// The mean of two children of these weights, which know every label.
PREFERO_CLONES void join_known(const double* weights, const double* children, std::size_t labels,
                               double* to) {
    const double here = weights[0], there = weights[1], seen = here + there;
    for (std::size_t k = 0; k < labels; ++k)
        to[k] = seen > 0 ? (here * children[k] + there * children[labels + k]) / seen : 0;
}

PREFERO_CLONES void add_values(const float* values, std::size_t count, double* to) {
    for (std::size_t i = 0; i < count; ++i) to[i] += values[i];
}

constexpr std::size_t kLine = 64 / sizeof(float);  // floats that come from memory together

// One tree after the other, on the same buffers. Values stand node after node, label after label.
class TreeShrinker {
  public:
    TreeShrinker(const Forest& forest, const double* weight)
        : forest_(forest), labels_(forest.labels), all_weights_(weight) {}

    // Computes the means of the nodes of a tree.
    void enter(std::size_t tree) {
        const auto at = [tree](const std::int64_t* starts, std::size_t more) {
            return static_cast<std::size_t>(starts[tree + more]);
        };
        nodes_ = forest_.nodes + at(forest_.node_starts, 0);
        weight_ = all_weights_ + at(forest_.node_starts, 0);
        count_ = at(forest_.node_starts, 1) - at(forest_.node_starts, 0);
        leaves_ = at(forest_.value_starts, 1) - at(forest_.value_starts, 0);
        first_ = at(forest_.value_starts, 0) * labels_;
        scores_.resize(count_ * labels_);
        comparisons_.resize(forest_.comparisons ? count_ * labels_ : 0);
        for (std::size_t n = count_; n-- > 0;) is_leaf(n) ? read_leaf(n) : join_children(n);
    }

    std::size_t leaves() const { return leaves_; }
    std::size_t nodes() const { return count_; }

    // Writes what the leaves of the tree say at each strength, and the comparisons behind it unless
    // all are known: leaves x labels x strengths.
    void shrink(Strengths strengths, float* scores, float* comparisons) {
        const std::size_t each = labels_ * strengths.count;
        strengths_ = strengths;
        waiting_.assign(1, {0, 0, 0});
        while (!waiting_.empty()) {
            const Waiting at = waiting_.back();
            waiting_.pop_back();
            if (levels_.size() <= at.depth) levels_.emplace_back(each);
            if (levels_[at.depth].scores.size() != each) levels_[at.depth] = Level(each);
            if (is_leaf(at.node)) {
                const std::size_t first = value_row(at.node) * each;
                arrive(at, scores + first, forest_.comparisons ? comparisons + first : nullptr);
                leave_unshrunk(forest_.scores, at.node, scores + first);
                if (forest_.comparisons)
                    leave_unshrunk(forest_.comparisons, at.node, comparisons + first);
                continue;
            }
            Level& own = levels_[at.depth];
            arrive(at, own.scores.data(), own.comparisons.data());
            write_parts(at.node, own);
            for (std::size_t child : {first_child(at.node) + 1, first_child(at.node)})
                waiting_.push_back({child, at.node, at.depth + 1});
        }
    }

  private:
    bool is_leaf(std::size_t node) const { return nodes_[node].flags & kLeaf; }
    std::size_t first_child(std::size_t node) const {
        return static_cast<std::size_t>(nodes_[node].child);
    }
    std::size_t value_row(std::size_t leaf) const { return first_child(leaf); }

    void read_leaf(std::size_t node) {
        const std::size_t own = first_ + value_row(node) * labels_;
        for (std::size_t k = 0; k < labels_; ++k) {
            scores_[node * labels_ + k] = forest_.scores[own + k];
            if (forest_.comparisons)
                comparisons_[node * labels_ + k] = forest_.comparisons[own + k];
        }
    }

    void join_children(std::size_t node) {
        const std::size_t left = first_child(node) * labels_, right = left + labels_;
        const double* weights = weight_ + first_child(node);
        if (!forest_.comparisons)
            return join_known(weights, scores_.data() + left, labels_,
                              scores_.data() + node * labels_);
        for (std::size_t k = 0; k < labels_; ++k) {
            const double here = weights[0] * comparisons_[left + k];
            const double there = weights[1] * comparisons_[right + k], seen = here + there;
            const double votes = here * scores_[left + k] + there * scores_[right + k];
            scores_[node * labels_ + k] = seen > 0 ? votes / seen : 0;
            comparisons_[node * labels_ + k] = seen / weight_[node];
        }
    }

    // A node on the way down and what its values become: labels x strengths.
    struct Level {
        explicit Level(std::size_t each) : scores(each), comparisons(each), parts(each) {}
        std::vector<double> scores, comparisons;
        std::vector<double> parts;  // of the way from a child to the node
    };

    struct Waiting {
        std::size_t node, parent, depth;
    };

    // Moves a node as its parent, and a part of the way to it.
    template <class Number>
    void arrive(const Waiting& at, Number* scores, Number* comparisons) {
        const Extent size{labels_, strengths_.count};
        if (at.depth == 0) {
            for (std::size_t i = 0; i < labels_ * size.strengths; ++i) {
                scores[i] = static_cast<Number>(scores_[i / size.strengths]);
                if (forest_.comparisons)
                    comparisons[i] = static_cast<Number>(comparisons_[i / size.strengths]);
            }
            return;
        }
        const Level& above = levels_[at.depth - 1];
        const std::size_t here = at.node * labels_, there = at.parent * labels_;
        const Parts parts{above.parts.data(), forest_.comparisons ? size.strengths : 0};
        // A child that has seen no comparison says what the node says.
        for (std::size_t k = 0; forest_.comparisons && k < labels_; ++k)
            if (!(comparisons_[here + k] > 0)) scores_[here + k] = scores_[there + k];
        move_all(size, {&scores_[here], &scores_[there]}, parts, above.scores.data(), scores);
        if (forest_.comparisons)
            move_all(size, {&comparisons_[here], &comparisons_[there]}, parts,
                     above.comparisons.data(), comparisons);
    }

    // Of every label, or once if they are the same for all.
    void write_parts(std::size_t node, Level& level) const {
        const std::size_t count = strengths_.count;
        for (std::size_t k = 0; k < (forest_.comparisons ? labels_ : 1); ++k) {
            const double seen = forest_.comparisons ? comparisons_[node * labels_ + k] : 1;
            const double mass = weight_[node] * seen;
            for (std::size_t s = 0; s < count; ++s) {
                const double strength = strengths_.values[s];
                level.parts[k * count + s] = std::isinf(strength) ? 1
                                             : strength > 0       ? strength / (mass + strength)
                                                                  : 0;
            }
        }
    }

    // Strength 0 leaves what there is.
    void leave_unshrunk(const float* grown, std::size_t leaf, float* to) const {
        const float* own = grown + first_ + value_row(leaf) * labels_;
        for (std::size_t s = 0; s < strengths_.count; ++s)
            for (std::size_t k = 0; strengths_.values[s] == 0 && k < labels_; ++k)
                to[k * strengths_.count + s] = own[k];
    }

    const Forest& forest_;
    std::size_t labels_;
    const double* all_weights_;
    const Node* nodes_ = nullptr;
    const double* weight_ = nullptr;
    std::size_t count_ = 0, leaves_ = 0, first_ = 0;
    std::vector<double> scores_, comparisons_;
    Strengths strengths_{};
    std::vector<Level> levels_;
    std::vector<Waiting> waiting_;
};

}  // namespace

void shrink(const Forest& forest, const double* weight, Strengths strengths, float* scores,
            float* comparisons, Interruption& interruption) {
    const std::size_t c = forest.labels, width = strengths.count * c;
    const auto all = static_cast<std::size_t>(forest.value_starts[forest.trees]) * c;
    TreeShrinker shrinker(forest, weight);
    std::vector<float> values, known;
    for (std::size_t tree = 0; tree < forest.trees; ++tree) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * c);
        const std::size_t first = static_cast<std::size_t>(forest.value_starts[tree]) * c;
        if (strengths.count == 1) {
            shrinker.shrink(strengths, scores + first,
                            forest.comparisons ? comparisons + first : nullptr);
            continue;
        }
        values.resize(shrinker.leaves() * width);
        known.resize(forest.comparisons ? values.size() : 0);
        shrinker.shrink(strengths, values.data(), known.data());
        for (std::size_t s = 0; s < strengths.count; ++s)
            for (std::size_t i = 0; i < shrinker.leaves() * c; ++i) {
                scores[s * all + first + i] = values[i * strengths.count + s];
                if (forest.comparisons)
                    comparisons[s * all + first + i] = known[i * strengths.count + s];
            }
    }
}

void predict_out_of_bag(const Forest& forest, BinMatrix bins, Samples samples, const double* weight,
                        Strengths strengths, double* scores, std::int64_t* trees,
                        Interruption& interruption) {
    const std::size_t c = forest.labels, width = strengths.count * c;
    TreeShrinker shrinker(forest, weight);
    std::vector<float> values, known;  // leaves x labels x strengths
    std::vector<double> sums(bins.rows * width), seen(forest.comparisons ? sums.size() : 0);
    std::vector<std::uint32_t> left_out(bins.rows);
    std::fill_n(trees, bins.rows, std::int64_t{0});
    const auto add = [&](std::size_t tree, const std::uint16_t* drawn, const std::int32_t* leaves) {
        shrinker.enter(tree);
        interruption.spend(8 * strengths.count * shrinker.nodes() * c);
        values.resize(shrinker.leaves() * width);
        known.resize(forest.comparisons ? values.size() : 0);
        shrinker.shrink(strengths, values.data(), known.data());
        const std::size_t count = rows_left_out(drawn, bins.rows, left_out.data());
        for (std::size_t i = 0; i < count; ++i) {
            constexpr std::size_t kAhead = 4;  // rows whose values are on their way from memory
            const std::uint32_t row = left_out[i],
                                later = left_out[std::min(i + kAhead, count - 1)];
            for (std::size_t part = 0; part < width; part += kLine)
                prefetch(values.data() + static_cast<std::size_t>(leaves[later]) * width + part);
            ++trees[row];
            const std::size_t from = static_cast<std::size_t>(leaves[row]) * width;
            double* to = sums.data() + row * width;
            if (!forest.comparisons) {
                add_values(values.data() + from, width, to);
                continue;
            }
            for (std::size_t j = 0; j < width; ++j) {
                to[j] += double{known[from + j]} * values[from + j];
                seen[row * width + j] += known[from + j];
            }
        }
    };
    walk_samples(forest, bins, samples, Walking::kLeftOut, interruption, add);
    for (std::size_t s = 0; s < strengths.count; ++s)
        for (std::size_t row = 0; row < bins.rows; ++row)
            for (std::size_t k = 0; k < c; ++k) {
                const std::size_t at = row * width + k * strengths.count + s;
                const double count =
                    forest.comparisons ? seen[at] : static_cast<double>(trees[row]);
                *scores++ = count > 0 ? sums[at] / count : sums[at];
            }
}

}  // namespace prefero
