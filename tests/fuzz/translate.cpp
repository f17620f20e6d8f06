// Any code at all: translation gives SPIR-V that the validator accepts, or an error, and always ends.
#include "program/build.h"
#include "shader/interface.h"

#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t bundle = 32, selector = 1;
    if (size < selector + bundle)
        return 0;
    program::BuildInput input;
    input.stage = static_cast<program::Stage>(data[0] % program::stage_count);
    input.code = Bytes(reinterpret_cast<const std::byte*>(data) + selector, (size - selector) / bundle * bundle);
    const auto blobs = program::build(input);
    if (!blobs)
        return 0;
    const auto program = program::parse(blobs->control, blobs->gpu);
    if (!program)
        std::abort(); // what build() packs, parse() takes
    if (!shader::translate(*program, {}, {}))
        return 0;
    shader::Options validated;
    validated.validate = true;
    if (!shader::translate(*program, {}, validated))
        std::abort(); // translated, but not to valid SPIR-V
    return 0;
}
