#include "core/margins.hpp"

#include <algorithm>

#include "bindings/arrays.hpp"

namespace prefero::bindings {

namespace {

using Labels = In<std::int64_t, 1>;

LabelPairs label_pairs(const Labels& first, const Labels& second, std::size_t labels) {
    require(first.shape(0) == second.shape(0), "first and second must have the same length");
    require_below(first, labels, "first must name labels");
    require_below(second, labels, "second must name labels");
    return {first.data(), second.data(), first.shape(0)};
}

Out<double, 2> score_margins(In<double, 2> scores, Labels first, Labels second) {
    const LabelPairs pairs = label_pairs(first, second, scores.shape(1));
    auto margins = make_array<double, 2>({scores.shape(0), pairs.count});
    nb::gil_scoped_release unlocked;
    prefero::score_margins(scores.data(), scores.shape(0), scores.shape(1), pairs, margins.data());
    return margins;
}

Out<double, 2> pair_outcomes(In<double, 2> ranks, Labels first, Labels second) {
    const LabelPairs pairs = label_pairs(first, second, ranks.shape(1));
    auto outcomes = make_array<double, 2>({ranks.shape(0), pairs.count});
    nb::gil_scoped_release unlocked;
    prefero::pair_outcomes(rank_matrix(ranks), pairs, outcomes.data());
    return outcomes;
}

Out<double, 2> sum_groups(In<double, 2> margins, In<double, 2> outcomes, Weights weights,
                          In<double, 1> ends) {
    require_same_shape(margins, outcomes);
    require(weights.shape(0) == margins.shape(0), "weights must have one entry per row");
    require(ends.shape(0) > 0, "there must be a group");
    auto sums = make_array<double, 2>({ends.shape(0), 4});
    static_assert(sizeof(GroupSums) == 4 * sizeof(double), "a row of four");
    nb::gil_scoped_release unlocked;
    std::fill_n(sums.data(), sums.size(), 0.0);
    prefero::sum_groups(
        {margins.data(), outcomes.data(), weights.data(), margins.shape(0), margins.shape(1)},
        ends.data(), ends.shape(0), reinterpret_cast<GroupSums*>(sums.data()));
    return sums;
}

}  // namespace

void bind_margins(nb::module_& module) {
    module.def("score_margins", &score_margins, nb::arg("scores"), nb::arg("first"),
               nb::arg("second"), "How far the first label of each pair is ahead in each row.");
    module.def("pair_outcomes", &pair_outcomes, nb::arg("ranks"), nb::arg("first"),
               nb::arg("second"),
               "1 if the first label of a pair comes first, 0 if not, 1/2 if tied, else NaN.");
    module.def("sum_groups", &sum_groups, nb::arg("margins"), nb::arg("outcomes"),
               nb::arg("weights"), nb::arg("ends"),
               "Weight, margins, labels ahead that came first and ties by the size of margins.");
}

}  // namespace prefero::bindings
