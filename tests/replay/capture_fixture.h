// Transform feedback in tests.
#pragma once

#include "program_fixture.h"

namespace heaviside::replay {

// What the last stage before the rasterizer writes: a way to see vertices as numbers.
class CaptureTest : public ProgramTest {
protected:
    static constexpr u64 control = 0x20000, captured = 0x30000;
    static constexpr u16 generic = 0x80; // a[] of location 0; location n is 16 * n further on
    using FeedbackAction = stream::FeedbackAction;

    void SetUp() override {
        ProgramTest::SetUp();
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
