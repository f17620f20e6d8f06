// Cases whose programs are written in assembly here: what the corpus does not touch. Expected values are worked out by
// hand, texel by texel.
#pragma once

#include "tests/corpus/run.h"
#include "tests/corpus/samples.h"

#include <cstring>
#include <gtest/gtest.h>

namespace corpus {

using Words = std::vector<std::uint32_t>;

template <class T>
Blob blob_of(const std::vector<T>& values) {
    Blob blob(values.size() * sizeof(T));
    if (!blob.empty())
        std::memcpy(blob.data(), values.data(), blob.size());
    return blob;
}

inline Words words_of(const Blob& blob) {
    Words words(blob.size() / 4);
    std::memcpy(words.data(), blob.data(), words.size() * 4);
    return words;
}

namespace format {
inline constexpr Format r32ui{NVN_FORMAT_R32UI, 1, 4, Format::Kind::Uint};
inline constexpr Format r32i{NVN_FORMAT_R32I, 1, 4, Format::Kind::Int};
inline constexpr Format r32f{NVN_FORMAT_R32F, 1, 4, Format::Kind::Float};
inline constexpr Format r8ui{NVN_FORMAT_R8UI, 1, 1, Format::Kind::Uint};
inline constexpr Format r16ui{NVN_FORMAT_R16UI, 1, 2, Format::Kind::Uint};
inline constexpr Format rg32ui{NVN_FORMAT_RG32UI, 2, 4, Format::Kind::Uint};
inline constexpr Format rgba32ui{NVN_FORMAT_RGBA32UI, 4, 4, Format::Kind::Uint};
inline constexpr Format rgba32f{NVN_FORMAT_RGBA32F, 4, 4, Format::Kind::Float};
inline constexpr Format rgba8{NVN_FORMAT_RGBA8, 4, 1, Format::Kind::Unorm};
inline constexpr Format rgba8ui{NVN_FORMAT_RGBA8UI, 4, 1, Format::Kind::Uint};
} // namespace format

// A texture or image without mip levels.
inline Resource resource_of(Resource::Kind kind, NVNshaderStage stage, int slot, NVNtextureTarget target,
                            const Format& format, std::array<int, 3> size, int layers, Blob data) {
    Resource r;
    r.kind = kind;
    r.stage = stage;
    r.slot = slot;
    r.target = target;
    r.format = format;
    r.size = size;
    r.layers = layers;
    r.data = std::move(data);
    return r;
}

struct Dispatched {
    std::vector<Words> threads; // R4 to R7 of each
    std::vector<Words> images;  // the contents of each image, in the order of the inputs
};

// Runs `body` with the thread's number in R0 (one group, up to 1,024) and keeps what it leaves in R4 to R7. R2 and R3
// are taken. Storage buffer 0 holds the results.
inline Dispatched dispatch(const std::string& body, std::vector<Resource> inputs, unsigned threads) {
    Case test;
    test.stages = {assemble(NVN_SHADER_STAGE_COMPUTE, ".stage compute\n.workgroup " + std::to_string(threads) +
                                                          " 1 1\n"
                                                          "S2R R0, SR_TID.X\n"
                                                          "SHL R1, R0, 0x4\n"
                                                          "IADD R2.CC, R1, c[0x0][0x310]\n"
                                                          "IADD.X R3, RZ, c[0x0][0x314]\n"
                                                          "MOV R4, RZ\nMOV R5, RZ\nMOV R6, RZ\nMOV R7, RZ\n" +
                                                          body + "\nSTG.E.128 [R2], R4\nEXIT\n")};
    Resource results;
    results.kind = Resource::Kind::Ssbo;
    results.stage = NVN_SHADER_STAGE_COMPUTE;
    results.data.resize(threads * 16u);
    Output words;
    words.kind = Output::Kind::Ssbo;
    words.stage = NVN_SHADER_STAGE_COMPUTE;
    words.reference = results.data;
    test.outputs.push_back(words);
    for (const Resource& input : inputs)
        if (input.kind == Resource::Kind::Image || input.kind == Resource::Kind::ImageBuffer) {
            Output image;
            image.kind = input.kind == Resource::Kind::Image ? Output::Kind::Image : Output::Kind::ImageBuffer;
            image.stage = input.stage;
            image.slot = input.slot;
            image.reference = input.data;
            test.outputs.push_back(image);
        }
    test.inputs = std::move(inputs);
    test.inputs.push_back(std::move(results));
    const std::vector<Blob> outputs = run_case(the_machine(), test);
    Dispatched done;
    const Words all = words_of(outputs[0]);
    for (unsigned i = 0; i < threads; ++i)
        done.threads.emplace_back(all.begin() + 4 * i, all.begin() + 4 * i + 4);
    for (std::size_t i = 1; i < outputs.size(); ++i)
        done.images.push_back(words_of(outputs[i]));
    return done;
}

class Assembled : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(the_machine().running) << "no device"; }
};

} // namespace corpus
