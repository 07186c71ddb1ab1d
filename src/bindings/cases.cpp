#include "bindings/arrays.hpp"
#include "bindings/unlocked.hpp"
#include "core/distances.hpp"

namespace prefero::bindings {

namespace {

Out<double, 2> distances(In<double, 2> queries, In<double, 2> points) {
    require(queries.shape(1) == points.shape(1), "queries and points must have the same features");
    auto found = make_array<double, 2>({queries.shape(0), points.shape(0)});
    Unlocked unlocked;
    distances_to_cases(queries.data(), queries.shape(0), points.data(), points.shape(1), nullptr,
                       points.shape(0), found.data(), unlocked);
    return found;
}

Out<double, 2> distances_of(In<double, 2> queries, In<double, 2> points,
                            In<std::int64_t, 2> cases) {
    require(queries.shape(1) == points.shape(1), "queries and points must have the same features");
    require(queries.shape(0) == cases.shape(0), "queries and cases must have the same length");
    require_below(cases, points.shape(0), "cases must name rows of points");
    auto found = make_array<double, 2>({cases.shape(0), cases.shape(1)});
    Unlocked unlocked;
    distances_to_cases(queries.data(), queries.shape(0), points.data(), points.shape(1),
                       cases.data(), cases.shape(1), found.data(), unlocked);
    return found;
}

}  // namespace

void bind_cases(nb::module_& module) {
    module.def("distances", &distances, nb::arg("queries"), nb::arg("points"),
               "Euclidean distances of all queries and points.");
    module.def("distances_of", &distances_of, nb::arg("queries"), nb::arg("points"),
               nb::arg("cases"), "Euclidean distances of each query and some points of its own.");
}

}  // namespace prefero::bindings
