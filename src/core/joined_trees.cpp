#include "core/joined_trees.hpp"

#include <algorithm>

namespace prefero {

namespace {

template <class T>
void append(Growing<T>& to, const std::vector<T>& items) {
    to.append(items.data(), items.size());
}

void add_start(std::vector<std::int64_t>& starts, std::size_t count) {
    starts.push_back(starts.back() + static_cast<std::int64_t>(count));
}

}  // namespace

void JoinedTrees::add(const Tree& tree) {
    if (nodes.size() == 0) make_room(tree);
    add_sets(tree);
    append(nodes, tree.nodes);
    append(weight, tree.weight);
    append(decrease, tree.decrease);
    append(categories, tree.categories);
    append(scores, tree.scores);
    append(comparisons, tree.comparisons);
    add_start(node_starts, tree.nodes.size());
    add_start(value_starts, tree.scores.size() / labels_);
    add_start(set_starts, tree.categories.size());
}

// Trees of a forest are about as large as the first one. Room for very many is not asked for at
// once: no system may have it, and growing may be ended before.
void JoinedTrees::make_room(const Tree& first) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 24;  // items of an array
    const auto expected = [&](std::size_t size) {
        return std::min(kMostAtOnce, (size + size / 8) * std::min(trees_, kMostAtOnce));
    };
    nodes.reserve(expected(first.nodes.size()));
    weight.reserve(expected(first.nodes.size()));
    decrease.reserve(expected(first.nodes.size()));
    scores.reserve(expected(first.scores.size()));
    comparisons.reserve(expected(first.comparisons.size()));
}

// Every tree has a row of `sets` a node, or none has.
void JoinedTrees::add_sets(const Tree& tree) {
    if (!tree.sets.empty()) {
        sets.append_copies(-1, nodes.size() - sets.size());
        append(sets, tree.sets);
    } else if (sets.size() > 0) {
        sets.append_copies(-1, tree.nodes.size());
    }
}

}  // namespace prefero
