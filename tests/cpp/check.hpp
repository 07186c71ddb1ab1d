// A test runner in one small header: TEST(name) { CHECK(...); }
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/interruption.hpp"

namespace check {

struct Case {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, std::function<void()> body) { cases().push_back({name, body}); }
};

inline void report(bool passed, const char* text, const char* file, int line) {
    if (passed) return;
    ++failures();
    std::printf("%s:%d: failed: %s\n", file, line, text);
}

inline bool near(double a, double b, double tolerance = 1e-12) {
    return std::fabs(a - b) <= tolerance;
}

inline int run() {
    int failed = 0;
    for (const Case& test : cases()) {
        const int before = failures();
        test.body();
        if (failures() != before) {
            ++failed;
            std::printf("FAILED %s\n", test.name.c_str());
        }
    }
    std::printf("%d passed, %d failed\n", static_cast<int>(cases().size()) - failed, failed);
    return failed ? 1 : 0;
}

}  // namespace check

// No test ends a kernel before its end, but for the one of that.
inline prefero::Uninterrupted to_the_end;

#define TEST(name)                                              \
    static void test_##name();                                  \
    static check::Register register_##name(#name, test_##name); \
    static void test_##name()

#define CHECK(condition) check::report((condition), #condition, __FILE__, __LINE__)
