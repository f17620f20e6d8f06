// Every operation of the IR becomes SPIR-V that the validator accepts, in every stage where it means something, with
// the options that change code.
#include "maxwell/sph.h"
#include "shader/cross.h"
#include "shader/emit.h"
#include "shader/ir_text.h"
#include "shader/passes.h"
#include "shader/validate.h"

#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp11>

#include <algorithm>
#include <set>

namespace heaviside::shader {
namespace {

using program::Stage;

struct Guest {
    std::array<std::byte, maxwell::sph_size> header{};
    program::Program program;
};

// A program of a stage with a header that declares position, two varyings and what the stage needs.
Guest guest(Stage stage) {
    Guest g;
    g.program.stage = stage;
    g.program.shared_bytes = 256;
    g.program.local_bytes = 64;
    g.program.workgroup_size = {8, 4, 1};
    if (stage == Stage::Compute)
        return g;
    maxwell::ShaderProgramHeader h;
    h.pixel = stage == Stage::Fragment;
    constexpr maxwell::ShaderType types[] = {maxwell::ShaderType::Vertex,   maxwell::ShaderType::Pixel,
                                             maxwell::ShaderType::Geometry, maxwell::ShaderType::TessControl,
                                             maxwell::ShaderType::TessEval, maxwell::ShaderType::Vertex};
    h.type = types[static_cast<unsigned>(stage)];
    for (u32 address = 0x70; address < 0xa0; address += 4) {
        h.inputs.set(address);
        if (!h.pixel)
            h.outputs.set(address);
    }
    if (h.pixel) {
        for (u32 i = 0x80 / 4; i < 0x90 / 4; ++i)
            h.interpolation[i] = maxwell::PixelInput::Perspective;
        for (u32 i = 0x90 / 4; i < 0xa0 / 4; ++i)
            h.interpolation[i] = maxwell::PixelInput::Constant;
        h.target_mask = 0xff;
    }
    h.threads_per_primitive = 3;
    h.topology = maxwell::OutputTopology::TriangleStrip;
    h.max_output_vertices = 4;
    g.header = maxwell::encode_sph(h);
    return g;
}

Result<Translation> emitted(Stage stage, const std::string& body, const VariantKey& key = {}, Options options = {}) {
    const std::string text = "b0:\n  %900 = load_bank<3> 0\n  %901 = load_bank<3> 4\n  %902 = icmp_u.lt %900, %901\n"
                             "  %903 = pack64 %900, %901\n" +
                             body;
    auto ir = ir::parse(text);
    if (!ir)
        return tl::unexpected(ir.error());
    ir->stage = stage;
    Guest g = guest(stage);
    g.program.header = g.header;
    const ir::FlowGraph graph = ir::analyse_flow(*ir);
    const auto nested = ir::structure(*ir, graph);
    if (!nested)
        return tl::unexpected(nested.error());
    auto result = emit_spirv(*ir, graph, *nested, g.program, key, options);
    if (result)
        if (auto valid = validate_spirv(result->spirv); !valid)
            return tl::unexpected(valid.error());
    return result;
}

// An instruction line (%0 its value) and the stages it is for.
struct Line {
    const char* text;
    const char* stages = "vfgtec"; // vertex fragment geometry tess-control tess-eval compute
};

constexpr Line lines[] = {
    {"copy %900"},
    {"pack64 %900, %901"},
    {"low %903"},
    {"high %903"},
    {"select %902, %900, %901"},
    {"select %902, %903, 5l"},
    {"select %902, true, %902"},
    {"mask %902"},
    {"band %902, %902"},
    {"bor %902, true"},
    {"bxor %902, false"},
    {"bnot %902"},
    {"and %900, %901"},
    {"or %900, %901"},
    {"xor %900, %901"},
    {"not %900"},
    {"iadd %900, %901"},
    {"isub %900, %901"},
    {"imul %900, %901"},
    {"imulhi_u %900, %901"},
    {"imulhi_s %900, %901"},
    {"ineg %900"},
    {"iabs %900"},
    {"carry %900, %901, %902"},
    {"carry %900, %901, false"},
    {"overflow %900, %901, %902"},
    {"imin_s %900, %901"},
    {"imin_u %900, %901"},
    {"imax_s %900, %901"},
    {"imax_u %900, %901"},
    {"shl %900, %901"},
    {"shr_u %900, %901"},
    {"shr_s %900, %901"},
    {"shl %900, 31"},
    {"shr_s %900, 77"},
    {"funnel_l %900, %901, %900"},
    {"funnel_r %900, %901, 7"},
    {"bfe_u %900, %901, %900"},
    {"bfe_s %900, %901, %900"},
    {"bfe_u %900, 4, 40"},
    {"bfe_s %900, 36, 4"},
    {"bfi %900, %901, %900, %901"},
    {"bfi %900, %901, 28, 8"},
    {"brev %900"},
    {"popc %900"},
    {"flo_u %900"},
    {"flo_s %900"},
    {"icmp_s.lt %900, %901"},
    {"icmp_u.ge %900, %901"},
    {"icmp_s.t %900, %901"},
    {"iadd64 %903, 1l"},
    {"isub64 %903, 1l"},
    {"shl64 %903, %900"},
    {"shr64_u %903, %900"},
    {"shr64_s %903, 70"},
    {"imulwide_u %900, %901"},
    {"imulwide_s %900, %901"},
    {"sext64 %900"},
    {"fadd %900, %901"},
    {"fadd.rm %900, %901"},
    {"fmul.rp.ftz %900, %901"},
    {"fmul.fmz %900, %901"},
    {"ffma.rz %900, %901, %900"},
    {"ffma.fmz %900, %901, %900"},
    {"fmin.ftz %900, %901"},
    {"fmax %900, %901"},
    {"fneg %900"},
    {"fabs %900"},
    {"fsat %900"},
    {"fflush %900"},
    {"fround %900"},
    {"fround.rz %900"},
    {"fcmp.lt %900, %901"},
    {"fcmp.neu.ftz %900, %901"},
    {"fcmp.num %900, %901"},
    {"fcmp.nan %900, %901"},
    {"fcmp.f %900, %901"},
    {"frcp %900"},
    {"frsq %900"},
    {"fsqrt %900"},
    {"fsin %900"},
    {"fcos %900"},
    {"fex2.ftz %900"},
    {"flg2 %900"},
    {"rcp64h %900"},
    {"rsq64h %900"},
    {"fswzadd<0x99> %900, %901", "fc"},
    {"dadd %903, %903"},
    {"dmul %903, %903"},
    {"dfma %903, %903, 0l"},
    {"dmin %903, %903"},
    {"dmax %903, %903"},
    {"dneg %903"},
    {"dabs %903"},
    {"dround.rm %903"},
    {"dcmp.leu %903, %903"},
    {"half_to_f32<1> %900"},
    {"f32_to_half %900"},
    {"pack_half2 %900, %901"},
    {"pack_half2_fma %900, %901, %900, %901, %900, %901"},
    {"f32_to_s32.rz %900"},
    {"f32_to_u32 %900"},
    {"f32_to_s64.rp %900"},
    {"f32_to_u64.rm %900"},
    {"f64_to_s32 %903"},
    {"f64_to_u32 %903"},
    {"f64_to_s64 %903"},
    {"f64_to_u64 %903"},
    {"s32_to_f32 %900"},
    {"u32_to_f32.rz %900"},
    {"s64_to_f32 %903"},
    {"u64_to_f32 %903"},
    {"s32_to_f64 %900"},
    {"u32_to_f64 %900"},
    {"s64_to_f64 %903"},
    {"u64_to_f64 %903"},
    {"f32_to_f64 %900"},
    {"f64_to_f32 %903"},
    {"f64_to_f32.rz %903"},
    {"load_bank<4> 0xfffc"},
    {"load_bank<5> %900"},
    {"load_bank<3> 0x10000"},
    {"load_global.b32 %903"},
    {"load_global.b128 %903"},
    {"load_global.s8 %903"},
    {"atomic_global.add.u32 %903, %900"},
    {"atomic_global.inc.u32 %903, %900"},
    {"atomic_global.dec.u32 %903, %900"},
    {"atomic_global.min.s32 %903, %900"},
    {"atomic_global.exch.u64 %903, %903"},
    {"atomic_global.cas.u32 %903, %900, %901"},
    {"atomic_global.add.f32 %903, %900"},
    {"atomic_global.add.f16x2 %903, %900"},
    {"load_shared.b64 %900", "c"},
    {"load_shared.u16 %900", "c"},
    {"atomic_shared.xor.u32 %900, %901", "c"},
    {"atomic_shared.add.u64 %900, %903", "c"},
    {"atomic_shared.cas.u32 %900, %901, 3", "c"},
    {"load_local.b128 %900"},
    {"load_local.s16 %900"},
    {"load_attribute<0x80>", "vgte"},
    {"load_attribute<0x80>.vertex 1", "gte"},
    {"load_attribute<0x80>.vertex.indexed 1, %900", "gte"},
    {"load_attribute<0x74>.vertex %900", "gte"},
    {"load_attribute<0x2fc>", "v"},
    {"load_attribute<0x2f8>", "v"},
    {"load_attribute<0x60>", "gte"},
    {"load_attribute<0x2f0>.output", "e"},
    {"load_attribute<0x24>.patch", "e"},
    {"load_attribute<0x4>.patch", "e"},
    {"load_attribute<0x0>.patch.output", "t"},
    {"load_attribute<0x90>.output.vertex %900", "t"},
    {"interpolate<0x80>.pass", "f"},
    {"interpolate<0x84>.multiply.centroid %900", "f"},
    {"interpolate<0x88>.multiply.offset %900, %901", "f"},
    {"interpolate<0x90>.constant", "f"},
    {"interpolate<0x0>.pass.indexed %900", "f"},
    {"interpolate<0x74>.pass.sat", "f"},
    {"interpolate<0x60>.constant", "f"},
    {"interpolate<0x64>.constant", "f"},
    {"interpolate<0x2c4>.pass", "f"},
    {"interpolate<0x2e0>.pass", "f"},
    {"interpolate<0x3fc>.constant", "f"},
    {"sample.2d %900, 0, 0"},
    {"sample.1d_array %900, 0, %901"},
    {"sample.3d.bias %900, 0, 0, 0, %901", "f"},
    {"sample.2d.level.offset %900, 0, 0, %901, 3, 0xfffffffd"},
    {"sample.2d.lod_zero.offset %900, 0, 0, %901, 1"},
    {"sample.2d_array.dref %900, 0, 0, 1, 0.5f"},
    {"sample.cube_array.level.dref %900, 0, 0, 1.0f, %901, 2.0f, 0.5f"},
    {"sample.2d.min_lod %900, 0, 0, 1.0f", "f"},
    {"sample_grad.2d %900, 0, 0, 1, 2, 3, 4"},
    {"sample_grad.cube.offset %900, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0", ""},
    {"gather.2d.b %900, 0, 0"},
    {"gather.2d.dref %900, 0, 0, 0.5f"},
    {"gather.2d.offset %900, 0, 0, %901, 1"},
    {"gather.2d.offsets4 %900, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xfffffff8"},
    {"gather.2d.offsets4 %900, 0, 0, 1, 2, 3, 4, 5, 6, 7, %901"},
    {"fetch.2d.level %900, 1, 2, 3"},
    {"fetch.2d.lod_zero.offset %900, 1, 2, 3, %901"},
    {"fetch.1d.lod_zero %900, %901"},
    {"fetch.buffer.lod_zero %900, %901"},
    {"fetch.2d_ms %900, 1, 2, 3"},
    {"query_size.3d %900, 0"},
    {"query_size.1d_array %900, 1"},
    {"query_size.unknown %900, 0"},
    {"query_samples.2d_ms %900"},
    {"query_lod.2d %900, 0, 0"},
    {"image_load.2d.b32.xyzw %900, 1, 2"},
    {"image_load.3d.raw.b128 %900, 16, 2, 3"},
    {"image_load.buffer.raw.s16 %900, 16"},
    {"image_load.2d_array.clamp.b32.xyzw %900, 1, 2, 3"},
    {"image_atomic.2d.raw.b32.add.u32 %900, 4, 2, 1"},
    {"image_atomic.1d.raw.b32.cas.u32 %900, 4, 2, 1"},
    {"image_atomic.buffer.b32.min.s32 %900, 4, 2"},
    {"query_image_size.2d %900"},
    {"barrier_reduce<0> %902", "c"},
    {"barrier_reduce<1> %902", "c"},
    {"vote_all %902"},
    {"vote_any %902"},
    {"vote_equal %902"},
    {"ballot %902"},
    {"shuffle<0> %900, %901, 0x1f"},
    {"shuffle<1> %900, 1, 0"},
    {"shuffle<2> %900, 1, %901"},
    {"shuffle<3> %900, 1, 0x1c03"},
    {"shuffle_valid<1> 1, 0"},
    {"shuffle_source<2> %900, 0x1f"},
    {"meet %900, %901, 3", "c"},
    {"is_helper"},
};

// Instructions without a value.
constexpr Line effects[] = {
    {"store_global.b32 %903, %900"},
    {"store_global.u8 %903, %900"},
    {"store_global.b128 %903, %900, %901, 1, 2"},
    {"store_shared.b64 %900, %901, 2", "c"},
    {"store_shared.u8 %900, %901", "c"},
    {"store_local.b32 %900, %901"},
    {"store_local.u16 %900, %901"},
    {"store_attribute<0x70> %900", "vgte"},
    {"store_attribute<0x9c> %900", "vgte"},
    {"store_attribute<0x80>.indexed %900, %901", "vgte"},
    {"store_attribute<0x64> %900", "vg"},
    {"store_attribute<0x68> %900", "vg"},
    {"store_attribute<0x3a0> %900", "vge"},
    {"store_attribute<0x6c> 2.0f", "vge"},
    {"store_attribute<0x2c8> 2.0f", "vge"},
    {"store_attribute<0x0>.patch %900", "t"},
    {"store_attribute<0x10>.patch %900", "t"},
    {"store_attribute<0x2c>.patch %900", "t"},
    {"store_color<5> %900", "f"},
    {"store_depth %900", "f"},
    {"store_sample_mask %900", "f"},
    {"image_store.2d.b32.xyzw %900, 1, 2, 3, 4, 5, 6"},
    {"image_store.3d.raw.b64 %900, 8, 2, 3, 4, 5"},
    {"barrier", "tc"},
    {"memory_barrier<0>"},
    {"memory_barrier<1>"},
    {"demote", "f"},
    {"emit_vertex<0>", "g"},
    {"end_primitive<0>", "g"},
};

constexpr const char* stage_letters = "vfgtec"; // as program::Stage

TEST(Emit, EveryOperationValidatesInEveryStage) {
    std::set<std::string> covered{"const", "load_bank", "extract", "phi"};
    const auto check = [&](const Line& line, bool value) {
        const std::string text = line.text;
        covered.insert(text.substr(0, text.find_first_of(" <.")));
        for (unsigned s = 0; s < program::stage_count; ++s) {
            if (std::string_view(line.stages).find(stage_letters[s]) == std::string_view::npos)
                continue;
            for (unsigned variant = 0; variant < 3; ++variant) {
                Options options;
                options.exact_denormals = variant == 1;
                options.unfused_multiply_add = options.drops_added_zeros = options.mixes_left_loops = variant == 1;
                options.denormal_modes = variant != 0;
                options.indexed_banks_by_address = variant == 1;
                options.subgroup_size = variant == 2 ? 8 : 32;
                const auto result =
                    emitted(static_cast<Stage>(s), (value ? "  %0 = " : "  ") + text + "\n  exit\n", {}, options);
                EXPECT_TRUE(result) << stage_letters[s] << variant << ": " << line.text << ": "
                                    << (result ? "" : result.error().message);
            }
        }
    };
    for (const Line& line : lines)
        check(line, true);
    for (const Line& line : effects)
        check(line, false);
    for (unsigned i = 0; i < ir::special_count; ++i)
        check({("special<" + std::string(ir::text(static_cast<ir::Special>(i))) + ">").c_str()}, true);
    for (unsigned op = 0; op <= static_cast<unsigned>(ir::Op::EndPrimitive); ++op) {
        const std::string name = ir::info(static_cast<ir::Op>(op)).text;
        if (name.find("et_register") == std::string::npos && name.find("et_predicate") == std::string::npos &&
            name.find("et_flag") == std::string::npos) {
            EXPECT_TRUE(covered.contains(name)) << name << " has no line in this test";
        }
    }
}

// Where the device can be told, it is told what all single-precision instructions agree on.
TEST(Emit, DenormalModesAreWhatTheInstructionsAgreeOn) {
    const auto mode_of = [](const char* body, bool exact) {
        Options options;
        options.denormal_modes = true;
        options.exact_denormals = exact;
        const auto result = emitted(Stage::Fragment, body, {}, options);
        EXPECT_TRUE(result);
        std::set<u32> modes;
        for (std::size_t at = 5; result && at < result->spirv.size(); at += result->spirv[at] >> 16)
            if ((result->spirv[at] & 0xffff) == static_cast<u32>(spv::Op::OpExecutionMode))
                modes.insert(result->spirv[at + 2]);
        const bool flush = modes.contains(static_cast<u32>(spv::ExecutionMode::DenormFlushToZero));
        const bool keep = modes.contains(static_cast<u32>(spv::ExecutionMode::DenormPreserve));
        return std::string(flush ? "flush" : "") + (keep ? "preserve" : "");
    };
    const char* flushing = "  %0 = fadd.ftz %900, %901\n  store_color<0> %0\n  exit\n";
    const char* keeping = "  %0 = fadd %900, %901\n  store_color<0> %0\n  exit\n";
    const char* both = "  %0 = fadd %900, %901\n  %1 = fmul.ftz %0, %901\n  store_color<0> %1\n  exit\n";
    EXPECT_EQ(mode_of(flushing, false), "flush");
    EXPECT_EQ(mode_of(keeping, false), "preserve");
    EXPECT_EQ(mode_of(both, false), "");
    EXPECT_EQ(mode_of(both, true), "preserve"); // flushed by instructions
}

TEST(Emit, ValuesOfALoopAreUsableBehindItsExits) {
    for (unsigned s = 0; s < program::stage_count; ++s) {
        const auto result = emitted(static_cast<Stage>(s), "  branch b1\n"
                                                           "b1:\n"
                                                           "  %1 = phi.u32 0, %2\n"
                                                           "  %2 = iadd %1, 1\n"
                                                           "  %3 = icmp_u.lt %2, %900\n"
                                                           "  branch_if %3, b2, b3\n"
                                                           "b2:\n"
                                                           "  %4 = imul %2, 3\n"
                                                           "  %5 = icmp_u.eq %4, %901\n"
                                                           "  branch_if %5, b4, b1\n"
                                                           "b3:\n"
                                                           "  store_global.b32 %903, %2\n"
                                                           "  exit\n"
                                                           "b4:\n"
                                                           "  store_global.b32 %903, %4\n"
                                                           "  exit\n");
        EXPECT_TRUE(result) << stage_letters[s] << ": " << (result ? "" : result.error().message);
    }
}

TEST(Emit, ReflectionListsBanksHandlesAndOutputs) {
    const auto result = emitted(Stage::Fragment, "  %0 = load_bank<2> 0x28\n"
                                                 "  %1 = interpolate<0x80>.pass\n"
                                                 "  %2 = sample.2d.dref %0, %1, %1, 0.5f\n"
                                                 "  %3 = extract<0> %2\n"
                                                 "  store_color<0> %3\n"
                                                 "  store_depth %3\n"
                                                 "  demote\n"
                                                 "  exit\n");
    ASSERT_TRUE(result) << result.error().message;
    const Reflection& r = result->reflection;
    EXPECT_EQ(r.stage, Stage::Fragment);
    ASSERT_EQ(r.banks.size(), 2u);
    EXPECT_EQ(r.banks[0].bank, 3u);
    EXPECT_EQ(r.banks[0].size, 8u);
    EXPECT_EQ(r.banks[0].binding, banks::quota(Stage::Fragment).first);
    EXPECT_EQ(r.banks[1].size, 0x2cu);
    ASSERT_EQ(r.handles.size(), 1u);
    EXPECT_EQ(r.handles[0].bank, 2u);
    EXPECT_EQ(r.handles[0].offset, 0x28u);
    EXPECT_EQ(r.handles[0].dimension, Dimension::D2);
    EXPECT_TRUE(r.handles[0].depth_compare);
    EXPECT_EQ(r.inputs, 1u);
    EXPECT_EQ(r.outputs, 3u); // both targets of the header's mask
    EXPECT_TRUE(r.writes_depth);
    EXPECT_TRUE(r.kills);
    EXPECT_FALSE(r.reads_global);
    EXPECT_NE(reflection_json(r).find("\"offset\":40"), std::string::npos);
}

TEST(Emit, BanksBeyondTheQuotaComeByAddress) {
    std::string body;
    for (unsigned bank = 4; bank < 16; ++bank)
        body += fmt::format("  %{} = load_bank<{}> 0\n", bank, bank);
    const auto result = emitted(Stage::Geometry, body + "  exit\n");
    ASSERT_TRUE(result) << result.error().message;
    unsigned bound = 0;
    for (const BankUse& use : result->reflection.banks) {
        bound += use.binding != ~0u;
        EXPECT_EQ(use.by_address, use.binding == ~0u);
    }
    EXPECT_EQ(bound, banks::quota(Stage::Geometry).count);
}

TEST(Emit, StorageWindowsAreABankOfTheHost) {
    const auto body = [](u32 table) {
        return fmt::format(
            "  %0 = load_bank<0> {}\n  %1 = load_bank<0> {}\n  %2 = pack64 %0, %1\n  %3 = pack64 %900, 0\n"
            "  %4 = iadd64 %2, %3\n  %5 = load_global.b32 %4\n  store_global.b32 %4, %5\n"
            "  %6 = atomic_global.add.u32 %4, %5\n  exit\n",
            table + 16, table + 20);
    };
    Options options;
    options.storage_windows = true;
    VariantKey scattered;
    scattered.scattered_storage = true;
    const auto searches = [](const Translation& t) { // the memory map is there for that
        for (std::size_t at = 5; at < t.spirv.size(); at += t.spirv[at] >> 16)
            if (t.spirv[at] == (4u << 16 | static_cast<u32>(spv::Op::OpDecorate)) &&
                t.spirv[at + 2] == static_cast<u32>(spv::Decoration::Binding) && t.spirv[at + 3] == heap::memory_map)
                return true;
        return false;
    };
    const auto windows = [](const Translation& t) {
        for (const BankUse& use : t.reflection.banks)
            if (use.bank == banks::windows)
                return use.binding != ~0u ? use.size : 0;
        return 0u;
    };
    for (const Stage stage : {Stage::Compute, Stage::Vertex, Stage::Fragment}) {
        const std::string text = body(program::vendor_layout.storage_buffers[static_cast<unsigned>(stage)]);
        const auto with = emitted(stage, text, {}, options), without = emitted(stage, text),
                   other = emitted(stage, text, scattered, options);
        ASSERT_TRUE(with && without && other);
        EXPECT_EQ(windows(*with), 32u);
        EXPECT_FALSE(searches(*with));
        EXPECT_TRUE(searches(*without) && searches(*other));
        EXPECT_EQ(windows(*without) + windows(*other), 0u);
    }
}

TEST(Emit, TheVariantKeyChoosesClassesAndTests) {
    const std::string body = "  %0 = interpolate<0x84>.constant\n"
                             "  store_color<3> %0\n"
                             "  exit\n";
    VariantKey key;
    key.fragment_outputs[0] = NumericClass::Sint;
    key.fragment_outputs[1] = NumericClass::Uint;
    const auto integers = emitted(Stage::Fragment, body, key);
    ASSERT_TRUE(integers) << integers.error().message;
    const auto text = to_glsl(integers->spirv);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_NE(text->find("out ivec4"), std::string::npos) << *text;
    EXPECT_NE(text->find("out uvec4"), std::string::npos) << *text;
    for (u8 test = 0; test < 7; ++test) {
        VariantKey alpha;
        alpha.alpha_test = test;
        const auto tested = emitted(Stage::Fragment, body, alpha);
        ASSERT_TRUE(tested) << tested.error().message;
        EXPECT_TRUE(tested->reflection.kills);
    }
    VariantKey missing;
    missing.provided_inputs = 0;
    const auto defaults = emitted(Stage::Fragment, body, missing);
    ASSERT_TRUE(defaults);
    EXPECT_EQ(defaults->reflection.inputs, 0u);
}

// SHD-094: equal position code gives equal bits in any two programs.
TEST(Emit, PositionsAreInvariant) {
    for (const Stage stage : {Stage::Vertex, Stage::TessEval, Stage::Geometry}) {
        const auto result = emitted(stage, "  store_attribute<0x70> %900\n  exit\n");
        ASSERT_TRUE(result) << result.error().message;
        unsigned positions = 0, invariant = 0;
        std::set<u32> ids;
        for (std::size_t at = 5; at < result->spirv.size(); at += result->spirv[at] >> 16)
            if ((result->spirv[at] & 0xffff) == static_cast<u32>(spv::Op::OpDecorate)) {
                const u32 id = result->spirv[at + 1], decoration = result->spirv[at + 2];
                if (decoration == static_cast<u32>(spv::Decoration::BuiltIn) &&
                    result->spirv[at + 3] == static_cast<u32>(spv::BuiltIn::Position) && ++positions)
                    ids.insert(id);
                invariant += decoration == static_cast<u32>(spv::Decoration::Invariant) && ids.count(id) != 0;
            }
        EXPECT_GE(positions, 1u);
        EXPECT_EQ(invariant, 1u) << "the output";
    }
}

// SHD-096, SHD-097: no device is allowed to take for granted that there are no NaNs, and minima, maxima and saturation
// are those that are defined for them.
TEST(Emit, NotANumberIsKept) {
    const auto result = emitted(Stage::Fragment, "  %0 = fmin %900, %901\n  %1 = fmax.ftz %0, %901\n  %2 = fsat %1\n"
                                                 "  store_color<0> %2\n  exit\n");
    ASSERT_TRUE(result) << result.error().message;
    bool preserved = false;
    std::set<u32> functions;
    const std::vector<u32>& words = result->spirv;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
        const u32 op = words[at] & 0xffff;
        preserved |= op == static_cast<u32>(spv::Op::OpExecutionMode) &&
                     words[at + 2] == static_cast<u32>(spv::ExecutionMode::SignedZeroInfNanPreserve) &&
                     words[at + 3] == 32;
        if (op == static_cast<u32>(spv::Op::OpExtInst))
            functions.insert(words[at + 4]);
    }
    EXPECT_TRUE(preserved);
    constexpr u32 f_min = 37, f_max = 40, f_clamp = 43, n_min = 79, n_max = 80, n_clamp = 81; // of GLSL.std.450
    EXPECT_TRUE(functions.contains(n_min) && functions.contains(n_max) && functions.contains(n_clamp));
    EXPECT_FALSE(functions.contains(f_min) || functions.contains(f_max) || functions.contains(f_clamp));
}

// GFX-116: a device may run the invocations of a patch one behind the other; what orders them is in the module.
TEST(Emit, ControlPointsMeetAtTheirBarrier) {
    const auto result = emitted(Stage::TessControl, "  store_attribute<0x80> %900\n  barrier\n"
                                                    "  %0 = load_attribute<0x80>.output.vertex 1\n"
                                                    "  store_attribute<0x84> %0\n  exit\n");
    ASSERT_TRUE(result) << result.error().message;
    const std::vector<u32>& words = result->spirv;
    std::vector<u32> order; // stores and barriers
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16)
        if (const u32 op = words[at] & 0xffff;
            op == static_cast<u32>(spv::Op::OpControlBarrier) || op == static_cast<u32>(spv::Op::OpStore))
            order.push_back(op);
    const u32 barrier = static_cast<u32>(spv::Op::OpControlBarrier), store = static_cast<u32>(spv::Op::OpStore);
    const auto found = std::find(order.begin(), order.end(), barrier);
    ASSERT_NE(found, order.end());
    EXPECT_NE(std::find(order.begin(), found, store), found);
    EXPECT_NE(std::find(found, order.end(), store), order.end());
}

TEST(Emit, WhatSpirvCannotSayIsANamedError) {
    for (const char* body : {"  emit_vertex<2>\n  exit\n"}) {
        const auto result = emitted(Stage::Geometry, body);
        ASSERT_FALSE(result);
        EXPECT_FALSE(result.error().message.empty());
    }
    const auto floats = emitted(Stage::Compute, "  %0 = atomic_shared.min.f32 %900, %901\n  exit\n");
    ASSERT_FALSE(floats);
    EXPECT_NE(floats.error().message.find("float atomics"), std::string::npos);
}

TEST(Cross, GlslAndMslNameTheEntryPoint) {
    const auto result = emitted(Stage::Vertex, "  store_attribute<0x70> %900\n  exit\n");
    ASSERT_TRUE(result) << result.error().message;
    const auto glsl = to_glsl(result->spirv);
    ASSERT_TRUE(glsl) << glsl.error().message;
    EXPECT_NE(glsl->find("void main()"), std::string::npos);
    EXPECT_NE(glsl->find("gl_Position"), std::string::npos);
    const auto msl = to_msl(result->spirv);
    ASSERT_TRUE(msl) << msl.error().message;
    EXPECT_NE(msl->find("[[position"), std::string::npos);
}

// GFX-076.
TEST(Cross, OnlyAtomicsOfImagesNeedANewerMetal) {
    const auto version = [](const char* body) {
        const auto result = emitted(Stage::Compute, body);
        EXPECT_TRUE(result) << body;
        return result ? msl_version(result->spirv) : 0;
    };
    EXPECT_EQ(version("  %0 = image_load.2d.raw.b32 %900, 4, 2\n  store_global.b32 %903, %900\n  exit\n"), 20400u);
    EXPECT_EQ(version("  %0 = atomic_global.add.u32 %903, %900\n  exit\n"), 20400u);
    EXPECT_EQ(version("  %0 = image_atomic.2d.raw.b32.add.u32 %900, 4, 2, 1\n  exit\n"), 30100u);
}

} // namespace
} // namespace heaviside::shader
