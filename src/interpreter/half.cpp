// Half-precision arithmetic and comparison, two at a time. Operations are exact and rounded once.
#include "interpreter/lanes.h"
#include "interpreter/soft_float.h"

namespace heaviside::interpreter {
namespace {

using maxwell::BoolOp;
using maxwell::Compare;
using maxwell::FloatMode;
using maxwell::HalfMerge;
using maxwell::Part;
using soft::binary16;
using soft::binary32;
using soft::Kind;
using soft::Number;

// One of the two numbers of a source. Constant banks hold one single-precision number for both (measured).
class HalfSource {
public:
    HalfSource(const Warp& warp, const Operand& operand, FloatMode mode)
        : source_(warp, operand), part_(operand.kind == OperandKind::Constant ? Part::F32 : operand.part),
          flush_(mode != FloatMode::None) {}
    [[nodiscard]] Number operator()(unsigned lane, unsigned half) const {
        const u32 word = source_(lane);
        const Operand& operand = source_.operand();
        const unsigned chosen = part_ == Part::H0H0 ? 0 : part_ == Part::H1H1 ? 1 : half;
        Number number = part_ == Part::F32 ? unpack(binary32, word, flush_)
                                           : unpack(binary16, word >> 16 * chosen & 0xffff, flush_);
        number.negative = (number.negative && !operand.absolute) != operand.negated;
        return number;
    }

private:
    Source source_;
    Part part_;
    bool flush_;
};

constexpr Number plus_one{Kind::Finite, false, 0, 1};

// Rounds the two numbers and puts them where the merge mode says: both as halves, the lower as single precision, or
// one in its place.
class Result {
public:
    Result(Warp& warp, const Instruction& in)
        : warp_(warp), reg_(in.operand(Slot::D).reg), merge_(in.get<HalfMerge>()),
          flush_(in.get<FloatMode>() != FloatMode::None), saturate_(in.has(Modifier::Saturate)) {}

    template <class F>
    void operator()(unsigned lane, F&& number_of) const {
        const auto half = [&](unsigned i) { return static_cast<u32>(packed(number_of(i), binary16)); };
        const u32 old = warp_.get(reg_, lane);
        switch (merge_) {
        case HalfMerge::F16:
            return warp_.set(reg_, lane, half(0) | half(1) << 16);
        case HalfMerge::F32:
            return warp_.set(reg_, lane, static_cast<u32>(packed(number_of(0), binary32)));
        case HalfMerge::MergeLow:
            return warp_.set(reg_, lane, (old & 0xffff0000) | half(0));
        case HalfMerge::MergeHigh:
            return warp_.set(reg_, lane, (old & 0xffff) | half(1) << 16);
        }
    }

private:
    [[nodiscard]] u64 packed(const Number& number, soft::Format format) const {
        if (saturate_) {
            if (number.negative || number.kind == Kind::Nan)
                return 0;
            if (number.kind != Kind::Zero && order(number, plus_one) > 0)
                return pack(plus_one, format);
        }
        return pack(number, format, maxwell::Rounding::Nearest, flush_);
    }
    Warp& warp_;
    u8 reg_;
    HalfMerge merge_;
    bool flush_, saturate_;
};

void hadd2(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const HalfSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) { result(lane, [&](unsigned i) { return sum(a(lane, i), b(lane, i)); }); });
}

Number multiplied(const Number& a, const Number& b, FloatMode mode) {
    if (mode == FloatMode::Fmz && (a.kind == Kind::Zero || b.kind == Kind::Zero))
        return {};
    return product(a, b);
}

void hmul2(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const HalfSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        result(lane, [&](unsigned i) { return multiplied(a(lane, i), b(lane, i), mode); });
    });
}

void hfma2(Warp& warp, const Instruction& in, u32 mask) {
    const auto mode = in.get<FloatMode>();
    const HalfSource a(warp, in.operand(Slot::A), mode), b(warp, in.operand(Slot::B), mode),
        c(warp, in.operand(Slot::C), mode);
    const Result result(warp, in);
    for_lanes(mask, [&](unsigned lane) {
        result(lane, [&](unsigned i) { return sum(multiplied(a(lane, i), b(lane, i), mode), c(lane, i)); });
    });
}

class HalfComparison {
public:
    HalfComparison(const Warp& warp, const Instruction& in)
        : a_(warp, in.operand(Slot::A), in.get<FloatMode>()), b_(warp, in.operand(Slot::B), in.get<FloatMode>()),
          op_(in.get<Compare>()) {}
    [[nodiscard]] bool operator()(unsigned lane, unsigned half) const {
        const Number a = a_(lane, half), b = b_(lane, half);
        if (a.kind == Kind::Nan || b.kind == Kind::Nan)
            return holds(op_, Ordering::Unordered);
        return holds(op_, ordering_of(order(a, b), 0));
    }

private:
    HalfSource a_, b_;
    Compare op_;
};

void hset2(Warp& warp, const Instruction& in, u32 mask) {
    const Operand d = in.operand(Slot::D), s = in.operand(Slot::S);
    const HalfComparison compare(warp, in);
    const auto joining = in.get<BoolOp>();
    const u32 yes = in.has(Modifier::BoolResult) ? 0x3c00 : 0xffff; // 1.0
    for_lanes(mask, [&](unsigned lane) {
        const bool joined = warp.predicate(s, lane);
        const u32 low = join(joining, compare(lane, 0), joined) ? yes : 0;
        const u32 high = join(joining, compare(lane, 1), joined) ? yes : 0;
        warp.set(d.reg, lane, low | high << 16);
    });
}

// One predicate for each half; .H_AND: both halves, and the opposite.
void hsetp2(Warp& warp, const Instruction& in, u32 mask) {
    const Operand p = in.operand(Slot::P), q = in.operand(Slot::Q), s = in.operand(Slot::S);
    const HalfComparison compare(warp, in);
    const auto joining = in.get<BoolOp>();
    const bool together = in.has(Modifier::HalfAnd);
    for_lanes(mask, [&](unsigned lane) {
        const bool low = compare(lane, 0), high = compare(lane, 1), joined = warp.predicate(s, lane);
        if (together)
            return set_predicates(warp, p, q, joining, lane, low && high, joined);
        warp.set_predicate(p, lane, join(joining, low, joined));
        warp.set_predicate(q, lane, join(joining, high, joined));
    });
}

} // namespace

std::span<const Row> half_rows() {
    static constexpr Row rows[] = {
        {Opcode::HADD2, hadd2}, {Opcode::HADD2_32I, hadd2}, {Opcode::HMUL2, hmul2}, {Opcode::HMUL2_32I, hmul2},
        {Opcode::HFMA2, hfma2}, {Opcode::HFMA2_32I, hfma2}, {Opcode::HSET2, hset2}, {Opcode::HSETP2, hsetp2},
    };
    return rows;
}

} // namespace heaviside::interpreter
