#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "core/label_boost.hpp"
#include "core/pair_logistic.hpp"

namespace prefero::bindings {

namespace {

using Utilities = std::optional<In<double, 2>>;

const double* utilities_of(const Utilities& utilities, const In<double, 2>& ranks) {
    if (!utilities) return nullptr;
    require_same_shape(ranks, *utilities);
    return utilities->data();
}

RankedRows ranked_rows(const Bins& bins, const In<double, 2>& ranks, const In<double, 1>& weights,
                       const Utilities& utilities) {
    require(ranks.shape(0) == bins.shape(0), "bins and ranks must have the same rows");
    require(weights.shape(0) == bins.shape(0), "weights must have one entry per row");
    return {bin_matrix(bins), rank_matrix(ranks), weights.data(), utilities_of(utilities, ranks)};
}

// Boosting that goes on from call to call.
class Booster {
  public:
    Booster(Bins bins, In<bool, 1> categorical, In<double, 2> ranks, In<double, 1> weights,
            Bins watched_bins, In<double, 2> watched_ranks, In<double, 1> watched_weights,
            In<double, 1> start, Utilities utilities, Utilities watched_utilities,
            double learning_rate, double penalty, double row_share, std::size_t tree_features,
            bool category_sets, std::size_t max_depth, std::size_t min_leaf, std::size_t max_leaves)
        : booster_(
              checked(bins, categorical, ranks, weights, start, utilities), categorical.data(),
              watched(watched_bins, watched_ranks, watched_weights, watched_utilities, bins, ranks),
              start.data(),
              {learning_rate,
               penalty,
               row_share,
               {bins.shape(1), tree_features, false, category_sets},
               {max_depth, 2, min_leaf, max_leaves, 0, 0, false}}) {}

    Out<double, 1> add(In<std::uint64_t, 1> seeds) {
        const OneThread alone(busy_);
        auto losses = make_array<double, 1>({seeds.shape(0)});
        Unlocked unlocked(&stopped_);
        for (std::size_t t = 0; t < seeds.shape(0); ++t)
            losses.data()[t] = booster_.add(seeds.data()[t], unlocked);
        return losses;
    }

    nb::dict trees() {
        const OneThread alone(busy_);
        return tree_arrays(booster_.trees(), booster_.labels());
    }

    void stop() { stopped_ = true; }

  private:
    static RankedRows checked(const Bins& bins, const In<bool, 1>& categorical,
                              const In<double, 2>& ranks, const In<double, 1>& weights,
                              const In<double, 1>& start, const Utilities& utilities) {
        require_growable(bins);
        require(bins.shape(0) > 0 && ranks.shape(1) > 0, "there must be rows and labels");
        require(categorical.shape(0) == bins.shape(1),
                "categorical must have one entry per feature");
        require(start.shape(0) == ranks.shape(1), "start must have one entry per label");
        return ranked_rows(bins, ranks, weights, utilities);
    }

    static RankedRows watched(const Bins& bins, const In<double, 2>& ranks,
                              const In<double, 1>& weights, const Utilities& utilities,
                              const Bins& own_bins, const In<double, 2>& own_ranks) {
        require(bins.shape(1) == own_bins.shape(1) && ranks.shape(1) == own_ranks.shape(1),
                "watched rows must have the same features and labels");
        return ranked_rows(bins, ranks, weights, utilities);
    }

    LabelBooster booster_;
    std::atomic<bool> stopped_{false}, busy_{false};
};

ScoredRanks scored_ranks(const In<double, 2>& ranks, const In<double, 2>& scores,
                         const Utilities& utilities) {
    require_same_shape(ranks, scores);
    const std::vector<double> zero(ranks.shape(1));
    ScoredRanks scored(rank_matrix(ranks), zero.data(), utilities_of(utilities, ranks));
    std::copy_n(scores.data(), scores.size(), scored.scores());
    return scored;
}

Out<double, 1> pair_logistic_losses(In<double, 2> ranks, In<double, 2> scores,
                                    Utilities utilities) {
    ScoredRanks scored = scored_ranks(ranks, scores, utilities);
    auto losses = make_array<double, 1>({ranks.shape(0)});
    Unlocked unlocked;
    scored.losses(losses.data(), unlocked);
    return losses;
}

Out<float, 2> pair_logistic_derivatives(In<double, 2> ranks, In<double, 2> scores,
                                        Utilities utilities) {
    ScoredRanks scored = scored_ranks(ranks, scores, utilities);
    const std::size_t rows = ranks.shape(0), labels = ranks.shape(1);
    auto both = make_array<float, 2>({rows, 2 * labels});
    {
        Unlocked unlocked;
        std::vector<std::uint32_t> all(rows);
        std::iota(all.begin(), all.end(), 0u);
        scored.derivatives(all.data(), rows, both.data(), labels, 2 * labels, unlocked);
    }
    return both;
}

}  // namespace

void bind_boosting(nb::module_& module) {
    nb::class_<Booster>(module, "LabelBooster", "Gradient boosting on the pairs of labels.")
        .def(nb::init<Bins, In<bool, 1>, In<double, 2>, In<double, 1>, Bins, In<double, 2>,
                      In<double, 1>, In<double, 1>, Utilities, Utilities, double, double, double,
                      std::size_t, bool, std::size_t, std::size_t, std::size_t>(),
             nb::arg("bins"), nb::arg("categorical"), nb::arg("ranks"), nb::arg("weights"),
             nb::arg("watched_bins"), nb::arg("watched_ranks"), nb::arg("watched_weights"),
             nb::arg("start"), nb::arg("utilities") = nb::none(),
             nb::arg("watched_utilities") = nb::none(), nb::kw_only(), nb::arg("learning_rate"),
             nb::arg("penalty"), nb::arg("row_share"), nb::arg("tree_features"),
             nb::arg("category_sets"), nb::arg("max_depth"), nb::arg("min_leaf"),
             nb::arg("max_leaves"))
        .def("add", &Booster::add, nb::arg("seeds"),
             "Add a tree per seed; the loss of the watched rows after each.")
        .def("trees", &Booster::trees, "All trees as arrays that stand one after the other.")
        .def("stop", &Booster::stop, "End growing in whatever thread, by KeyboardInterrupt.");
    module.def("pair_logistic_losses", &pair_logistic_losses, nb::arg("ranks"), nb::arg("scores"),
               nb::arg("utilities") = nb::none(),
               "The pairwise logistic loss of each row's scores.");
    module.def("pair_logistic_derivatives", &pair_logistic_derivatives, nb::arg("ranks"),
               nb::arg("scores"), nb::arg("utilities") = nb::none(),
               "The derivatives of the losses by the scores, first ones before second ones.");
}

}  // namespace prefero::bindings
