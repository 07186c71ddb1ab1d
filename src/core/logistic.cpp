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

struct Chunk {
    double weights[kChunk];
    double exps[kChunk];  // of minus the size of the margin
};

PREFERO_WIDE void read(const double* scores, const std::int8_t* signs, const double* weights,
                       std::size_t step, std::size_t count, Chunk& chunk) {
    for (std::size_t k = 0; k < count; ++k) {
        const double size = scores[k] < 0 ? scores[k] : -scores[k];
        chunk.exps[k] = size > -kFarthest ? size : -kFarthest;
    }
    for (std::size_t k = 0; k < count; ++k)
        chunk.weights[k] = signs[k] == 0 ? 0 : weights[k * step];
}

// log(1 + e) = 2 artanh(e / (2 + e)): with e at most 1 the series ends below the last bit.
PREFERO_WIDE void add_losses(const double* scores, const std::int8_t* signs, const Chunk& chunk,
                             std::size_t count, double* losses) {
    for (std::size_t k = 0; k < count; ++k) {
        const double ratio = chunk.exps[k] / (2 + chunk.exps[k]), square = ratio * ratio;
        double series = 1.0 / 33;
        series = series * square + 1.0 / 31;
        series = series * square + 1.0 / 29;
        series = series * square + 1.0 / 27;
        series = series * square + 1.0 / 25;
        series = series * square + 1.0 / 23;
        series = series * square + 1.0 / 21;
        series = series * square + 1.0 / 19;
        series = series * square + 1.0 / 17;
        series = series * square + 1.0 / 15;
        series = series * square + 1.0 / 13;
        series = series * square + 1.0 / 11;
        series = series * square + 1.0 / 9;
        series = series * square + 1.0 / 7;
        series = series * square + 1.0 / 5;
        series = series * square + 1.0 / 3;
        series = series * square + 1;
        const double margin = signs[k] * scores[k], wrong = margin < 0 ? -margin : 0;
        losses[k] += chunk.weights[k] * (2 * ratio * series + wrong);
    }
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

}  // namespace

void logistic_derivatives(const LogisticProblems& data, double* scores, double* losses,
                          double* curvatures, Interruption& interruption) {
    Chunk chunk;
    const std::size_t step = data.weight_a_problem ? 1 : 0;
    for (std::size_t row = 0; row < data.rows; ++row) {
        interruption.spend(4 * data.problems);
        for (std::size_t begin = 0; begin < data.problems; begin += kChunk) {
            const std::size_t count = std::min(kChunk, data.problems - begin);
            const std::size_t at = row * data.problems + begin;
            const double* weights = data.weights + (data.weight_a_problem ? at : row);
            read(scores + at, data.signs + at, weights, step, count, chunk);
            exponentiate(chunk.exps, count);
            add_losses(scores + at, data.signs + at, chunk, count, losses + begin);
            if (curvatures) bend(chunk, count, curvatures + at);
            differentiate(scores + at, data.signs + at, chunk, count);
        }
    }
}

}  // namespace prefero
