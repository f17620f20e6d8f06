// Any bytes are programs inside them or an error.
#include "archive/dksh.h"

#include <cstdint>
#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes = std::as_bytes(std::span(data, size));
    const auto inside = [&](Bytes part) {
        return part.empty() ||
               (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
    };
    if (const auto programs = archive::parse_dksh(bytes)) {
        for (const archive::DkshProgram& found : *programs) {
            const program::Program& program = found.program;
            for (const Bytes part :
                 {program.header, program.code, program.constants, program.second_header, program.second_code})
                if (!inside(part))
                    std::abort();
            if (program.code.empty() || program.code.size() % 32 != 0)
                std::abort();
        }
    }
    return 0;
}
