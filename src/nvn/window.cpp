#include "nvn/window.h"
#include "nvn/labels.h"

#include "nvn/entry_points.h"
#include "nvn/mapped.h"
#include "nvn/queue.h"
#include "nvn/report.h"
#include "nvn/runtime.h"
#include "nvn/sync.h"

#include <algorithm>

namespace heaviside::nvn {

namespace {

constexpr int min_textures = 2, max_interval = 5; // device integers MIN_TEXTURES_PER_WINDOW, MAX_PRESENT_INTERVAL

ObjectNumbers& window_numbers() {
    static ObjectNumbers numbers;
    return numbers;
}

WindowBuilder* valid(NVNwindowBuilder* builder, const char* call) {
    if (!builder)
        report_bad_object(call, builder);
    return builder ? layout(builder) : nullptr;
}
const WindowBuilder* valid(const NVNwindowBuilder* builder, const char* call) {
    return valid(const_cast<NVNwindowBuilder*>(builder), call);
}

// The textures take turns. Fences the sync that the texture's availability is told by; false: native error.
bool acquire(Window& window, stream::SyncId sync, int* index) {
    const u32 texture = window.next % std::max(window.active_count, 1u);
    const u32 fence = sync_table().fence(sync);
    bool acquired = false;
    {
        const BlockingCall blocking;
        acquired = sink().acquire(window.id, texture, sync, fence);
    }
    if (!acquired)
        return false;
    window.next = texture + 1;
    if (index)
        *index = static_cast<int>(texture);
    return true;
}

} // namespace

// --- Builder ---

void nvnWindowBuilderSetDefaults(NVNwindowBuilder* builder) {
    WindowBuilder* const b = valid(builder, __func__);
    if (!b)
        return;
    NVNdevice* const device = b->device;
    *b = {};
    b->device = device;
    b->present_interval = 1;
}
void nvnWindowBuilderSetDevice(NVNwindowBuilder* builder, NVNdevice* device) {
    if (WindowBuilder* const b = valid(builder, __func__))
        b->device = device;
}
void nvnWindowBuilderSetNativeWindow(NVNwindowBuilder* builder, NVNnativeWindow nativeWindow) {
    if (WindowBuilder* const b = valid(builder, __func__))
        b->native_window = nativeWindow;
}
void nvnWindowBuilderSetTextures(NVNwindowBuilder* builder, int numTextures, NVNtexture* const* textures) {
    WindowBuilder* const b = valid(builder, __func__);
    if (!b)
        return;
    if (numTextures < 0 || numTextures > static_cast<int>(stream::max_window_textures) ||
        (numTextures > 0 && !textures)) {
        report_error(__func__, "{} textures at {}", numTextures, static_cast<const void*>(textures));
        return;
    }
    b->texture_count = static_cast<u8>(numTextures);
    std::copy_n(textures, numTextures, b->textures);
}
void nvnWindowBuilderSetPresentInterval(NVNwindowBuilder* builder, int presentInterval) {
    if (WindowBuilder* const b = valid(builder, __func__))
        b->present_interval = static_cast<u8>(std::clamp(presentInterval, 0, max_interval));
}
void nvnWindowBuilderSetNumActiveTextures(NVNwindowBuilder* builder, int numActiveTextures) {
    if (WindowBuilder* const b = valid(builder, __func__))
        b->active_count =
            static_cast<u8>(std::clamp(numActiveTextures, 0, static_cast<int>(stream::max_window_textures)));
}

const NVNdevice* nvnWindowBuilderGetDevice(const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    return b ? b->device : nullptr;
}
NVNnativeWindow nvnWindowBuilderGetNativeWindow(const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    return b ? b->native_window : nullptr;
}
int nvnWindowBuilderGetNumTextures(const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    return b ? b->texture_count : 0;
}
int nvnWindowBuilderGetNumActiveTextures(const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    if (!b)
        return 0;
    return b->active_count != 0 ? b->active_count : b->texture_count;
}
int nvnWindowBuilderGetPresentInterval(const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    return b ? b->present_interval : 0;
}
const NVNtexture* nvnWindowBuilderGetTexture(const NVNwindowBuilder* builder, int index) {
    const WindowBuilder* const b = valid(builder, __func__);
    return b && index >= 0 && index < b->texture_count ? b->textures[index] : nullptr;
}

// --- Window ---

NVNboolean nvnWindowInitialize(NVNwindow* window, const NVNwindowBuilder* builder) {
    const WindowBuilder* const b = valid(builder, __func__);
    if (!b)
        return NVN_FALSE;
    if (!window) {
        report_bad_object(__func__, window);
        return NVN_FALSE;
    }
    if (!as_mapped_valid(b->device, __func__))
        return NVN_FALSE;
    if (b->texture_count < min_textures || b->texture_count > stream::max_window_textures) {
        report_error(__func__, "{} textures, {} to {}", b->texture_count, min_textures, stream::max_window_textures);
        return NVN_FALSE;
    }
    stream::WindowDescription description{};
    description.native_window = b->native_window;
    description.texture_count = b->texture_count;
    for (std::size_t i = 0; i < b->texture_count; ++i) {
        const Texture* const texture = as_mapped_valid(b->textures[i], __func__);
        if (!texture)
            return NVN_FALSE;
        description.textures[i] = describe(*texture, nullptr);
    }
    const ObjectNumbers::Created created = window_numbers().create(window);
    if (created.replaced != 0)
        sink().window_destroyed(created.replaced);
    Window value{};
    value.magic = magic::window;
    value.id = created.number;
    value.device = b->device;
    value.native_window = b->native_window;
    value.texture_count = b->texture_count;
    value.active_count = b->active_count != 0 ? std::min(b->active_count, b->texture_count) : b->texture_count;
    value.present_interval = b->present_interval;
    const SyncTable::Created acquired = sync_table().create(&layout(window)->acquired);
    if (acquired.ended != 0)
        sink().sync_destroyed(acquired.ended);
    value.acquired = acquired.id;
    std::copy(description.textures.begin(), description.textures.end(), value.textures);
    *layout(window) = value;
    sink().window_created(value.id, description);
    return NVN_TRUE;
}

void nvnWindowFinalize(NVNwindow* window) {
    Window* const w = as_valid(window, __func__);
    if (!w)
        return;
    sink().window_destroyed(w->id);
    if (sync_table().destroy(w->acquired))
        sink().sync_destroyed(w->acquired);
    window_numbers().destroy(window, w->id);
    w->magic = 0;
}

void nvnWindowSetDebugLabel(NVNwindow* window, const char* label) {
    set_label(window, label, __func__);
}

NVNwindowAcquireTextureResult nvnWindowAcquireTexture(NVNwindow* window, NVNsync* textureAvailableSync,
                                                      int* textureIndex) {
    Window* const w = as_valid(window, __func__);
    if (!w)
        return NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR;
    // Without a sync of its own the application is told by the return alone.
    stream::SyncId sync = w->acquired;
    if (textureAvailableSync) {
        const Sync* const s = as_valid(textureAvailableSync, __func__);
        if (!s)
            return NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR;
        sync = s->id;
    }
    return acquire(*w, sync, textureIndex) ? NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_SUCCESS
                                           : NVN_WINDOW_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR;
}

// The older form: the queue waits for the texture, no sync of the application's is involved (ledger OBJ-223).
NVNqueueAcquireTextureResult nvnQueueAcquireTexture(NVNqueue* queue, NVNwindow* window, int* textureIndex) {
    Queue* const q = as_valid(queue, __func__);
    Window* const w = as_valid(window, __func__);
    if (!q || !w || !acquire(*w, w->acquired, textureIndex))
        return NVN_QUEUE_ACQUIRE_TEXTURE_RESULT_NATIVE_ERROR;
    submit_record(*q, stream::WaitSync{{}, w->acquired, sync_table().newest(w->acquired)});
    return NVN_QUEUE_ACQUIRE_TEXTURE_RESULT_SUCCESS;
}

void nvnQueuePresentTexture(NVNqueue* queue, NVNwindow* window, int textureIndex) {
    const Queue* const q = as_valid(queue, __func__);
    const Window* const w = as_valid(window, __func__);
    if (!q || !w)
        return;
    if (textureIndex < 0 || static_cast<u32>(textureIndex) >= w->texture_count) {
        report_error(__func__, "texture {} of {}", textureIndex, w->texture_count);
        return;
    }
    NVNrectangle crop;
    nvnWindowGetCrop(window, &crop);
    stream::Present present{};
    present.window = w->id;
    present.texture = static_cast<u32>(textureIndex);
    present.image = w->textures[textureIndex];
    present.crop = {crop.x, crop.y, 0, crop.width, crop.height, 1};
    present.crop_set = w->crop_set != 0;
    present.interval = w->present_interval;
    present.modes = device_modes(q->device);
    sink().present(q->id, present);
}

void nvnWindowSetCrop(NVNwindow* window, int x, int y, int w, int h) {
    if (Window* const valid_window = as_valid(window, __func__)) {
        valid_window->crop = {x, y, w, h};
        valid_window->crop_set = 1;
    }
}

// The whole of the first texture before any SetCrop (ledger OBJ-243).
void nvnWindowGetCrop(const NVNwindow* window, NVNrectangle* rectangle) {
    const Window* const w = as_valid(window, __func__);
    if (!w || !rectangle)
        return;
    if (w->crop_set != 0)
        *rectangle = w->crop;
    else
        *rectangle = {0, 0, static_cast<int>(w->textures[0].texture.width), w->textures[0].texture.height};
}

void nvnWindowSetPresentInterval(NVNwindow* window, int presentInterval) {
    if (Window* const w = as_valid(window, __func__))
        w->present_interval = static_cast<u32>(std::clamp(presentInterval, 0, max_interval));
}
int nvnWindowGetPresentInterval(const NVNwindow* window) {
    const Window* const w = as_valid(window, __func__);
    return w ? static_cast<int>(w->present_interval) : 0;
}
void nvnWindowSetNumActiveTextures(NVNwindow* window, int numActiveTextures) {
    Window* const w = as_valid(window, __func__);
    if (!w)
        return;
    if (numActiveTextures < 1 || static_cast<u32>(numActiveTextures) > w->texture_count) {
        report_error(__func__, "{} of {} textures", numActiveTextures, w->texture_count);
        return;
    }
    w->active_count = static_cast<u32>(numActiveTextures);
}
int nvnWindowGetNumActiveTextures(const NVNwindow* window) {
    const Window* const w = as_valid(window, __func__);
    return w ? static_cast<int>(w->active_count) : 0;
}
int nvnWindowGetNumTextures(const NVNwindow* window) {
    const Window* const w = as_valid(window, __func__);
    return w ? static_cast<int>(w->texture_count) : 0;
}
NVNnativeWindow nvnWindowGetNativeWindow(const NVNwindow* window) {
    const Window* const w = as_valid(window, __func__);
    return w ? w->native_window : nullptr;
}

} // namespace heaviside::nvn
