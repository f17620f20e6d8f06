#include "archive/cubin.h"

#include "archive/elf.h"

#include <cstring>

namespace heaviside::archive {
namespace {

constexpr std::string_view magic = "\x7f"
                                   "ELF";
constexpr std::string_view text_prefix = ".text.";
constexpr u64 class_at = 4, data_at = 5, machine_at = 0x12, flags_at = 0x30;
constexpr u8 class_64 = 2, little_endian = 1;
constexpr u16 machine_cuda = 190;

template <class T>
Result<T> field(Bytes bytes, u64 offset, const char* what) {
    if (const auto value = read_at<T>(bytes, offset))
        return *value;
    return fail("ELF: {} at {:#x} lies outside the {:#x} bytes", what, offset, bytes.size());
}

Result<void> check_machine(Bytes bytes) {
    const auto machine = field<u16>(bytes, machine_at, "machine");
    const auto flags = field<u32>(bytes, flags_at, "flags");
    if (!is_elf(bytes))
        return fail("ELF: no ELF magic at 0x0");
    if (!machine || !flags)
        return tl::unexpected(machine ? flags.error() : machine.error());
    if (read_at<u8>(bytes, class_at) != class_64 || read_at<u8>(bytes, data_at) != little_endian)
        return fail("ELF: class {} and byte order {} at {:#x}, cubins have 2 and 1",
                    read_at<u8>(bytes, class_at).value_or(0), read_at<u8>(bytes, data_at).value_or(0), class_at);
    if (*machine != machine_cuda)
        return fail("ELF: machine {} at {:#x}, cubins have {}", *machine, machine_at, machine_cuda);
    if (const u32 sm = *flags & 0xff; sm != 50 && sm != 52 && sm != 53)
        return fail("ELF: code for SM {} (flags {:#x} at {:#x}), Maxwell is 50, 52 or 53", sm, *flags, flags_at);
    return {};
}

} // namespace

bool is_elf(Bytes bytes) {
    const auto start = slice(bytes, 0, magic.size());
    return start && std::memcmp(start->data(), magic.data(), magic.size()) == 0;
}

Result<std::vector<Kernel>> parse_cubin(Bytes bytes) {
    if (auto checked = check_machine(bytes); !checked)
        return tl::unexpected(checked.error());
    const auto elf = Elf::parse(bytes);
    if (!elf)
        return tl::unexpected(elf.error());
    std::vector<Kernel> kernels;
    for (u64 i = 0; i < elf->section_count(); ++i) {
        const ElfSection header = elf->section(i);
        const auto name = elf->name(header);
        if (!name)
            return tl::unexpected(name.error());
        if (!name->starts_with(text_prefix))
            continue;
        const auto code = elf->contents(header, *name);
        if (!code)
            return tl::unexpected(code.error());
        kernels.push_back({name->substr(text_prefix.size()), *code, header.info >> 24});
    }
    if (kernels.empty())
        return fail("ELF: none of the {} sections at {:#x} is a kernel ({}NAME)", elf->section_count(),
                    elf->section_table(), text_prefix);
    return kernels;
}

} // namespace heaviside::archive
