// Any bytes are stages inside them or an error.
#include "archive/glslc.h"

#include <cstdint>
#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const auto inside = [&](Bytes part) {
        return part.empty() ||
               (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
    };
    if (const auto stages = archive::parse_glslc(bytes))
        for (const archive::StageBlobs& stage : *stages)
            if (!inside(stage.control) || !inside(stage.code))
                std::abort();
    return 0;
}
