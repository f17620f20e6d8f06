// Textures. An access is gathered into a Lookup, whose operands are then put in the order that the IR has them.
//
// Register layouts: A holds the layer (arrays; low 16 bits) and the coordinates; B holds the handle (.B forms), level
// or bias, packed offsets, sample, depth reference, in this order. The short forms (TEXS, TLDS, TLD4S) split the
// coordinates between A and B.
#include "shader/lift_context.h"

#include "shader/interface.h"

#include <vector>

namespace heaviside::shader::lifting {
namespace {

using maxwell::LodMode;
using maxwell::OffsetMode;
using program::Stage;

struct Lookup {
    explicit Lookup(Op operation) : op(operation) {}
    Op op;
    Value handle, layer, lod, reference, sample;
    std::vector<Value> coordinates, gradients, offsets;
    Value minimum_lod;
    ir::TextureMods mods;
};

struct Shape {
    u32 coordinates = 2;
    bool array = false, multisample = false, cube = false;
    Dimension dimension = Dimension::D2;
};

Shape shape_of(const Instruction& i) {
    constexpr Dimension plain[] = {Dimension::D1, Dimension::D2, Dimension::D3, Dimension::Cube};
    constexpr Dimension arrays[] = {Dimension::D1Array, Dimension::D2Array, Dimension::D3, Dimension::CubeArray};
    constexpr u32 counts[] = {1, 2, 3, 3};
    const auto which = static_cast<u32>(i.get<maxwell::Dimension>()) & 3;
    Shape shape;
    shape.coordinates = counts[which];
    shape.array = i.has(Modifier::Array);
    shape.multisample = i.has(Modifier::Multisample);
    shape.cube = which == 3;
    shape.dimension = shape.array ? arrays[which] : plain[which];
    if (shape.multisample)
        shape.dimension = shape.array ? Dimension::D2MultisampleArray : Dimension::D2Multisample;
    return shape;
}

// Takes registers one after the other; RZ as the base gives zeros.
class Registers {
public:
    Registers(Lifter& l, const Instruction& i, Slot slot) : l_(l), next_(i.operand(slot).reg) {}
    Value take() {
        if (next_ == maxwell::zero_register)
            return l_.b.word(0);
        return l_.reg(next_++);
    }

private:
    Lifter& l_;
    u32 next_;
};

Value bound_handle(Lifter& l, u32 index) {
    return l.bank_word(l.program.layout->handle_bank, l.b.word(4 * index));
}

// The handle: a word of the driver's bank by an immediate number, or the next register.
Value handle(Lifter& l, const Instruction& i, Registers& registers) {
    return i.has(Slot::I) ? bound_handle(l, static_cast<u32>(i.operand(Slot::I).value)) : registers.take();
}

void take_coordinates(Lifter& l, const Shape& shape, Registers& registers, Lookup& lookup) {
    if (shape.array)
        lookup.layer = l.bits(registers.take(), 0, 16);
    for (u32 k = 0; k < shape.coordinates; ++k)
        lookup.coordinates.push_back(registers.take());
}

// Four bits an axis.
void unpack_offsets(Lifter& l, const Shape& shape, Value packed, Lookup& lookup) {
    if (shape.cube)
        return;
    for (u32 k = 0; k < shape.coordinates; ++k)
        lookup.offsets.push_back(l.signed_bits(packed, 4 * k, 4));
    lookup.mods.offset = true;
}

// Six bits an axis, eight apart: x0 y0 x1 y1 in a word.
void unpack_gather_offsets(Lifter& l, Value packed, u32 count, Lookup& lookup) {
    for (u32 k = 0; k < count; ++k)
        lookup.offsets.push_back(l.signed_bits(packed, 8 * k, 6));
}

ir::LodMode lod_mode(LodMode mode) {
    switch (mode) {
    case LodMode::Zero:
        return ir::LodMode::Zero;
    case LodMode::Bias:
    case LodMode::BiasArray:
        return ir::LodMode::Bias;
    case LodMode::Level:
    case LodMode::LevelArray:
        return ir::LodMode::Level;
    default:
        return ir::LodMode::Implicit;
    }
}

// Without derivatives the implicit level is the base level, and a bias counts from there.
void set_sample_lod(Lifter& l, Lookup& lookup, LodMode mode) {
    lookup.mods.lod = lod_mode(mode);
    if (l.program.stage == Stage::Fragment)
        return;
    if (lookup.mods.lod == ir::LodMode::Implicit)
        lookup.mods.lod = ir::LodMode::Zero;
    else if (lookup.mods.lod == ir::LodMode::Bias)
        lookup.mods.lod = ir::LodMode::Level;
}

bool has_lod_operand(LodMode mode) {
    return mode >= LodMode::Bias;
}

Value emit(Lifter& l, Lookup& lookup, const Shape& shape) {
    lookup.mods.dimension = static_cast<u32>(shape.dimension);
    std::vector<Value> arguments{lookup.handle};
    const auto append = [&arguments](const std::vector<Value>& values) {
        arguments.insert(arguments.end(), values.begin(), values.end());
    };
    append(lookup.coordinates);
    if (lookup.layer.valid())
        arguments.push_back(lookup.layer);
    append(lookup.gradients);
    for (const Value value : {lookup.lod, lookup.sample, lookup.reference})
        if (value.valid())
            arguments.push_back(value);
    append(lookup.offsets);
    if (lookup.minimum_lod.valid()) {
        lookup.mods.min_lod = true;
        arguments.push_back(lookup.minimum_lod);
    }
    return l.b.op(lookup.op, std::span<const Value>(arguments), 0, lookup.mods.pack());
}

// A depth comparison has one result: it stands in r, g and b, and a is 1.
Value component(Lifter& l, const Lookup& lookup, Value texel, u32 index) {
    if (lookup.op == Op::Gather || !lookup.mods.depth_compare)
        return l.b.op(Op::Extract, {texel}, index);
    return index == 3 ? l.b.float_word(1.0f) : l.b.op(Op::Extract, {texel}, 0);
}

// Full forms: the components of the mask, one register after the other; a predicate says what is not resident.
void store_components(Lifter& l, const Instruction& i, const Lookup& lookup, Value texel) {
    const u32 mask = static_cast<u32>(i.operand(Slot::I2).value);
    std::vector<Value> values;
    for (u32 k = 0; k < 4; ++k)
        if (mask >> k & 1)
            values.push_back(component(l, lookup, texel, k));
    const u8 d = i.operand(Slot::D).reg;
    for (u32 k = 0; k < values.size() && d != maxwell::zero_register; ++k)
        l.set_reg(d + k, values[k]);
    if (i.has(Slot::P))
        l.set_pred(i.operand(Slot::P).reg, l.b.boolean(false));
}

// Short forms: two in D and D + 1, two in the second destination; or all as halves in one register each.
void store_short(Lifter& l, const Instruction& i, const Lookup& lookup, Value texel, u32 mask) {
    std::vector<Value> values;
    for (u32 k = 0; k < 4; ++k)
        if (mask >> k & 1)
            values.push_back(component(l, lookup, texel, k));
    const u8 first = i.operand(Slot::D).reg,
             second = i.has(Slot::D2) ? i.operand(Slot::D2).reg : maxwell::zero_register;
    if (i.has(Modifier::HalfResult)) {
        const auto packed = [&](std::size_t k) {
            const Value high = k + 1 < values.size() ? values[k + 1] : l.b.word(0);
            return l.b.op(Op::PackHalf2, {values[k], high}, 0, ir::float_mods(ir::Rounding::Nearest));
        };
        l.set_reg(first, packed(0));
        if (values.size() > 2)
            l.set_reg(second, packed(2));
        return;
    }
    for (u32 k = 0; k < values.size(); ++k) {
        const u8 base = k < 2 ? first : second;
        if (base != maxwell::zero_register)
            l.set_reg(base + k % 2, values[k]);
    }
}

void tex(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    Registers a(l, i, Slot::A), extra(l, i, Slot::B);
    Lookup lookup(Op::Sample);
    lookup.handle = handle(l, i, extra);
    take_coordinates(l, shape, a, lookup);
    const auto mode = i.get<LodMode>();
    set_sample_lod(l, lookup, mode);
    if (has_lod_operand(mode))
        lookup.lod = extra.take();
    if (i.get<OffsetMode>() == OffsetMode::Aoffi)
        unpack_offsets(l, shape, extra.take(), lookup);
    if (i.has(Modifier::DepthCompare)) {
        lookup.mods.depth_compare = true;
        lookup.reference = extra.take();
    }
    if (i.has(Modifier::LodClamp))
        lookup.minimum_lod = extra.take();
    store_components(l, i, lookup, emit(l, lookup, shape));
}

void tld(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    Registers a(l, i, Slot::A), extra(l, i, Slot::B);
    Lookup lookup(Op::Fetch);
    lookup.handle = handle(l, i, extra);
    take_coordinates(l, shape, a, lookup);
    const bool level = lod_mode(i.get<LodMode>()) == ir::LodMode::Level;
    lookup.mods.lod = level ? ir::LodMode::Level : ir::LodMode::Zero;
    if (level)
        lookup.lod = extra.take();
    if (i.get<OffsetMode>() == OffsetMode::Aoffi)
        unpack_offsets(l, shape, extra.take(), lookup);
    if (shape.multisample) { // has one level: the sample takes its place
        lookup.sample = extra.take();
        lookup.lod = {};
        lookup.mods.lod = ir::LodMode::Zero;
    }
    store_components(l, i, lookup, emit(l, lookup, shape));
}

void tld4(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    Registers a(l, i, Slot::A), extra(l, i, Slot::B);
    Lookup lookup(Op::Gather);
    lookup.handle = handle(l, i, extra);
    take_coordinates(l, shape, a, lookup);
    lookup.mods.component = i.modifier(Modifier::GatherComponent) & 3;
    if (i.get<OffsetMode>() == OffsetMode::Aoffi) {
        unpack_gather_offsets(l, extra.take(), 2, lookup);
        lookup.mods.offset = true;
    } else if (i.get<OffsetMode>() == OffsetMode::Ptp) {
        unpack_gather_offsets(l, extra.take(), 4, lookup);
        unpack_gather_offsets(l, extra.take(), 4, lookup);
        lookup.mods.gather_offsets = true;
    }
    if (i.has(Modifier::DepthCompare)) {
        lookup.mods.depth_compare = true;
        lookup.reference = extra.take();
    }
    store_components(l, i, lookup, emit(l, lookup, shape));
}

// Gradients: per axis dx, dy, in B. The word behind the coordinates holds the layer and, above it, packed offsets.
void txd(Lifter& l, const Instruction& i) {
    Shape shape = shape_of(i);
    Registers a(l, i, Slot::A), extra(l, i, Slot::B);
    Lookup lookup(Op::SampleGradient);
    lookup.handle = handle(l, i, a);
    for (u32 k = 0; k < shape.coordinates; ++k)
        lookup.coordinates.push_back(a.take());
    const bool offsets = i.get<OffsetMode>() == OffsetMode::Aoffi;
    if (shape.array || offsets) {
        const Value last = a.take();
        if (shape.array)
            lookup.layer = l.bits(last, 0, 16);
        if (offsets)
            unpack_offsets(l, shape, l.shift_right(last, 16), lookup);
    }
    for (u32 k = 0; k < 2 * shape.coordinates; ++k)
        lookup.gradients.push_back(extra.take());
    if (i.has(Modifier::LodClamp))
        lookup.minimum_lod = extra.take();
    store_components(l, i, lookup, emit(l, lookup, shape));
}

// Levels in 8.8 fixed point: the first result is unclamped and signed, the second is clamped to the texture's levels.
void tmml(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    Registers a(l, i, Slot::A), extra(l, i, Slot::B);
    Lookup lookup(Op::QueryLod);
    lookup.handle = handle(l, i, extra);
    take_coordinates(l, shape, a, lookup);
    lookup.layer = {};
    const Value levels = emit(l, lookup, shape);
    const u32 to_fixed = ir::float_mods(ir::Rounding::Nearest);
    const auto fixed = [&](Op op, u32 index) {
        const Value scaled =
            l.b.op(Op::FMul, {l.b.op(Op::Extract, {levels}, index), l.b.float_word(256.0f)}, 0, to_fixed);
        return l.b.op(op, {scaled}, 0, to_fixed);
    };
    const u32 mask = static_cast<u32>(i.operand(Slot::I2).value);
    u32 d = i.operand(Slot::D).reg;
    for (u32 k = 0; k < 4; ++k) {
        if ((mask >> k & 1) == 0)
            continue;
        l.set_reg(d++, k == 0   ? l.and_mask(fixed(Op::F32ToS32, 1), 0xffff)
                       : k == 1 ? fixed(Op::F32ToU32, 0)
                                : l.b.word(0));
    }
}

void txq(Lifter& l, const Instruction& i) {
    constexpr u32 dimensions = 1, texture_type = 2;
    Registers a(l, i, Slot::A);
    const Value which = handle(l, i, a);
    const u32 query = i.modifier(Modifier::TextureQuery), mask = static_cast<u32>(i.operand(Slot::I2).value);
    ir::TextureMods unknown;
    unknown.dimension = ir::unknown_dimension;
    const u32 mods = unknown.pack();
    Value result;
    if (query == dimensions)
        result = l.b.op(Op::QuerySize, {which, a.take()}, 0, mods);
    else if (query == texture_type && (mask & ~4u) == 0) // the samples are in its third word
        result = l.b.op(Op::QuerySamples, {which}, 0, mods);
    else
        return l.unsupported("query");
    u32 d = i.operand(Slot::D).reg;
    for (u32 k = 0; k < 4; ++k)
        if (mask >> k & 1)
            l.set_reg(d++, query == dimensions ? l.b.op(Op::Extract, {result}, k) : result);
}

// The short forms: with extras, a two-part coordinate is in A and A + 1 and the extras begin at B; a three-part one has
// its last part in B, extras behind it.
class ShortSources {
public:
    ShortSources(Lifter& l, const Instruction& i, const Shape& shape, bool extras)
        : a_(l, i, Slot::A), b_(l, i, Slot::B) {
        const u32 parts = shape.coordinates + (shape.array ? 1 : 0);
        const u32 in_a = parts == 1 || (parts == 2 && extras) ? parts : parts - 1;
        for (u32 k = 0; k < parts; ++k)
            parts_.push_back(k < in_a ? a_.take() : b_.take());
    }
    void coordinates(Lifter& l, const Shape& shape, Lookup& lookup) const {
        auto part = parts_.begin();
        if (shape.array)
            lookup.layer = l.bits(*part++, 0, 16);
        lookup.coordinates.assign(part, parts_.end());
    }
    Value extra() { return b_.take(); }

private:
    Registers a_, b_;
    std::vector<Value> parts_;
};

void texs(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    const auto mode = i.get<LodMode>();
    const bool compare = i.has(Modifier::DepthCompare);
    ShortSources sources(l, i, shape, has_lod_operand(mode) || compare);
    Lookup lookup(Op::Sample);
    lookup.handle = bound_handle(l, static_cast<u32>(i.operand(Slot::I).value));
    sources.coordinates(l, shape, lookup);
    set_sample_lod(l, lookup, mode);
    if (has_lod_operand(mode))
        lookup.lod = sources.extra();
    if (compare) {
        lookup.mods.depth_compare = true;
        lookup.reference = sources.extra();
    }
    store_short(l, i, lookup, emit(l, lookup, shape), i.modifier(Modifier::ComponentMask));
}

void tlds(Lifter& l, const Instruction& i) {
    const Shape shape = shape_of(i);
    const bool level = lod_mode(i.get<LodMode>()) == ir::LodMode::Level;
    const bool offsets = i.get<OffsetMode>() == OffsetMode::Aoffi;
    ShortSources sources(l, i, shape, level || offsets || shape.multisample);
    Lookup lookup(Op::Fetch);
    lookup.handle = bound_handle(l, static_cast<u32>(i.operand(Slot::I).value));
    sources.coordinates(l, shape, lookup);
    lookup.mods.lod = level ? ir::LodMode::Level : ir::LodMode::Zero;
    if (level)
        lookup.lod = sources.extra();
    if (offsets)
        unpack_offsets(l, shape, sources.extra(), lookup);
    if (shape.multisample)
        lookup.sample = sources.extra();
    store_short(l, i, lookup, emit(l, lookup, shape), i.modifier(Modifier::ComponentMask));
}

void tld4s(Lifter& l, const Instruction& i) {
    const Shape shape; // always 2D
    const bool offsets = i.get<OffsetMode>() == OffsetMode::Aoffi, compare = i.has(Modifier::DepthCompare);
    ShortSources sources(l, i, shape, offsets || compare);
    Lookup lookup(Op::Gather);
    lookup.handle = bound_handle(l, static_cast<u32>(i.operand(Slot::I).value));
    sources.coordinates(l, shape, lookup);
    lookup.mods.component = i.modifier(Modifier::GatherComponent) & 3;
    if (offsets) {
        unpack_gather_offsets(l, sources.extra(), 2, lookup);
        lookup.mods.offset = true;
    }
    if (compare) {
        lookup.mods.depth_compare = true;
        lookup.reference = sources.extra();
    }
    store_short(l, i, lookup, emit(l, lookup, shape), 15);
}

// Selected, not branched around: an implicit level needs the neighbours' coordinates.
constexpr LiftRow rows[] = {
    {Opcode::TEX, tex}, {Opcode::TLD, tld},   {Opcode::TLD4, tld4}, {Opcode::TXD, txd},     {Opcode::TMML, tmml},
    {Opcode::TXQ, txq}, {Opcode::TEXS, texs}, {Opcode::TLDS, tlds}, {Opcode::TLD4S, tld4s},
};

} // namespace

std::span<const LiftRow> lift_texture_rows() {
    return rows;
}

} // namespace heaviside::shader::lifting
