#include "gpu/commands.h"

#include "base/log.h"

#include <algorithm>

namespace heaviside::gpu {

Result<std::unique_ptr<Queue>> Queue::create(const Device& device, const BindingLayout& layout, DescriptorHeap* heap,
                                             ShaderLibrary* shaders) {
    std::unique_ptr<Queue> q(new Queue(device));
    q->layout_ = &layout;
    q->heap_ = heap;
    q->shaders_ = shaders;
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE,
                                   0};
    VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
    VkSemaphore timeline = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreateSemaphore(device.handle, &semaphore, nullptr, &timeline); r != VK_SUCCESS)
        return fail("queue timeline: {}", name(r));
    q->timeline_ = adopt(device, Object::Semaphore, timeline);
    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = device.queue_family;
    VkCommandPool pool_handle = VK_NULL_HANDLE;
    if (const VkResult r = device.vk.vkCreateCommandPool(device.handle, &pool, nullptr, &pool_handle); r != VK_SUCCESS)
        return fail("command pool: {}", name(r));
    q->pool_ = adopt(device, Object::CommandPool, pool_handle);
    if (!device.has(Feature::NullDescriptor)) {
        auto zeros =
            create_buffer(device, device.capabilities.limits.maxUniformBufferRange, MemoryKind::Upload, "zeros");
        if (!zeros)
            return tl::unexpected(zeros.error());
        q->zeros_ = std::move(*zeros);
        std::fill_n(q->zeros_.whole().mapped, q->zeros_.whole().size, std::byte{0});
        flush(device, q->zeros_);
    }
    return q;
}

Queue::~Queue() {
    if (timeline_ && submitted_)
        (void)wait(submitted_);
    retired_.clear();
}

Result<Commands*> Queue::begin() {
    if (open_)
        return fail("a command buffer is already being recorded");
    collect();
    std::unique_ptr<Commands> c;
    if (!free_.empty()) {
        c = std::move(free_.back());
        free_.pop_back();
    } else {
        c.reset(new Commands(*this));
        std::array<VkCommandBuffer, 2> handles{};
        VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        info.commandPool = pool_.get();
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = static_cast<u32>(handles.size());
        if (const VkResult r = device_->vk.vkAllocateCommandBuffers(device_->handle, &info, handles.data());
            r != VK_SUCCESS)
            return fail("command buffer: {}", name(r));
        c->handle_ = handles[0];
        c->prologue_ = handles[1];
    }
    c->restart();
    open_ = c.get();
    busy_.emplace_back(submitted_ + 1, std::move(c));
    return open_;
}

Result<u64> Queue::submit(Commands& commands, std::span<const Signal> waits, std::span<const Signal> signals) {
    if (open_ != &commands)
        return fail("submit: not the command buffer that is being recorded");
    commands.end_pass();
    commands.flush_barriers();
    if (!commands.image_barriers_.empty())
        (void)commands.prologue();
    const auto& vk = device_->vk;
    std::vector<VkCommandBufferSubmitInfo> buffers;
    const auto finish = [&](VkCommandBuffer handle) {
        buffers.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, handle, 0});
        return vk.vkEndCommandBuffer(handle);
    };
    VkResult r = VK_SUCCESS;
    if (commands.prologue_open_) {
        const VkMemoryBarrier2 all{
            VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,   nullptr,
            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};
        VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        dependency.memoryBarrierCount = 1;
        dependency.pMemoryBarriers = &all;
        vk.vkCmdPipelineBarrier2(commands.prologue_, &dependency);
        r = finish(commands.prologue_);
    }
    if (r == VK_SUCCESS)
        r = finish(commands.handle_);
    if (heap_)
        heap_->flush();
    arena_.seal(submitted_ + 1);

    std::vector<VkSemaphoreSubmitInfo> wait_infos, signal_infos;
    const auto info_of = [](const Signal& s) {
        return VkSemaphoreSubmitInfo{
            VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, s.semaphore, s.value, s.stages, 0};
    };
    for (const Signal& s : waits)
        wait_infos.push_back(info_of(s));
    for (const Signal& s : signals)
        signal_infos.push_back(info_of(s));
    signal_infos.push_back(info_of({timeline_.get(), submitted_ + 1, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}));
    VkSubmitInfo2 submit_info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    submit_info.waitSemaphoreInfoCount = static_cast<u32>(wait_infos.size());
    submit_info.pWaitSemaphoreInfos = wait_infos.data();
    submit_info.commandBufferInfoCount = static_cast<u32>(buffers.size());
    submit_info.pCommandBufferInfos = buffers.data();
    submit_info.signalSemaphoreInfoCount = static_cast<u32>(signal_infos.size());
    submit_info.pSignalSemaphoreInfos = signal_infos.data();
    if (r == VK_SUCCESS) {
        std::unique_lock lock(device_->submit_mutex);
        device_->gate.enter(lock);
        r = vk.vkQueueSubmit2(device_->queue, 1, &submit_info, VK_NULL_HANDLE);
        device_->gate.leave();
    }
    open_ = nullptr;
    if (r != VK_SUCCESS) {
        // Nothing will signal this number: what belongs to it is free again.
        free_.push_back(std::move(busy_.back().second));
        busy_.pop_back();
        return fail("submit: {}", name(r));
    }
    return ++submitted_;
}

u64 Queue::completed() const {
    u64 value = 0;
    if (device_->vk.vkGetSemaphoreCounterValue(device_->handle, timeline_.get(), &value) != VK_SUCCESS)
        return 0;
    return value;
}

Result<bool> Queue::wait(u64 submission, u64 timeout_nanoseconds) const {
    const VkSemaphore semaphore = timeline_.get();
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &submission;
    const VkResult r = device_->vk.vkWaitSemaphores(device_->handle, &info, timeout_nanoseconds);
    if (r == VK_SUCCESS)
        return true;
    if (r == VK_TIMEOUT)
        return false;
    return fail("waiting for submission {}: {}", submission, name(r));
}

void Queue::retire_call(std::unique_ptr<Retired> object) {
    retired_.emplace_back(submitted_ + (open_ ? 1 : 0), std::move(object));
}

void Queue::collect() {
    if (busy_.empty() && retired_.empty())
        return;
    const u64 done = completed();
    while (!busy_.empty() && busy_.front().first <= done && busy_.front().second.get() != open_) {
        free_.push_back(std::move(busy_.front().second));
        busy_.pop_front();
    }
    while (!retired_.empty() && retired_.front().first <= done)
        retired_.pop_front();
    arena_.recycle(done);
}

} // namespace heaviside::gpu
