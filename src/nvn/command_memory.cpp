// Command buffers: life, memory, recordings, and lists in lists.
#include "nvn/command_buffer.h"
#include "nvn/command_lent.h"
#include "nvn/command_list.h"
#include "nvn/entry_points.h"
#include "nvn/labels.h"
#include "nvn/report.h"

#include <algorithm>

namespace heaviside::nvn {

namespace {

// Device integers COMMAND_BUFFER_MIN_COMMAND_SIZE and _MIN_CONTROL_SIZE: what a callback is asked for at least.
constexpr u64 min_command_bytes = 512, min_control_bytes = 256;

u64 used_bytes(const CommandBuffer& buffer) {
    return buffer.used + static_cast<u64>(buffer.cursor - buffer.counted);
}

// How far records may go before the open piece must be closed.
void set_limit(CommandBuffer& buffer) {
    if (!buffer.recording) {
        buffer.limit = buffer.cursor;
        return;
    }
    const i64 piece_bytes = i64{ControlEntry::max_words} * 4;
    buffer.limit = buffer.segment_end - buffer.piece > piece_bytes ? buffer.piece + piece_bytes : buffer.segment_end;
}

void use_segment(CommandBuffer& buffer, std::byte* start, std::byte* end, Lent lent) {
    buffer.cursor = buffer.piece = buffer.counted = buffer.recorded_from = start;
    buffer.segment_end = end;
    buffer.lent = lent;
    set_limit(buffer);
}

void use_control(CommandBuffer& buffer, std::span<u64> entries) {
    // A recording goes on in the new memory: the slot behind a non-final entry is kept free for this.
    if (buffer.recording && buffer.handle != 0)
        *buffer.control_cursor = ControlEntry::jump(entries.data()).bits();
    buffer.control_start = buffer.control_cursor = entries.data();
    buffer.control_end = entries.data() + entries.size();
}

// Says what list the entries in a lent block belong to: the block is lent again when the list is recorded over.
void note_control(const CommandBuffer& buffer) {
    if (!buffer.control_is_lent || buffer.handle == 0)
        return;
    const ControlEntry first(*reinterpret_cast<const u64*>(buffer.handle));
    // An empty list is over with the next one at its place.
    const auto* const piece = reinterpret_cast<const std::byte*>(first.address());
    lent_memory().control_used(buffer.control_start,
                               piece ? Bytes(piece, first.words() * u64{4}) : Bytes(buffer.piece, 4), buffer.handle);
}

void leave_control(CommandBuffer& buffer) {
    if (!buffer.control_is_lent)
        return;
    note_control(buffer);
    lent_memory().leave_control(buffer.control_start);
    buffer.control_is_lent = 0;
}

// Room for one entry and, behind an entry that is not the last, for a jump (ledger OBJ-112).
bool make_control_room(NVNcommandBuffer* object, CommandBuffer& buffer, bool last) {
    const i64 needed = last ? 1 : 2;
    const u64* before = nullptr;
    bool asked = false;
    while (buffer.control_end - buffer.control_cursor < needed) {
        const bool declined = asked && buffer.control_cursor == before;
        if (declined || !buffer.callback || !buffer.control_callback_enabled) {
            const auto lent = lent_memory().take_control();
            if (lent.empty()) {
                report_error("nvnCommandBuffer", "no control memory left to lend; commands are dropped");
                return false;
            }
            leave_control(buffer);
            use_control(buffer, {reinterpret_cast<u64*>(lent.data()), lent.size() / sizeof(u64)});
            buffer.control_is_lent = 1;
            return true;
        }
        asked = true;
        before = buffer.control_cursor;
        buffer.callback(object, NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_CONTROL_MEMORY, min_control_bytes,
                        buffer.callback_data);
    }
    return true;
}

void add_entry(NVNcommandBuffer* object, CommandBuffer& buffer, ControlEntry entry) {
    if (!make_control_room(object, buffer, entry.is_last()))
        return;
    if (buffer.handle == 0)
        buffer.handle = reinterpret_cast<u64>(buffer.control_cursor);
    *buffer.control_cursor++ = entry.bits();
}

// The records since the last entry become a piece of their own.
void close_piece(NVNcommandBuffer* object, CommandBuffer& buffer) {
    if (buffer.cursor == buffer.piece)
        return;
    std::byte* const start = buffer.piece;
    const auto bytes = static_cast<u64>(buffer.cursor - start);
    buffer.piece = buffer.cursor; // first: the entry may need a callback, which sees the command buffer
    set_limit(buffer);
    if (buffer.lent == Lent::No)
        lent_memory().written(buffer.recording_serial, {start, bytes});
    add_entry(object, buffer, ControlEntry::piece(start, static_cast<u32>(bytes / 4), false));
}

void lend_segment(CommandBuffer& buffer, u64 bytes, Bytes owner) {
    const auto lent = lent_memory().take(bytes, buffer.recording ? buffer.recording_serial : 0, owner);
    if (lent.empty()) {
        report_error("nvnCommandBuffer", "{} MB of command memory are lent, more is not; commands are dropped",
                     LentMemory::limit >> 20);
        return;
    }
    buffer.used = used_bytes(buffer);
    use_segment(buffer, lent.data(), lent.data() + lent.size(), buffer.recording ? Lent::ToRecording : Lent::ToBuffer);
}

// Marks the recording's last entry, or adds one if it ends in fresh control memory or is empty.
void end_list(NVNcommandBuffer* object, CommandBuffer& buffer) {
    close_piece(object, buffer);
    if (buffer.handle != 0 && buffer.control_cursor != buffer.control_start)
        buffer.control_cursor[-1] |= ControlEntry::last_bit;
    else
        add_entry(object, buffer, ControlEntry::end());
}

std::atomic<u64> recording_serials = 0;

} // namespace

bool make_room(CommandBuffer& buffer, u32 bytes, const char* call) {
    auto* const object = reinterpret_cast<NVNcommandBuffer*>(&buffer);
    if (!buffer.recording) {
        report_error(call, "the command buffer is not recording");
        return false;
    }
    const std::byte* before = nullptr;
    for (int asked = 0;;) {
        if (static_cast<u64>(buffer.limit - buffer.cursor) >= bytes)
            return true;
        if (static_cast<u64>(buffer.segment_end - buffer.cursor) >= bytes) {
            close_piece(object, buffer); // it is as long as an entry can say
            continue;
        }
        const Bytes owner = buffer.lent != Lent::No ? Bytes{} : Bytes(buffer.recorded_from, buffer.cursor);
        close_piece(object, buffer);
        // Again after too small a grant, but not for ever.
        if (buffer.callback && buffer.command_callback_enabled && (asked == 0 || buffer.cursor != before) &&
            asked < 64) {
            ++asked;
            before = buffer.cursor;
            buffer.callback(object, NVN_COMMAND_BUFFER_MEMORY_EVENT_OUT_OF_COMMAND_MEMORY,
                            std::max<u64>(bytes, min_command_bytes), buffer.callback_data);
            continue;
        }
        lend_segment(buffer, std::max<u64>(bytes, LentMemory::segment_bytes), owner);
        return static_cast<u64>(buffer.limit - buffer.cursor) >= bytes;
    }
}

// --- Life and settings ---

NVNboolean nvnCommandBufferInitialize(NVNcommandBuffer* cmdBuf, NVNdevice* device) {
    if (!as_valid(device, __func__))
        return NVN_FALSE;
    if (!cmdBuf) {
        report_bad_object(__func__, cmdBuf);
        return NVN_FALSE;
    }
    CommandBuffer& buffer = *layout(cmdBuf);
    u8 application[sizeof buffer.application];
    std::memcpy(application, buffer.application, sizeof application);
    buffer = {};
    std::memcpy(buffer.application, application, sizeof application);
    buffer.magic = magic::command_buffer;
    buffer.command_callback_enabled = buffer.control_callback_enabled = 1;
    return NVN_TRUE;
}

void nvnCommandBufferFinalize(NVNcommandBuffer* cmdBuf) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__)) {
        leave_control(*buffer);
        buffer->magic = 0; // recordings live on in their memory
    }
}

void nvnCommandBufferSetDebugLabel(NVNcommandBuffer* cmdBuf, const char* label) {
    set_label(cmdBuf, label, __func__);
}

void nvnCommandBufferSetMemoryCallback(NVNcommandBuffer* cmdBuf, PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC callback) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->callback = callback;
}

void nvnCommandBufferSetMemoryCallbackData(NVNcommandBuffer* cmdBuf, void* callbackData) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->callback_data = callbackData;
}

void nvnCommandBufferSetCommandMemoryCallbackEnabled(NVNcommandBuffer* cmdBuf, BooleanArgument enable) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->command_callback_enabled = is_true(enable);
}

void nvnCommandBufferSetControlMemoryCallbackEnabled(NVNcommandBuffer* cmdBuf, BooleanArgument enable) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->control_callback_enabled = is_true(enable);
}

PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC nvnCommandBufferGetMemoryCallback(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? buffer->callback : nullptr;
}

void* nvnCommandBufferGetMemoryCallbackData(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? buffer->callback_data : nullptr;
}

void nvnCommandBufferSetCopyRowStride(NVNcommandBuffer* cmdBuf, ptrdiff_t stride) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->copy_row_stride = stride;
}

void nvnCommandBufferSetCopyImageStride(NVNcommandBuffer* cmdBuf, ptrdiff_t stride) {
    if (CommandBuffer* const buffer = as_valid(cmdBuf, __func__))
        buffer->copy_image_stride = stride;
}

ptrdiff_t nvnCommandBufferGetCopyRowStride(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? buffer->copy_row_stride : 0;
}

ptrdiff_t nvnCommandBufferGetCopyImageStride(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? buffer->copy_image_stride : 0;
}

// --- Memory ---

void nvnCommandBufferAddCommandMemory(NVNcommandBuffer* cmdBuf, const NVNmemoryPool* pool, ptrdiff_t offset,
                                      size_t size) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return;
    close_piece(cmdBuf, *buffer);
    std::atomic_ref(buffer->granted).store(size, std::memory_order_relaxed);
    buffer->used = 0;
    buffer->counted = buffer->cursor;
    const MemoryPool* const memory = as_valid(pool, __func__);
    if (!memory || !memory->memory) {
        // What an application does whose own heap is used up. Outside a recording a small grant gets little (OBJ-104).
        lend_segment(*buffer, buffer->recording ? LentMemory::segment_bytes : size, {});
        return;
    }
    if (offset < 0 || static_cast<u64>(offset) > memory->size || size > memory->size - static_cast<u64>(offset)) {
        report_error(__func__, "{} bytes at {} of a pool of {}", size, offset, memory->size);
        use_segment(*buffer, nullptr, nullptr, Lent::No);
        return;
    }
    // Alignment is 4 (device integer 0x13); what is off costs its own bytes.
    const u64 start = align_up<u64>(reinterpret_cast<u64>(memory->memory + offset), 4);
    const u64 end = reinterpret_cast<u64>(memory->memory + offset + size) & ~u64{3};
    use_segment(*buffer, reinterpret_cast<std::byte*>(start), reinterpret_cast<std::byte*>(std::max(start, end)),
                Lent::No);
}

void nvnCommandBufferAddControlMemory(NVNcommandBuffer* cmdBuf, void* memory, size_t size) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return;
    const u64 start = align_up<u64>(reinterpret_cast<u64>(memory), sizeof(u64));
    const u64 end = (reinterpret_cast<u64>(memory) + size) & ~u64{sizeof(u64) - 1};
    if (!memory || end < start + 2 * sizeof(u64)) {
        report_error(__func__, "{} bytes at {} hold no control list", size, memory);
        return;
    }
    leave_control(*buffer);
    use_control(*buffer, {reinterpret_cast<u64*>(start), (end - start) / sizeof(u64)});
    buffer->control_granted = size;
}

size_t nvnCommandBufferGetCommandMemorySize(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? std::atomic_ref(const_cast<u64&>(buffer->granted)).load(std::memory_order_relaxed) : 0;
}

size_t nvnCommandBufferGetCommandMemoryUsed(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? used_bytes(*buffer) : 0;
}

size_t nvnCommandBufferGetCommandMemoryFree(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? static_cast<size_t>(buffer->segment_end - buffer->cursor) : 0;
}

size_t nvnCommandBufferGetControlMemorySize(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? buffer->control_granted : 0;
}

size_t nvnCommandBufferGetControlMemoryUsed(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? static_cast<size_t>(buffer->control_cursor - buffer->control_start) * sizeof(u64) : 0;
}

size_t nvnCommandBufferGetControlMemoryFree(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return buffer ? static_cast<size_t>(buffer->control_end - buffer->control_cursor) * sizeof(u64) : 0;
}

// --- Recordings ---

void nvnCommandBufferBeginRecording(NVNcommandBuffer* cmdBuf) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return;
    if (buffer->recording)
        report_error(__func__, "the command buffer is recording already; what it recorded is dropped");
    buffer->recording = 1;
    buffer->recording_serial = recording_serials.fetch_add(1, std::memory_order_relaxed) + 1;
    buffer->handle = 0;
    buffer->piece = buffer->recorded_from = buffer->cursor;
    set_limit(*buffer);
}

NVNcommandHandle nvnCommandBufferEndRecording(NVNcommandBuffer* cmdBuf) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return 0;
    if (!buffer->recording) {
        report_error(__func__, "the command buffer is not recording");
        return 0;
    }
    end_list(cmdBuf, *buffer);
    note_control(*buffer);
    buffer->recording = 0;
    if (buffer->lent == Lent::ToRecording) { // it goes when this recording goes: the next one does not move in
        buffer->used = used_bytes(*buffer);
        use_segment(*buffer, nullptr, nullptr, Lent::No);
    }
    set_limit(*buffer);
    const NVNcommandHandle handle = buffer->handle;
    buffer->handle = 0;
    return handle;
}

NVNboolean nvnCommandBufferIsRecording(const NVNcommandBuffer* cmdBuf) {
    const CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    return boolean(buffer && buffer->recording);
}

void nvnCommandBufferCallCommands(NVNcommandBuffer* cmdBuf, int numCommands, const NVNcommandHandle* handles) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return;
    if (!buffer->recording) {
        report_error(__func__, "the command buffer is not recording");
        return;
    }
    close_piece(cmdBuf, *buffer);
    for (int i = 0; handles && i < numCommands; ++i) {
        // The entries are copied, not the records: the callee's control memory is free again, its command memory is
        // read at submission (ledger OBJ-114, OBJ-117).
        for (PieceWalk walk(handles[i]);;) {
            const auto piece = walk.next();
            if (!piece) {
                report_error(__func__, "handle {:#x}: {}", handles[i], piece.error().message);
                break;
            }
            if (piece->empty())
                break;
            add_entry(cmdBuf, *buffer, ControlEntry::piece(piece->data(), static_cast<u32>(piece->size() / 4), false));
        }
    }
}

void nvnCommandBufferCopyCommands(NVNcommandBuffer* cmdBuf, int numCommands, const NVNcommandHandle* handles) {
    CommandBuffer* const buffer = as_valid(cmdBuf, __func__);
    if (!buffer)
        return;
    if (!buffer->recording) {
        report_error(__func__, "the command buffer is not recording");
        return;
    }
    for (int i = 0; handles && i < numCommands; ++i) {
        for (PieceWalk walk(handles[i]);;) {
            const auto piece = walk.next();
            if (!piece) {
                report_error(__func__, "handle {:#x}: {}", handles[i], piece.error().message);
                break;
            }
            if (piece->empty())
                break;
            for_each_valid_record(*piece, piece->data(), [&](const stream::Record& source) {
                const Bytes bytes = source.bytes();
                if (std::byte* const at =
                        allocate(*buffer, static_cast<u32>(bytes.size()), "nvnCommandBufferCopyCommands"))
                    std::memcpy(at, bytes.data(), bytes.size());
            });
        }
    }
}

} // namespace heaviside::nvn
