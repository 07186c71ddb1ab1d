#include <exception>

#include "bindings/arrays.hpp"

namespace {

// Whoever wants a kernel to end has set the Python exception already.
void keep_exception(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const prefero::Interrupted&) {
    }
}

}  // namespace

NB_MODULE(_core, module) {
    nb::register_exception_translator(keep_exception);
    // Models that someone else still holds when Python ends, such as a figure, are no leak of ours.
    nb::set_leak_warnings(false);
    module.doc() = "Compiled kernels of Prefero on plain arrays.";
    prefero::bindings::bind_boosting(module);
    prefero::bindings::bind_calibrated(module);
    prefero::bindings::bind_cases(module);
    prefero::bindings::bind_rankings(module);
    prefero::bindings::bind_consensus(module);
    prefero::bindings::bind_summed_trees(module);
    prefero::bindings::bind_margins(module);
    prefero::bindings::bind_ordering(module);
    prefero::bindings::bind_preferences(module);
    prefero::bindings::bind_solvers(module);
    prefero::bindings::bind_trees(module);
}
