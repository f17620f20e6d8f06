// What programs find in buffers: texel buffers, storage, uniform buffers, the driver's bank.
#include "binding_fixture.h"

namespace heaviside::replay {
namespace {

// --- Buffers read as textures ---

class TexelBuffers : public Bindings {
protected:
    stream::ImageDescription buffer_of(u64 at_offset, const char* format, u32 elements) const {
        stream::ImageDescription d = image(at_offset, format, elements, 1);
        d.texture.target = d.view.target = target_buffer;
        return d;
    }
    const std::string fetch = fetch_1d;
};

// REN-036: element 0 is the one at the offset, which need not be a multiple of what hosts like.
TEST_F(TexelBuffers, BeginAtAnyElement) {
    for (u32 i = 0; i < 256; ++i)
        write(textures_at + 4 * i, 0x3f800000u + i);
    u32 id = 256;
    for (const u64 offset : {u64{0}, u64{4}, u64{8}, u64{12}, u64{0x168}}) {
        put(++id, buffer_of(textures_at + offset, "R32F", 16));
        EXPECT_EQ(find(fetch, id, {0, 0, 0, 0})[0], 0x3f800000u + offset / 4) << offset;
        EXPECT_EQ(find(fetch, id, {15, 0, 0, 0})[0], 0x3f80000fu + offset / 4) << offset;
    }
    for (u32 i = 0; i < 64; ++i)
        write(textures_at + i, static_cast<u8>(i));
    put(++id, buffer_of(textures_at + 5, "R8UI", 16));
    EXPECT_EQ(find(fetch, id, {3, 0, 0, 0})[0], 8u);
    for (u32 i = 0; i < 64; ++i)
        write(textures_at + 2 * i, static_cast<u16>(0x3c00 + i));
    put(++id, buffer_of(textures_at + 8, "RGBA16UI", 16));
    EXPECT_EQ(find(fetch, id, {1, 0, 0, 0}), (Words{0x3c08, 0x3c09, 0x3c0a, 0x3c0b}));
}

// REN-037: what the GPU wrote a moment ago, in the same submission. REN-038: stores land on their element.
TEST_F(TexelBuffers, ShareTheirBytesWithTheGpu) {
    put(256, buffer_of(textures_at + 4, "R32UI", 16));
    Recorder r;
    begin(r, fetch, {2, 0, 0, 0});
    stream::ReportValue v{};
    v.address = at(textures_at + 12).value;
    v.value = 77;
    r.add(v);
    handles(r, stream::HandleKind::Texture, 0, {256});
    EXPECT_EQ(finish(r)[0], 77u);
    write(textures_at, Words{1, 2, 3, 4});
    (void)find("SUST.P.1D_BUFFER.IGN [R0], R3, 0x48", 256, {0, 0, 0, 99});
    EXPECT_EQ(read<Words>(textures_at), (Words{1, 99, 3, 4}));
}

// REN-033: a list longer than any texture is wide, changed by the CPU between two dispatches. REN-034: its size.
TEST_F(TexelBuffers, LongListsAreReadToTheirEnd) {
    constexpr u32 elements = 70000;
    put(256, buffer_of(0x200000, "RGBA32F", elements));
    for (const f32 value : {1.0f, 2.0f}) {
        write(0x200000 + 16 * u64{elements - 1}, std::array<f32, 4>{value, value, value, value});
        EXPECT_EQ(find(fetch, 256, {elements - 1, 0, 0, 0})[0], f(value));
        EXPECT_EQ(find(fetch, 256, {elements, 0, 0, 0}), Words{});
    }
}

// REN-032: the bound texture decides whether a fetch with one coordinate reads a buffer or a texture of one dimension.
TEST_F(TexelBuffers, OneProgramReadsBuffersAndOneDimensionalTextures) {
    auto line = image(0x80000, "R32F", 64, 1);
    line.texture.target = line.view.target = target_1d;
    for (u32 i = 0; i < 64; ++i) {
        write(0x80000 + 4 * i, 0x3f800000u + i);
        write(textures_at + 4 * i, 0x40000000u + i);
    }
    line.texture.flags = 0;
    put(256, line);
    put(257, buffer_of(textures_at, "R32F", 64));
    EXPECT_EQ(find(fetch, 257, {7, 0, 0, 0})[0], 0x40000007u);
    EXPECT_EQ(find(fetch, 256, {0, 0, 0, 0})[0], 0x3f800000u);
}

// --- Buffers ---

class Buffers : public Bindings {};

// OBJ-057, GFX-057: programs follow addresses into any pool, at both of its ends.
TEST_F(Buffers, AddressesReachEveryPool) {
    constexpr u64 size = u64{1} << 20;
    std::byte* const other = static_cast<std::byte*>(std::aligned_alloc(65536, size));
    std::memset(other, 0, size);
    ASSERT_TRUE(guest.add(GuestAddress{reinterpret_cast<u64>(other)}, size));
    const std::string copy = "LDG.E R4, [R0]\nIADD32I R5, R4, 0x1\nSTG.E [R2], R5";
    const auto address_words = [](u64 a) { return std::pair{static_cast<u32>(a), static_cast<u32>(a >> 32)}; };
    for (const u64 place : {u64{0}, size - 4}) {
        const u32 value = 41;
        std::memcpy(other + place, &value, 4);
        const auto [from, from_high] = address_words(reinterpret_cast<u64>(other) + place);
        const auto [to, to_high] = address_words(at(0x300000).value);
        EXPECT_EQ(find(copy, 0, {from, from_high, to, to_high})[0], 41u);
        EXPECT_EQ(read<u32>(0x300000), 42u);
        (void)find(copy, 0, {to, to_high, from, from_high});
        u32 stored = 0;
        std::memcpy(&stored, other + place, 4);
        EXPECT_EQ(stored, 43u);
    }
    const auto [wild, wild_high] = address_words(reinterpret_cast<u64>(other) + size);
    const auto [to, to_high] = address_words(at(0x300000).value);
    EXPECT_EQ(find(copy, 0, {wild, wild_high, to, to_high})[0], 0u);
    replay->finish(queue);
    EXPECT_TRUE(guest.remove(GuestAddress{reinterpret_cast<u64>(other)}));
    replay->memory_pool_destroyed(reinterpret_cast<u64>(other));
    std::free(other);
}

// SHD-138: the buffer's address is a word of a uniform buffer, which the CPU or an update before it in the stream
// wrote.
TEST_F(Buffers, AddressesInUniformBuffersAreFollowed) {
    const std::string store = "MOV R8, c[0x3][0x38]\nMOV R9, c[0x3][0x3c]\nLDG.E R4, [R8]\nIADD32I R5, R4, 0x64\n"
                              "STG.E [R8+0x4], R5\nMOV32I R6, 0x5\nRED.E.ADD [R8], R6\nMOV R5, RZ\nMOV R6, RZ";
    write(0x300000, std::array<u32, 2>{7, 0});
    write(0x310000, std::array<u32, 2>{9, 0});
    Recorder r;
    begin(r, store, {});
    write(coordinates + 0x38, at(0x300000).value);
    uniform(r, stream::Stage::Compute, 0, coordinates, 0x40);
    EXPECT_EQ(finish(r), (Words{7, 0, 0, 0}));
    EXPECT_EQ((read<std::array<u32, 2>>(0x300000)), (std::array<u32, 2>{12, 107}));
    Recorder second;
    begin(second, store, {});
    uniform(second, stream::Stage::Compute, 0, coordinates, 0x40);
    stream::UpdateUniformBuffer u{};
    u.address = at(coordinates).value;
    u.buffer_size = 0x40;
    u.offset = 0x38;
    u.size = 8;
    const u64 address = at(0x310000).value;
    const u32 words[] = {static_cast<u32>(address), static_cast<u32>(address >> 32)};
    second.add(u, std::span<const u32>(words));
    EXPECT_EQ(finish(second), (Words{9, 0, 0, 0}));
    EXPECT_EQ((read<std::array<u32, 2>>(0x310000)), (std::array<u32, 2>{14, 109}));
    EXPECT_EQ((read<std::array<u32, 2>>(0x300000)), (std::array<u32, 2>{12, 107}));
}

// REN-192: a storage buffer of size 0 goes on to the end of its pool.
TEST_F(Buffers, StorageOfNoSizeReachesTheEndOfItsPool) {
    Recorder r;
    begin(r, "MOV R10, c[0x0][0x320]\nMOV R11, c[0x0][0x324]\nMOV R4, c[0x0][0x328]\nSTG.E [R10], R0", {123, 0, 0, 0});
    storage(r, stream::Stage::Compute, 1, 0x300000, 0);
    EXPECT_EQ(finish(r)[0], pool_size - 0x300000);
    EXPECT_EQ(read<u32>(0x300000), 123u);
}

// REN-194: slots with nothing bound read zero, wherever.
TEST_F(Buffers, UnboundUniformsReadZero) {
    Recorder r;
    begin(r, "MOV R4, c[0x3][0x0]\nMOV R5, c[0x5][0x0]\nMOV R6, c[0x5][0x7ffc]\nMOV R7, c[0x4][0x10]", {7, 0, 0, 0});
    EXPECT_EQ(finish(r), (Words{7, 0, 0, 0}));
}

// --- The driver's bank ---

class DriverWords : public Bindings {};

// SHD-122, SHD-123, SHD-124: the size of every dispatch, the tables of buffers.
TEST_F(DriverWords, ComputeProgramsFindSizesAndTables) {
    // Entry y * width + x gets the three counts and the entry.
    const std::string tile = "S2R R10, SR_CTAID.X\nS2R R11, SR_CTAID.Y\nMOV R12, c[0x0][0x200]\n"
                             "XMAD R13, R11, R12, R10\nMOV R14, c[0x0][0x320]\nMOV R15, c[0x0][0x324]\n"
                             "ISCADD R14.CC, R13, R14, 0x4\nIADD.X R15, R15, RZ\nMOV R4, c[0x0][0x200]\n"
                             "MOV R5, c[0x0][0x204]\nMOV R6, c[0x0][0x208]\nMOV R7, R13\nSTG.E.128 [R14], R4";
    write(0x5000, std::array<u32, 3>{1, 6, 1});
    Recorder r;
    begin(r, tile, {});
    const std::array<std::array<u32, 3>, 3> sizes{{{3, 5, 1}, {2, 2, 1}, {4, 1, 1}}};
    for (u32 i = 0; i < 3; ++i) {
        storage(r, stream::Stage::Compute, 1, 0x8000 + 0x1000 * i, 0x1000);
        dispatch(r, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
    storage(r, stream::Stage::Compute, 1, 0xb000, 0x1000);
    stream::DispatchIndirect indirect{};
    indirect.arguments = at(0x5000).value;
    r.add(indirect);
    run(r);
    for (u32 i = 0; i < 4; ++i) {
        const std::array<u32, 3> s = i < 3 ? sizes[i] : std::array<u32, 3>{1, 6, 1};
        for (u32 n = 0; n < s[0] * s[1]; ++n)
            EXPECT_EQ(read<Words>(0x8000 + 0x1000 * i + 16 * n), (Words{s[0], s[1], s[2], n})) << i;
    }
    // The same words by a register, from the bank itself; counts that the GPU wrote a moment ago.
    const std::string indexed = "S2R R10, SR_TID.X\nLDC R4, c[0x0][R10+0x200]\nLDC R5, c[0x0][R10+0x204]\n"
                                "LDC R6, c[0x0][R10+0x208]\nMOV R7, c[0x0][0x204]";
    write(0x5100, std::array<u32, 3>{3, 2, 1});
    Recorder by_register;
    begin(by_register, indexed, {});
    dispatch(by_register, 2, 5, 1);
    stream::CopyBufferToBuffer copy{};
    copy.source = at(0x5100).value;
    copy.dest = at(0x5200).value;
    copy.size = 12;
    write(0x5200, std::array<u32, 3>{~0u, ~0u, ~0u});
    by_register.add(copy);
    storage(by_register, stream::Stage::Compute, 0, result + 16, 16);
    indirect.arguments = at(0x5200).value;
    by_register.add(indirect);
    run(by_register);
    EXPECT_EQ(read<Words>(result), (Words{2, 5, 1, 5}));
    EXPECT_EQ(read<Words>(result + 16), (Words{3, 2, 1, 2})); // REN-160
    Recorder tables;
    begin(tables, "MOV R4, c[0x0][0x320]\nMOV R5, c[0x0][0x328]\nMOV R6, c[0x0][0x260]\nMOV R7, c[0x0][0x264]", {});
    storage(tables, stream::Stage::Compute, 1, 0x8000, 0x123);
    uniform(tables, stream::Stage::Compute, 5, 0x9000, 64);
    const Words found = finish(tables);
    EXPECT_EQ(found, (Words{static_cast<u32>(at(0x8000).value), 0x123, static_cast<u32>(at(0x9000).value),
                            static_cast<u32>(at(0x9000).value >> 32)}));
}

} // namespace
} // namespace heaviside::replay
