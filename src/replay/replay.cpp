#include "replay/replay.h"

#include "base/log.h"
#include "replay/executor.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <variant>

namespace heaviside::replay {
namespace {

unsigned default_threads() {
    return std::max(1u, std::thread::hardware_concurrency() / 2);
}

} // namespace

struct Replay::Impl {
    Impl(const gpu::Device& d, guest::Memory& m, Options o) : device(d), memory(m), options(std::move(o)), formats(d) {}

    // --- Fixed after create() ---
    const gpu::Device& device;
    guest::Memory& memory;
    Options options;
    Formats formats;
    std::unique_ptr<gpu::BindingLayout> layout;
    std::unique_ptr<gpu::ShaderLibrary> library;
    std::unique_ptr<gpu::DescriptorHeap> heap;
    std::unique_ptr<gpu::Queue> queue;
    std::unique_ptr<Programs> programs;
    stream::SyncCounters syncs;

    // --- Replay thread only ---
    std::unique_ptr<gpu::GuestMemory> gpu_memory;
    std::unique_ptr<Textures> textures;
    std::unique_ptr<Pools> pools;
    std::unique_ptr<Executor> executor;
    struct StreamItem {
        stream::DeviceModes modes;
        stream::Buffer stream;
        u64 number; // of all queues' submissions, from 1
        u64 offset = 0;
    };
    struct PresentItem {
        stream::Present present;
    };
    struct FinishItem {
        std::shared_ptr<std::promise<void>> done;
    };
    using Item = std::variant<StreamItem, PresentItem, FinishItem>;
    struct Line { // a guest queue: its state and what it has not executed yet
        GuestState state;
        std::deque<Item> items;
    };
    std::unordered_map<stream::QueueId, std::unique_ptr<Line>> lines;
    u64 submissions = 0; // of all queues
    struct EndedProgram {
        stream::ProgramId id;
        u64 submissions; // that may still draw with it
    };
    std::vector<EndedProgram> ended_programs;
    std::unordered_map<stream::WindowId, void*> native_windows;

    // --- The replay thread's calls ---
    struct Task {
        virtual ~Task() = default;
        virtual void run() = 0;
    };
    template <class F>
    struct Call final : Task {
        explicit Call(F&& f) : function(std::move(f)) {}
        void run() override { function(); }
        F function;
    };
    std::mutex task_mutex;
    std::condition_variable task_ready;
    std::deque<std::unique_ptr<Task>> tasks;
    bool stop = false;
    std::thread worker;

    // --- The timeline thread's work ---
    struct Done {
        u64 number;
        std::vector<Completion> completions;
        bool stores;
    };
    std::mutex done_mutex;
    std::condition_variable done_ready;
    std::deque<Done> done;
    bool done_stop = false;
    std::thread watcher;

    // Windows, any thread; frames that are still to be shown may outlive the replay.
    struct Windows {
        std::mutex mutex;
        std::condition_variable changed;
        struct Window {
            std::array<u32, stream::max_window_textures> outstanding{}; // presents that were not processed
        };
        std::unordered_map<stream::WindowId, Window> by_id;

        void processed(stream::WindowId window, u32 texture) {
            {
                const std::lock_guard lock(mutex);
                if (const auto it = by_id.find(window);
                    it != by_id.end() && texture < stream::max_window_textures && it->second.outstanding[texture] != 0)
                    --it->second.outstanding[texture];
            }
            changed.notify_all();
        }
    };
    std::shared_ptr<Windows> windows = std::make_shared<Windows>();

    mutable std::mutex statistics_mutex;
    Statistics counted;

    template <class F>
    void post(F&& f) {
        {
            const std::lock_guard lock(task_mutex);
            tasks.push_back(std::make_unique<Call<std::decay_t<F>>>(std::forward<F>(f)));
        }
        task_ready.notify_one();
    }
    template <class F>
    void call(F&& f) { // and wait
        std::promise<void> finished;
        post([&] {
            f();
            finished.set_value();
        });
        finished.get_future().wait();
    }

    void work();
    void watch();
    void complete(Executor::Submission submission);
    void publish_mirrors();
    bool advance(Line& line);
    void advance_all();
    [[nodiscard]] bool anything_waits() const;
    void end_program(stream::ProgramId id);
    void bury_programs();
    static void unbind(Line& line, stream::ProgramId id);
    void show(const stream::Present& present);
    void wait_for_gpu();
    void remap(std::span<const guest::MappedPart> parts);
    void unmap_pool(const guest::PageTable::Pool& pool);
    void update_statistics();
};

void Replay::Impl::work() {
    for (;;) {
        std::unique_ptr<Task> task;
        {
            std::unique_lock lock(task_mutex);
            const auto ready = [this] { return stop || !tasks.empty(); };
            // A queue that waits for an event may be released by a plain store, which tells nobody.
            if (anything_waits())
                task_ready.wait_for(lock, std::chrono::milliseconds(1), ready);
            else
                task_ready.wait(lock, ready);
            if (tasks.empty() && stop)
                return;
            if (!tasks.empty()) {
                task = std::move(tasks.front());
                tasks.pop_front();
            }
        }
        pools->keep_changes(anything_waits() ? submissions : 0);
        if (task)
            task->run();
        advance_all();
        bury_programs();
    }
}

bool Replay::Impl::anything_waits() const {
    return std::any_of(lines.begin(), lines.end(), [](const auto& l) { return !l.second->items.empty(); });
}

void Replay::Impl::advance_all() {
    for (bool progress = true; progress;) { // one queue's fence may release another
        progress = false;
        for (auto& [id, line] : lines)
            progress |= advance(*line);
    }
}

// What was submitted before and waits still draws with the program, nothing later does (ledger OBJ-134, OBJ-137).
void Replay::Impl::end_program(stream::ProgramId id) {
    for (auto& [queue_id, line] : lines)
        if (line->items.empty())
            unbind(*line, id);
    ended_programs.push_back({id, submissions});
}

void Replay::Impl::bury_programs() {
    if (ended_programs.empty())
        return;
    u64 oldest = ~u64{0};
    for (const auto& [queue_id, line] : lines)
        for (const Item& item : line->items)
            if (const auto* s = std::get_if<StreamItem>(&item)) {
                oldest = std::min(oldest, s->number);
                break;
            }
    const auto first_kept = std::find_if(ended_programs.begin(), ended_programs.end(),
                                         [&](const EndedProgram& p) { return p.submissions >= oldest; });
    if (first_kept == ended_programs.begin())
        return;
    wait_for_gpu(); // their constants may still be read
    for (auto it = ended_programs.begin(); it != first_kept; ++it)
        programs->destroy(it->id);
    ended_programs.erase(ended_programs.begin(), first_kept);
}

void Replay::Impl::unbind(Line& line, stream::ProgramId id) {
    for (StageBindings& stage : line.state.stages)
        if (stage.program == id) {
            stage.program = 0;
            line.state.dirty |= dirty::programs;
        }
}

// Executes what the line can; true if it got anywhere.
bool Replay::Impl::advance(Line& line) {
    bool progress = false;
    while (!line.items.empty()) {
        Item& item = line.items.front();
        if (auto* s = std::get_if<StreamItem>(&item)) {
            const u64 before = s->offset;
            const bool changed = pools->has_changed_since(s->number);
            if (changed && executor->is_held(s->stream.bytes(), s->offset))
                return progress;
            if (s->offset == 0)
                for (const EndedProgram& p : ended_programs)
                    if (p.submissions < s->number)
                        unbind(line, p.id);
            if (changed)
                pools->rewind(s->number);
            if (line.state.modes.window_origin != s->modes.window_origin ||
                line.state.modes.depth_mode != s->modes.depth_mode)
                line.state.dirty = dirty::all;
            line.state.modes = s->modes;
            const auto outcome = executor->run(line.state, s->stream.bytes(), s->offset);
            progress |= s->offset != before || outcome == Executor::Outcome::Done;
            complete(executor->submit());
            pools->redo();
            if (outcome == Executor::Outcome::Waiting)
                return progress;
        } else if (auto* p = std::get_if<PresentItem>(&item)) {
            show(p->present);
            progress = true;
        } else if (auto* f = std::get_if<FinishItem>(&item)) {
            Executor::Submission submission;
            submission.number = queue->submitted();
            submission.completions.emplace_back([promise = f->done] { promise->set_value(); });
            complete(std::move(submission));
            progress = true;
        }
        line.items.pop_front();
    }
    return progress;
}

void Replay::Impl::complete(Executor::Submission submission) {
    update_statistics();
    if (submission.number == 0 && submission.completions.empty())
        return;
    if (submission.number == 0)
        submission.number = queue->submitted();
    {
        const std::lock_guard lock(done_mutex);
        done.push_back({submission.number, std::move(submission.completions), submission.stores});
    }
    done_ready.notify_one();
}

void Replay::Impl::publish_mirrors() {
    for (const guest::Range& range : memory.ranges())
        gpu_memory->publish_to_guest(range.start, range.size);
}

void Replay::Impl::watch() {
    for (;;) {
        Done next;
        {
            std::unique_lock lock(done_mutex);
            done_ready.wait(lock, [this] { return done_stop || !done.empty(); });
            if (done.empty())
                return;
            next = std::move(done.front());
            done.pop_front();
        }
        if (const auto waited = queue->wait(next.number); !waited)
            log::error("waiting for the GPU: {}", waited.error().message);
        const auto run = [&next] {
            for (const Completion& c : next.completions)
                c();
        };
        // Where memory is mirrored, only the replay thread may bring the GPU's writes to the guest, and what the CPU
        // then stores there back to the mirror.
        if (device.capabilities.import_alignment == 0)
            call([&] {
                publish_mirrors();
                run();
                for (const guest::Range& range : memory.ranges())
                    if (next.stores)
                        gpu_memory->flush_to_gpu(range.start, range.size);
            });
        else
            run();
        task_ready.notify_one(); // a queue may wait for one of these
    }
}

void Replay::Impl::remap(std::span<const guest::MappedPart> parts) {
    const std::vector<Texture*> clamped = textures->remap(parts);
    if (executor->recording())
        complete(executor->submit());
    if (clamped.empty())
        return;
    wait_for_gpu(); // descriptors of what is in flight stay as they are
    for (const Texture* t : clamped)
        pools->rewrite(*t);
}

// Drawings in it go to the memory that they belong to first.
void Replay::Impl::unmap_pool(const guest::PageTable::Pool& pool) {
    const guest::MappedPart everything{pool.start, pool.size, 0};
    remap(std::span(&everything, 1));
    wait_for_gpu();
    publish_mirrors();
    pools->forget(pool.start, pool.size);
    textures->forget(pool.start, pool.size);
    gpu_memory->remove_virtual(GuestAddress{pool.start});
    queue->collect();
}

void Replay::Impl::wait_for_gpu() {
    if (const auto waited = queue->wait(queue->submitted()); !waited)
        log::error("waiting for the GPU: {}", waited.error().message);
}

void Replay::Impl::show(const stream::Present& p) {
    const std::shared_ptr<void> busy(
        nullptr, [shared = windows, window = p.window, index = p.texture](void*) { shared->processed(window, index); });
    {
        const std::lock_guard lock(statistics_mutex);
        ++counted.presents;
    }
    const auto texture = textures->find(p.image.texture);
    if (!texture) {
        log::error_once("present: {}", texture.error().message);
        return;
    }
    Texture& t = **texture;
    // What was drawn is shown as it is, whatever happened to the pages around it (ledger OBJ-213).
    if (!t.gpu_written && textures->needs_refresh(t))
        if (gpu::Commands* c = executor->commands()) {
            if (auto brought = textures->refresh(*c, t); !brought)
                log::error_once("present: {}", brought.error().message);
            complete(executor->submit());
        }
    textures->mark_recorded(t);
    ViewKey key;
    key.format = t.format.base; // stored bytes, not decoded
    key.aspects = VK_IMAGE_ASPECT_COLOR_BIT;
    key.mapping = {0, 0, 0, VK_COMPONENT_SWIZZLE_ONE};
    const auto view = textures->view(t, key);
    if (view && options.present) {
        const VkExtent3D e = t.image.description().extent;
        Frame frame;
        frame.image = t.image.get();
        frame.view = *view;
        frame.format = t.format.base;
        frame.extent = {e.width, e.height};
        frame.crop = {{0, 0}, frame.extent};
        if (p.crop_set)
            frame.crop = scissor({p.crop.x, p.crop.y, p.crop.width, p.crop.height}, frame.extent);
        frame.flip_y = p.modes.window_origin == origin_lower_left;
        frame.interval = p.interval;
        frame.window = p.window;
        frame.busy = busy;
        if (const auto it = native_windows.find(p.window); it != native_windows.end())
            frame.native_window = it->second;
        options.present(*queue, frame);
    }
}

void Replay::Impl::update_statistics() {
    const Executor::Statistics& e = executor->statistics();
    const Textures::Statistics t = textures->statistics();
    const std::lock_guard lock(statistics_mutex);
    counted.submissions = queue->submitted();
    counted.records = e.records;
    counted.draws = e.draws;
    counted.skipped_draws = e.skipped_draws;
    counted.dispatches = e.dispatches;
    counted.clears = e.clears;
    counted.copies = e.copies;
    counted.passes = e.passes;
    counted.textures = t.images;
    counted.texture_bytes = t.bytes;
    counted.uploads = t.uploads;
    counted.upload_bytes = t.upload_bytes;
    counted.write_backs = t.write_backs;
    counted.textures_evicted = t.evicted;
    counted.texture_looks = t.looks;
    counted.image_views = t.views;
    counted.gpu_uploads = t.gpu_uploads;
}

Replay::Replay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Replay>> Replay::create(const gpu::Device& device, guest::Memory& memory, Options options) {
    auto impl = std::make_unique<Impl>(device, memory, std::move(options));
    auto layout = gpu::create_binding_layout(device);
    if (!layout)
        return tl::unexpected(layout.error());
    impl->layout = std::make_unique<gpu::BindingLayout>(std::move(*layout));
    auto library = gpu::ShaderLibrary::create(device, *impl->layout, impl->options.shader_threads);
    if (!library)
        return tl::unexpected(library.error());
    impl->library = std::move(*library);
    auto heap = gpu::DescriptorHeap::create(device, *impl->layout);
    if (!heap)
        return tl::unexpected(heap.error());
    impl->heap = std::move(*heap);
    auto queue = gpu::Queue::create(device, *impl->layout, impl->heap.get(), impl->library.get());
    if (!queue)
        return tl::unexpected(queue.error());
    impl->queue = std::move(*queue);
    shader::Options translation;
    translation.indexed_banks_by_address = device.capabilities.indexed_banks_by_address;
    translation.denormal_modes = device.capabilities.denormal_modes;
    translation.unfused_multiply_add = device.capabilities.unfused_multiply_add;
    translation.drops_added_zeros = device.capabilities.drops_added_zeros;
    translation.mixes_left_loops = device.capabilities.mixes_left_loops;
    translation.subgroup_size = device.capabilities.subgroup_size;
    translation.storage_windows = true;
    translation.transform_feedback = device.has(gpu::Feature::TransformFeedback);
    translation.validate = impl->options.validate_spirv;
    const unsigned threads = impl->options.translation_threads ? impl->options.translation_threads : default_threads();
    impl->programs = std::make_unique<Programs>(device, *impl->library, translation, threads);
    impl->gpu_memory = std::make_unique<gpu::GuestMemory>(device, *impl->queue, memory, impl->options.tracker);
    impl->textures = std::make_unique<Textures>(device, impl->formats, *impl->queue, *impl->gpu_memory, memory,
                                                impl->options.tracker);
    using Tiling = Options::Tiling;
    if (impl->options.tiling == Tiling::Gpu ||
        (impl->options.tiling == Tiling::ByDevice && !device.capabilities.cpu_device))
        impl->textures->use_kernels(*impl->library);
    impl->pools = std::make_unique<Pools>(device, *impl->queue, *impl->heap, *impl->gpu_memory, *impl->textures);
    impl->executor = std::make_unique<Executor>(Services{.device = &device,
                                                         .queue = impl->queue.get(),
                                                         .heap = impl->heap.get(),
                                                         .gpu_memory = impl->gpu_memory.get(),
                                                         .library = impl->library.get(),
                                                         .memory = &memory,
                                                         .tracker = impl->options.tracker,
                                                         .formats = &impl->formats,
                                                         .textures = impl->textures.get(),
                                                         .pools = impl->pools.get(),
                                                         .programs = impl->programs.get(),
                                                         .syncs = &impl->syncs,
                                                         .texture_budget = impl->options.texture_budget,
                                                         .conditional_rendering = impl->options.conditional_rendering});
    Impl* self = impl.get();
    impl->worker = std::thread([self] { self->work(); });
    impl->watcher = std::thread([self] { self->watch(); });
    return std::unique_ptr<Replay>(new Replay(std::move(impl)));
}

Replay::~Replay() {
    Impl& i = *impl_;
    i.device.gate.open();
    {
        const std::lock_guard lock(i.task_mutex);
        i.stop = true;
    }
    i.task_ready.notify_all();
    i.worker.join();
    {
        const std::lock_guard lock(i.done_mutex);
        i.done_stop = true;
    }
    i.done_ready.notify_all();
    i.watcher.join();
    i.wait_for_gpu();
    // Pools and textures retire into the queue; the queue releases them.
    i.lines.clear(); // queues have counters
    i.executor.reset();
    i.pools.reset();
    i.textures.reset();
    i.gpu_memory.reset();
    i.programs.reset();
    i.queue.reset();
    i.heap.reset();
    i.library.reset();
}

Statistics Replay::statistics() const {
    const Programs::Statistics p = impl_->programs->statistics();
    const std::lock_guard lock(impl_->statistics_mutex);
    Statistics out = impl_->counted;
    out.programs = p.programs;
    out.translated = p.translated;
    out.failed_translations = p.failed;
    out.translated_at_draw = p.translated_at_draw;
    out.translation_nanoseconds = p.nanoseconds;
    return out;
}

void Replay::suspend() {
    impl_->device.gate.close();
    const std::lock_guard lock(impl_->device.submit_mutex);
    impl_->device.vk.vkQueueWaitIdle(impl_->device.queue);
}

void Replay::resume() {
    impl_->device.gate.open();
}

void Replay::run_on_replay_thread(const std::function<void(gpu::Queue&)>& call) {
    impl_->call([&] { call(*impl_->queue); });
}

// --- Queues ---

void Replay::queue_created(stream::QueueId queue, const stream::QueueDescription& description) {
    impl_->post([i = impl_.get(), queue, origin = description.window_origin] {
        auto line = std::make_unique<Impl::Line>();
        line->state.queue_origin = origin;
        i->lines[queue] = std::move(line);
    });
}

void Replay::queue_destroyed(stream::QueueId queue) {
    impl_->post([i = impl_.get(), queue] { i->lines.erase(queue); });
}

void Replay::submit(stream::QueueId queue, const stream::DeviceModes& modes, stream::Buffer stream) {
    impl_->post([i = impl_.get(), queue, modes, stream = std::move(stream)]() mutable {
        const auto it = i->lines.find(queue);
        if (it != i->lines.end())
            it->second->items.emplace_back(Impl::StreamItem{modes, std::move(stream), ++i->submissions});
    });
}

void Replay::flush(stream::QueueId) {} // every submission goes to the GPU as soon as it is executed

void Replay::finish(stream::QueueId queue) {
    auto promise = std::make_shared<std::promise<void>>();
    impl_->post([i = impl_.get(), queue, promise] {
        const auto it = i->lines.find(queue);
        if (it != i->lines.end())
            it->second->items.emplace_back(Impl::FinishItem{promise});
        else
            promise->set_value();
    });
    promise->get_future().wait();
}

// --- Syncs ---

bool Replay::sync_reached(stream::SyncId sync, u32 value) {
    return impl_->syncs.reached(sync, value);
}

bool Replay::wait_sync(stream::SyncId sync, u32 value, u64 timeout_ns) {
    return impl_->syncs.wait(sync, value, timeout_ns);
}

void Replay::sync_destroyed(stream::SyncId sync) {
    impl_->syncs.forget(sync);
}

void Replay::event_signalled(u64 address) {
    impl_->post([i = impl_.get(), address] { i->executor->event_set(address); });
}

// --- Windows ---

void Replay::window_created(stream::WindowId window, const stream::WindowDescription& description) {
    {
        const std::lock_guard lock(impl_->windows->mutex);
        impl_->windows->by_id[window] = {};
    }
    impl_->post([i = impl_.get(), window, native = description.native_window] { i->native_windows[window] = native; });
}

void Replay::window_destroyed(stream::WindowId window) {
    impl_->call([&] {
        impl_->wait_for_gpu();
        if (impl_->options.window_destroyed)
            impl_->options.window_destroyed(window);
        impl_->native_windows.erase(window);
    });
    const std::lock_guard lock(impl_->windows->mutex);
    impl_->windows->by_id.erase(window);
    impl_->windows->changed.notify_all();
}

bool Replay::acquire(stream::WindowId window, u32 index, stream::SyncId sync, u32 value) {
    bool found = false;
    {
        std::unique_lock lock(impl_->windows->mutex);
        impl_->windows->changed.wait(lock, [&] {
            const auto it = impl_->windows->by_id.find(window);
            found = it != impl_->windows->by_id.end() && index < stream::max_window_textures;
            return !found || it->second.outstanding[index] == 0;
        });
    }
    if (sync)
        impl_->syncs.signal(sync, value);
    impl_->task_ready.notify_one();
    return found;
}

void Replay::present(stream::QueueId queue, const stream::Present& present) {
    {
        const std::lock_guard lock(impl_->windows->mutex);
        if (const auto it = impl_->windows->by_id.find(present.window);
            it != impl_->windows->by_id.end() && present.texture < stream::max_window_textures)
            ++it->second.outstanding[present.texture];
    }
    impl_->post([i = impl_.get(), queue, present] {
        const auto it = i->lines.find(queue);
        if (it != i->lines.end())
            it->second->items.emplace_back(Impl::PresentItem{present});
    });
}

// --- Memory ---

void Replay::memory_pool_created(const stream::MemoryPoolDescription& d) {
    if (d.host)
        return;
    impl_->post([i = impl_.get(), start = GuestAddress{d.address}, size = d.size] {
        if (auto added = i->gpu_memory->add_virtual(start, size); !added)
            log::error("{}", added.error().message);
    });
}

void Replay::memory_pool_destroyed(u64 address) {
    impl_->call([&] {
        Impl& i = *impl_;
        if (const auto pool = i.gpu_memory->page_table().find(address); pool && pool->start == address) {
            i.unmap_pool(*pool);
            return;
        }
        const auto range = i.memory.find(GuestAddress{address});
        if (!range)
            return;
        i.wait_for_gpu();
        i.pools->forget(range->start.value, range->size);
        i.textures->forget(range->start.value, range->size);
        i.gpu_memory->remapped(range->start, range->size);
        i.queue->collect();
    });
}

void Replay::memory_mapped(std::span<const stream::MemoryMapping> mappings) {
    std::vector<stream::MemoryMapping> copy(mappings.begin(), mappings.end());
    impl_->post([i = impl_.get(), copy = std::move(copy)] {
        std::vector<guest::MappedPart> parts;
        for (const stream::MemoryMapping& m : copy)
            parts.push_back({m.address, m.size, m.physical});
        i->remap(parts);
    });
}

void Replay::memory_written(u64 address, u64 size) {
    impl_->post([i = impl_.get(), address, size] { i->textures->storage_written(address, size); });
}

void Replay::memory_read(u64 address, u64 size) {
    impl_->call([&] {
        Impl& i = *impl_;
        if (!i.textures->is_unsettled(address, size))
            return;
        (void)i.textures->settle(address, size);
        i.complete(i.executor->submit());
    });
}

// --- Programs, pools ---

void Replay::program_created(const stream::ProgramDescription& description) {
    impl_->programs->create(description);
}

void Replay::program_destroyed(stream::ProgramId id) {
    impl_->post([i = impl_.get(), id] { i->end_program(id); });
}

void Replay::texture_pool_created(stream::PoolId pool, u64, u32 capacity) {
    impl_->post([i = impl_.get(), pool, capacity] { i->pools->create_texture_pool(pool, capacity); });
}

void Replay::texture_pool_destroyed(stream::PoolId pool) {
    impl_->post([i = impl_.get(), pool] { i->pools->destroy_texture_pool(pool); });
}

void Replay::texture_registered(stream::PoolId pool, u32 index, const stream::ImageDescription& image, bool) {
    impl_->post([i = impl_.get(), pool, index, image] { i->pools->register_texture(pool, index, image); });
}

void Replay::sampler_pool_created(stream::PoolId pool, u64, u32 capacity) {
    impl_->post([i = impl_.get(), pool, capacity] { i->pools->create_sampler_pool(pool, capacity); });
}

void Replay::sampler_pool_destroyed(stream::PoolId pool) {
    impl_->post([i = impl_.get(), pool] { i->pools->destroy_sampler_pool(pool); });
}

void Replay::sampler_registered(stream::PoolId pool, u32 index, const stream::SamplerDescription& sampler) {
    impl_->post([i = impl_.get(), pool, index, sampler] { i->pools->register_sampler(pool, index, sampler); });
}

} // namespace heaviside::replay
