#include "interpreter/stage.h"

#include "interpreter/warp.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

namespace attribute = maxwell::attribute;

// The vertices of one warp: lanes' own state made, the rest left to the caller.
StageState make_state(const StageProgram& program, u32 lanes) {
    StageState state;
    state.program = &program;
    state.primitive_id.resize(lanes);
    state.primitive.resize(lanes);
    state.invocation.resize(lanes);
    state.outputs.resize(lanes);
    return state;
}

Result<void> run_warp_of(const StageProgram& program, StageState& state, u32 lanes, Bytes code) {
    Launch launch = program.launch;
    launch.code = code;
    launch.grid = {1, 1, 1};
    launch.block = {lanes, 1, 1};
    launch.shared_bytes = 0;
    launch.stage = &state;
    return run(launch);
}

bool has_default_of_one(u32 address) {
    return (address >= attribute::generic && address < attribute::front_diffuse + 0x10) ||
           (address >= attribute::back_diffuse && address < attribute::back_specular) ||
           (address >= attribute::fixed_texture && address < attribute::viewport_mask);
}

} // namespace

Attributes link(const maxwell::ShaderProgramHeader& producer, const Attributes& outputs,
                const maxwell::ShaderProgramHeader& consumer) {
    Attributes linked;
    for (u32 address = 0; address < 0x400; address += 4) {
        if (producer.outputs.has(address) && consumer.inputs.has(address))
            linked.set(address, outputs.at(address));
        else if (has_default_of_one(address) && address % 16 == 12)
            linked.set(address, 1.0f);
    }
    return linked;
}

Result<std::vector<Attributes>> run_vertices(const StageProgram& program, std::span<const Attributes> vertices) {
    std::vector<Attributes> results;
    while (!vertices.empty()) {
        const auto lanes = static_cast<u32>(std::min<std::size_t>(vertices.size(), warp_size));
        StageState state = make_state(program, lanes);
        state.inputs.assign(vertices.begin(), vertices.begin() + lanes);
        vertices = vertices.subspan(lanes);
        for (const Bytes code : {program.launch.code, program.second_code})
            if (!code.empty())
                if (auto ran = run_warp_of(program, state, lanes, code); !ran)
                    return tl::unexpected(ran.error());
        results.insert(results.end(), state.outputs.begin(), state.outputs.end());
    }
    return results;
}

Result<Patch> run_tess_control(const StageProgram& program, std::span<const Attributes> points, u32 primitive_id) {
    const u32 lanes = program.header.threads_per_primitive;
    if (lanes == 0 || lanes > warp_size)
        return fail("a tessellation control program of {} threads", lanes);
    StageState state = make_state(program, lanes);
    state.vertices_per_primitive = static_cast<u32>(points.size());
    state.inputs.assign(points.begin(), points.end());
    state.patches.resize(1);
    for (u32 lane = 0; lane < lanes; ++lane) {
        state.invocation[lane] = lane;
        state.primitive_id[lane] = primitive_id;
    }
    if (auto ran = run_warp_of(program, state, lanes, program.launch.code); !ran)
        return tl::unexpected(ran.error());
    return Patch{std::move(state.outputs), state.patches[0]};
}

Result<std::vector<Attributes>> run_tess_eval(const StageProgram& program, const Patch& patch,
                                              std::span<const TessPoint> points, u32 primitive_id) {
    std::vector<Attributes> results;
    while (!points.empty()) {
        const auto lanes = static_cast<u32>(std::min<std::size_t>(points.size(), warp_size));
        StageState state = make_state(program, lanes);
        state.vertices_per_primitive = static_cast<u32>(patch.points.size());
        state.inputs = patch.points;
        state.patches = {patch.words};
        for (u32 lane = 0; lane < lanes; ++lane) {
            state.primitive_id[lane] = primitive_id;
            state.outputs[lane].set(attribute::tess_coord, points[lane].u); // the tessellator's, but read as outputs
            state.outputs[lane].set(attribute::tess_coord + 4, points[lane].v);
        }
        points = points.subspan(lanes);
        if (auto ran = run_warp_of(program, state, lanes, program.launch.code); !ran)
            return tl::unexpected(ran.error());
        results.insert(results.end(), state.outputs.begin(), state.outputs.end());
    }
    return results;
}

Result<std::vector<std::vector<EmittedVertex>>> run_geometry(const StageProgram& program,
                                                             std::span<const Attributes> vertices,
                                                             u32 vertices_per_primitive, u32 first_primitive_id) {
    const u32 invocations = std::max<u32>(program.header.threads_per_primitive, 1);
    if (vertices_per_primitive == 0 || vertices_per_primitive > 32 || invocations > warp_size)
        return fail("{} vertices a primitive and {} invocations", vertices_per_primitive, invocations);
    std::vector<std::vector<EmittedVertex>> results;
    const auto primitives = static_cast<u32>(vertices.size() / vertices_per_primitive);
    const u32 each = warp_size / invocations; // primitives of a warp
    for (u32 first = 0; first < primitives; first += each) {
        const u32 count = std::min(each, primitives - first), lanes = count * invocations;
        StageState state = make_state(program, lanes);
        state.vertices_per_primitive = vertices_per_primitive;
        const auto own =
            vertices.subspan(std::size_t{first} * vertices_per_primitive, std::size_t{count} * vertices_per_primitive);
        state.inputs.assign(own.begin(), own.end());
        state.emitted.resize(lanes);
        for (u32 lane = 0; lane < lanes; ++lane) {
            state.primitive[lane] = lane / invocations;
            state.invocation[lane] = lane % invocations;
            state.primitive_id[lane] = first_primitive_id + first + state.primitive[lane];
        }
        if (auto ran = run_warp_of(program, state, lanes, program.launch.code); !ran)
            return tl::unexpected(ran.error());
        std::move(state.emitted.begin(), state.emitted.end(), std::back_inserter(results));
    }
    return results;
}

Result<std::vector<PixelResult>> run_pixels(const StageProgram& program, std::span<const Quad> quads,
                                            const SampleGrid& grid) {
    const maxwell::ShaderProgramHeader& header = program.header;
    const auto registers = maxwell::pixel_output_registers(header);
    std::vector<PixelResult> results;
    while (!quads.empty()) {
        const auto count = std::min<std::size_t>(quads.size(), warp_size / 4);
        const auto lanes = static_cast<u32>(count * 4);
        StageState state = make_state(program, lanes);
        state.quads = quads.first(count);
        state.grid = &grid;
        quads = quads.subspan(count);
        for (u32 lane = 0; lane < lanes; ++lane)
            if (state.quads[lane / 4].pixels[lane % 4].coverage == 0)
                state.helpers |= 1u << lane;
        for (const Quad& quad : state.quads)
            if (!quad.inputs)
                return fail("a quad without inputs");
        if (auto ran = run_warp_of(program, state, lanes, program.launch.code); !ran)
            return tl::unexpected(ran.error());
        for (u32 lane = 0; lane < lanes; ++lane) {
            const auto& r = state.final_lanes[lane].registers;
            PixelResult result;
            result.killed = (state.helpers >> lane & 1) != 0;
            for (std::size_t target = 0; target < result.targets.size(); ++target)
                for (u32 k = 0; k < 4 && registers.target[target] != 0xff; ++k)
                    result.targets[target][k] = r[registers.target[target] + k];
            if (header.writes_sample_mask)
                result.sample_mask = r[registers.sample_mask];
            if (header.writes_depth)
                result.depth = std::bit_cast<f32>(r[registers.depth]);
            results.push_back(result);
        }
    }
    return results;
}

void begin_stage(StageState& stage, Warp& warp) {
    for (u32 lane = 0; lane < stage.final_lanes.size(); ++lane) { // a vertex program's second part goes on
        for (u32 r = 0; r < 255; ++r)
            warp.set(static_cast<u8>(r), lane, stage.final_lanes[lane].registers[r]);
        warp.predicates[lane] = static_cast<u8>(stage.final_lanes[lane].predicates | 1u << maxwell::true_predicate);
    }
}

void end_stage(StageState& stage, const Warp& warp) {
    stage.final_lanes.assign(stage.outputs.size(), {});
    for (u32 lane = 0; lane < stage.final_lanes.size(); ++lane) {
        for (u32 r = 0; r < 255; ++r)
            stage.final_lanes[lane].registers[r] = warp.get(static_cast<u8>(r), lane);
        stage.final_lanes[lane].predicates = warp.predicates[lane] & 0x7f;
    }
}

} // namespace heaviside::interpreter
