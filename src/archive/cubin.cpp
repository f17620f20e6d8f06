#include "archive/cubin.h"

#include <cstring>

namespace heaviside::archive {
namespace {

constexpr std::string_view magic = "\x7f"
                                   "ELF";
constexpr std::string_view text_prefix = ".text.";
constexpr u64 class_at = 4, data_at = 5, machine_at = 0x12, section_table_at = 0x28, flags_at = 0x30;
constexpr u64 section_size_at = 0x3a, section_count_at = 0x3c, name_table_index_at = 0x3e;
constexpr u8 class_64 = 2, little_endian = 1;
constexpr u16 machine_cuda = 190;
constexpr u64 section_header_size = 64;
constexpr u32 no_bits = 8; // the section takes no space in the file

struct Section {
    u32 name = 0, type = 0;
    u64 flags = 0, address = 0, offset = 0, size = 0;
    u32 link = 0, info = 0;
    u64 alignment = 0, entry_size = 0;
};
static_assert(sizeof(Section) == section_header_size);

template <class T>
Result<T> field(Bytes bytes, u64 offset, const char* what) {
    if (const auto value = read_at<T>(bytes, offset))
        return *value;
    return fail("ELF: {} at {:#x} lies outside the {:#x} bytes", what, offset, bytes.size());
}

Result<Bytes> contents(Bytes bytes, const Section& section, std::string_view what) {
    if (section.type == no_bits)
        return Bytes{};
    if (const auto part = slice(bytes, section.offset, section.size))
        return *part;
    return fail("ELF: {} at {:#x}, {:#x} bytes, lies outside the {:#x} bytes", what, section.offset, section.size,
                bytes.size());
}

Result<std::string_view> string_at(Bytes table, u64 offset) {
    if (offset < table.size()) {
        const auto* const text = reinterpret_cast<const char*>(table.data()) + offset;
        if (const void* const end = std::memchr(text, 0, table.size() - offset))
            return std::string_view(text, static_cast<std::size_t>(static_cast<const char*>(end) - text));
    }
    return fail("ELF: a section's name at {:#x} does not end inside the {:#x} bytes of names", offset, table.size());
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
    const auto table = field<u64>(bytes, section_table_at, "section table");
    const auto size = field<u16>(bytes, section_size_at, "section header size");
    const auto count = field<u16>(bytes, section_count_at, "section count");
    const auto names_index = field<u16>(bytes, name_table_index_at, "name table index");
    if (!table || !size || !count || !names_index)
        return fail("ELF: the {:#x} bytes end inside the header", bytes.size());
    if (*size != section_header_size)
        return fail("ELF: section headers of {} bytes (at {:#x}), not {}", *size, section_size_at, section_header_size);
    if (*names_index >= *count)
        return fail("ELF: section {} (at {:#x}) of {} has the names", *names_index, name_table_index_at, *count);
    const auto headers = slice(bytes, *table, u64{*count} * section_header_size);
    if (!headers)
        return fail("ELF: {} section headers at {:#x} lie outside the {:#x} bytes", *count, *table, bytes.size());
    const auto section = [&](u64 index) { return *read_at<Section>(*headers, index * section_header_size); };
    const auto names = contents(bytes, section(*names_index), "the section of names");
    if (!names)
        return tl::unexpected(names.error());
    std::vector<Kernel> kernels;
    for (u64 i = 0; i < *count; ++i) {
        const Section header = section(i);
        const auto name = string_at(*names, header.name);
        if (!name)
            return tl::unexpected(name.error());
        if (!name->starts_with(text_prefix))
            continue;
        const auto code = contents(bytes, header, *name);
        if (!code)
            return tl::unexpected(code.error());
        kernels.push_back({name->substr(text_prefix.size()), *code, header.info >> 24});
    }
    if (kernels.empty())
        return fail("ELF: none of the {} sections at {:#x} is a kernel ({}NAME)", *count, *table, text_prefix);
    return kernels;
}

} // namespace heaviside::archive
