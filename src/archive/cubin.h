// Cubins: the ELF64 files of the vendor's compilers for compute kernels.
//
// Facts: the ELF-64 object file format, and the 103 cubins of the test corpus with their listings: machine 190, the SM
// version in the low byte of e_flags, a section `.text.NAME` for each kernel whose sh_info holds the number of
// registers in its top byte.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <string_view>
#include <vector>

namespace heaviside::archive {

struct Kernel {
    std::string_view name; // both are views into the bytes that were parsed
    Bytes code;            // whole bundles as they stand in the file; relocations are not applied
    u32 registers = 0;
};

// True for any ELF file.
[[nodiscard]] bool is_elf(Bytes bytes);

// The kernels in the order of their sections, at least one. Errors name the field and its offset; code for machines
// other than Maxwell (SM 50, 52, 53) is one. Any thread.
[[nodiscard]] Result<std::vector<Kernel>> parse_cubin(Bytes bytes);

} // namespace heaviside::archive
