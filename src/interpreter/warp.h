// The state of one warp and of what its lanes share, and how instructions reach operands.
#pragma once

#include "interpreter/machine.h"
#include "maxwell/instruction.h"

#include <bit>
#include <string>
#include <utility>

namespace heaviside::interpreter {

using maxwell::Instruction;
using maxwell::Modifier;
using maxwell::Opcode;
using maxwell::Operand;
using maxwell::OperandKind;
using maxwell::Slot;

// Condition-code bits, as P2R CC reads them.
namespace flag {
inline constexpr u8 zero = 1, sign = 2, carry = 4, overflow = 8;
}

// An entry of the branch stack: lanes that go on at `pc` once all lanes above are done. The kind says which instruction
// may unwind to it.
enum class TokenKind : u8 { Diverge, Sync, Break, Continue, Call, LongJump, Exit };
struct Token {
    TokenKind kind;
    u32 mask;
    u32 pc;
};
inline constexpr std::size_t deepest_stack = 4096; // tokens; more is an endless recursion

inline constexpr unsigned barrier_count = 16; // of a workgroup
inline constexpr u8 no_barrier = 255;

struct Workgroup;

struct Warp {
    Workgroup* workgroup = nullptr;
    u32 first_thread = 0;       // linear index of lane 0 in the workgroup
    u32 active = 0, exited = 0; // one bit per lane
    u32 pc = 0;                 // byte offset of the next instruction word
    u32 next_pc = 0;            // of the word behind the one being executed
    u64 steps = 0;
    u8 waits_at = no_barrier;
    u32 barrier_result = 0;    // what B2R.RESULT reads: of the last BAR.RED
    u32 local_memory_base = 0; // what GETLMEMBASE reads
    std::vector<Token> stack;
    std::vector<u32> registers = std::vector<u32>(256 * warp_size); // [register][lane]; RZ's row stays 0
    std::array<u8, warp_size> predicates{};                         // bit n: Pn; bit 7 always set
    std::array<u8, warp_size> flags{};
    std::vector<std::byte> local; // [lane][local_bytes]
    std::string fault;            // set by an instruction that cannot go on
    u8 fault_lane = warp_size;    // the lane at fault; warp_size: the first that executes

    // Sets the fault, unless there is one.
    void raise(unsigned lane, std::string what) {
        if (!fault.empty())
            return;
        fault = std::move(what);
        fault_lane = static_cast<u8>(lane);
    }
    [[nodiscard]] u32 get(u8 reg, unsigned lane) const { return registers[reg * warp_size + lane]; }
    void set(u8 reg, unsigned lane, u32 value) {
        if (reg != maxwell::zero_register)
            registers[reg * warp_size + lane] = value;
    }
    [[nodiscard]] bool predicate(const Operand& operand, unsigned lane) const {
        return ((predicates[lane] >> operand.reg & 1) != 0) != operand.negated;
    }
    void set_predicate(const Operand& operand, unsigned lane, bool value) {
        if (operand.kind == OperandKind::Predicate && operand.reg != maxwell::true_predicate)
            predicates[lane] = static_cast<u8>((predicates[lane] & ~(1u << operand.reg)) | u32{value} << operand.reg);
    }
    // Lanes of `mask` stop here: each is taken from the active set and from every token above the nearest one of `kind`
    // that holds it. Gives the lanes that no such token holds: they left the tokens all the same.
    u32 unwind(u32 mask, TokenKind kind);
    // Lanes of `mask` are through with the program.
    void leave(u32 mask) {
        exited |= mask;
        active &= ~mask;
    }
};

// One of a workgroup's barriers. It opens when the warps that arrived have as many threads as it waits for, every warp
// counting as a whole one, whatever lanes are active.
struct Barrier {
    u32 arrived = 0;  // warps
    u32 threads = 0;  // to wait for; 0: all warps that have not left
    u32 count = 0;    // BAR.RED: threads whose predicate held
    u32 reducing = 0; // BAR.RED: threads that took part
};

struct Workgroup {
    const Launch* launch = nullptr;
    std::array<u32, 3> id{};
    std::vector<std::byte> shared;
    std::vector<Warp> warps;
    u32 warps_left = 0;
    std::array<Barrier, barrier_count> barriers{};

    // Opens the barriers that have all they wait for: after an arrival, or when a warp has left.
    void open_barriers();
};

// Watches a run instruction by instruction. `lanes` execute; the warp's pc is still, or already, that of the next one.
class Observer {
public:
    virtual ~Observer() = default;
    // False stops the run, with the error "stopped".
    virtual bool before(const Warp& warp, const Instruction& instruction, u32 lanes) = 0;
    virtual void after(const Warp& warp, const Instruction& instruction, u32 lanes) = 0;
    virtual void done(const Warp& warp) = 0; // all its lanes have left
};

// The lanes of a mask, lowest first.
template <class F>
void for_lanes(u32 mask, F&& f) {
    if (mask == ~0u) { // the usual case, which compilers can unroll
        for (unsigned lane = 0; lane < warp_size; ++lane)
            f(lane);
        return;
    }
    for (; mask != 0; mask &= mask - 1)
        f(static_cast<unsigned>(std::countr_zero(mask)));
}

// A word of a constant bank; 0 past its end.
[[nodiscard]] u32 constant_word(const Warp& warp, u32 bank, u32 offset);
// The 32 bits of a source before its modifiers (negation, absolute value, inversion, part).
[[nodiscard]] inline u32 raw(const Warp& warp, const Operand& operand, unsigned lane) {
    if (operand.kind == OperandKind::Register)
        return warp.get(operand.reg, lane);
    if (operand.kind == OperandKind::Constant)
        return constant_word(warp, operand.bank, static_cast<u32>(operand.offset) + warp.get(operand.reg, lane));
    return operand.kind == OperandKind::Immediate ? static_cast<u32>(operand.value) : 0;
}
// The selected byte or half, zero-extended or sign-extended; the whole word without a selection.
[[nodiscard]] u32 part_of(u32 value, maxwell::Part part, bool is_signed);

// How a comparison and a source predicate are joined.
[[nodiscard]] constexpr bool join(maxwell::BoolOp op, bool a, bool b) {
    return op == maxwell::BoolOp::And ? a && b : op == maxwell::BoolOp::Or ? a || b : a != b;
}

// Executes `instruction` for the lanes in `mask` (not empty). Errors go to Warp::fault.
using Execute = void (*)(Warp& warp, const Instruction& instruction, u32 mask);
// Null for instructions that are not built.
[[nodiscard]] Execute execute_of(Opcode opcode);

// The instructions, by room. Each file says what it adds.
struct Row {
    Opcode opcode;
    Execute execute;
};
[[nodiscard]] std::span<const Row> integer_rows();
[[nodiscard]] std::span<const Row> bit_rows();
[[nodiscard]] std::span<const Row> float_rows();
[[nodiscard]] std::span<const Row> double_rows();
[[nodiscard]] std::span<const Row> half_rows();
[[nodiscard]] std::span<const Row> special_function_rows();
[[nodiscard]] std::span<const Row> conversion_rows();
[[nodiscard]] std::span<const Row> condition_rows();
[[nodiscard]] std::span<const Row> video_rows();
[[nodiscard]] std::span<const Row> move_rows();
[[nodiscard]] std::span<const Row> memory_rows();
[[nodiscard]] std::span<const Row> flow_rows();
[[nodiscard]] std::span<const Row> atomic_rows();
[[nodiscard]] std::span<const Row> barrier_rows();
[[nodiscard]] std::span<const Row> lane_rows();
[[nodiscard]] std::span<const Row> system_rows();
[[nodiscard]] std::span<const Row> attribute_rows();
[[nodiscard]] std::span<const Row> texture_rows();
[[nodiscard]] std::span<const Row> surface_rows();

// The lanes of `mask` for which the condition-code test of a branch, EXIT or KIL holds.
[[nodiscard]] u32 tested_lanes(const Warp& warp, const Instruction& instruction, u32 mask);

// Graphics programs (stage.h). Before the first and after the last instruction of their one warp:
void begin_stage(StageState& stage, Warp& warp);
void end_stage(StageState& stage, const Warp& warp);
// Four lanes are the pixels of a quad.
[[nodiscard]] bool has_quads(const Warp& warp);
// Without helper lanes and killed pixels, which leave nothing in memory.
[[nodiscard]] u32 leaving_lanes(const Warp& warp, u32 mask);
// System registers that graphics programs have a say in; nothing for others.
[[nodiscard]] std::optional<u32> stage_register(const Warp& warp, u32 number, unsigned lane);
// The handle word behind an immediate handle number.
[[nodiscard]] u32 bound_handle(const Warp& warp, u32 number);

} // namespace heaviside::interpreter
