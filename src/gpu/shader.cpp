#include "gpu/shader.h"

#include "base/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace heaviside::gpu {

class Shader {
public:
    enum class State : u8 { Queued, Building, Ready, Failed };

    shader::Stage stage{};
    Hash128 hash;
    std::string name;
    std::vector<u32> spirv; // until it is built
    std::atomic<State> state = State::Queued;
    Owned<VkShaderEXT> object;
    Owned<VkShaderModule> module;
    std::string error;
};

namespace {

// What a cached file starts with; the rest of the file is checked against it, since drivers trust what they are given.
struct FileHeader {
    u32 magic = 0x30535648; // "HVS0"
    u32 version = 1;
    u64 size = 0;
    Hash128 content;
};

std::vector<std::byte> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        return {};
    const auto length = static_cast<std::streamoff>(file.tellg());
    FileHeader header;
    if (length < static_cast<std::streamoff>(sizeof header))
        return {};
    file.seekg(0);
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    const FileHeader expected;
    if (header.magic != expected.magic || header.version != expected.version ||
        header.size != static_cast<u64>(length) - sizeof header)
        return {};
    std::vector<std::byte> bytes(header.size);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file || hash_bytes(bytes) != header.content)
        return {};
    return bytes;
}

// Written beside its place and moved there, so that no reader sees a part of it.
void write_file(const std::filesystem::path& path, Bytes bytes) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    static std::atomic<u32> serial = 0;
    std::filesystem::path part = path;
    part +=
        fmt::format(".{}.{:x}.{}.part", getpid(), std::hash<std::thread::id>{}(std::this_thread::get_id()), serial++);
    {
        std::ofstream file(part, std::ios::binary);
        FileHeader header;
        header.size = bytes.size();
        header.content = hash_bytes(bytes);
        file.write(reinterpret_cast<const char*>(&header), sizeof header);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!file) {
            log::error_once("shader cache: cannot write {}", part.string());
            file.close();
            std::filesystem::remove(part, ignored);
            return;
        }
    }
    std::filesystem::rename(part, path, ignored);
    if (ignored)
        std::filesystem::remove(part, ignored);
}

VkShaderStageFlags next_stages(const Device& device, shader::Stage stage) {
    VkShaderStageFlags next = 0;
    const auto add = [&](shader::Stage s) {
        if (has_stage(device, s))
            next |= static_cast<VkShaderStageFlags>(stage_bit(s));
    };
    using shader::Stage;
    switch (stage) {
    case Stage::Vertex:
        add(Stage::TessControl);
        add(Stage::Geometry);
        add(Stage::Fragment);
        break;
    case Stage::TessControl:
        add(Stage::TessEval);
        break;
    case Stage::TessEval:
        add(Stage::Geometry);
        add(Stage::Fragment);
        break;
    case Stage::Geometry:
        add(Stage::Fragment);
        break;
    case Stage::Fragment:
    case Stage::Compute:
        break;
    }
    return next;
}

// Everything besides SPIR-V that a binary depends on.
Hash128 environment_of(const Device& device) {
    const auto& c = device.capabilities;
    const std::string text =
        fmt::format("{} {} {} {} {} {} {} {}",
                    std::string_view(reinterpret_cast<const char*>(c.shader_binary_uuid.data()), VK_UUID_SIZE),
                    c.shader_binary_version, c.limits.maxPushConstantsSize, c.heap_textures, c.heap_samplers,
                    (c.supported & ~c.disabled).to_string(), c.device_name, c.driver_info);
    return hash_bytes(std::as_bytes(std::span(text)));
}

std::filesystem::path binary_path(const Device& device, const Hash128& shader) {
    const std::array key{shader, environment_of(device)};
    const std::string name = to_string(hash_bytes(std::as_bytes(std::span(key))));
    return device.options.cache_directory / "shaders" / name.substr(0, 2) / (name + ".bin");
}

std::filesystem::path pipeline_cache_path(const Device& device) {
    return device.options.cache_directory / ("pipelines-" + to_string(environment_of(device)) + ".bin");
}

} // namespace

ShaderLibrary::ShaderLibrary(const Device& device, const BindingLayout& layout) : device_(&device), layout_(&layout) {}

Result<std::unique_ptr<ShaderLibrary>> ShaderLibrary::create(const Device& device, const BindingLayout& layout,
                                                             unsigned threads) {
    std::unique_ptr<ShaderLibrary> library(new ShaderLibrary(device, layout));
    if (!device.has(Feature::ShaderObject)) {
        std::vector<std::byte> saved;
        if (!device.options.cache_directory.empty())
            saved = read_file(pipeline_cache_path(device));
        VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
        info.initialDataSize = saved.size();
        info.pInitialData = saved.data();
        VkPipelineCache handle = VK_NULL_HANDLE;
        if (const VkResult r = device.vk.vkCreatePipelineCache(device.handle, &info, nullptr, &handle); r != VK_SUCCESS)
            return fail("pipeline cache: {}", gpu::name(r));
        library->pipeline_cache_ = adopt(device, Object::PipelineCache, handle);
        library->saved_ = hash_bytes(saved);
    }
    if (threads == 0)
        threads = std::max(1u, std::thread::hardware_concurrency() - 1);
    for (unsigned i = 0; i < threads; ++i)
        library->threads_.emplace_back([raw = library.get()] { raw->work(); });
    return library;
}

ShaderLibrary::~ShaderLibrary() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    work_ready_.notify_all();
    for (auto& t : threads_)
        t.join();
    save();
}

void ShaderLibrary::save() {
    if (!pipeline_cache_ || device_->options.cache_directory.empty())
        return;
    std::size_t size = 0;
    if (device_->vk.vkGetPipelineCacheData(device_->handle, pipeline_cache_.get(), &size, nullptr) != VK_SUCCESS)
        return;
    std::vector<std::byte> bytes(size);
    if (device_->vk.vkGetPipelineCacheData(device_->handle, pipeline_cache_.get(), &size, bytes.data()) != VK_SUCCESS)
        return;
    const Bytes data = Bytes(bytes).first(size);
    const Hash128 content = hash_bytes(data);
    if (content == saved_)
        return;
    saved_ = content;
    write_file(pipeline_cache_path(*device_), data);
}

Shader* ShaderLibrary::request(shader::Stage stage, std::span<const u32> spirv, std::string_view name) {
    const std::array key{hash_bytes(std::as_bytes(spirv)), Hash128{static_cast<u64>(stage), 0}};
    const Hash128 hash = hash_bytes(std::as_bytes(std::span(key)));
    std::unique_lock lock(mutex_);
    ++statistics_.requested;
    auto& slot = shaders_[hash];
    if (!slot) {
        slot = std::make_unique<Shader>();
        slot->stage = stage;
        slot->hash = hash;
        slot->name = name.empty() ? to_string(hash) : std::string(name);
        slot->spirv.assign(spirv.begin(), spirv.end());
        queue_.push_back(slot.get());
        work_ready_.notify_one();
    }
    return slot.get();
}

void ShaderLibrary::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        work_ready_.wait(lock, [&] { return stop_ || !queue_.empty(); });
        if (stop_)
            return;
        Shader* shader = queue_.front();
        queue_.pop_front();
        shader->state = Shader::State::Building;
        lock.unlock();
        make(*shader);
        lock.lock();
    }
}

Result<void> ShaderLibrary::wait(Shader& shader) {
    if (shader.state.load(std::memory_order_acquire) != Shader::State::Ready) {
        std::unique_lock lock(mutex_);
        if (shader.state == Shader::State::Queued) {
            std::erase(queue_, &shader);
            shader.state = Shader::State::Building;
            ++statistics_.waits;
            lock.unlock();
            make(shader);
        } else if (shader.state == Shader::State::Building) {
            ++statistics_.waits;
            work_done_.wait(lock, [&] { return shader.state != Shader::State::Building; });
        }
    }
    if (shader.state.load(std::memory_order_acquire) == Shader::State::Failed)
        return fail("{} shader {}: {}", program::name(shader.stage), shader.name, shader.error);
    return {};
}

void ShaderLibrary::wait_all() {
    std::unique_lock lock(mutex_);
    work_done_.wait(lock, [&] {
        return std::all_of(shaders_.begin(), shaders_.end(), [](const auto& s) {
            const auto state = s.second->state.load();
            return state == Shader::State::Ready || state == Shader::State::Failed;
        });
    });
}

void ShaderLibrary::make(Shader& shader) {
    // Of the first shaders that two threads make at once, the validation layer sometimes says that Vulkan has none of
    // their capabilities, not even Shader: its table is not filled yet.
    std::unique_lock one_at_a_time(validated_, std::defer_lock);
    if (device_->options.validation)
        one_at_a_time.lock();
    const auto start = std::chrono::steady_clock::now();
    const Result<void> done = make_object(shader);
    const auto spent = std::chrono::steady_clock::now() - start;
    std::lock_guard lock(mutex_);
    statistics_.create_nanoseconds +=
        static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
    shader.spirv = {};
    if (done) {
        ++statistics_.created;
    } else {
        ++statistics_.failed;
        shader.error = done.error().message;
    }
    shader.state.store(done ? Shader::State::Ready : Shader::State::Failed, std::memory_order_release);
    work_done_.notify_all();
}

Result<void> ShaderLibrary::make_object(Shader& shader) {
    const Device& d = *device_;
    if (!has_stage(d, shader.stage))
        return fail("the device has no {} stage", program::name(shader.stage));
    if (!d.has(Feature::ShaderObject)) {
        VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
        info.codeSize = shader.spirv.size() * sizeof(u32);
        info.pCode = shader.spirv.data();
        VkShaderModule handle = VK_NULL_HANDLE;
        if (const VkResult r = d.vk.vkCreateShaderModule(d.handle, &info, nullptr, &handle); r != VK_SUCCESS)
            return fail("vkCreateShaderModule: {}", gpu::name(r));
        shader.module = adopt(d, Object::Shader, handle);
        return {};
    }
    const bool compute = shader.stage == shader::Stage::Compute;
    const std::array sets{layout_->heap.get(), compute ? layout_->compute_banks.get() : layout_->graphics_banks.get()};
    VkShaderCreateInfoEXT info{VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT};
    info.stage = stage_bit(shader.stage);
    info.nextStage = next_stages(d, shader.stage);
    info.pName = "main";
    info.setLayoutCount = static_cast<u32>(sets.size());
    info.pSetLayouts = sets.data();
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &root_constants;

    const bool on_disk = !d.options.cache_directory.empty();
    const auto path = on_disk ? binary_path(d, shader.hash) : std::filesystem::path{};
    VkShaderEXT handle = VK_NULL_HANDLE;
    if (on_disk) {
        // operator new gives the 16-byte alignment that binaries need.
        const std::vector<std::byte> binary = read_file(path);
        if (!binary.empty()) {
            info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
            info.codeSize = binary.size();
            info.pCode = binary.data();
            if (d.vk.vkCreateShadersEXT(d.handle, 1, &info, nullptr, &handle) == VK_SUCCESS) {
                shader.object = adopt(d, Object::Shader, handle);
                std::lock_guard lock(mutex_);
                ++statistics_.from_disk;
                return {};
            }
        }
    }
    info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT;
    info.codeSize = shader.spirv.size() * sizeof(u32);
    info.pCode = shader.spirv.data();
    if (const VkResult r = d.vk.vkCreateShadersEXT(d.handle, 1, &info, nullptr, &handle); r != VK_SUCCESS)
        return fail("vkCreateShadersEXT: {}", gpu::name(r));
    shader.object = adopt(d, Object::Shader, handle);
    set_name(d, VK_OBJECT_TYPE_SHADER_EXT, reinterpret_cast<u64>(handle), shader.name);
    if (on_disk) {
        std::size_t size = 0;
        d.vk.vkGetShaderBinaryDataEXT(d.handle, handle, &size, nullptr);
        std::vector<std::byte> binary(size);
        if (size && d.vk.vkGetShaderBinaryDataEXT(d.handle, handle, &size, binary.data()) == VK_SUCCESS)
            write_file(path, Bytes(binary).first(size));
    }
    return {};
}

bool ShaderLibrary::ready(const Shader& shader) const {
    return shader.state.load(std::memory_order_acquire) == Shader::State::Ready;
}

ShaderStatistics ShaderLibrary::statistics() const {
    std::lock_guard lock(mutex_);
    ShaderStatistics s = statistics_;
    s.pipelines = pipelines_.size();
    return s;
}

VkShaderEXT ShaderLibrary::object(const Shader& shader) const {
    return ready(shader) ? shader.object.get() : VkShaderEXT{VK_NULL_HANDLE};
}
VkShaderModule ShaderLibrary::shader_module(const Shader& shader) const {
    return ready(shader) ? shader.module.get() : VkShaderModule{VK_NULL_HANDLE};
}
shader::Stage ShaderLibrary::stage(const Shader& shader) {
    return shader.stage;
}
Hash128 ShaderLibrary::hash(const Shader& shader) {
    return shader.hash;
}

Result<VkPipeline> ShaderLibrary::pipeline(const Hash128& key,
                                           const std::function<Result<VkPipeline>(VkPipelineCache)>& make_pipeline) {
    {
        std::lock_guard lock(mutex_);
        if (const auto found = pipelines_.find(key); found != pipelines_.end())
            return found->second.get();
        // What failed once would fail at every draw.
        if (const auto failed = failed_pipelines_.find(key); failed != failed_pipelines_.end())
            return tl::unexpected(failed->second);
    }
    auto made = make_pipeline(pipeline_cache_.get());
    if (!made) {
        std::lock_guard lock(mutex_);
        failed_pipelines_.emplace(key, made.error());
        return tl::unexpected(made.error());
    }
    auto owned = adopt(*device_, Object::Pipeline, *made);
    std::lock_guard lock(mutex_);
    return pipelines_.try_emplace(key, std::move(owned)).first->second.get();
}

} // namespace heaviside::gpu
