// The kernels of the vendor's compute compiler, translated and dispatched on the device; and every row of the hardware
// table, many rows to a pipeline. Neither is part of the project: without them there is nothing to run.
#include "maxwell/assembler.h"
#include "tests/isa/bench.h"
#include "tests/isa/hardware_table.h"
#include "tests/isa/kernel_case.h"

#include <gtest/gtest.h>

namespace heaviside::test {
namespace {

using shader::Stage;

const std::vector<KernelVariant>& kernels() {
    static const std::vector<KernelVariant> all = list_kernels();
    return all;
}

// Kernels that do not give the expected bits yet where the device has no fused multiply-add of its own, with the
// reason. They run all the same: one that passes fails until its line is gone.
std::map<std::string, std::string> read_pending() {
    std::map<std::string, std::string> pending;
    std::ifstream file(HEAVISIDE_SOURCE_DIR "/tests/kernels/pending.tsv");
    for (std::string line; std::getline(file, line);) {
        const std::size_t tab = line.find('\t');
        if (tab != std::string::npos && line[0] != '#')
            pending[line.substr(0, tab)] = line.substr(tab + 1);
    }
    return pending;
}

class Ptx : public testing::TestWithParam<std::size_t> {};

TEST_P(Ptx, LeavesTheExpectedBuffers) {
    Bench& bench = Bench::get();
    if (!bench.device)
        GTEST_SKIP() << bench.error;
    const KernelVariant& variant = kernels()[GetParam()];
    Kernel kernel = load_kernel(variant.folder, variant.description, variant.variant);
    std::vector<std::pair<u64, Blob*>> memory;
    for (Kernel::Buffer& buffer : kernel.buffers)
        if (buffer.address != 0)
            memory.emplace_back(buffer.address, &buffer.bytes);
    if (!kernel.globals.empty())
        memory.emplace_back(globals_address, &kernel.globals);
    ASSERT_EQ(bench.run(kernel.program(), kernel.banks, memory, kernel.grid), "");
    const std::string fault = fault_of(kernel);
    static const auto pending = read_pending();
    const auto reason = pending.find(variant.folder.filename().string());
    if (reason == pending.end() || !bench.device->capabilities.cpu_device) {
        EXPECT_EQ(fault, "");
        return;
    }
    ASSERT_NE(fault, "") << "passes now: take it out of tests/kernels/pending.tsv";
    GTEST_SKIP() << "pending: " << reason->second;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Ptx, testing::Range(std::size_t{0}, kernels().size()),
                         [](const testing::TestParamInfo<std::size_t>& index) {
                             return kernels()[index.param].name();
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Ptx);

// Rows of one program: each stores its result register at out[row]. A row's constants are c[2][0..], which rows share,
// so they are rewritten to a place of their own.
TEST(Hardware, EveryRowAsMeasuredOnTheDevice) {
    const auto rows = read_hardware_table(HEAVISIDE_SOURCE_DIR "/../shared/isa/hardware.tsv");
    if (rows.empty())
        GTEST_SKIP() << "shared/isa/hardware.tsv is not beside the checkout";
    Bench& bench = Bench::get();
    if (!bench.device)
        GTEST_SKIP() << bench.error;
    constexpr std::size_t batch = 64, first_result = 100;
    for (std::size_t first = 0; first < rows.size(); first += batch) {
        const std::size_t last = std::min(first + batch, rows.size());
        std::string source;
        std::map<u32, Blob> banks;
        put<u64>(banks[0], 0x140, buffer_address(0));
        for (std::size_t r = first; r < last; ++r) {
            const HardwareRow& row = rows[r];
            ASSERT_EQ(row.error, "") << row.text;
            const u64 base = 64 * (r - first);
            for (std::size_t k = 0; k < row.constants.size(); ++k)
                put<u32>(banks[3], base + 4 * k, row.constants[k]);
            source += row.source(base);
            source += fmt::format("MOV R{}, R{}\n", first_result + (r - first), row.result_register);
        }
        source += "MOV R200, c[0x0][0x140]\nMOV R201, c[0x0][0x144]\n";
        for (std::size_t k = 0; k < batch; k += 4)
            source += fmt::format("STG.E.128 [R200+0x{:x}], R{}\n", 4 * k, first_result + k);
        const auto assembled = maxwell::assemble(source + "EXIT\n");
        ASSERT_TRUE(assembled) << assembled.error().message << source;
        program::Program program;
        program.stage = Stage::Compute;
        program.code = assembled->code;
        program.layout = &program::kernel_layout;
        Blob out(4 * batch);
        ASSERT_EQ(bench.run(program, banks, {{buffer_address(0), &out}}, {1, 1, 1}), "");
        for (std::size_t r = first; r < last; ++r)
            EXPECT_EQ(*read_at<u32>(out, 4 * (r - first)), rows[r].expected) << rows[r].text;
    }
}

} // namespace
} // namespace heaviside::test
