// Windows: textures that take turns on a display.
#pragma once

#include "nvn/objects.h"
#include "stream/sink.h"

namespace heaviside::nvn {

struct WindowBuilder {
    NVNdevice* device;
    NVNnativeWindow native_window;
    const NVNtexture* textures[stream::max_window_textures];
    u8 texture_count;
    u8 active_count; // 0: all
    u8 present_interval;
    u8 pad[5];
};

struct Window {
    u32 magic;
    stream::WindowId id;
    NVNdevice* device;
    NVNnativeWindow native_window;
    u32 texture_count, active_count;
    u32 present_interval;
    u32 next;                // the texture that the next acquire gives
    stream::SyncId acquired; // for QueueAcquireTexture, which has no sync of the application's
    u32 crop_set;
    NVNrectangle crop;
    stream::ImageDescription textures[stream::max_window_textures];
    u32 pad;
};

static_assert(fits<NVNwindowBuilder, WindowBuilder, 0x40>);
static_assert(fits<NVNwindow, Window, 0x180>);
template <>
struct LayoutOf<NVNwindowBuilder> {
    using type = WindowBuilder;
};
template <>
struct LayoutOf<NVNwindow> {
    using type = Window;
};
template <>
inline constexpr u32 magic_of<NVNwindow> = magic::window;

} // namespace heaviside::nvn
