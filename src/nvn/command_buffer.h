// The command buffer object, and room for records in command memory.
//
// Recording writes records (stream/records.h) into the application's command memory and nothing else there. What
// strings a recording together stands in its control memory (command_list.h). The fast path of a call is: check the
// magic, compare with the limit, store the record. Everything else (no recording, memory used up, a piece too long for
// its entry) has the limit behind the cursor's room and ends in make_room().
//
// A command buffer is used by one thread at a time; different ones may record at once. GetCommandMemorySize may be
// called while another thread records (ledger OBJ-121).
#pragma once

#include "base/bytes.h"
#include "nvn/objects.h"
#include "stream/records.h"

#include <atomic>

namespace heaviside::nvn {

enum class Lent : u8 {
    No,          // the current segment is the application's
    ToRecording, // the library's, for what is being recorded
    ToBuffer     // the library's, instead of a grant without memory
};

struct CommandBuffer {
    u32 magic;
    u8 recording;
    u8 command_callback_enabled : 1;
    u8 control_callback_enabled : 1;
    u8 control_is_lent : 1;
    u8 pad;
    Lent lent;
    std::byte* cursor; // where the next record goes
    u8 application[8]; // byte 0 is stored to by code inlined from SDK headers (ledger OBJ-003): nothing of ours here
    std::byte* limit;  // records end here at most; null while not recording
    std::byte* piece;  // start of the records that have no control entry yet
    std::byte* segment_end;
    std::byte* counted; // `used` holds what was recorded up to here
    u64 used;           // bytes since the last AddCommandMemory, in segments before the current one
    u64 granted;        // size of the last AddCommandMemory; read by other threads
    u64 recording_serial;
    std::byte* recorded_from; // where the recording began in the current segment
    u64* control_start;
    u64* control_cursor;
    u64* control_end;
    u64 control_granted;
    u64 handle; // address of the recording's first control entry; 0: none yet
    PFNNVNCOMMANDBUFFERMEMORYCALLBACKPROC callback;
    void* callback_data;
    i64 copy_row_stride, copy_image_stride; // state that copies read, not commands (ledger OBJ-119)
};
static_assert(offsetof(CommandBuffer, application) == 0x10);
static_assert(fits<NVNcommandBuffer, CommandBuffer, 0xA0>);

template <>
struct LayoutOf<NVNcommandBuffer> {
    using type = CommandBuffer;
};
template <>
inline constexpr u32 magic_of<NVNcommandBuffer> = magic::command_buffer;

// Makes room for `bytes` at the cursor: splits a piece that is too long for a control entry, asks the application's
// callback, lends a segment. False, after a report, if nothing is being recorded or no memory is left.
[[nodiscard]] bool make_room(CommandBuffer& buffer, u32 bytes, const char* call);

// Room for a record of `bytes`, a multiple of 4; null after a report.
[[nodiscard]] inline std::byte* allocate(CommandBuffer& buffer, u32 bytes, const char* call) {
    if (static_cast<u64>(buffer.limit - buffer.cursor) < bytes) [[unlikely]] {
        if (!make_room(buffer, bytes, call))
            return nullptr;
    }
    std::byte* const at = buffer.cursor;
    buffer.cursor = at + bytes;
    return at;
}

// Records a Fixed record. The header of `record` is filled in.
template <class Record>
inline void record(NVNcommandBuffer* object, const char* call, Record value) {
    static_assert(stream::RecordTraits<Record>::fixed);
    if (CommandBuffer* const buffer = as_valid(object, call)) {
        if (std::byte* const at = allocate(*buffer, sizeof(Record), call)) {
            value.header = stream::header_of<Record>;
            std::memcpy(at, &value, sizeof value);
        }
    }
}

// Records an Array record with `tail` behind it, padded with zeros to a word.
template <class Record>
inline void record_array(NVNcommandBuffer* object, const char* call, Record value, const void* tail, u32 tail_bytes) {
    static_assert(!stream::RecordTraits<Record>::fixed);
    if (CommandBuffer* const buffer = as_valid(object, call)) {
        const u32 bytes = u32{sizeof(Record)} + align_up<u32>(tail_bytes, 4);
        if (std::byte* const at = allocate(*buffer, bytes, call)) {
            value.header = {stream::RecordTraits<Record>::type, static_cast<u16>(bytes / 4)};
            if (tail_bytes % 4 != 0)
                std::memset(at + bytes - 4, 0, 4);
            std::memcpy(at, &value, sizeof value);
            if (tail_bytes != 0)
                std::memcpy(at + sizeof value, tail, tail_bytes);
        }
    }
}

} // namespace heaviside::nvn
