#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "core/binning.hpp"
#include "core/forest.hpp"
#include "core/targets.hpp"
#include "core/tree.hpp"

namespace prefero::bindings {

namespace {

CriterionKind criterion_kind(const std::string& name) {
    if (name == "kendall") return CriterionKind::kKendall;
    if (name == "spearman") return CriterionKind::kSpearman;
    if (name == "mallows") return CriterionKind::kMallows;
    require(name == "entropy", "criterion must be kendall, spearman, mallows or entropy");
    return CriterionKind::kEntropy;
}

Out<std::uint8_t, 2> bin_values(In<double, 2> values, In<double, 1> edges, In<std::int64_t, 1> starts) {
    require(starts.shape(0) == values.shape(1) + 1, "starts must have one more entry than features");
    auto bins = make_array<std::uint8_t, 2>({values.shape(0), values.shape(1)});
    const Edges all{edges.data(), starts.data(), values.shape(1)};
    nb::gil_scoped_release unlocked;
    prefero::bin_values(values.data(), values.shape(0), all, bins.data());
    return bins;
}

// One array from the same member of all trees.
template <typename T, typename Member>
Out<T, 1> joined(const std::vector<Tree>& trees, Member member) {
    std::size_t size = 0;
    for (const Tree& tree : trees) size += (tree.*member).size();
    auto all = make_array<T, 1>({size});
    T* out = all.data();
    for (const Tree& tree : trees) {
        const auto& part = tree.*member;
        std::memcpy(static_cast<void*>(out), part.data(), part.size() * sizeof(T));
        out += part.size();
    }
    return all;
}

nb::dict forest_arrays(const std::vector<Tree>& trees, std::size_t labels) {
    auto node_starts = make_array<std::int64_t, 1>({trees.size() + 1});
    auto value_starts = make_array<std::int64_t, 1>({trees.size() + 1});
    std::int64_t node = 0, value = 0;
    for (std::size_t t = 0; t <= trees.size(); ++t) {
        node_starts.data()[t] = node;
        value_starts.data()[t] = value;
        if (t == trees.size()) break;
        node += static_cast<std::int64_t>(trees[t].nodes.size());
        value += static_cast<std::int64_t>(trees[t].scores.size() / labels);
    }
    nb::dict arrays;
    arrays["node_starts"] = node_starts;
    arrays["value_starts"] = value_starts;
    arrays["weight"] = joined<float>(trees, &Tree::weight);
    arrays["decrease"] = joined<float>(trees, &Tree::decrease);
    arrays["scores"] = joined<float>(trees, &Tree::scores);
    std::size_t size = static_cast<std::size_t>(node);
    auto nodes = make_array<std::int64_t, 1>({size});
    std::int64_t* out = nodes.data();
    for (const Tree& tree : trees) {
        std::memcpy(out, tree.nodes.data(), tree.nodes.size() * sizeof(Node));
        out += tree.nodes.size();
    }
    arrays["nodes"] = nodes;
    return arrays;
}

nb::dict grow(In<std::uint8_t, 2> bins, In<double, 2> ranks, In<std::uint64_t, 1> seeds,
              const std::string& criterion, bool bootstrap, std::size_t max_features,
              std::size_t max_depth, std::size_t min_split, std::size_t min_leaf) {
    const GrowOptions options{criterion_kind(criterion), bootstrap,
                              Search{max_features, false, false},
                              Stopping{max_depth, min_split, min_leaf, 0, 0, 0, false}};
    const std::size_t n = ranks.shape(0), c = ranks.shape(1);
    std::vector<Tree> trees(seeds.shape(0));
    {
        nb::gil_scoped_release unlocked;
        const std::size_t width = lane_width(options.criterion, c);
        std::vector<Block> lanes(n * width);
        write_lanes(options.criterion, rank_matrix(ranks), lanes.data());
        std::vector<float> votes(n * c);
        write_votes(rank_matrix(ranks), votes.data(), nullptr);
        const TrainingSet set{n,     bins.shape(1),  c,            bins.data(), nullptr,
                              width, lanes.data(), votes.data(), nullptr,     nullptr,
                              nullptr};
        for (std::size_t t = 0; t < trees.size(); ++t) trees[t] = grow_tree(set, options, seeds.data()[t]);
    }
    return forest_arrays(trees, c);
}

Out<double, 2> predict_scores(In<std::uint8_t, 2> bins, In<std::int64_t, 1> node_starts,
                              In<std::int64_t, 1> value_starts, In<std::int64_t, 1> nodes,
                              In<float, 1> scores, std::size_t labels) {
    auto out = make_array<double, 2>({bins.shape(0), labels});
    const Forest forest{node_starts.shape(0) - 1, labels, node_starts.data(), value_starts.data(), nullptr,
                        reinterpret_cast<const Node*>(nodes.data()), nullptr, nullptr, scores.data(), nullptr};
    nb::gil_scoped_release unlocked;
    std::fill_n(out.data(), bins.shape(0) * labels, 0.0);
    prefero::predict_scores(forest, {bins.data(), bins.shape(0), bins.shape(1)}, out.data());
    return out;
}

}  // namespace

void bind_trees(nb::module_& module) {
    module.def("bin_values", &bin_values);
    module.def("grow", &grow);
    module.def("predict_scores", &predict_scores);
}

}  // namespace prefero::bindings
