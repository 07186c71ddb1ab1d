// Rows of features in compressed form, and their product with a dense matrix.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interruption.hpp"

namespace prefero {

template <typename Value>
struct CompressedRows {
    const std::int64_t* begin;
    const std::int32_t* column;
    const Value* value;
    std::size_t rows;
};

using SparseRows = CompressedRows<double>;

// result = X dense: `dense` holds `width` values per column of X, `result` as many per row. In
// single precision the entries of a sum are added as floats, which takes half the time.
void sparse_product(CompressedRows<double> X, const double* dense, std::size_t width,
                    double* result, Interruption& interruption);
void sparse_product(CompressedRows<float> X, const float* dense, std::size_t width, double* result,
                    Interruption& interruption);

}  // namespace prefero
