#include "base/log.h"
#include "capture/capture.h"
#include "capture/format.h"
#include "stream/forwarding_sink.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

namespace heaviside::capture {
namespace {

using namespace stream;

constexpr u64 page = 4096;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class Recorder final : public ForwardingSink {
public:
    Recorder(File file, std::string path, Sink& next)
        : ForwardingSink(next), file_(std::move(file)), path_(std::move(path)) {}

    void queue_created(QueueId queue, const QueueDescription& description) override {
        write(Chunk::QueueCreated, Payload().put(queue).put(description));
        next_.queue_created(queue, description);
    }
    void queue_destroyed(QueueId queue) override {
        write(Chunk::QueueDestroyed, Payload().put(queue));
        next_.queue_destroyed(queue);
    }
    void submit(QueueId queue, const DeviceModes& modes, Buffer stream) override {
        {
            std::lock_guard lock(mutex_);
            write_changed_memory();
            write_locked(Chunk::Submit, Payload().put(queue).put(modes).put_bytes(stream.bytes()));
        }
        next_.submit(queue, modes, std::move(stream));
    }
    void flush(QueueId queue) override {
        write(Chunk::Flush, Payload().put(queue));
        next_.flush(queue);
    }
    void finish(QueueId queue) override {
        write(Chunk::Finish, Payload().put(queue));
        next_.finish(queue);
    }
    void sync_destroyed(SyncId sync) override {
        write(Chunk::SyncDestroyed, Payload().put(sync));
        next_.sync_destroyed(sync);
    }
    void event_signalled(u64 address) override {
        {
            std::lock_guard lock(mutex_);
            write_changed_memory(); // the event's value
            write_locked(Chunk::EventSignalled, Payload().put(address));
        }
        next_.event_signalled(address);
    }
    void window_created(WindowId window, const WindowDescription& description) override {
        WindowDescription headless = description;
        headless.native_window = nullptr; // means nothing in another process
        write(Chunk::WindowCreated, Payload().put(window).put(headless));
        next_.window_created(window, description);
    }
    void window_destroyed(WindowId window) override {
        write(Chunk::WindowDestroyed, Payload().put(window));
        next_.window_destroyed(window);
    }
    bool acquire(WindowId window, u32 index, SyncId sync, u32 value) override {
        write(Chunk::Acquire, Payload().put(window).put(index).put(sync).put(value));
        return next_.acquire(window, index, sync, value);
    }
    void present(QueueId queue, const Present& present) override {
        write(Chunk::Present, Payload().put(queue).put(present));
        next_.present(queue, present);
    }
    void memory_pool_created(const MemoryPoolDescription& pool) override {
        {
            std::lock_guard lock(mutex_);
            pools_[pool.address] = {pool, std::vector<Hash128>(pool.host ? (pool.size + page - 1) / page : 0)};
            write_locked(Chunk::MemoryPoolCreated, Payload().put(pool));
        }
        next_.memory_pool_created(pool);
    }
    void memory_pool_destroyed(u64 address) override {
        {
            std::lock_guard lock(mutex_);
            pools_.erase(address);
            write_locked(Chunk::MemoryPoolDestroyed, Payload().put(address));
        }
        next_.memory_pool_destroyed(address);
    }
    void memory_mapped(std::span<const MemoryMapping> mappings) override {
        write(Chunk::MemoryMapped, Payload().put_bytes(std::as_bytes(mappings)));
        next_.memory_mapped(mappings);
    }
    void program_created(const ProgramDescription& program) override {
        Payload payload;
        payload.put(program.id).put(static_cast<u32>(program.stages.size()));
        for (const ProgramStage& stage : program.stages)
            payload.put(stage.stage).put_bytes(stage.control).put(stage.code_address).put_bytes(stage.code);
        write(Chunk::ProgramCreated, payload);
        next_.program_created(program);
    }
    void program_destroyed(ProgramId program) override {
        write(Chunk::ProgramDestroyed, Payload().put(program));
        next_.program_destroyed(program);
    }
    void texture_pool_created(PoolId pool, u64 descriptors, u32 capacity) override {
        write(Chunk::TexturePoolCreated, Payload().put(pool).put(descriptors).put(capacity));
        next_.texture_pool_created(pool, descriptors, capacity);
    }
    void texture_pool_destroyed(PoolId pool) override {
        write(Chunk::TexturePoolDestroyed, Payload().put(pool));
        next_.texture_pool_destroyed(pool);
    }
    void texture_registered(PoolId pool, u32 index, const ImageDescription& image, bool storage) override {
        write(Chunk::TextureRegistered, Payload().put(pool).put(index).put(image).put(storage));
        next_.texture_registered(pool, index, image, storage);
    }
    void sampler_pool_created(PoolId pool, u64 descriptors, u32 capacity) override {
        write(Chunk::SamplerPoolCreated, Payload().put(pool).put(descriptors).put(capacity));
        next_.sampler_pool_created(pool, descriptors, capacity);
    }
    void sampler_pool_destroyed(PoolId pool) override {
        write(Chunk::SamplerPoolDestroyed, Payload().put(pool));
        next_.sampler_pool_destroyed(pool);
    }
    void sampler_registered(PoolId pool, u32 index, const SamplerDescription& sampler) override {
        write(Chunk::SamplerRegistered, Payload().put(pool).put(index).put(sampler));
        next_.sampler_registered(pool, index, sampler);
    }

private:
    struct Pool {
        MemoryPoolDescription description;
        std::vector<Hash128> pages; // as written last; pages that were never written hash to nothing
    };

    void write(Chunk kind, const Payload& payload) {
        std::lock_guard lock(mutex_);
        write_locked(kind, payload);
    }

    void write_locked(Chunk kind, const Payload& payload) {
        if (!file_)
            return;
        const Bytes bytes = payload.bytes();
        const ChunkHeader header{kind, checksum(bytes), bytes.size()};
        if (std::fwrite(&header, sizeof(header), 1, file_.get()) == 1 &&
            std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size())
            return;
        log::error("capture {}: {}; capturing stops", path_, std::strerror(errno));
        file_.reset();
    }

    // Runs of changed pages of every pool, one chunk a run.
    void write_changed_memory() {
        for (auto& entry : pools_) {
            const u64 address = entry.first;
            Pool& pool = entry.second;
            const Bytes bytes{static_cast<const std::byte*>(pool.description.host),
                              pool.pages.empty() ? 0 : pool.description.size};
            u64 run = 0, run_size = 0;
            const auto end_run = [&] {
                if (run_size != 0)
                    write_locked(Chunk::Memory, Payload().put(address + run).put_bytes(bytes.subspan(run, run_size)));
                run_size = 0;
            };
            for (u64 i = 0; i < pool.pages.size(); ++i) {
                const u64 offset = i * page, size = std::min(page, bytes.size() - offset);
                const Hash128 hash = hash_bytes(bytes.subspan(offset, size));
                if (hash == pool.pages[i]) {
                    end_run();
                    continue;
                }
                pool.pages[i] = hash;
                if (run_size == 0)
                    run = offset;
                run_size += size;
            }
            end_run();
        }
    }

    std::mutex mutex_; // the file and the pools
    File file_;
    std::string path_;
    std::map<u64, Pool> pools_;
};

} // namespace

Result<std::unique_ptr<Sink>> record_to(const std::filesystem::path& path, Sink& next) {
    File file(std::fopen(path.c_str(), "wb"));
    if (!file || std::fwrite(magic.data(), 1, magic.size(), file.get()) != magic.size())
        return fail("capture {}: {}", path.string(), std::strerror(errno));
    return std::make_unique<Recorder>(std::move(file), path.string(), next);
}

} // namespace heaviside::capture
