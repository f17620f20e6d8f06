#include "gpu/commands.h"

#include "base/log.h"
#include "gpu/dirty.h"

#include <algorithm>
#include <cstring>

namespace heaviside::gpu {
namespace {

bool is_integer(VkFormat format) {
    switch (format) {
    case VK_FORMAT_R8_UINT:
    case VK_FORMAT_R8_SINT:
    case VK_FORMAT_R8G8_UINT:
    case VK_FORMAT_R8G8_SINT:
    case VK_FORMAT_R8G8B8A8_UINT:
    case VK_FORMAT_R8G8B8A8_SINT:
    case VK_FORMAT_A2B10G10R10_UINT_PACK32:
    case VK_FORMAT_A2R10G10B10_UINT_PACK32:
    case VK_FORMAT_R16_UINT:
    case VK_FORMAT_R16_SINT:
    case VK_FORMAT_R16G16_UINT:
    case VK_FORMAT_R16G16_SINT:
    case VK_FORMAT_R16G16B16A16_UINT:
    case VK_FORMAT_R16G16B16A16_SINT:
    case VK_FORMAT_R32_UINT:
    case VK_FORMAT_R32_SINT:
    case VK_FORMAT_R32G32_UINT:
    case VK_FORMAT_R32G32_SINT:
    case VK_FORMAT_R32G32B32A32_UINT:
    case VK_FORMAT_R32G32B32A32_SINT:
        return true;
    default:
        return false;
    }
}

VkRenderingAttachmentInfo attachment_info(const Device& device, const Attachment& a, bool color, bool resume) {
    const VkImageLayout layout = layout_of(device, color ? ImageUse::ColorTarget : ImageUse::DepthTarget);
    VkRenderingAttachmentInfo info{VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    info.imageView = a.view;
    info.imageLayout = layout;
    info.loadOp = resume ? VK_ATTACHMENT_LOAD_OP_LOAD : a.load;
    info.storeOp = a.store;
    info.clearValue = a.clear;
    if (a.view && a.resolve) {
        info.resolveMode =
            color && !is_integer(a.format) ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_SAMPLE_ZERO_BIT;
        info.resolveImageView = a.resolve;
        info.resolveImageLayout = layout;
    }
    return info;
}

} // namespace

u64 Commands::submission() const {
    return queue_->submitted_ + 1;
}

void Commands::restart() {
    const auto& vk = queue_->device_->vk;
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    vk.vkBeginCommandBuffer(handle_, &info);
    prologue_open_ = false;
    state_ = {};
    shaders_ = {};
    root_ = compute_root_ = {};
    banks_ = compute_banks_ = {};
    streams_ = {};
    index_ = {};
    pass_ = {};
    in_pass_ = false;
    capturing_ = captured_in_pass_ = false;
    pending_barrier_ = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    image_barriers_.clear();
    counters_ = {};
    forget();
}

void Commands::forget() {
    dirty_ = dirty::all;
    bound_ = {};
    pipeline_ = VK_NULL_HANDLE;
    root_pushed_ = false;
    banks_.dirty = compute_banks_.dirty = ~0u;
    heap_bound_ = {};
}

template <class Group>
void Commands::assign(Group& mine, const Group& value, u32 bit) {
    if (std::memcmp(&mine, &value, sizeof(Group)) == 0)
        return;
    mine = value;
    dirty_ |= bit;
}

void Commands::set(const VertexInput& v) {
    assign(state_.vertex_input, v, dirty::vertex_input | dirty::streams);
}
void Commands::set(const InputAssembly& v) {
    assign(state_.assembly, v, dirty::assembly);
}
void Commands::set(const Viewports& v) {
    assign(state_.viewports, v, dirty::viewports);
}
void Commands::set(const Scissors& v) {
    assign(state_.scissors, v, dirty::scissors);
}
void Commands::set(const Raster& v) {
    assign(state_.raster, v, dirty::raster);
}
void Commands::set(const DepthBias& v) {
    assign(state_.depth_bias, v, dirty::depth_bias);
}
void Commands::set(const Depth& v) {
    assign(state_.depth, v, dirty::depth);
}
void Commands::set(const Stencil& v) {
    assign(state_.stencil, v, dirty::stencil);
}
void Commands::set(const Blend& v) {
    assign(state_.blend, v, dirty::blend);
}
void Commands::set(const BlendConstants& v) {
    assign(state_.blend_constants, v, dirty::blend_constants);
}
void Commands::set(const Multisample& v) {
    assign(state_.multisample, v, dirty::multisample);
}

void Commands::set(const DrawState& v) {
    set(v.vertex_input);
    set(v.assembly);
    set(v.viewports);
    set(v.scissors);
    set(v.raster);
    set(v.depth_bias);
    set(v.depth);
    set(v.stencil);
    set(v.blend);
    set(v.blend_constants);
    set(v.multisample);
}

void Commands::set_shader(shader::Stage stage, Shader* shader) {
    Shader*& mine = shaders_[static_cast<unsigned>(stage)];
    if (mine == shader)
        return;
    mine = shader;
    dirty_ |= stage == shader::Stage::Compute ? dirty::compute_shader : dirty::shaders;
}

void Commands::set_root(const shader::RootConstants& root) {
    root_ = root;
}
void Commands::set_compute_root(const shader::RootConstants& root) {
    compute_root_ = root;
}

namespace {

bool same(const BufferSlice& a, const BufferSlice& b) {
    return a.buffer == b.buffer && a.offset == b.offset && a.size == b.size;
}

} // namespace

void Commands::set_bank(u32 binding, const BufferSlice& slice) {
    if (binding >= banks_.slices.size() || same(banks_.slices[binding], slice))
        return;
    banks_.slices[binding] = slice;
    banks_.dirty |= 1u << binding;
}

void Commands::set_compute_bank(u32 binding, const BufferSlice& slice) {
    if (binding >= banks_.slices.size() || same(compute_banks_.slices[binding], slice))
        return;
    compute_banks_.slices[binding] = slice;
    compute_banks_.dirty |= 1u << binding;
}

void Commands::set_vertex_stream(u32 stream, const BufferSlice& slice) {
    if (stream >= streams_.size() || same(streams_[stream], slice))
        return;
    streams_[stream] = slice;
    dirty_ |= dirty::streams;
}

void Commands::set_index_buffer(const BufferSlice& slice, VkIndexType type) {
    if (same(index_, slice) && type == index_type_)
        return;
    index_ = slice;
    index_type_ = type;
    dirty_ |= dirty::index;
}

void Commands::begin_pass(const Pass& pass) {
    end_pass();
    flush_barriers();
    bool formats_change = pass.color_count != pass_.color_count || pass.depth.format != pass_.depth.format ||
                          pass.stencil.format != pass_.stencil.format || pass.samples != pass_.samples;
    for (u32 i = 0; i < pass.color_count && i < max_targets; ++i)
        formats_change = formats_change || pass.colors[i].format != pass_.colors[i].format;
    if (formats_change)
        dirty_ |= dirty::pass_formats;
    if (pass.feedback != pass_.feedback)
        dirty_ |= dirty::feedback;
    pass_ = pass;
    begin_rendering(false);
    ++counters_.passes;
}

void Commands::begin_rendering(bool resume) {
    const Device& device = *queue_->device_;
    std::array<VkRenderingAttachmentInfo, max_targets> colors{};
    for (u32 i = 0; i < pass_.color_count; ++i)
        colors[i] = attachment_info(device, pass_.colors[i], true, resume);
    const VkRenderingAttachmentInfo depth = attachment_info(device, pass_.depth, false, resume);
    const VkRenderingAttachmentInfo stencil = attachment_info(device, pass_.stencil, false, resume);
    VkRenderingInfo info{VK_STRUCTURE_TYPE_RENDERING_INFO};
    info.renderArea = pass_.area;
    info.layerCount = pass_.layers;
    info.colorAttachmentCount = pass_.color_count;
    info.pColorAttachments = colors.data();
    info.pDepthAttachment = pass_.depth.view ? &depth : nullptr;
    info.pStencilAttachment = pass_.stencil.view ? &stencil : nullptr;
    device.vk.vkCmdBeginRendering(handle_, &info);
    in_pass_ = true;
}

void Commands::end_pass() {
    if (!in_pass_)
        return;
    end_capture();
    captured_in_pass_ = false;
    queue_->device_->vk.vkCmdEndRendering(handle_);
    in_pass_ = false;
}

void Commands::barrier(const Barrier& b) {
    pending_barrier_.srcStageMask |= b.source_stages;
    pending_barrier_.srcAccessMask |= b.source_access;
    pending_barrier_.dstStageMask |= b.target_stages;
    pending_barrier_.dstAccessMask |= b.target_access;
}

void Commands::flush_barriers() {
    if (in_pass_ || !pending_barrier_.srcStageMask)
        return;
    VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &pending_barrier_;
    queue_->device_->vk.vkCmdPipelineBarrier2(handle_, &info);
    pending_barrier_ = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    ++counters_.barriers;
}

void Commands::in_pass_barrier() {
    if (!in_pass_)
        return;
    end_capture();
    const Device& device = *queue_->device_;
    VkMemoryBarrier2 b{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    b.srcStageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
                     VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
    b.srcAccessMask = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    b.dstStageMask = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;
    b.dstAccessMask = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT;
    VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    info.memoryBarrierCount = 1;
    info.pMemoryBarriers = &b;
    ++counters_.barriers;
    // A barrier inside dynamic rendering needs local read; without it the pass is left and entered again.
    if (device.has(Feature::LocalRead)) {
        info.dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT;
        if (device.has(Feature::AttachmentFeedback))
            info.dependencyFlags |= VK_DEPENDENCY_FEEDBACK_LOOP_BIT_EXT;
        device.vk.vkCmdPipelineBarrier2(handle_, &info);
        return;
    }
    const bool captured = captured_in_pass_; // this barrier is none for the counters
    end_pass();
    b.dstStageMask |= b.srcStageMask;
    b.dstAccessMask |=
        b.srcAccessMask | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT;
    device.vk.vkCmdPipelineBarrier2(handle_, &info);
    begin_rendering(true);
    captured_in_pass_ = captured;
}

bool Commands::shaders_changed() const {
    return (dirty_ & (queue_->device_->has(Feature::ShaderObject) ? dirty::shaders : dirty::pipeline)) != 0;
}

void Commands::begin_capture(const Capture& capture) {
    end_capture();
    if (!in_pass_ || capture.count == 0)
        return;
    std::array<VkBuffer, 4> buffers{};
    std::array<VkDeviceSize, 4> offsets{}, sizes{};
    for (u32 i = 0; i < capture.count; ++i) {
        buffers[i] = capture.buffers[i].buffer;
        offsets[i] = capture.buffers[i].offset;
        sizes[i] = capture.buffers[i].size;
    }
    const auto& vk = queue_->device_->vk;
    vk.vkCmdBindTransformFeedbackBuffersEXT(handle_, 0, capture.count, buffers.data(), offsets.data(), sizes.data());
    capture_ = capture;
    capturing_ = true;
    if (capture.resume)
        with_capture_counters(vk.vkCmdBeginTransformFeedbackEXT);
    else
        vk.vkCmdBeginTransformFeedbackEXT(handle_, 0, 0, nullptr, nullptr);
}

void Commands::end_capture() {
    if (!capturing_)
        return;
    with_capture_counters(queue_->device_->vk.vkCmdEndTransformFeedbackEXT);
    capturing_ = false;
    captured_in_pass_ = true;
}

void Commands::with_capture_counters(PFN_vkCmdBeginTransformFeedbackEXT command) {
    std::array<VkBuffer, 4> buffers{};
    std::array<VkDeviceSize, 4> offsets{};
    for (u32 i = 0; i < capture_.count; ++i) {
        buffers[i] = capture_.counters.buffer;
        offsets[i] = capture_.counters.offset + u64{i} * 4;
    }
    command(handle_, 0, capture_.count, buffers.data(), offsets.data());
}

void Commands::initialise(const Image& image) {
    VkImageMemoryBarrier2 b{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2};
    b.srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    b.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    b.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    b.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    b.newLayout = layout_of(*queue_->device_, ImageUse::Sampled);
    b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    b.image = image.get();
    b.subresourceRange = {image.aspects(), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
    image_barriers_.push_back(b);
}

VkCommandBuffer Commands::prologue() {
    const auto& vk = queue_->device_->vk;
    if (!prologue_open_) {
        VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        vk.vkBeginCommandBuffer(prologue_, &info);
        prologue_open_ = true;
    }
    if (!image_barriers_.empty()) {
        VkDependencyInfo info{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
        info.imageMemoryBarrierCount = static_cast<u32>(image_barriers_.size());
        info.pImageMemoryBarriers = image_barriers_.data();
        vk.vkCmdPipelineBarrier2(prologue_, &info);
        image_barriers_.clear();
    }
    return prologue_;
}

void Commands::prepare_transfer() {
    end_pass();
    flush_barriers();
}

bool Commands::prepare_dispatch() {
    if (in_pass_) {
        log::error_once("dispatch inside a pass: skipped");
        return false;
    }
    flush_barriers();
    if (dirty_ & dirty::compute_shader) {
        if (!bind_compute(handle_, shaders_[static_cast<unsigned>(shader::Stage::Compute)]))
            return false;
        dirty_ &= ~dirty::compute_shader;
    }
    const VkPipelineLayout layout = queue_->layout_->compute.get();
    bind_heap(VK_PIPELINE_BIND_POINT_COMPUTE, layout);
    if (compute_banks_.dirty)
        emit_banks(compute_banks_, VK_PIPELINE_BIND_POINT_COMPUTE, layout,
                   shader::banks::quota(shader::Stage::Compute).count);
    emit_root(compute_root_, layout);
    ++counters_.dispatches;
    return true;
}

bool Commands::prepare_draw() {
    if (!in_pass_) {
        log::error_once("draw outside a pass: skipped");
        return false;
    }
    if (state_.viewports.count != state_.scissors.count) {
        log::error_once("draw with {} viewports and {} scissors: skipped", state_.viewports.count,
                        state_.scissors.count);
        return false;
    }
    if (shaders_changed())
        end_capture();
    if (queue_->device_->has(Feature::ShaderObject)) {
        if ((dirty_ & dirty::shaders) && !emit_shaders())
            return false;
    } else if ((dirty_ & dirty::pipeline) && !emit_pipeline()) {
        return false;
    }
    const VkPipelineLayout layout = queue_->layout_->graphics.get();
    bind_heap(VK_PIPELINE_BIND_POINT_GRAPHICS, layout);
    if (banks_.dirty)
        emit_banks(banks_, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 32);
    emit_root(root_, layout);
    if (dirty_ & ~dirty::compute_shader)
        emit_state();
    ++counters_.draws;
    return true;
}

void Commands::bind_heap(VkPipelineBindPoint point, VkPipelineLayout layout) {
    bool& bound = heap_bound_[point == VK_PIPELINE_BIND_POINT_COMPUTE];
    if (bound || !queue_->heap_)
        return;
    const VkDescriptorSet set = queue_->heap_->set();
    queue_->device_->vk.vkCmdBindDescriptorSets(handle_, point, layout, shader::heap::set, 1, &set, 0, nullptr);
    bound = true;
}

// Both layouts have the same push constant range, so there is one memory for both bind points.
void Commands::emit_root(const shader::RootConstants& root, VkPipelineLayout layout) {
    if (root_pushed_ && std::memcmp(&pushed_, &root, sizeof root) == 0)
        return;
    queue_->device_->vk.vkCmdPushConstants(handle_, layout, root_constants.stageFlags, 0, sizeof root, &root);
    pushed_ = root;
    root_pushed_ = true;
}

void Commands::emit_banks(Banks& banks, VkPipelineBindPoint point, VkPipelineLayout layout, u32 count) {
    const Device& device = *queue_->device_;
    std::array<VkDescriptorBufferInfo, 32> buffers;
    std::array<VkWriteDescriptorSet, 32> writes;
    const bool nulls = device.has(Feature::NullDescriptor);
    u32 n = 0;
    for (u32 i = 0; i < count; ++i) {
        if (!(banks.dirty & (1u << i)))
            continue;
        const BufferSlice& s = banks.slices[i] ? banks.slices[i] : queue_->zeros_.whole();
        buffers[n] = {s.buffer, s.offset, std::min<u64>(s.size, device.capabilities.limits.maxUniformBufferRange)};
        if (!s && nulls)
            buffers[n] = {VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
        writes[n] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
        writes[n].dstBinding = i;
        writes[n].descriptorCount = 1;
        writes[n].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
        writes[n].pBufferInfo = &buffers[n];
        ++n;
    }
    banks.dirty = 0;
    if (n)
        device.vk.vkCmdPushDescriptorSetKHR(handle_, point, layout, shader::banks::set, n, writes.data());
}

} // namespace heaviside::gpu
