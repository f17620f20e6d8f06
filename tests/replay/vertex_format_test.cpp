// Every vertex format, through a real draw: the words that a program finds in its registers. Expected values come from
// what a format's name says: R, RG, RGB or RGBA of so many bits, and how they are read.
#include "capture_fixture.h"

#include "base/log.h"

#include <array>
#include <bit>
#include <cmath>
#include <string>

namespace heaviside::replay {
namespace {

constexpr u64 stream_at = 0x10000;
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

enum class Read { Unorm, Snorm, Uint, Sint, Float, UintToFloat, SintToFloat };
constexpr struct {
    const char* suffix;
    Read read;
} reads[] = {{"", Read::Unorm},  {"SN", Read::Snorm},          {"UI", Read::Uint},         {"I", Read::Sint},
             {"F", Read::Float}, {"_UI2F", Read::UintToFloat}, {"_I2F", Read::SintToFloat}};

u32 word(f64 value) {
    return std::bit_cast<u32>(static_cast<f32>(value));
}

// A number of so many bits as the register has it.
u32 expected(Read read, u32 bits, u32 raw) {
    const i64 number = static_cast<i64>(u64{raw} << (64 - bits)) >> (64 - bits);
    const f64 largest = std::ldexp(1.0, static_cast<int>(bits)) - 1;
    switch (read) {
    case Read::Unorm:
        return word(raw / largest);
    case Read::Snorm:
        return word(std::max(-1.0, static_cast<f64>(number) / std::floor(largest / 2)));
    case Read::Uint:
        return raw;
    case Read::Sint:
        return static_cast<u32>(number);
    case Read::UintToFloat:
        return word(raw);
    case Read::SintToFloat:
        return word(static_cast<f64>(number));
    case Read::Float:
        break;
    }
    if (bits == 32)
        return raw;
    const u32 exponent = raw >> 10 & 31, fraction = raw & 0x3ff; // half
    const f64 magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
    return word(raw >> 15 ? -magnitude : magnitude);
}

class VertexFormats : public CaptureTest {
protected:
    using Words = std::array<u32, 4>;
    Words fetched(const std::string& format, const std::array<u8, 16>& bytes) {
        write(stream_at, bytes);
        Recorder r;
        bind(r, program_, all_graphics_bits);
        stream::VertexAttribState a{};
        a.format = static_cast<u8>(texture::format_named(format.c_str()));
        EXPECT_NE(a.format, 0u) << format;
        r.add(stream::BindVertexAttribState{}, std::span<const stream::VertexAttribState>(&a, 1));
        const stream::VertexStreamState s{16, 0};
        r.add(stream::BindVertexStreamState{}, std::span<const stream::VertexStreamState>(&s, 1));
        stream::BindVertexBuffer b{};
        b.address = at(stream_at).value;
        b.size = 16;
        r.add(b);
        capture(r, [&] { draw(r, 0, 1); });
        run(r);
        return read<Words>(captured);
    }
    void SetUp() override {
        CaptureTest::SetUp();
        if (replay)
            program_ = program({passes_on}, {.feedback = program::FeedbackLayout{{16, 0, 0, 0}, {{0x80, 4, 0, 0}}}});
    }
    // Numbers that a division rounds may differ in the last bit.
    static void expect_words(const Words& got, const Words& wanted, bool rounded, const std::string& what) {
        for (u32 i = 0; i < 4; ++i) {
            const u32 distance = got[i] > wanted[i] ? got[i] - wanted[i] : wanted[i] - got[i];
            EXPECT_LE(distance, rounded ? 1u : 0u) << what << "."
                                                   << "xyzw"[i] << ": " << std::hex << got[i] << " for " << wanted[i];
        }
    }

    stream::ProgramId program_ = 0;
};

TEST_F(VertexFormats, PlainOnesOfEverySizeAndKind) { // REN-128 to REN-132, REN-138, REN-139, REN-141, SHD-104
    const u64 errors = log::error_count();
    const char* const names[] = {"R", "RG", "RGB", "RGBA"};
    unsigned formats = 0;
    for (const u32 bits : {8u, 16u, 32u})
        for (const auto& [suffix, read] : reads) {
            const bool normalized = read == Read::Unorm || read == Read::Snorm;
            if ((bits == 8 && read == Read::Float) || (bits == 32 && normalized))
                continue; // there are none
            const u32 top = u32{1} << (bits - 1), all = static_cast<u32>((u64{1} << bits) - 1);
            // The largest and the smallest number, one in between, zero; then another order.
            const u32 half[] = {0x3c00, 0xc480, 0x0001, 0x7bff}, single[] = {one, 0xc0490fdb, 0x00000001, 0x7fc12345};
            const u32 whole[] = {all, top, 0x5a, top - 1};
            const u32(&raw)[4] = read != Read::Float ? whole : bits == 16 ? half : single;
            for (u32 components = 1; components <= 4; ++components)
                for (const u32 turn : {0u, 1u}) {
                    const std::string name = names[components - 1] + std::to_string(bits) + suffix;
                    std::array<u8, 16> bytes{};
                    const bool integer = read == Read::Uint || read == Read::Sint;
                    Words wanted{0, 0, 0, integer ? 1 : one};
                    for (u32 i = 0; i < components; ++i) {
                        const u32 number = raw[(i + 2 * turn) % 4];
                        std::memcpy(bytes.data() + i * bits / 8, &number, bits / 8);
                        wanted[i] = expected(read, bits, number);
                    }
                    expect_words(fetched(name, bytes), wanted, normalized, name);
                    ++formats;
                }
        }
    EXPECT_EQ(formats, 2u * 72);
    EXPECT_EQ(log::error_count(), errors) << "every format is mapped";
}

TEST_F(VertexFormats, PackedOnes) { // REN-130, REN-141
    const u64 errors = log::error_count();
    for (const auto& [suffix, read] : reads) {
        VkFormatProperties signed_ones{};
        vkGetPhysicalDeviceFormatProperties(device->physical, VK_FORMAT_A2B10G10R10_SINT_PACK32, &signed_ones);
        const bool fetches = signed_ones.bufferFeatures & VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT;
        if (read == Read::Float || (read == Read::Sint && !fetches)) // the latter: not built yet without the device
            continue;
        const std::string name = std::string("RGB10A2") + suffix;
        const bool integer = read == Read::Uint || read == Read::Sint;
        for (const std::array<u32, 4>& parts :
             {std::array<u32, 4>{0x1ff, 0x200, 0x3ff, 1}, std::array<u32, 4>{1, 0, 0x155, 2}}) {
            const u32 packed = parts[0] | parts[1] << 10 | parts[2] << 20 | parts[3] << 30;
            std::array<u8, 16> bytes{};
            std::memcpy(bytes.data(), &packed, 4);
            Words wanted{};
            for (u32 i = 0; i < 4; ++i)
                wanted[i] = expected(read, i < 3 ? 10 : 2, parts[i]);
            expect_words(fetched(name, bytes), wanted, !integer, name);
        }
    }
    // 1.0, 0.5 and 2.0: exponent 15, 14 and 16 of five bits, above six, six and five bits of fraction
    const u32 floats = 15u << 6 | 14u << 17 | 16u << 27;
    std::array<u8, 16> bytes{};
    std::memcpy(bytes.data(), &floats, 4);
    EXPECT_EQ(fetched("R11G11B10F", bytes), (Words{one, 0x3f000000, 0x40000000, one}));
    EXPECT_EQ(log::error_count(), errors);
}

} // namespace
} // namespace heaviside::replay
