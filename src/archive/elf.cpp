#include "archive/elf.h"

#include <cstring>

namespace heaviside::archive {
namespace {

constexpr u64 section_table_at = 0x28, section_size_at = 0x3a, section_count_at = 0x3c, name_table_index_at = 0x3e;

template <class T>
Result<T> field(Bytes bytes, u64 offset, const char* what) {
    if (const auto value = read_at<T>(bytes, offset))
        return *value;
    return fail("ELF: {} at {:#x} lies outside the {:#x} bytes", what, offset, bytes.size());
}

} // namespace

Result<Elf> Elf::parse(Bytes bytes) {
    const auto table = field<u64>(bytes, section_table_at, "section table");
    const auto size = field<u16>(bytes, section_size_at, "section header size");
    const auto count = field<u16>(bytes, section_count_at, "section count");
    const auto names_index = field<u16>(bytes, name_table_index_at, "name table index");
    if (!table || !size || !count || !names_index)
        return fail("ELF: the {:#x} bytes end inside the header", bytes.size());
    if (*size != sizeof(ElfSection))
        return fail("ELF: section headers of {} bytes (at {:#x}), not {}", *size, section_size_at, sizeof(ElfSection));
    if (*names_index >= *count)
        return fail("ELF: section {} (at {:#x}) of {} has the names", *names_index, name_table_index_at, *count);
    const auto headers = slice(bytes, *table, u64{*count} * sizeof(ElfSection));
    if (!headers)
        return fail("ELF: {} section headers at {:#x} lie outside the {:#x} bytes", *count, *table, bytes.size());
    Elf elf;
    elf.bytes_ = bytes;
    elf.headers_ = *headers;
    elf.table_ = *table;
    const auto names = elf.contents(elf.section(*names_index), "the section of names");
    if (!names)
        return tl::unexpected(names.error());
    elf.names_ = *names;
    return elf;
}

Result<std::string_view> Elf::name(const ElfSection& section) const {
    const u64 offset = section.name_offset;
    if (offset < names_.size()) {
        const auto* const text = reinterpret_cast<const char*>(names_.data()) + offset;
        if (const void* const end = std::memchr(text, 0, names_.size() - offset))
            return std::string_view(text, static_cast<std::size_t>(static_cast<const char*>(end) - text));
    }
    return fail("ELF: a section's name at {:#x} does not end inside the {:#x} bytes of names", offset, names_.size());
}

Result<Bytes> Elf::contents(const ElfSection& section, std::string_view what) const {
    if (takes_no_space(section))
        return Bytes{};
    if (const auto part = slice(bytes_, section.offset, section.size))
        return *part;
    return fail("ELF: {} at {:#x}, {:#x} bytes, lies outside the {:#x} bytes", what, section.offset, section.size,
                bytes_.size());
}

} // namespace heaviside::archive
