// Where an access to global memory goes: through the windows of bound buffers, or looked up in the memory map.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using ir::Op;
using ir::Type;

namespace {

bool is_global(Op op) {
    return op == Op::LoadGlobal || op == Op::StoreGlobal || op == Op::AtomicGlobal;
}

} // namespace

// Before any function is written. True: some access needs the memory map.
bool Emitter::find_storage() {
    const bool windows_wanted = options.storage_windows && !key.scattered_storage;
    bool searches = false;
    for (ir::BlockId b : graph.order)
        for (u32 id : ir.blocks[b].insts) {
            if (!is_global(ir.insts[id].op))
                continue;
            auto address =
                windows_wanted ? ir::storage_address(ir, ir.args(ir.insts[id])[0], *program.layout) : std::nullopt;
            if (!address || bank_variable(banks::windows) == 0) {
                searches = true;
                continue;
            }
            BankUse& use = bank_use(banks::windows);
            use.size = std::max<u32>(use.size, (address->row + 1) * sizeof(BankAddress));
            storage_index.resize(ir.insts.size(), ~0u);
            storage_index[id] = static_cast<u32>(storage_addresses.size());
            storage_addresses.push_back(std::move(*address));
        }
    return searches;
}

// In the first block, so that they are there in all.
void Emitter::load_windows() {
    for (const ir::StorageAddress& address : storage_addresses) {
        Window& window = windows[address.row];
        if (window.size != 0)
            continue;
        const Id at =
            chain(spv::StorageClass::Uniform, t(Basic::U32x4), bank_variable(banks::windows), c(0), c(address.row));
        const Id row = load(Basic::U32x4, at);
        window.device = bitcast(Basic::U64, module.op(spv::Op::OpVectorShuffle, t(Basic::U32x2), row, row, 0u, 1u));
        window.size = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), row, 2u);
    }
}

// `bytes`, a power of two: of the access; low bits of the address are ignored.
Emitter::Place Emitter::place(Value access, u32 bytes) {
    const Id mask = module.constant(Basic::U64, ~u64{bytes - 1});
    const auto sum64 = [&](Id a, Id b) { return module.op(spv::Op::OpIAdd, t(Basic::U64), a, b); };
    const auto below = [&](Id a, Id b) { return module.op(spv::Op::OpULessThan, t(Basic::Bool), a, b); };
    const u32 index = storage_index.empty() ? ~0u : storage_index[access.id];
    if (index == ~0u) {
        const Id aligned = module.op(spv::Op::OpBitwiseAnd, t(Basic::U64), u(arg(access, 0)), mask);
        const Id device = locate(aligned, bytes);
        return {device, module.op(spv::Op::OpINotEqual, t(Basic::Bool), device, module.constant(Basic::U64, 0))};
    }
    const ir::StorageAddress& address = storage_addresses[index];
    const Window& window = windows[address.row];
    const i64 displacement = address.displacement;
    const Id behind = module.constant(Basic::U64, static_cast<u64>(displacement));
    const Id behind_word = c(static_cast<u32>(displacement));
    Id offset = 0, inside = 0; // the offset without the displacement
    for (Value v : address.offsets) {
        const Id term = ir[v].type == Type::U64 ? u(v) : module.op(spv::Op::OpUConvert, t(Basic::U64), u(v));
        offset = offset == 0 ? term : sum64(offset, term);
    }
    if (address.offsets.empty()) {
        inside = below(behind_word, window.size); // a negative one is beyond the largest window
    } else if (address.offsets.size() == 1 && ir[address.offsets[0]].type == Type::U32) {
        const Id word = u(address.offsets[0]);
        if (displacement == 0) {
            inside = below(word, window.size);
        } else if (displacement < 0) {
            inside = below(module.op(spv::Op::OpIAdd, t(Basic::U32), word, behind_word), window.size);
        } else {
            const Id less = module.ext(GLSLstd450UMin, t(Basic::U32), {window.size, behind_word});
            inside = below(word, module.op(spv::Op::OpISub, t(Basic::U32), window.size, less));
        }
    } else {
        const Id total = bitcast(Basic::U32x2, sum64(offset, behind));
        const Id low = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), total, 0u);
        const Id high = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), total, 1u);
        const Id near = module.op(spv::Op::OpIEqual, t(Basic::Bool), high, c(0));
        inside = module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), near, below(low, window.size));
    }
    // The displacement comes last: neighbours differ in nothing else.
    const bool aligned = displacement % bytes == 0;
    Id device = offset == 0 ? window.device : sum64(window.device, offset);
    if (!aligned)
        device = sum64(device, behind);
    device = module.op(spv::Op::OpBitwiseAnd, t(Basic::U64), device, mask);
    return {aligned && displacement != 0 ? sum64(device, behind) : device, inside};
}

} // namespace heaviside::shader
