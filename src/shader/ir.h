// The translator's intermediate representation: one function of basic blocks over untyped values.
//
// A value is 1, 32 or 64 bits (or a small vector of words, the result of a wide load or a texture operation); what the
// bits mean is the operation's business, as in the machine. The lifter writes guest registers through
// GetRegister/SetRegister and friends; ssa.h replaces those by values and phis. Values are dense indices into
// Program::insts, so passes keep their facts in plain vectors. Text form: ir_text.h. Operations: ir_ops.h.
#pragma once

#include "program/program.h"
#include "shader/ir_ops.h"

#include <initializer_list>
#include <span>
#include <vector>

namespace heaviside::shader::ir {

enum class Type : u8 { Void, U1, U32, U64, U32x2, U32x4 };

enum class Op : u8 {
#define X(name, ...) name,
    HEAVISIDE_IR_OPS(X)
#undef X
};

enum class Effect : u8 { Pure, Read, Write };
enum class ImmKind : u8 { None, Register, Predicate, Flag, Component, Bank, Address, Lane, Index, Special };
enum class ModsKind : u8 { None, Float, Compare, Memory, Atomic, Attribute, Interpolate, Texture, Image };
enum class ResultKind : u8 { Void, U1, U32, U64, U32x2, U32x4, Same, Any };

struct OpInfo {
    const char* text;
    ResultKind result;
    const char* operands;
    ImmKind imm;
    ModsKind mods;
    Effect effect;
};
[[nodiscard]] const OpInfo& info(Op op);

// Index into Program::insts; none: no value.
struct Value {
    u32 id = ~0u;
    [[nodiscard]] constexpr bool valid() const { return id != ~0u; }
    friend constexpr bool operator==(Value, Value) = default;
};
inline constexpr Value none{};

using BlockId = u32;
inline constexpr BlockId no_block = ~0u;

// Registers: 0-254 are R0-R254 (RZ is a constant to the lifter); 256-511 are free for the lifter's own variables.
// Everything reads as 0 until it is written. Predicates: 0-6 are P0-P6; 8-63 are free.
inline constexpr u32 register_count = 512, predicate_count = 64, flag_count = 4;
enum class Flag : u8 { Zero, Sign, Carry, Overflow };

// --- mods: Float (as encoded by the machine)
enum class Rounding : u8 { Nearest, Down, Up, Zero }; // bits 0-1: RN RM RP RZ
inline constexpr u32 float_ftz = 1u << 2;
inline constexpr u32 float_fmz = 1u << 3;
// Bits 4-6, of FMul: what the product is multiplied by before it is rounded, as the machine encodes it.
inline constexpr u32 float_scale_shift = 4;
inline constexpr f32 float_scales[8] = {1.0f, 0.5f, 0.25f, 0.125f, 8.0f, 4.0f, 2.0f, 1.0f};
[[nodiscard]] constexpr f32 float_scale(u32 mods) {
    return float_scales[mods >> float_scale_shift & 7];
}
[[nodiscard]] constexpr u32 float_mods(Rounding rounding, bool ftz = false, bool fmz = false) {
    return static_cast<u32>(rounding) | (ftz ? float_ftz : 0) | (fmz ? float_fmz : 0);
}

// --- mods: Compare. Bits 0-3 hold the relation as the machine encodes it for floats; integers use F..GE and T.
// (float_ftz and float_fmz do not fit there: FCompare's flush is compare_ftz.)
enum class Relation : u8 { F, LT, EQ, LE, GT, NE, GE, Num, Nan, LTU, EQU, LEU, GTU, NEU, GEU, T };
inline constexpr u32 compare_ftz = 1u << 4;

// --- mods: Memory
enum class MemorySize : u8 { U8, S8, U16, S16, B32, B64, B128 };

// --- mods: Atomic: AtomicOp | AtomicType << 4. F32: add only (round to nearest, flushed); F16x2: add, min, max.
enum class AtomicOp : u8 { Add, Min, Max, Inc, Dec, And, Or, Xor, Exchange, CompareExchange };
enum class AtomicType : u8 { U32, S32, U64, F32, F16x2, S64 };
[[nodiscard]] constexpr u32 atomic_mods(AtomicOp op, AtomicType type) {
    return static_cast<u32>(op) | static_cast<u32>(type) << 4;
}

// --- mods: Attribute
inline constexpr u32 attribute_patch = 1;   // .P: the per-patch address space
inline constexpr u32 attribute_output = 2;  // .O: reads back an output (also TessCoord)
inline constexpr u32 attribute_vertex = 4;  // operand: index of the input vertex / control point / invocation
inline constexpr u32 attribute_indexed = 8; // operand: byte offset added to the address

// --- mods: Interpolate: mode | sampling << 2 | indexed << 4 | saturate << 5
enum class InterpolationMode : u8 { Pass, Multiply, Constant, ShadeMode };
enum class InterpolationSampling : u8 { Default, Centroid, Offset };
inline constexpr u32 interpolate_indexed = 1u << 4;
inline constexpr u32 interpolate_saturate = 1u << 5;
[[nodiscard]] constexpr u32 interpolate_mods(InterpolationMode mode, InterpolationSampling sampling) {
    return static_cast<u32>(mode) | static_cast<u32>(sampling) << 2;
}

// --- mods: Texture. Dimension has the numbers of shader::Dimension; 15: not known (queries), taken from other uses of
// the same handle, else D2.
inline constexpr u32 unknown_dimension = 15;
enum class LodMode : u8 { Implicit, Zero, Bias, Level };
struct TextureMods {
    u32 dimension = 0;           // bits 0-3
    LodMode lod{};               // bits 4-5; Bias and Level have an operand. Fetch: Zero or Level
    bool depth_compare = false;  // bit 6; has an operand
    bool offset = false;         // bit 7; an operand per axis (cubes: none)
    bool gather_offsets = false; // bit 8; eight operands (Gather)
    bool min_lod = false;        // bit 9; has an operand
    u8 component = 0;            // bits 10-11 (Gather)
    [[nodiscard]] constexpr u32 pack() const {
        return dimension | static_cast<u32>(lod) << 4 | u32{depth_compare} << 6 | u32{offset} << 7 |
               u32{gather_offsets} << 8 | u32{min_lod} << 9 | u32{component} << 10;
    }
    [[nodiscard]] static constexpr TextureMods unpack(u32 m) {
        return {m & 15,
                static_cast<LodMode>(m >> 4 & 3),
                (m >> 6 & 1) != 0,
                (m >> 7 & 1) != 0,
                (m >> 8 & 1) != 0,
                (m >> 9 & 1) != 0,
                static_cast<u8>(m >> 10 & 3)};
    }
};

// --- mods: Image
enum class ImageBounds : u8 { Ignore, Clamp, Trap }; // beyond the image: Ignore and Trap load 0 and drop stores
struct ImageMods {
    u32 dimension = 0;                 // bits 0-3: D1, D1Array, D2, D2Array, D3, Buffer
    ImageBounds bounds{};              // bits 4-5
    bool raw = false;                  // bit 6: .D forms, no format conversion
    MemorySize size = MemorySize::B32; // bits 7-9: of raw accesses
    AtomicOp op{};                     // bits 10-13
    AtomicType type{};                 // bits 14-16
    u8 components = 15;                // bits 17-20: mask of a formatted access
    [[nodiscard]] constexpr u32 pack() const {
        return dimension | static_cast<u32>(bounds) << 4 | u32{raw} << 6 | static_cast<u32>(size) << 7 |
               static_cast<u32>(op) << 10 | static_cast<u32>(type) << 14 | u32{components} << 17;
    }
    [[nodiscard]] static constexpr ImageMods unpack(u32 m) {
        return {m & 15,
                static_cast<ImageBounds>(m >> 4 & 3),
                (m >> 6 & 1) != 0,
                static_cast<MemorySize>(m >> 7 & 7),
                static_cast<AtomicOp>(m >> 10 & 15),
                static_cast<AtomicType>(m >> 14 & 7),
                static_cast<u8>(m >> 17 & 15)};
    }
};

// ReadSpecial's imm.
enum class Special : u8 {
    LaneId,
    TidX,
    TidY,
    TidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NtidX,
    NtidY,
    NtidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    InvocationId,  // geometry: instance; tessellation control: control point
    PatchVertices, // tessellation control, geometry: vertices of the input primitive
    EqMask,
    LtMask,
    LeMask,
    GtMask,
    GeMask,
    YDirection, // float: 1.0 or -1.0
    SampleId,
    SampleMaskIn,
    SampleCount,
    ClockLow,
    ClockHigh,
    Zero, // registers that say nothing useful on another machine (warp, SM, virtual ids)
};
inline constexpr unsigned special_count = static_cast<unsigned>(Special::Zero) + 1;
[[nodiscard]] const char* text(Special special);

struct Inst {
    Op op{};
    Type type{};
    u16 count = 0; // operands
    u32 first = 0; // in Program::operands
    u32 imm = 0;
    u32 mods = 0;
};
static_assert(sizeof(Inst) == 16);

struct SwitchCase {
    u32 value;
    BlockId target;
};

// Edges of a block. `Switch`: `condition` is U32, target[0] the default. A target may occur several times only in a
// Switch. Exit ends the invocation normally (after its StoreColor etc.).
struct Terminator {
    enum class Kind : u8 { None, Branch, BranchIf, Switch, Exit, Unreachable } kind = Kind::None;
    Value condition;
    BlockId target[2] = {no_block, no_block}; // BranchIf: true, false
    std::vector<SwitchCase> cases;
};

struct Block {
    std::vector<u32> insts; // value ids in order, phis first
    Terminator end;
    std::vector<BlockId> predecessors; // compute_predecessors()
    u32 address = ~0u;                 // guest address of the first instruction, for messages
};

struct Program {
    program::Stage stage{};
    std::vector<Block> blocks; // blocks[0] is the entry and has no predecessors
    std::vector<Inst> insts;
    std::vector<Value> operands;
    std::vector<u32> constant_table; // hash set of the Const values, open addressing, ~0u: free; used by constant()
    u32 constant_count = 0;

    [[nodiscard]] const Inst& operator[](Value v) const { return insts[v.id]; }
    [[nodiscard]] std::span<const Value> args(const Inst& inst) const {
        return {operands.data() + inst.first, inst.count};
    }
    [[nodiscard]] std::span<Value> args(const Inst& inst) { return {operands.data() + inst.first, inst.count}; }
    [[nodiscard]] Value arg(Value v, unsigned i) const { return operands[insts[v.id].first + i]; }
    [[nodiscard]] bool is_const(Value v) const { return insts[v.id].op == Op::Const; }
    [[nodiscard]] u32 const_word(Value v) const { return insts[v.id].imm; }
    [[nodiscard]] u64 const_long(Value v) const { return insts[v.id].imm | u64{insts[v.id].mods} << 32; }

    // One value per (type, bits).
    Value constant(Type type, u64 bits);
    // Appends an instruction without putting it into a block.
    Value append(Op op, Type type, std::span<const Value> arguments, u32 imm, u32 mods);
};

// Fills Block::predecessors; a predecessor occurs once however many edges lead here.
void compute_predecessors(Program& program);

// Calls f(BlockId&) for each edge.
template <class F>
void for_each_target(Terminator& end, F&& f) {
    using Kind = Terminator::Kind;
    if (end.kind == Kind::Branch || end.kind == Kind::BranchIf || end.kind == Kind::Switch)
        f(end.target[0]);
    if (end.kind == Kind::BranchIf)
        f(end.target[1]);
    for (SwitchCase& c : end.cases)
        f(c.target);
}
template <class F>
void for_each_target(const Terminator& end, F&& f) {
    for_each_target(const_cast<Terminator&>(end), [&](BlockId& b) { f(static_cast<BlockId>(b)); });
}

// What every pass may rely on: operand counts and types fit the operation, targets exist, each block ends, phis come
// first and match the predecessors. The error names the instruction.
[[nodiscard]] Result<void> verify(const Program& program);

// Appends to one block at a time. Instructions get their result type from the operation; `wide` chooses it for loads
// and atomics from mods.
class Builder {
public:
    explicit Builder(Program& p) : program(p) {}

    BlockId new_block(u32 address = ~0u);
    void set_block(BlockId block) { current = block; }
    [[nodiscard]] BlockId block() const { return current; }
    // True once the current block has a terminator.
    [[nodiscard]] bool terminated() const { return program.blocks[current].end.kind != Terminator::Kind::None; }

    Value op(Op op, std::initializer_list<Value> arguments = {}, u32 imm = 0, u32 mods = 0);
    Value op(Op op, std::span<const Value> arguments, u32 imm = 0, u32 mods = 0);

    Value word(u32 bits) { return program.constant(Type::U32, bits); }
    Value float_word(f32 value);
    Value quad(u64 bits) { return program.constant(Type::U64, bits); }
    Value boolean(bool value) { return program.constant(Type::U1, value ? 1 : 0); }

    Value get_register(u32 index) { return op(Op::GetRegister, {}, index); }
    void set_register(u32 index, Value value) { op(Op::SetRegister, {value}, index); }
    Value get_predicate(u32 index) { return op(Op::GetPredicate, {}, index); }
    void set_predicate(u32 index, Value value) { op(Op::SetPredicate, {value}, index); }
    Value get_flag(Flag flag) { return op(Op::GetFlag, {}, static_cast<u32>(flag)); }
    void set_flag(Flag flag, Value value) { op(Op::SetFlag, {value}, static_cast<u32>(flag)); }
    Value icompare(Relation relation, bool is_signed, Value a, Value b) {
        return op(is_signed ? Op::ICompareS : Op::ICompareU, {a, b}, 0, static_cast<u32>(relation));
    }
    Value fcompare(Relation relation, Value a, Value b, bool ftz = false) {
        return op(Op::FCompare, {a, b}, 0, static_cast<u32>(relation) | (ftz ? compare_ftz : 0));
    }

    void branch(BlockId target);
    void branch_if(Value condition, BlockId yes, BlockId no); // yes == no becomes a Branch
    void switch_on(Value selector, BlockId otherwise, std::vector<SwitchCase> cases);
    void exit();
    void unreachable();

    Program& program;

private:
    BlockId current = 0;
};

} // namespace heaviside::shader::ir
