// Reading through an address that the application holds and may have unmapped: handles, former homes of objects.
#pragma once

#include "nvn/objects.h"
#include "nvn/report.h"

#include <cstddef>

namespace heaviside::nvn {

// Copies `size` bytes at `address` and returns true, or returns false where any of them is not readable. Where the
// system has no call for it, the bytes are simply read. Any thread; costs a system call.
[[nodiscard]] bool copy_mapped(void* out, u64 address, std::size_t size);

// as_valid() for a pointer out of a builder: builders are plain memory that may never have been set up, so the pointer
// can be anything.
template <class Object>
[[nodiscard]] auto as_mapped_valid(Object* object, const char* call) -> decltype(layout(object)) {
    u32 magic = 0;
    const u64 address = reinterpret_cast<u64>(object);
    if (object && (address % alignof(u64) != 0 || !copy_mapped(&magic, address, sizeof magic) ||
                   !copy_mapped(&magic, address + sizeof *layout(object) - sizeof magic, sizeof magic))) {
        report_error(call, "{:#x} is no object", address);
        return nullptr;
    }
    return as_valid(object, call);
}

} // namespace heaviside::nvn
