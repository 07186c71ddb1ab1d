#include "core/calibrated.hpp"

#include <algorithm>

#include "bindings/arrays.hpp"

namespace prefero::bindings {

namespace {

nb::tuple mean_offsets(In<double, 2> offsets, In<std::int64_t, 2> rows, In<double, 2> weights) {
    require_same_shape(rows, weights);
    const auto cases = static_cast<std::int64_t>(offsets.shape(0));
    require(std::all_of(rows.data(), rows.data() + rows.size(),
                        [cases](std::int64_t row) { return row >= 0 && row < cases; }),
            "rows must be row numbers of offsets");
    auto offset = make_array<double, 2>({rows.shape(0), offsets.shape(1)});
    auto side = make_array<double, 2>({rows.shape(0), offsets.shape(1)});
    {
        nb::gil_scoped_release unlocked;
        prefero::mean_offsets(rank_matrix(offsets),
                              {rows.data(), weights.data(), rows.shape(0), rows.shape(1)},
                              offset.data(), side.data());
    }
    return nb::make_tuple(offset, side);
}

}  // namespace

void bind_calibrated(nb::module_& module) {
    module.def("mean_offsets", &mean_offsets, nb::arg("offsets"), nb::arg("rows"),
               nb::arg("weights"),
               "Weighted means over neighbours of the labels' offsets from the zero point and of "
               "their sides.");
}

}  // namespace prefero::bindings
