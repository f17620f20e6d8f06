// Any bytes are kernels inside them or an error.
#include "archive/cubin.h"

#include <cstdint>
#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    if (const auto kernels = archive::parse_cubin(bytes))
        for (const archive::Kernel& kernel : *kernels)
            if (!kernel.code.empty() && (kernel.code.data() < bytes.data() ||
                                         kernel.code.data() + kernel.code.size() > bytes.data() + bytes.size()))
                std::abort();
    return 0;
}
