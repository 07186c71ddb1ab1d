#include "bindings/arrays.hpp"
#include "core/correlation.hpp"
#include "core/positions.hpp"

namespace prefero::bindings {

namespace {

Out<std::int64_t, 2> count_pairs(In<double, 2> first, In<double, 2> second) {
    require_same_shape(first, second);
    auto counts = make_array<std::int64_t, 2>({first.shape(0), 5});
    Unlocked unlocked;
    prefero::count_pairs(rank_matrix(first), rank_matrix(second), counts.data(), unlocked);
    return counts;
}

Out<double, 2> bucket_positions(In<double, 2> ranks, bool smallest) {
    auto positions = make_open_array<double, 2>({ranks.shape(0), ranks.shape(1)});
    nb::gil_scoped_release unlocked;
    prefero::bucket_positions(rank_matrix(ranks), smallest ? Bucket::kSmallest : Bucket::kMean,
                              positions.data());
    return positions;
}

Out<std::int64_t, 2> strict_ranks(In<double, 2> scores) {
    auto ranks = make_open_array<std::int64_t, 2>({scores.shape(0), scores.shape(1)});
    nb::gil_scoped_release unlocked;
    prefero::strict_ranks(scores.data(), scores.shape(0), scores.shape(1), ranks.data());
    return ranks;
}

bool have_ties(In<double, 2> ranks) {
    nb::gil_scoped_release unlocked;
    return prefero::have_ties(rank_matrix(ranks));
}

nb::tuple row_votes(In<double, 2> ranks) {
    auto votes = make_open_array<double, 2>({ranks.shape(0), ranks.shape(1)});
    auto comparisons = make_open_array<double, 2>({ranks.shape(0), ranks.shape(1)});
    {
        nb::gil_scoped_release unlocked;
        prefero::row_votes(rank_matrix(ranks), votes.data(), comparisons.data());
    }
    return nb::make_tuple(votes, comparisons);
}

Out<std::int8_t, 2> pair_signs(In<double, 2> ranks) {
    const std::size_t rows = ranks.shape(0), labels = ranks.shape(1);
    const std::size_t pairs = labels ? pair_count(labels) : 0;
    auto signs = make_open_array<std::int8_t, 2>({rows, pairs});
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < rows; ++i)
        prefero::pair_signs(ranks.data() + i * labels, labels, signs.data() + i * pairs);
    return signs;
}

}  // namespace

void bind_rankings(nb::module_& module) {
    module.def("count_pairs", &count_pairs, nb::arg("first"), nb::arg("second"),
               "Concordant, discordant, tied in first, in second, in both: five counts per row.");
    module.def("bucket_positions", &bucket_positions, nb::arg("ranks"), nb::arg("smallest"),
               "Mean or smallest bucket positions of each row; NaN stays NaN.");
    module.def("have_ties", &have_ties, nb::arg("ranks"), "Whether a row holds equal ranks.");
    module.def("row_votes", &row_votes, nb::arg("ranks"),
               "Of each label of a row the labels it beats less those that beat it, and those it "
               "is compared with, over c - 1.");
    module.def("strict_ranks", &strict_ranks, nb::arg("scores"),
               "Ranks 1..c by descending score; equal scores by label index.");
    module.def("pair_signs", &pair_signs, nb::arg("ranks"),
               "+1, -1 or 0 for the label pairs (0,1), (0,2), ..., (c-2,c-1) of each row.");
}

}  // namespace prefero::bindings
