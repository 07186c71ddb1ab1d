// Criteria of statistics that were summed over rows in many places, and the best split of a node
// by its histograms. The rules are those of the grower of one machine.
#pragma once

#include <vector>

#include "core/split_rules.hpp"
#include "core/summed_rows.hpp"
#include "core/tree_builder.hpp"

namespace prefero {

// The vectors of rankings. Behind weight and examples: the squared lengths, then the vector.
struct SummedSpread {
    static constexpr std::size_t kFilled = kWeightSum;  // a bin holds rows if this is more than 0
    static constexpr std::size_t kLength = 2, kVector = 3;

    std::size_t width;
    SpreadRules rules;
    bool signs;  // vectors of signs, one per pair of labels

    std::size_t vector_begin() const { return kVector; }
    std::size_t vector_end() const { return width; }

    bool pure(const double* total) const;
    // Rounded to floats: equal cuts are found equal.
    double quality(const double* left, const double* total) const;
    bool accepts(double quality, const double* total) const;
    double decrease(double quality) const { return rules.decrease(quality); }
};

// Derivatives by the scores of labels. Behind weight and examples: the first ones, then the second.
struct SummedNewton {
    static constexpr std::size_t kFilled = kExampleSum;
    static constexpr std::size_t kFirst = 2;
    using Rules = NewtonRules<double>;

    std::size_t width;
    double penalty;

    std::size_t labels() const { return (width - kFirst) / 2; }
    std::size_t vector_begin() const { return kFirst; }
    std::size_t vector_end() const { return kFirst + labels(); }

    // What a step of the rows of these sums gains.
    double gain(const double* sums) const;
    double quality(const double* left, const double* total) const;
};

// What the children of a node must be like.
struct ChildLimits {
    double min_leaf;
    bool category_sets;  // sets of categories in place of one against the rest
};

// The best cut of a feature in a node.
struct SummedCut {
    double quality = -std::numeric_limits<double>::infinity();
    Cut cut;              // of which the quality is not used
    BinSet left;          // categories that go left
    bool varies = false;  // whether there are rows in two bins
};

// Of one histogram, bins x width. `left` gets the sums of the rows that go left, if there is a cut.
template <class Criterion>
SummedCut best_summed_cut(const Criterion& criterion, const double* bins, bool categorical,
                          ChildLimits limits, double* left);

// The places of categories on the line along which their means differ most, from sums in doubles:
// count x width, of which the first is the weight and those from `begin` to `end` the vector.
std::vector<std::size_t> order_of_categories(const double* sums, std::size_t count,
                                             std::size_t width, std::size_t begin, std::size_t end);

}  // namespace prefero
