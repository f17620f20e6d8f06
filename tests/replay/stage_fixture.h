// Programs whose control sections say more than their source can: what is captured, how patches are divided.
#pragma once

#include "program_fixture.h"

namespace heaviside::replay {

inline constexpr u32 control_bit = 8, evaluation_bit = 0x10; // NVNshaderStageBits
inline constexpr u32 all_graphics_bits = 0x1f;

class StageTest : public ProgramTest {
protected:
    struct Extras {
        std::optional<program::FeedbackLayout> feedback{}; // of the last stage before the rasterizer
        bool feedback_of_all = false;                      // of every stage before it too
        program::Tessellation tessellation{};
    };
    using ProgramTest::program;
    stream::ProgramId program(std::initializer_list<std::string_view> sources, const Extras& extras) {
        std::vector<program::BuildInput> inputs;
        std::vector<maxwell::Program> assembled;
        for (const std::string_view source : sources) {
            auto one = maxwell::assemble(source);
            EXPECT_TRUE(one) << (one ? "" : one.error().message);
            if (!one)
                return 0;
            assembled.push_back(std::move(*one));
        }
        const program::BuildInput* last = nullptr;
        for (const maxwell::Program& one : assembled)
            inputs.push_back(*program::build_input(one));
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
        const stream::ProgramId id = next_++;
        replay->program_created({id, stages});
        return id;
    }

private:
    stream::ProgramId next_ = 1000; // ProgramTest counts from 1
};

// And what their last stage writes: a way to see vertices as numbers.
class CaptureTest : public StageTest {
protected:
    static constexpr u64 control = 0x20000, captured = 0x30000;
    static constexpr u16 generic = 0x80; // a[] of location 0; location n is 16 * n further on
    using FeedbackAction = stream::FeedbackAction;

    void SetUp() override {
        StageTest::SetUp();
        if (device && !device->has(gpu::Feature::TransformFeedback))
            GTEST_SKIP() << "the device has no transform feedback";
    }
    void buffer(Recorder& r, u32 index, u64 offset, u64 size) const {
        stream::BindTransformFeedbackBuffer b{};
        b.index = index;
        b.address = at(offset).value;
        b.size = size;
        r.add(b);
    }
    void feedback(Recorder& r, FeedbackAction action, u64 at_control = control) const {
        stream::TransformFeedback f{};
        f.action = action;
        f.control = at(at_control).value;
        r.add(f);
    }
    void draw_captured(Recorder& r, u32 primitive, u64 at_control = control) const {
        stream::DrawTransformFeedback d{};
        d.primitive = primitive;
        d.control = at(at_control).value;
        r.add(d);
    }
    static void discard(Recorder& r, bool on) {
        stream::SetRasterizerDiscard d{};
        d.discard = on;
        r.add(d);
    }
    void floats(u64 offset, std::initializer_list<f32> values) const {
        for (const f32 v : values) {
            EXPECT_EQ(read<f32>(offset), v) << "at +" << std::hex << offset;
            offset += 4;
        }
    }
    void untouched(u64 offset, u32 words) const {
        for (u32 i = 0; i < words; ++i)
            EXPECT_EQ(read<u32>(offset + 4 * i), 0u) << "at +" << std::hex << offset + 4 * i;
    }
    // Draws that are captured whole, from the pool's start of captures on.
    template <class Draw>
    void capture(Recorder& r, Draw&& draw) const {
        discard(r, true);
        buffer(r, 0, captured, 0x10000);
        feedback(r, FeedbackAction::Begin);
        draw();
        feedback(r, FeedbackAction::End);
    }
};

} // namespace heaviside::replay
