// Control words for code that has none. Which instructions have a variable latency is what the vendor's assembler gives
// scoreboards to, over the compute corpus; the others finish within 15 clocks (guards of predicates take 13).
#include "maxwell/assembler.h"
#include "maxwell/latency.h"

#include <fmt/format.h>

#include <array>

namespace heaviside::maxwell {
Latency latency(Opcode opcode) {
    switch (opcode) {
    case Opcode::ALD:
    case Opcode::AL2P:
    case Opcode::ATOM:
    case Opcode::ATOMS:
    case Opcode::DADD:
    case Opcode::DFMA:
    case Opcode::DMNMX:
    case Opcode::DMUL:
    case Opcode::DSET:
    case Opcode::DSETP:
    case Opcode::F2F:
    case Opcode::F2I:
    case Opcode::FLO:
    case Opcode::HADD2:
    case Opcode::HADD2_32I:
    case Opcode::HFMA2:
    case Opcode::HFMA2_32I:
    case Opcode::HMUL2:
    case Opcode::HMUL2_32I:
    case Opcode::HSET2:
    case Opcode::HSETP2:
    case Opcode::I2F:
    case Opcode::I2I:
    case Opcode::IMAD:
    case Opcode::IMAD32I:
    case Opcode::IMADSP:
    case Opcode::IMUL:
    case Opcode::IMUL32I:
    case Opcode::IPA:
    case Opcode::ISBERD:
    case Opcode::LD:
    case Opcode::LDC:
    case Opcode::LDG:
    case Opcode::LDL:
    case Opcode::LDS:
    case Opcode::MUFU:
    case Opcode::OUT:
    case Opcode::PIXLD:
    case Opcode::POPC:
    case Opcode::SHFL:
    case Opcode::SUATOM:
    case Opcode::SULD:
    case Opcode::TEX:
    case Opcode::TEXS:
    case Opcode::TLD:
    case Opcode::TLD4:
    case Opcode::TLD4S:
    case Opcode::TLDS:
    case Opcode::TMML:
    case Opcode::TXA:
    case Opcode::TXD:
    case Opcode::TXQ:
    case Opcode::VMAD:
        return Both;
    case Opcode::B2R:
    case Opcode::S2R:
        return Result;
    case Opcode::AST:
    case Opcode::RED:
    case Opcode::ST:
    case Opcode::STG:
    case Opcode::STL:
    case Opcode::STS:
    case Opcode::SURED:
    case Opcode::SUST:
        return Operands;
    default:
        return Fixed;
    }
}

bool has_operand_caches(Opcode opcode) {
    switch (opcode) {
    case Opcode::DADD:
    case Opcode::DFMA:
    case Opcode::DMNMX:
    case Opcode::DMUL:
    case Opcode::DSET:
    case Opcode::DSETP:
    case Opcode::HADD2:
    case Opcode::HADD2_32I:
    case Opcode::HFMA2:
    case Opcode::HFMA2_32I:
    case Opcode::HMUL2:
    case Opcode::HMUL2_32I:
    case Opcode::HSET2:
    case Opcode::HSETP2:
    case Opcode::VMAD:
        return true;
    default:
        return latency(opcode) == Fixed;
    }
}

namespace {

bool reads_register(const Instruction& instruction) {
    for (const Slot slot : {Slot::A, Slot::B, Slot::C}) {
        const Operand operand = instruction.operand(slot);
        const bool has_register = operand.kind == OperandKind::Register || operand.kind == OperandKind::Memory ||
                                  operand.kind == OperandKind::Attribute || operand.kind == OperandKind::Constant;
        if (has_register && operand.reg != zero_register)
            return true;
    }
    return false;
}

constexpr u8 result_scoreboard = 0, operand_scoreboard = 1;

} // namespace

void schedule(std::span<ScheduledWord> words) {
    const auto scoreboards_of = [](const Control& control) {
        unsigned set = 0;
        if (control.write_barrier != no_barrier)
            set |= 1u << control.write_barrier;
        if (control.read_barrier != no_barrier)
            set |= 1u << control.read_barrier;
        return static_cast<u8>(set);
    };
    // Those of given fields may be held anywhere, branches lead everywhere, and waiting for a free one costs nothing.
    u8 given = 0;
    for (const ScheduledWord& scheduled : words)
        if (scheduled.control)
            given = static_cast<u8>(given | scoreboards_of(*scheduled.control));
    u8 outstanding = given; // with what the instruction before may hold
    for (ScheduledWord& scheduled : words) {
        const auto instruction = decode(scheduled.word);
        if (!scheduled.control) {
            Control control;
            control.stall = 15;
            control.yield = true; // stalls above 11 need it
            control.wait = outstanding;
            const Latency kind = instruction ? latency(instruction->opcode()) : Fixed;
            if (kind & Result)
                control.write_barrier = result_scoreboard;
            if ((kind & Operands) && reads_register(*instruction))
                control.read_barrier = operand_scoreboard;
            scheduled.control = control;
        }
        scheduled.control->reuse = static_cast<u8>(scheduled.control->reuse | scheduled.reuse);
        outstanding = static_cast<u8>(given | scoreboards_of(*scheduled.control));
    }
}

std::string control_text(const Control& control) {
    std::string text = fmt::format("{{stall={}", control.stall);
    if (control.yield)
        text += " yield";
    if (control.write_barrier != no_barrier)
        text += fmt::format(" wr={}", control.write_barrier);
    if (control.read_barrier != no_barrier)
        text += fmt::format(" rd={}", control.read_barrier);
    const char* separator = " wait=";
    for (unsigned i = 0; i < 6; ++i) {
        if (!(control.wait >> i & 1))
            continue;
        text += fmt::format("{}{}", separator, i);
        separator = ",";
    }
    if (control.reuse != 0)
        text += fmt::format(" reuse={}", control.reuse);
    return text + "}";
}

} // namespace heaviside::maxwell
