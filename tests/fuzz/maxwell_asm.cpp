// Any source: a program or an error, and what assembles can be listed and assembled again.
#include "maxwell/assembler.h"
#include "maxwell/listing.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    maxwell::AssembleOptions options;
    options.include = [&](std::string_view) -> Result<std::string> { return std::string("NOP\n"); };
    const auto program = maxwell::assemble(source, options);
    if (program && !maxwell::assemble(maxwell::source_listing(program->code)))
        std::abort();
    (void)maxwell::encode(source);
    return 0;
}
