#include "core/logistic.hpp"

#include <algorithm>

#include "core/exponential.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// So many entries of a row at a time, which the first cache holds.
constexpr std::size_t kChunk = 512;
// Margins further from 0 are as good as there.
constexpr double kFarthest = 700;

// So many numbers from 1 to 2 have a product that a double holds.
constexpr std::size_t kMostFactors = 1000;

struct Chunk {
    double weights[kChunk];
    double exps[kChunk];      // of minus the size of the margin
    double products[kChunk];  // of one plus these, over rows that count alike
};

PREFERO_WIDE void read(const double* scores, const std::int8_t* signs, const double* weights,
                       std::size_t count, Chunk& chunk) {
    for (std::size_t k = 0; k < count; ++k) {
        const double size = scores[k] < 0 ? scores[k] : -scores[k];
        chunk.exps[k] = size > -kFarthest ? size : -kFarthest;
    }
    for (std::size_t k = 0; k < count; ++k) chunk.weights[k] = signs[k] == 0 ? 0 : weights[k];
}

// With u the number next to 1 + e, log(u) e / (u - 1) is the logarithm of 1 + e also for a small e.
void add_losses(const double* scores, const std::int8_t* signs, std::size_t count, Chunk& chunk,
                double* losses) {
    for (std::size_t k = 0; k < count; ++k) chunk.products[k] = 1 + chunk.exps[k];
    take_logarithms(chunk.products, count);
    for (std::size_t k = 0; k < count; ++k) {
        const double margin = signs[k] * scores[k], wrong = margin < 0 ? -margin : 0;
        const double e = chunk.exps[k], above = (1 + e) - 1;
        const double logarithm = above == 0 ? e : chunk.products[k] * (e / above);
        losses[k] += chunk.weights[k] * (logarithm + wrong);
    }
}

// The same where all rows count alike, but for the logarithms: one of a product stands for many.
PREFERO_WIDE void add_factors(const double* scores, const std::int8_t* signs, std::size_t count,
                              Chunk& chunk, double* losses) {
    for (std::size_t k = 0; k < count; ++k) {
        const double margin = signs[k] * scores[k], wrong = margin < 0 ? -margin : 0;
        chunk.products[k] *= signs[k] == 0 ? 1 : 1 + chunk.exps[k];
        losses[k] += chunk.weights[k] * wrong;
    }
}

// Adds the logarithms of the products to the losses and begins anew.
void add_products(double weight, std::size_t count, Chunk& chunk, double* losses) {
    take_logarithms(chunk.products, count);
    for (std::size_t k = 0; k < count; ++k) losses[k] += weight * chunk.products[k];
    std::fill_n(chunk.products, count, 1.0);
}

PREFERO_WIDE void differentiate(double* scores, const std::int8_t* signs, const Chunk& chunk,
                                std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        const double margin = signs[k] * scores[k];
        const double error = (margin < 0 ? 1 : chunk.exps[k]) / (1 + chunk.exps[k]);
        scores[k] = chunk.weights[k] * signs[k] * error;
    }
}

PREFERO_WIDE void bend(const Chunk& chunk, std::size_t count, double* curvatures) {
    for (std::size_t k = 0; k < count; ++k) {
        const double below = 1 + chunk.exps[k];
        curvatures[k] = chunk.weights[k] * (chunk.exps[k] / (below * below));
    }
}

PREFERO_WIDE void add_weights(const std::int8_t* signs, const double* weights, std::size_t count,
                              double* first, double* second) {
    for (std::size_t k = 0; k < count; ++k) {
        first[k] += signs[k] > 0 ? weights[k] : 0;
        second[k] += signs[k] < 0 ? weights[k] : 0;
    }
}

// The weights of a row in some problems, which are written to `same` if it has but one.
const double* weights_of(const LogisticProblems& data, std::size_t row, std::size_t begin,
                         std::size_t count, double* same) {
    if (data.weight_a_problem) return data.weights + row * data.problems + begin;
    std::fill_n(same, count, data.weights[row]);
    return same;
}

}  // namespace

void sign_weights(const LogisticProblems& data, double* weights, Interruption& interruption) {
    double same[kChunk];
    std::fill_n(weights, 2 * data.problems, 0.0);
    for (std::size_t begin = 0; begin < data.problems; begin += kChunk) {
        const std::size_t count = std::min(kChunk, data.problems - begin);
        for (std::size_t row = 0; row < data.rows; ++row) {
            interruption.spend(count);
            add_weights(data.signs + row * data.problems + begin,
                        weights_of(data, row, begin, count, same), count, weights + begin,
                        weights + data.problems + begin);
        }
    }
}

void logistic_derivatives(const LogisticProblems& data, double* scores, double* losses,
                          double* curvatures, Interruption& interruption) {
    Chunk chunk;
    std::fill_n(chunk.products, kChunk, 1.0);
    const bool alike = data.rows > 0 && !data.weight_a_problem &&
                       std::all_of(data.weights, data.weights + data.rows,
                                   [&](double weight) { return weight == data.weights[0]; });
    for (std::size_t begin = 0; begin < data.problems; begin += kChunk) {
        const std::size_t count = std::min(kChunk, data.problems - begin);
        for (std::size_t row = 0; row < data.rows; ++row) {
            interruption.spend(4 * count);
            const std::size_t at = row * data.problems + begin;
            read(scores + at, data.signs + at, weights_of(data, row, begin, count, chunk.weights),
                 count, chunk);
            exponentiate(chunk.exps, count);
            if (alike)
                add_factors(scores + at, data.signs + at, count, chunk, losses + begin);
            else
                add_losses(scores + at, data.signs + at, count, chunk, losses + begin);
            if (curvatures) bend(chunk, count, curvatures + at);
            differentiate(scores + at, data.signs + at, chunk, count);
            if (alike && (row + 1 == data.rows || (row + 1) % kMostFactors == 0))
                add_products(data.weights[0], count, chunk, losses + begin);
        }
    }
}

}  // namespace prefero
