// A program at a binding: what one reads with given instructions through handles and buffers.
#pragma once

#include "program_fixture.h"

#include "base/log.h"

#include <bit>

namespace heaviside::replay {

using Words = std::array<u32, 4>;
// NVNtextureTarget.
constexpr u8 target_1d = 0, target_2d = 1, target_2d_array = 4, target_cube = 8, target_cube_array = 9,
             target_buffer = 10, target_3d = 2, target_2d_ms = 5;
constexpr u32 flag_image = 0x8000; // NVNtextureFlags

inline u32 f(f32 value) {
    return std::bit_cast<u32>(value);
}

class Bindings : public ProgramTest {
protected:
    static constexpr u64 result = 0x1000, coordinates = 0x2000, textures_at = 0x40000;
    static constexpr stream::PoolId texture_pool = 1, sampler_pool = 2;
    static constexpr u32 pool_size_ids = 1024;

    void SetUp() override {
        ProgramTest::SetUp();
        if (HasFatalFailure())
            return;
        replay->texture_pool_created(texture_pool, 0, pool_size_ids);
        replay->sampler_pool_created(sampler_pool, 0, 64);
        stream::SamplerDescription nearest{};
        nearest.wrap_s = nearest.wrap_t = nearest.wrap_r = 3; // CLAMP_TO_EDGE
        nearest.lod_max = 1000;
        nearest.max_anisotropy = 1;
        replay->sampler_registered(sampler_pool, 0, nearest);
    }
    // A compute program that runs the instructions with coordinates in R0 to R3, and stores R4 to R7 to its storage
    // buffer 0.
    stream::ProgramId reading(const std::string& instructions) {
        const auto known = readers_.find(instructions);
        if (known != readers_.end())
            return known->second;
        const std::string source =
            ".stage compute\n.workgroup 1 1 1\n.entry main\nmain:\n"
            "MOV R0, c[0x3][0x0]\nMOV R1, c[0x3][0x4]\nMOV R2, c[0x3][0x8]\nMOV R3, c[0x3][0xc]\n"
            "MOV R4, RZ\nMOV R5, RZ\nMOV R6, RZ\nMOV R7, RZ\n" +
            instructions + "\nMOV R8, c[0x0][0x310]\nMOV R9, c[0x0][0x314]\nSTG.E.128 [R8], R4\nEXIT\n";
        return readers_[instructions] = program({source});
    }
    static void select_pools(Recorder& r) {
        stream::SetTexturePool textures{};
        textures.pool = texture_pool;
        r.add(textures);
        stream::SetSamplerPool samplers{};
        samplers.pool = sampler_pool;
        r.add(samplers);
    }
    static void handles(Recorder& r, stream::HandleKind kind, u8 first, std::vector<u32> values,
                        stream::Stage stage = stream::Stage::Compute) {
        stream::BindHandles b{};
        b.kind = kind;
        b.stage = stage;
        b.first = first;
        b.count = static_cast<u8>(values.size());
        r.add(b, std::span<const u32>(values));
    }
    void begin(Recorder& r, const std::string& instructions, Words at_coordinates) {
        write(coordinates, at_coordinates);
        write(result, Words{9, 9, 9, 9});
        select_pools(r);
        bind(r, reading(instructions), compute_bit);
        uniform(r, stream::Stage::Compute, 0, coordinates, 16);
        storage(r, stream::Stage::Compute, 0, result, 16);
    }
    Words finish(Recorder& r) {
        dispatch(r);
        run(r);
        return read<Words>(result);
    }
    // What the instructions find with the handle in texture slot 0 and image slot 0.
    Words find(const std::string& instructions, u32 id, Words at_coordinates) {
        Recorder r;
        begin(r, instructions, at_coordinates);
        handles(r, stream::HandleKind::Texture, 0, {id});
        handles(r, stream::HandleKind::Image, 0, {id});
        return finish(r);
    }
    // Square textures, at a place of their own each.
    stream::ImageDescription layered(u8 target, u16 depth, u16 layers, const char* format = "R32F", u16 size = 8,
                                     u8 levels = 1) {
        stream::ImageDescription d = image(next_at_, format, size, size, levels);
        next_at_ += 0x20000;
        d.texture.target = d.view.target = target;
        d.texture.depth = depth;
        d.view.layer_count = layers;
        return d;
    }
    // Gives each layer its number, from 1 on.
    void number_layers(const stream::ImageDescription& d, i32 layers, i32 size = 8) {
        Recorder r;
        for (i32 layer = 0; layer < layers; ++layer) {
            stream::ClearTexture c{};
            c.value_class = stream::ClearClass::Float;
            c.mask = 0xf;
            c.value[0] = f(static_cast<f32>(layer + 1));
            c.region = {0, 0, layer, size, size, 1};
            c.image = d;
            c.image.view.target = target_2d_array;
            r.add(c);
        }
        run(r);
    }
    void put(u32 id, const stream::ImageDescription& d) { replay->texture_registered(texture_pool, id, d, false); }

    u64 next_at_ = textures_at;

private:
    std::map<std::string, stream::ProgramId> readers_;
};

inline const std::string fetch_2d = "TLD.LZ R4, R0, 0x8, 2D, 0xf", fetch_2d_array = "TLD.LZ R4, R0, 0x8, ARRAY_2D, 0xf",
                         sample_cube = "TEX.LZ R4, R0, 0x8, CUBE, 0xf",
                         sample_cube_array = "TEX.LZ R4, R0, 0x8, ARRAY_CUBE, 0xf",
                         fetch_3d = "TLD.LZ R4, R0, 0x8, 3D, 0xf", fetch_1d = "TLD.LZ R4, R0, 0x8, 1D, 0xf";

} // namespace heaviside::replay
