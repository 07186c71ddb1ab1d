#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "core/bins.hpp"
#include "core/forest.hpp"
#include "core/shrinkage.hpp"
#include "core/tree.hpp"

namespace prefero::bindings {

namespace {

// Features as they come, in whatever order they stand in memory.
template <int Dimensions>
using Values = nb::ndarray<const double, nb::ndim<Dimensions>, nb::device::cpu>;

Out<std::uint8_t, 2> bin_values(Values<2> values, In<double, 1> edges, In<std::int64_t, 1> starts) {
    const std::size_t features = values.shape(1);
    require(starts.shape(0) == features + 1, "starts must have one more entry than features");
    require_starts(starts, edges.shape(0), "starts must ascend from 0 to the number of edges");
    for (std::size_t f = 0; f < features; ++f)
        require(starts.data()[f + 1] - starts.data()[f] < std::int64_t{kMissingBin},
                "a feature must have at most 254 edges");
    auto bins = make_open_array<std::uint8_t, 2>({values.shape(0), features});
    const Edges all{edges.data(), starts.data(), features};
    const ValueMatrix matrix{values.data(), values.shape(0), values.stride(0), values.stride(1)};
    nb::gil_scoped_release unlocked;
    prefero::bin_values(matrix, all, bins.data());
    return bins;
}

Out<double, 1> numeric_edges(Values<1> values, std::size_t max_bins) {
    require(max_bins > 0, "there must be a bin");
    require(values.shape(0) < (std::size_t{1} << 32), "there must be fewer than 2^32 values");
    std::vector<double> own(values.shape(0)), edges;
    {
        nb::gil_scoped_release unlocked;
        const double* value = values.data();
        for (std::size_t i = 0; i < own.size(); ++i, value += values.stride(0)) own[i] = *value;
        edges = prefero::numeric_edges(own, max_bins);
    }
    auto result = make_open_array<double, 1>({edges.size()});
    std::copy(edges.begin(), edges.end(), result.data());
    return result;
}

CriterionKind criterion_kind(const std::string& name) {
    if (name == "kendall") return CriterionKind::kKendall;
    if (name == "spearman") return CriterionKind::kSpearman;
    if (name == "scores") return CriterionKind::kScores;
    if (name == "mallows") return CriterionKind::kMallows;
    if (name == "mallows_em") return CriterionKind::kMallowsEm;
    require(name == "entropy",
            "criterion must be kendall, spearman, scores, mallows, mallows_em or entropy");
    return CriterionKind::kEntropy;
}

// Training data that threads share to grow trees from.
class TreeGrower {
  public:
    TreeGrower(Bins bins, In<bool, 1> categorical, In<double, 2> ranks,
               std::optional<In<double, 1>> weights, const std::string& criterion,
               std::optional<In<float, 2>> votes, std::optional<In<float, 2>> scores)
        : data_(training_data(bins, categorical, ranks, weights, criterion_kind(criterion), votes,
                              scores)) {}

    nb::dict grow(In<std::uint64_t, 1> seeds, bool bootstrap, bool random_cuts, bool category_sets,
                  std::size_t max_features, std::size_t max_depth, std::size_t min_split,
                  std::size_t min_leaf, std::size_t max_leaves, double min_decrease, double gamma,
                  bool description_length) const {
        const Search search{max_features, data_.features(), random_cuts, category_sets};
        const GrowOptions options{bootstrap, search,
                                  Stopping{max_depth, min_split, min_leaf, max_leaves, min_decrease,
                                           gamma, description_length}};
        JoinedTrees trees(seeds.shape(0), data_.labels());
        {
            Unlocked unlocked(&stopped_);
            grow_trees(data_, options, seeds.data(), seeds.shape(0), unlocked,
                       [&](const Tree& tree) { trees.add(tree); });
        }
        return tree_arrays(trees);
    }

    void stop() { stopped_ = true; }

  private:
    static TrainingData training_data(const Bins& bins, const In<bool, 1>& categorical,
                                      const In<double, 2>& ranks,
                                      const std::optional<In<double, 1>>& weights,
                                      CriterionKind criterion,
                                      const std::optional<In<float, 2>>& votes,
                                      const std::optional<In<float, 2>>& scores) {
        require_growable(bins);
        const std::size_t rows = bins.shape(0);
        require(rows > 0 && ranks.shape(0) == rows, "bins and ranks must have the same rows");
        require(ranks.shape(1) > 0, "ranks must have labels");
        require(categorical.shape(0) == bins.shape(1),
                "categorical must have one entry per feature");
        require(!weights || weights->shape(0) == rows, "weights must have one entry per row");
        require(!votes || (votes->shape(0) == rows && votes->shape(1) == ranks.shape(1)),
                "votes must have the shape of ranks");
        require((criterion == CriterionKind::kScores) == scores.has_value(),
                "scores go with the criterion scores");
        require(!scores || (scores->shape(0) == rows && scores->shape(1) == ranks.shape(1)),
                "scores must have the shape of ranks");
        nb::gil_scoped_release unlocked;
        return TrainingData::rankings(criterion, bin_matrix(bins), categorical.data(),
                                      rank_matrix(ranks), weights ? weights->data() : nullptr,
                                      votes ? votes->data() : nullptr,
                                      scores ? scores->data() : nullptr);
    }

    TrainingData data_;
    std::atomic<bool> stopped_{false};
};

// How often the rows are in the sample of each tree: trees x rows.
using Counts = In<std::uint16_t, 2>;

// Grown trees. Keeps the arrays it is made of alive, and refuses them if a walk through them
// could leave them.
class TreeWalker {
  public:
    TreeWalker(std::size_t features, std::size_t labels, In<std::int64_t, 1> node_starts,
               In<std::int64_t, 1> value_starts, In<std::int64_t, 1> set_starts,
               In<std::int64_t, 1> nodes, In<std::int32_t, 1> sets, In<std::uint64_t, 1> categories,
               In<float, 1> scores, In<float, 1> comparisons)
        : features_(features),
          owners_{nb::cast(node_starts), nb::cast(value_starts), nb::cast(set_starts),
                  nb::cast(nodes),       nb::cast(sets),         nb::cast(categories),
                  nb::cast(scores),      nb::cast(comparisons)} {
        const std::size_t starts = node_starts.shape(0), trees = starts - 1;
        require(starts > 1 && value_starts.shape(0) == starts && set_starts.shape(0) == starts,
                "node_starts, value_starts and set_starts must have one more entry than trees");
        const auto last = [&](const In<std::int64_t, 1>& array) {
            return static_cast<std::size_t>(array.data()[trees]);
        };
        const std::size_t words = kBins / 64;
        require(labels > 0 && last(node_starts) == nodes.shape(0) &&
                    scores.shape(0) % labels == 0 && last(value_starts) == scores.shape(0) / labels,
                "the starts do not fit the lengths of nodes and scores");
        require(sets.shape(0) == 0 || sets.shape(0) == nodes.shape(0),
                "sets must be empty or have one entry per node");
        require(comparisons.shape(0) == 0 || comparisons.shape(0) == scores.shape(0),
                "evidence must be empty or as long as scores");
        require(categories.shape(0) % words == 0, "categories must have four words per set");
        forest_ = {trees,
                   labels,
                   node_starts.data(),
                   value_starts.data(),
                   set_starts.data(),
                   reinterpret_cast<const Node*>(nodes.data()),
                   nullptr,
                   sets.shape(0) ? sets.data() : nullptr,
                   reinterpret_cast<const BinSet*>(categories.data()),
                   scores.data(),
                   comparisons.shape(0) ? comparisons.data() : nullptr};
        require(valid(forest_, features, categories.shape(0) / words),
                "the arrays of the trees contradict each other: the model is damaged");
        paths_ = make_paths(forest_, features);
        forest_.paths = &paths_;
    }

    Out<std::int32_t, 2> apply(Bins bins) const {
        check(bins);
        auto leaves = make_array<std::int32_t, 2>({bins.shape(0), forest_.trees});
        Unlocked unlocked;
        prefero::apply(forest_, bin_matrix(bins), leaves.data(), unlocked);
        return leaves;
    }

    Out<double, 2> scores(Bins bins) const {
        check(bins);
        auto sums = make_open_array<double, 2>({bins.shape(0), forest_.labels});
        Unlocked unlocked;
        std::fill_n(sums.data(), sums.size(), 0.0);
        predict_scores(forest_, bin_matrix(bins), sums.data(), unlocked);
        return sums;
    }

    nb::tuple out_of_bag(Bins bins, In<std::uint64_t, 1> seeds) const {
        return held_out(bins, samples(seeds));
    }

    nb::tuple out_of_bag_counted(Bins bins, Counts counts) const {
        return held_out(bins, samples(bins, counts));
    }

    nb::tuple held_out(const Bins& bins, Samples samples) const {
        check(bins);
        auto sums = make_array<double, 2>({bins.shape(0), forest_.labels});
        auto trees = make_array<std::int64_t, 1>({bins.shape(0)});
        {
            Unlocked unlocked;
            std::fill_n(sums.data(), sums.size(), 0.0);
            predict_out_of_bag(forest_, bin_matrix(bins), samples, sums.data(), trees.data(),
                               unlocked);
        }
        return nb::make_tuple(sums, trees);
    }

    nb::tuple shrunk(In<double, 1> weight, In<double, 1> strengths) const {
        check(weight, strengths);
        const std::size_t count = strengths.shape(0);
        const auto values =
            static_cast<std::size_t>(forest_.value_starts[forest_.trees]) * forest_.labels;
        auto scores = make_array<float, 2>({count, values});
        auto comparisons = make_array<float, 2>({count, forest_.comparisons ? values : 0});
        {
            Unlocked unlocked;
            shrink(forest_, weight.data(), {strengths.data(), count}, scores.data(),
                   comparisons.data(), unlocked);
        }
        return nb::make_tuple(scores, comparisons);
    }

    nb::tuple out_of_bag_shrunk(Bins bins, In<std::uint64_t, 1> seeds, In<double, 1> weight,
                                In<double, 1> strengths) const {
        return held_out_shrunk(bins, samples(seeds), weight, strengths);
    }

    nb::tuple out_of_bag_shrunk_counted(Bins bins, Counts counts, In<double, 1> weight,
                                        In<double, 1> strengths) const {
        return held_out_shrunk(bins, samples(bins, counts), weight, strengths);
    }

    nb::tuple held_out_shrunk(const Bins& bins, Samples samples, const In<double, 1>& weight,
                              const In<double, 1>& strengths) const {
        check(bins);
        check(weight, strengths);
        const std::size_t count = strengths.shape(0);
        auto scores = make_array<double, 3>({count, bins.shape(0), forest_.labels});
        auto trees = make_array<std::int64_t, 1>({bins.shape(0)});
        {
            Unlocked unlocked;
            predict_out_of_bag(forest_, bin_matrix(bins), samples, weight.data(),
                               {strengths.data(), count}, scores.data(), trees.data(), unlocked);
        }
        return nb::make_tuple(scores, trees);
    }

    nb::tuple leaf_shares(Bins bins, std::optional<In<std::uint64_t, 1>> seeds,
                          In<double, 1> weight, In<std::int8_t, 2> facts) const {
        check(bins);
        require(!seeds || seeds->shape(0) == forest_.trees, "seeds must have one entry per tree");
        require(weight.shape(0) == bins.shape(0), "weight must have one entry per row");
        require(facts.shape(0) == bins.shape(0), "facts must have as many rows as bins");
        const auto leaves = static_cast<std::size_t>(forest_.value_starts[forest_.trees]);
        auto shares = make_array<float, 2>({leaves, facts.shape(1)});
        auto known = make_array<float, 2>({leaves, facts.shape(1)});
        {
            Unlocked unlocked;
            prefero::leaf_shares(
                forest_, bin_matrix(bins), Samples{seeds ? seeds->data() : nullptr}, weight.data(),
                {facts.data(), facts.shape(1)}, shares.data(), known.data(), unlocked);
        }
        return nb::make_tuple(shares, known);
    }

    Out<double, 3> pair_shares(Bins bins) const {
        check(bins);
        auto shares = make_array<double, 3>({bins.shape(0), forest_.labels, forest_.labels});
        Unlocked unlocked;
        std::fill_n(shares.data(), shares.size(), 0.0);
        predict_pair_shares(forest_, bin_matrix(bins), shares.data(), unlocked);
        return shares;
    }

  private:
    Samples samples(const In<std::uint64_t, 1>& seeds) const {
        require(seeds.shape(0) == forest_.trees, "seeds must have one entry per tree");
        return {seeds.data(), nullptr};
    }

    Samples samples(const Bins& bins, const Counts& counts) const {
        require(counts.shape(0) == forest_.trees && counts.shape(1) == bins.shape(0),
                "counts must have one entry per tree and row");
        return {nullptr, counts.data()};
    }

    void check(const Bins& bins) const {
        require(bins.shape(1) == features_, "bins must have as many columns as in training");
    }

    void check(const In<double, 1>& weight, const In<double, 1>& strengths) const {
        require(weight.shape(0) == static_cast<std::size_t>(forest_.node_starts[forest_.trees]),
                "weight must have one entry per node");
        for (std::size_t s = 0; s < strengths.shape(0); ++s)
            require(strengths.data()[s] >= 0, "strengths must not be negative");
    }

    std::size_t features_;
    std::vector<nb::object> owners_;
    Paths paths_;
    Forest forest_{};
};

}  // namespace

void bind_trees(nb::module_& module) {
    module.def("bin_values", &bin_values, nb::arg("values"), nb::arg("edges"), nb::arg("starts"),
               "The bin of each value: how many edges of its feature lie below it; 255 for NaN.");
    module.def("numeric_edges", &numeric_edges, nb::arg("values"), nb::arg("max_bins"),
               "Where the bins of a feature end: between its values, or those at quantiles.");
    nb::class_<TreeGrower>(module, "TreeGrower", "A training set that trees are grown from.")
        .def(nb::init<Bins, In<bool, 1>, In<double, 2>, std::optional<In<double, 1>>,
                      const std::string&, std::optional<In<float, 2>>,
                      std::optional<In<float, 2>>>(),
             nb::arg("bins"), nb::arg("categorical"), nb::arg("ranks"), nb::arg("weights").none(),
             nb::arg("criterion"), nb::arg("votes") = nb::none(), nb::arg("scores") = nb::none())
        .def("grow", &TreeGrower::grow, nb::arg("seeds"), nb::kw_only(), nb::arg("bootstrap"),
             nb::arg("random_cuts"), nb::arg("category_sets"), nb::arg("max_features"),
             nb::arg("max_depth"), nb::arg("min_split"), nb::arg("min_leaf"), nb::arg("max_leaves"),
             nb::arg("min_decrease"), nb::arg("gamma"), nb::arg("description_length"),
             "One tree per seed, as arrays that stand one after the other.")
        .def("stop", &TreeGrower::stop, "End growing in whatever thread, by KeyboardInterrupt.");
    nb::class_<TreeWalker>(module, "TreeWalker", "Grown trees, to send new rows through.")
        .def(nb::init<std::size_t, std::size_t, In<std::int64_t, 1>, In<std::int64_t, 1>,
                      In<std::int64_t, 1>, In<std::int64_t, 1>, In<std::int32_t, 1>,
                      In<std::uint64_t, 1>, In<float, 1>, In<float, 1>>(),
             nb::arg("features"), nb::arg("labels"), nb::arg("node_starts"),
             nb::arg("value_starts"), nb::arg("set_starts"), nb::arg("nodes"), nb::arg("sets"),
             nb::arg("categories"), nb::arg("scores"), nb::arg("evidence"))
        .def("apply", &TreeWalker::apply, nb::arg("bins"),
             "The leaf of each row in each tree, counted from the tree's first.")
        .def("scores", &TreeWalker::scores, nb::arg("bins"), "Mean scores over the trees.")
        .def("out_of_bag", &TreeWalker::out_of_bag, nb::arg("bins"), nb::arg("seeds"),
             "Mean scores over the trees that have not seen a row, and their number.")
        .def("out_of_bag", &TreeWalker::out_of_bag_counted, nb::arg("bins"), nb::arg("counts"),
             "The same, for samples that hold rows as often as is said: trees x rows.")
        .def(
            "shrunk", &TreeWalker::shrunk, nb::arg("weight"), nb::arg("strengths"),
            "Scores and comparisons of all leaves, drawn towards the nodes above by each strength.")
        .def("out_of_bag_shrunk", &TreeWalker::out_of_bag_shrunk, nb::arg("bins"), nb::arg("seeds"),
             nb::arg("weight"), nb::arg("strengths"),
             "What out_of_bag returns, for the trees shrunk by each strength.")
        .def("out_of_bag_shrunk", &TreeWalker::out_of_bag_shrunk_counted, nb::arg("bins"),
             nb::arg("counts"), nb::arg("weight"), nb::arg("strengths"),
             "The same, for samples that hold rows as often as is said.")
        .def("leaf_shares", &TreeWalker::leaf_shares, nb::arg("bins"), nb::arg("seeds").none(),
             nb::arg("weight"), nb::arg("facts"),
             "The share of the rows of each leaf for which facts (1 yes, 0 no, -1 unknown) hold, "
             "and for which they are known.")
        .def("pair_shares", &TreeWalker::pair_shares, nb::arg("bins"),
             "The share of trees that put one label before another.");
}

}  // namespace prefero::bindings
