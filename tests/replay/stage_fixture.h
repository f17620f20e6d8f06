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

} // namespace heaviside::replay
