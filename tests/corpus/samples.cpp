#include "tests/corpus/samples.h"

#include "maxwell/assembler.h"
#include "program/build.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace corpus {
namespace {

Blob bytes_of(const std::vector<std::byte>& bytes) {
    Blob blob(bytes.size());
    std::memcpy(blob.data(), bytes.data(), bytes.size());
    return blob;
}

int log2_of(int samples) {
    return std::countr_zero(static_cast<unsigned>(samples));
}

} // namespace

Stage assemble(NVNshaderStage stage, const std::string& source) {
    const auto assembled = heaviside::maxwell::assemble(source);
    if (!assembled)
        throw std::runtime_error(assembled.error().message);
    const auto blobs = heaviside::program::build(*heaviside::program::build_input(*assembled));
    if (!blobs)
        throw std::runtime_error(blobs.error().message);
    return {stage, bytes_of(blobs->control), bytes_of(blobs->gpu)};
}

// 0x8 is texture 0 (a word of the driver's bank), c[0x0][0x310] storage buffer 0 of compute programs.
Stage sample_reader(int width, int samples) {
    return assemble(NVN_SHADER_STAGE_COMPUTE, fmt::format(".stage compute\n"
                                                          ".workgroup 1 1 1\n"
                                                          "S2R R0, SR_CTAID.X\n"
                                                          "S2R R3, SR_CTAID.Y\n"
                                                          "SHR.U32 R2, R0, {}\n"    // x; y is R3
                                                          "LOP32I.AND R4, R0, {}\n" // sample
                                                          "XMAD R5, R3, {}, R0\n"   // number of the result
                                                          "SHL R5, R5, 0x4\n"
                                                          "IADD R6.CC, R5, c[0x0][0x310]\n"
                                                          "IADD.X R7, RZ, c[0x0][0x314]\n"
                                                          "TLDS.LZ.MS R10, R8, R2, R4, 0x8, 2D, RGBA\n"
                                                          "STG.E.128 [R6], R8\n"
                                                          "EXIT\n",
                                                          log2_of(samples), samples - 1, width * samples));
}

std::vector<Stage> sample_writer(int samples) {
    return {assemble(NVN_SHADER_STAGE_VERTEX, ".stage vertex\n" // (-1, -1), (3, -1), (-1, 3)
                                              "ALD R0, a[0x2fc], RZ\n"
                                              "LOP32I.AND R1, R0, 0x1\n"
                                              "SHR.U32 R2, R0, 0x1\n"
                                              "I2F.F32.U32 R1, R1\n"
                                              "I2F.F32.U32 R2, R2\n"
                                              "MOV32I R3, 0xbf800000\n"
                                              "FFMA R4, R1, 4, R3\n"
                                              "FFMA R5, R2, 4, R3\n"
                                              "MOV R6, RZ\n"
                                              "MOV32I R7, 0x3f800000\n"
                                              "AST.128 a[0x70], R4, RZ\n"
                                              "EXIT\n"),
            assemble(NVN_SHADER_STAGE_FRAGMENT, fmt::format(".stage fragment\n"
                                                            ".per_sample\n"
                                                            ".target 0 rgba\n"
                                                            "IPA.PASS R0, a[0x70], RZ\n"
                                                            "IPA.PASS R1, a[0x74], RZ\n"
                                                            "F2I.U32.F32.TRUNC R0, R0\n"
                                                            "F2I.U32.F32.TRUNC R1, R1\n"
                                                            "PIXLD.MY_INDEX R4, [RZ]\n"
                                                            "ISCADD R0, R0, R4, {}\n"
                                                            "TLDS.LZ R2, R0, R0, R1, 0x8, 2D, RGBA\n"
                                                            "EXIT\n",
                                                            log2_of(samples)))};
}

} // namespace corpus
