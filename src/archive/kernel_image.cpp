#include "archive/kernel_image.h"

#include "archive/cubin.h"
#include "archive/elf.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace heaviside::archive {
namespace {

constexpr std::string_view bank_prefix = ".nv.constant";
constexpr u32 relocations_section = 9; // SHT_REL
constexpr u64 largest_section = u64{1} << 28;

// Attributes of .nv.info: {format, attribute, size or value, payload}.
enum : u8 { with_payload = 4 };
enum : u8 { parameter_bank = 0x0a, frame_size = 0x11, min_stack_size = 0x12, parameter_info = 0x17 };

struct Placed {
    std::string_view name;
    ElfSection header;
    std::vector<std::byte>* bytes = nullptr; // where its contents were copied to; null: not part of the image
    u64 start = 0;                           // in there
    u64 address = 0;
};

class Loader {
public:
    Loader(const Elf& elf, KernelImage& image, u64 globals_address)
        : elf_(elf), image_(image), globals_address_(globals_address) {}

    Result<void> load() {
        for (const auto step : {&Loader::place_sections, &Loader::relocate, &Loader::read_attributes})
            if (auto done = (this->*step)(); !done)
                return done;
        return {};
    }

private:
    Result<void> place_sections() {
        for (u64 i = 0; i < elf_.section_count(); ++i) {
            Placed placed;
            placed.header = elf_.section(i);
            const auto name = elf_.name(placed.header);
            if (!name)
                return tl::unexpected(name.error());
            placed.name = *name;
            if (auto done = place(placed); !done)
                return done;
            sections_.push_back(placed);
        }
        return {};
    }

    Result<void> place(Placed& placed) {
        const std::string_view name = placed.name;
        if (name == ".text." + image_.name) {
            text_ = sections_.size();
        } else if (name.starts_with(bank_prefix)) {
            const std::string_view rest = name.substr(bank_prefix.size());
            u32 bank = 0;
            const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bank);
            const std::string_view owner(end, static_cast<std::size_t>(rest.data() + rest.size() - end));
            if (error == std::errc{} && bank < image_.banks.size() && (owner.empty() || owner == "." + image_.name))
                return append(placed, image_.banks[bank], 0);
        } else if (name == ".nv.global.init" || name == ".nv.global") {
            return append(placed, image_.globals, globals_address_);
        } else if (name == ".nv.shared." + image_.name) {
            if (placed.header.size > 1 << 20)
                return fail("ELF: {} has {:#x} bytes", name, placed.header.size);
            image_.shared_bytes = static_cast<u32>(placed.header.size);
        }
        return {};
    }

    Result<void> append(Placed& placed, std::vector<std::byte>& bytes, u64 base) {
        constexpr u64 alignment = 256; // of every variable that a compiler may place
        const auto contents = elf_.contents(placed.header, placed.name);
        if (!contents)
            return tl::unexpected(contents.error());
        if (placed.header.size > largest_section)
            return fail("ELF: {} has {:#x} bytes", placed.name, placed.header.size);
        placed.bytes = &bytes;
        placed.start = align_up<u64>(bytes.size(), alignment);
        placed.address = base + placed.start;
        bytes.resize(placed.start + placed.header.size);
        std::ranges::copy(*contents, bytes.begin() + static_cast<std::ptrdiff_t>(placed.start));
        return {};
    }

    Result<void> relocate() {
        for (const Placed& section : sections_) {
            if (section.header.type != relocations_section || section.header.info >= sections_.size())
                continue;
            const Placed& target = sections_[section.header.info];
            const auto entries = elf_.contents(section.header, section.name);
            if (!entries)
                return tl::unexpected(entries.error());
            if (section.header.info == text_ && !entries->empty())
                return fail("ELF: {}: relocations of code are not understood", section.name);
            if (!target.bytes)
                continue;
            if (section.header.link >= sections_.size())
                return fail("ELF: {} names section {} of {}", section.name, section.header.link, sections_.size());
            const auto symbols = elf_.contents(sections_[section.header.link].header, "the symbols");
            if (!symbols)
                return tl::unexpected(symbols.error());
            for (u64 at = 0; at + sizeof(ElfRelocation) <= entries->size(); at += sizeof(ElfRelocation))
                if (auto done = apply(*read_at<ElfRelocation>(*entries, at), target, *symbols); !done)
                    return done;
        }
        return {};
    }

    // The place holds the addend. Types: 1 and 3 are 32-bit, 2 and 4 64-bit addresses.
    Result<void> apply(const ElfRelocation& entry, const Placed& target, Bytes symbols) {
        const auto symbol = read_at<ElfSymbol>(symbols, u64{entry.symbol} * sizeof(ElfSymbol));
        if (!symbol || symbol->section >= sections_.size())
            return fail("ELF: a relocation of {} at {:#x} names symbol {}, which is not there", target.name,
                        entry.offset, entry.symbol);
        if (entry.type < 1 || entry.type > 4)
            return fail("ELF: a relocation of {} at {:#x} has type {}", target.name, entry.offset, entry.type);
        const u64 width = entry.type % 2 == 0 ? 8 : 4;
        if (entry.offset > target.header.size || target.header.size - entry.offset < width)
            return fail("ELF: a relocation of {} at {:#x} lies outside it", target.name, entry.offset);
        std::byte* const place = target.bytes->data() + target.start + entry.offset;
        u64 value = 0;
        std::memcpy(&value, place, width);
        value += sections_[symbol->section].address + symbol->value; // code is at 0: functions are offsets into it
        std::memcpy(place, &value, width);
        return {};
    }

    Result<void> read_attributes() {
        for (const Placed& section : sections_) {
            const bool own = section.name == ".nv.info." + image_.name;
            if (!own && section.name != ".nv.info")
                continue;
            const auto contents = elf_.contents(section.header, section.name);
            if (!contents)
                return tl::unexpected(contents.error());
            for (u64 at = 0; at + 4 <= contents->size();) {
                const u8 format = *read_at<u8>(*contents, at), attribute = *read_at<u8>(*contents, at + 1);
                const u64 size = format == with_payload ? *read_at<u16>(*contents, at + 2) : 0;
                const auto payload = slice(*contents, at + 4, size);
                if (!payload)
                    return fail("ELF: attribute {:#x} of {} at {:#x} is cut off", attribute, section.name, at);
                read_attribute(attribute, *payload, own);
                at += 4 + size;
            }
        }
        image_.parameters.reserve(parameters_.size());
        for (const auto& [ordinal, parameter] : parameters_)
            image_.parameters.push_back(parameter);
        return {};
    }

    void read_attribute(u8 attribute, Bytes payload, bool own) {
        if (own && attribute == parameter_bank) {
            image_.parameters_at = read_at<u16>(payload, 4).value_or(0x140);
        } else if (own && attribute == parameter_info) {
            const auto ordinal = read_at<u16>(payload, 4), offset = read_at<u16>(payload, 6);
            const auto word = read_at<u32>(payload, 8);
            if (ordinal && offset && word)
                parameters_[*ordinal] = {*offset, *word >> 18};
        } else if (attribute == frame_size || attribute == min_stack_size) {
            // Of every function in the module: a kernel may call any of them.
            image_.stack_bytes = std::max(image_.stack_bytes, read_at<u32>(payload, 4).value_or(0));
        }
    }

    const Elf& elf_;
    KernelImage& image_;
    u64 globals_address_;
    std::vector<Placed> sections_;
    std::optional<u64> text_;
    std::map<u16, KernelParameter> parameters_;
};

} // namespace

Result<KernelImage> load_kernel(Bytes cubin, std::string_view name, u64 globals_address) {
    const auto kernels = parse_cubin(cubin);
    if (!kernels)
        return tl::unexpected(kernels.error());
    if (name.empty() && kernels->size() > 1) {
        std::string names;
        for (const Kernel& kernel : *kernels)
            names += (names.empty() ? "" : ", ") + std::string(kernel.name);
        return fail("the file has {} kernels, name one of them: {}", kernels->size(), names);
    }
    const auto kernel =
        std::ranges::find_if(*kernels, [&](const Kernel& each) { return name.empty() || each.name == name; });
    if (kernel == kernels->end())
        return fail("the file has no kernel {}", name);
    const auto elf = Elf::parse(cubin);
    if (!elf)
        return tl::unexpected(elf.error());
    KernelImage image;
    image.name = kernel->name;
    image.code = kernel->code;
    image.registers = kernel->registers;
    if (auto loaded = Loader(*elf, image, globals_address).load(); !loaded)
        return tl::unexpected(loaded.error());
    return image;
}

} // namespace heaviside::archive
