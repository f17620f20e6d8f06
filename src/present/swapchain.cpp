#include "present/swapchain.h"

#include "present/presenter.h"

#include <SDL.h>
#include <SDL_vulkan.h>

#include <algorithm>
#include <vector>

namespace heaviside::present {

void add_instance_extensions(gpu::DeviceOptions& options) {
    if (SDL_WasInit(SDL_INIT_VIDEO) == 0 || SDL_Vulkan_LoadLibrary(nullptr) != 0)
        return;
    unsigned count = 0;
    if (SDL_Vulkan_GetInstanceExtensions(nullptr, &count, nullptr) != SDL_TRUE)
        return;
    std::vector<const char*> names(count);
    if (SDL_Vulkan_GetInstanceExtensions(nullptr, &count, names.data()) != SDL_TRUE)
        return;
    options.instance_extensions.insert(options.instance_extensions.end(), names.begin(), names.end());
    options.loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(SDL_Vulkan_GetVkGetInstanceProcAddr());
}

struct Swapchain::Impl {
    const gpu::Device* device = nullptr;
    SDL_Window* window = nullptr;
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    VkSurfaceFormatKHR format{};
    VkExtent2D size{};
    bool paced = true; // what `swapchain` was made for
    std::vector<VkImage> images;
    // A semaphore that an image's presentation waits for may be used again when the image comes back.
    std::vector<gpu::Owned<VkSemaphore>> drawn;
    // Acquired semaphores are free again once the submission that waited for them is done.
    struct Acquired {
        gpu::Owned<VkSemaphore> semaphore;
        u64 submission = 0;
    };
    std::vector<Acquired> acquired;

    ~Impl() {
        if (!device)
            return;
        {
            std::lock_guard lock(device->submit_mutex);
            device->vk.vkDeviceWaitIdle(device->handle);
        }
        drawn.clear();
        acquired.clear();
        destroy_swapchain(swapchain);
        if (surface) {
            vkDestroySurfaceKHR(device->instance, surface, nullptr);
            device->count(gpu::Object::Surface, -1);
        }
    }

    void destroy_swapchain(VkSwapchainKHR old) const {
        if (!old)
            return;
        device->vk.vkDestroySwapchainKHR(device->handle, old, nullptr);
        device->count(gpu::Object::Swapchain, -1);
    }

    Result<gpu::Owned<VkSemaphore>> make_semaphore() const {
        const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        VkSemaphore semaphore = VK_NULL_HANDLE;
        if (const VkResult r = device->vk.vkCreateSemaphore(device->handle, &info, nullptr, &semaphore);
            r != VK_SUCCESS)
            return fail("vkCreateSemaphore: {}", gpu::name(r));
        return gpu::adopt(*device, gpu::Object::Semaphore, semaphore);
    }

    Result<void> choose_format() {
        u32 count = 0;
        vkGetPhysicalDeviceSurfaceFormatsKHR(device->physical, surface, &count, nullptr);
        std::vector<VkSurfaceFormatKHR> formats(count);
        vkGetPhysicalDeviceSurfaceFormatsKHR(device->physical, surface, &count, formats.data());
        if (formats.empty())
            return fail("the surface has no formats");
        // The guest's bytes are shown as they are: no format that encodes them once more (ledger REN-069).
        const auto plain = std::ranges::find_if(formats, [](const VkSurfaceFormatKHR& f) {
            return f.format == VK_FORMAT_B8G8R8A8_UNORM || f.format == VK_FORMAT_R8G8B8A8_UNORM;
        });
        format = plain != formats.end() ? *plain : formats.front();
        return {};
    }

    VkPresentModeKHR choose_mode(bool wait) const {
        if (wait)
            return VK_PRESENT_MODE_FIFO_KHR; // every device has it
        u32 count = 0;
        vkGetPhysicalDeviceSurfacePresentModesKHR(device->physical, surface, &count, nullptr);
        std::vector<VkPresentModeKHR> modes(count);
        vkGetPhysicalDeviceSurfacePresentModesKHR(device->physical, surface, &count, modes.data());
        for (const VkPresentModeKHR wanted : {VK_PRESENT_MODE_MAILBOX_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR})
            if (std::ranges::find(modes, wanted) != modes.end())
                return wanted;
        return VK_PRESENT_MODE_FIFO_KHR;
    }

    // Leaves `swapchain` null for a window of no size.
    Result<void> make(bool wait) {
        VkSurfaceCapabilitiesKHR caps{};
        if (const VkResult r = vkGetPhysicalDeviceSurfaceCapabilitiesKHR(device->physical, surface, &caps);
            r != VK_SUCCESS)
            return fail("vkGetPhysicalDeviceSurfaceCapabilitiesKHR: {}", gpu::name(r));
        size = caps.currentExtent;
        if (size.width == ~0u) {
            int width = 0, height = 0;
            SDL_Vulkan_GetDrawableSize(window, &width, &height);
            size = {std::clamp(static_cast<u32>(width), caps.minImageExtent.width, caps.maxImageExtent.width),
                    std::clamp(static_cast<u32>(height), caps.minImageExtent.height, caps.maxImageExtent.height)};
        }
        {
            std::lock_guard lock(device->submit_mutex);
            device->vk.vkQueueWaitIdle(device->queue);
        }
        const VkSwapchainKHR old = std::exchange(swapchain, VK_NULL_HANDLE);
        drawn.clear();
        images.clear();
        if (size.width == 0 || size.height == 0) {
            destroy_swapchain(old);
            return {};
        }
        VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
        info.surface = surface;
        info.minImageCount = std::max(3u, caps.minImageCount);
        if (caps.maxImageCount != 0)
            info.minImageCount = std::min(info.minImageCount, caps.maxImageCount);
        info.imageFormat = format.format;
        info.imageColorSpace = format.colorSpace;
        info.imageExtent = size;
        info.imageArrayLayers = 1;
        info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        info.imageSharingMode = VK_SHARING_MODE_EXCLUSIVE;
        info.preTransform = caps.currentTransform;
        info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
        info.presentMode = choose_mode(wait);
        info.clipped = VK_TRUE;
        info.oldSwapchain = old;
        const VkResult r = device->vk.vkCreateSwapchainKHR(device->handle, &info, nullptr, &swapchain);
        destroy_swapchain(old);
        if (r != VK_SUCCESS)
            return fail("vkCreateSwapchainKHR: {}", gpu::name(r));
        device->count(gpu::Object::Swapchain, 1);
        paced = wait;
        u32 count = 0;
        device->vk.vkGetSwapchainImagesKHR(device->handle, swapchain, &count, nullptr);
        images.resize(count);
        device->vk.vkGetSwapchainImagesKHR(device->handle, swapchain, &count, images.data());
        for (u32 i = 0; i < count; ++i) {
            auto semaphore = make_semaphore();
            if (!semaphore)
                return tl::unexpected(semaphore.error());
            drawn.push_back(*std::move(semaphore));
        }
        return {};
    }

    Result<gpu::Owned<VkSemaphore>> free_semaphore(u64 completed) {
        for (auto& entry : acquired)
            if (entry.submission <= completed) {
                auto semaphore = std::move(entry.semaphore);
                entry = std::move(acquired.back());
                acquired.pop_back();
                return semaphore;
            }
        return make_semaphore();
    }

    void to_layout(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to) const {
        VkImageMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
        barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
        barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        info.imageMemoryBarrierCount = 1;
        info.pImageMemoryBarriers = &barrier;
        device->vk.vkCmdPipelineBarrier2(commands, &info);
    }

    // Acquires, draws, presents. False: the swapchain no longer fits the window.
    Result<bool> attempt(gpu::Queue& queue, const Draw& draw) {
        auto semaphore = free_semaphore(queue.completed());
        if (!semaphore)
            return tl::unexpected(semaphore.error());
        u32 index = 0;
        const VkResult got = device->vk.vkAcquireNextImageKHR(device->handle, swapchain, ~u64{0}, semaphore->get(),
                                                              VK_NULL_HANDLE, &index);
        if (got == VK_ERROR_OUT_OF_DATE_KHR)
            return false;
        if (got != VK_SUCCESS && got != VK_SUBOPTIMAL_KHR)
            return fail("vkAcquireNextImageKHR: {}", gpu::name(got));
        auto commands = queue.begin();
        if (!commands)
            return tl::unexpected(commands.error());
        gpu::Commands& c = **commands;
        c.barrier();
        c.prepare_transfer();
        to_layout(c.handle(), images[index], VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
        draw(c, images[index], size);
        to_layout(c.handle(), images[index], VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
        const gpu::Queue::Signal wait{semaphore->get(), 0, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT};
        const gpu::Queue::Signal signal{drawn[index].get(), 0, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        const auto submitted = queue.submit(c, {&wait, 1}, {&signal, 1});
        if (!submitted)
            return tl::unexpected(submitted.error());
        acquired.push_back({*std::move(semaphore), *submitted});
        const VkSemaphore finished = drawn[index].get();
        VkPresentInfoKHR info{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
        info.waitSemaphoreCount = 1;
        info.pWaitSemaphores = &finished;
        info.swapchainCount = 1;
        info.pSwapchains = &swapchain;
        info.pImageIndices = &index;
        std::lock_guard lock(device->submit_mutex);
        const VkResult shown = device->vk.vkQueuePresentKHR(device->queue, &info);
        if (shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_SUBOPTIMAL_KHR)
            return false;
        if (shown != VK_SUCCESS)
            return fail("vkQueuePresentKHR: {}", gpu::name(shown));
        return true;
    }
};

Swapchain::Swapchain() = default;
Swapchain::Swapchain(Swapchain&& other) noexcept = default;
Swapchain& Swapchain::operator=(Swapchain&& other) noexcept = default;
Swapchain::~Swapchain() = default;

Result<Swapchain> Swapchain::create(const gpu::Device& device, void* native_window) {
    Swapchain result;
    result.impl_ = std::make_unique<Impl>();
    Impl& impl = *result.impl_;
    impl.window = static_cast<SDL_Window*>(native_window);
    if (!SDL_Vulkan_CreateSurface(impl.window, device.instance, &impl.surface))
        return fail("no Vulkan surface: {}", SDL_GetError());
    impl.device = &device;
    device.count(gpu::Object::Surface, 1);
    VkBool32 supported = VK_FALSE;
    vkGetPhysicalDeviceSurfaceSupportKHR(device.physical, device.queue_family, impl.surface, &supported);
    if (!supported)
        return fail("the device cannot present to this window");
    if (auto chosen = impl.choose_format(); !chosen)
        return tl::unexpected(chosen.error());
    if (auto made = impl.make(true); !made)
        return tl::unexpected(made.error());
    return result;
}

Result<void> Swapchain::present(gpu::Queue& queue, u32 interval, const Draw& draw) {
    const bool wait = interval != 0;
    if (wait != impl_->paced || !impl_->swapchain)
        if (auto made = impl_->make(wait); !made)
            return made;
    // A window that changes between the two attempts shows its picture with the next frame.
    for (int tries = 0; tries < 2 && impl_->swapchain; ++tries) {
        const auto presented = impl_->attempt(queue, draw);
        if (!presented)
            return tl::unexpected(presented.error());
        if (*presented)
            return {};
        if (auto made = impl_->make(wait); !made)
            return made;
    }
    return {};
}

} // namespace heaviside::present
