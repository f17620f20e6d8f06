#include "gpu/device.h"

#include "base/log.h"

#include <vk_mem_alloc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>

namespace heaviside::gpu {
namespace {

// volk keeps the loader's functions for the process; every Device shares them.
std::mutex loader_mutex;
bool loader_ready = false;

// A machine without a display often has a driver but no loader: drivers export the same entry under another name.
PFN_vkGetInstanceProcAddr find_loader() {
    for (const char* library : {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "libMoltenVK.dylib"})
        if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL))
            if (void* entry = dlsym(handle, "vkGetInstanceProcAddr"))
                return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
    for (const char* driver :
         {"libGLX_nvidia.so.0", "libEGL_nvidia.so.0", "libvulkan_radeon.so", "libvulkan_intel.so", "libvulkan_lvp.so"})
        if (void* handle = dlopen(driver, RTLD_NOW | RTLD_LOCAL)) {
            using Negotiate = VkResult (*)(u32*);
            if (auto negotiate =
                    reinterpret_cast<Negotiate>(dlsym(handle, "vk_icdNegotiateLoaderICDInterfaceVersion"))) {
                u32 version = 5;
                if (negotiate(&version) != VK_SUCCESS)
                    continue;
            }
            if (void* entry = dlsym(handle, "vk_icdGetInstanceProcAddr"))
                return reinterpret_cast<PFN_vkGetInstanceProcAddr>(entry);
        }
    return nullptr;
}

Result<void> load(PFN_vkGetInstanceProcAddr given) {
    std::lock_guard lock(loader_mutex);
    if (loader_ready)
        return {};
    const PFN_vkGetInstanceProcAddr entry = given ? given : find_loader();
    if (!entry)
        return fail("no Vulkan loader and no driver library found (looked for libvulkan.so.1 and drivers)");
    volkInitializeCustom(entry);
    loader_ready = true;
    return {};
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT types,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
    const char* id = data->pMessageIdName ? data->pMessageIdName : "";
    if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) {
        static_cast<std::atomic<u64>*>(user)->fetch_add(1, std::memory_order_relaxed);
        log::error("validation: {}: {}", id, data->pMessage);
    } else if (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) {
        // Loaders report drivers that they cannot open here, which is no fault of ours.
        log::warning("vulkan: {}: {}", id, data->pMessage);
    } else {
        log::debug("vulkan: {}: {}", id, data->pMessage);
    }
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(std::atomic<u64>* counter) {
    VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    info.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    info.pfnUserCallback = on_message;
    info.pUserData = counter;
    return info;
}

Result<VkInstance> create_instance(const DeviceOptions& options, std::atomic<u64>* counter, bool& debug_utils) {
    if (auto loaded = load(options.loader); !loaded)
        return tl::unexpected(loaded.error());
    u32 count = 0;
    vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> available(count);
    vkEnumerateInstanceExtensionProperties(nullptr, &count, available.data());
    const auto has = [&](std::string_view n) {
        return std::any_of(available.begin(), available.end(), [&](const auto& e) { return n == e.extensionName; });
    };
    std::vector<const char*> extensions, layers;
    for (const auto& e : options.instance_extensions) {
        if (!has(e))
            return fail("the Vulkan loader lacks the instance extension {}", e);
        extensions.push_back(e.c_str());
    }
    const auto add_if_present = [&](const char* n) {
        const bool already =
            std::any_of(extensions.begin(), extensions.end(), [&](const char* e) { return std::string_view(e) == n; });
        if (has(n) && !already)
            extensions.push_back(n);
        return has(n);
    };
    debug_utils = add_if_present("VK_EXT_debug_utils");
    const bool portability = add_if_present("VK_KHR_portability_enumeration");
    if (options.validation) {
        u32 layer_count = 0;
        vkEnumerateInstanceLayerProperties(&layer_count, nullptr);
        std::vector<VkLayerProperties> list(layer_count);
        vkEnumerateInstanceLayerProperties(&layer_count, list.data());
        constexpr const char* khronos = "VK_LAYER_KHRONOS_validation";
        if (std::any_of(list.begin(), list.end(),
                        [&](const auto& l) { return std::string_view(l.layerName) == khronos; }))
            layers.push_back(khronos);
        else
            log::warning("validation asked for, but {} is not installed", khronos);
    }
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.pApplicationName = "heaviside";
    application.pEngineName = "heaviside";
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    info.enabledExtensionCount = static_cast<u32>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    info.enabledLayerCount = static_cast<u32>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    if (portability)
        info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    const auto messenger = messenger_info(counter);
    if (debug_utils)
        info.pNext = &messenger;
    VkInstance instance = VK_NULL_HANDLE;
    if (const VkResult r = vkCreateInstance(&info, nullptr, &instance); r != VK_SUCCESS)
        return fail("vkCreateInstance: {}", name(r));
    std::lock_guard lock(loader_mutex);
    volkLoadInstanceOnly(instance);
    return instance;
}

std::vector<VkPhysicalDevice> physical_devices(VkInstance instance) {
    u32 count = 0;
    vkEnumeratePhysicalDevices(instance, &count, nullptr);
    std::vector<VkPhysicalDevice> list(count);
    vkEnumeratePhysicalDevices(instance, &count, list.data());
    list.resize(count);
    return list;
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::search(text.begin(), text.end(), part.begin(), part.end(),
                       [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

int rank(VkPhysicalDeviceType type) {
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 3;
    default:
        return 4;
    }
}

// Candidates in the order in which they are tried.
Result<std::vector<VkPhysicalDevice>> choose(const std::vector<VkPhysicalDevice>& all, const std::string& wanted) {
    if (all.empty())
        return fail("no Vulkan device: install a driver (Mesa's lavapipe runs on any CPU)");
    unsigned index = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
    if (!wanted.empty() && error == std::errc{} && end == wanted.data() + wanted.size()) {
        if (index >= all.size())
            return fail("HEAVISIDE_DEVICE: no device {} of {}", index, all.size());
        return std::vector{all[index]};
    }
    std::vector<VkPhysicalDevice> chosen;
    std::vector<std::pair<int, VkPhysicalDevice>> ranked;
    std::string names;
    for (VkPhysicalDevice d : all) {
        VkPhysicalDeviceProperties p;
        vkGetPhysicalDeviceProperties(d, &p);
        names += names.empty() ? p.deviceName : std::string(", ") + p.deviceName;
        if (contains_ignoring_case(p.deviceName, wanted))
            ranked.emplace_back(rank(p.deviceType), d);
    }
    if (ranked.empty())
        return fail("HEAVISIDE_DEVICE: no device is called '{}'; there are {}", wanted, names);
    std::stable_sort(ranked.begin(), ranked.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (auto& [order, d] : ranked)
        chosen.push_back(d);
    return chosen;
}

std::optional<u32> graphics_family(VkPhysicalDevice device) {
    u32 count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    for (u32 i = 0; i < count; ++i)
        if ((families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            return i;
    return std::nullopt;
}

Result<void> create_logical(Device& d, Query& query) {
    const auto family = graphics_family(d.physical);
    if (!family)
        return fail("{}: no queue for graphics and compute", query.capabilities.device_name);
    d.queue_family = *family;
    const f32 priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = d.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &enabled_features(*query.request)};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<u32>(query.extensions.size());
    info.ppEnabledExtensionNames = query.extensions.data();
    if (const VkResult r = vkCreateDevice(d.physical, &info, nullptr, &d.handle); r != VK_SUCCESS)
        return fail("{}: vkCreateDevice: {}", query.capabilities.device_name, name(r));
    volkLoadDeviceTable(&d.vk, d.handle);
    d.vk.vkGetDeviceQueue(d.handle, d.queue_family, 0, &d.queue);
    vkGetPhysicalDeviceMemoryProperties(d.physical, &d.memory);
    d.capabilities = std::move(query.capabilities);

    VmaVulkanFunctions functions{};
    functions.vkGetInstanceProcAddr = vkGetInstanceProcAddr;
    functions.vkGetDeviceProcAddr = vkGetDeviceProcAddr;
    VmaAllocatorCreateInfo allocator{};
    allocator.instance = d.instance;
    allocator.physicalDevice = d.physical;
    allocator.device = d.handle;
    allocator.vulkanApiVersion = VK_API_VERSION_1_3;
    allocator.pVulkanFunctions = &functions;
    allocator.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT;
    if (d.has(Feature::MemoryBudget))
        allocator.flags |= VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
    if (const VkResult r = vmaCreateAllocator(&allocator, &d.allocator); r != VK_SUCCESS)
        return fail("vmaCreateAllocator: {}", name(r));
    return {};
}

std::string environment(const char* key) {
    const char* value = std::getenv(key);
    return value ? value : "";
}

} // namespace

DeviceOptions DeviceOptions::from_environment() {
    DeviceOptions o;
    o.device = environment("HEAVISIDE_DEVICE");
    o.disable = environment("HEAVISIDE_DISABLE");
    o.validation = environment("HEAVISIDE_VALIDATION") == "1";
    o.cache_directory = environment("HEAVISIDE_CACHE");
    return o;
}

Result<std::unique_ptr<Device>> Device::create(const DeviceOptions& options) {
    const auto disabled = parse_features(options.disable);
    if (!disabled)
        return tl::unexpected(disabled.error());
    auto d = std::make_unique<Device>();
    d->options = options;
    bool debug_utils = false;
    auto instance = create_instance(options, &d->validation_messages, debug_utils);
    if (!instance)
        return tl::unexpected(instance.error());
    d->instance = *instance;
    if (debug_utils && vkCreateDebugUtilsMessengerEXT) {
        const auto info = messenger_info(&d->validation_messages);
        vkCreateDebugUtilsMessengerEXT(d->instance, &info, nullptr, &d->messenger);
    }
    auto candidates = choose(physical_devices(d->instance), options.device);
    if (!candidates)
        return tl::unexpected(candidates.error());
    const bool presents = std::any_of(options.instance_extensions.begin(), options.instance_extensions.end(),
                                      [](const auto& e) { return e == "VK_KHR_surface"; });
    Error last;
    for (VkPhysicalDevice physical : *candidates) {
        d->physical = physical;
        auto query = query_device(physical, *disabled, presents);
        auto made = query ? create_logical(*d, *query) : Result<void>(tl::unexpected(query.error()));
        if (made)
            return d;
        last = made.error();
        log::warning("device passed over: {}", last.message);
        if (d->handle)
            break; // its allocator failed: nothing that another device would do better
    }
    return tl::unexpected(last);
}

Device::~Device() {
    if (handle) {
        vk.vkDeviceWaitIdle(handle);
        for (unsigned i = 0; i < live.size(); ++i)
            if (const i64 n = live[i].load(); n != 0)
                log::error("{} {} object{} left when the device was destroyed", n, name(static_cast<Object>(i)),
                           n == 1 ? "" : "s");
        if (allocator)
            vmaDestroyAllocator(allocator);
        vk.vkDestroyDevice(handle, nullptr);
    }
    if (messenger)
        vkDestroyDebugUtilsMessengerEXT(instance, messenger, nullptr);
    if (instance)
        vkDestroyInstance(instance, nullptr);
}

Result<std::vector<Capabilities>> list_devices(const DeviceOptions& options) {
    const auto disabled = parse_features(options.disable);
    if (!disabled)
        return tl::unexpected(disabled.error());
    std::atomic<u64> messages = 0;
    bool debug_utils = false;
    auto instance = create_instance(options, &messages, debug_utils);
    if (!instance)
        return tl::unexpected(instance.error());
    const bool presents = false;
    std::vector<Capabilities> out;
    for (VkPhysicalDevice physical : physical_devices(*instance)) {
        if (auto query = query_device(physical, *disabled, presents)) {
            out.push_back(std::move(query->capabilities));
        } else {
            log::info("{}", query.error().message);
        }
    }
    vkDestroyInstance(*instance, nullptr);
    return out;
}

const char* name(Object kind) {
    static constexpr const char* names[] = {
        "buffer",       "image",      "view",           "buffer view", "sampler",         "memory",
        "shader",       "pipeline",   "layout",         "set layout",  "descriptor pool", "semaphore",
        "command pool", "query pool", "pipeline cache", "fence",       "swapchain",       "surface"};
    static_assert(std::size(names) == static_cast<unsigned>(Object::Count));
    return names[static_cast<unsigned>(kind)];
}

const char* name(VkResult result) {
    static constexpr std::pair<VkResult, const char*> names[] = {
        {VK_SUCCESS, "VK_SUCCESS"},
        {VK_NOT_READY, "VK_NOT_READY"},
        {VK_TIMEOUT, "VK_TIMEOUT"},
        {VK_INCOMPLETE, "VK_INCOMPLETE"},
        {VK_SUBOPTIMAL_KHR, "VK_SUBOPTIMAL_KHR"},
        {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
        {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
        {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
        {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
        {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
        {VK_ERROR_FORMAT_NOT_SUPPORTED, "VK_ERROR_FORMAT_NOT_SUPPORTED"},
        {VK_ERROR_FRAGMENTED_POOL, "VK_ERROR_FRAGMENTED_POOL"},
        {VK_ERROR_OUT_OF_POOL_MEMORY, "VK_ERROR_OUT_OF_POOL_MEMORY"},
        {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
        {VK_ERROR_SURFACE_LOST_KHR, "VK_ERROR_SURFACE_LOST_KHR"},
        {VK_ERROR_OUT_OF_DATE_KHR, "VK_ERROR_OUT_OF_DATE_KHR"},
        {VK_ERROR_NATIVE_WINDOW_IN_USE_KHR, "VK_ERROR_NATIVE_WINDOW_IN_USE_KHR"},
        {VK_INCOMPATIBLE_SHADER_BINARY_EXT, "VK_INCOMPATIBLE_SHADER_BINARY_EXT"},
    };
    for (const auto& [value, text] : names)
        if (value == result)
            return text;
    return "an unnamed VkResult";
}

void set_name(const Device& device, VkObjectType type, u64 handle, std::string_view text) {
    if (!device.messenger || text.empty() || !handle || !vkSetDebugUtilsObjectNameEXT)
        return;
    const std::string terminated(text);
    VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = terminated.c_str();
    vkSetDebugUtilsObjectNameEXT(device.handle, &info);
}

#define HEAVISIDE_DESTROY(Handle, function, kind)                                                                      \
    void destroy(const Device& device, Handle handle) {                                                                \
        device.vk.function(device.handle, handle, nullptr);                                                            \
        device.count(Object::kind, -1);                                                                                \
    }
HEAVISIDE_DESTROY(VkImageView, vkDestroyImageView, View)
HEAVISIDE_DESTROY(VkBufferView, vkDestroyBufferView, BufferView)
HEAVISIDE_DESTROY(VkSampler, vkDestroySampler, Sampler)
HEAVISIDE_DESTROY(VkShaderEXT, vkDestroyShaderEXT, Shader)
HEAVISIDE_DESTROY(VkShaderModule, vkDestroyShaderModule, Shader)
HEAVISIDE_DESTROY(VkPipeline, vkDestroyPipeline, Pipeline)
HEAVISIDE_DESTROY(VkPipelineLayout, vkDestroyPipelineLayout, Layout)
HEAVISIDE_DESTROY(VkPipelineCache, vkDestroyPipelineCache, PipelineCache)
HEAVISIDE_DESTROY(VkDescriptorSetLayout, vkDestroyDescriptorSetLayout, SetLayout)
HEAVISIDE_DESTROY(VkDescriptorPool, vkDestroyDescriptorPool, DescriptorPool)
HEAVISIDE_DESTROY(VkSemaphore, vkDestroySemaphore, Semaphore)
HEAVISIDE_DESTROY(VkCommandPool, vkDestroyCommandPool, CommandPool)
HEAVISIDE_DESTROY(VkQueryPool, vkDestroyQueryPool, QueryPool)
HEAVISIDE_DESTROY(VkFence, vkDestroyFence, Fence)
#undef HEAVISIDE_DESTROY

} // namespace heaviside::gpu
