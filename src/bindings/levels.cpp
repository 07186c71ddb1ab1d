#include "core/levels.hpp"

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "core/sample.hpp"

namespace prefero::bindings {

namespace {

using Drawn = In<std::uint16_t, 1>;
using Leaves = In<std::int32_t, 1>;

Out<std::uint16_t, 1> bootstrap_counts(std::uint64_t seed, std::size_t first, std::size_t count,
                                       std::size_t all) {
    require(all < (std::size_t{1} << 32), "there must be fewer than 2^32 rows");
    require(first <= all && count <= all - first, "the rows must be some of all rows");
    auto counts = make_array<std::uint16_t, 1>({count});
    nb::gil_scoped_release unlocked;
    prefero::bootstrap_counts(seed, {first, count, all}, counts.data());
    return counts;
}

template <class Number>
LevelRows<Number> level_rows(const Bins& bins, const In<Number, 2>& lanes, std::size_t width,
                             const Drawn& drawn, const Leaves& leaves, std::size_t n_leaves) {
    const std::size_t rows = bins.shape(0);
    require(lanes.shape(0) == rows && drawn.shape(0) == rows && leaves.shape(0) == rows,
            "bins, lanes, drawn and leaves must have the same rows");
    require(width >= 1 && width <= lanes.shape(1), "width must be a number of lanes");
    require_below(leaves, n_leaves, "leaves must name leaves of the tree");
    return {bin_matrix(bins), lanes.data(), lanes.shape(1), width, drawn.data(), leaves.data()};
}

template <class Number>
Out<double, 4> histograms(Bins bins, In<Number, 2> lanes, std::size_t width, Drawn drawn,
                          Leaves leaves, In<std::int32_t, 1> places,
                          In<std::uint16_t, 2> features) {
    const std::size_t nodes = features.shape(0), asked = features.shape(1);
    const auto rows = level_rows(bins, lanes, width, drawn, leaves, places.shape(0));
    for (std::size_t i = 0; i < places.shape(0); ++i)
        require(places.data()[i] >= -1 && places.data()[i] < static_cast<std::int64_t>(nodes),
                "places must be -1 or name rows of features");
    for (std::size_t i = 0; i < features.size(); ++i)
        require(features.data()[i] == kNoFeature || features.data()[i] < bins.shape(1),
                "features must name columns of bins");
    auto sums = make_array<double, 4>({nodes, asked, kBins, width});
    Unlocked unlocked;
    std::fill_n(sums.data(), sums.size(), 0.0);
    add_histograms(rows, {places.data(), features.data(), asked}, sums.data(), unlocked);
    return sums;
}

template <class Number>
Out<double, 2> leaf_sums(Bins bins, In<Number, 2> lanes, Drawn drawn, Leaves leaves,
                         std::size_t n_leaves) {
    const auto rows = level_rows(bins, lanes, lanes.shape(1), drawn, leaves, n_leaves);
    auto sums = make_array<double, 2>({n_leaves, lanes.shape(1)});
    Unlocked unlocked;
    std::fill_n(sums.data(), sums.size(), 0.0);
    add_leaves(rows, sums.data(), unlocked);
    return sums;
}

nb::tuple level_cuts(In<double, 4> sums, double min_leaf, In<bool, 2> nominal, bool category_sets) {
    const std::size_t nodes = sums.shape(0), asked = sums.shape(1), width = sums.shape(3);
    require(sums.shape(2) == kBins && width >= kLevelVector, "sums must be those of histograms");
    require(nominal.shape(0) == nodes && nominal.shape(1) == asked,
            "nominal must have an entry a histogram");
    const std::size_t count = nodes * asked;
    const bool any =
        std::any_of(nominal.data(), nominal.data() + count, [](bool own) { return own; });
    auto quality = make_array<float, 2>({nodes, asked});
    auto cuts = make_array<std::uint8_t, 2>({nodes, asked});
    auto marks = make_array<std::uint8_t, 3>({nodes, asked, 3});
    auto left = make_array<double, 3>({nodes, asked, width});
    auto sets = make_array<std::uint64_t, 3>({nodes, asked, any ? kBins / 64 : 0});
    {
        Unlocked unlocked;
        std::fill_n(left.data(), left.size(), 0.0);
        for (std::size_t i = 0; i < count; ++i) {
            unlocked.spend(kBins * width);
            const double* own = sums.data() + i * kBins * width;
            double* to = left.data() + i * width;
            BinSet chosen;
            const LevelCut found =
                nominal.data()[i]
                    ? best_level_categories(own, width, min_leaf, category_sets, to, chosen)
                    : best_level_cut(own, width, min_leaf, to);
            quality.data()[i] = found.cut.quality;
            cuts.data()[i] = nominal.data()[i] ? std::uint8_t{0} : last_bin_left(found.cut);
            std::uint8_t* mark = marks.data() + i * 3;
            mark[0] = found.varies;
            mark[1] = found.cut.missing_left;
            mark[2] = found.cut.missing_seen;
            if (any) std::copy_n(chosen.words, kBins / 64, sets.data() + i * (kBins / 64));
        }
    }
    return nb::make_tuple(quality, cuts, marks, left, sets);
}

Out<std::int64_t, 1> category_order(In<double, 2> sums, std::size_t begin, std::size_t end) {
    require(sums.shape(0) > 0 && 1 <= begin && begin <= end && end <= sums.shape(1),
            "the vector must be some lanes behind the weight");
    const auto order = order_of_categories(sums.data(), sums.shape(0), sums.shape(1), begin, end);
    auto found = make_array<std::int64_t, 1>({order.size()});
    std::copy(order.begin(), order.end(), found.data());
    return found;
}

template <class Number>
void bind_sums(nb::module_& module) {
    module.def("level_histograms", &histograms<Number>, nb::arg("bins"), nb::arg("lanes"),
               nb::arg("width"), nb::arg("drawn"), nb::arg("leaves"), nb::arg("places"),
               nb::arg("features"),
               "The first lanes of rows, summed by open node, feature asked for and bin.");
    module.def("leaf_sums", &leaf_sums<Number>, nb::arg("bins"), nb::arg("lanes"), nb::arg("drawn"),
               nb::arg("leaves"), nb::arg("n_leaves"), "All lanes of rows, summed by leaf.");
}

}  // namespace

void bind_levels(nb::module_& module) {
    module.def("bootstrap_counts", &bootstrap_counts, nb::arg("seed"), nb::arg("first"),
               nb::arg("count"), nb::arg("all"),
               "How often rows from the first on occur in the bootstrap sample of all rows.");
    bind_sums<float>(module);
    bind_sums<double>(module);
    module.def("level_cuts", &level_cuts, nb::arg("sums"), nb::arg("min_leaf"), nb::arg("nominal"),
               nb::arg("category_sets"),
               "For each node and feature of histograms: the quality of the best cut, its last bin "
               "left; whether rows lie in two bins, missing values go left, and there are some; "
               "the sums of the rows that go left; and, if a feature is nominal, the bits of the "
               "categories that do.");
    module.def("category_order", &category_order, nb::arg("sums"), nb::arg("begin"), nb::arg("end"),
               "The order of categories along the line on which their mean vectors differ most.");
}

}  // namespace prefero::bindings
