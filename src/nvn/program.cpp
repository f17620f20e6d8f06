#include "program/program.h"

#include "base/log.h"
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/labels.h"
#include "nvn/mapped.h"
#include "nvn/report.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

namespace heaviside::nvn {

namespace {

// A control section is CPU memory of which the application gives the address alone. The shortest that any compiler
// writes is 0x7c0 bytes, and sections of old compilers claim less than they hold; the longest known is 0x11d0.
constexpr u32 shortest_control = 0x7c0, longest_control = 0x4000;

Result<std::vector<std::byte>> copy_control(const void* control) {
    if (!control)
        return fail("no control section");
    const u64 address = reinterpret_cast<u64>(control);
    std::array<std::byte, 0x24> head; // its length is at +0x20
    if (!copy_mapped(head.data(), address, head.size()))
        return fail("control section at {:#x}: not mapped", address);
    const auto claimed = program::control_section_size(head);
    if (!claimed)
        return tl::unexpected(claimed.error());
    std::vector<std::byte> bytes(std::clamp(*claimed, shortest_control, longest_control));
    if (!copy_mapped(bytes.data(), address, bytes.size()))
        return fail("control section at {:#x}: {:#x} bytes are not mapped", address, bytes.size());
    return bytes;
}

Result<std::vector<std::byte>> copy_code(u64 address, u32 size) {
    if (host().virtual_pools.contains(address)) {
        std::vector<std::byte> code(size);
        host().virtual_pools.read(address, code);
        return code;
    }
    const auto range = guest_memory().find(GuestAddress{address});
    if (!range)
        return fail("code at {:#x} lies in no memory pool", address);
    // The last program of a pool may lack the padding that its size counts.
    const u64 room = range->end() - GuestAddress{address};
    const auto* code = reinterpret_cast<const std::byte*>(address);
    return std::vector<std::byte>(code, code + std::min<u64>(size, room));
}

bool in_a_pool(u64 address) {
    return guest_memory().find(GuestAddress{address}) || host().virtual_pools.contains(address);
}

// Copies the code that a control section is about, and says what it is.
Result<void> read_code(StageContents& part) {
    const auto size = program::gpu_area_size(part.control);
    if (!size)
        return tl::unexpected(size.error());
    auto code = copy_code(part.code_address, *size);
    if (!code)
        return tl::unexpected(code.error());
    part.code = std::move(*code);
    const auto parsed = program::parse(part.control, part.code);
    if (!parsed)
        return tl::unexpected(parsed.error());
    part.stage = parsed->stage;
    part.identity = program::identity(*parsed);
    return {};
}

// With the code known: puts the stages in order. Errors: two of a kind.
Result<void> settle(ProgramContents& contents) {
    contents.stages = 0;
    for (const StageContents& part : contents.parts) {
        const u32 bit = 1u << static_cast<unsigned>(part.stage);
        if (contents.stages & bit)
            return fail("two {} stages", program::name(part.stage));
        contents.stages |= bit;
    }
    std::ranges::sort(contents.parts, {}, &StageContents::stage);
    std::vector<Hash128> hashes;
    for (const StageContents& part : contents.parts)
        hashes.push_back(part.identity);
    contents.hash = hash_bytes(std::as_bytes(std::span(hashes)));
    return {};
}

void announce(const ProgramContents& contents) {
    std::vector<stream::ProgramStage> stages;
    for (const StageContents& part : contents.parts)
        stages.push_back({static_cast<stream::Stage>(part.stage), part.control, part.code_address, part.code});
    sink().program_created({contents.id, stages});
}

u64 address_of(const Program& p) {
    return reinterpret_cast<u64>(&p);
}

void tell_destroyed(stream::ProgramId id) {
    if (id != 0)
        sink().program_destroyed(id);
}

// A copy by value does not own: its Finalize counts only if the original is no more where it was, so that the copy is a
// moved object (as for textures, ledger OBJ-261).
bool owns(const Program& p) {
    if (p.owner == address_of(p))
        return true;
    Program original{};
    return !copy_mapped(&original, p.owner, sizeof original) || original.magic != magic::program ||
           original.reference != p.reference;
}

template <class Data>
NVNboolean set_shaders(const char* call, NVNprogram* object, int count, const Data* data) {
    Program* p = as_valid(object, call);
    if (!p)
        return NVN_FALSE;
    if (count < 1 || count > static_cast<int>(program::stage_count) || !data) {
        report_error(call, "{} stages", count);
        return NVN_FALSE;
    }
    ProgramContents contents;
    bool late = false;
    for (const Data& stage : std::span(data, static_cast<std::size_t>(count))) {
        StageContents part{.code_address = stage.data};
        auto control = copy_control(stage.control);
        Result<void> known;
        if (control) {
            part.control = std::move(*control);
            if (stage.data != 0 && !in_a_pool(stage.data) && program::gpu_area_size(part.control))
                late = true;
            else
                known = read_code(part);
        } else {
            known = tl::unexpected(control.error());
        }
        if (!known) {
            report_error(call, "stage at {:#x}: {}", stage.data, known.error().message);
            return NVN_FALSE;
        }
        contents.parts.push_back(std::move(part));
    }
    if (!late) {
        if (const auto settled = settle(contents); !settled) {
            report_error(call, "{}", settled.error().message);
            return NVN_FALSE;
        }
    }
    if (p->reference != 0 && p->owner == address_of(*p))
        tell_destroyed(host().programs.abandon(p->reference));
    const auto [entry, reference, created] =
        late ? host().programs.acquire_late(std::move(contents)) : host().programs.acquire(std::move(contents));
    p->id = entry->id;
    p->reference = reference;
    p->owner = address_of(*p);
    p->stages = entry->stages;
    if (created)
        announce(*entry);
    return NVN_TRUE;
}

} // namespace

void announce_late_programs() {
    ProgramTable& programs = host().programs;
    if (!programs.has_late()) [[likely]]
        return;
    static std::mutex one_at_a_time; // who comes second submits after the first one's announcements
    const std::lock_guard lock(one_at_a_time);
    for (const stream::ProgramId id : programs.late()) {
        const auto known = programs.find(id);
        if (!known || !std::ranges::all_of(known->parts, [](const StageContents& part) {
                return !part.code.empty() || in_a_pool(part.code_address);
            }))
            continue;
        ProgramContents contents = *known;
        Result<void> read;
        for (StageContents& part : contents.parts)
            if (read && part.code.empty())
                read = read_code(part);
        if (read)
            read = settle(contents);
        if (!read) {
            report_error("nvnProgramSetShaders", "late code: {}", read.error().message);
            contents.parts.clear(); // announced as a program without stages: draws with it say so
            contents.stages = 0;
        }
        if (const auto complete = programs.complete_late(id, std::move(contents)))
            announce(*complete);
    }
}

NVNboolean nvnProgramInitialize(NVNprogram* program, NVNdevice*) {
    if (!program) {
        report_bad_object("nvnProgramInitialize", program);
        return NVN_FALSE;
    }
    // Objects are initialised again without Finalize, and are moved by copying their bytes: the copy lives on. What
    // memory that was never a program says of an owner is not its own address.
    const Program& before = *layout(program);
    if (before.magic == magic::program && before.reference != 0 && before.owner == address_of(before))
        tell_destroyed(host().programs.abandon(before.reference));
    *layout(program) = {};
    layout(program)->magic = magic::program;
    layout(program)->sample_shading = NVN_SAMPLE_SHADING_MODE_DEFAULT_FRAGMENT;
    return NVN_TRUE;
}

void nvnProgramFinalize(NVNprogram* program) {
    Program* p = as_valid(program, "nvnProgramFinalize");
    if (!p)
        return;
    if (p->reference != 0 && owns(*p))
        tell_destroyed(host().programs.release(p->reference));
    *p = {};
}

void nvnProgramSetDebugLabel(NVNprogram* object, const char* label) {
    set_label(object, label, __func__);
}

NVNboolean nvnProgramSetShaders(NVNprogram* program, int count, const NVNshaderData* stageData) {
    return set_shaders("nvnProgramSetShaders", program, count, stageData);
}

NVNboolean nvnProgramSetShadersExt(NVNprogram* program, int count, const NVNshaderDataExt* stageData) {
    return set_shaders("nvnProgramSetShadersExt", program, count, stageData);
}

void nvnProgramSetSampleShading(NVNprogram* program, NVNsampleShadingMode mode) {
    if (Program* p = as_valid(program, "nvnProgramSetSampleShading"))
        p->sample_shading = static_cast<u32>(mode);
}

// No known compiler emits linked subroutines.
NVNboolean nvnProgramSetSubroutineLinkage(NVNprogram* program, int, const NVNsubroutineLinkageMapPtr*) {
    return boolean(as_valid(program, "nvnProgramSetSubroutineLinkage"));
}

} // namespace heaviside::nvn
