// What stands in the heap for absent textures where the device has no null descriptors: images of one zero texel per
// binding. Reads give zero as nulls do; stores to them are not dropped, though, so a shader that stores to an absent
// image and reads it back sees its own value. Inside gpu/ only.
#pragma once

#include "gpu/memory.h"
#include "shader/interface.h"

namespace heaviside::gpu {

struct NullEntries {
    std::vector<Image> images;
    std::vector<Owned<VkImageView>> views;
    std::vector<Owned<VkBufferView>> buffer_views;
    Buffer zeros;
    std::array<VkImageView, shader::heap::binding_count> image{}; // by heap binding; null where it is no image
    std::array<VkBufferView, shader::heap::binding_count> buffer{};
};
// Waits for the GPU to clear them.
[[nodiscard]] Result<std::unique_ptr<NullEntries>> create_null_entries(const Device& device);

} // namespace heaviside::gpu
