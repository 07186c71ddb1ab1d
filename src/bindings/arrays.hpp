// The array types the bindings take and return, and the checks they share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "bindings/unlocked.hpp"
#include "core/aggregate.hpp"
#include "core/indices.hpp"
#include "core/rank_row.hpp"

namespace nb = nanobind;

namespace prefero::bindings {

template <typename T, int Dimensions>
using In = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// An array that the kernel changes.
template <typename T, int Dimensions>
using Change = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

template <typename T, int Dimensions>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>, nb::c_contig>;

// A new array, whose entries are still open; the returned object owns the memory that `data()`
// points to.
template <typename T, int Dimensions>
Out<T, Dimensions> make_open_array(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (std::size_t length : shape) size *= length;
    std::unique_ptr<T[]> data(new T[size]);
    nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Out<T, Dimensions>(data.release(), shape, owner);
}

// A new array of zeros.
template <typename T, int Dimensions>
Out<T, Dimensions> make_array(std::initializer_list<std::size_t> shape) {
    auto array = make_open_array<T, Dimensions>(shape);
    std::fill_n(array.data(), array.size(), T{});
    return array;
}

inline RankMatrix rank_matrix(const In<double, 2>& ranks) {
    return {ranks.data(), ranks.shape(0), ranks.shape(1)};
}

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

template <typename A, typename B>
void require_same_shape(const A& first, const B& second) {
    require(first.shape(0) == second.shape(0) && first.shape(1) == second.shape(1),
            "both arrays must have the same shape");
}

template <typename Indices>
void require_below(const Indices& indices, std::size_t bound, const char* message) {
    require(all_below(indices.data(), indices.size(), bound), message);
}

// Where the parts of an array of `end` entries start, and the end of the last.
using Starts = In<std::int64_t, 1>;

inline void require_starts(const Starts& starts, std::size_t end, const char* message) {
    require(valid_starts(starts.data(), starts.shape(0), end), message);
}

// Weighted sets of rows, as all kernels over many sets take them.
using Rows = In<std::int64_t, 1>;
using Weights = In<double, 1>;

inline Neighborhoods neighborhoods(const Starts& starts, const Rows& rows, const Weights& weights,
                                   std::size_t n_rows) {
    require_starts(starts, rows.shape(0), "starts must ascend from 0 to the number of members");
    require(rows.shape(0) == weights.shape(0), "rows and weights must have the same length");
    require_below(rows, n_rows, "rows must name rows of the matrix");
    return {starts.data(), rows.data(), weights.data(), starts.shape(0) - 1};
}

// One function a subject, in the file of that name; module.cpp calls them all.
void bind_boosting(nb::module_& module);
void bind_rankings(nb::module_& module);
void bind_cases(nb::module_& module);
void bind_calibrated(nb::module_& module);
void bind_consensus(nb::module_& module);
void bind_summed_trees(nb::module_& module);
void bind_margins(nb::module_& module);
void bind_ordering(nb::module_& module);
void bind_preferences(nb::module_& module);
void bind_solvers(nb::module_& module);
void bind_trees(nb::module_& module);

}  // namespace prefero::bindings
