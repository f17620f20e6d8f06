// Any bytes are a container or an error, and every blob lies inside them.
#include "archive/bnsh.h"

#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const auto inside = [&](Bytes part) {
        return part.empty() ||
               (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
    };
    for (const u64 at : archive::find_bnsh(bytes))
        if (const auto variations = archive::parse_bnsh(bytes.subspan(at)))
            for (const auto& variation : *variations)
                for (const auto& stage : variation.stages)
                    if (!inside(stage.control) || !inside(stage.code))
                        std::abort();
    (void)archive::parse_bnsh(bytes);
    return 0;
}
