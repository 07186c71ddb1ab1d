#include "core/calibrated.hpp"

#include <nanobind/stl/pair.h>

#include <utility>

#include "bindings/arrays.hpp"

namespace prefero::bindings {

namespace {

std::pair<Out<double, 2>, Out<double, 2>> mean_offsets(In<double, 2> offsets, Starts starts,
                                                       Rows rows, Weights weights) {
    const Neighborhoods sets = neighborhoods(starts, rows, weights, offsets.shape(0));
    auto offset = make_array<double, 2>({sets.count, offsets.shape(1)});
    auto side = make_array<double, 2>({sets.count, offsets.shape(1)});
    {
        Unlocked unlocked;
        prefero::mean_offsets(rank_matrix(offsets), sets, offset.data(), side.data(), unlocked);
    }
    return {offset, side};
}

}  // namespace

void bind_calibrated(nb::module_& module) {
    module.def("mean_offsets", &mean_offsets, nb::arg("offsets"), nb::arg("starts"),
               nb::arg("rows"), nb::arg("weights"),
               "Weighted means, set by set, of the labels' offsets from the virtual label and of "
               "their sides.");
}

}  // namespace prefero::bindings
