#include "core/summed_trees.hpp"

#include "bindings/arrays.hpp"
#include "bindings/tree_arrays.hpp"
#include "core/sample.hpp"
#include "core/summed_rows.hpp"

namespace prefero::bindings {

namespace {

using Drawn = In<std::uint16_t, 1>;
using Leaves = In<std::int32_t, 1>;
using Categorical = In<bool, 1>;

RowRange row_range(std::size_t first, std::size_t count, std::size_t all) {
    require(all < (std::size_t{1} << 32), "there must be fewer than 2^32 rows");
    require(first <= all && count <= all - first, "the rows must be some of all rows");
    return {first, count, all};
}

Out<std::uint16_t, 1> bootstrap_counts(std::uint64_t seed, std::size_t first, std::size_t count,
                                       std::size_t all) {
    const RowRange range = row_range(first, count, all);
    auto counts = make_array<std::uint16_t, 1>({count});
    nb::gil_scoped_release unlocked;
    prefero::bootstrap_counts(seed, range, counts.data());
    return counts;
}

Out<std::uint16_t, 1> share_counts(std::uint64_t seed, std::size_t first, std::size_t count,
                                   std::size_t all, double share) {
    const RowRange range = row_range(first, count, all);
    require(share >= 0, "share must not be negative");
    auto counts = make_array<std::uint16_t, 1>({count});
    nb::gil_scoped_release unlocked;
    prefero::share_counts(seed, range, share, counts.data());
    return counts;
}

template <class Number>
SummedRows<Number> summed_rows(const Bins& bins, const In<Number, 2>& statistics, std::size_t width,
                               const Drawn& drawn, const Leaves& leaves, std::size_t n_leaves) {
    const std::size_t rows = bins.shape(0);
    require(statistics.shape(0) == rows && drawn.shape(0) == rows && leaves.shape(0) == rows,
            "bins, statistics, drawn and leaves must have the same rows");
    require(width >= 1 && width <= statistics.shape(1), "width must be a number of statistics");
    require_below(leaves, n_leaves, "leaves must name leaves of the tree");
    return {bin_matrix(bins), statistics.data(), statistics.shape(1), width,
            drawn.data(),     leaves.data()};
}

void require_features(const In<std::uint16_t, 2>& features, std::size_t bound,
                      const char* message) {
    for (std::size_t i = 0; i < features.size(); ++i)
        require(features.data()[i] == kNoFeature || features.data()[i] < bound, message);
}

template <class Number>
Out<double, 4> node_histograms(Bins bins, In<Number, 2> statistics, std::size_t width, Drawn drawn,
                               Leaves leaves, In<std::int32_t, 1> places,
                               In<std::uint16_t, 2> features) {
    const std::size_t nodes = features.shape(0), asked = features.shape(1);
    const auto rows = summed_rows(bins, statistics, width, drawn, leaves, places.shape(0));
    for (std::size_t i = 0; i < places.shape(0); ++i)
        require(places.data()[i] >= -1 && places.data()[i] < static_cast<std::int64_t>(nodes),
                "places must be -1 or name rows of features");
    require_features(features, bins.shape(1), "features must name columns of bins");
    auto sums = make_open_array<double, 4>({nodes, asked, kBins, width});
    Unlocked unlocked;
    std::fill_n(sums.data(), sums.size(), 0.0);
    add_histograms(rows, {places.data(), features.data(), asked}, sums.data(), unlocked);
    return sums;
}

template <class Number>
Out<double, 2> leaf_sums(Bins bins, In<Number, 2> statistics, Drawn drawn, Leaves leaves,
                         std::size_t n_leaves) {
    const auto rows = summed_rows(bins, statistics, statistics.shape(1), drawn, leaves, n_leaves);
    auto sums = make_array<double, 2>({n_leaves, statistics.shape(1)});
    Unlocked unlocked;
    add_leaves(rows, sums.data(), unlocked);
    return sums;
}

nb::tuple node_cuts(In<double, 4> sums, In<std::uint16_t, 2> features, Categorical categorical,
                    double min_leaf, bool category_sets) {
    const std::size_t nodes = sums.shape(0), asked = sums.shape(1), width = sums.shape(3);
    require(sums.shape(2) == kBins && width >= SummedSpread::kVector,
            "sums must be those of histograms");
    require(features.shape(0) == nodes && features.shape(1) == asked,
            "features must have one entry per histogram");
    require_features(features, categorical.shape(0), "features must have an entry in categorical");
    auto varied = make_array<std::int32_t, 1>({nodes});
    auto quality = make_array<double, 1>({nodes});
    auto feature = make_array<std::uint16_t, 1>({nodes});
    auto cut = make_array<std::uint8_t, 2>({nodes, 4});
    auto categories = make_array<std::uint64_t, 2>({nodes, kBins / 64});
    auto left = make_array<double, 2>({nodes, width});
    {
        Unlocked unlocked;
        find_node_cuts(SummedSpread{width, {}, false}, sums.data(), features.data(), nodes, asked,
                       categorical.data(), {min_leaf, category_sets},
                       {varied.data(), quality.data(), feature.data(), cut.data(),
                        reinterpret_cast<BinSet*>(categories.data()), left.data()},
                       unlocked);
    }
    return nb::make_tuple(varied, quality, feature, cut, categories, left);
}

template <class T>
Out<T, 1> copied(const std::vector<T>& items) {
    auto array = make_array<T, 1>({items.size()});
    std::copy(items.begin(), items.end(), array.data());
    return array;
}

nb::dict arrays_of(Tree tree, std::size_t labels) {
    std::vector<Tree> one;
    one.push_back(std::move(tree));
    return tree_arrays(one, labels);
}

std::vector<std::uint8_t> copied(const Categorical& categorical) {
    require(categorical.shape(0) > 0 && categorical.shape(0) < kNoFeature,
            "there must be 1 to 65534 features");
    return {categorical.data(), categorical.data() + categorical.shape(0)};
}

class LevelTreeBinding {
  public:
    LevelTreeBinding(std::uint64_t seed, In<double, 1> totals, Categorical categorical, double unit,
                     bool signs, std::size_t max_features, std::size_t max_depth,
                     std::size_t min_split, std::size_t min_leaf, double min_decrease, double gamma)
        : tree_(seed, checked(totals),
                SummedSpread{totals.shape(0), SpreadRules{unit, gamma}, signs}, copied(categorical),
                max_features, {max_depth, min_split, min_leaf, 0, min_decrease, gamma, false}) {}

    bool done() {
        const OneThread alone(busy_);
        return tree_.done();
    }

    nb::list requests(std::size_t most_bytes) {
        const OneThread alone(busy_);
        nb::list asked;
        for (const LevelTree::Request& request : tree_.requests(most_bytes)) {
            auto features = make_array<std::uint16_t, 2>({request.nodes.size(), request.asked});
            std::copy(request.features.begin(), request.features.end(), features.data());
            asked.append(nb::make_tuple(copied(request.places), features));
        }
        return asked;
    }

    void learn(std::size_t number, In<std::int32_t, 1> varied, In<double, 1> quality,
               In<std::uint16_t, 1> feature, In<std::uint8_t, 2> cut,
               In<std::uint64_t, 2> categories, In<double, 2> left) {
        const OneThread alone(busy_);
        require(number < tree_.requested().size(), "number must name a request");
        const LevelTree::Request& request = tree_.requested()[number];
        const std::size_t nodes = request.nodes.size();
        require(varied.shape(0) == nodes && quality.shape(0) == nodes &&
                    feature.shape(0) == nodes && cut.shape(0) == nodes && cut.shape(1) == 4 &&
                    categories.shape(0) == nodes && categories.shape(1) == kBins / 64 &&
                    left.shape(0) == nodes && left.shape(1) == tree_.width(),
                "the cuts must be those of the nodes of the request");
        for (std::size_t i = 0; i < nodes; ++i)
            require(feature.data()[i] < tree_.features(), "feature must name features");
        // They are read and nothing is written.
        tree_.learn(
            request,
            {const_cast<std::int32_t*>(varied.data()), const_cast<double*>(quality.data()),
             const_cast<std::uint16_t*>(feature.data()), const_cast<std::uint8_t*>(cut.data()),
             reinterpret_cast<BinSet*>(const_cast<std::uint64_t*>(categories.data())),
             const_cast<double*>(left.data())});
    }

    void split() {
        const OneThread alone(busy_);
        tree_.split();
    }

    nb::dict so_far() {
        const OneThread alone(busy_);
        return arrays_of(tree_.so_far(), 1);
    }

    nb::dict grown(In<double, 2> sums, std::size_t labels, std::size_t votes_at,
                   std::size_t known_at) {
        const OneThread alone(busy_);
        require(sums.shape(0) == tree_.leaves(), "sums must have one row per leaf");
        require(labels > 0 && std::max(votes_at, known_at) + labels <= sums.shape(1),
                "votes and comparisons must be columns of sums");
        return arrays_of(tree_.grown(sums.data(), sums.shape(1), {labels, votes_at, known_at}),
                         labels);
    }

  private:
    static const double* checked(const In<double, 1>& totals) {
        require(totals.shape(0) >= SummedSpread::kVector, "totals must be those of vectors");
        return totals.data();
    }

    LevelTree tree_;
    std::atomic<bool> busy_{false};
};

class BoostedTreeBinding {
  public:
    BoostedTreeBinding(std::uint64_t seed, Categorical categorical, std::size_t labels,
                       double learning_rate, double penalty, std::size_t tree_features,
                       bool category_sets, std::size_t max_depth, std::size_t min_leaf,
                       std::size_t max_leaves)
        : labels_(labels),
          tree_(seed, copied(categorical), labels,
                {learning_rate,
                 penalty,
                 tree_features,
                 category_sets,
                 {max_depth, 2, min_leaf, max_leaves, 0, 0, false}}) {}

    Out<std::uint16_t, 1> features() const { return copied(tree_.features()); }

    Out<std::int32_t, 1> asked() {
        const OneThread alone(busy_);
        return copied(tree_.asked());
    }

    void learn(In<double, 4> histograms) {
        const OneThread alone(busy_);
        require(histograms.shape(0) == tree_.asked().size() && histograms.shape(0) > 0 &&
                    histograms.shape(1) == tree_.features().size() &&
                    histograms.shape(2) == kBins && histograms.shape(3) == tree_.width(),
                "the histograms must be those that were asked for");
        Unlocked unlocked;
        tree_.learn(histograms.data(), unlocked);
    }

    nb::dict so_far() {
        const OneThread alone(busy_);
        return arrays_of(tree_.so_far(), 1);
    }

    nb::dict grown() {
        const OneThread alone(busy_);
        return arrays_of(tree_.grown(), labels_);
    }

  private:
    std::size_t labels_;
    BoostedTree tree_;
    std::atomic<bool> busy_{false};
};

template <class Number>
void bind_sums(nb::module_& module) {
    module.def("node_histograms", &node_histograms<Number>, nb::arg("bins"), nb::arg("statistics"),
               nb::arg("width"), nb::arg("drawn"), nb::arg("leaves"), nb::arg("places"),
               nb::arg("features"),
               "The first statistics of rows, summed by open node, feature asked for and bin.");
    module.def("leaf_sums", &leaf_sums<Number>, nb::arg("bins"), nb::arg("statistics"),
               nb::arg("drawn"), nb::arg("leaves"), nb::arg("n_leaves"),
               "All statistics of rows, summed by leaf.");
}

}  // namespace

void bind_summed_trees(nb::module_& module) {
    module.def("bootstrap_counts", &bootstrap_counts, nb::arg("seed"), nb::arg("first"),
               nb::arg("count"), nb::arg("all"),
               "How often rows from the first on occur in the bootstrap sample of all rows.");
    module.def(
        "share_counts", &share_counts, nb::arg("seed"), nb::arg("first"), nb::arg("count"),
        nb::arg("all"), nb::arg("share"),
        "Which rows from the first on are in a sample of about a share of all rows: 1 or 0.");
    bind_sums<float>(module);
    bind_sums<double>(module);
    module.def("node_cuts", &node_cuts, nb::arg("sums"), nb::arg("features"),
               nb::arg("categorical"), nb::arg("min_leaf"), nb::arg("category_sets"),
               "For each node of histograms: how many features have rows in two bins; the quality "
               "and the feature of the best cut; its last bin left and first bin right, whether "
               "missing values go left, and whether there are some; the bits of the categories "
               "that go left; and the sums of the rows that do.");
    nb::class_<LevelTreeBinding>(module, "LevelTree",
                                 "A tree of a forest that is grown from summed histograms.")
        .def(nb::init<std::uint64_t, In<double, 1>, Categorical, double, bool, std::size_t,
                      std::size_t, std::size_t, std::size_t, double, double>(),
             nb::arg("seed"), nb::arg("totals"), nb::arg("categorical"), nb::kw_only(),
             nb::arg("unit"), nb::arg("signs"), nb::arg("max_features"), nb::arg("max_depth"),
             nb::arg("min_split"), nb::arg("min_leaf"), nb::arg("min_decrease"), nb::arg("gamma"))
        .def_prop_ro("done", &LevelTreeBinding::done, "Whether no node is open.")
        .def("requests", &LevelTreeBinding::requests, nb::arg("most_bytes"),
             "The places of leaves and the features of histograms that the open nodes ask for.")
        .def("learn", &LevelTreeBinding::learn, nb::arg("number"), nb::arg("varied"),
             nb::arg("quality"), nb::arg("feature"), nb::arg("cut"), nb::arg("categories"),
             nb::arg("left"), "Take the cuts that node_cuts found for a request.")
        .def("split", &LevelTreeBinding::split,
             "Split the open nodes that may be split, unless some ask for more features.")
        .def("so_far", &LevelTreeBinding::so_far,
             "The tree as arrays, its open nodes as leaves of score 0.")
        .def("grown", &LevelTreeBinding::grown, nb::arg("sums"), nb::arg("labels"),
             nb::arg("votes_at"), nb::arg("known_at"),
             "The tree as arrays; leaves have the mean votes of the leaf sums, and the mean "
             "comparisons seen unless known_at is 0.");
    nb::class_<BoostedTreeBinding>(module, "BoostedTree",
                                   "A tree of Newton steps that is grown from summed histograms.")
        .def(nb::init<std::uint64_t, Categorical, std::size_t, double, double, std::size_t, bool,
                      std::size_t, std::size_t, std::size_t>(),
             nb::arg("seed"), nb::arg("categorical"), nb::arg("labels"), nb::kw_only(),
             nb::arg("learning_rate"), nb::arg("penalty"), nb::arg("tree_features"),
             nb::arg("category_sets"), nb::arg("max_depth"), nb::arg("min_leaf"),
             nb::arg("max_leaves"))
        .def_prop_ro("features", &BoostedTreeBinding::features, nb::rv_policy::move,
                     "The features it may test.")
        .def_prop_ro("asked", &BoostedTreeBinding::asked, nb::rv_policy::move,
                     "The leaves whose histograms are needed next; none if it is grown.")
        .def("learn", &BoostedTreeBinding::learn, nb::arg("histograms"),
             "Take the histograms asked for: leaves x features x bins x statistics.")
        .def("so_far", &BoostedTreeBinding::so_far,
             "The tree as arrays, its open nodes as leaves of score 0.")
        .def("grown", &BoostedTreeBinding::grown, "The tree as arrays; its leaves are steps.");
}

}  // namespace prefero::bindings
