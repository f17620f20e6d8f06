// Random calls with fixed seeds, late in the program since they use up what the library lends; tests/fuzz/nvn_calls.cpp
// lets a fuzzer choose them.
#include "tests/nvn/random_calls.h" // first: with the client's wrappers

#include "base/log.h"

#include <random>

namespace heaviside::nvn {
namespace {

TEST(RandomCalls, NeitherCrashNorWriteOutsideObjects) {
    log::set_sink([](log::Level, std::string_view) {}); // most are refused
    for (u32 seed = 1; seed <= 8; ++seed) {
        std::mt19937 engine(seed);
        auto random = [&] { return static_cast<u32>(engine()); };
        test::RandomCalls calls(random);
        for (int i = 0; i < 10000; ++i) {
            const char* const name = calls.step();
            ASSERT_TRUE(calls.intact()) << name << ", call " << i << " of seed " << seed;
        }
    }
    log::set_sink({});
}

} // namespace
} // namespace heaviside::nvn
