// Gradient boosting of label scores: one tree per round, whose leaves are steps of all labels.
#pragma once

#include <memory>

#include "core/forest.hpp"
#include "core/pair_logistic.hpp"

namespace prefero {

struct LabelBoosting {
    double learning_rate;
    double penalty;    // of the squares of a step
    double row_share;  // of the rows that each tree is grown from
    Search search;
    Stopping stopping;
};

// Rows that boosting learns from, or only looks at.
struct RankedRows {
    BinMatrix bins;
    RankMatrix ranks;
    const double* weights;
    const double* utilities = nullptr;  // of labels, if pairs weigh the difference
};

class TreeSource;

// Scores of training rows, and of rows that are watched, which trees move step by step.
class LabelBooster {
  public:
    // Copies what it is given. Both kinds of rows start with the same scores.
    LabelBooster(const RankedRows& training, const bool* categorical, const RankedRows& watched,
                 const double* start, const LabelBoosting& options);
    ~LabelBooster();

    // Adds a tree and returns the loss of the watched rows, summed by their weights.
    double add(std::uint64_t seed, Interruption& interruption);

    std::vector<Tree>& trees() { return trees_; }
    std::size_t labels() const { return data_.labels(); }

  private:
    struct Watched {
        std::vector<std::uint8_t> bins;
        std::vector<double> weights, losses;
        ScoredRanks ranks;
    };

    double watched_loss(Interruption& interruption);

    LabelBoosting options_;
    TrainingData data_;
    ScoredRanks ranks_;
    Watched watched_;
    std::vector<Tree> trees_;
    std::unique_ptr<TreeSource> source_;
};

}  // namespace prefero
