// Shader stages on the device: made from SPIR-V on worker threads, cached on disk, bound one by one.
//
// With shader_object a Shader is a VkShaderEXT, unlinked, so that any vertex stage goes with any fragment stage.
// Without it a Shader is a module and the pipelines that draws need are made at the draw, fully dynamic, kept here and
// in a VkPipelineCache. Commands hides the difference.
#pragma once

#include "base/hash.h"
#include "gpu/binding_layout.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <span>
#include <thread>
#include <unordered_map>

namespace heaviside::gpu {

class Shader; // one stage; pointers stay valid as long as the library

// What shaders make of themselves; for diagnostics.
struct ShaderStatistics {
    u64 requested = 0, created = 0, from_disk = 0, failed = 0, pipelines = 0;
    u64 waits = 0;              // times that a caller had to wait for a shader
    u64 create_nanoseconds = 0; // summed over threads
};

// Any thread.
class ShaderLibrary {
public:
    // `threads` 0: one less than the processor has. The cache directory is Device::options.cache_directory.
    [[nodiscard]] static Result<std::unique_ptr<ShaderLibrary>>
    create(const Device& device, const BindingLayout& layout, unsigned threads = 0);
    ~ShaderLibrary(); // no submission may use its shaders any more

    // Starts making a shader (entry point "main") and returns at once; equal SPIR-V and stage give the same Shader. The
    // words are copied. Never fails here: see wait().
    [[nodiscard]] Shader* request(shader::Stage stage, std::span<const u32> spirv, std::string_view name = {});
    [[nodiscard]] bool ready(const Shader& shader) const;
    // Makes it on this thread if no worker has begun. Errors: what the driver said, with the shader's name.
    Result<void> wait(Shader& shader);
    // Blocks until nothing is left to do.
    void wait_all();
    // Writes what only exists in memory (the pipeline cache) to disk, unless it is there already. Called by the
    // destructor.
    void save();

    [[nodiscard]] ShaderStatistics statistics() const;
    [[nodiscard]] const BindingLayout& layout() const { return *layout_; }

    // For Commands. Null until ready.
    [[nodiscard]] VkShaderEXT object(const Shader& shader) const;
    [[nodiscard]] VkShaderModule shader_module(const Shader& shader) const;
    [[nodiscard]] static shader::Stage stage(const Shader& shader);
    [[nodiscard]] static Hash128 hash(const Shader& shader); // of stage and SPIR-V
    // Fallback: the pipeline of this key, made by `make` if it is new; a failure is kept too.
    [[nodiscard]] Result<VkPipeline> pipeline(const Hash128& key,
                                              const std::function<Result<VkPipeline>(VkPipelineCache)>& make);

private:
    ShaderLibrary(const Device& device, const BindingLayout& layout);
    void work();
    void make(Shader& shader);
    Result<void> make_object(Shader& shader);

    const Device* device_;
    const BindingLayout* layout_;
    mutable std::mutex mutex_;
    std::mutex validated_; // one shader at a time under the validation layer
    std::condition_variable work_ready_, work_done_;
    std::deque<Shader*> queue_;
    std::unordered_map<Hash128, std::unique_ptr<Shader>> shaders_;
    std::unordered_map<Hash128, Owned<VkPipeline>> pipelines_;
    std::unordered_map<Hash128, Error> failed_pipelines_;
    Owned<VkPipelineCache> pipeline_cache_;
    Hash128 saved_{}; // of the pipeline cache as it is on disk
    std::vector<std::thread> threads_;
    bool stop_ = false;
    ShaderStatistics statistics_;
};

} // namespace heaviside::gpu
