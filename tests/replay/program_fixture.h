// Programs of the tests' own, assembled from text, for replays that draw and dispatch.
#pragma once

#include "maxwell/assembler.h"
#include "program/build.h"
#include "replay_fixture.h"

#include <optional>
#include <string_view>
#include <vector>

namespace heaviside::replay {

// NVNshaderStageBits
inline constexpr u32 vertex_bit = 1, fragment_bit = 2, geometry_bit = 4, control_bit = 8, evaluation_bit = 0x10,
                     compute_bit = 0x20, all_graphics_bits = 0x1f;
inline constexpr u32 triangle_strip = 5; // NVNdrawPrimitive

class ProgramTest : public ReplayTest {
protected:
    // Vertices 0 to 3 as a strip over the whole viewport, at the depth in word 0 of the vertex stage's uniform
    // buffer 0.
    static constexpr const char* full_screen = R"(
.stage vertex
.in vertex_id
.out position
.entry main
main:
    ALD R0, a[0x2fc], RZ
    LOP.AND R1, R0, 0x1
    SHR.U32 R2, R0, 0x1
    I2F.F32.U32 R4, R1
    I2F.F32.U32 R5, R2
    FADD.FTZ R4, R4, R4
    FADD.FTZ R5, R5, R5
    FADD.FTZ R4, R4, -1
    FADD.FTZ R5, R5, -1
    MOV R6, c[0x3][0x0]
    MOV32I R7, 0x3f800000
    AST.128 a[0x70], R4, RZ
    EXIT
)";
    // The colour in words 0 to 3 of the fragment stage's uniform buffer 0.
    static constexpr const char* flat = R"(
.stage fragment
.target 0 rgba
.entry main
main:
    MOV R0, c[0x3][0x0]
    MOV R1, c[0x3][0x4]
    MOV R2, c[0x3][0x8]
    MOV R3, c[0x3][0xc]
    EXIT
)";

    // What control sections say beyond what a source can.
    struct Extras {
        std::optional<program::FeedbackLayout> feedback{}; // of the last stage before the rasterizer
        bool feedback_of_all = false;                      // of every stage before it too
        program::Tessellation tessellation{};
    };
    // A program of these stages, each of which says which one it is.
    stream::ProgramId program(std::initializer_list<std::string_view> sources) { return program(sources, Extras{}); }
    stream::ProgramId program(std::initializer_list<std::string_view> sources, const Extras& extras) {
        std::vector<maxwell::Program> assembled;
        for (const std::string_view source : sources) {
            auto one = maxwell::assemble(source);
            EXPECT_TRUE(one) << (one ? "" : one.error().message);
            if (!one)
                return 0;
            assembled.push_back(std::move(*one));
        }
        std::vector<program::BuildInput> inputs;
        for (const maxwell::Program& one : assembled)
            inputs.push_back(*program::build_input(one));
        const program::BuildInput* last = nullptr;
        for (const program::Stage stage : {program::Stage::Vertex, program::Stage::TessEval, program::Stage::Geometry})
            for (const program::BuildInput& input : inputs)
                if (input.stage == stage)
                    last = &input;
        std::vector<program::Blobs> blobs;
        for (program::BuildInput& input : inputs) {
            const bool captures = input.stage != program::Stage::Fragment && input.stage != program::Stage::TessControl;
            if (captures && (&input == last || extras.feedback_of_all))
                input.feedback = extras.feedback;
            input.tessellation = extras.tessellation;
            auto built = program::build(input);
            EXPECT_TRUE(built) << (built ? "" : built.error().message);
            if (!built)
                return 0;
            blobs.push_back(std::move(*built));
        }
        std::vector<stream::ProgramStage> stages;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            stages.push_back({static_cast<stream::Stage>(inputs[i].stage), blobs[i].control, 0, blobs[i].gpu});
        const stream::ProgramId id = next_program_++;
        replay->program_created({id, stages});
        return id;
    }
    static void bind(Recorder& r, stream::ProgramId id, u32 stages) {
        stream::BindProgram b{};
        b.program = id;
        b.stages = stages;
        r.add(b);
    }
    void uniform(Recorder& r, stream::Stage stage, u8 index, u64 offset, u32 size) const {
        stream::BindUniformBuffer b{};
        b.stage = stage;
        b.index = index;
        b.address = at(offset).value;
        b.size = size;
        r.add(b);
    }
    void storage(Recorder& r, stream::Stage stage, u8 index, u64 offset, u32 size) const {
        stream::BindStorageBuffer b{};
        b.stage = stage;
        b.index = index;
        b.address = at(offset).value;
        b.size = size;
        r.add(b);
    }
    static void scissor(Recorder& r, i32 x, i32 y, i32 width, i32 height) {
        const stream::Scissor s{x, y, width, height};
        stream::SetScissors record{};
        record.count = 1;
        r.add(record, std::span(&s, 1));
    }
    static void draw(Recorder& r, u32 primitive = triangle_strip, i32 count = 4) {
        stream::DrawArrays d{};
        d.primitive = primitive;
        d.count = count;
        r.add(d);
    }
    static void dispatch(Recorder& r, u32 x = 1, u32 y = 1, u32 z = 1) {
        stream::Dispatch d{};
        d.groups[0] = x;
        d.groups[1] = y;
        d.groups[2] = z;
        r.add(d);
    }
    static void barrier(Recorder& r, u32 bits) {
        stream::Barrier b{};
        b.bits = bits;
        r.add(b);
    }
    template <class T>
    void write(u64 offset, const T& value) const {
        std::memcpy(bytes_at(offset), &value, sizeof value);
        replay->memory_written(at(offset).value, sizeof value);
    }

private:
    stream::ProgramId next_program_ = 1;
};

} // namespace heaviside::replay
