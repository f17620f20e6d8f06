// Vulkan through volk. Device functions are called through Device::vk, the table of that device; instance functions are
// volk's globals.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

// From vk_mem_alloc.h, whose size is no business of those who include a header of this floor.
using VmaAllocator = struct VmaAllocator_T*;
using VmaAllocation = struct VmaAllocation_T*;
