#include "core/newton_logistic.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/exponential.hpp"
#include "core/simd.hpp"
#include "core/wide.hpp"

namespace prefero {

namespace {

// So many rows of eight problems at a time, which the first cache holds; what is added up over
// more of them is in double precision.
constexpr std::size_t kRows = 128;
// Rows or columns whose sums registers hold: as many as it takes to wait for none of them.
constexpr std::size_t kTogether = 8;
// Margins further from 0 are as good as there.
constexpr float kFarthest = 80;

// Rows of eight problems.
struct Tile {
    Block scores[kRows];
    std::int8_t signs[kRows * kSimdWidth];
    float weights[kRows * kSimdWidth];
};

// Writes what eight models say of each row; rows come in eights, as do columns.
PREFERO_CLONES void score_rows(const float* x, std::size_t rows, std::size_t columns,
                               const Block* coefficients, Block* to) {
    for (std::size_t row = 0; row < rows; row += kTogether) {
        const float* own = x + row * columns;
        Eight sums[kTogether];
        PREFERO_UNROLL
        for (Eight& sum : sums) sum = Eight{};
        for (std::size_t k = 0; k < columns; ++k) {
            const Eight coefficient = load(coefficients[k]);
            PREFERO_UNROLL
            for (std::size_t i = 0; i < kTogether; ++i)
                sums[i] += own[i * columns + k] * coefficient;
        }
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kTogether; ++i) store(to[row + i], sums[i]);
    }
}

// Adds up each column over the rows, with the weights that they have in eight models.
PREFERO_CLONES void weigh_columns(const float* x, std::size_t rows, std::size_t columns,
                                  const Block* weights, Block* to) {
    for (std::size_t k = 0; k < columns; k += kTogether) {
        Eight sums[kTogether];
        PREFERO_UNROLL
        for (Eight& sum : sums) sum = Eight{};
        for (std::size_t row = 0; row < rows; ++row) {
            const Eight weight = load(weights[row]);
            PREFERO_UNROLL
            for (std::size_t i = 0; i < kTogether; ++i)
                sums[i] += x[row * columns + k + i] * weight;
        }
        PREFERO_UNROLL
        for (std::size_t i = 0; i < kTogether; ++i) store(to[k + i], sums[i]);
    }
}

// How likely the class is that a row does not have, by the score of the one that it has.
PREFERO_INLINE float mistake(float margin) {
    const float near = margin > -kFarthest ? margin : -kFarthest;
    return 1 / (1 + short_exponential(near < kFarthest ? near : kFarthest));
}

PREFERO_WIDE void differentiate(const std::int8_t* signs, const float* weights, std::size_t count,
                                float* scores) {
    for (std::size_t k = 0; k < count; ++k) {
        const float sign = signs[k];
        scores[k] = -weights[k] * sign * mistake(sign * scores[k]);
    }
}

PREFERO_WIDE void bend(const std::int8_t* signs, const float* weights, std::size_t count,
                       float* scores) {
    for (std::size_t k = 0; k < count; ++k) {
        const float sign = signs[k], error = mistake(sign * scores[k]);
        scores[k] = weights[k] * (sign * sign) * (error * (1 - error));
    }
}

// Adds the sums of some rows to those of all.
PREFERO_WIDE void add_up(const Block* part, std::size_t columns, double* sums) {
    const float* values = part[0].value;
    for (std::size_t k = 0; k < columns * kSimdWidth; ++k) sums[k] += double{values[k]};
}

// So many that they come in eights.
constexpr std::size_t padded(std::size_t count) {
    return (count + kTogether - 1) / kTogether * kTogether;
}

// Some rows of a matrix, padded with zeros.
struct Rows {
    explicit Rows(std::size_t columns) : width(padded(columns)), values(kRows * width) {}

    std::size_t width;
    std::vector<float> values;
};

// Adds up, for each model, columns that are weighted by a derivative of its loss.
class Sums {
  public:
    Sums(const LogisticProblems& data, const LinearModels& models, std::size_t columns)
        : data_(data), models_(models), columns_(columns), x_(models.columns) {
        for (std::size_t first = 0; first < models.count; first += kSimdWidth)
            for (std::size_t k = 0; k < x_.width; ++k) {
                Block own;
                for (std::size_t slot = 0; slot < kSimdWidth && k < models.columns; ++slot)
                    own.value[slot] = models.coefficients[model(first, slot) * models.columns + k];
                coefficients_.push_back(own);
            }
        part_.resize(padded(columns));
        sums_.resize(blocks(models.count) * columns * kSimdWidth);
    }

    // `columns_of` gives what to add up of some rows.
    template <class ColumnsOf, class Derivative>
    void add(ColumnsOf columns_of, Derivative derivative, Interruption& interruption) {
        for (std::size_t begin = 0; begin < data_.rows; begin += kRows) {
            read_rows(begin);
            const Rows& columns = columns_of(x_);
            for (std::size_t first = 0; first < models_.count; first += kSimdWidth) {
                interruption.spend(rows_ * (columns.width + x_.width));
                read_problems(begin, first);
                const std::size_t rows = padded(rows_), eight = first / kSimdWidth;
                score_rows(x_.values.data(), rows, x_.width,
                           coefficients_.data() + eight * x_.width, tile_.scores);
                derivative(tile_.signs, tile_.weights, rows * kSimdWidth, tile_.scores[0].value);
                weigh_columns(columns.values.data(), rows, columns.width, tile_.scores,
                              part_.data());
                add_up(part_.data(), columns_, sums_.data() + eight * columns_ * kSimdWidth);
            }
        }
    }

    void write(double* to) const {
        for (std::size_t m = 0; m < models_.count; ++m)
            for (std::size_t k = 0; k < columns_; ++k)
                to[m * columns_ + k] =
                    sums_[(m / kSimdWidth * columns_ + k) * kSimdWidth + m % kSimdWidth];
    }

  private:
    // The model in a slot; the last one again where there are no more.
    std::size_t model(std::size_t first, std::size_t slot) const {
        return std::min(first + slot, models_.count - 1);
    }

    void read_rows(std::size_t begin) {
        rows_ = std::min(kRows, data_.rows - begin);
        std::fill(x_.values.begin(), x_.values.end(), 0.0f);
        for (std::size_t row = 0; row < rows_; ++row)
            std::copy_n(models_.x + (begin + row) * models_.columns, models_.columns,
                        x_.values.data() + row * x_.width);
        if (data_.weight_a_problem) return;
        for (std::size_t row = 0; row < rows_; ++row)
            std::fill_n(tile_.weights + row * kSimdWidth, kSimdWidth,
                        static_cast<float>(data_.weights[begin + row]));
    }

    void read_problems(std::size_t begin, std::size_t first) {
        std::size_t problems[kSimdWidth];
        bool side_by_side = true;
        for (std::size_t slot = 0; slot < kSimdWidth; ++slot) {
            problems[slot] = static_cast<std::size_t>(models_.problems[model(first, slot)]);
            side_by_side = side_by_side && problems[slot] == problems[0] + slot;
        }
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::size_t at = (begin + row) * data_.problems;
            std::int8_t* signs = tile_.signs + row * kSimdWidth;
            if (side_by_side)
                std::memcpy(signs, data_.signs + at + problems[0], kSimdWidth);
            else
                for (std::size_t slot = 0; slot < kSimdWidth; ++slot)
                    signs[slot] = data_.signs[at + problems[slot]];
            for (std::size_t slot = 0; slot < kSimdWidth && data_.weight_a_problem; ++slot)
                tile_.weights[row * kSimdWidth + slot] =
                    static_cast<float>(data_.weights[at + problems[slot]]);
        }
    }

    const LogisticProblems& data_;
    const LinearModels& models_;
    std::size_t columns_, rows_ = 0;
    Tile tile_{};
    Rows x_;
    std::vector<Block> coefficients_, part_;
    std::vector<double> sums_;
};

}  // namespace

void logistic_gradients(const LogisticProblems& data, const LinearModels& models, double* gradients,
                        Interruption& interruption) {
    Sums sums(data, models, models.columns);
    sums.add([](const Rows& x) -> const Rows& { return x; }, differentiate, interruption);
    sums.write(gradients);
}

void logistic_hessians(const LogisticProblems& data, const LinearModels& models, double* triangles,
                       Interruption& interruption) {
    const std::size_t columns = models.columns;
    Rows products(columns * (columns + 1) / 2);
    const auto multiply = [&](const Rows& x) -> const Rows& {
        for (std::size_t row = 0; row < kRows; ++row) {
            const float* own = x.values.data() + row * x.width;
            float* to = products.values.data() + row * products.width;
            for (std::size_t k = 0; k < columns; ++k)
                for (std::size_t l = k; l < columns; ++l) *to++ = own[k] * own[l];
        }
        return products;
    };
    Sums sums(data, models, columns * (columns + 1) / 2);
    sums.add(multiply, bend, interruption);
    sums.write(triangles);
}

}  // namespace prefero
