// Executes records on gpu/: one executor per device, used by the replay thread only. It walks a stream once; each
// record changes the queue's state or records commands into the open command buffer. Handlers by concept: bindings.cpp,
// draws.cpp, feedback.cpp, stages.cpp, targets.cpp, clears.cpp, copies.cpp, order.cpp.
#pragma once

#include "replay/counters.h"
#include "replay/driver_bank.h"
#include "replay/guest_state.h"
#include "replay/pools.h"
#include "replay/programs.h"
#include "replay/state_mapping.h"
#include "replay/uniform_updates.h"
#include "stream/sync.h"
#include "stream/walk.h"

#include <atomic>
#include <functional>

namespace heaviside::replay {

struct PlanePair { // aspects of two images
    VkImageAspectFlags from, to;
};

struct Services { // all outlive the executor
    const gpu::Device* device;
    gpu::Queue* queue;
    gpu::DescriptorHeap* heap;
    gpu::GuestMemory* gpu_memory;
    gpu::ShaderLibrary* library;
    guest::Memory* memory;
    guest::WriteTracker* tracker; // may be null
    const Formats* formats;
    Textures* textures;
    Pools* pools;
    Programs* programs;
    stream::SyncCounters* syncs;
    u64 texture_budget = ~u64{0}; // bytes
    bool conditional_rendering = true;
};

// Run when everything recorded before it is done, in order, on the thread that watches the GPU's timeline: writes to
// guest memory, then signals.
using Completion = std::function<void()>;

class Executor {
public:
    explicit Executor(const Services& services);
    ~Executor();

    enum class Outcome { Done, Waiting };
    // Executes `stream` from `offset` on; Waiting: the record at `offset` waits for a sync or event that does not hold.
    Outcome run(GuestState& state, Bytes stream, u64& offset);
    // Submits what run() recorded, if anything. Completions of it are returned with the submission's number.
    struct Submission {
        u64 number = 0; // 0: nothing was recorded since the last one; completions may run at once
        std::vector<Completion> completions;
        bool stores = false; // some of them write guest memory
    };
    [[nodiscard]] Submission submit();
    [[nodiscard]] bool recording() const { return c_ != nullptr; }
    // A sync that reaches its value without the GPU (window textures).
    void sync_signalled(stream::SyncId sync, u32 value);
    // Whether the record there is a wait that still waits.
    [[nodiscard]] bool is_held(Bytes stream, u64 offset);
    // Opens a command buffer if none is open.
    [[nodiscard]] gpu::Commands* commands();
    // Submits what is recorded, waits until the GPU has done it and opens another command buffer.
    [[nodiscard]] gpu::Commands* drain();

    struct Statistics {
        u64 draws = 0, dispatches = 0, skipped_draws = 0, clears = 0, copies = 0, passes = 0, records = 0;
    };
    [[nodiscard]] const Statistics& statistics() const { return statistics_; }
    // The CPU has set an event: what streams signalled before counts no more.
    void event_set(u64 address) { events_.erase(address); }

private:
    using Record = stream::Record;
    using Handler = void (Executor::*)(const Record&);
    static const std::array<Handler, stream::record_type_count> handlers;
    template <class T>
    void handle(const Record& r) {
        on(r.as<T>(), r);
    }
    template <class T>
    void on(const T&, const Record& r) {
        not_built(r);
    }
    static void not_built(const Record& r);
    [[nodiscard]] gpu::Commands* begin();
    void forget_resolved();               // everything that a draw or dispatch keeps for the next one
    u64 drains_ = 0, resolved_after_ = 0; // drains: what was set before is in another command buffer

    // bindings.cpp
    void on(const stream::BindBlendState&, const Record&);
    void on(const stream::BindColorState&, const Record&);
    void on(const stream::BindChannelMaskState&, const Record&);
    void on(const stream::BindDepthStencilState&, const Record&);
    void on(const stream::BindPolygonState&, const Record&);
    void on(const stream::BindMultisampleState&, const Record&);
    void on(const stream::BindVertexAttribState&, const Record&);
    void on(const stream::BindVertexStreamState&, const Record&);
    void on(const stream::BindProgram&, const Record&);
    void on(const stream::BindVertexBuffer&, const Record&);
    void on(const stream::BindUniformBuffer&, const Record&);
    void on(const stream::BindStorageBuffer&, const Record&);
    void on(const stream::BindTexture&, const Record&);
    void on(const stream::BindHandles&, const Record&);
    void on(const stream::BindHandlesDeferred&, const Record&);
    [[nodiscard]] std::span<u32> handle_table(stream::Stage stage, stream::HandleKind kind);
    void on(const stream::SetTexturePool&, const Record&);
    void on(const stream::SetSamplerPool&, const Record&);
    void on(const stream::SetRenderTargets&, const Record&);
    void on(const stream::SetViewports&, const Record&);
    void on(const stream::SetScissors&, const Record&);
    void on(const stream::SetDepthRanges&, const Record&);
    void on(const stream::SetViewportSwizzles&, const Record&);
    void on(const stream::SetBlendColor&, const Record&);
    void on(const stream::SetAlphaRef&, const Record&);
    void on(const stream::SetStencilRef&, const Record&);
    void on(const stream::SetStencilMask&, const Record&);
    void on(const stream::SetStencilValueMask&, const Record&);
    void on(const stream::SetLineWidth&, const Record&);
    void on(const stream::SetPointSize&, const Record&);
    void on(const stream::SetPolygonOffset&, const Record&);
    void on(const stream::SetPrimitiveRestart&, const Record&);
    void on(const stream::SetProvokingVertex&, const Record&);
    void on(const stream::SetDepthBounds&, const Record&);
    void on(const stream::SetDepthClamp&, const Record&);
    void on(const stream::SetRasterizerDiscard&, const Record&);
    void on(const stream::SetSampleMask&, const Record&);
    void on(const stream::SetConservativeRaster&, const Record&);
    void on(const stream::SetConservativeRasterDilate&, const Record&);
    void on(const stream::SetSubpixelPrecisionBias&, const Record&);
    void on(const stream::SetPatchSize&, const Record&);
    void on(const stream::SetInnerTessellationLevels&, const Record&);
    void on(const stream::SetOuterTessellationLevels&, const Record&);
    void on(const stream::SetRenderEnable&, const Record&);
    void on(const stream::SetRenderEnableConditional&, const Record&);
    // Records that change no pixel here.
    void on(const stream::BindCoverageModulationTable&, const Record&) {}
    void on(const stream::SetStencilCullCriteria&, const Record&) {}
    void on(const stream::SetShaderScratchMemory&, const Record&) {}
    void on(const stream::DiscardColor&, const Record&) {} // content may stay (OBJ-242)
    void on(const stream::DiscardDepthStencil&, const Record&) {}
    void on(const stream::ResolveDepthBuffer&, const Record&) {}
    void on(const stream::DebugMarker&, const Record&) {}
    void on(const stream::Hint&, const Record&) {}

    // clears.cpp
    void on(const stream::ClearColor&, const Record&);
    void on(const stream::ClearDepthStencil&, const Record&);
    void on(const stream::ClearTexture&, const Record&);
    void on(const stream::ClearBuffer&, const Record&);
    struct Fill { // one layer of one level
        VkImageView view;
        VkFormat format;
        VkExtent2D extent;
        VkRect2D rect;
        u32 mask;
        stream::ClearClass value_class;
        std::array<u32, 4> value;
        VkSampleCountFlagBits samples;
        bool conditional = false; // obeys the render condition
        bool whole = false;       // the mask has every channel of the format
    };
    void fill(const Fill& f);
    void clear_depth(VkImageView view, VkFormat format, VkImageAspectFlags aspects, VkSampleCountFlagBits samples,
                     VkExtent2D extent, const VkRect2D& rect, const stream::ClearTexture& r);
    struct DepthStencilFill {
        std::optional<f32> depth{};
        u8 stencil = 0, mask = 0;
    };
    void fill_depth_stencil(const DepthStencilFill& f, VkExtent2D extent, const VkRect2D& rect,
                            VkSampleCountFlagBits samples);
    u32 open_clear_pass(u32 slot, const VkRect2D& rect);
    void close_clear_pass();
    void clear_in_pass(const VkClearAttachment& clear, const VkRect2D& rect, u32 layers);
    void set_fill_state(VkExtent2D extent, const VkRect2D& rect, VkSampleCountFlagBits samples);

    // draws.cpp
    void on(const stream::DrawArrays&, const Record&);
    void on(const stream::DrawArraysInstanced&, const Record&);
    void on(const stream::DrawArraysIndirect&, const Record&);
    void on(const stream::DrawArraysIndirectCount&, const Record&);
    void on(const stream::DrawElements&, const Record&);
    void on(const stream::DrawElementsInstanced&, const Record&);
    void on(const stream::DrawElementsIndirect&, const Record&);
    void on(const stream::DrawElementsIndirectCount&, const Record&);
    void on(const stream::Dispatch&, const Record&);
    void on(const stream::DispatchIndirect&, const Record&);
    void draw_arrays(u32 primitive, u32 first, u32 count, u32 base_instance, u32 instances);
    // Once, or once for each viewport where the program writes a mask of them (ledger SHD-112).
    template <class Draw>
    void draw_each(Draw&& draw) {
        const u32 viewports = routed_viewports();
        for (u32 v = 0; v < viewports; ++v) {
            if (v != 0) {
                root_.viewport = v;
                c_->set_root(root_);
            }
            if (c_->prepare_draw())
                draw();
        }
    }
    [[nodiscard]] u32 routed_viewports() const;
    struct Elements {
        u32 primitive, index_type, count;
        u64 indices;
        i32 base_vertex;
        u32 base_instance, instances;
    };
    void draw_elements(const Elements& e);
    struct Indirect {
        u32 primitive;
        bool indexed;
        u32 index_type;
        u64 indices, arguments, count_address;
        u32 max_draws, stride;
    };
    void draw_indirect(const Indirect& d);
    bool bind_index_buffer(u32 index_type, u64 address, u64 count);
    [[nodiscard]] Result<gpu::BufferSlice> lowered_indices(Lowering lowering, u32 index_type, u64 address, u32 first,
                                                           u32 count, u32& out_count);
    bool prepare_draw(u32 primitive, u32 base_vertex, u32 base_instance);
    bool try_prepare_draw(u32 primitive, u32 base_vertex, u32 base_instance);
    void settle(u64 address, u64 size);         // before a command reads or writes the bytes past the images
    void settle_for_cpu(u64 address, u64 size); // before they are read here: waits for every command that writes them
    void settle_bindings(program::Stage stage); // and before a stage may
    void settle_vertices();
    void settle_binding(const Range& range);
    void mark_storage_written(program::Stage stage);
    bool prepare_dispatch(const std::array<u32, 3>& groups);
    [[nodiscard]] gpu::Blend blendable(gpu::Blend blends) const;
    void set_draw_state(u32 primitive);
    void set_vertex_streams(u32 locations_read);

    // A command buffer with the queue's pools in the heap. Changing pools waits for the GPU: the heap holds one of a
    // kind.
    bool select_pools();

    // draw_texture.cpp
    void on(const stream::DrawTexture&, const Record&);

    // feedback.cpp
    void on(const stream::BindTransformFeedbackBuffer&, const Record&);
    void on(const stream::TransformFeedback&, const Record&);
    void on(const stream::DrawTransformFeedback&, const Record&);
    // Of the last program before the rasterizer, while capture is on. Null: this draw captures nothing.
    [[nodiscard]] const program::FeedbackLayout* capture_layout() const;
    void start_capture(const program::FeedbackLayout& layout); // in the pass, before the draw
    [[nodiscard]] bool reads_captured() const;                 // what this draw fetches was captured in the open pass
    void zero_counters(u64 control);

    // stages.cpp: programs, the textures and banks they read
    bool resolve_programs(u32 primitive);
    [[nodiscard]] bool stages_fit(u32 primitive) const;
    [[nodiscard]] u8 geometry_input_vertices(u32 primitive) const;
    [[nodiscard]] gpu::Shader* pass_through_control(u64 provided);
    bool resolve_stage(program::Stage stage, const shader::VariantKey& wanted);
    void add_texture_classes(program::Stage stage, const shader::Reflection& reflection, shader::VariantKey& key) const;
    void use_textures(program::Stage stage);
    [[nodiscard]] u32 handle_word(program::Stage stage, const shader::HandleUse& use) const;
    void set_banks(program::Stage stage);
    [[nodiscard]] shader::BankAddress window(const Range& bound);
    [[nodiscard]] gpu::BufferSlice window_rows(program::Stage stage, u32 size);
    [[nodiscard]] bool scatters_storage(program::Stage stage, const shader::Reflection& reflection) const;
    [[nodiscard]] gpu::BufferSlice bank_slice(program::Stage stage, const shader::BankUse& use);
    [[nodiscard]] gpu::BufferSlice uniform_slice(const Range& range);
    void set_root(bool compute);
    [[nodiscard]] std::optional<gpu::BufferSlice> resolve(u64 address, u64 size); // clamped to the pool, logged
    // sparse_buffers.cpp: ranges of virtual pools. What is mapped in several pieces is read from a copy of it.
    [[nodiscard]] std::optional<gpu::BufferSlice> resolve_virtual(u64 address, u64 size);
    // Behind a command that wrote to resolve(address): brings it there, if that was a copy.
    void scatter(u64 address, const gpu::BufferSlice& output);
    [[nodiscard]] std::optional<std::span<std::byte>> guest_storage(u64 address, u64 size) const; // in one piece
    [[nodiscard]] std::optional<Bytes> guest_bytes(u64 address, u64 size, std::vector<std::byte>& copy) const;

    // targets.cpp
    struct Target {
        Texture* texture = nullptr;
        VkImageView view = VK_NULL_HANDLE;
        VkFormat format = VK_FORMAT_UNDEFINED;
        u32 channels = 0;
        VkExtent2D extent{}; // its own, which a pass of several may not have
        u32 layers = 1;
        stream::ImageDescription image{}; // as it is drawn to
    };
    [[nodiscard]] stream::ImageDescription as_target(const stream::ImageDescription& image) const;
    void resolve_targets();
    bool open_pass();
    void mark_target_written(u32 slot, u32 layers);
    [[nodiscard]] static u32 channels_of(u32 format); // as a mask
    void order_within_pass(); // the next draw reads what earlier ones of the pass drew at its pixels
    void leave_pass();        // with the barrier and the deferred uniform updates behind it
    // `layers`: how many are asked for; becomes how many the view has.
    [[nodiscard]] Result<VkImageView> target_view(Texture& texture, const stream::ImageDescription& image,
                                                  u32 first_layer, u32& layers, VkFormat& format);

    // copies.cpp
    void on(const stream::CopyBufferToBuffer&, const Record&);
    void on(const stream::CopyBufferToTexture&, const Record&);
    void on(const stream::CopyTextureToBuffer&, const Record&);
    void on(const stream::CopyTextureToTexture&, const Record&);
    void on(const stream::Downsample&, const Record&);
    void on(const stream::UpdateUniformBuffer&, const Record&);
    void copy_buffer(const gpu::BufferSlice& from, const gpu::BufferSlice& to, u64 size);
    // Through a buffer: between places of one image that may overlap, and from planes to others of their layout.
    bool copy_by_buffer(Texture& source, Texture& dest, const VkImageCopy2& region, std::span<const PlanePair> planes);
    void blit(const gpu::Image& source, const VkImageSubresourceLayers& from, const VkOffset3D (&from_corners)[2],
              const gpu::Image& dest, const VkImageSubresourceLayers& to, const VkOffset3D (&to_corners)[2],
              VkFilter filter);
    void resolve(const Texture& source, const gpu::Image& dest, const VkImageSubresourceLayers& from,
                 const VkImageSubresourceLayers& to, VkExtent2D extent);
    void resolve_depth(Texture& source, const stream::ImageDescription& from, Texture& dest,
                       const stream::ImageDescription& to);
    [[nodiscard]] Texture* copy_texture(const stream::ImageDescription& image);
    void flush_uniform_updates();

    // order.cpp
    void on(const stream::Barrier&, const Record&);
    void on(const stream::ResetCounter&, const Record&);
    void on(const stream::ReportCounter&, const Record&);
    void on(const stream::ReportValue&, const Record&);
    void on(const stream::FenceSync&, const Record&);
    void on(const stream::WaitSync&, const Record&);
    void on(const stream::SignalEvent&, const Record&);
    void on(const stream::WaitEvent&, const Record&);
    void write_word(u64 address, u32 value);
    [[nodiscard]] Counters& counters(); // of the running queue
    // What lasts as long as a pass: queries and the condition. Around what the house draws for itself inside one, the
    // queries pause.
    void begin_counting();
    void end_counting();
    void begin_condition();
    void end_condition();

    Services s_;
    gpu::Commands* c_ = nullptr;
    GuestState* g_ = nullptr;
    GuestState* last_ = nullptr; // whose state the command buffer has
    UniformUpdates updates_;
    Statistics statistics_;
    std::vector<Completion> completions_;
    std::size_t carried_ = 0; // the first of these, of command buffers that were submitted before

    struct Resolved {
        StageCode* code = nullptr;
        Variant* variant = nullptr;
        gpu::BufferSlice banks[shader::banks::count + 1]; // and the windows
    };
    std::array<Resolved, program::stage_count> stages_{};
    u32 primitive_ = ~0u;
    std::vector<Range> captured_;   // written by captures of the open pass
    struct Captured {               // by the control memory
        u32 buffer = 0, stride = 0; // the first one that was written, and the bytes of a vertex in it
    };
    std::unordered_map<u64, Captured> captures_;

    std::unordered_map<u64, gpu::Shader*> pass_through_controls_;
    bool own_clear_pass_ = false;
    bool samples_attachment_ = false, stores_in_pass_ = false, draws_in_pass_ = false, barrier_asked_ = false;
    DriverParameters parameters_{};
    gpu::BufferSlice bank_table_{};
    shader::RootConstants root_{}; // of the last draw

    std::array<Target, stream::color_target_count + 1> targets_{};
    VkExtent2D extent_{};
    u32 layers_ = 1;
    VkSampleCountFlagBits samples_ = VK_SAMPLE_COUNT_1_BIT;
    u32 guest_samples_ = 1; // what the targets were made with, which the device may not have
    bool targets_valid_ = false;

    gpu::Shader *rect_ = nullptr, *draw_texture_ = nullptr;
    std::array<gpu::Shader*, 3> fills_{};

    bool waiting_ = false;
    std::unordered_map<stream::SyncId, u32> fences_; // newest executed
    struct EventSignal {                             // the last one by a stream
        u32 value;
        bool written; // else added
        std::shared_ptr<std::atomic<bool>> landed;
    };
    std::unordered_map<u64, EventSignal> events_; // by address

    CounterDevice counter_device_;
    std::shared_ptr<Counters> counting_; // in the open pass
    bool conditional_ = false;           // the open pass is
};

} // namespace heaviside::replay
