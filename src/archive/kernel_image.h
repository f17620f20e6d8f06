// What a kernel of a cubin needs to run: its code, constant banks and module variables, with relocations applied.
//
// Facts: the sections of the test corpus's cubins and its description of the kernel ABI (docs/isa.md): banks lie in
// `.nv.constantN` (the module's) and `.nv.constantN.KERNEL`, variables in `.nv.global.init` and `.nv.global`, the
// static shared size is that of `.nv.shared.KERNEL`, parameters and stack sizes are attributes in `.nv.info*`.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::archive {

struct KernelParameter {
    u32 offset = 0, size = 0; // bytes in the parameter block
};

struct KernelImage {
    std::string name;
    Bytes code; // of the file
    u32 registers = 0;
    std::array<std::vector<std::byte>, 18> banks; // c[0] has its size but zeros: the launch fills it
    std::vector<std::byte> globals;               // module variables, to be placed at the address that was given
    u32 shared_bytes = 0;                         // static
    u32 stack_bytes = 0;                          // of a thread, without recursion
    u32 parameters_at = 0x140;                    // offset in c[0]
    std::vector<KernelParameter> parameters;      // in order
};

// The kernel `name`, or the file's only one if that is empty. Addresses of variables are computed for the module's
// variables lying at `globals_address`. Errors name section, offset and value. Any thread.
[[nodiscard]] Result<KernelImage> load_kernel(Bytes cubin, std::string_view name, u64 globals_address);

} // namespace heaviside::archive
