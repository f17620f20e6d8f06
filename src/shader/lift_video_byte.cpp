// VABSDIFF4: absolute differences of four bytes, each chosen from the eight of both sources. Bytes outside the mask are
// C's; .ACC adds those inside to C.
#include "shader/lift_context.h"

#include <array>

namespace heaviside::shader::lifting {
namespace {

using maxwell::DataType;

// By the number of the selection: digit i, lowest first, is the byte that takes part in difference i; A has bytes 0 to
// 3, B 4 to 7 (the texts of maxwell/modifier_tables.cpp read the other way round).
constexpr u32 selections_a[] = {0x0000, 0x1111, 0x2222, 0x3333, 0x3210, 0x4321, 0x5432,
                                0x6543, 0x3201, 0x3012, 0x0213, 0x3120, 0x1230, 0x2310};
constexpr u32 selections_b[] = {0x4444, 0x5555, 0x6666, 0x7777, 0x7654, 0x6543, 0x5432, 0x4321, 0x4567, 0x6745, 0x5476};

void vabsdiff4(Lifter& l, const Instruction& i) {
    const Operand operand_a = i.operand(Slot::A), operand_b = i.operand(Slot::B);
    const std::array<Value, 2> words{l.word(operand_a), l.word(operand_b)};
    const u32 from_a = selections_a[static_cast<std::size_t>(operand_a.part) % std::size(selections_a)];
    const u32 from_b = operand_b.kind == OperandKind::Immediate
                           ? selections_b[4]
                           : selections_b[static_cast<std::size_t>(operand_b.part) % std::size(selections_b)];
    const bool signed_a = i.get<DataType>(Modifier::SourceType) == DataType::S8,
               signed_b = i.get<DataType>(Modifier::SourceType2) == DataType::S8,
               signed_result = i.modifier(Modifier::DestinationType) != 0, saturate = i.has(Modifier::Saturate),
               accumulate = i.has(Modifier::Accumulate);
    const u32 chosen = i.modifier(Modifier::VideoMask);
    const auto byte = [&](u32 selection, u32 n, bool sign) {
        const u32 number = selection >> 4 * n & 7;
        return sign ? l.signed_bits(words[number / 4], 8 * (number % 4), 8)
                    : l.bits(words[number / 4], 8 * (number % 4), 8);
    };
    Value result = l.word(i, Slot::C);
    for (u32 n = 0; n < 4; ++n) {
        if ((chosen >> n & 1) == 0)
            continue;
        Value difference = l.b.op(Op::IAbs, {l.b.op(Op::ISub, {byte(from_a, n, signed_a), byte(from_b, n, signed_b)})});
        if (saturate)
            difference = l.b.op(Op::IMinU, {difference, l.b.word(signed_result ? 127 : 255)});
        result = accumulate ? l.add(result, difference)
                            : l.b.op(Op::BitInsert, {result, difference, l.b.word(8 * n), l.b.word(8)});
    }
    l.integer_result(i, result);
}

constexpr LiftRow rows[] = {{Opcode::VABSDIFF4, vabsdiff4}};

} // namespace

std::span<const LiftRow> lift_video_byte_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
