// What growing a tree from the rows of one machine takes whatever the criterion: compiled once.
#pragma once

#include <algorithm>
#include <vector>

#include "core/forest.hpp"
#include "core/sample.hpp"
#include "core/tree_builder.hpp"

namespace prefero {

constexpr std::int32_t kNoHistogram = -1;

class GrowerBase {
  protected:
    // A node's rows are rows_[begin..end).
    struct Span {
        std::size_t begin, end, node, depth;
        std::int32_t histogram = kNoHistogram;
    };

    struct Leaf {
        std::uint32_t begin, end, node;
    };

    struct Choice : Split {
        bool found = false;
        std::uint32_t left = 0;  // of categories: their place in left_
    };

    struct Open {
        Span span;
        Choice choice;
    };

    // Trees grown depth first may gather the rows of a node: they come back to them.
    GrowerBase(Sample& sample, const GrowOptions& options, Interruption& interruption,
               bool gathers);

    void start(std::uint64_t seed);

    // Whether the tree has all the leaves it may have.
    bool full() const { return stopping_.max_leaves && leaves_known_ >= stopping_.max_leaves; }

    void push(const Open& open) {
        frontier_.push_back(open);
        if (stopping_.max_leaves) sift();
    }

    // The open node that is split next: the best one if leaves are counted, else the last one.
    Open pop();

    std::size_t examples(const std::uint32_t* rows, std::size_t count) const {
        if (stopping_.min_split <= 2 && stopping_.min_leaf <= 1)
            return std::max<std::size_t>(count, 2);
        std::size_t total = 0;
        for (std::size_t i = 0; i < count; ++i) total += sample_.counts[rows[i]];
        return total;
    }

    // Splits a node, and gives its children their rows.
    void split_rows(const Open& open, Span& left, Span& right);

    // Undoes what was gathered for nodes of which none waits any more.
    void scatter_done() {
        while (!gathered_.empty() && gathered_.back().waiting == frontier_.size()) scatter();
    }

    // Makes a leaf of a node that is not split.
    void make_leaf(const Span& span) {
        builder_.set_leaf(span.node, leaves_.size());
        leaves_.push_back({static_cast<std::uint32_t>(span.begin),
                           static_cast<std::uint32_t>(span.end),
                           static_cast<std::uint32_t>(span.node)});
    }

    RowSpan rows_of(const Leaf& leaf) const {
        return {rows_.data() + leaf.begin, rows_.data() + leaf.end};
    }

    // Writes the mean votes of all leaves.
    void write_votes();

    Sample& sample_;
    Interruption& interruption_;
    bool interrupted_ = false;
    const Search& search_;
    const Stopping& stopping_;
    Random random_{0};
    std::vector<std::uint32_t> rows_;
    std::vector<std::uint16_t> features_;
    std::vector<Open> frontier_;
    std::vector<BinSet> left_;  // categories that choices send left; the first set is empty
    std::vector<Leaf> leaves_;
    TreeBuilder builder_;
    Tree tree_;

  private:
    // Rows that stand together until no more nodes wait than did before theirs.
    struct Gathered {
        std::size_t begin, end, waiting;
    };

    void sift();  // the last open node to its place in the heap
    void gather(const Span& span);
    void scatter();

    template <class GoesLeft>
    std::size_t partition(const Span& span, std::uint16_t feature, GoesLeft goes_left);

    template <class Said>
    double mean(const Leaf& leaf, Said said, float* mean) const;
    template <class Said>
    void large_mean(RowSpan rows, Said said, double total, float* mean) const;
    void write_known(const Leaf& leaf, float* scores);

    bool gathers_;
    std::vector<std::uint32_t> buffer_;
    std::vector<Gathered> gathered_;
    std::size_t leaves_known_ = 0;  // or to be
};

}  // namespace prefero
