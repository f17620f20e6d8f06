// What the fuzzers found worth keeping (tests/fuzz/corpus), through the fuzz targets themselves: they abort where a
// property does not hold, and the sanitizer build watches.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// NOLINTBEGIN(bugprone-suspicious-include): the targets are programs of their own; here they are functions.
#define LLVMFuzzerTestOneInput fuzz_maxwell_decode
#include "tests/fuzz/maxwell_decode.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_maxwell_asm
#include "tests/fuzz/maxwell_asm.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_archive_cubin
#include "tests/fuzz/archive_cubin.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_archive_dksh
#include "tests/fuzz/archive_dksh.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_archive_glslc
#include "tests/fuzz/archive_glslc.cpp"
#undef LLVMFuzzerTestOneInput
// NOLINTEND(bugprone-suspicious-include)

namespace {

namespace fs = std::filesystem;

void replay(const char* target, int (*run)(const std::uint8_t*, std::size_t)) {
    int inputs = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(HEAVISIDE_SOURCE_DIR) / "tests/fuzz/corpus" / target)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string bytes(std::istreambuf_iterator<char>(file), {});
        SCOPED_TRACE(entry.path());
        EXPECT_EQ(run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
        ++inputs;
    }
    EXPECT_GT(inputs, 5) << target;
}

TEST(FuzzCorpus, Decoder) {
    replay("maxwell_decode", fuzz_maxwell_decode);
}
TEST(FuzzCorpus, Assembler) {
    replay("maxwell_asm", fuzz_maxwell_asm);
}
TEST(FuzzCorpus, Cubins) {
    replay("archive_cubin", fuzz_archive_cubin);
}
TEST(FuzzCorpus, Dksh) {
    replay("archive_dksh", fuzz_archive_dksh);
}
TEST(FuzzCorpus, GlslcOutputs) {
    replay("archive_glslc", fuzz_archive_glslc);
}

} // namespace
