// ELF64 files, as far as cubins need them: sections, symbols, names. Facts: the ELF-64 object file format.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <string_view>
#include <vector>

namespace heaviside::archive {

struct ElfSection {
    u32 name_offset = 0, type = 0;
    u64 flags = 0, address = 0, offset = 0, size = 0;
    u32 link = 0, info = 0;
    u64 alignment = 0, entry_size = 0;
};
static_assert(sizeof(ElfSection) == 64);

struct ElfSymbol {
    u32 name_offset = 0;
    u8 info = 0, other = 0;
    u16 section = 0;
    u64 value = 0, size = 0;
};
static_assert(sizeof(ElfSymbol) == 24);

struct ElfRelocation { // without addend: it lies in the place that is relocated
    u64 offset = 0;
    u32 type = 0, symbol = 0;
};
static_assert(sizeof(ElfRelocation) == 16);

// A view of a file whose section headers are known to lie inside it.
class Elf {
public:
    // Errors name the field and its offset. The machine is not looked at.
    [[nodiscard]] static Result<Elf> parse(Bytes bytes);

    [[nodiscard]] u64 section_count() const { return headers_.size() / sizeof(ElfSection); }
    [[nodiscard]] u64 section_table() const { return table_; }
    // `index` below section_count().
    [[nodiscard]] ElfSection section(u64 index) const {
        return *read_at<ElfSection>(headers_, index * sizeof(ElfSection));
    }
    [[nodiscard]] Result<std::string_view> name(const ElfSection& section) const;
    // The bytes of a section; none for one that takes no space in the file.
    [[nodiscard]] Result<Bytes> contents(const ElfSection& section, std::string_view what) const;
    [[nodiscard]] static bool takes_no_space(const ElfSection& section) { return section.type == 8; }

private:
    Bytes bytes_, headers_, names_;
    u64 table_ = 0;
};

} // namespace heaviside::archive
