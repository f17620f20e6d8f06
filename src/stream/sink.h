// What stands behind the NVN objects: replay/ on a GPU, capture/ into a file (in front of another sink), a test.
//
// Everything the guest says reaches a sink through this interface, as values: nothing here or in a stream points at a
// guest object. A sink reads guest memory through guest/ only, at the addresses it is given.
//
// Threads. Every function may be called from any guest thread, several at once, except that calls naming the same queue
// come one at a time (NVN's rule for queues) and that an id is announced before and ended after all its other uses.
// A sink must not call back into nvn/ from inside a call. Functions return quickly unless their text says that they
// wait.
//
// Errors: a sink reports what it cannot do through base/log and goes on (D10); only the waiting functions have results.
#pragma once

#include "stream/buffer.h"
#include "stream/description.h"
#include "stream/records.h"

#include <array>
#include <span>

namespace heaviside::stream {

using QueueId = u32;  // 0: none
using WindowId = u32; // 0: none

struct MemoryPoolDescription {
    u64 address; // GPU address; of a virtual pool: of its reserved range
    u64 size;
    u32 flags;  // NVNmemoryPoolFlags
    void* host; // CPU address of the storage; null for virtual pools
};

// [offset, offset + size) of a virtual pool, whose pages are now those at `physical` (GPU address); 0: unmapped.
struct MemoryMapping {
    u64 address, size, physical;
};

struct ProgramStage {
    Stage stage;
    Bytes control;    // the control section
    u64 code_address; // GPU address of the code area
    Bytes code;       // the code area as far as it is known: from its start to the end of its pool, or of the code
};

struct ProgramDescription {
    ProgramId id;                         // of this content: SetShaders on the same object makes a new id
    std::span<const ProgramStage> stages; // the blobs are the guest's: copy during the call
};

struct QueueDescription {
    u8 window_origin; // NVNwindowOriginMode that facing follows for this queue's life (ledger REN-104)
    u32 flags;        // NVNqueueBuilderFlags
    i32 priority;     // NVNqueuePriority
};

// What of the device's state applies to a submission or a present. Viewport direction and presentation follow it.
struct DeviceModes {
    u8 window_origin; // NVNwindowOriginMode
    u8 depth_mode;    // NVNdepthMode
};

inline constexpr unsigned max_window_textures = 4;

struct WindowDescription {
    void* native_window; // as the application passed it, for the runtime to know; null: headless or the runtime's own
    u32 texture_count;   // 2..4
    std::array<ImageDescription, max_window_textures> textures;
};

struct Present {
    WindowId window;
    u32 texture; // index into the window's textures
    ImageDescription image;
    Region crop; // x, y, width, height in texels; whole texture if the application set none
    bool crop_set;
    u32 interval; // vertical blanks this frame is due for: 0..5
    DeviceModes modes;
};

class Sink {
public:
    virtual ~Sink() = default;

    // --- Queues ---
    virtual void queue_created(QueueId queue, const QueueDescription& description) = 0;
    // Its work has been finished (finish() was called). The state it left is dropped.
    virtual void queue_destroyed(QueueId queue) = 0;
    // Executes a stream after everything submitted to the queue before. Rendering state carries over from one
    // submission of a queue to the next and starts with NVN's defaults; queues share nothing. A WaitEvent or WaitSync
    // that does not hold stops this queue only, until another queue or the CPU makes it hold (ledger OBJ-124). `stream`
    // holds valid records only (stream/walk.h accepts it). What its records name (programs, pool entries) means what it
    // means now, however late the stream runs.
    virtual void submit(QueueId queue, const DeviceModes& modes, Buffer stream) = 0;
    // Work submitted so far is going to complete without further calls.
    virtual void flush(QueueId queue) = 0;
    // Waits until all work submitted to the queue is done, with its writes to guest memory. Does not wait for a
    // display.
    virtual void finish(QueueId queue) = 0;

    // --- Syncs: fences arrive as FenceSync records ---
    [[nodiscard]] virtual bool sync_reached(SyncId sync, u32 value) = 0;
    // Waits until that fence is done and all writes of its submission are in guest memory; flushes what it waits for.
    // False: timeout_ns (~0: no limit; 0: does not wait) passed first.
    [[nodiscard]] virtual bool wait_sync(SyncId sync, u32 value, u64 timeout_ns) = 0;
    virtual void sync_destroyed(SyncId sync) = 0;
    // The CPU has changed an event's value (it is in guest memory already): waits on it may hold now.
    virtual void event_signalled(u64 address) = 0;

    // --- Windows ---
    virtual void window_created(WindowId window, const WindowDescription& description) = 0;
    virtual void window_destroyed(WindowId window) = 0; // its presents have been shown or dropped
    // The application is going to draw into texture `index`: waits until its last present has been processed, then has
    // `sync` reach `value`. False: the window is gone (native error); the sync reaches its value all the same.
    [[nodiscard]] virtual bool acquire(WindowId window, u32 index, SyncId sync, u32 value) = 0;
    // Shows a texture after everything submitted to the queue before, in order with the queue's other presents.
    virtual void present(QueueId queue, const Present& present) = 0;

    // --- Memory ---
    virtual void memory_pool_created(const MemoryPoolDescription&) {}
    virtual void memory_pool_destroyed(u64 /*address*/) {} // the storage is the application's again after the call
    virtual void memory_mapped(std::span<const MemoryMapping>) {}
    // The CPU has written, or is about to read, guest memory through an API call (texel writes and reads, flush and
    // invalidate of mapped ranges). The second waits until guest memory holds what finished GPU work wrote.
    virtual void memory_written(u64 /*address*/, u64 /*size*/) {}
    virtual void memory_read(u64 /*address*/, u64 /*size*/) {}

    // --- Programs: translation starts when one is created (D6) ---
    virtual void program_created(const ProgramDescription&) {}
    virtual void program_destroyed(ProgramId) {} // no later submission names it

    // --- Texture and sampler pools. An entry changes at once for streams submitted from now on. ---
    virtual void texture_pool_created(PoolId, u64 /*descriptors*/, u32 /*capacity*/) {}
    virtual void texture_pool_destroyed(PoolId) {}
    // storage: by RegisterImage. Both kinds of handle can name any entry all the same (ledger OBJ-248, OBJ-249).
    virtual void texture_registered(PoolId, u32 /*index*/, const ImageDescription&, bool /*storage*/) {}
    virtual void sampler_pool_created(PoolId, u64 /*descriptors*/, u32 /*capacity*/) {}
    virtual void sampler_pool_destroyed(PoolId) {}
    virtual void sampler_registered(PoolId, u32 /*index*/, const SamplerDescription&) {}
};

} // namespace heaviside::stream
