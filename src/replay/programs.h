// Programs of the guest: copied when they are set, translated on worker threads, kept by content.
#pragma once

#include "gpu/memory.h"
#include "gpu/shader.h"
#include "program/program.h"
#include "shader/cache.h"
#include "shader/interface.h"
#include "stream/sink.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace heaviside::replay {

struct Variant {
    shader::VariantKey key;
    shader::Reflection reflection;
    gpu::Shader* shader = nullptr; // null: the translation failed, its error was logged
};

// One stage's code. Immutable but for its variants; shared by all programs with equal content.
struct StageCode {
    std::vector<std::byte> control, code; // what `program` views
    program::Program program;
    gpu::Buffer constants; // program.constants for the GPU; made at first use (replay thread)
    std::mutex mutex;      // held while a variant is translated
    std::vector<std::unique_ptr<Variant>> variants;
};

// The variant that a program has without regard to what it is drawn with.
[[nodiscard]] shader::VariantKey first_key(const program::Program& program);

class Programs {
public:
    Programs(const gpu::Device& device, gpu::ShaderLibrary& library, shader::Options options, unsigned threads);
    ~Programs();

    // Any thread. Copies the blobs and starts the translation of the most likely variant. Errors are logged.
    void create(const stream::ProgramDescription& description);
    void destroy(stream::ProgramId id); // any thread, after the streams that name it

    // Null if the program has no such stage. The pointer lives until destroy(). Any thread.
    [[nodiscard]] StageCode* find(stream::ProgramId id, program::Stage stage);
    // Waits for a translation under way, else translates here. Never null. Any thread.
    [[nodiscard]] Variant& variant(StageCode& code, const shader::VariantKey& key);

    struct Statistics {
        u64 programs = 0, translated = 0, failed = 0, translated_at_draw = 0, nanoseconds = 0;
    };
    [[nodiscard]] Statistics statistics() const;

private:
    using Stages = std::array<std::shared_ptr<StageCode>, program::stage_count>;
    std::shared_ptr<StageCode> take(const stream::ProgramStage& stage);
    Variant& translate_locked(StageCode& code, const shader::VariantKey& key);
    void work();

    const gpu::Device* device_;
    gpu::ShaderLibrary* library_;
    shader::Options options_;
    shader::TranslationCache cache_; // beside the driver's binaries
    mutable std::mutex mutex_;
    std::condition_variable work_ready_;
    std::deque<std::shared_ptr<StageCode>> queue_;
    std::unordered_map<stream::ProgramId, Stages> programs_;
    std::unordered_map<Hash128, std::weak_ptr<StageCode>> by_content_;
    std::vector<std::thread> threads_;
    bool stop_ = false;
    Statistics statistics_;
};

} // namespace heaviside::replay
