#include "core/leaf_scores.hpp"

#include <algorithm>
#include <cstring>

#include "core/simd.hpp"

namespace prefero {

namespace {

// The scores of one row in each tree of a block.
struct RowScores {
    const float* of[LeafBlock::kMostTrees];
    std::size_t trees;
};

// Calls add(scores, sums) for each row.
template <class Add>
PREFERO_INLINE void for_each_row(const Forest& forest, const LeafBlock& block, double* sums,
                                 Add add) {
    constexpr std::size_t kAhead = 16;  // rows whose scores are on their way from memory
    const std::size_t labels = forest.labels;
    for (std::size_t i = 0; i < block.rows; ++i) {
        RowScores own{{}, block.trees};
        const std::size_t later = std::min(i + kAhead, block.rows - 1);
        for (std::size_t t = 0; t < block.trees; ++t) {
            const std::int64_t first = forest.value_starts[block.first_tree + t];
            const auto at = [&](std::size_t row) {
                return forest.scores +
                       static_cast<std::size_t>(first + block.leaf(t, row)) * labels;
            };
            prefetch(at(later));
            prefetch(at(later) + labels - 1);
            own.of[t] = at(i);
        }
        add.row(own, sums + block.number(i) * labels);
    }
}

struct AnyLabels {
    std::size_t labels;

    PREFERO_INLINE void row(const RowScores& scores, double* sums) const {
        for (std::size_t t = 0; t < scores.trees; ++t)
            for (std::size_t k = 0; k < labels; ++k) sums[k] += scores.of[t][k];
    }
};

#if defined(__GNUC__) && !defined(PREFERO_SCALAR)

struct Four {
    typedef double Doubles __attribute__((vector_size(32)));
    typedef float Floats __attribute__((vector_size(16)));
};

struct EightDoubles {
    typedef double Doubles __attribute__((vector_size(64)));
    typedef float Floats __attribute__((vector_size(32)));
};

// One vector to two vectors of labels: both stay in registers over all trees of a block. They may
// share labels, for which both have the same sums.
template <class Width>
struct TwoVectors {
    typedef typename Width::Doubles Doubles;
    typedef typename Width::Floats Floats;

    std::size_t labels;

    PREFERO_INLINE void row(const RowScores& scores, double* sums) const {
        const std::size_t second = labels - sizeof(Doubles) / sizeof(double);
        Doubles one, other;
        std::memcpy(&one, sums, sizeof one);
        std::memcpy(&other, sums + second, sizeof other);
        for (std::size_t t = 0; t < scores.trees; ++t) {
            Floats here, there;
            std::memcpy(&here, scores.of[t], sizeof here);
            std::memcpy(&there, scores.of[t] + second, sizeof there);
            one += __builtin_convertvector(here, Doubles);
            other += __builtin_convertvector(there, Doubles);
        }
        std::memcpy(sums, &one, sizeof one);
        std::memcpy(sums + second, &other, sizeof other);
    }
};

PREFERO_WIDE void add_to_rows(const Forest& forest, const LeafBlock& block, double* sums) {
    const std::size_t labels = forest.labels;
    if (labels >= 4 && labels <= 8)
        for_each_row(forest, block, sums, TwoVectors<Four>{labels});
    else if (labels > 8 && labels <= 16)
        for_each_row(forest, block, sums, TwoVectors<EightDoubles>{labels});
    else
        for_each_row(forest, block, sums, AnyLabels{labels});
}

#else

void add_to_rows(const Forest& forest, const LeafBlock& block, double* sums) {
    for_each_row(forest, block, sums, AnyLabels{forest.labels});
}

#endif

}  // namespace

void add_scores(const Forest& forest, const LeafBlock& block, double* sums) {
    add_to_rows(forest, block, sums);
}

}  // namespace prefero
