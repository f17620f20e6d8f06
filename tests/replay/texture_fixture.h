// Programs that read one texel of a bound texture: what a guest's shader sees of it.
#pragma once

#include "program_fixture.h"
#include "tracked_fixture.h"

#include <array>
#include <bit>
#include <map>
#include <string>
#include <vector>

namespace heaviside::replay {

using Words = std::array<u32, 4>;

inline u32 word(f32 value) {
    return std::bit_cast<u32>(value);
}
inline f32 number(u32 value) {
    return std::bit_cast<f32>(value);
}

// NVNtextureTarget.
inline constexpr u8 target_1d = 0, target_2d = 1, target_3d = 2, target_1d_array = 3, target_2d_array = 4,
                    target_2d_ms = 5, target_2d_ms_array = 6, target_rectangle = 7, target_cube = 8,
                    target_cube_array = 9;

inline const char* const fetch_1d = "TLD.LZ R4, R0, 0x8, 1D, 0xf";
inline const char* const fetch_2d = "TLD.LZ R4, R0, 0x8, 2D, 0xf";
inline const char* const fetch_3d = "TLD.LZ R4, R0, 0x8, 3D, 0xf";
inline const char* const fetch_1d_array = "TLD.LZ R4, R0, 0x8, ARRAY_1D, 0xf";
inline const char* const fetch_2d_array = "TLD.LZ R4, R0, 0x8, ARRAY_2D, 0xf";
inline const char* const sample_2d = "TEX.LZ R4, R0, 0x8, 2D, 0xf";
inline const char* const sample_cube = "TEX.LZ R4, R0, 0x8, CUBE, 0xf";

class TextureReads : public ProgramTest {
protected:
    static constexpr u64 coordinates_at = 0x10000, results_at = 0x20000; // 256 bytes each read
    static constexpr stream::PoolId texture_pool = 1, sampler_pool = 2;

    void SetUp() override {
        ProgramTest::SetUp();
        if (HasFatalFailure())
            return;
        replay->texture_pool_created(texture_pool, 0, 4096);
        replay->sampler_pool_created(sampler_pool, 0, 64);
        stream::SamplerDescription nearest{};
        nearest.wrap_s = nearest.wrap_t = nearest.wrap_r = 3; // CLAMP_TO_EDGE
        nearest.lod_max = 1000;
        nearest.max_anisotropy = 1;
        replay->sampler_registered(sampler_pool, 0, nearest);
    }
    // With coordinates in R0 to R3; stores R4 to R7.
    stream::ProgramId reader(const std::string& instruction) {
        const auto known = readers_.find(instruction);
        if (known != readers_.end())
            return known->second;
        return readers_[instruction] = program(
                   {".stage compute\n.workgroup 1 1 1\n.entry main\nmain:\n"
                    "MOV R0, c[0x3][0x0]\nMOV R1, c[0x3][0x4]\nMOV R2, c[0x3][0x8]\nMOV R3, c[0x3][0xc]\n"
                    "MOV R4, RZ\nMOV R5, RZ\nMOV R6, RZ\nMOV R7, RZ\n" +
                    instruction + "\nMOV R8, c[0x0][0x310]\nMOV R9, c[0x0][0x314]\nSTG.E.128 [R8], R4\nEXIT\n"});
    }
    void put(u32 id, const stream::ImageDescription& d) { replay->texture_registered(texture_pool, id, d, false); }
    // Reads texture `id` at each of the coordinates, in one submission.
    std::vector<Words> look(const std::string& instruction, u32 id, const std::vector<Words>& coordinates) {
        Recorder r;
        stream::SetTexturePool textures{};
        textures.pool = texture_pool;
        r.add(textures);
        stream::SetSamplerPool samplers{};
        samplers.pool = sampler_pool;
        r.add(samplers);
        bind(r, reader(instruction), compute_bit);
        stream::BindHandles b{};
        b.kind = stream::HandleKind::Texture;
        b.stage = stream::Stage::Compute;
        b.count = 1;
        r.add(b, std::span<const u32>(&id, 1));
        for (u32 i = 0; i < coordinates.size(); ++i) {
            std::memcpy(memory + coordinates_at + 256 * i, coordinates[i].data(), 16);
            uniform(r, stream::Stage::Compute, 0, coordinates_at + 256 * i, 16);
            storage(r, stream::Stage::Compute, 0, results_at + 256 * i, 16);
            dispatch(r);
        }
        run(r);
        std::vector<Words> out;
        for (u32 i = 0; i < coordinates.size(); ++i)
            out.push_back(read<Words>(results_at + 256 * i));
        return out;
    }
    Words look(const std::string& instruction, u32 id, Words coordinates) {
        return look(instruction, id, std::vector<Words>{coordinates})[0];
    }

private:
    std::map<std::string, stream::ProgramId> readers_;
};

} // namespace heaviside::replay
