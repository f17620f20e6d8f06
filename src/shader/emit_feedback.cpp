// What transform feedback captures. A vector that is captured whole is captured where it is; parts of one, and values
// that are captured twice, are copied to outputs of their own, since stages match whole vectors.
#include "shader/emitter.h"

#include <algorithm>

namespace heaviside::shader {

using spv::StorageClass;
namespace attribute = maxwell::attribute;

namespace {

constexpr u16 identity_swizzle = 0x6420;
constexpr u32 output_locations = 32; // of vec4: 128 components

Basic vector_type(u32 components) {
    constexpr Basic types[] = {Basic::F32, Basic::F32x2, Basic::F32x3, Basic::F32x4};
    return types[components - 1];
}

} // namespace

void Emitter::declare_feedback() {
    const bool captures =
        options.transform_feedback && key.feedback && program.feedback &&
        (program.stage == Stage::Vertex || program.stage == Stage::TessEval || program.stage == Stage::Geometry);
    if (!captures)
        return;
    module.capability(spv::Capability::TransformFeedback);
    feedback = true;
    std::array<u8, output_locations> used{}; // components of each location
    for (u32 i = 0; i < output_locations; ++i)
        used[i] = outputs[i].variable != 0 ? 4 : 0;
    std::vector<Id> whole;
    const auto captured = [&](Id variable, const program::FeedbackOutput& o) {
        module.decorate(variable, spv::Decoration::XfbBuffer, {o.buffer});
        module.decorate(variable, spv::Decoration::XfbStride, {program.feedback->strides[o.buffer]});
        module.decorate(variable, spv::Decoration::Offset, {o.offset});
    };
    for (const program::FeedbackOutput& o : program.feedback->outputs) {
        const u32 location = location_of(o.address), first = o.address >> 2 & 3;
        const Id source = o.address >= attribute::position && o.address < attribute::generic ? position_out
                          : location < outputs.size() ? outputs[location].variable
                                                      : 0;
        const bool changes = source == position_out && key.viewport_swizzle != identity_swizzle;
        if (source != 0 && !changes && first == 0 && o.components == 4 &&
            std::find(whole.begin(), whole.end(), source) == whole.end()) {
            captured(source, o);
            whole.push_back(source);
            continue;
        }
        // Locations of their own are the first free ones: nothing reads what no stage is known to write. Several short
        // vectors share one.
        u32 at = 0;
        while (at < output_locations && used[at] + o.components > 4)
            ++at;
        if (at >= output_locations) {
            error = Error{"transform feedback: no output locations are left for what is captured"};
            return;
        }
        const Id variable = module.variable(StorageClass::Output, t(vector_type(o.components)));
        module.decorate(variable, spv::Decoration::Location, {at});
        if (used[at] != 0)
            module.decorate(variable, spv::Decoration::Component, {used[at]});
        used[at] = static_cast<u8>(used[at] + o.components);
        captured(variable, o);
        feedback_copies.push_back({source, variable, first, o.components});
    }
}

// A primitive is drawn in every viewport whose bit its mask has. Few devices do that: the draw is repeated for each of
// the viewports, and what its mask does not have there goes beyond the x plane, which clips whatever depth does
// (SHD-112).
void Emitter::declare_viewport_mask() {
    reflection.writes_viewport_mask = true;
    viewport_mask = module.local(t(Basic::U32), c(1));
    if (viewport_out == 0) {
        module.capability(program.stage == Stage::Geometry ? spv::Capability::MultiViewport
                                                           : spv::Capability::ShaderViewportIndex);
        viewport_out = builtin(spv::BuiltIn::ViewportIndex, Basic::U32, StorageClass::Output);
    }
}

void Emitter::route_to_viewport() {
    const Id viewport = root(root_viewport, Basic::U32);
    module.none(spv::Op::OpStore, viewport_out, viewport);
    if (position_out == 0)
        return;
    const Id bit =
        module.op(spv::Op::OpBitFieldUExtract, t(Basic::U32), load(Basic::U32, viewport_mask), viewport, c(1));
    const Id without = module.op(spv::Op::OpIEqual, t(Basic::Bool), bit, c(0));
    (void)guarded(without, 0, [&] {
        const Id far = cf(1e6f);
        const std::array parts{far, far, cf(0), cf(1)};
        module.none(spv::Op::OpStore, position_out, module.constant_composite(t(Basic::F32x4), parts));
        return Id{0};
    });
}

// What the program never writes is captured as zero, and the position as it writes it (GFX-109, GFX-168).
void Emitter::leave_vertex() {
    for (const FeedbackCopy& copy : feedback_copies) {
        const Basic type = vector_type(copy.components);
        Id value = module.constant_null(t(type));
        if (copy.source != 0) {
            const Id vector = load(Basic::F32x4, copy.source);
            if (copy.components == 1)
                value = module.op(spv::Op::OpCompositeExtract, t(type), vector, copy.first);
            else if (copy.components == 2)
                value = module.op(spv::Op::OpVectorShuffle, t(type), vector, vector, copy.first, copy.first + 1);
            else if (copy.components == 3)
                value = module.op(spv::Op::OpVectorShuffle, t(type), vector, vector, copy.first, copy.first + 1,
                                  copy.first + 2);
            else
                value = vector;
        }
        module.none(spv::Op::OpStore, copy.variable, value);
    }
    if (viewport_mask != 0)
        route_to_viewport();
    if (key.viewport_swizzle == identity_swizzle || position_out == 0 || output_vertices != 0)
        return;
    const Id position = load(Basic::F32x4, position_out);
    std::array<Id, 4> parts{};
    for (u32 i = 0; i < 4; ++i) {
        const u32 choice = key.viewport_swizzle >> (4 * i) & 7;
        parts[i] = module.op(spv::Op::OpCompositeExtract, t(Basic::F32), position, choice >> 1);
        if (choice & 1)
            parts[i] = module.op(spv::Op::OpFNegate, t(Basic::F32), parts[i]);
    }
    module.none(spv::Op::OpStore, position_out,
                module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x4), parts[0], parts[1], parts[2], parts[3]));
}

} // namespace heaviside::shader
