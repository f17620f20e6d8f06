// Render threads of applications have small stacks (ledger OBJ-231).
#include "command_fixture.h"

#include <pthread.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HEAVISIDE_FRAMES_ARE_LARGER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HEAVISIDE_FRAMES_ARE_LARGER 1
#endif
#endif

namespace heaviside::nvn {
namespace {

class SmallStack : public CommandTest {
protected:
    static constexpr std::size_t stack_bytes = 32 * 1024;

    // Runs self->frame() on a thread whose stack ends in an inaccessible page.
    void run() {
        pthread_attr_t attributes;
        ASSERT_EQ(pthread_attr_init(&attributes), 0);
        ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
        pthread_t thread;
        ASSERT_EQ(pthread_create(
                      &thread, &attributes,
                      [](void* self) -> void* {
                          static_cast<SmallStack*>(self)->frame();
                          return nullptr;
                      },
                      this),
                  0);
        pthread_join(thread, nullptr);
        pthread_attr_destroy(&attributes);
    }
    void frame() {
        const NVNtexture texture = make_texture(256, 256);
        std::vector<u32> texels(256 * 256);
        nvnTextureWriteTexels(&texture, nullptr, nullptr, texels.data());
        NVNtexturePool textures{};
        EXPECT_TRUE(nvnTexturePoolInitialize(&textures, &pool, 0x10000, 300));
        nvnTexturePoolRegisterTexture(&textures, 256, &texture, nullptr);
        begin(cmd, 0, 4096);
        const NVNtexture* const colors[] = {&texture, &texture, &texture, &texture,
                                            &texture, &texture, &texture, &texture};
        nvnCommandBufferSetRenderTargets(&cmd, 8, colors, nullptr, nullptr, nullptr);
        std::vector<NVNseparateTextureHandle> handles(128);
        nvnCommandBufferBindSeparateTextures(&cmd, NVN_SHADER_STAGE_VERTEX, 0, 128, handles.data());
        for (int i = 0; i < 1000; ++i)
            draw(cmd, i); // more than was granted
        NVNprogram program{};
        nvnProgramInitialize(&program, &device);
        std::vector<std::byte> nothing(0x4000);
        const NVNshaderData stage{0, nothing.data()};
        EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &stage)); // a report too
        submit(nvnCommandBufferEndRecording(&cmd));
        nvnTexturePoolFinalize(&textures);
    }
};

TEST_F(SmallStack, AFrameFitsInto32KiB) {
#ifdef HEAVISIDE_FRAMES_ARE_LARGER
    GTEST_SKIP() << "the sanitizers' frames are larger";
#endif
    run();
    EXPECT_EQ(draws().size(), 1000u);
}

} // namespace
} // namespace heaviside::nvn
