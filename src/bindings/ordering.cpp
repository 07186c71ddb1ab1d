#include "bindings/arrays.hpp"
#include "core/concordance.hpp"
#include "core/greedy_order.hpp"
#include "core/rank_boost.hpp"
#include "core/rank_svm.hpp"

namespace prefero::bindings {

namespace {

using Starts = In<std::int64_t, 1>;

// The groups, once their ends are known to lie inside arrays of this many rows.
Groups check_groups(const Starts& starts, std::size_t rows) {
    const std::size_t count = starts.shape(0);
    require(count > 0 && starts.data()[0] == 0, "starts must begin with 0");
    for (std::size_t g = 1; g < count; ++g)
        require(starts.data()[g - 1] <= starts.data()[g], "starts must not decrease");
    require(starts.data()[count - 1] == static_cast<std::int64_t>(rows),
            "starts must end with the number of rows");
    return {starts.data(), count - 1};
}

void require_inside(const In<std::int64_t, 1>& values, std::size_t rows, const char* message) {
    require(values.shape(0) == rows, message);
    for (std::size_t i = 0; i < rows; ++i)
        require(values.data()[i] >= 0 && values.data()[i] < static_cast<std::int64_t>(rows),
                message);
}

Out<double, 1> concordance(In<double, 2> values, In<double, 1> positions, Starts starts,
                           In<double, 1> tolerance, bool spearman) {
    require(positions.shape(0) == values.shape(0), "positions must have one entry a row");
    require(tolerance.shape(0) == values.shape(1), "tolerance must have one entry a column");
    const Groups groups = check_groups(starts, values.shape(0));
    auto sums = make_array<double, 1>({values.shape(1)});
    nb::gil_scoped_release unlocked;
    add_concordance(values.data(), values.shape(1), positions.data(), groups, tolerance.data(),
                    spearman ? Correlation::kSpearman : Correlation::kKendall, sums.data());
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
                           const In<std::int64_t, 1>& by_score, const Starts& starts) {
    const std::size_t rows = scores.shape(0);
    require_inside(levels, rows, "levels must hold one level a row");
    require_inside(by_score, rows, "by_score must hold every row once");
    return {scores.data(), levels.data(), by_score.data(), check_groups(starts, rows)};
}

nb::tuple pair_hinge(In<double, 1> scores, In<std::int64_t, 1> levels, In<std::int64_t, 1> by_score,
                     Starts starts) {
    const ScoredOrders orders = scored_orders(scores, levels, by_score, starts);
    auto gradient = make_array<double, 1>({scores.shape(0)});
    auto active = make_array<double, 1>({scores.shape(0)});
    double loss = 0;
    {
        nb::gil_scoped_release unlocked;
        loss = prefero::pair_hinge(orders, gradient.data(), active.data());
    }
    return nb::make_tuple(loss, gradient, active);
}

Out<double, 1> pair_hinge_hessian(In<double, 1> scores, In<std::int64_t, 1> levels,
                                  In<std::int64_t, 1> by_score, Starts starts, In<double, 1> active,
                                  In<double, 1> vector) {
    const ScoredOrders orders = scored_orders(scores, levels, by_score, starts);
    require(active.shape(0) == scores.shape(0) && vector.shape(0) == scores.shape(0),
            "active and vector must have one entry a row");
    auto product = make_array<double, 1>({scores.shape(0)});
    nb::gil_scoped_release unlocked;
    prefero::pair_hinge_hessian(orders, active.data(), vector.data(), product.data());
    return product;
}

nb::tuple pair_potential(In<double, 1> scores, In<std::int64_t, 1> levels,
                         In<std::int64_t, 1> by_level, Starts starts) {
    const std::size_t rows = scores.shape(0);
    require_inside(levels, rows, "levels must hold one level a row");
    require_inside(by_level, rows, "by_level must hold every row once");
    const Groups groups = check_groups(starts, rows);
    auto potential = make_array<double, 1>({rows});
    double total = 0;
    {
        nb::gil_scoped_release unlocked;
        total = prefero::pair_potential(scores.data(), levels.data(), by_level.data(), groups,
                                        potential.data());
    }
    return nb::make_tuple(total, potential);
}

template <typename Code>
nb::tuple best_weak_ranker(In<Code, 2> codes, In<std::int64_t, 1> bins, In<double, 1> potential) {
    const std::size_t attributes = codes.shape(0), objects = codes.shape(1);
    require(bins.shape(0) == attributes, "bins must have one entry an attribute");
    require(potential.shape(0) == objects, "potential must have one entry an object");
    const CodedAttributes<Code> table{codes.data(), bins.data(), attributes, objects};
    WeakRanker best;
    bool inside = false;
    {
        nb::gil_scoped_release unlocked;
        inside = codes_inside(table);
        if (inside) best = prefero::best_weak_ranker(table, potential.data());
    }
    require(inside, "codes must not exceed the bins of their attribute");
    return nb::make_tuple(best.attribute, best.bin, best.missing, best.gain);
}

Out<std::int64_t, 1> greedy_order(In<double, 2> values, In<double, 1> weights, Starts starts) {
    require(weights.shape(0) == values.shape(1), "weights must have one entry a column");
    const Groups groups = check_groups(starts, values.shape(0));
    auto places = make_array<std::int64_t, 1>({values.shape(0)});
    nb::gil_scoped_release unlocked;
    prefero::greedy_order(values.data(), values.shape(1), weights.data(), groups, places.data());
    return places;
}

}  // namespace

void bind_ordering(nb::module_& module) {
    module.def("concordance", &concordance, nb::arg("values"), nb::arg("positions"),
               nb::arg("starts"), nb::arg("tolerance"), nb::arg("spearman"),
               "Rank correlations of each column with the positions, summed over groups.");
    module.def("sort_by_score", &sort_by_score, nb::arg("scores"), nb::arg("starts"),
               "The rows of each group in ascending order of score.");
    module.def("pair_hinge", &pair_hinge, nb::arg("scores"), nb::arg("levels"), nb::arg("by_score"),
               nb::arg("starts"),
               "Squared hinge loss over all ordered pairs, its gradient, active pairs a row.");
    module.def("pair_hinge_hessian", &pair_hinge_hessian, nb::arg("scores"), nb::arg("levels"),
               nb::arg("by_score"), nb::arg("starts"), nb::arg("active"), nb::arg("vector"),
               "Hessian of that loss by score, times a vector.");
    module.def("pair_potential", &pair_potential, nb::arg("scores"), nb::arg("levels"),
               nb::arg("by_level"), nb::arg("starts"),
               "Weight of all pairs, and each object's share as better minus as worse one.");
    module.def("best_weak_ranker", &best_weak_ranker<std::uint8_t>, nb::arg("codes"),
               nb::arg("bins"), nb::arg("potential"),
               "Attribute, bin, value for missing, and gain of the best threshold.");
    module.def("best_weak_ranker", &best_weak_ranker<std::uint32_t>, nb::arg("codes"),
               nb::arg("bins"), nb::arg("potential"));
    module.def("greedy_order", &greedy_order, nb::arg("values"), nb::arg("weights"),
               nb::arg("starts"), "The place of each object in the greedy order of its group.");
}

}  // namespace prefero::bindings
