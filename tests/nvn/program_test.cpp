// Programs: what the sink is told, what lives outside the object. Ledger rows at each test.
#include "tests/nvn/client.h" // first: with the client's wrappers

#include "nvn/host.h"
#include "nvn/null_sink.h"
#include "nvn/runtime.h"
#include "program/build.h"

#include <algorithm>
#include <map>
#include <sys/mman.h>
#include <vector>

namespace heaviside::nvn {
namespace {

using test::Device;
using test::Pool;

class ProgramSink : public NullSink {
public:
    struct Stage {
        stream::Stage stage;
        u64 code_address;
        std::vector<std::byte> control, code;
    };
    std::map<stream::ProgramId, std::vector<Stage>> programs;

    void program_created(const stream::ProgramDescription& description) override {
        std::vector<Stage>& stages = programs[description.id];
        EXPECT_TRUE(stages.empty()) << "announced twice";
        for (const stream::ProgramStage& s : description.stages)
            stages.push_back(
                {s.stage, s.code_address, {s.control.begin(), s.control.end()}, {s.code.begin(), s.code.end()}});
    }
    void program_destroyed(stream::ProgramId id) override { EXPECT_EQ(programs.erase(id), 1u); }
};

class Programs : public testing::Test {
protected:
    void SetUp() override { set_sink(&sink_); }
    void TearDown() override { set_sink(nullptr); }

    // A program of one bundle per stage; `seed` makes its code. Room for 30 of them.
    NVNshaderData stage(program::Stage stage, u8 seed) {
        std::vector<std::byte> code(32, std::byte{seed});
        program::BuildInput input{.stage = stage, .code = code, .register_count = 8};
        // In the API's order of stages, which is not the hardware's (SHD-056).
        constexpr maxwell::ShaderType types[] = {maxwell::ShaderType::Vertex,   maxwell::ShaderType::Pixel,
                                                 maxwell::ShaderType::Geometry, maxwell::ShaderType::TessControl,
                                                 maxwell::ShaderType::TessEval, maxwell::ShaderType::Vertex};
        input.sph.type = types[static_cast<std::size_t>(stage)];
        input.sph.pixel = stage == program::Stage::Fragment;
        auto blobs = program::build(input);
        EXPECT_TRUE(blobs);
        EXPECT_LE(blobs->gpu.size(), 0x400u);
        const u64 offset = used_;
        used_ += 0x400;
        std::copy(blobs->gpu.begin(), blobs->gpu.end(), memory_.pages.data + offset);
        controls_.push_back(std::move(blobs->control));
        return {nvnMemoryPoolGetBufferAddress(&memory_.object) + offset, controls_.back().data()};
    }

    ProgramSink sink_;
    Device device_;
    Pool memory_{device_, 0x10000, test::cpu_cached | NVN_MEMORY_POOL_FLAGS_SHADER_CODE};
    u64 used_ = 0;
    std::vector<std::vector<std::byte>> controls_;
};

TEST_F(Programs, SinkHearsEveryStageOnceAndUntilTheEnd) {
    NVNprogram program;
    ASSERT_TRUE(nvnProgramInitialize(&program, &device_.object));
    const NVNshaderData stages[] = {stage(program::Stage::Fragment, 2), stage(program::Stage::Vertex, 1)};
    ASSERT_TRUE(nvnProgramSetShaders(&program, 2, stages));
    ASSERT_EQ(sink_.programs.size(), 1u);
    const auto& heard = sink_.programs.begin()->second;
    ASSERT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard[0].stage, stream::Stage::Vertex); // in stage order, however they were given
    EXPECT_EQ(heard[1].stage, stream::Stage::Fragment);
    EXPECT_EQ(heard[0].code_address, stages[1].data);
    ASSERT_GE(heard[0].code.size(), 0xA0u);
    EXPECT_EQ(heard[0].code[0x80], std::byte{1});
    EXPECT_TRUE(std::equal(heard[1].control.begin(), heard[1].control.end(), controls_[0].begin()));
    nvnProgramFinalize(&program);
    EXPECT_TRUE(sink_.programs.empty());
}

TEST_F(Programs, EqualContentsAreOneProgram) { // GFX-007
    NVNprogram a, b;
    nvnProgramInitialize(&a, &device_.object);
    nvnProgramInitialize(&b, &device_.object);
    const NVNshaderData first = stage(program::Stage::Vertex, 1), second = stage(program::Stage::Vertex, 1);
    ASSERT_NE(first.data, second.data);
    ASSERT_TRUE(nvnProgramSetShaders(&a, 1, &first));
    ASSERT_TRUE(nvnProgramSetShaders(&b, 1, &second));
    EXPECT_EQ(sink_.programs.size(), 1u);
    nvnProgramFinalize(&a);
    EXPECT_EQ(sink_.programs.size(), 1u);
    nvnProgramFinalize(&b);
    EXPECT_TRUE(sink_.programs.empty());
}

TEST_F(Programs, NeighbouringObjectsKeepTheirOwnShaders) { // OBJ-002
    alignas(8) std::byte slots[2][112];
    auto* a = reinterpret_cast<NVNprogram*>(slots[0]);
    auto* b = reinterpret_cast<NVNprogram*>(slots[1]);
    nvnProgramInitialize(a, &device_.object);
    nvnProgramInitialize(b, &device_.object);
    const NVNshaderData first = stage(program::Stage::Vertex, 1), second = stage(program::Stage::Vertex, 2);
    ASSERT_TRUE(nvnProgramSetShaders(a, 1, &first));
    ASSERT_TRUE(nvnProgramSetShaders(b, 1, &second));
    std::byte before[112];
    std::memcpy(before, b, sizeof before);
    nvnProgramFinalize(a);
    EXPECT_EQ(std::memcmp(before, b, sizeof before), 0);
    ASSERT_EQ(sink_.programs.size(), 1u);
    EXPECT_EQ(sink_.programs.begin()->second[0].code[0x80], std::byte{2});
    nvnProgramFinalize(b);
}

TEST_F(Programs, NewShadersReplaceTheOld) {
    NVNprogram program;
    nvnProgramInitialize(&program, &device_.object);
    const NVNshaderData first = stage(program::Stage::Vertex, 1), second = stage(program::Stage::Vertex, 2);
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &first));
    const stream::ProgramId id = sink_.programs.begin()->first;
    NVNprogram copy = program;
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &second));
    ASSERT_EQ(sink_.programs.size(), 2u); // the copy may be bound still
    EXPECT_TRUE(sink_.programs.contains(id));
    nvnProgramFinalize(&copy);
    ASSERT_EQ(sink_.programs.size(), 1u);
    EXPECT_NE(sink_.programs.begin()->first, id);
    nvnProgramFinalize(&program);
    EXPECT_TRUE(sink_.programs.empty());
}

// A container that grows moves its programs by copying their bytes; the old memory gets new ones, never a Finalize.
TEST_F(Programs, MovedByCopyingTheyOutliveWhatComesWhereTheyWere) { // GFX-180
    NVNprogram place;
    nvnProgramInitialize(&place, &device_.object);
    const NVNshaderData first = stage(program::Stage::Vertex, 1), second = stage(program::Stage::Vertex, 2);
    ASSERT_TRUE(nvnProgramSetShaders(&place, 1, &first));
    const stream::ProgramId moved_id = sink_.programs.begin()->first;
    NVNprogram moved = place;
    ASSERT_TRUE(nvnProgramInitialize(&place, &device_.object));
    EXPECT_TRUE(sink_.programs.contains(moved_id));
    ASSERT_TRUE(nvnProgramSetShaders(&place, 1, &second));
    ASSERT_EQ(sink_.programs.size(), 2u);
    nvnProgramFinalize(&place);
    ASSERT_EQ(sink_.programs.size(), 1u);
    EXPECT_TRUE(sink_.programs.contains(moved_id));
    nvnProgramFinalize(&moved);
    EXPECT_TRUE(sink_.programs.empty());
}

TEST_F(Programs, MovedAwayFromUnmappedMemory) {
    void* const home = ::mmap(nullptr, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(home, MAP_FAILED);
    auto* const original = static_cast<NVNprogram*>(home);
    nvnProgramInitialize(original, &device_.object);
    const NVNshaderData data = stage(program::Stage::Vertex, 1);
    ASSERT_TRUE(nvnProgramSetShaders(original, 1, &data));
    NVNprogram moved = *original, again = *original;
    ::munmap(home, 0x1000);
    nvnProgramFinalize(&moved);
    EXPECT_TRUE(sink_.programs.empty());
    nvnProgramFinalize(&again); // given back already
}

// Objects that are set up anew for ever do not collect shaders for ever: what 1,024 others were abandoned after is
// gone.
TEST_F(Programs, AbandonedShadersAreBounded) {
    NVNprogram program;
    nvnProgramInitialize(&program, &device_.object);
    const NVNshaderData first = stage(program::Stage::Vertex, 1), second = stage(program::Stage::Vertex, 2);
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &first));
    for (int i = 0; i < 1025; ++i) {
        nvnProgramInitialize(&program, &device_.object);
        ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &second));
    }
    EXPECT_EQ(sink_.programs.size(), 1u);
    nvnProgramFinalize(&program);
}

TEST_F(Programs, FinalizedProgramsAreNotBound) {
    NVNprogram program;
    nvnProgramInitialize(&program, &device_.object);
    const NVNshaderData data = stage(program::Stage::Vertex, 1);
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &data));
    nvnProgramFinalize(&program);
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &data));
    nvnProgramFinalize(&program);
    EXPECT_TRUE(sink_.programs.empty());
}

TEST_F(Programs, CopiesByValueDoNotOwn) {
    NVNprogram program;
    nvnProgramInitialize(&program, &device_.object);
    const NVNshaderData data = stage(program::Stage::Vertex, 1);
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &data));
    NVNprogram copy = program;
    nvnProgramFinalize(&copy);
    EXPECT_EQ(sink_.programs.size(), 1u);
    nvnProgramFinalize(&program);
    EXPECT_TRUE(sink_.programs.empty());
}

// SHD-079: key, fields and code are taken during the call; the control section's memory is not even mapped afterwards.
TEST_F(Programs, BlobsMayGoAfterTheCall) {
    for (const program::Stage kind : {program::Stage::Vertex, program::Stage::Compute}) {
        NVNprogram program, same;
        nvnProgramInitialize(&program, &device_.object);
        nvnProgramInitialize(&same, &device_.object);
        const NVNshaderData source = stage(kind, 3);
        const std::vector<std::byte> control = controls_.back();
        const std::size_t bytes = (control.size() + 0xFFF) & ~std::size_t{0xFFF};
        void* const section = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(section, MAP_FAILED);
        std::memcpy(section, control.data(), control.size());
        const NVNshaderDataExt data{source.data, section, nullptr};
        ASSERT_TRUE(nvnProgramSetShadersExt(&program, 1, &data));
        ASSERT_TRUE(nvnProgramSetShaders(&same, 1, &source)); // the key was that of the contents
        EXPECT_EQ(sink_.programs.size(), 1u);
        ::munmap(section, bytes);
        const std::vector<std::byte> code = sink_.programs.begin()->second[0].code;
        std::memset(memory_.pages.data, 0xEE, 0x8000);
        announce_late_programs(); // nothing is left to read
        const auto kept = host().programs.find(sink_.programs.begin()->first);
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->parts[0].code, code);
        EXPECT_TRUE(std::equal(control.begin(), control.end(), kept->parts[0].control.begin()));
        EXPECT_EQ(static_cast<int>(kept->parts[0].stage), static_cast<int>(kind));
        nvnProgramFinalize(&same);
        nvnProgramFinalize(&program);
        EXPECT_TRUE(sink_.programs.empty());
    }
}

// SHD-056: stages are told by the API's numbers, whatever order the hardware's types or the caller's array have.
TEST_F(Programs, StagesHaveTheApisNumbers) {
    constexpr NVNshaderStage stages[] = {NVN_SHADER_STAGE_VERTEX,          NVN_SHADER_STAGE_FRAGMENT,
                                         NVN_SHADER_STAGE_GEOMETRY,        NVN_SHADER_STAGE_TESS_CONTROL,
                                         NVN_SHADER_STAGE_TESS_EVALUATION, NVN_SHADER_STAGE_COMPUTE};
    for (const NVNshaderStage number : stages) {
        NVNprogram program;
        nvnProgramInitialize(&program, &device_.object);
        const NVNshaderData data = stage(static_cast<program::Stage>(number), 9);
        ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &data)) << number;
        ASSERT_EQ(sink_.programs.size(), 1u);
        ASSERT_EQ(sink_.programs.begin()->second.size(), 1u);
        EXPECT_EQ(static_cast<int>(sink_.programs.begin()->second[0].stage), static_cast<int>(number));
        nvnProgramFinalize(&program);
    }
    NVNprogram all;
    nvnProgramInitialize(&all, &device_.object);
    const NVNshaderData backwards[] = {stage(program::Stage::TessEval, 5), stage(program::Stage::TessControl, 4),
                                       stage(program::Stage::Geometry, 3), stage(program::Stage::Fragment, 2),
                                       stage(program::Stage::Vertex, 1)};
    ASSERT_TRUE(nvnProgramSetShaders(&all, 5, backwards));
    const auto& told = sink_.programs.begin()->second;
    ASSERT_EQ(told.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(static_cast<std::size_t>(told[i].stage), i);
        EXPECT_EQ(told[i].code_address, backwards[4 - i].data) << i;
    }
    nvnProgramFinalize(&all);
}

// SHD-080: code may be set before the memory pool that it will lie in exists. It is read before the first submission
// that finds it, and is then the same program as in the usual order.
TEST_F(Programs, CodeThatComesLateIsReadBeforeASubmission) {
    const NVNshaderData vertex = stage(program::Stage::Vertex, 3), fragment = stage(program::Stage::Fragment, 4);
    test::Pages later(0x10000);
    const u64 address = reinterpret_cast<u64>(later.data);
    NVNprogram program, ended;
    ASSERT_TRUE(nvnProgramInitialize(&program, &device_.object));
    ASSERT_TRUE(nvnProgramInitialize(&ended, &device_.object));
    const NVNshaderData stages[] = {fragment, {address + 0x400, vertex.control}};
    ASSERT_TRUE(nvnProgramSetShaders(&program, 2, stages));
    ASSERT_TRUE(nvnProgramSetShaders(&ended, 2, stages));
    EXPECT_TRUE(sink_.programs.empty());

    NVNqueueBuilder builder;
    nvnQueueBuilderSetDevice(&builder, &device_.object);
    nvnQueueBuilderSetDefaults(&builder);
    NVNqueue queue;
    ASSERT_TRUE(nvnQueueInitialize(&queue, &builder));
    NVNcommandBuffer commands;
    ASSERT_TRUE(nvnCommandBufferInitialize(&commands, &device_.object));
    alignas(8) std::array<char, 256> control;
    const auto submit = [&] {
        nvnCommandBufferAddCommandMemory(&commands, &memory_.object, 0x8000, 0x1000);
        nvnCommandBufferAddControlMemory(&commands, control.data(), control.size());
        nvnCommandBufferBeginRecording(&commands);
        nvnCommandBufferBindProgram(&commands, &program, NVN_SHADER_STAGE_ALL_GRAPHICS_BITS);
        nvnCommandBufferDrawArrays(&commands, NVN_DRAW_PRIMITIVE_TRIANGLES, 0, 3);
        const NVNcommandHandle handle = nvnCommandBufferEndRecording(&commands);
        nvnQueueSubmitCommands(&queue, 1, &handle);
    };
    submit(); // the code is not there yet: nothing is read outside a pool
    EXPECT_TRUE(sink_.programs.empty());

    nvnProgramFinalize(&ended); // never heard of
    NVNmemoryPoolBuilder pool_builder;
    nvnMemoryPoolBuilderSetDefaults(&pool_builder);
    nvnMemoryPoolBuilderSetStorage(&pool_builder, later.data, later.size);
    NVNmemoryPool pool;
    ASSERT_TRUE(nvnMemoryPoolInitialize(&pool, &pool_builder));
    std::memcpy(later.data + 0x400, reinterpret_cast<const void*>(vertex.data), 0x400);
    submit();
    ASSERT_EQ(sink_.programs.size(), 1u);
    const auto& late = sink_.programs.begin()->second;
    ASSERT_EQ(late.size(), 2u);
    EXPECT_EQ(late[0].stage, stream::Stage::Vertex);
    EXPECT_EQ(late[0].code_address, address + 0x400);
    const auto identity = [](const ProgramSink::Stage& s) {
        return program::identity(*program::parse(s.control, s.code));
    };

    NVNprogram usual;
    ASSERT_TRUE(nvnProgramInitialize(&usual, &device_.object));
    ASSERT_TRUE(nvnProgramSetShaders(&usual, 1, &vertex));
    ASSERT_EQ(sink_.programs.size(), 2u);
    EXPECT_EQ(identity(late[0]), identity(sink_.programs.rbegin()->second[0]));
    submit();
    EXPECT_EQ(sink_.programs.size(), 2u); // told once
    nvnProgramFinalize(&usual);
    nvnProgramFinalize(&program);
    EXPECT_TRUE(sink_.programs.empty());
    nvnCommandBufferFinalize(&commands);
    nvnQueueFinalize(&queue);
    nvnMemoryPoolFinalize(&pool);
}

TEST_F(Programs, RefusesWhatIsNoProgram) {
    NVNprogram program;
    nvnProgramInitialize(&program, &device_.object);
    const NVNshaderData good = stage(program::Stage::Vertex, 1);
    const NVNshaderData twice[] = {good, stage(program::Stage::Vertex, 2)};
    std::vector<std::byte> zeros(0x4000);
    const NVNshaderData no_control{good.data, nullptr}, no_section{good.data, zeros.data()}, no_code{0, good.control};
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &no_control));
    const NVNshaderData unmapped{good.data, reinterpret_cast<void*>(0x1000)};
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &no_section));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &unmapped));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, &no_code));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 2, twice));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 0, &good));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 7, &good));
    EXPECT_FALSE(nvnProgramSetShaders(&program, 1, nullptr));
    EXPECT_TRUE(sink_.programs.empty());
    ASSERT_TRUE(nvnProgramSetShaders(&program, 1, &good)); // still usable
    nvnProgramFinalize(&program);
}

} // namespace
} // namespace heaviside::nvn
