// Text to Maxwell code: single instructions and whole programs. docs/isa.md has the language.
#pragma once

#include "base/result.h"
#include "maxwell/control.h"
#include "maxwell/instruction.h"
#include "maxwell/sph.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::maxwell {

// ---- one instruction

struct Encoded {
    u64 word = 0;
    u8 reuse = 0; // the control word's reuse mask for the operands marked .reuse
};

// What names in operands mean: branch targets and constants. Returns nothing for an unknown name.
using SymbolLookup = std::function<std::optional<i64>(std::string_view)>;

struct EncodeError {
    std::string message;
    std::size_t column = 0; // offset in the text
};

// The word for the text of one instruction, as disassemble() prints it; the closing ; may be left out. `address` is the
// byte offset that the instruction will have (branch targets are relative). Bits that the text does not show are 0.
// Any thread.
[[nodiscard]] tl::expected<Encoded, EncodeError> encode(std::string_view text, u32 address = 8,
                                                        const SymbolLookup& symbols = {});

// ---- whole programs

enum class Stage : u8 { None, VertexA, Vertex, TessControl, TessEvaluation, Geometry, Fragment, Compute };

struct Program {
    std::vector<std::byte> code; // bundles, from the entry on; ends in a branch to itself, padded with NOP to 64 bytes
    std::vector<std::byte> data; // the constants of .data; bank c[1] for NVN programs
    std::string entry;
    Stage stage = Stage::None;
    // Graphics stages: made from the directives and from what the code does (inputs, outputs, kill, stores, doubles).
    ShaderProgramHeader header;
    u32 registers = 0;    // number used, at least what the code touches
    u32 local_bytes = 0;  // per thread
    u32 shared_bytes = 0; // compute
    u32 barriers = 0;     // compute
    std::array<u32, 3> workgroup{1, 1, 1};
    bool early_fragment_tests = false, per_sample = false; // fragment
};

struct AssembleOptions {
    std::string file = "<source>"; // for error messages
    // Gives the text of `.include "path"`. Absent: includes are errors.
    std::function<Result<std::string>(std::string_view path)> include;
};

// Errors read `file:line:column: what is wrong`; the first one only. Any thread.
[[nodiscard]] Result<Program> assemble(std::string_view source, const AssembleOptions& options = {});

// ---- scheduling

struct ScheduledWord {
    u64 word;
    std::optional<Control> control; // given by the source; else chosen
    u8 reuse = 0;
};

// Fills in the missing control fields so that the hardware computes what the program order says, with no regard to
// speed: every instruction stalls 15 clocks (longer than any fixed latency); one of variable latency releases
// scoreboard 0 with its result and 1 with its operands, and the instruction behind it waits for both, and for every
// scoreboard that given fields name anywhere. Given fields stay as they are: they wait for what they say.
void schedule(std::span<ScheduledWord> words);

// The control fields in the assembler's own syntax, e.g. "{stall=6 yield wr=0 rd=1 wait=0,2}".
[[nodiscard]] std::string control_text(const Control& control);

} // namespace heaviside::maxwell
