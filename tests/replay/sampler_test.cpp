// What programs see of samplers: reductions, LOD biases, borders. Ledger rows at each test.
#include "texture_fixture.h"

#include "base/log.h"
#include "replay/textures.h"
#include "texture/layout.h"

#include <algorithm>

namespace heaviside::replay {
namespace {

// NVNminFilter, NVNwrapMode
constexpr u8 linear = 1, linear_mipmap_nearest = 3, clamp_to_edge = 3, clamp_to_border = 5;
constexpr u32 floats = 0, signed_integers = 1, unsigned_integers = 2; // SamplerDescription::border_class

class Samplers : public TextureReads {
protected:
    static constexpr u64 target = 0x100000;

    static stream::SamplerDescription sampler(u8 filter = 0, u8 wrap = clamp_to_edge) {
        stream::SamplerDescription s{};
        s.min_filter = filter;
        s.mag_filter = filter & 1;
        s.wrap_s = s.wrap_t = s.wrap_r = wrap;
        s.lod_max = 1000;
        s.max_anisotropy = 1;
        return s;
    }
    static stream::SamplerDescription bordered(const Words& border, u32 border_class, u8 filter = 0) {
        auto s = sampler(filter, clamp_to_border);
        std::copy(border.begin(), border.end(), s.border);
        s.border_class = border_class;
        return s;
    }
    void use(const stream::SamplerDescription& s) { replay->sampler_registered(sampler_pool, 0, s); }
    // A texture of one GOB a level whose level n is the number first + n everywhere, or what `texel` says.
    template <class Texel>
    stream::ImageDescription filled(const char* format, u32 size, u8 levels, u32 bytes, Texel&& texel) {
        auto d = image(target, format, size, size, levels);
        const auto layout = texture::layout(texture_description(d.texture));
        EXPECT_TRUE(layout);
        for (u32 level = 0; level < levels; ++level) {
            const texture::Level& l = layout->levels[level];
            for (u32 y = 0; y < l.height; ++y)
                for (u32 x = 0; x < l.width; ++x) {
                    const Words value = texel(level, x, y);
                    std::memcpy(memory + target + l.offset + tiled(x * bytes, y, l.gobs_x, 1u << l.block_height_log2),
                                value.data(), bytes);
                }
        }
        replay->memory_written(at(target).value, layout->size);
        return d;
    }
    static Words numbers(f32 r, f32 g, f32 b, f32 a) { return {word(r), word(g), word(b), word(a)}; }
};

// REN-049: also where levels are picked, and at an explicit level as depth pyramids read them.
TEST_F(Samplers, AReductionIsTheLeastOrTheGreatest) {
    if (!device->has(gpu::Feature::SamplerMinMax))
        GTEST_SKIP() << "the device has no reductions";
    const f32 values[2][2] = {{1, 2}, {3, 4}};
    put(300, filled("R32F", 4, 2, 4, [&](u32 level, u32 x, u32 y) {
            return Words{word(values[y % 2][x % 2] + (level == 0 ? 10.0f : 0.0f))};
        }));
    const Words centre{word(0.5f), word(0.5f), word(1)};
    struct Row {
        u8 reduction;
        f32 expected;
    };
    for (const u8 filter : {linear, linear_mipmap_nearest})
        for (const auto& [reduction, expected] : {Row{0, 2.5f}, Row{1, 1}, Row{2, 4}}) {
            auto s = sampler(filter);
            s.reduction = reduction;
            use(s);
            const bool levels = filter == linear_mipmap_nearest;
            EXPECT_EQ(number(look("TEX.LL R4, R0, R2, 0x8, 2D, 0xf", 300, centre)[0]),
                      expected + (levels ? 0.0f : 10.0f))
                << int(filter) << ' ' << int(reduction);
        }
}

// REN-050: each of 16 x 16 pixels steps two texels: level 1 before the bias.
TEST_F(Samplers, TheBiasMovesTheLevel) {
    put(300, filled("R32F", 32, 6, 4, [](u32 level, u32, u32) { return Words{word(static_cast<f32>(level))}; }));
    const stream::ProgramId sampling = program({full_screen, R"(
.stage fragment
.target 0 rgba
.in position
.entry main
main:
    IPA.PASS R0, a[0x70], RZ
    IPA.PASS R1, a[0x74], RZ
    FMUL.FTZ R0, R0, 0.0625
    FMUL.FTZ R1, R1, 0.0625
    TEX R4, R0, RZ, 0x8, 2D, 0x1
    MOV R0, R4
    MOV R1, RZ
    MOV R2, RZ
    MOV R3, RZ
    EXIT
)"});
    const auto drawn = image(0x200000, "R32F", 16, 16);
    const auto level_at = [&](f32 bias) {
        auto s = sampler(linear_mipmap_nearest);
        s.lod_bias = bias;
        use(s);
        Recorder r;
        set_targets(r, std::span(&drawn, 1));
        stream::SetTexturePool textures{};
        textures.pool = texture_pool;
        r.add(textures);
        stream::SetSamplerPool samplers{};
        samplers.pool = sampler_pool;
        r.add(samplers);
        write(coordinates_at, Words{});
        uniform(r, stream::Stage::Vertex, 0, coordinates_at, 16);
        bind(r, sampling, vertex_bit | fragment_bit);
        stream::BindHandles b{};
        b.kind = stream::HandleKind::Texture;
        b.stage = stream::Stage::Fragment;
        b.count = 1;
        const u32 id = 300;
        r.add(b, std::span<const u32>(&id, 1));
        draw(r);
        copy_out(r, drawn, results_at, 16, 16);
        run(r);
        return read<f32>(results_at + 4 * (16 * 8 + 8));
    };
    EXPECT_EQ(level_at(0), 1.0f);
    EXPECT_EQ(level_at(2), 3.0f);
    EXPECT_EQ(level_at(-1), 0.0f);
    EXPECT_EQ(level_at(40), 5.0f); // the limit is far behind the last level
    EXPECT_EQ(level_at(-40), 0.0f);
}

// REN-051: exactly the border outside, and half of it on the edge.
TEST_F(Samplers, ABorderIsFilteredAtTheEdge) {
    if (!device->has(gpu::Feature::CustomBorderColor))
        GTEST_SKIP() << "the device has no borders of any colour";
    put(300, filled("RG8", 256, 1, 2, [](u32, u32, u32) { return Words{0xFF00}; })); // 0, 1
    use(bordered(numbers(0.5f, 0.5f, 0.5f, 0.5f), floats, linear));
    const auto seen = look(sample_2d, 300, {{word(-1), word(0.5f)}, {word(0), word(0.5f)}, {word(0.5f), word(0.5f)}});
    const f32 expected[][2] = {{0.5f, 0.5f}, {0.25f, 0.75f}, {0, 1}};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_NEAR(number(seen[i][k]), expected[i][k], 1.0f / 512) << i << ' ' << k;
}

// REN-053, OBJ-219: the same numbers for textures of integers and of floats, whichever setter wrote them; in arrays,
// gathers and comparisons too.
TEST_F(Samplers, ABorderIsOfTheTexturesClass) {
    if (!device->has(gpu::Feature::CustomBorderColor))
        GTEST_SKIP() << "the device has no borders of any colour";
    const Words outside{word(-1), word(-1)}, outside_array{0, word(-1), word(-1)};
    const auto one = [](u32, u32, u32) { return Words{0x11111111, 0x11111111, 0x11111111, 0x11111111}; };
    put(300, filled("RGBA32UI", 4, 1, 16, one));
    auto array = filled("RGBA32UI", 4, 1, 16, one);
    array.texture.target = array.view.target = target_2d_array;
    put(301, array);
    auto of_signed = filled("RGBA32I", 4, 1, 16, one);
    put(302, of_signed);
    auto of_floats = filled("RGBA32F", 4, 1, 16, one);
    put(303, of_floats);
    struct Row {
        Words border;
        u32 border_class;
        Words as_unsigned, as_signed, as_floats;
    };
    const u32 minus_seven = static_cast<u32>(-7);
    const Row rows[] = {
        {{7, 8, 9, 10}, unsigned_integers, {7, 8, 9, 10}, {7, 8, 9, 10}, numbers(7, 8, 9, 10)},
        {{minus_seven, 0, 1, 2}, signed_integers, {minus_seven, 0, 1, 2}, {minus_seven, 0, 1, 2}, numbers(-7, 0, 1, 2)},
        {numbers(7, -8, 0, 10),
         floats,
         {7, static_cast<u32>(-8), 0, 10},
         {7, static_cast<u32>(-8), 0, 10},
         numbers(7, -8, 0, 10)},
        {{1, 1, 1, 1}, unsigned_integers, {1, 1, 1, 1}, {1, 1, 1, 1}, numbers(1, 1, 1, 1)}, // fixed colours
        {{0, 0, 0, 1}, signed_integers, {0, 0, 0, 1}, {0, 0, 0, 1}, numbers(0, 0, 0, 1)},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.border[3]);
        use(bordered(row.border, row.border_class));
        EXPECT_EQ(look(sample_2d, 300, outside), row.as_unsigned);
        EXPECT_EQ(look("TEX.LZ R4, R0, 0x8, ARRAY_2D, 0xf", 301, outside_array), row.as_unsigned);
        EXPECT_EQ(look(sample_2d, 302, outside), row.as_signed);
        EXPECT_EQ(look(sample_2d, 303, outside), row.as_floats);
        const u32 green = row.as_unsigned[1], number_of_green = row.as_floats[1];
        EXPECT_EQ(look("TLD4.G R4, R0, RZ, 0x8, 2D, 0xf", 300, outside), (Words{green, green, green, green}));
        EXPECT_EQ(look("TLD4.G R4, R0, RZ, 0x8, 2D, 0xf", 303, outside),
                  (Words{number_of_green, number_of_green, number_of_green, number_of_green}));
    }
    put(304, filled("DEPTH32F", 4, 1, 4, [](u32, u32, u32) { return Words{word(0.5f)}; }));
    for (const f32 depth : {0.25f, 0.75f}) {
        auto s = bordered(numbers(depth, 0, 0, 0), floats);
        s.compare_mode = 1;
        s.compare_func = 4; // less or equal: 0.5 against the border
        use(s);
        const Words at{word(-1), word(-1), word(0.5f)};
        EXPECT_EQ(number(look("TEX.LZ.DC R4, R0, R2, 0x8, 2D, 0x1", 304, at)[0]), depth > 0.5f ? 1.0f : 0.0f) << depth;
    }
}

// Devices that have only fixed colours show the nearest one, and say so (REN-053).
class SamplersOfFixedBorders : public Samplers {
protected:
    gpu::DeviceOptions device_options() override {
        auto options = Samplers::device_options();
        options.disable += options.disable.empty() ? "custom_border_color" : ",custom_border_color";
        return options;
    }
};

TEST_F(SamplersOfFixedBorders, TheNearestIsShownAndReported) {
    std::vector<std::string> lines;
    log::set_sink([&](log::Level, std::string_view line) { lines.emplace_back(line); });
    log::forget_seen();
    put(300, filled("RGBA32F", 4, 1, 16, [](u32, u32, u32) { return Words{}; }));
    const Words outside{word(-1), word(-1)};
    use(bordered(numbers(1, 1, 1, 1), floats));
    EXPECT_EQ(look(sample_2d, 300, outside), numbers(1, 1, 1, 1));
    EXPECT_TRUE(lines.empty());
    for (int i = 0; i < 3; ++i) {
        use(bordered(numbers(0.1f, 0.2f, 0.1f, 0.9f), floats));
        EXPECT_EQ(look(sample_2d, 300, outside), numbers(0, 0, 0, 1));
    }
    use(bordered(numbers(0.9f, 0.9f, 0.6f, 0.9f), floats));
    EXPECT_EQ(look(sample_2d, 300, outside), numbers(1, 1, 1, 1));
    EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                            [](const std::string& l) { return l.find("border") != std::string::npos; }),
              1)
        << lines.size();
    log::set_sink({});
}

} // namespace
} // namespace heaviside::replay
