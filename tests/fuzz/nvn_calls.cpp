// Entry points in an order, over objects and with arguments that the input chooses.
#include "tests/nvn/random_calls.h"

#include "base/log.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace heaviside;
    log::set_sink([](log::Level, std::string_view) {});
    std::size_t at = 0;
    bool done = false;
    auto random = [&]() -> u32 { // the bytes, then zeros
        u32 value = 0;
        const std::size_t bytes = std::min<std::size_t>(2, size - at);
        std::memcpy(&value, data + at, bytes);
        at += bytes;
        done |= at >= size;
        return value;
    };
    nvn::test::RandomCalls calls(random);
    while (!done) {
        (void)calls.step();
        if (!calls.intact())
            std::abort();
    }
    return 0;
}
