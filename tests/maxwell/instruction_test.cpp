// What decode() gives to the interpreter and the translator: operands, modifiers, register counts.
#include "maxwell/assembler.h"
#include "maxwell/instruction.h"

#include <gtest/gtest.h>

namespace heaviside::maxwell {
namespace {

Instruction instruction_of(std::string_view text, u32 address = 8) {
    const auto encoded = encode(text, address);
    EXPECT_TRUE(encoded) << text;
    const auto instruction = decode(encoded ? encoded->word : 0x50b0000000070f00, address);
    EXPECT_TRUE(instruction);
    return *instruction;
}

unsigned count_of(std::string_view text, Slot slot) {
    return instruction_of(text).operand(slot).count;
}

TEST(Instruction, OperandsByFormHaveTheSameSlots) {
    for (const char* text : {"FFMA R1, R2, -R3, R4", "FFMA R1, R2, -c[0x3][0x10], R4", "FFMA R1, R2, -1.5, R4",
                             "FFMA R1, R2, R3, c[0x3][0x10]"}) {
        const Instruction i = instruction_of(text);
        EXPECT_EQ(i.opcode(), Opcode::FFMA);
        EXPECT_EQ(i.operand(Slot::D).reg, 1);
        EXPECT_EQ(i.operand(Slot::A).reg, 2);
        EXPECT_TRUE(i.has(Slot::B));
        EXPECT_TRUE(i.has(Slot::C));
    }
    const Operand b = instruction_of("FFMA R1, R2, -c[0x3][0x10], R4").operand(Slot::B);
    EXPECT_EQ(b.kind, OperandKind::Constant);
    EXPECT_EQ(b.bank, 3);
    EXPECT_EQ(b.offset, 0x10);
    EXPECT_TRUE(b.negated);
    EXPECT_FALSE(b.absolute);
}

TEST(Instruction, ImmediatesAreTheBitsOfTheirType) {
    const Operand single = instruction_of("FADD R0, R1, -1.5").operand(Slot::B);
    EXPECT_EQ(single.type, ImmediateType::Float32);
    EXPECT_EQ(single.value, 0xbfc00000u);
    const Operand wide = instruction_of("DADD R0, R2, 0.5").operand(Slot::B);
    EXPECT_EQ(wide.type, ImmediateType::Float64);
    EXPECT_EQ(wide.value, 0x3fe0000000000000u);
    const Operand halves = instruction_of("HADD2 R0, R1, 1, -2").operand(Slot::B);
    EXPECT_EQ(halves.type, ImmediateType::Float16x2);
    EXPECT_EQ(halves.value, 0x3c00c000u); // H1 is printed first
    EXPECT_EQ(instruction_of("IADD R0, R1, -0x2").operand(Slot::B).value, ~u64{1});
    EXPECT_EQ(instruction_of("MOV32I R0, 0xffffffff").operand(Slot::B).value, 0xffffffffu);
}

TEST(Instruction, ModifiersAreEnumerators) {
    const Instruction i = instruction_of("@!P2 FFMA.FTZ.RZ.SAT R1.CC, R2, R3, R4");
    EXPECT_EQ(i.get<FloatMode>(), FloatMode::Ftz);
    EXPECT_EQ(i.get<Rounding>(), Rounding::Zero);
    EXPECT_TRUE(i.has(Modifier::Saturate));
    EXPECT_TRUE(i.has(Modifier::WriteCC));
    EXPECT_FALSE(i.has(Modifier::Extended)); // no such field: 0
    EXPECT_EQ(i.guard().predicate, 2);
    EXPECT_TRUE(i.guard().negated);
    EXPECT_EQ(instruction_of("FSETP.NEU.OR P0, P1, R2, R3, !P4").get<Compare>(), Compare::NotEqualUnordered);
    EXPECT_EQ(instruction_of("ISETP.T.AND P0, PT, R2, R3, PT").get<Compare>(), Compare::True);
    EXPECT_EQ(instruction_of("FCMP R0, R1, R2, R3").get<Compare>(), Compare::Greater); // GT is not printed
    EXPECT_EQ(instruction_of("IMAD.U32.S32 R0, R1, R2, R3").get<DataType>(Modifier::SourceType), DataType::U32);
    EXPECT_EQ(instruction_of("IMAD.U32.S32 R0, R1, R2, R3").get<DataType>(Modifier::SourceType2), DataType::S32);
    EXPECT_EQ(instruction_of("EXIT").get<maxwell::Test>(), maxwell::Test::True);
    EXPECT_EQ(instruction_of("BRA CC.NE, 0x100").get<maxwell::Test>(), maxwell::Test::NotEqual);
    EXPECT_TRUE(instruction_of("SHF.R.U64 R0, R1, R2, R3").has(Modifier::ShiftRight));
    EXPECT_FALSE(instruction_of("SHF.L.U64 R0, R1, R2, R3").has(Modifier::ShiftRight));
}

TEST(Instruction, PartsOfSources) {
    const Instruction xmad = instruction_of("XMAD.S16.U16 R0, R1.H1, R2, R3");
    EXPECT_EQ(xmad.operand(Slot::A).part, Part::H1);
    EXPECT_EQ(xmad.operand(Slot::B).part, Part::H0);
    EXPECT_EQ(instruction_of("I2F.F32.U8 R0, R1.B2").operand(Slot::B).part, Part::B2);
    EXPECT_EQ(instruction_of("VADD.U8.S16 R0, R1.B3, R2.H1, R3").operand(Slot::A).part, Part::B3);
    const Operand half = instruction_of("HADD2 R0, -|R1.H1_H1|, R2").operand(Slot::A);
    EXPECT_EQ(half.part, Part::H1H1);
    EXPECT_TRUE(half.negated);
    EXPECT_TRUE(half.absolute);
}

TEST(Instruction, OperandsThatTheTextLeavesOut) {
    const Instruction lop = instruction_of("LOP.AND R0, R1, R2");
    EXPECT_EQ(lop.operand(Slot::P).kind, OperandKind::Predicate);
    EXPECT_EQ(lop.operand(Slot::P).reg, true_predicate);
    EXPECT_TRUE(instruction_of("TEX R0, R0, 0x8, 2D, 0xf").operand(Slot::B).is_zero_register());
    EXPECT_EQ(instruction_of("MOV R0, R1").operand(Slot::I).value, 15u);
    EXPECT_EQ(instruction_of("EXIT").operand(Slot::A).kind, OperandKind::None);
}

TEST(Instruction, PredicatesStoredInvertedReadRight) {
    EXPECT_EQ(instruction_of("LDG.E P3, R0, [R2]").operand(Slot::P).reg, 3);
    EXPECT_EQ(instruction_of("SULD.P.2D.IGN R0, [R2], 0x10").operand(Slot::P).reg, true_predicate);
}

TEST(Instruction, TargetsAreAddresses) {
    const Operand target = instruction_of("BRA 0x40", 0x118).operand(Slot::T);
    EXPECT_EQ(target.kind, OperandKind::Target);
    EXPECT_EQ(target.value, 0x40u);
    EXPECT_EQ(instruction_of("SSY c[0x1][0x8]").operand(Slot::T).kind, OperandKind::Constant);
}

TEST(Instruction, RegisterCountsFollowTheAccess) {
    EXPECT_EQ(count_of("LDG.E.128 R4, [R2]", Slot::D), 4u);
    EXPECT_TRUE(instruction_of("LDG.E.128 R4, [R2]").operand(Slot::A).wide_index);
    EXPECT_EQ(count_of("STS.64 [R0], R2", Slot::B), 2u);
    EXPECT_EQ(count_of("ALD.96 R0, a[0x80]", Slot::D), 3u);
    EXPECT_EQ(count_of("DFMA R0, R2, R4, R6", Slot::C), 2u);
    EXPECT_EQ(count_of("DSETP.LT.AND P0, PT, R2, R4, PT", Slot::A), 2u);
    EXPECT_EQ(count_of("F2F.F32.F64 R0, R2", Slot::D), 1u);
    EXPECT_EQ(count_of("F2F.F32.F64 R0, R2", Slot::B), 2u);
    EXPECT_EQ(count_of("I2F.F64.S64 R0, R2", Slot::D), 2u);
    EXPECT_EQ(count_of("ATOM.E.ADD.U64 R0, [R2], R4", Slot::B), 2u);
    EXPECT_EQ(count_of("ATOM.E.CAS.64 R0, [R2], R4, R6", Slot::B), 4u); // compare value, then the new one
    EXPECT_EQ(count_of("SUST.P.2D.IGN [R4], R12, 0x28", Slot::B), 4u);
    EXPECT_EQ(count_of("SUST.P.2D.RG.IGN [R4], R12, 0x28", Slot::B), 2u);
}

TEST(Instruction, RegisterCountsOfTextureAccesses) {
    EXPECT_EQ(count_of("TEX R0, R4, 0x8, 2D, 0x5", Slot::D), 2u);
    EXPECT_EQ(count_of("TEX R0, R4, 0x8, ARRAY_CUBE, 0xf", Slot::A), 4u); // layer and three coordinates
    EXPECT_EQ(count_of("TEX.LL.AOFFI.DC R0, R4, R8, 0x8, 2D, 0xf", Slot::B), 3u);
    EXPECT_EQ(count_of("TLD4.R.PTP R0, R4, R8, 0x8, 2D, 0xf", Slot::B), 2u);
    EXPECT_EQ(count_of("TEXS R2, R0, R4, R5, 0x8, 2D, RGBA", Slot::D), 2u);
    EXPECT_EQ(count_of("TEXS R2, R0, R4, R5, 0x8, 2D, RGB", Slot::D2), 1u);
    EXPECT_EQ(count_of("TEXS R2, R0, R4, R5, 0x8, 2D, RGBA", Slot::A), 1u);    // x; y is B
    EXPECT_EQ(count_of("TEXS.LL R2, R0, R4, R6, 0x8, 2D, RGBA", Slot::A), 2u); // x, y; the level is B
    EXPECT_EQ(count_of("TLD4S.R.AOFFI.DC R2, R0, R4, R6, 0x8", Slot::B), 2u);
    EXPECT_EQ(count_of("TEXS.F16 R2, R0, R4, R5, 0x8, 2D, RGBA", Slot::D), 1u); // two halves
}

} // namespace
} // namespace heaviside::maxwell
