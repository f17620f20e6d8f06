#include "shader/passthrough.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Op;
using ir::Value;
namespace attribute = maxwell::attribute;

namespace {

// Registers that keep what the program writes, and predicates that say that it did.
constexpr u32 first_register = 264, first_predicate = 8;

struct Written {
    u32 address;
    u32 index;
};

std::vector<u32> passed_addresses(const maxwell::ShaderProgramHeader& header, const VariantKey& key) {
    std::vector<u32> addresses;
    for (u32 address = 0x70; address < 0x80; address += 4)
        addresses.push_back(address);
    const bool known = key.provided_inputs != ~u64{0};
    for (u32 location = 0; location < 32; ++location)
        for (u32 component = 0; component < 4; ++component) {
            const u32 address = attribute::generic + 16 * location + 4 * component;
            if (known ? (key.provided_inputs >> location & 1) != 0 : header.inputs.components[address >> 4] != 0)
                addresses.push_back(address);
        }
    for (u32 address = attribute::generic_end; address < attribute::viewport_mask; address += 4)
        if (header.inputs.has(address))
            addresses.push_back(address);
    return addresses;
}

} // namespace

PassedPrimitive passed_primitive(u8 input_vertices) {
    using Topology = maxwell::OutputTopology;
    switch (input_vertices) {
    case 1:
        return {Topology::Points, {0}, 1};
    case 2:
        return {Topology::LineStrip, {0, 1}, 2};
    case 4:
        return {Topology::LineStrip, {1, 2}, 2};
    case 6:
        return {Topology::TriangleStrip, {0, 2, 4}, 3};
    default:
        return {Topology::TriangleStrip, {0, 1, 2}, 3};
    }
}

bool passes_through(const ir::Program& ir, const maxwell::ShaderProgramHeader& header) {
    if (ir.stage != program::Stage::Geometry || !header.passthrough)
        return false;
    for (const ir::Block& block : ir.blocks)
        for (u32 id : block.insts)
            if (ir.insts[id].op == Op::EmitVertex)
                return false;
    return true;
}

void pass_through(ir::Program& ir, const maxwell::ShaderProgramHeader& header, const VariantKey& key) {
    ir::Builder b(ir);
    std::vector<Written> written;
    // stores become registers: a vertex that is emitted takes its outputs along
    for (ir::Block& block : ir.blocks) {
        std::vector<u32> insts;
        for (u32 id : block.insts) {
            const ir::Inst inst = ir.insts[id];
            const bool plain = (inst.mods & (ir::attribute_patch | ir::attribute_indexed)) == 0;
            if (inst.op != Op::StoreAttribute || !plain) {
                insts.push_back(id);
                continue;
            }
            auto found =
                std::find_if(written.begin(), written.end(), [&](const Written& w) { return w.address == inst.imm; });
            if (found == written.end()) {
                if (first_predicate + written.size() >= ir::predicate_count)
                    continue; // beyond what can be told apart: not passed on
                written.push_back({inst.imm, static_cast<u32>(written.size())});
                found = written.end() - 1;
            }
            const Value value = ir.args(inst)[0], yes = b.boolean(true);
            insts.push_back(
                ir.append(Op::SetRegister, ir::Type::Void, std::array{value}, first_register + found->index, 0).id);
            insts.push_back(
                ir.append(Op::SetPredicate, ir::Type::Void, std::array{yes}, first_predicate + found->index, 0).id);
        }
        block.insts = std::move(insts);
    }
    std::vector<u32> addresses = passed_addresses(header, key);
    for (const Written& w : written)
        if (std::find(addresses.begin(), addresses.end(), w.address) == addresses.end())
            addresses.push_back(w.address);
    const PassedPrimitive primitive = passed_primitive(key.geometry_input_vertices);
    for (ir::BlockId block = 0; block < ir.blocks.size(); ++block) {
        if (ir.blocks[block].end.kind != ir::Terminator::Kind::Exit)
            continue;
        b.set_block(block);
        const ir::Terminator end = std::move(ir.blocks[block].end);
        ir.blocks[block].end = {};
        for (u32 vertex = 0; vertex < primitive.count; ++vertex) {
            const Value number = b.word(primitive.vertices[vertex]);
            for (const u32 address : addresses) {
                const auto own = std::find_if(written.begin(), written.end(),
                                              [&](const Written& w) { return w.address == address; });
                const bool input = address >= 0x70;
                Value value =
                    input ? b.op(Op::LoadAttribute, std::array{number}, address, ir::attribute_vertex) : b.word(0);
                if (own != written.end())
                    value = b.op(Op::Select, {b.get_predicate(first_predicate + own->index),
                                              b.get_register(first_register + own->index), value});
                b.op(Op::StoreAttribute, std::array{value}, address, 0);
            }
            if (std::none_of(written.begin(), written.end(),
                             [](const Written& w) { return w.address == attribute::primitive_id; }))
                b.op(Op::StoreAttribute,
                     std::array{b.op(Op::LoadAttribute, std::span<const Value>{}, attribute::primitive_id, 0)},
                     attribute::primitive_id, 0);
            b.op(Op::EmitVertex, std::span<const Value>{}, 0, 0);
        }
        ir.blocks[block].end = end;
    }
}

} // namespace heaviside::shader
