#include "bindings/arrays.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels of Prefero on plain arrays.";
    prefero::bindings::bind_calibrated(module);
    prefero::bindings::bind_rankings(module);
    prefero::bindings::bind_consensus(module);
    prefero::bindings::bind_ordering(module);
    prefero::bindings::bind_preferences(module);
    prefero::bindings::bind_trees(module);
}
