// What the interpreter runs, the translator takes: random words of every form of the table, in a stage where they mean
// something. A form that may be refused stands below by name, with the reason; every other refusal is a fault, and so
// is a module that the validator does not accept.
//
// HEAVISIDE_WORDS=N draws N words a form (40).
#include "interpreter/stage.h"
#include "shader/interface.h"
#include "tests/maxwell/generated_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace heaviside::test {
namespace {

using interpreter::Attributes;
using maxwell::Opcode;
using program::Stage;

struct Excuse {
    const char* mnemonic;
    const char* message; // part of the translator's
    const char* reason;
};

constexpr const char *no_such = "the machine has no such operation: the interpreter says so once the address is good",
                     *one_stream =
                         "SPIR-V's streams other than 0 take point lists only, and no program was seen with one";

constexpr Excuse excuses[] = {
    {"ATOM", "float atomics other than add", no_such},
    {"ATOM", "half atomics other than add", no_such},
    {"RED", "float atomics other than add", no_such},
    {"RED", "half atomics other than add", no_such},
    {"SUATOM", "float atomics other than add", no_such},
    {"SURED", "float atomics other than add", no_such},
    {"SUATOM", "64-bit image atomics", "Vulkan has them on images of 64-bit integers only, behind an extension"},
    {"SURED", "64-bit image atomics", "as SUATOM"},
    {"OUT", "vertex streams other than 0", one_stream},
    {"OUT", "stream chosen at run time", one_stream},
    {"PIXLD", "number of samples", "Vulkan does not tell; compilers read a table of the driver's"},
    {"PIXLD", "sample offset", "the same table"},
    {"S2R", "system register", "one without a name: nothing is known of it"},
    {"CS2R", "system register", "one without a name: nothing is known of it"},
    {"TXQ", "query", "Vulkan does not tell a texture's type, nor a sampler's border"},
};

// Control flow is a matter of whole programs: a random target is no program. See LiftFlow.
const std::set<std::string_view> flow{"BRA",   "BRX",  "JMP",      "JMX",     "CAL",  "JCAL", "SSY",
                                      "PBK",   "PCNT", "PRET",     "RET",     "CONT", "BRK",  "SYNC",
                                      "PEXIT", "EXIT", "PLONGJMP", "LONGJMP", "RTT",  "BPT",  "SETCRSPTR"};

maxwell::ShaderProgramHeader header_of(Stage stage) {
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
        for (u32 i = 0x80 / 4; i < 0xa0 / 4; ++i)
            h.interpolation[i] = maxwell::PixelInput::Perspective;
        h.target_mask = 0xf;
    }
    h.threads_per_primitive = 1;
    h.topology = maxwell::OutputTopology::TriangleStrip;
    h.max_output_vertices = 4;
    h.local_memory_low = 64;
    return h;
}

// The word, EXIT, and NOPs, without scheduling.
std::vector<u64> code_of(u64 word) {
    constexpr u64 exit = 0xe30000000007000f, nop = 0x50b0000000070f00;
    return {0, word, exit, nop, 0, nop, nop, nop};
}

Result<void> interpret(Stage stage, Bytes code) {
    interpreter::StageProgram program;
    program.launch.code = code;
    program.launch.local_bytes = 64;
    program.launch.step_limit = 1000;
    program.header = header_of(stage);
    const std::vector<Attributes> vertices(3);
    const auto outcome = [](auto&& result) -> Result<void> {
        if (!result)
            return tl::unexpected(result.error());
        return {};
    };
    switch (stage) {
    case Stage::Compute:
        program.launch.shared_bytes = 256;
        return interpreter::run(program.launch);
    case Stage::Vertex:
        return outcome(interpreter::run_vertices(program, vertices));
    case Stage::Fragment: {
        const interpreter::PixelInputs inputs;
        interpreter::Quad quad;
        quad.inputs = &inputs;
        return outcome(interpreter::run_pixels(program, std::span(&quad, 1)));
    }
    case Stage::Geometry:
        return outcome(interpreter::run_geometry(program, vertices, 3));
    case Stage::TessControl:
        return outcome(interpreter::run_tess_control(program, vertices));
    case Stage::TessEval: {
        interpreter::Patch patch;
        patch.points.resize(3);
        const interpreter::TessPoint point;
        return outcome(interpreter::run_tess_eval(program, patch, std::span(&point, 1)));
    }
    }
    return {};
}

// A fault of the data, which is all 0 here, is no refusal of the instruction.
bool means_something(const Result<void>& ran) {
    if (ran)
        return true;
    constexpr const char* refusals[] = {"not built", "not known",         "is known",          "no such operation",
                                        "not in a",  "programs have IPA", "there is no patch", "leave their results"};
    return std::none_of(std::begin(refusals), std::end(refusals),
                        [&](const char* text) { return ran.error().message.find(text) != std::string::npos; });
}

TEST(Coverage, WhatTheInterpreterRunsIsTranslated) {
    const char* more = std::getenv("HEAVISIDE_WORDS");
    const int words = more ? std::atoi(more) : 40;
    std::mt19937_64 random(1);
    std::map<std::string, std::pair<unsigned, std::string>> refused; // by mnemonic and reason: how many, an example
    std::set<const Excuse*> used;
    unsigned translated = 0;
    for (const maxwell::Form& form : maxwell::Table::get().forms()) {
        const std::string_view mnemonic = maxwell::mnemonic(form.opcode);
        if (flow.count(mnemonic) != 0)
            continue;
        for (int n = 0; n < words; ++n) {
            auto word = maxwell::random_word(form, random);
            if (!word)
                continue;
            if (form.guard.present())
                *word = (*word & ~form.guard.mask()) | form.guard.put(7);
            const std::vector<u64> code = code_of(*word);
            const Bytes bytes = std::as_bytes(std::span(code));
            for (Stage stage : {Stage::Compute, Stage::Fragment, Stage::Geometry, Stage::TessControl, Stage::TessEval,
                                Stage::Vertex}) {
                if (!means_something(interpret(stage, bytes)))
                    continue;
                const auto header = maxwell::encode_sph(header_of(stage));
                program::Program program;
                program.stage = stage;
                program.code = bytes;
                program.header = stage == Stage::Compute ? Bytes{} : Bytes(header);
                program.shared_bytes = 256;
                program.local_bytes = 64;
                program.workgroup_size = {32, 1, 1};
                shader::Options options;
                options.validate = true;
                const auto result = shader::translate(program, {}, options);
                if (result) {
                    ++translated;
                } else {
                    const std::string& message = result.error().message;
                    const Excuse* excuse = nullptr;
                    for (const Excuse& one : excuses)
                        if (mnemonic == one.mnemonic && message.find(one.message) != std::string::npos)
                            excuse = &one;
                    if (excuse) {
                        used.insert(excuse);
                    } else {
                        const std::size_t colon = message.rfind(": ");
                        auto& entry = refused[fmt::format("{}: {}", mnemonic,
                                                          message.substr(colon == std::string::npos ? 0 : colon + 2))];
                        if (entry.first++ == 0)
                            entry.second =
                                fmt::format("{} ({:#018x}), {}: {}", maxwell::disassemble(*maxwell::decode(*word)),
                                            *word, static_cast<unsigned>(stage), message);
                    }
                }
                break;
            }
        }
    }
    for (const auto& [what, count] : refused)
        ADD_FAILURE() << what << ", " << count.first << " words, such as " << count.second;
    for (const Excuse& excuse : excuses)
        EXPECT_TRUE(used.count(&excuse)) << excuse.mnemonic << ": " << excuse.message << " needs no excuse any more";
    EXPECT_GT(translated, 1000u);
}

} // namespace
} // namespace heaviside::test
