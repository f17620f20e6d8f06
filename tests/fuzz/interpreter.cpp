// Any code at all, and code that is nearly a program: the interpreter ends with a result or an error, and never touches
// memory that is not the program's.
#include "interpreter/stage.h"
#include "maxwell/form.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

using namespace heaviside;
using namespace heaviside::interpreter;

namespace {

constexpr u64 buffer_address = 0x10000;

struct Input {
    const std::uint8_t* data;
    std::size_t size;
    u64 word() {
        u64 value = 0;
        for (unsigned i = 0; i < 8; ++i)
            value |= u64{byte()} << 8 * i;
        return value;
    }
    u8 byte() {
        if (size == 0)
            return 0;
        --size;
        return *data++;
    }
};

bool branches_relative(maxwell::Opcode opcode) {
    using enum maxwell::Opcode;
    return opcode == BRA || opcode == CAL || opcode == PRET || opcode == SSY || opcode == PBK || opcode == PCNT ||
           opcode == PLONGJMP || opcode == PEXIT;
}

// A word of some form, its free bits from the input; targets stay near, most guards hold.
u64 formed_word(Input& input) {
    const auto forms = maxwell::Table::get().forms();
    const u64 selector = input.word(), free = input.word();
    const maxwell::Form& form = forms[(selector & 0xffff) % forms.size()];
    u64 word = form.value | (free & ~form.mask);
    constexpr u64 guard = 0xf0000;
    if ((form.mask & guard) == 0 && (selector >> 16 & 3) != 0)
        word = (word & ~guard) | 0x70000;
    constexpr u64 target = u64{0xffffff} << 20;
    if (branches_relative(form.opcode))
        word = (word & ~target) | (static_cast<u64>(static_cast<i64>(selector >> 24 & 31) - 12) * 8 << 20 & target);
    return word;
}

std::vector<u64> make_code(Input& input, bool formed) {
    std::vector<u64> words;
    while (input.size >= 8 && words.size() < 512) {
        if (words.size() % 4 == 0)
            words.push_back(0);
        words.push_back(formed ? formed_word(input) : input.word());
    }
    constexpr u64 exit = 0xe30000000007000f;
    do
        words.push_back(words.size() % 4 == 0 ? 0 : exit);
    while (words.size() % 4 != 0);
    return words;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{data, size};
    const u8 mode = input.byte(), shape = input.byte();
    const u64 seed = input.word();
    const std::vector<u64> code = make_code(input, (mode & 1) != 0);
    std::array<u64, 64> bank;
    for (std::size_t i = 0; i < bank.size(); ++i)
        bank[i] = (seed ^ i * 0x9e3779b97f4a7c15) >> (i % 5 * 12);
    std::vector<std::byte> memory(512);
    const MemoryRange range{buffer_address, memory};
    std::vector<RegisterValue> registers;
    for (u8 i = 0; i < 254; i += 2) // half of the pairs are addresses
        registers.push_back({i, i % 4 == 0 ? static_cast<u32>(buffer_address) + i : static_cast<u32>(seed >> i % 32)});
    Launch launch;
    launch.code = std::as_bytes(std::span(code));
    for (Bytes& each : launch.banks)
        each = std::as_bytes(std::span(bank)).first(400 + shape % 64);
    launch.block = {1u + shape % 70, 1, 1};
    launch.grid = {1u + (shape & 1), 1, 1};
    launch.shared_bytes = shape % 3 * 60;
    launch.local_bytes = shape % 2 * 36;
    launch.global = {&range, 1};
    launch.shared_window = 0x1000000;
    launch.local_window = 0x2000000;
    launch.registers = registers;
    launch.step_limit = 2000;
    StageProgram program{launch, {}, {}};
    program.header.kills_pixels = true;
    switch (mode >> 1 & 3) {
    case 0:
    case 1:
        (void)run(launch);
        break;
    case 2: {
        const std::array<Attributes, 3> vertices{};
        program.header.type = maxwell::ShaderType::Vertex;
        (void)run_vertices(program, vertices);
        program.header.type = maxwell::ShaderType::Geometry;
        (void)run_geometry(program, vertices, 3);
        program.header.type = maxwell::ShaderType::TessControl;
        program.header.threads_per_primitive = 1 + shape % 32;
        (void)run_tess_control(program, vertices);
        break;
    }
    default: {
        const PixelInputs inputs;
        std::array<Quad, 2> quads{};
        for (Quad& quad : quads)
            quad.inputs = &inputs;
        program.header.type = maxwell::ShaderType::Pixel;
        (void)run_pixels(program, quads);
        break;
    }
    }
    return 0;
}
