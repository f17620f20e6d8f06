#include "capture/capture.h"
#include "capture/format.h"
#include "stream/walk.h"

#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <sys/mman.h>

namespace heaviside::capture {
namespace {

using namespace stream;

constexpr u64 page = 4096;

// Guest memory at the addresses it had.
class GuestMemory {
public:
    ~GuestMemory() {
        for (const auto& [address, size] : ranges_)
            munmap(reinterpret_cast<void*>(address), size);
    }
    Result<void> map(u64 address, u64 size) {
        const u64 first = address / page * page, last = align_up(address + size, page);
        if (last <= first)
            return fail("{} bytes of guest memory at {:#x}", size, address);
        void* const wanted = reinterpret_cast<void*>(first);
        void* const got = mmap(wanted, last - first, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
        if (got != wanted) {
            const int error = got == MAP_FAILED ? errno : EEXIST;
            if (got != MAP_FAILED)
                munmap(got, last - first);
            return fail("guest memory at {:#x}, {:#x} bytes: {}", first, last - first, std::strerror(error));
        }
        ranges_[first] = last - first;
        return {};
    }
    void unmap(u64 address) {
        if (const auto range = ranges_.find(address / page * page); range != ranges_.end()) {
            munmap(reinterpret_cast<void*>(range->first), range->second);
            ranges_.erase(range);
        }
    }
    Result<void> write(u64 address, Bytes bytes) {
        auto range = ranges_.upper_bound(address);
        if (range == ranges_.begin())
            return fail("memory contents at {:#x} outside every pool", address);
        --range;
        if (address - range->first > range->second || range->second - (address - range->first) < bytes.size())
            return fail("memory contents at {:#x}, {:#x} bytes, leave their pool", address, bytes.size());
        if (!bytes.empty())
            std::memcpy(reinterpret_cast<void*>(address), bytes.data(), bytes.size());
        return {};
    }

private:
    std::map<u64, u64> ranges_;
};

class Player {
public:
    explicit Player(Sink& sink) : sink_(sink) {}

    Result<void> chunk(Chunk kind, Bytes payload) {
        PayloadReader in(payload);
        if (auto dispatched = dispatch(kind, in); !dispatched)
            return dispatched;
        if (!in.ok())
            return fail("arguments are cut short");
        return {};
    }
    // Guest memory goes with the player, so the sink must have let go of it.
    void finish() {
        for (const QueueId queue : queues_)
            sink_.finish(queue);
        for (const u64 pool : memory_pools_)
            sink_.memory_pool_destroyed(pool);
    }

    PlayResult result;

private:
    Result<void> dispatch(Chunk kind, PayloadReader& in) {
        switch (kind) {
        case Chunk::QueueCreated: {
            const auto queue = in.get<QueueId>();
            const auto description = in.get<QueueDescription>();
            queues_.insert(queue);
            sink_.queue_created(queue, description);
            return {};
        }
        case Chunk::QueueDestroyed: {
            const auto queue = in.get<QueueId>();
            queues_.erase(queue);
            sink_.queue_destroyed(queue);
            return {};
        }
        case Chunk::Submit:
            return submit(in);
        case Chunk::Flush:
            sink_.flush(in.get<QueueId>());
            return {};
        case Chunk::Finish:
            sink_.finish(in.get<QueueId>());
            return {};
        case Chunk::SyncDestroyed:
            sink_.sync_destroyed(in.get<SyncId>());
            return {};
        case Chunk::EventSignalled:
            sink_.event_signalled(in.get<u64>());
            return {};
        case Chunk::WindowCreated: {
            const auto window = in.get<WindowId>();
            sink_.window_created(window, in.get<WindowDescription>());
            return {};
        }
        case Chunk::WindowDestroyed:
            sink_.window_destroyed(in.get<WindowId>());
            return {};
        case Chunk::Acquire: {
            const auto window = in.get<WindowId>();
            const auto index = in.get<u32>();
            const auto sync = in.get<SyncId>();
            (void)sink_.acquire(window, index, sync, in.get<u32>());
            return {};
        }
        case Chunk::Present: {
            const auto queue = in.get<QueueId>();
            sink_.present(queue, in.get<Present>());
            ++result.presents;
            return {};
        }
        case Chunk::MemoryPoolCreated:
            return create_memory_pool(in);
        case Chunk::MemoryPoolDestroyed: {
            const auto address = in.get<u64>();
            sink_.memory_pool_destroyed(address);
            memory_pools_.erase(address);
            memory_.unmap(address);
            return {};
        }
        case Chunk::MemoryMapped:
            return map_memory(in);
        case Chunk::ProgramCreated:
            return create_program(in);
        case Chunk::ProgramDestroyed:
            sink_.program_destroyed(in.get<ProgramId>());
            return {};
        case Chunk::TexturePoolCreated: {
            const auto pool = in.get<PoolId>();
            const auto descriptors = in.get<u64>();
            sink_.texture_pool_created(pool, descriptors, in.get<u32>());
            return {};
        }
        case Chunk::TexturePoolDestroyed:
            sink_.texture_pool_destroyed(in.get<PoolId>());
            return {};
        case Chunk::TextureRegistered: {
            const auto pool = in.get<PoolId>();
            const auto index = in.get<u32>();
            const auto image = in.get<ImageDescription>();
            sink_.texture_registered(pool, index, image, in.get<u8>() != 0);
            return {};
        }
        case Chunk::SamplerPoolCreated: {
            const auto pool = in.get<PoolId>();
            const auto descriptors = in.get<u64>();
            sink_.sampler_pool_created(pool, descriptors, in.get<u32>());
            return {};
        }
        case Chunk::SamplerPoolDestroyed:
            sink_.sampler_pool_destroyed(in.get<PoolId>());
            return {};
        case Chunk::SamplerRegistered: {
            const auto pool = in.get<PoolId>();
            const auto index = in.get<u32>();
            sink_.sampler_registered(pool, index, in.get<SamplerDescription>());
            return {};
        }
        case Chunk::Memory: {
            const auto address = in.get<u64>();
            const Bytes bytes = in.get_bytes();
            if (!in.ok())
                return {};
            if (auto written = memory_.write(address, bytes); !written)
                return written;
            sink_.memory_written(address, bytes.size());
            return {};
        }
        case Chunk::Count:
            break;
        }
        return fail("unknown kind {}", static_cast<u32>(kind));
    }

    Result<void> submit(PayloadReader& in) {
        const auto queue = in.get<QueueId>();
        const auto modes = in.get<DeviceModes>();
        const Bytes bytes = in.get_bytes();
        if (bytes.size() % 4 != 0)
            return fail("a stream of {} bytes", bytes.size());
        Buffer stream = buffers_->take();
        stream.append(bytes);
        // A sink is promised valid records; a file promises nothing.
        if (auto valid = for_each_record(stream.bytes(), [](const Record&) {}); !valid)
            return valid;
        sink_.submit(queue, modes, std::move(stream));
        ++result.submissions;
        return {};
    }

    Result<void> create_memory_pool(PayloadReader& in) {
        auto pool = in.get<MemoryPoolDescription>();
        if (!in.ok())
            return {};
        if (pool.host) {
            if (auto mapped = memory_.map(pool.address, pool.size); !mapped)
                return mapped;
            pool.host = reinterpret_cast<void*>(pool.address);
        }
        memory_pools_.insert(pool.address);
        sink_.memory_pool_created(pool);
        return {};
    }

    Result<void> map_memory(PayloadReader& in) {
        const Bytes bytes = in.get_bytes();
        std::vector<MemoryMapping> mappings(bytes.size() / sizeof(MemoryMapping));
        if (!mappings.empty())
            std::memcpy(mappings.data(), bytes.data(), mappings.size() * sizeof(MemoryMapping));
        sink_.memory_mapped(mappings);
        return {};
    }

    Result<void> create_program(PayloadReader& in) {
        const auto id = in.get<ProgramId>();
        const auto count = in.get<u32>();
        if (count > 6)
            return fail("a program of {} stages", count);
        std::vector<ProgramStage> stages;
        for (u32 i = 0; i < count; ++i) {
            ProgramStage stage{};
            stage.stage = in.get<decltype(ProgramStage::stage)>();
            stage.control = in.get_bytes();
            stage.code_address = in.get<u64>();
            stage.code = in.get_bytes();
            stages.push_back(stage);
        }
        if (in.ok())
            sink_.program_created({id, stages});
        return {};
    }

    Sink& sink_;
    GuestMemory memory_;
    std::set<QueueId> queues_;
    std::set<u64> memory_pools_;
    std::shared_ptr<BufferPool> buffers_ = std::make_shared<BufferPool>();
};

} // namespace

Result<PlayResult> play(Bytes file, Sink& sink) {
    const auto start = slice(file, 0, magic.size());
    if (!start || std::memcmp(start->data(), magic.data(), magic.size() - 1) != 0)
        return fail("no capture: the magic is missing");
    if (start->back() != static_cast<std::byte>(magic.back()))
        return fail("a capture of version {}, this build reads version {}", static_cast<unsigned>(start->back()),
                    static_cast<unsigned>(magic.back()));
    Player player(sink);
    u64 offset = magic.size();
    while (offset < file.size()) {
        const auto header = read_at<ChunkHeader>(file, offset);
        const auto payload = header ? slice(file, offset + sizeof(ChunkHeader), header->size) : std::nullopt;
        if (!payload) {
            player.result.truncated = true;
            break;
        }
        Result<void> played;
        if (checksum(*payload) != header->checksum)
            played = fail("checksum is wrong");
        else
            played = player.chunk(header->kind, *payload);
        if (!played) {
            player.finish();
            return fail("capture: chunk at {:#x}: {}", offset, played.error().message);
        }
        offset += sizeof(ChunkHeader) + header->size;
    }
    player.finish();
    return player.result;
}

} // namespace heaviside::capture
