// The one place where the bodies of the header-only libraries are compiled.
#define VK_NO_PROTOTYPES
#define VOLK_IMPLEMENTATION
#include <volk.h>

// Leaks are counted and reported by Device, which must not abort.
#define VMA_ASSERT_LEAK(expr) static_cast<void>(0)
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>
