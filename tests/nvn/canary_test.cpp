// Every entry point that may write into an object, over objects of the smallest size that any header gave them: nothing
// is written past it (ledger OBJ-001, GFX-179, GFX-183 to GFX-198). The same calls over memory that is no object:
// nothing is written at all.
//
// docs/nvn/objects.tsv has the sizes, functions.tsv the calls; both come in through the generated prototypes.inc.
#include "tests/nvn/world.h" // first: with the client's wrappers

#include "base/log.h"
#include <array>
#include <random>

namespace heaviside::nvn {
namespace {

using test::Guarded;
using test::World;

template <class R, class Object, class... Rest>
void call(R (*function)(Object*, Rest...), Object* object,
          [[maybe_unused]] test::Arguments<World, std::mt19937> arguments) {
    function(object, arguments.value<Rest>()...);
}

class Canary : public testing::Test {
protected:
    void SetUp() override {
        log::set_sink([](log::Level, std::string_view) {}); // thousands of refused calls
    }
    void TearDown() override { log::set_sink({}); }
};

TEST_F(Canary, NoCallWritesPastItsObject) {
    World world;
    std::mt19937 random(20261130);
    int calls = 0;
    const auto check = [&]<class Object>(const char* name, auto* function, Object*) {
        for (int round = 0; round < 24; ++round) {
            Guarded<Object> object(std::byte{0});
            std::memset(world.scratch(), 0, 0x30000);
            world.prepare(object.get());
            ASSERT_TRUE(object.intact()) << "prepare() before " << name;
            call(function, object.get(), test::Arguments(world, random));
            ASSERT_TRUE(object.intact()) << name;
            world.finish(object.get());
            ASSERT_TRUE(object.intact()) << "finish() after " << name;
            ++calls;
        }
    };
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)
#define NAME(name)
#define MUTATES(name, object) check(#name, pfnc_##name, static_cast<object*>(nullptr));
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef NAME
#undef MUTATES
    EXPECT_GE(calls, 24 * 300);
}

// Types that have a magic word: everything but Initialize refuses what is not theirs.
template <class Object>
inline constexpr bool has_magic =
    std::is_same_v<Object, NVNdevice> || std::is_same_v<Object, NVNmemoryPool> || std::is_same_v<Object, NVNbuffer> ||
    std::is_same_v<Object, NVNtexture> || std::is_same_v<Object, NVNsampler> ||
    std::is_same_v<Object, NVNtexturePool> || std::is_same_v<Object, NVNsamplerPool> ||
    std::is_same_v<Object, NVNprogram> || std::is_same_v<Object, NVNqueue> || std::is_same_v<Object, NVNsync> ||
    std::is_same_v<Object, NVNevent> || std::is_same_v<Object, NVNwindow> || std::is_same_v<Object, NVNcommandBuffer>;

TEST_F(Canary, WhatIsNoObjectIsLeftAlone) {
    World world;
    std::mt19937 random(7);
    const auto check = [&]<class Object>(const char* name, auto* function, Object*) {
        if (!has_magic<Object> || std::string_view(name).find("Initialize") != std::string_view::npos)
            return;
        for (const std::byte fill : {std::byte{0x00}, std::byte{0xA7}}) {
            Guarded<Object> object(fill);
            call(function, object.get(), test::Arguments(world, random));
            EXPECT_TRUE(object.all(fill) && object.intact()) << name;
            call(function, static_cast<Object*>(nullptr), test::Arguments(world, random));
        }
    };
#define PROTOTYPE(type, result, parameters)
#define OBJECT_SIZE(name, bytes, minimum)
#define NAME(name)
#define MUTATES(name, object) check(#name, pfnc_##name, static_cast<object*>(nullptr));
#include "tests/nvn/prototypes.inc"
#undef PROTOTYPE
#undef OBJECT_SIZE
#undef NAME
#undef MUTATES
}

// One title keeps a program of 0x80 bytes, a buffer and a pool side by side (ledger GFX-192).
TEST(Neighbours, ProgramOf128BytesBeforeABufferAndAPool) {
    test::Device device;
    test::Pool memory(device, 0x10000);
    test::Pages pages(0x10000);
    struct {
        std::array<std::byte, 0x80> program;
        NVNbuffer buffer;
        NVNmemoryPool pool;
    } block;
    static_assert(offsetof(decltype(block), buffer) == 0x80 && offsetof(decltype(block), pool) == 0xB0);
    auto* program = reinterpret_cast<NVNprogram*>(block.program.data());
    ASSERT_TRUE(nvnProgramInitialize(program, &device.object));
    NVNmemoryPoolBuilder pool_builder;
    nvnMemoryPoolBuilderSetDefaults(&pool_builder);
    nvnMemoryPoolBuilderSetStorage(&pool_builder, pages.data, pages.size);
    ASSERT_TRUE(nvnMemoryPoolInitialize(&block.pool, &pool_builder));
    NVNbufferBuilder buffer_builder;
    nvnBufferBuilderSetDefaults(&buffer_builder);
    nvnBufferBuilderSetStorage(&buffer_builder, &block.pool, 0x100, 0x100);
    ASSERT_TRUE(nvnBufferInitialize(&block.buffer, &buffer_builder));
    const NVNshaderData none{0, nullptr};
    EXPECT_FALSE(nvnProgramSetShaders(program, 1, &none));
    nvnProgramSetSampleShading(program, NVN_SAMPLE_SHADING_MODE_FORCE_SAMPLE_SHADING_ON);
    nvnProgramFinalize(program);
    EXPECT_EQ(nvnBufferMap(&block.buffer), pages.data + 0x100);
    EXPECT_EQ(nvnMemoryPoolMap(&block.pool), pages.data);
    nvnMemoryPoolFinalize(&block.pool);
}

} // namespace
} // namespace heaviside::nvn
