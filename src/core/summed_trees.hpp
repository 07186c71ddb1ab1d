// Trees grown from histograms that whoever holds the rows adds up. A tree says what it needs,
// learns the totals, and decides by the rules of the grower of one machine.
//
// What a node draws at random follows from the seed and its way down the tree. So neither who
// holds the rows nor the order in which nodes are looked at changes a tree.
#pragma once

#include <vector>

#include "core/stopping.hpp"
#include "core/summed_cuts.hpp"

namespace prefero {

// The best cuts of the nodes of a request, as arrays with one entry per node.
struct NodeCuts {
    std::int32_t* varied;    // how many features that were asked for have rows in two bins
    double* quality;         // of the best cut, or -infinity
    std::uint16_t* feature;  // whose cut it is
    std::uint8_t* cut;   // four each: last bin left, first bin right, missing left, missing seen
    BinSet* categories;  // that go left
    double* left;        // width each: the sums of the rows that go left
};

// Looks for them in histograms, nodes x asked x bins x width; the first of equal features is taken.
void find_node_cuts(const SummedSpread& criterion, const double* sums,
                    const std::uint16_t* features, std::size_t nodes, std::size_t asked,
                    const bool* categorical, ChildLimits limits, NodeCuts found,
                    Interruption& interruption);

// A tree of a forest, whose open nodes are all one level below the last splits.
class LevelTree {
  public:
    // Histograms that are asked for together, by AskingNodes.
    struct Request {
        std::vector<std::int32_t> places;
        std::vector<std::uint16_t> features;
        std::size_t asked;
        std::vector<std::size_t> nodes;  // their places among the open ones
    };

    // `totals` are the sums of all rows.
    LevelTree(std::uint64_t seed, const double* totals, const SummedSpread& criterion,
              std::vector<std::uint8_t> categorical, std::size_t max_features,
              const Stopping& stopping);

    bool done() const { return open_.empty(); }

    // What the open nodes ask for next, in histograms of about so many bytes at a time.
    const std::vector<Request>& requests(std::size_t most_bytes);

    // The same as they were asked for last.
    const std::vector<Request>& requested() const { return requests_; }

    std::size_t width() const { return criterion_.width; }
    std::size_t features() const { return categorical_.size(); }
    std::size_t leaves() const { return builder_.leaves(); }

    // Keeps the best cuts of the nodes of a request.
    void learn(const Request& request, const NodeCuts& found);

    // Splits the open nodes that may be split, unless some have to ask for more features.
    void split();

    // The tree with open nodes as leaves; leaves say nothing.
    Tree so_far();

    // What leaves say: the means of some of their statistics over so many labels.
    struct LeafVotes {
        std::size_t labels, votes_at, known_at;  // known_at: comparisons seen, or 0 if all were
    };

    // The tree whose leaves have these sums, leaves x stride.
    Tree grown(const double* sums, std::size_t stride, const LeafVotes& layout);

  private:
    struct OpenNode {
        std::size_t node;
        std::uint64_t key;
        std::vector<double> total, left;
        std::vector<std::uint16_t> features;  // in the order in which they are tried
        std::size_t asked = 0, varied = 0;
        double quality = -std::numeric_limits<double>::infinity();
        Split split;
        BinSet categories;
    };

    void open(std::size_t node, std::uint64_t key, std::vector<double> total,
              std::vector<OpenNode>& level);
    bool accepted(const OpenNode& node) const;
    bool asks(const OpenNode& node) const;

    SummedSpread criterion_;
    std::vector<std::uint8_t> categorical_;
    std::size_t max_features_, depth_ = 0;
    Stopping stopping_;
    TreeBuilder builder_;
    std::vector<OpenNode> open_;
    std::vector<Request> requests_;
};

// How trees of Newton steps are grown.
struct BoostingOptions {
    double learning_rate, penalty;
    std::size_t tree_features;  // that are drawn for a tree
    bool category_sets;
    Stopping stopping;
};

// A tree of Newton steps. The best leaf is split first. Each split asks for the histogram of the
// smaller child alone: that of the larger one is what is left of the parent's.
class BoostedTree {
  public:
    BoostedTree(std::uint64_t seed, std::vector<std::uint8_t> categorical, std::size_t labels,
                const BoostingOptions& options);

    // The features that the tree may test, and the leaves of the tree so far whose histograms of
    // these features it needs; none if it is grown.
    const std::vector<std::uint16_t>& features() const { return features_; }
    const std::vector<std::int32_t>& asked() const { return asked_; }
    std::size_t width() const { return criterion_.width; }

    // Takes the histograms asked for, leaves x features x bins x width.
    void learn(const double* histograms, Interruption& interruption);

    Tree so_far();
    Tree grown();

  private:
    using Sums = std::vector<double>;

    struct OpenNode {
        std::size_t node, depth;
        Sums histograms, left;
        Split split;
        BinSet categories;
    };

    // Children whose histograms are known when that of the smaller one is.
    struct Children {
        std::size_t first, depth;
        bool smaller_first;
        Sums histograms;  // of their parent; empty if it is the root that is asked for
    };

    bool full() const;
    bool may_split(std::size_t node, std::size_t depth) const;
    void open(std::size_t node, std::size_t depth, Sums histograms, Interruption& interruption);
    void advance();
    void split(OpenNode chosen);
    void ask();
    double* total(std::size_t node) { return totals_.data() + node * criterion_.width; }

    BoostingOptions options_;
    SummedNewton criterion_;
    std::vector<std::uint8_t> categorical_;
    std::vector<std::uint16_t> features_;
    TreeBuilder builder_;
    Sums totals_;  // nodes x width
    std::vector<OpenNode> frontier_;
    std::vector<Children> waiting_;
    std::vector<std::int32_t> asked_;
};

}  // namespace prefero
