// Event objects: a 32-bit value in a memory pool, signalled and waited for by CPU and GPU.
#pragma once

#include "nvn/objects.h"

namespace heaviside::nvn {

struct EventBuilder {
    const NVNmemoryPool* pool;
    i64 offset;
};
struct Event {
    u32 magic;
    u32 pad;
    const NVNmemoryPool* pool;
    i64 offset;
    u64 address; // of the value: GPU address and process address alike
};
static_assert(fits<NVNeventBuilder, EventBuilder, 0x20>);
static_assert(fits<NVNevent, Event, 0x40>);
template <>
struct LayoutOf<NVNeventBuilder> {
    using type = EventBuilder;
};
template <>
struct LayoutOf<NVNevent> {
    using type = Event;
};
template <>
inline constexpr u32 magic_of<NVNevent> = magic::event;

} // namespace heaviside::nvn
