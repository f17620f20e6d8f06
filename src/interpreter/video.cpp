// Scalar video instructions. Sources are bytes, halves or words of either sign. The first operation is exact; its
// result is saturated to the destination's size and joined with C: merged into it, added to it, or compared with it.
#include "interpreter/lanes.h"

#include <algorithm>

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::DataType;
using maxwell::Part;
using maxwell::VideoOp;

__extension__ typedef __int128 i128;

// The value of a source.
class VideoSource {
public:
    VideoSource(const Warp& warp, const Operand& operand, DataType type)
        : source_(warp, operand), sign_(is_signed(type)) {
        const Part part = operand.part;
        if (operand.kind == OperandKind::Immediate)
            width_ = 16;
        else if (type == DataType::U8 || type == DataType::S8)
            width_ = 8;
        else if (type == DataType::U16 || type == DataType::S16)
            width_ = 16;
        if (part >= Part::B1 && part <= Part::B3)
            first_ = 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::B0));
        else if (part == Part::H1)
            first_ = 16;
    }
    [[nodiscard]] i64 operator()(unsigned lane) const {
        const u64 piece = bits(source_(lane), first_, width_);
        return sign_ ? sign_extend(piece, width_) : static_cast<i64>(piece);
    }
    [[nodiscard]] bool negated() const { return source_.operand().negated; }
    [[nodiscard]] bool has_sign() const { return sign_; }

private:
    Source source_;
    bool sign_;
    unsigned first_ = 0, width_ = 32;
};

struct Sources {
    VideoSource a, b;
    Sources(const Warp& warp, const Instruction& in)
        : a(warp, in.operand(Slot::A), in.get<DataType>(Modifier::SourceType)),
          b(warp, in.operand(Slot::B), in.get<DataType>(Modifier::SourceType2)) {}
};

u32 clamped(i128 value, unsigned width, bool sign) {
    const i128 top = sign ? (i128{1} << (width - 1)) - 1 : (i128{1} << width) - 1;
    return static_cast<u32>(std::clamp(value, sign ? -top - 1 : i128{0}, top));
}

struct Place {
    unsigned first, width;
};
Place place_of(VideoOp op) {
    switch (op) {
    case VideoOp::MergeHigh16:
        return {16, 16};
    case VideoOp::MergeLow16:
        return {0, 16};
    case VideoOp::MergeByte0:
        return {0, 8};
    case VideoOp::MergeByte2:
        return {16, 8};
    default:
        return {0, 32};
    }
}

u32 joined(VideoOp op, u32 word, u32 c, bool sign) {
    switch (op) {
    case VideoOp::None:
        return word;
    case VideoOp::Accumulate:
        return word + c;
    case VideoOp::Min:
    case VideoOp::Max: {
        const bool less = sign ? static_cast<i32>(word) < static_cast<i32>(c) : word < c;
        return less == (op == VideoOp::Min) ? word : c;
    }
    default: {
        const Place place = place_of(op);
        const u32 ones = ((1u << place.width) - 1) << place.first;
        return (c & ~ones) | (word << place.first & ones);
    }
    }
}

// Destinations are signed unless .UD says otherwise; those of absolute differences are unsigned unless .SD does.
bool destination_is_signed(const Instruction& in) {
    const u8 type = in.modifier(Modifier::DestinationType);
    if (in.opcode() == Opcode::VABSDIFF || in.opcode() == Opcode::VABSDIFF4)
        return type != 0;
    return static_cast<DataType>(type) != DataType::UD;
}

void word_result(Warp& warp, const Instruction& in, unsigned lane, u32 word) {
    finish(warp, in.operand(Slot::D).reg, in.has(Modifier::WriteCC), lane, word, zero_and_sign(word));
}

// Runs `operation` on the two sources and joins its exact result with C.
template <class F>
void for_sources(Warp& warp, const Instruction& in, u32 mask, F&& operation) {
    const Sources s(warp, in);
    const Source c(warp, in.operand(Slot::C));
    const auto op = in.get<VideoOp>();
    const bool sign = destination_is_signed(in), saturate = in.has(Modifier::Saturate);
    for_lanes(mask, [&](unsigned lane) {
        const i128 exact = operation(s.a(lane), s.b(lane));
        const u32 word = saturate ? clamped(exact, place_of(op).width, sign) : static_cast<u32>(exact);
        word_result(warp, in, lane, joined(op, word, c(lane), sign));
    });
}

void vadd(Warp& warp, const Instruction& in, u32 mask) {
    const bool plus_one = in.has(Modifier::PlusOne);
    const bool negate_a = !plus_one && in.operand(Slot::A).negated, negate_b = !plus_one && in.operand(Slot::B).negated;
    for_sources(warp, in, mask,
                [&](i64 a, i64 b) -> i128 { return (negate_a ? -a : a) + (negate_b ? -b : b) + (plus_one ? 1 : 0); });
}

void vabsdiff(Warp& warp, const Instruction& in, u32 mask) {
    for_sources(warp, in, mask, [](i64 a, i64 b) -> i128 { return a > b ? a - b : b - a; });
}

void vmnmx(Warp& warp, const Instruction& in, u32 mask) {
    const bool maximum = in.has(Modifier::VideoMinMax);
    for_sources(warp, in, mask, [&](i64 a, i64 b) -> i128 { return maximum ? std::max(a, b) : std::min(a, b); });
}

// Counts above 32 act as 32; .W takes them modulo 32.
unsigned shift_count(i64 count, bool wrap) {
    return static_cast<unsigned>(wrap ? count & 31 : std::min<i64>(count & 0xffffffff, 32));
}

void vshl(Warp& warp, const Instruction& in, u32 mask) {
    const bool wrap = in.has(Modifier::Wrap);
    for_sources(warp, in, mask, [&](i64 a, i64 b) -> i128 { return i128{a} * (i128{1} << shift_count(b, wrap)); });
}

void vshr(Warp& warp, const Instruction& in, u32 mask) {
    const bool wrap = in.has(Modifier::Wrap);
    for_sources(warp, in, mask, [&](i64 a, i64 b) -> i128 { return a >> shift_count(b, wrap); });
}

// 1 or 0. Joining by minimum or maximum is signed if A is (seen in the kernels).
void vset(Warp& warp, const Instruction& in, u32 mask) {
    const Sources s(warp, in);
    const Source c(warp, in.operand(Slot::C));
    const auto op = in.get<VideoOp>();
    const auto comparison = in.get<Compare>();
    const bool sign = s.a.has_sign();
    for_lanes(mask, [&](unsigned lane) {
        const u32 word = holds(comparison, ordering_of(s.a(lane), s.b(lane))) ? 1 : 0;
        word_result(warp, in, lane, joined(op, word, c(lane), sign));
    });
}

void vsetp(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), joining = in.operand(Slot::S);
    const Sources s(warp, in);
    const auto comparison = in.get<Compare>();
    for_lanes(mask, [&](unsigned lane) {
        set_predicates(warp, p, q, in.get<BoolOp>(), lane, holds(comparison, ordering_of(s.a(lane), s.b(lane))),
                       warp.predicate(joining, lane));
    });
}

// The product and C are signed as soon as a source has a sign or is negated.
void vmad(Warp& warp, const Instruction& in, u32 mask) {
    using maxwell::VideoShift;
    const Sources s(warp, in);
    const Source c(warp, in.operand(Slot::C));
    const bool plus_one = in.has(Modifier::PlusOne), saturate = in.has(Modifier::Saturate);
    const bool negate_product = !plus_one && s.a.negated() != s.b.negated(),
               negate_c = !plus_one && c.operand().negated;
    const bool sign = s.a.has_sign() || s.b.has_sign() || negate_product || negate_c;
    const auto scale = in.get<VideoShift>();
    const int shift = scale == VideoShift::Shr7 ? 7 : scale == VideoShift::Shr15 ? 15 : 0;
    for_lanes(mask, [&](unsigned lane) {
        const i128 product = i128{s.a(lane)} * s.b(lane);
        const i128 addend = sign ? i128{static_cast<i32>(c(lane))} : i128{c(lane)};
        const i128 exact =
            ((negate_product ? -product : product) + (negate_c ? -addend : addend) + (plus_one ? 1 : 0)) >> shift;
        word_result(warp, in, lane, saturate ? clamped(exact, 32, sign) : static_cast<u32>(exact));
    });
}

// Bytes of {B, A} by number, the lowest in the lowest nibble.
constexpr u16 selections_a[] = {0x0000, 0x1111, 0x2222, 0x3333, 0x3210, 0x4321, 0x5432,
                                0x6543, 0x3201, 0x3012, 0x0213, 0x3120, 0x1230, 0x2310};
constexpr u16 selections_b[] = {0x4444, 0x5555, 0x6666, 0x7777, 0x7654, 0x6543, 0x5432, 0x4321, 0x4567, 0x6745, 0x5476};

// Absolute differences of four bytes. Bytes outside the mask are C's; .ACC adds those inside to C.
void vabsdiff4(Warp& warp, const Instruction& in, u32 mask) {
    const Source a(warp, in.operand(Slot::A)), b(warp, in.operand(Slot::B)), c(warp, in.operand(Slot::C));
    const u32 from_a = selections_a[static_cast<std::size_t>(a.operand().part) % std::size(selections_a)];
    const u32 from_b = b.operand().kind == OperandKind::Immediate
                           ? 0x7654u
                           : selections_b[static_cast<std::size_t>(b.operand().part) % std::size(selections_b)];
    const bool signed_a = in.get<DataType>(Modifier::SourceType) == DataType::S8,
               signed_b = in.get<DataType>(Modifier::SourceType2) == DataType::S8, sign = destination_is_signed(in),
               saturate = in.has(Modifier::Saturate), accumulate = in.has(Modifier::Accumulate);
    const u32 chosen = in.modifier(Modifier::VideoMask);
    for_lanes(mask, [&](unsigned lane) {
        const u64 pair = u64{b(lane)} << 32 | a(lane);
        const auto byte = [&](u32 selection, unsigned i, bool is_signed_byte) {
            const u64 value = pair >> 8 * (selection >> 4 * i & 7) & 0xff;
            return is_signed_byte ? sign_extend(value, 8) : static_cast<i64>(value);
        };
        u32 word = c(lane);
        for (unsigned i = 0; i < 4; ++i) {
            if (!(chosen >> i & 1))
                continue;
            const i64 x = byte(from_a, i, signed_a), y = byte(from_b, i, signed_b);
            const i64 difference = x > y ? x - y : y - x;
            const u32 result = saturate ? clamped(difference, 8, sign) : static_cast<u32>(difference);
            word = accumulate ? word + result : (word & ~(0xffu << 8 * i)) | (result & 0xff) << 8 * i;
        }
        word_result(warp, in, lane, word);
    });
}

} // namespace

std::span<const Row> video_rows() {
    static constexpr Row rows[] = {
        {Opcode::VADD, vadd},   {Opcode::VABSDIFF, vabsdiff}, {Opcode::VABSDIFF4, vabsdiff4},
        {Opcode::VMNMX, vmnmx}, {Opcode::VSHL, vshl},         {Opcode::VSHR, vshr},
        {Opcode::VSET, vset},   {Opcode::VSETP, vsetp},       {Opcode::VMAD, vmad},
    };
    return rows;
}

} // namespace heaviside::interpreter
