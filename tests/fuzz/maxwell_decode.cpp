// Any words: what decodes has a text, the text assembles, and reads the same again.
#include "maxwell/assembler.h"
#include "maxwell/listing.h"

#include <cstdint>
#include <cstdlib>

using namespace heaviside;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes code(reinterpret_cast<const std::byte*>(data), size);
    for (u64 at = 0; at + 8 <= size; at += 8) {
        const auto instruction = maxwell::decode(*read_at<u64>(code, at));
        if (!instruction)
            continue;
        const std::string text = maxwell::disassemble(*instruction);
        const auto encoded = maxwell::encode(text);
        if (!encoded || maxwell::disassemble(*maxwell::decode(encoded->word)) != text)
            std::abort();
        for (unsigned slot = 0; slot < static_cast<unsigned>(maxwell::Slot::Count_); ++slot)
            (void)instruction->operand(static_cast<maxwell::Slot>(slot));
        for (unsigned field = 0; field < static_cast<unsigned>(maxwell::Modifier::Count_); ++field)
            (void)instruction->modifier(static_cast<maxwell::Modifier>(field));
    }
    (void)maxwell::listing(code);
    (void)maxwell::source_listing(code);
    return 0;
}
