#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "core/logistic.hpp"

namespace prefero::bindings {

namespace {

using Signs = In<std::int8_t, 2>;

Out<double, 1> logistic_derivatives(Change<double, 2> scores, Signs signs,
                                    nb::ndarray<const double, nb::c_contig, nb::device::cpu> weight,
                                    std::optional<Change<double, 2>> curvature) {
    require_same_shape(scores, signs);
    require(weight.ndim() == 1 || weight.ndim() == 2, "weight must have one axis or two");
    require(weight.shape(0) == scores.shape(0), "one weight a row is needed");
    require(weight.ndim() == 1 || weight.shape(1) == scores.shape(1),
            "one weight a row and problem is needed");
    if (curvature) require_same_shape(scores, *curvature);
    const LogisticProblems data{signs.data(), weight.data(), weight.ndim() == 2, scores.shape(0),
                                scores.shape(1)};
    auto losses = make_array<double, 1>({scores.shape(1)});
    Unlocked unlocked;
    prefero::logistic_derivatives(data, scores.data(), losses.data(),
                                  curvature ? curvature->data() : nullptr, unlocked);
    return losses;
}

}  // namespace

void bind_solvers(nb::module_& module) {
    module.def("logistic_derivatives", &logistic_derivatives, nb::arg("scores"), nb::arg("signs"),
               nb::arg("weight"), nb::arg("curvature") = nb::none(),
               "Losses of logistic regressions on the same rows, a column of scores each.\n\n"
               "Replaces the scores by minus the derivatives of the losses, and fills curvature, "
               "if given, with the second ones.");
}

}  // namespace prefero::bindings
