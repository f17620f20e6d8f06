// Client programs (clients.h) against the API without a GPU.
#include "tests/nvn/clients.h"

#include "tests/nvn/client.h"

#include "program/build.h"

#include <algorithm>
#include <array>
#include <vector>

namespace heaviside::nvn {
namespace {

// Shaders of one bundle.
struct Assets {
    program::Blobs blobs[3];
    ClientAssets client;
    Assets() {
        const program::Stage stages[] = {program::Stage::Vertex, program::Stage::Fragment, program::Stage::Compute};
        ClientShader* const shaders[] = {&client.vertex, &client.fragment, &client.compute};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::vector<std::byte> code(32, static_cast<std::byte>(i + 1));
            program::BuildInput input{.stage = stages[i], .code = code, .register_count = 8};
            input.sph.type = i == 1 ? maxwell::ShaderType::Pixel : maxwell::ShaderType::Vertex;
            input.sph.pixel = i == 1;
            auto built = program::build(input);
            EXPECT_TRUE(built);
            blobs[i] = std::move(*built);
            *shaders[i] = {blobs[i].gpu.data(), blobs[i].gpu.size(), blobs[i].control.data()};
        }
    }
};

TEST(Clients, Framework) {
    const Assets assets;
    EXPECT_EQ(client_framework(&assets.client), 0) << "line of tests/nvn/client_framework.c";
}

TEST(Clients, Window) {
    const Assets assets;
    EXPECT_EQ(client_window(&assets.client), 0) << "line of tests/nvn/client_window.c";
}

TEST(Clients, Overlay) {
    const Assets assets;
    EXPECT_EQ(client_overlay(&assets.client), 0) << "line of tests/nvn/client_overlay.cpp";
}

TEST(Clients, Hooks) {
    EXPECT_EQ(client_hooks(), 0) << "line of tests/nvn/client_hooks.cpp";
}

} // namespace
} // namespace heaviside::nvn
