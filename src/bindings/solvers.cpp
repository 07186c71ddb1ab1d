#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/arrays.hpp"
#include "core/logistic.hpp"
#include "core/newton_logistic.hpp"

namespace prefero::bindings {

namespace {

using Signs = In<std::int8_t, 2>;

// One per row, or one per row and problem.
using ProblemWeights = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

LogisticProblems logistic_problems(const Signs& signs, const ProblemWeights& weight) {
    require(weight.ndim() == 1 || weight.ndim() == 2, "weight must have one axis or two");
    require(weight.shape(0) == signs.shape(0), "one weight per row is needed");
    require(weight.ndim() == 1 || weight.shape(1) == signs.shape(1),
            "one weight per row and problem is needed");
    return {signs.data(), weight.data(), weight.ndim() == 2, signs.shape(0), signs.shape(1)};
}

Out<double, 1> logistic_derivatives(Change<double, 2> scores, Signs signs, ProblemWeights weight,
                                    std::optional<Change<double, 2>> curvature) {
    require_same_shape(scores, signs);
    const LogisticProblems data = logistic_problems(signs, weight);
    if (curvature) require_same_shape(scores, *curvature);
    auto losses = make_array<double, 1>({scores.shape(1)});
    Unlocked unlocked;
    prefero::logistic_derivatives(data, scores.data(), losses.data(),
                                  curvature ? curvature->data() : nullptr, unlocked);
    return losses;
}

Out<double, 2> sign_weights(Signs signs, ProblemWeights weight) {
    const LogisticProblems data = logistic_problems(signs, weight);
    auto weights = make_array<double, 2>({2, data.problems});
    Unlocked unlocked;
    prefero::sign_weights(data, weights.data(), unlocked);
    return weights;
}

LinearModels linear_models(const In<float, 2>& x, const Signs& signs,
                           const In<std::int64_t, 1>& problems, const In<float, 2>& coefficients) {
    require(x.shape(0) == signs.shape(0), "X and signs must have the same rows");
    require(coefficients.shape(1) == x.shape(1), "one coefficient per column of X is needed");
    require(coefficients.shape(0) == problems.shape(0),
            "one row of coefficients per problem is needed");
    require_below(problems, signs.shape(1), "problems must name columns of signs");
    return {x.data(), x.shape(1), problems.data(), coefficients.data(), problems.shape(0)};
}

Out<double, 2> logistic_gradients(In<float, 2> x, Signs signs, ProblemWeights weight,
                                  In<std::int64_t, 1> problems, In<float, 2> coefficients) {
    const LogisticProblems data = logistic_problems(signs, weight);
    const LinearModels models = linear_models(x, signs, problems, coefficients);
    auto gradients = make_array<double, 2>({models.count, models.columns});
    Unlocked unlocked;
    prefero::logistic_gradients(data, models, gradients.data(), unlocked);
    return gradients;
}

Out<double, 2> logistic_hessians(In<float, 2> x, Signs signs, ProblemWeights weight,
                                 In<std::int64_t, 1> problems, In<float, 2> coefficients) {
    const LogisticProblems data = logistic_problems(signs, weight);
    const LinearModels models = linear_models(x, signs, problems, coefficients);
    auto triangles =
        make_array<double, 2>({models.count, models.columns * (models.columns + 1) / 2});
    Unlocked unlocked;
    prefero::logistic_hessians(data, models, triangles.data(), unlocked);
    return triangles;
}

}  // namespace

void bind_solvers(nb::module_& module) {
    module.def(
        "sign_weights", &sign_weights, nb::arg("signs"), nb::arg("weight"),
        "The weights of the rows with positive and with negative signs, a column per problem.");
    module.def("logistic_derivatives", &logistic_derivatives, nb::arg("scores"), nb::arg("signs"),
               nb::arg("weight"), nb::arg("curvature") = nb::none(),
               "Losses of logistic regressions on the same rows, a column of scores each.\n\n"
               "Replaces the scores by minus the derivatives of the losses, and fills curvature, "
               "if given, with the second ones.");
    module.def("logistic_gradients", &logistic_gradients, nb::arg("X"), nb::arg("signs"),
               nb::arg("weight"), nb::arg("problems"), nb::arg("coef"),
               "Gradients of the losses of some logistic regressions, in single precision.");
    module.def("logistic_hessians", &logistic_hessians, nb::arg("X"), nb::arg("signs"),
               nb::arg("weight"), nb::arg("problems"), nb::arg("coef"),
               "The upper triangles of their Hessians, row by row, in single precision.");
}

}  // namespace prefero::bindings
