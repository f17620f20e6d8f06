// Kernels of the vendor's assembler, lifted and run on the CPU, against the expected contents of their buffers. The
// expected values come with the kernels (their README says what stands behind each).
#include "lift_machine.h"
#include "shader/lift.h"
#include "tests/isa/kernel_case.h"

#include <gtest/gtest.h>

namespace heaviside::shader::test {
namespace {

std::string run_case(const heaviside::test::KernelVariant& variant) {
    heaviside::test::Kernel kernel = heaviside::test::load_kernel(variant.folder, variant.description, variant.variant);
    auto lifted = lift(kernel.program(), {});
    if (!lifted)
        return lifted.error().message;
    if (const auto verified = ir::verify(*lifted); !verified)
        return verified.error().message;
    Launch launch{kernel.grid, kernel.block, kernel.shared_bytes, kernel.local_bytes};
    Memory memory;
    memory.banks = kernel.banks;
    for (const auto& buffer : kernel.buffers)
        memory.global.push_back({buffer.address, buffer.bytes});
    memory.global.push_back({heaviside::test::globals_address, kernel.globals});
    const Outcome outcome = run(*lifted, memory, launch);
    if (!outcome.error.empty())
        return outcome.error;
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
        kernel.buffers[i].bytes = memory.global[i].bytes;
    return heaviside::test::fault_of(kernel);
}

TEST(LiftKernels, GiveTheExpectedBuffers) {
    const auto variants = heaviside::test::list_kernels();
    if (variants.empty())
        GTEST_SKIP() << "no kernels on this machine";
    for (const auto& variant : variants)
        EXPECT_EQ(run_case(variant), "") << variant.name();
}

} // namespace
} // namespace heaviside::shader::test
