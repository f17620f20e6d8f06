#include "stream/walk.h"

#include <array>

namespace heaviside::stream {

namespace {

struct Shape {
    const char* name;
    u16 bytes; // of the struct
    bool fixed;
};
constexpr std::array<Shape, record_type_count> shapes{{
#define HEAVISIDE_SHAPE(name, shape) {#name, sizeof(name), RecordTraits<name>::fixed},
    HEAVISIDE_STREAM_RECORDS(HEAVISIDE_SHAPE)
#undef HEAVISIDE_SHAPE
}};

const Shape* shape_of(RecordType type) {
    const auto index = static_cast<unsigned>(type) - 0x4801u;
    return index < shapes.size() ? &shapes[index] : nullptr;
}

Result<void> check_range(unsigned first, unsigned count, unsigned limit, u64 tail, u64 element) {
    if (count == 0 || first > limit || count > limit - first)
        return fail("{} entries from {} on, of {}", count, first, limit);
    if (tail != count * element)
        return fail("{} entries in {} bytes", count, tail);
    return {};
}

// The tail of an Array record holds what its counts say. `tail` is its length in bytes.
Result<void> check_tail(const Record& record, u64 tail) {
    switch (record.type()) {
    case RecordType::BindVertexAttribState:
        return tail <= 16 * sizeof(VertexAttribState) ? Result<void>{} : fail("{} bytes of attributes", tail);
    case RecordType::BindVertexStreamState:
        if (tail > 16 * sizeof(VertexStreamState) || tail % sizeof(VertexStreamState) != 0)
            return fail("{} bytes of streams", tail);
        return {};
    case RecordType::BindHandles: {
        const auto& bind = record.as<BindHandles>();
        if (static_cast<unsigned>(bind.kind) >= handle_kind_count || static_cast<unsigned>(bind.stage) >= stage_count)
            return fail("handle kind {}, stage {}", static_cast<unsigned>(bind.kind),
                        static_cast<unsigned>(bind.stage));
        return check_range(bind.first, bind.count, handle_slots[static_cast<unsigned>(bind.kind)], tail, sizeof(u32));
    }
    case RecordType::SetRenderTargets: {
        const auto& set = record.as<SetRenderTargets>();
        if (set.present >= 2 * depth_stencil_present || set.color_count > color_target_count)
            return fail("target mask {:#x}, {} colour targets", u16{set.present}, u16{set.color_count});
        const u64 images = static_cast<u64>(std::popcount(u16{set.present}));
        return tail == images * sizeof(ImageDescription) ? Result<void>{}
                                                         : fail("{} targets in {} bytes", images, tail);
    }
    case RecordType::SetViewports: {
        const auto& set = record.as<SetViewports>();
        return check_range(set.first, set.count, viewport_count, tail, sizeof(Viewport));
    }
    case RecordType::SetScissors: {
        const auto& set = record.as<SetScissors>();
        return check_range(set.first, set.count, viewport_count, tail, sizeof(Scissor));
    }
    case RecordType::SetDepthRanges: {
        const auto& set = record.as<SetDepthRanges>();
        return check_range(set.first, set.count, viewport_count, tail, sizeof(DepthRange));
    }
    case RecordType::SetViewportSwizzles: {
        const auto& set = record.as<SetViewportSwizzles>();
        return check_range(set.first, set.count, viewport_count, tail, sizeof(ViewportSwizzle));
    }
    case RecordType::CopyBufferToTexture:
    case RecordType::CopyTextureToBuffer:
        return tail == 0 || tail == sizeof(CopyStrides) ? Result<void>{} : fail("{} bytes of strides", tail);
    case RecordType::UpdateUniformBuffer: {
        const u32 size = record.as<UpdateUniformBuffer>().size;
        return tail == align_up<u64>(size, 4) ? Result<void>{} : fail("{} bytes of data in {}", size, tail);
    }
    case RecordType::DebugMarker: {
        const u8 length = record.as<DebugMarker>().length;
        return tail == align_up<u64>(length, 4) ? Result<void>{} : fail("{} bytes of text in {}", length, tail);
    }
    default:
        return fail("{} has no tail", name(record.type()));
    }
}

} // namespace

const char* name(RecordType type) {
    const Shape* shape = shape_of(type);
    return shape ? shape->name : "?";
}

namespace {

// The shape of the record at `bytes`, if its header is sound.
Result<const Shape*> header_at(Bytes bytes) {
    const auto word = read_at<u32>(bytes, 0);
    if (!word)
        return fail("{} bytes are no record", bytes.size());
    const u64 size = u64{*word >> 16} * 4;
    const Shape* shape = shape_of(static_cast<RecordType>(*word & 0xffff));
    if (!shape)
        return fail("{:#010x} is no record header", *word);
    if (size > bytes.size())
        return fail("{} of {} bytes, {} left", shape->name, size, bytes.size());
    if (size < shape->bytes || (shape->fixed && size != shape->bytes))
        return fail("{} of {} bytes, not {}", shape->name, size, shape->bytes);
    return shape;
}

} // namespace

Result<Record> record_at(Bytes bytes) {
    const auto shape = header_at(bytes);
    if (!shape)
        return tl::unexpected(shape.error());
    const Record record(bytes.data());
    if (!(*shape)->fixed) {
        if (const auto tail = check_tail(record, record.bytes().size() - (*shape)->bytes); !tail)
            return fail("{}: {}", (*shape)->name, tail.error().message);
    }
    return record;
}

u64 record_size_at(Bytes bytes) {
    return header_at(bytes) ? Record(bytes.data()).bytes().size() : 0;
}

} // namespace heaviside::stream
