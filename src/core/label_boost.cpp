#include "core/label_boost.hpp"

#include <utility>

#include "core/criteria/newton.hpp"
#include "core/grow.hpp"

namespace prefero {

// Grows the trees, by a criterion that is compiled for the number of labels.
class TreeSource {
  public:
    explicit TreeSource(const TrainingData& data) : sample_(data) {}
    virtual ~TreeSource() = default;

    // The next tree, from derivatives at the scores as they are.
    Tree next(ScoredRanks& ranks, double row_share, std::uint64_t seed,
              Interruption& interruption) {
        sample_.draw_share(row_share, seed, interruption);
        const std::size_t stride = sample_.data.width() * kSimdWidth, second = stride / 2;
        float* rows = sample_.simd_rows.data()->value;
        ranks.derivatives(sample_.origin.data(), sample_.rows, rows + 1, second, stride,
                          interruption);
        for (std::size_t i = 0; i < sample_.rows; ++i) {
            float* own = rows + i * stride;
            const auto weight = static_cast<float>(sample_.weights[i]);
            for (std::size_t k = 1; k <= sample_.data.labels(); ++k) {
                own[k] *= weight;
                own[second + k] *= weight;
            }
            own[0] = weight;
            own[second] = static_cast<float>(sample_.counts[i]);
        }
        // Another stream than the one that drew the sample.
        return grow(~seed, interruption);
    }

  protected:
    virtual Tree grow(std::uint64_t seed, Interruption& interruption) = 0;

    Sample sample_;
};

namespace {

template <std::size_t Half>
class NewtonSource final : public TreeSource {
  public:
    NewtonSource(const TrainingData& data, const LabelBoosting& options)
        : TreeSource(data),
          options_{false, options.search, options.stopping},
          criterion_(sample_, options_.stopping, options.penalty, options.learning_rate) {}

  private:
    Tree grow(std::uint64_t seed, Interruption& interruption) override {
        Grower<Newton<Half>> grower(sample_, criterion_, options_, interruption);
        return std::move(grower.grow(seed));
    }

    GrowOptions options_;
    Newton<Half> criterion_;
};

// Picks the version compiled for this number of blocks.
template <std::size_t Half = 3>
std::unique_ptr<TreeSource> tree_source(const TrainingData& data, const LabelBoosting& options) {
    if constexpr (Half > 0) {
        if (data.width() != 2 * Half) return tree_source<Half - 1>(data, options);
    }
    return std::make_unique<NewtonSource<Half>>(data, options);
}

}  // namespace

LabelBooster::LabelBooster(const RankedRows& training, const bool* categorical,
                           const RankedRows& watched, const double* start,
                           const LabelBoosting& options)
    : options_(options),
      data_(TrainingData::derivatives(training.bins, categorical, training.ranks.labels,
                                      training.weights)),
      ranks_(training.ranks, start, training.utilities),
      watched_{{watched.bins.data, watched.bins.data + watched.bins.rows * watched.bins.features},
               {watched.weights, watched.weights + watched.ranks.rows},
               std::vector<double>(watched.ranks.rows),
               ScoredRanks(watched.ranks, start, watched.utilities)},
      source_(tree_source(data_, options_)) {}

LabelBooster::~LabelBooster() = default;

double LabelBooster::add(std::uint64_t seed, Interruption& interruption) {
    trees_.push_back(source_->next(ranks_, options_.row_share, seed, interruption));
    const std::size_t features = data_.features();
    add_tree_scores(trees_.back(), labels(), {data_.bins(0), data_.rows(), features},
                    ranks_.scores(), interruption);
    add_tree_scores(trees_.back(), labels(),
                    {watched_.bins.data(), watched_.ranks.rows(), features},
                    watched_.ranks.scores(), interruption);
    return watched_loss(interruption);
}

double LabelBooster::watched_loss(Interruption& interruption) {
    watched_.ranks.losses(watched_.losses.data(), interruption);
    double sum = 0;
    for (std::size_t r = 0; r < watched_.losses.size(); ++r)
        sum += watched_.weights[r] * watched_.losses[r];
    return sum;
}

}  // namespace prefero
