#include "check.hpp"
#include "core/forest.hpp"
#include "core/interruption.hpp"

using namespace prefero;

namespace {

class After final : public Interruption {
  public:
    explicit After(int checks) : left_(checks) {}

  private:
    bool wanted() noexcept override { return left_-- == 0; }

    int left_;
};

}  // namespace

TEST(a_caller_is_asked_now_and_then) {
    After interruption(1);
    std::size_t spent = 0;
    try {
        for (;; spent += 1000) interruption.spend(1000);
    } catch (const Interrupted&) {
    }
    CHECK(spent > 1000000 && spent < 4000000);
}

TEST(growing_ends_when_the_caller_wants) {
    const std::size_t rows = 2000, features = 5;
    std::vector<std::uint8_t> bins(rows * features);
    std::vector<float> numbers(rows);
    std::vector<double> weights(rows, 1.0);
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] = static_cast<std::uint8_t>(i * 37 % 255);
    for (std::size_t i = 0; i < rows; ++i) numbers[i] = static_cast<float>(i * 7919 % 1000);
    const TrainingData data =
        TrainingData::numbers({bins.data(), rows, features}, numbers.data(), weights.data());
    const std::vector<std::uint64_t> seeds(1000, 1);
    const GrowOptions options{
        true, {features, features, false, false}, {100, 2, 1, 0, 0, 0, false}};
    After interruption(3);
    bool ended = false;
    try {
        grow_trees(data, options, seeds.data(), seeds.size(), interruption);
    } catch (const Interrupted&) {
        ended = true;
    }
    CHECK(ended);
}
