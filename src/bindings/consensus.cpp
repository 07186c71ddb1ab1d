#include <nanobind/stl/pair.h>

#include <algorithm>
#include <utility>

#include "bindings/arrays.hpp"
#include "core/aggregate.hpp"
#include "core/extend.hpp"
#include "core/mallows.hpp"
#include "core/pair_votes.hpp"
#include "core/plackett_luce.hpp"

namespace prefero::bindings {

namespace {

Out<double, 2> borda_votes(In<double, 2> ranks) {
    auto votes = make_array<double, 2>({ranks.shape(0), ranks.shape(1)});
    nb::gil_scoped_release unlocked;
    prefero::borda_votes(OrderedRows(rank_matrix(ranks)), ranks.shape(0), votes.data());
    return votes;
}

Out<double, 2> borda_batch(In<double, 2> ranks, Starts starts, Rows rows, Weights weights) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto votes = make_array<double, 2>({sets.count, ranks.shape(1)});
    Unlocked unlocked;
    prefero::borda_batch(rank_matrix(ranks), sets, votes.data(), unlocked);
    return votes;
}

Out<double, 2> pair_sums(In<double, 2> ranks, Weights weights) {
    require(ranks.shape(0) == weights.shape(0), "ranks and weights must have the same length");
    auto sums = make_array<double, 2>({ranks.shape(1), ranks.shape(1)});
    Unlocked unlocked;
    prefero::pair_sums(rank_matrix(ranks), weights.data(), sums.data(), unlocked);
    return sums;
}

Out<double, 2> extend(In<double, 2> ranks, In<double, 2> centers) {
    require(centers.shape(0) == ranks.shape(0) || centers.shape(0) == 1,
            "centers must have one row or as many as ranks");
    require(centers.shape(1) == ranks.shape(1), "centers and ranks must have the same labels");
    auto positions = make_array<double, 2>({ranks.shape(0), ranks.shape(1)});
    nb::gil_scoped_release unlocked;
    prefero::extend(rank_matrix(ranks), centers.data(), centers.shape(0), positions.data());
    return positions;
}

std::pair<Out<double, 2>, Out<double, 1>> fit_mallows_batch(In<double, 2> ranks, Starts starts,
                                                            Rows rows, Weights weights,
                                                            std::size_t max_rounds) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto votes = make_array<double, 2>({sets.count, ranks.shape(1)});
    auto theta = make_array<double, 1>({sets.count});
    {
        Unlocked unlocked;
        prefero::fit_mallows_batch(rank_matrix(ranks), sets, max_rounds, votes.data(), theta.data(),
                                   unlocked);
    }
    return {votes, theta};
}

Out<std::int64_t, 1> improve_order(In<double, 2> sums, In<std::int64_t, 1> order) {
    const std::size_t labels = order.shape(0);
    require(sums.shape(0) == labels && sums.shape(1) == labels, "sums must be square");
    require_below(order, labels, "order must hold every label once");
    auto improved = make_array<std::int64_t, 1>({labels});
    nb::gil_scoped_release unlocked;
    std::copy(order.data(), order.data() + labels, improved.data());
    prefero::improve_order(sums.data(), labels, improved.data());
    return improved;
}

Out<std::int64_t, 2> improve_orders(In<double, 2> before, In<std::int64_t, 2> orders) {
    const std::size_t count = orders.shape(0), labels = orders.shape(1);
    require(before.shape(0) == count, "before and orders must have the same length");
    require(before.shape(1) == labels * (labels - 1) / 2, "before must hold every pair of labels");
    require_below(orders, labels, "orders must hold every label once");
    auto improved = make_array<std::int64_t, 2>({count, labels});
    {
        Unlocked unlocked;
        std::copy(orders.data(), orders.data() + orders.size(), improved.data());
        prefero::improve_orders(before.data(), count, labels, improved.data(), unlocked);
    }
    return improved;
}

Out<double, 3> mallows_pairwise(In<std::int64_t, 2> centers, In<double, 1> theta) {
    const std::size_t count = centers.shape(0), labels = centers.shape(1);
    require(theta.shape(0) == count, "centers and theta must have the same length");
    for (std::size_t i = 0; i < centers.size(); ++i)
        require(centers.data()[i] > 0, "centers must hold ranks from 1");
    require_below(centers, labels + 1, "centers must hold ranks up to the number of labels");
    auto probability = make_array<double, 3>({count, labels, labels});
    nb::gil_scoped_release unlocked;
    for (std::size_t q = 0; q < count; ++q)
        prefero::mallows_pairwise(centers.data() + q * labels, theta.data()[q], labels,
                                  probability.data() + q * labels * labels);
    return probability;
}

std::pair<Out<double, 2>, Out<double, 1>> pair_votes_batch(In<double, 2> ranks, Starts starts,
                                                           Rows rows, Weights weights,
                                                           double prior) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto votes = make_array<double, 2>({sets.count, ranks.shape(1)});
    auto theta = make_array<double, 1>({sets.count});
    {
        Unlocked unlocked;
        prefero::pair_votes_batch(rank_matrix(ranks), sets, prior, votes.data(), theta.data(),
                                  unlocked);
    }
    return {votes, theta};
}

Out<double, 2> pair_votes(In<double, 2> ranks, Starts starts, Rows rows, Weights weights,
                          double prior) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto votes = make_array<double, 2>({sets.count, ranks.shape(1)});
    Unlocked unlocked;
    prefero::pair_votes_batch(rank_matrix(ranks), sets, prior, votes.data(), nullptr, unlocked);
    return votes;
}

Out<double, 2> kemeny_batch(In<double, 2> ranks, Starts starts, Rows rows, Weights weights,
                            double prior) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto votes = make_array<double, 2>({sets.count, ranks.shape(1)});
    Unlocked unlocked;
    prefero::kemeny_batch(rank_matrix(ranks), sets, prior, votes.data(), unlocked);
    return votes;
}

Out<double, 2> left_out_votes(In<double, 2> ranks, Weights weights, Rows cases, double prior,
                              bool kemeny) {
    require(ranks.shape(0) == weights.shape(0), "ranks and weights must have the same length");
    require_below(cases, ranks.shape(0), "cases must name rows of the matrix");
    auto votes = make_array<double, 2>({cases.shape(0), ranks.shape(1)});
    Unlocked unlocked;
    prefero::left_out_votes(rank_matrix(ranks), weights.data(), {cases.data(), cases.shape(0)},
                            prior, kemeny, votes.data(), unlocked);
    return votes;
}

std::pair<double, double> mallows_moments(double theta, std::size_t labels) {
    const DistanceMoments moments = prefero::mallows_moments(theta, labels);
    return {moments.mean, moments.variance};
}

std::pair<Out<double, 2>, Out<std::int64_t, 1>> fit_plackett_luce_batch(
    In<double, 2> ranks, Starts starts, Rows rows, Weights weights, double prior, double tolerance,
    std::size_t max_rounds) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, ranks.shape(0));
    auto log_worth = make_array<double, 2>({sets.count, ranks.shape(1)});
    auto rounds = make_array<std::int64_t, 1>({sets.count});
    {
        Unlocked unlocked;
        prefero::fit_plackett_luce_batch(rank_matrix(ranks), sets, {prior, tolerance, max_rounds},
                                         log_worth.data(), rounds.data(), unlocked);
    }
    return {log_worth, rounds};
}

}  // namespace

void bind_consensus(nb::module_& module) {
    module.def("borda_votes", &borda_votes, nb::arg("ranks"),
               "Generalized Borda votes of each row.");
    module.def("borda_batch", &borda_batch, nb::arg("ranks"), nb::arg("starts"), nb::arg("rows"),
               nb::arg("weights"), "Mean generalized Borda votes of each weighted set of rows.");
    module.def("pair_sums", &pair_sums, nb::arg("ranks"), nb::arg("weights"),
               "Weight of the rows that put label i strictly before label j.");
    module.def("extend", &extend, nb::arg("ranks"), nb::arg("centers"),
               "Mean positions in the extension of each row nearest to a center of votes.");
    module.def("improve_order", &improve_order, nb::arg("sums"), nb::arg("order"),
               "The order after moving single labels until that breaks no less.");
    module.def("improve_orders", &improve_orders, nb::arg("before"), nb::arg("orders"),
               "Each order after moving single labels until that is no likelier.");
    module.def("mallows_pairwise", &mallows_pairwise, nb::arg("centers"), nb::arg("theta"),
               "P(label i before label j) of each model.");
    module.def("fit_mallows_batch", &fit_mallows_batch, nb::arg("ranks"), nb::arg("starts"),
               nb::arg("rows"), nb::arg("weights"), nb::arg("max_rounds"),
               "Mean votes of the center, and theta, of each weighted set of rows.");
    module.def("pair_votes", &pair_votes, nb::arg("ranks"), nb::arg("starts"), nb::arg("rows"),
               nb::arg("weights"), nb::arg("prior"),
               "Votes from the observed pairs of each weighted set of rows.");
    module.def("pair_votes_batch", &pair_votes_batch, nb::arg("ranks"), nb::arg("starts"),
               nb::arg("rows"), nb::arg("weights"), nb::arg("prior"),
               "Votes from the observed pairs, and theta, of each weighted set of rows.");
    module.def("fit_plackett_luce_batch", &fit_plackett_luce_batch, nb::arg("ranks"),
               nb::arg("starts"), nb::arg("rows"), nb::arg("weights"), nb::arg("prior"),
               nb::arg("tolerance"), nb::arg("max_rounds"),
               "Log-worths, and the rounds taken, of each weighted set of rows.");
    module.def("kemeny_batch", &kemeny_batch, nb::arg("ranks"), nb::arg("starts"), nb::arg("rows"),
               nb::arg("weights"), nb::arg("prior"),
               "Positions from the end in a locally optimal order of each weighted set of rows.");
    module.def("left_out_votes", &left_out_votes, nb::arg("ranks"), nb::arg("weights"),
               nb::arg("cases"), nb::arg("prior"), nb::arg("kemeny"),
               "Votes of all rows but one, for each of some rows.");
    module.def("mallows_log_normalizer", &mallows_log_normalizer, nb::arg("theta"),
               nb::arg("labels"), "The logarithm of the normalising constant.");
    module.def("mallows_moments", &mallows_moments, nb::arg("theta"), nb::arg("labels"),
               "Mean and variance of the distance to the center.");
    module.def("mallows_theta", &mallows_theta, nb::arg("mean_distance"), nb::arg("labels"),
               "The most likely theta given a mean distance to the center.");
}

}  // namespace prefero::bindings
