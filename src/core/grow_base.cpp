#include "core/grow_base.hpp"

#include <algorithm>
#include <numeric>

namespace prefero {

GrowerBase::GrowerBase(Sample& sample, const GrowOptions& options, Interruption& interruption,
                       bool gathers)
    : sample_(sample),
      interruption_(interruption),
      search_(options.search),
      stopping_(options.stopping),
      features_(sample.data.features()),
      gathers_(gathers && !options.stopping.max_leaves),
      buffer_(sample.data.rows()) {}

void GrowerBase::start(std::uint64_t seed) {
    builder_.begin();
    random_ = Random(seed);
    rows_.resize(sample_.rows);
    std::iota(rows_.begin(), rows_.end(), 0u);
    leaves_.clear();
    left_.assign(1, {});
    leaves_known_ = 1;
    draw_features(random_, sample_.data.features(), search_.tree_features, features_);
}

namespace {

template <class Open>
bool worse(const Open& a, const Open& b) {
    return a.choice.decrease < b.choice.decrease;
}

}  // namespace

void GrowerBase::sift() { std::push_heap(frontier_.begin(), frontier_.end(), worse<Open>); }

GrowerBase::Open GrowerBase::pop() {
    if (stopping_.max_leaves) std::pop_heap(frontier_.begin(), frontier_.end(), worse<Open>);
    Open next = frontier_.back();
    frontier_.pop_back();
    return next;
}

void GrowerBase::gather(const Span& span) {
    if (!gathers_ || !sample_.worth_gathering(span.end - span.begin)) return;
    sample_.gather({rows_.data() + span.begin, rows_.data() + span.end});
    std::iota(rows_.data() + span.begin, rows_.data() + span.end, 0u);
    gathered_.push_back({span.begin, span.end, frontier_.size()});
}

void GrowerBase::scatter() {
    for (std::size_t i = gathered_.back().begin; i < gathered_.back().end; ++i)
        rows_[i] = sample_.number_outside(rows_[i]);
    sample_.scatter();
    gathered_.pop_back();
}

void GrowerBase::split_rows(const Open& open, Span& left, Span& right) {
    const Span& span = open.span;
    ++leaves_known_;
    gather(span);
    const Choice& choice = open.choice;
    // One more for all bins puts the missing one, the last, before the others.
    const auto shift = static_cast<std::uint8_t>(choice.cut.missing_left ? 1 : 0);
    const auto most = static_cast<std::uint8_t>(choice.cut.left + shift);
    const std::size_t middle =
        choice.categorical ? partition(span, choice.feature,
                                       [&](auto bin) { return left_[choice.left].contains(bin); })
                           : partition(span, choice.feature, [=](auto bin) {
                                 return static_cast<std::uint8_t>(bin + shift) <= most;
                             });
    const bool larger_left = middle - span.begin >= span.end - middle;
    const std::size_t child = builder_.split(span.node, choice, left_[choice.left], larger_left);
    left = {span.begin, middle, child, span.depth + 1};
    right = {middle, span.end, child + 1, span.depth + 1};
}

template <class GoesLeft>
std::size_t GrowerBase::partition(const Span& span, std::uint16_t feature, GoesLeft goes_left) {
    const std::uint8_t* column = sample_.bins.data() + feature;
    const std::size_t stride = sample_.data.features();
    std::uint32_t* left = rows_.data() + span.begin;
    std::uint32_t* right = buffer_.data();
    for (std::size_t i = span.begin; i < span.end; ++i) {
        const std::uint32_t row = rows_[i];
        const bool here = goes_left(column[row * stride]);
        *left = row;
        *right = row;
        left += here;
        right += !here;
    }
    std::copy(buffer_.data(), right, left);
    return static_cast<std::size_t>(left - rows_.data());
}

// All leaves at the end: while one waits for the votes of its rows, others go on.
void GrowerBase::write_votes() {
    const TrainingData& data = sample_.data;
    tree_.scores.resize(leaves_.size() * data.labels());
    if (data.any_unknown()) tree_.comparisons.resize(tree_.scores.size());
    float* scores = tree_.scores.data();
    const auto votes = [&](std::uint32_t row) { return data.votes(sample_.origin[row]); };
    for (const Leaf& leaf : leaves_) {
        interruption_.spend((leaf.end - leaf.begin) * data.labels());
        tree_.weight[leaf.node] = mean(leaf, votes, scores);
        if (data.any_unknown()) write_known(leaf, scores);
        scores += data.labels();
    }
}

// The mean of what the rows said; returns their weight.
template <class Said>
double GrowerBase::mean(const Leaf& leaf, Said said, float* mean) const {
    const std::size_t c = sample_.data.labels();
    const RowSpan rows = rows_of(leaf);
    if (leaf.end - leaf.begin == 1) {
        copy_few(said(*rows.first), c * sizeof(float), mean);
        return sample_.weights[*rows.first];
    }
    std::fill_n(mean, c, 0.0f);
    double total = 0;
    for (std::uint32_t row : rows) {
        const float weight = sample_.weight(row), *own = said(row);
        for (std::size_t k = 0; k < c; ++k) mean[k] += weight * own[k];
        total += sample_.weights[row];
    }
    const float scale = 1 / static_cast<float>(total);
    for (std::size_t k = 0; k < c; ++k) mean[k] *= scale;
    if (total > sample_.most_in_floats) large_mean(rows, said, total, mean);
    return total;
}

template <class Said>
void GrowerBase::large_mean(RowSpan rows, Said said, double total, float* mean) const {
    std::vector<double> sums(sample_.data.labels());
    for (std::uint32_t row : rows)
        for (std::size_t k = 0; k < sums.size(); ++k)
            sums[k] += sample_.weights[row] * said(row)[k];
    for (std::size_t k = 0; k < sums.size(); ++k) mean[k] = static_cast<float>(sums[k] / total);
}

// Votes are shares of the comparisons seen, and their number is kept beside them.
void GrowerBase::write_known(const Leaf& leaf, float* scores) {
    float* known = tree_.comparisons.data() + (scores - tree_.scores.data());
    const auto seen = [&](std::uint32_t row) {
        return sample_.data.comparisons(sample_.origin[row]);
    };
    mean(leaf, seen, known);
    for (std::size_t k = 0; k < sample_.data.labels(); ++k)
        scores[k] = known[k] > 0 ? scores[k] / known[k] : 0;
}

}  // namespace prefero
