// Vertex fetch, word for word: a program hands its attributes on, transform feedback captures them.
#include "capture_fixture.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace heaviside::replay {
namespace {

using program::FeedbackLayout;

constexpr u64 stream_at = 0x10000, index_at = 0x18000;
constexpr u32 points = 0, triangles = 4;
constexpr u32 one = 0x3f800000;

constexpr const char* passes_on = R"(
.stage vertex
.in 0 xyzw
.out position
.out 0 xyzw
.entry main
main:
    ALD.128 R0, a[0x80], RZ
    AST.128 a[0x80], R0, RZ
    AST.128 a[0x70], R0, RZ
    EXIT
)";

class VertexFetch : public CaptureTest {
protected:
    using Words = std::array<u32, 4>;
    static FeedbackLayout four_words() { return {{16, 0, 0, 0}, {{0x80, 4, 0, 0}}}; }

    void attribute(Recorder& r, const char* format, u32 stride, u64 offset, u64 size, u32 divisor = 0) const {
        stream::VertexAttribState a{};
        a.format = static_cast<u8>(texture::format_named(format));
        r.add(stream::BindVertexAttribState{}, std::span<const stream::VertexAttribState>(&a, 1));
        const stream::VertexStreamState s{stride, divisor};
        r.add(stream::BindVertexStreamState{}, std::span<const stream::VertexStreamState>(&s, 1));
        stream::BindVertexBuffer b{};
        b.address = at(offset).value;
        b.size = size;
        r.add(b);
    }
    Words captured_vertex(u32 vertex) const { return read<Words>(captured + 16 * vertex); }
    // The register words of one vertex of `bytes` in `format`.
    template <class T>
    Words fetched(const char* format, const T& bytes, u64 shift = 0) {
        const auto p = program({passes_on}, {.feedback = four_words()});
        write(stream_at + shift, bytes);
        Recorder r;
        bind(r, p, all_graphics_bits);
        attribute(r, format, sizeof bytes, stream_at + shift, sizeof bytes);
        capture(r, [&] { draw(r, points, 1); });
        run(r);
        return captured_vertex(0);
    }
};

TEST_F(VertexFetch, IntegersKeepTheirBits) { // REN-128, REN-132, REN-139: extended by the format's own sign
    EXPECT_EQ(fetched("RGBA8UI", std::array<u8, 4>{3, 7, 255, 0}), (Words{3, 7, 255, 0}));
    EXPECT_EQ(fetched("RGBA16I", std::array<i16, 4>{-300, 0, 5, -1}), (Words{0xfffffed4, 0, 5, 0xffffffff}));
    EXPECT_EQ(fetched("R32I", i32{-1})[0], 0xffffffffu); // REN-129
    EXPECT_EQ(fetched("R32F", 1.0f)[0], one);
    EXPECT_EQ(fetched("RG16I", std::array<i16, 2>{-1, 2}), (Words{0xffffffff, 2, 0, 1}));
}

TEST_F(VertexFetch, ConvertedFormatsAreFloatsInTheRegister) { // REN-130, REN-138: padded with (0, 0, 0, 1.0)
    EXPECT_EQ(fetched("RG16F", std::array<u16, 2>{0x3c00, 0xbc00}), (Words{one, 0xbf800000, 0, one}));
    EXPECT_EQ(fetched("RGB32F", std::array<f32, 3>{1, 2, 4}), (Words{one, 0x40000000, 0x40800000, one}));
    EXPECT_EQ(fetched("RGBA8", std::array<u8, 4>{255, 0, 255, 0}), (Words{one, 0, one, 0}));
    EXPECT_EQ(fetched("RGBA8SN", std::array<i8, 4>{127, -127, 0, 127}), (Words{one, 0xbf800000, 0, one}));
    EXPECT_EQ(fetched("RGB10A2SN", u32{0x1ff})[0], one); // REN-141
    EXPECT_EQ(fetched("R11G11B10F", u32{0x3c0}), (Words{one, 0, 0, one}));
}

TEST_F(VertexFetch, FromAnyByte) { // REN-143: stream addresses need no alignment
    for (const u64 shift : {1, 2, 3}) {
        EXPECT_EQ(fetched("RGBA8UI", std::array<u8, 4>{1, 2, 3, 4}, shift), (Words{1, 2, 3, 4})) << shift;
        EXPECT_EQ(fetched("RG32F", std::array<f32, 2>{1, -1}, shift), (Words{one, 0xbf800000, 0, one})) << shift;
    }
}

TEST_F(VertexFetch, NothingIsReadPastTheStreamsSize) { // REN-146, REN-147: arrays, indices, indirect
    const auto p = program({passes_on}, {.feedback = four_words()});
    for (u32 i = 0; i < 64; ++i)
        write<u32>(stream_at + 4 * i, i + 1);
    const u16 indices[] = {0, 9, 1};
    write(index_at, indices);
    const u32 arguments[] = {3, 1, 1, 0};
    write(0x19000, arguments);
    Recorder r;
    bind(r, p, all_graphics_bits);
    attribute(r, "RGBA32UI", 16, stream_at, 32); // two vertices
    capture(r, [&] {
        draw(r, triangles, 3);
        stream::DrawElements e{};
        e.primitive = triangles;
        e.index_type = 1;
        e.count = 3;
        e.indices = at(index_at).value;
        r.add(e);
        stream::DrawArraysIndirect d{};
        d.primitive = triangles;
        d.arguments = at(0x19000).value;
        r.add(d);
    });
    run(r);
    const Words first{1, 2, 3, 4}, second{5, 6, 7, 8}, zero{};
    const Words expected[] = {first, second, zero, first, zero, second, second, zero, zero};
    for (u32 i = 0; i < 9; ++i)
        for (u32 k = 0; k < 3; ++k) // w of what is not there may be 0 or 1
            EXPECT_EQ(captured_vertex(i)[k], expected[i][k]) << i << "." << k;
}

TEST_F(VertexFetch, DivisorsCountFromTheBaseInstance) { // REN-135, REN-153: base 3, divisor 2, 5 instances
    const auto p = program({passes_on}, {.feedback = four_words()});
    for (u32 i = 0; i < 16; ++i)
        write<u32>(stream_at + 4 * i, i);
    for (const bool indirect : {false, true}) {
        const u32 arguments[] = {1, 5, 0, 3};
        write(0x19000, arguments);
        Recorder r;
        bind(r, p, all_graphics_bits);
        attribute(r, "R32UI", 4, stream_at, 64, 2);
        capture(r, [&] {
            if (indirect) {
                stream::DrawArraysIndirect d{};
                d.primitive = points;
                d.arguments = at(0x19000).value;
                r.add(d);
                return;
            }
            stream::DrawArraysInstanced d{};
            d.primitive = points;
            d.count = 1;
            d.base_instance = 3;
            d.instance_count = 5;
            r.add(d);
        });
        run(r);
        const u32 expected[] = {3, 3, 4, 4, 5};
        for (u32 i = 0; i < 5; ++i)
            EXPECT_EQ(captured_vertex(i)[0], expected[i]) << i;
    }
}

TEST_F(VertexFetch, AllSixteenStreams) { // REN-142: attribute n from stream n
    std::string text = ".stage vertex\n.out position\n.out 0 xyzw\n";
    for (u32 i = 0; i < 16; ++i)
        text += ".in " + std::to_string(i) + " x___\n";
    text += ".entry main\nmain:\n    MOV R0, RZ\n";
    for (u32 i = 0; i < 16; ++i) {
        char line[64];
        std::snprintf(line, sizeof line, "    ALD R1, a[0x%x], RZ\n    IADD R0, R0, R1\n", 0x80 + 16 * i);
        text += line;
    }
    text += "    MOV R1, RZ\n    MOV R2, RZ\n    MOV R3, RZ\n    AST.128 a[0x80], R0, RZ\n    AST.128 a[0x70], R0, RZ\n"
            "    EXIT\n";
    const auto p = program({text}, {.feedback = four_words()});
    std::array<stream::VertexAttribState, 16> attributes{};
    std::array<stream::VertexStreamState, 16> streams{};
    Recorder r;
    bind(r, p, all_graphics_bits);
    for (u32 i = 0; i < 16; ++i) {
        write<u32>(stream_at + 0x100 * i, 1u << i);
        attributes[i].format = static_cast<u8>(texture::format_named("R32UI"));
        attributes[i].stream = i & 15;
        streams[i] = {4, 0};
        stream::BindVertexBuffer b{};
        b.index = i;
        b.address = at(stream_at + 0x100 * i).value;
        b.size = 4;
        r.add(b);
    }
    r.add(stream::BindVertexAttribState{}, std::span<const stream::VertexAttribState>(attributes));
    r.add(stream::BindVertexStreamState{}, std::span<const stream::VertexStreamState>(streams));
    capture(r, [&] { draw(r, points, 1); });
    run(r);
    EXPECT_EQ(captured_vertex(0)[0], 0xffffu);
}

constexpr const char* ids = R"(
.stage vertex
.in vertex_id
.in instance_id
.out position
.out 0 xyzw
.entry main
main:
    ALD R0, a[0x2fc], RZ
    ALD R1, a[0x2f8], RZ
    MOV R2, RZ
    MOV R3, RZ
    AST.128 a[0x80], R0, RZ
    AST.128 a[0x70], R0, RZ
    EXIT
)";

TEST_F(VertexFetch, TheInstanceIdLeavesTheBaseOut) { // SHD-129: base 5, three instances
    const auto p = program({ids}, {.feedback = four_words()});
    Recorder r;
    bind(r, p, all_graphics_bits);
    capture(r, [&] {
        stream::DrawArraysInstanced d{};
        d.primitive = points;
        d.count = 1;
        d.base_instance = 5;
        d.instance_count = 3;
        r.add(d);
    });
    run(r);
    for (u32 i = 0; i < 3; ++i)
        EXPECT_EQ(captured_vertex(i)[1], i);
}

TEST_F(VertexFetch, IndicesOfEachWidthAtEachAlignment) { // REN-145, REN-154, REN-157
    const auto p = program({ids}, {.feedback = four_words()});
    const auto numbers = [&](u16 primitive, u16 type, u64 offset, i32 count) {
        Recorder r;
        bind(r, p, all_graphics_bits);
        capture(r, [&] {
            stream::DrawElementsInstanced d{};
            d.primitive = primitive;
            d.index_type = type;
            d.count = count;
            d.indices = at(offset).value;
            d.base_vertex = 3;
            d.instance_count = 1;
            r.add(d);
        });
        run(r);
        std::vector<u32> out;
        for (u32 i = 0; i < read<u32>(control) / 16; ++i)
            out.push_back(captured_vertex(i)[0]);
        return out;
    };
    const u8 bytes[] = {9, 5, 7, 250, 1};
    write(index_at + 1, bytes);
    const u16 halves[] = {9, 5, 7, 250, 1};
    write(index_at + 0x102, halves);
    const u32 words[] = {9, 5, 7, 250, 1};
    write(index_at + 0x204, words);
    const u64 places[] = {index_at + 1, index_at + 0x102, index_at + 0x204};
    constexpr u16 quads = 7, fan = 6;
    for (u16 type = 0; type < 3; ++type) {
        EXPECT_EQ(numbers(triangles, type, places[type], 4), (std::vector<u32>{12, 8, 10})) << type;
        EXPECT_EQ(numbers(quads, type, places[type], 4), (std::vector<u32>{12, 8, 253, 8, 10, 253})) << type;
        EXPECT_EQ(numbers(fan, type, places[type], 5).size(), 9u) << type;
    }
}

class WithoutFans : public VertexFetch {
protected:
    gpu::DeviceOptions device_options() override {
        auto options = VertexFetch::device_options();
        options.disable += ",triangle_fans";
        return options;
    }
};

TEST_F(WithoutFans, FansAreTrianglesAroundTheirFirstVertex) { // REN-156: from vertex 5; indexed, with a base vertex
    const auto p = program({ids}, {.feedback = four_words()});
    const u16 indices[] = {9, 5, 7, 250, 1};
    write(index_at, indices);
    for (const bool indexed : {false, true}) {
        Recorder r;
        bind(r, p, all_graphics_bits);
        capture(r, [&] {
            if (indexed) {
                stream::DrawElementsInstanced d{};
                d.primitive = 6;
                d.index_type = 1;
                d.count = 5;
                d.indices = at(index_at).value;
                d.base_vertex = 3;
                d.instance_count = 1;
                r.add(d);
            } else {
                stream::DrawArrays d{};
                d.primitive = 6;
                d.first = 5;
                d.count = 5;
                r.add(d);
            }
        });
        run(r);
        std::vector<u32> out;
        for (u32 i = 0; i < read<u32>(control) / 16; ++i)
            out.push_back(captured_vertex(i)[0]);
        EXPECT_EQ(out, indexed ? (std::vector<u32>{12, 8, 10, 12, 10, 253, 12, 253, 4})
                               : (std::vector<u32>{5, 6, 7, 5, 7, 8, 5, 8, 9}));
    }
}

TEST_F(VertexFetch, RestartsCutPrimitivesAtTheGuestsIndex) { // GFX-122: compared in the type's width
    const auto p = program({ids}, {.feedback = four_words()});
    const u16 indices[] = {0, 1, 2, 77, 3, 4, 5, 6};
    write(index_at, indices);
    for (const u32 restart : {0xffffu, 0x1004du}) { // 0x4d is 77
        Recorder r;
        bind(r, p, all_graphics_bits);
        r.add(stream::SetPrimitiveRestart{{}, 1, restart});
        capture(r, [&] {
            stream::DrawElements d{};
            d.primitive = 5; // strip
            d.index_type = 1;
            d.count = 8;
            d.indices = at(index_at).value;
            r.add(d);
        });
        run(r);
        EXPECT_EQ(read<u32>(control) / 16 / 3, restart == 0xffff ? 6u : 3u); // triangles
    }
}

TEST_F(VertexFetch, IndicesThatTheGpuWroteAMomentAgo) { // REN-155, REN-158, REN-159: quads, bytes, indirect quads
    const auto p = program({ids}, {.feedback = four_words()});
    const u8 old[] = {0, 0, 0, 0}, now[] = {4, 5, 6, 7};
    write(index_at, old);
    write(index_at + 0x100, now);
    const u32 record[] = {4, 1, 0, 0, 0};
    write(0x19100, record);
    for (const bool indirect : {true, false}) {
        write(index_at, old);
        Recorder r;
        const auto copy = [&](u64 from, u64 to, u64 size) {
            stream::CopyBufferToBuffer c{};
            c.source = at(from).value;
            c.dest = at(to).value;
            c.size = size;
            r.add(c);
        };
        copy(index_at + 0x100, index_at, 4);
        if (indirect)
            copy(0x19100, 0x19000, sizeof record);
        bind(r, p, all_graphics_bits);
        capture(r, [&] {
            if (!indirect) {
                stream::DrawElements d{};
                d.primitive = 7;
                d.index_type = 0;
                d.count = 4;
                d.indices = at(index_at).value;
                r.add(d);
                return;
            }
            stream::DrawElementsIndirect d{};
            d.primitive = 7; // quads
            d.index_type = 0;
            d.indices = at(index_at).value;
            d.arguments = at(0x19000).value;
            r.add(d);
        });
        run(r);
        std::vector<u32> out;
        for (u32 i = 0; i < read<u32>(control) / 16; ++i)
            out.push_back(captured_vertex(i)[0]);
        EXPECT_EQ(out, (std::vector<u32>{4, 5, 7, 5, 6, 7}));
    }
}

TEST_F(VertexFetch, CountsOfIndirectDrawsAreRead) { // REN-162: the same records with 4, then 60 of at most 7
    const auto p = program({ids}, {.feedback = four_words()});
    std::array<u32, 5 * 7> records{};
    for (u32 i = 0; i < 7; ++i)
        records[5 * i] = 1, records[5 * i + 1] = 1, records[5 * i + 2] = i;
    write(0x19000, records);
    for (u16 i = 0; i < 7; ++i)
        write<u16>(index_at + 2u * i, static_cast<u16>(20 + i));
    for (const u32 count : {4u, 60u, 0u}) {
        write<u32>(0x1a000, count);
        Recorder r;
        bind(r, p, all_graphics_bits);
        capture(r, [&] {
            stream::DrawElementsIndirectCount d{};
            d.primitive = points;
            d.index_type = 1;
            d.indices = at(index_at).value;
            d.arguments = at(0x19000).value;
            d.count = at(0x1a000).value;
            d.max_draws = 7;
            d.stride = 20;
            r.add(d);
        });
        run(r);
        const u32 drawn = std::min(count, 7u);
        EXPECT_EQ(read<u32>(control), drawn * 16);
        for (u32 i = 0; i < drawn; ++i)
            EXPECT_EQ(captured_vertex(i)[0], 20 + i);
    }
}

} // namespace
} // namespace heaviside::replay
