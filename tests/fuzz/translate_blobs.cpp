// The two blobs of a program as the guest hands them over: whatever they hold, parsing stays inside them.
#include "program/program.h"
#include "shader/interface.h"

#include <algorithm>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
    const auto split = read_at<u16>(bytes, 0);
    if (!split)
        return 0;
    const std::size_t control_size = std::min<std::size_t>(*split, size - 2);
    const auto program = program::parse(bytes.subspan(2, control_size), bytes.subspan(2 + control_size));
    if (!program)
        return 0;
    (void)program::identity(*program);
    (void)shader::translate(*program, {}, {});
    return 0;
}
