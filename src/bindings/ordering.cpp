#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "core/concordance.hpp"
#include "core/greedy_order.hpp"
#include "core/pair_boost.hpp"
#include "core/rank_boost.hpp"
#include "core/rank_svm.hpp"

namespace prefero::bindings {

namespace {

// The groups, once their ends are known to lie inside arrays of this many rows.
Groups check_groups(const Starts& starts, std::size_t rows) {
    require_starts(starts, rows, "starts must ascend from 0 to the number of rows");
    return {starts.data(), starts.shape(0) - 1};
}

void require_inside(const In<std::int64_t, 1>& values, std::size_t rows, const char* message) {
    require(values.shape(0) == rows, message);
    require_below(values, rows, message);
}

Correlation correlation_kind(const std::string& name) {
    if (name == "tau-a") return Correlation::kTauA;
    if (name == "tau-b") return Correlation::kTauB;
    if (name == "rho-a") return Correlation::kRhoA;
    require(name == "spearman", "correlation must be tau-a, tau-b, rho-a or spearman");
    return Correlation::kSpearman;
}

Out<double, 1> concordance(In<double, 2> values, In<double, 1> positions, Starts starts,
                           In<double, 1> tolerance, const std::string& correlation) {
    require(positions.shape(0) == values.shape(0), "positions must have one entry per row");
    require(tolerance.shape(0) == values.shape(1), "tolerance must have one entry per column");
    const Groups groups = check_groups(starts, values.shape(0));
    const Correlation kind = correlation_kind(correlation);
    auto sums = make_array<double, 1>({values.shape(1)});
    Unlocked unlocked;
    add_concordance(values.data(), values.shape(1), positions.data(), groups, tolerance.data(),
                    kind, sums.data(), unlocked);
    return sums;
}

Out<std::int64_t, 1> sort_by_score(In<double, 1> scores, Starts starts) {
    const Groups groups = check_groups(starts, scores.shape(0));
    auto by_score = make_array<std::int64_t, 1>({scores.shape(0)});
    nb::gil_scoped_release unlocked;
    prefero::sort_by_score(scores.data(), groups, by_score.data());
    return by_score;
}

ScoredOrders scored_orders(const In<double, 1>& scores, const In<std::int64_t, 1>& levels,
                           const In<double, 1>& weights, const In<std::int64_t, 1>& by_score,
                           const Starts& starts) {
    const std::size_t rows = scores.shape(0);
    require_inside(levels, rows, "levels must hold one level per row");
    require(weights.shape(0) == rows, "weights must have one entry per row");
    require_inside(by_score, rows, "by_score must hold every row once");
    return {scores.data(), levels.data(), weights.data(), by_score.data(),
            check_groups(starts, rows)};
}

nb::tuple pair_hinge(In<double, 1> scores, In<std::int64_t, 1> levels, In<double, 1> weights,
                     In<std::int64_t, 1> by_score, Starts starts) {
    const ScoredOrders orders = scored_orders(scores, levels, weights, by_score, starts);
    auto gradient = make_array<double, 1>({scores.shape(0)});
    auto active = make_array<double, 1>({scores.shape(0)});
    double loss = 0;
    {
        Unlocked unlocked;
        loss = prefero::pair_hinge(orders, gradient.data(), active.data(), unlocked);
    }
    return nb::make_tuple(loss, gradient, active);
}

Out<double, 1> pair_hinge_hessian(In<double, 1> scores, In<std::int64_t, 1> levels,
                                  In<double, 1> weights, In<std::int64_t, 1> by_score,
                                  Starts starts, In<double, 1> active, In<double, 1> vector) {
    const ScoredOrders orders = scored_orders(scores, levels, weights, by_score, starts);
    require(active.shape(0) == scores.shape(0) && vector.shape(0) == scores.shape(0),
            "active and vector must have one entry per row");
    auto product = make_array<double, 1>({scores.shape(0)});
    Unlocked unlocked;
    prefero::pair_hinge_hessian(orders, active.data(), vector.data(), product.data(), unlocked);
    return product;
}

template <typename Code>
BoostingSet<Code> boosting_set(const In<Code, 2>& codes, const In<std::int64_t, 1>& bins,
                               const In<double, 1>& positions, const In<double, 1>& weights,
                               const Starts& starts) {
    require(bins.shape(0) == codes.shape(1), "bins must have one entry per attribute");
    require(positions.shape(0) == codes.shape(0), "positions must have one entry per object");
    require(weights.shape(0) == codes.shape(0), "weights must have one entry per object");
    const std::int64_t most = CodedObjects<Code>::kMissing;
    for (std::size_t k = 0; k < bins.shape(0); ++k)
        require(bins.data()[k] > 0 && bins.data()[k] <= most, "every attribute must have bins");
    const CodedObjects<Code> table{codes.data(), bins.data(), codes.shape(0), codes.shape(1)};
    require(codes_inside(table), "codes must be below the bins of their attribute");
    return {table, {positions.data(), weights.data(), check_groups(starts, codes.shape(0))}};
}

template <typename Code>
nb::tuple rank_boost(In<Code, 2> codes, In<std::int64_t, 1> bins, In<double, 1> positions,
                     In<double, 1> weights, Starts starts, In<Code, 2> held_codes,
                     In<double, 1> held_positions, In<double, 1> held_weights, Starts held_starts,
                     std::size_t rounds, double learning_rate, std::size_t patience) {
    const BoostingSet<Code> train = boosting_set<Code>(codes, bins, positions, weights, starts);
    const BoostingSet<Code> held =
        boosting_set<Code>(held_codes, bins, held_positions, held_weights, held_starts);
    std::vector<WeakRanker> found;
    {
        Unlocked unlocked;
        found = prefero::rank_boost(train, held, {rounds, learning_rate, patience}, unlocked);
    }
    auto attributes = make_array<std::int64_t, 1>({found.size()});
    auto bin = make_array<std::int64_t, 1>({found.size()});
    auto missing = make_array<bool, 1>({found.size()});
    auto votes = make_array<double, 1>({found.size()});
    for (std::size_t round = 0; round < found.size(); ++round) {
        attributes.data()[round] = found[round].attribute;
        bin.data()[round] = found[round].bin;
        missing.data()[round] = found[round].missing;
        votes.data()[round] = found[round].weight;
    }
    return nb::make_tuple(attributes, bin, missing, votes);
}

template <typename Code>
void bind_rank_boost(nb::module_& module) {
    module.def("rank_boost", &rank_boost<Code>, nb::arg("codes"), nb::arg("bins"),
               nb::arg("positions"), nb::arg("weights"), nb::arg("starts"), nb::arg("held_codes"),
               nb::arg("held_positions"), nb::arg("held_weights"), nb::arg("held_starts"),
               nb::arg("rounds"), nb::arg("learning_rate"), nb::arg("patience"),
               "Attribute, bin, value for missing and weight of each round's weak ranker.");
}

// Adds to each feature its mean share of what the tests of a tree gained.
void add_gains(const std::vector<Tree>& trees, double* gains) {
    for (const Tree& tree : trees) {
        double total = 0;
        for (float gain : tree.decrease) total += gain;
        for (std::size_t n = 0; n < tree.nodes.size(); ++n)
            if (tree.decrease[n] > 0)
                gains[tree.nodes[n].feature] +=
                    tree.decrease[n] / total / static_cast<double>(trees.size());
    }
}

// The trees as arrays, and what each feature gained, as its mean share over the trees.
nb::tuple boost_pairs(Bins bins, In<std::int64_t, 1> levels, In<double, 1> weights, Starts starts,
                      In<std::uint64_t, 1> seeds, double learning_rate, std::size_t max_features,
                      std::size_t max_leaves, std::size_t min_leaf) {
    const std::size_t rows = bins.shape(0), features = bins.shape(1);
    require_growable(bins);
    require_inside(levels, rows, "levels must hold one level per row");
    require(weights.shape(0) == rows, "weights must have one entry per row");
    const Groups groups = check_groups(starts, rows);
    const std::vector<std::uint64_t> all(seeds.data(), seeds.data() + seeds.shape(0));
    const Stopping stopping{rows, 2, min_leaf, max_leaves, 0, 0, false};
    std::vector<Tree> trees;
    auto gains = make_array<double, 1>({features});
    {
        Unlocked unlocked;
        trees = prefero::boost_pairs(
            bin_matrix(bins), levels.data(), weights.data(), groups, all,
            {learning_rate, {max_features, features, false, false}, stopping}, unlocked);
        add_gains(trees, gains.data());
    }
    return nb::make_tuple(tree_arrays(trees, 1), gains);
}

Out<std::int64_t, 1> greedy_order(In<double, 2> values, In<double, 1> weights, Starts starts) {
    require(weights.shape(0) == values.shape(1), "weights must have one entry per column");
    const Groups groups = check_groups(starts, values.shape(0));
    auto places = make_array<std::int64_t, 1>({values.shape(0)});
    Unlocked unlocked;
    prefero::greedy_order(values.data(), values.shape(1), weights.data(), groups, places.data(),
                          unlocked);
    return places;
}

}  // namespace

void bind_ordering(nb::module_& module) {
    module.def("concordance", &concordance, nb::arg("values"), nb::arg("positions"),
               nb::arg("starts"), nb::arg("tolerance"), nb::arg("correlation"),
               "Rank correlations of each column with the positions, summed over groups.");
    module.def("sort_by_score", &sort_by_score, nb::arg("scores"), nb::arg("starts"),
               "The rows of each group in ascending order of score.");
    module.def("pair_hinge", &pair_hinge, nb::arg("scores"), nb::arg("levels"), nb::arg("weights"),
               nb::arg("by_score"), nb::arg("starts"),
               "Squared hinge loss over all ordered pairs, its gradient, active pairs per row.");
    module.def("pair_hinge_hessian", &pair_hinge_hessian, nb::arg("scores"), nb::arg("levels"),
               nb::arg("weights"), nb::arg("by_score"), nb::arg("starts"), nb::arg("active"),
               nb::arg("vector"), "Hessian of that loss by score, times a vector.");
    bind_rank_boost<std::uint8_t>(module);
    bind_rank_boost<std::uint32_t>(module);
    module.def("boost_pairs", &boost_pairs, nb::arg("bins"), nb::arg("levels"), nb::arg("weights"),
               nb::arg("starts"), nb::arg("seeds"), nb::arg("learning_rate"),
               nb::arg("max_features"), nb::arg("max_leaves"), nb::arg("min_leaf"),
               "Boosted trees on the pair loss as arrays, and the mean share of gain per feature.");
    module.def("greedy_order", &greedy_order, nb::arg("values"), nb::arg("weights"),
               nb::arg("starts"), "The place of each object in the greedy order of its group.");
}

}  // namespace prefero::bindings
