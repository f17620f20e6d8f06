// Recording and submitting: a queue with a timeline, command buffers that emit only what changed, passes, barriers.
//
// One thread records on a Queue at a time. Every submission gets the next number of the queue's timeline; what a
// submission uses is released when that number completes (retire(), arena).
//
//   Commands* c = *queue.begin();
//   c->set(raster); c->set_shader(...); c->begin_pass(pass);
//   if (c->prepare_draw()) device.vk.vkCmdDraw(c->handle(), 3, 1, 0, 0);
//   c->end_pass();
//   u64 done = *queue.submit(*c);
//   queue.wait(done);
#pragma once

#include "gpu/descriptor_heap.h"
#include "gpu/draw_state.h"
#include "gpu/layout.h"
#include "gpu/shader.h"

#include <functional>

namespace heaviside::gpu {

class Commands;

class Queue {
public:
    // What all command buffers bind. References must outlive the queue; `heap` may be null (tests of copies).
    [[nodiscard]] static Result<std::unique_ptr<Queue>> create(const Device& device, const BindingLayout& layout,
                                                               DescriptorHeap* heap, ShaderLibrary* shaders);
    ~Queue(); // waits for all work, releases everything retired

    // A command buffer in the recording state, all state unset. At most one at a time.
    [[nodiscard]] Result<Commands*> begin();
    struct Signal { // binary (value ignored) or timeline
        VkSemaphore semaphore;
        u64 value;
        VkPipelineStageFlags2 stages;
    };
    // Ends and submits; returns the submission's number. Ends an open pass.
    [[nodiscard]] Result<u64> submit(Commands& commands, std::span<const Signal> waits = {},
                                     std::span<const Signal> signals = {});
    [[nodiscard]] u64 submitted() const { return submitted_; } // newest number
    [[nodiscard]] u64 completed() const;                       // newest number that is done; any thread
    // True when the submission is done, false on timeout; any thread. Errors: device lost.
    [[nodiscard]] Result<bool> wait(u64 submission, u64 timeout_nanoseconds = ~u64{0}) const;
    [[nodiscard]] VkSemaphore timeline() const { return timeline_.get(); } // to wait for from elsewhere

    // Destroys the object when everything recorded so far (the open command buffer included) has completed.
    template <class T>
    void retire(T object) {
        retire_call(std::make_unique<Holder<T>>(std::move(object)));
    }
    void collect(); // releases what is done; begin() calls it

    [[nodiscard]] Arena& arena() { return arena_; }
    [[nodiscard]] ShaderLibrary* shaders() const { return shaders_; }
    [[nodiscard]] const Device& device() const { return *device_; }

private:
    friend class Commands;
    struct Retired {
        virtual ~Retired() = default;
    };
    template <class T>
    struct Holder final : Retired {
        explicit Holder(T&& o) : object(std::move(o)) {}
        T object;
    };
    explicit Queue(const Device& device) : device_(&device), arena_(device) {}
    void retire_call(std::unique_ptr<Retired> object);

    const Device* device_;
    const BindingLayout* layout_ = nullptr;
    DescriptorHeap* heap_ = nullptr;
    ShaderLibrary* shaders_ = nullptr;
    Arena arena_;
    Buffer zeros_; // stands for unbound banks and streams where the device has no null descriptors
    Owned<VkSemaphore> timeline_;
    Owned<VkCommandPool> pool_;
    u64 submitted_ = 0;
    Commands* open_ = nullptr;
    std::vector<std::unique_ptr<Commands>> free_;
    std::deque<std::pair<u64, std::unique_ptr<Commands>>> busy_;
    std::deque<std::pair<u64, std::unique_ptr<Retired>>> retired_;
};

struct Attachment {
    VkImageView view = VK_NULL_HANDLE; // null: the slot is unused
    VkFormat format = VK_FORMAT_UNDEFINED;
    VkAttachmentLoadOp load = VK_ATTACHMENT_LOAD_OP_LOAD;
    VkAttachmentStoreOp store = VK_ATTACHMENT_STORE_OP_STORE;
    VkClearValue clear{};
    VkImageView resolve = VK_NULL_HANDLE;
};
struct Pass {
    std::array<Attachment, max_targets> colors{};
    u32 color_count = 0;
    Attachment depth, stencil; // same view if the image has both
    VkRect2D area{};
    u32 layers = 1;
    VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT; // also of a pass without attachments
    VkImageAspectFlags feedback = 0; // aspects of attachments that draws of the pass also read (AttachmentFeedback)
};

// Where a capture (TransformFeedback) goes. Offsets: multiples of 4.
struct Capture {
    std::array<BufferSlice, 4> buffers{};
    u32 count = 0;        // buffers 0 .. count - 1 are written; all of them are set
    BufferSlice counters; // four u32: bytes written to each; gets them at the end
    bool resume = false;  // goes on behind what the counters say; else at the buffers' begin
};

// A dependency between everything before and everything after it.
struct Barrier {
    VkPipelineStageFlags2 source_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkAccessFlags2 source_access = VK_ACCESS_2_MEMORY_WRITE_BIT;
    VkPipelineStageFlags2 target_stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    VkAccessFlags2 target_access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
};

class Commands {
public:
    [[nodiscard]] VkCommandBuffer handle() const { return handle_; }
    [[nodiscard]] u64 submission() const; // the number that submit() will return

    // State: kept; emitted by prepare_draw() if it differs from what the command buffer has.
    void set(const VertexInput&);
    void set(const InputAssembly&);
    void set(const Viewports&);
    void set(const Scissors&);
    void set(const Raster&);
    void set(const DepthBias&);
    void set(const Depth&);
    void set(const Stencil&);
    void set(const Blend&);
    void set(const BlendConstants&);
    void set(const Multisample&);
    void set(const DrawState&); // all of them
    [[nodiscard]] const DrawState& state() const { return state_; }

    void set_shader(shader::Stage stage, Shader* shader); // null: none. Compute is separate from the graphics stages.
    void set_root(const shader::RootConstants& root);     // graphics
    void set_compute_root(const shader::RootConstants& root);
    // Set 1, binding as banks::quota numbers it (BankUse::binding). A null slice reads zeros. Offset: the device's
    // minUniformBufferOffsetAlignment; size at most 64 KiB.
    void set_bank(u32 binding, const BufferSlice& slice);
    void set_compute_bank(u32 binding, const BufferSlice& slice);
    void set_vertex_stream(u32 stream, const BufferSlice& slice);      // null slice: attributes read zero
    void set_index_buffer(const BufferSlice& slice, VkIndexType type); // Uint8 needs IndexTypeUint8

    void begin_pass(const Pass& pass);
    void end_pass(); // no-op outside a pass
    [[nodiscard]] bool in_pass() const { return in_pass_; }
    [[nodiscard]] const Pass& pass() const { return pass_; }

    // Transform feedback of the draws between the two, inside one pass. Binding other shaders, leaving the pass and the
    // like end it; begun again with `resume` it goes on, in another pass, since counters need a barrier between:
    // capture_needs_pass(). What it wrote is like what shaders store.
    void begin_capture(const Capture& capture);
    void end_capture(); // no-op where there is none
    [[nodiscard]] bool capturing() const { return capturing_; }
    [[nodiscard]] bool capture_needs_pass() const { return captured_in_pass_; }
    [[nodiscard]] bool shaders_changed() const; // prepare_draw() would end a capture

    // Gathered; emitted before the next pass, dispatch, copy (prepare_transfer()) or submission. Ends no pass: inside
    // one it waits for its end, see in_pass_barrier().
    void barrier(const Barrier& barrier = {});
    // Inside a pass: later draws see what earlier draws stored to the same pixel of an attachment (by region).
    void in_pass_barrier();
    // First use of an image: from undefined to the one layout. Content stays undefined. Recorded in the prologue.
    void initialise(const Image& image);
    // A second command buffer that runs before everything recorded in this one, also when a pass is open here: uploads
    // into images and buffers that nothing in this submission has used yet. Memory barriers between its own commands
    // are the caller's; one after its end is made. Copies, fills and direct commands only.
    [[nodiscard]] VkCommandBuffer prologue();
    // Runs one of the house's kernels: parameters as push constants (at most 48 bytes), memory by address. Here: ends
    // an open pass; barriers around it are the caller's. False with an error line if the shader failed.
    enum class Place : u8 { Prologue, Here };
    [[nodiscard]] bool run_kernel(Place place, Shader& kernel, std::span<const std::byte> parameters,
                                  const std::array<u32, 3>& groups);

    // Emit what is dirty. False (with one error line) if a shader is missing or failed: skip the draw.
    [[nodiscard]] bool prepare_draw();     // inside a pass
    [[nodiscard]] bool prepare_dispatch(); // outside a pass
    void prepare_transfer();               // before copies, fills and clears recorded directly; ends an open pass

    // Commands recorded directly that change pipeline, shader, push or set bindings must be followed by this.
    void forget();

    struct Counters {
        u64 draws = 0, dispatches = 0, passes = 0, barriers = 0, state_commands = 0;
    };
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    friend class Queue;
    struct Banks {
        std::array<BufferSlice, 32> slices{};
        u32 dirty = ~0u;
    };
    explicit Commands(Queue& queue) : queue_(&queue) {}
    void restart(); // into the recording state
    void flush_barriers();
    void flush_image_barriers();
    void begin_rendering(bool resume);
    void with_capture_counters(PFN_vkCmdBeginTransformFeedbackEXT command); // begin and end have one type
    template <class Group>
    void assign(Group& mine, const Group& value, u32 bit);

    void emit_state();
    void emit_once();
    void emit_assembly();
    void emit_vertex_input();
    void emit_viewports();
    void emit_raster();
    void emit_depth();
    void emit_stencil();
    void emit_blend();
    void emit_multisample();
    void emit_streams();
    bool emit_shaders();
    bool emit_pipeline();
    bool bind_compute(VkCommandBuffer target, Shader* shader);
    void emit_root(const shader::RootConstants& root, VkPipelineLayout layout);
    void emit_banks(Banks& banks, VkPipelineBindPoint point, VkPipelineLayout layout, u32 count);
    void bind_heap(VkPipelineBindPoint point, VkPipelineLayout layout);

    Queue* queue_;
    VkCommandBuffer handle_ = VK_NULL_HANDLE, prologue_ = VK_NULL_HANDLE;
    bool prologue_open_ = false;
    DrawState state_;
    u32 dirty_ = ~0u;
    std::array<Shader*, program::stage_count> shaders_{};
    std::array<Shader*, program::stage_count> bound_{};
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    shader::RootConstants root_{}, compute_root_{}, pushed_{};
    bool root_pushed_ = false;
    Banks banks_, compute_banks_;
    std::array<BufferSlice, max_streams> streams_{};
    BufferSlice index_;
    VkIndexType index_type_ = VK_INDEX_TYPE_UINT16;
    Pass pass_;
    bool in_pass_ = false;
    bool capturing_ = false, captured_in_pass_ = false;
    Capture capture_; // the open one
    std::array<bool, 2> heap_bound_{};
    VkMemoryBarrier2 pending_barrier_{}; // stage masks 0: none
    std::vector<VkImageMemoryBarrier2> image_barriers_;
    Counters counters_;
};

} // namespace heaviside::gpu
