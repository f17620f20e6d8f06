// One Vulkan device with its queue and allocator, and the handles that die with an owner.
#pragma once

#include "base/result.h"
#include "gpu/capabilities.h"
#include "gpu/vulkan.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

namespace heaviside::gpu {

struct DeviceOptions {
    std::string device;      // index or part of the name; empty: best (discrete, integrated, virtual, CPU)
    std::string disable;     // features to do without, "a,b"
    bool validation = false; // the Khronos layer, if installed; its messages go to the log and are counted
    std::vector<std::string> instance_extensions; // what a window system needs
    PFN_vkGetInstanceProcAddr loader = nullptr;   // a loader that the window system already opened
    std::filesystem::path cache_directory;        // shader binaries, pipeline cache; empty: none on disk

    // HEAVISIDE_DEVICE, HEAVISIDE_DISABLE, HEAVISIDE_VALIDATION=1, HEAVISIDE_CACHE.
    [[nodiscard]] static DeviceOptions from_environment();
};

// What every submission passes. While it is closed, they wait; what is inside when it closes is waited for. Any thread.
class SubmitGate {
public:
    void close() {
        std::unique_lock lock(mutex_);
        closed_ = true;
        changed_.wait(lock, [this] { return inside_ == 0; });
    }
    void open() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = false;
        }
        changed_.notify_all();
    }
    // With the submit lock, which is free while the gate is closed: who waits for the lock is not inside (OBJ-141).
    void enter(std::unique_lock<std::mutex>& submit) {
        for (;;) {
            std::unique_lock lock(mutex_);
            if (!closed_) {
                ++inside_;
                return;
            }
            submit.unlock();
            changed_.wait(lock, [this] { return !closed_; });
            lock.unlock();
            submit.lock();
        }
    }
    void leave() {
        {
            const std::lock_guard lock(mutex_);
            --inside_;
        }
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned inside_ = 0;
    bool closed_ = false;
};

// What is alive, by kind. All zero when a device is destroyed; otherwise it logs one error line per kind.
enum class Object : u8 {
    Buffer,
    Image,
    View,
    BufferView,
    Sampler,
    Memory,
    Shader,
    Pipeline,
    Layout,
    SetLayout,
    DescriptorPool,
    Semaphore,
    CommandPool,
    QueryPool,
    PipelineCache,
    Fence,
    Swapchain,
    Surface,
    Count
};
[[nodiscard]] const char* name(Object kind);

// Everything below the fields marked so is fixed at creation; any thread may read it.
struct Device {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice handle = VK_NULL_HANDLE;
    VolkDeviceTable vk{}; // this device's functions
    Capabilities capabilities;
    VkPhysicalDeviceMemoryProperties memory{};
    VmaAllocator allocator = nullptr;
    VkQueue queue = VK_NULL_HANDLE; // graphics, compute and transfer; use submit_mutex
    u32 queue_family = 0;
    DeviceOptions options;

    mutable std::mutex submit_mutex; // held around every use of `queue`
    mutable SubmitGate gate;         // gpu::Queue passes it
    mutable std::array<std::atomic<i64>, static_cast<unsigned>(Object::Count)> live{};
    mutable std::atomic<u64> validation_messages = 0;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;

    // Errors: no loader, no device, a required feature is missing (named). Takes 5 to 100 ms.
    [[nodiscard]] static Result<std::unique_ptr<Device>> create(const DeviceOptions& options);
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device(); // every object made from it must be gone; waits for the queue

    [[nodiscard]] bool has(Feature f) const { return capabilities.has(f); }
    void count(Object kind, i64 change) const {
        live[static_cast<unsigned>(kind)].fetch_add(change, std::memory_order_relaxed);
    }
};

// Names and short properties of all devices, for `heaviside info`; no device is created.
[[nodiscard]] Result<std::vector<Capabilities>> list_devices(const DeviceOptions& options);

[[nodiscard]] const char* name(VkResult result); // "VK_ERROR_DEVICE_LOST"

// Gives the object a name in captures and validation messages; nothing where debug utils are absent.
void set_name(const Device& device, VkObjectType type, u64 handle, std::string_view text);

void destroy(const Device& device, VkImageView handle);
void destroy(const Device& device, VkBufferView handle);
void destroy(const Device& device, VkSampler handle);
void destroy(const Device& device, VkShaderEXT handle);
void destroy(const Device& device, VkShaderModule handle);
void destroy(const Device& device, VkPipeline handle);
void destroy(const Device& device, VkPipelineLayout handle);
void destroy(const Device& device, VkPipelineCache handle);
void destroy(const Device& device, VkDescriptorSetLayout handle);
void destroy(const Device& device, VkDescriptorPool handle);
void destroy(const Device& device, VkSemaphore handle);
void destroy(const Device& device, VkCommandPool handle);
void destroy(const Device& device, VkQueryPool handle);
void destroy(const Device& device, VkFence handle);

// Owns one handle of the kinds above. Whoever made it has counted it (adopt() does).
template <class H>
class Owned {
public:
    Owned() = default;
    Owned(const Device& device, H handle) : device_(&device), handle_(handle) {}
    Owned(Owned&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, H{})) {}
    Owned& operator=(Owned&& other) noexcept {
        if (this != &other) {
            reset();
            device_ = other.device_;
            handle_ = std::exchange(other.handle_, H{});
        }
        return *this;
    }
    ~Owned() { reset(); }
    void reset() {
        if (handle_)
            destroy(*device_, std::exchange(handle_, H{}));
    }
    [[nodiscard]] H get() const { return handle_; }
    explicit operator bool() const { return handle_ != H{}; }

private:
    const Device* device_ = nullptr;
    H handle_{};
};

// Counts a handle that was just made and takes it.
template <class H>
[[nodiscard]] Owned<H> adopt(const Device& device, Object kind, H handle) {
    device.count(kind, 1);
    return Owned<H>(device, handle);
}

} // namespace heaviside::gpu
