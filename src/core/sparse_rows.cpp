#include "core/sparse_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/simd.hpp"

namespace prefero {

namespace {

// One entry of X after another, for narrow results and compilers without vectors.
template <typename Value>
void plain_product(CompressedRows<Value> X, const Value* dense, std::size_t width, double* result) {
    std::fill_n(result, X.rows * width, 0.0);
    for (std::size_t i = 0; i < X.rows; ++i, result += width)
        for (std::int64_t e = X.begin[i]; e < X.begin[i + 1]; ++e) {
            const Value* from = dense + static_cast<std::size_t>(X.column[e]) * width;
            for (std::size_t k = 0; k < width; ++k) result[k] += X.value[e] * from[k];
        }
}

#if defined(__GNUC__)

constexpr std::size_t kBytes = 32;

// A vector of kBytes bytes, and the doubles that its numbers become.
template <typename Value>
struct Vectors {
    typedef Value Part __attribute__((vector_size(kBytes)));
    static constexpr std::size_t kWidth = kBytes / sizeof(Value);
    typedef double Whole __attribute__((vector_size(kWidth * sizeof(double))));
};

// Some columns of the result, which stay in registers while a row of X passes by. The last
// vector ends with the row of the result and may overlap the one before.
struct Stripe {
    std::size_t start, last, width;
};

template <typename Vector, std::size_t kVectors, typename Value>
PREFERO_INLINE void stripe_product(CompressedRows<Value> X, const Value* dense, Stripe at,
                                   double* result) {
    const auto offset = [at](std::size_t k) {
        return k + 1 == kVectors ? at.last : at.start + k * Vector::kWidth;
    };
    for (std::size_t i = 0; i < X.rows; ++i, result += at.width) {
        typename Vector::Part total[kVectors] = {};
        for (std::int64_t e = X.begin[i]; e < X.begin[i + 1]; ++e) {
            const Value* from = dense + static_cast<std::size_t>(X.column[e]) * at.width;
            PREFERO_UNROLL
            for (std::size_t k = 0; k < kVectors; ++k) {
                typename Vector::Part x;
                std::memcpy(&x, from + offset(k), sizeof x);
                total[k] += X.value[e] * x;
            }
        }
        PREFERO_UNROLL
        for (std::size_t k = 0; k < kVectors; ++k) {
            const auto whole = __builtin_convertvector(total[k], typename Vector::Whole);
            std::memcpy(result + offset(k), &whole, sizeof whole);
        }
    }
}

// The stripe whose number of vectors is known at run time only.
template <typename Vector, std::size_t kVectors, typename Value>
PREFERO_INLINE void any_stripe(std::size_t vectors, CompressedRows<Value> X, const Value* dense,
                               Stripe at, double* result) {
    if (vectors == kVectors)
        stripe_product<Vector, kVectors>(X, dense, at, result);
    else if constexpr (kVectors > 1)
        any_stripe<Vector, kVectors - 1>(vectors, X, dense, at, result);
}

// As few stripes as the registers allow, of about the same width.
template <std::size_t kMost, typename Value>
PREFERO_INLINE void striped_product(CompressedRows<Value> X, const Value* dense, std::size_t width,
                                    double* result) {
    using Vector = Vectors<Value>;
    constexpr std::size_t numbers = Vector::kWidth;
    const std::size_t vectors = (width + numbers - 1) / numbers,
                      stripes = (vectors + kMost - 1) / kMost;
    for (std::size_t s = 0; s < stripes; ++s) {
        const std::size_t begin = vectors * s / stripes, end = vectors * (s + 1) / stripes;
        const std::size_t last = std::min((end - 1) * numbers, width - numbers);
        any_stripe<Vector, kMost>(end - begin, X, dense, {begin * numbers, last, width}, result);
    }
}

// Sixteen registers hold twelve vectors and what else is needed. Wider ones gain nothing: the
// second cache is the limit.
PREFERO_CLONES void vector_product(CompressedRows<double> X, const double* dense, std::size_t width,
                                   double* result) {
    striped_product<12>(X, dense, width, result);
}

PREFERO_CLONES void vector_product(CompressedRows<float> X, const float* dense, std::size_t width,
                                   double* result) {
    striped_product<12>(X, dense, width, result);
}

#endif

template <typename Value>
void product(CompressedRows<Value> X, const Value* dense, std::size_t width, double* result,
             Interruption& interruption) {
    constexpr std::size_t kRows = 4096;  // between two looks whether to go on
    for (std::size_t row = 0; row < X.rows; row += kRows) {
        const CompressedRows<Value> part{X.begin + row, X.column, X.value,
                                         std::min(kRows, X.rows - row)};
        interruption.spend(static_cast<std::size_t>(part.begin[part.rows] - part.begin[0]) * width);
        double* out = result + row * width;
#if defined(__GNUC__)
        if (width * sizeof(Value) >= kBytes) {
            vector_product(part, dense, width, out);
            continue;
        }
#endif
        plain_product(part, dense, width, out);
    }
}

}  // namespace

void sparse_product(CompressedRows<double> X, const double* dense, std::size_t width,
                    double* result, Interruption& interruption) {
    product(X, dense, width, result, interruption);
}

void sparse_product(CompressedRows<float> X, const float* dense, std::size_t width, double* result,
                    Interruption& interruption) {
    product(X, dense, width, result, interruption);
}

}  // namespace prefero
