#include "lift_machine.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace heaviside::shader::test {
namespace {

using ir::Op;
using ir::Relation;

using Vector = std::array<u32, 4>;

f32 as_float(u32 bits) {
    return std::bit_cast<f32>(bits);
}
u32 as_bits(f32 value) {
    return std::bit_cast<u32>(value);
}
f64 as_double(u64 bits) {
    return std::bit_cast<f64>(bits);
}

constexpr int host_rounding[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

// Host arithmetic under the rounding mode in mods. `volatile` keeps it from being done at compile time.
template <class F>
auto rounded(u32 mods, F f) {
    std::fesetround(host_rounding[mods & 3]);
    auto volatile value = f();
    std::fesetround(FE_TONEAREST);
    return decltype(f())(value);
}

f32 flushed(f32 value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
bool flushes(u32 mods) {
    return (mods & (ir::float_ftz | ir::float_fmz)) != 0;
}

template <class F>
u32 float_op(u32 mods, u32 a, u32 b, u32 c, F f) {
    f32 volatile x = as_float(a), y = as_float(b), z = as_float(c);
    if (flushes(mods)) {
        x = flushed(x);
        y = flushed(y);
        z = flushed(z);
    }
    const f32 value = rounded(mods, [&] { return f(x, y, z); });
    return as_bits(flushes(mods) ? flushed(value) : value);
}

f32 product(u32 mods, f32 x, f32 y) {
    const f64 exact = f64{x} * y * ir::float_scale(mods);
    return (mods & ir::float_fmz) && (x == 0.0f || y == 0.0f) ? 0.0f : static_cast<f32>(exact);
}

f32 half_to_float(u16 half, u32 mods) {
    const u32 sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 31)
        return as_float(sign | 0x7f800000 | mantissa << 13);
    const f32 magnitude = exponent == 0 && flushes(mods) ? 0.0f
                          : exponent == 0
                              ? std::ldexp(static_cast<f32>(mantissa), -24)
                              : std::ldexp(static_cast<f32>(1024 + mantissa), static_cast<int>(exponent) - 25);
    return sign ? -magnitude : magnitude;
}

// Any wider float to half with one rounding: scaled so that the half's last place is 1, then rounded to an integer.
u16 to_half(f64 value, u32 mods) {
    const u16 sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value))
        return 0x7fff;
    const f64 magnitude = std::fabs(value);
    if (std::isinf(value))
        return sign | 0x7c00;
    int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), -14) : -14;
    u32 mode = mods & 3;
    if (sign && (mode == 1 || mode == 2)) // down and up trade places for the magnitude
        mode = 3 - mode;
    f64 units = rounded(mode, [&] { return std::nearbyint(std::ldexp(magnitude, 10 - exponent)); });
    if (units >= 2048) {
        units /= 2;
        ++exponent;
    }
    if (exponent > 15)
        return sign | (mode == 0 || mode == 2 ? 0x7c00 : 0x7bff);
    const u32 bits = static_cast<u32>(units);
    if (bits < 1024)
        return static_cast<u16>(flushes(mods) ? sign : sign | bits);
    return static_cast<u16>(sign | static_cast<u32>(exponent + 15) << 10 | (bits - 1024));
}

template <class T>
bool compare(u32 relation, T a, T b) {
    const bool unordered = a != a || b != b;
    switch (static_cast<Relation>(relation & 15)) {
    case Relation::F:
        return false;
    case Relation::LT:
        return a < b;
    case Relation::EQ:
        return a == b;
    case Relation::LE:
        return a <= b;
    case Relation::GT:
        return a > b;
    case Relation::NE:
        return !unordered && a != b;
    case Relation::GE:
        return a >= b;
    case Relation::Num:
        return !unordered;
    case Relation::Nan:
        return unordered;
    case Relation::LTU:
        return unordered || a < b;
    case Relation::EQU:
        return unordered || a == b;
    case Relation::LEU:
        return unordered || a <= b;
    case Relation::GTU:
        return unordered || a > b;
    case Relation::NEU:
        return unordered || a != b;
    case Relation::GEU:
        return unordered || a >= b;
    case Relation::T:
        return true;
    }
    return false;
}

template <class To, class From>
To to_integer(From value, u32 mods) {
    if (std::isnan(value))
        return 0;
    const From whole = rounded(mods, [&] { return std::nearbyint(value); });
    const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (whole >= limit)
        return std::numeric_limits<To>::max();
    if (whole < (std::is_signed_v<To> ? -limit : From{0}))
        return std::numeric_limits<To>::min();
    return static_cast<To>(whole);
}

u32 extract(u32 value, u32 position, u32 length, bool is_signed) {
    if (length == 0)
        return 0;
    const u64 wide = is_signed ? static_cast<u64>(static_cast<i64>(static_cast<i32>(value))) : value;
    const u64 shifted = position > 63 ? (is_signed && static_cast<i32>(value) < 0 ? ~u64{0} : 0)
                        : is_signed   ? static_cast<u64>(static_cast<i64>(wide) >> position)
                                      : wide >> position;
    if (length >= 32)
        return static_cast<u32>(shifted);
    const u32 mask = (1u << length) - 1, field = static_cast<u32>(shifted) & mask;
    return is_signed && (field >> (length - 1) & 1) ? field | ~mask : field;
}

u32 insert(u32 base, u32 value, u32 position, u32 length) {
    if (position > 31)
        return base;
    const u64 mask = (length >= 32 ? 0xffffffffu : (1u << length) - 1);
    const u32 placed = static_cast<u32>(mask << position);
    return (base & ~placed) | (static_cast<u32>(u64{value} << position) & placed);
}

u32 reverse(u32 value) {
    u32 result = 0;
    for (u32 k = 0; k < 32; ++k)
        result |= (value >> k & 1) << (31 - k);
    return result;
}

enum class Stop : u8 { Running, Ended, Warp, Barrier, Failed };

struct Thread {
    u32 block = 0;
    std::size_t at = 0;
    Stop stop = Stop::Running;
    u32 lane = 0;
    std::array<u32, 3> tid{}, ctaid{};
    std::array<u32, ir::register_count> registers{};
    std::array<bool, ir::predicate_count> predicates{};
    std::array<bool, ir::flag_count> flags{};
    std::vector<Vector> values;
    std::vector<std::byte> local;
};

class Machine {
public:
    Machine(const ir::Program& program, Memory& memory, const Launch& launch)
        : p_(program), memory_(memory), launch_(launch) {}

    Outcome run() {
        for (u32 z = 0; z < launch_.grid[2]; ++z)
            for (u32 y = 0; y < launch_.grid[1]; ++y)
                for (u32 x = 0; x < launch_.grid[0] && outcome_.error.empty(); ++x)
                    run_group({x, y, z});
        return outcome_;
    }

private:
    const ir::Inst& current(const Thread& t) const { return p_.insts[p_.blocks[t.block].insts[t.at]]; }

    void run_group(std::array<u32, 3> ctaid) {
        shared_.assign(launch_.shared_bytes, std::byte{0});
        threads_.assign(u64{launch_.block[0]} * launch_.block[1] * launch_.block[2], {});
        for (u32 i = 0; i < threads_.size(); ++i) {
            Thread& t = threads_[i];
            t.lane = i % 32;
            t.tid = {i % launch_.block[0], i / launch_.block[0] % launch_.block[1],
                     i / (launch_.block[0] * launch_.block[1])};
            t.ctaid = ctaid;
            t.values.resize(p_.insts.size());
            t.local.resize(launch_.local_bytes);
        }
        while (outcome_.error.empty()) {
            bool moved = false;
            for (u32 i = 0; i < threads_.size(); ++i)
                if (threads_[i].stop == Stop::Running) {
                    advance(threads_[i]);
                    moved = true;
                }
            if (moved)
                continue;
            if (!release_warp() && !release_barrier())
                break;
        }
        if (!threads_.empty())
            outcome_.registers = threads_.back().registers;
    }

    // Lanes that wait at the same warp instruction do it together; those furthest behind in the code first.
    bool release_warp() {
        for (u32 first = 0; first < threads_.size(); first += 32) {
            const u32 last = std::min<u32>(first + 32, static_cast<u32>(threads_.size()));
            const Thread* leader = nullptr;
            for (u32 i = first; i < last; ++i) {
                const Thread& t = threads_[i];
                if (t.stop == Stop::Warp && (!leader || address(t) < address(*leader)))
                    leader = &t;
            }
            if (!leader)
                continue;
            const u32 block = leader->block;
            const std::size_t at = leader->at;
            std::vector<u32> lanes;
            for (u32 i = first; i < last; ++i)
                if (threads_[i].stop == Stop::Warp && threads_[i].block == block && threads_[i].at == at)
                    lanes.push_back(i);
            warp_instruction(first, lanes);
            for (const u32 i : lanes) {
                ++threads_[i].at;
                threads_[i].stop = Stop::Running;
            }
            return true;
        }
        return false;
    }

    u64 address(const Thread& t) const { return u64{p_.blocks[t.block].address} << 32 | t.at; }

    bool release_barrier() {
        u32 count = 0, waiting = 0;
        bool all = true;
        for (Thread& t : threads_)
            if (t.stop == Stop::Barrier) {
                ++waiting;
                if (current(t).op == Op::BarrierReduce) {
                    const bool value = argument(t, current(t), 0)[0] != 0;
                    count += value;
                    all = all && value;
                }
            }
        for (Thread& t : threads_) {
            if (t.stop != Stop::Barrier)
                continue;
            const ir::Inst& inst = current(t);
            if (inst.op == Op::BarrierReduce)
                set(t, {inst.imm == 0 ? count : inst.imm == 1 ? (all ? ~0u : 0) : (count ? ~0u : 0)});
            ++t.at;
            t.stop = Stop::Running;
        }
        return waiting != 0;
    }

    void warp_instruction(u32 first, const std::vector<u32>& lanes) {
        u32 ballot = 0, active = 0;
        for (const u32 i : lanes) {
            active |= 1u << threads_[i].lane;
            ballot |= (argument(threads_[i], current(threads_[i]), 0)[0] != 0 ? 1u : 0u) << threads_[i].lane;
        }
        std::vector<Vector> results;
        for (const u32 i : lanes) {
            const Thread& t = threads_[i];
            const ir::Inst& inst = current(t);
            switch (inst.op) {
            case Op::VoteAll:
                results.push_back({ballot == active});
                break;
            case Op::VoteAny:
                results.push_back({ballot != 0});
                break;
            case Op::VoteEqual:
                results.push_back({ballot == active || ballot == 0});
                break;
            case Op::Ballot:
                results.push_back({ballot});
                break;
            default:
                results.push_back(shuffled(first, t, inst));
            }
        }
        for (std::size_t k = 0; k < lanes.size(); ++k)
            set(threads_[lanes[k]], results[k]);
    }

    // As PTX defines shfl: c holds the clamp in bits 0-4 and the segment mask in bits 8-12.
    Vector shuffled(u32 first, const Thread& t, const ir::Inst& inst) {
        // the last two operands of both
        const u32 b = argument(t, inst, inst.count - 2u)[0] & 31, c = argument(t, inst, inst.count - 1u)[0];
        const u32 clamp = c & 31, segment = c >> 8 & 31;
        const u32 maximum = (t.lane & segment) | (clamp & ~segment), minimum = t.lane & segment;
        i32 source = 0;
        bool valid = false;
        switch (inst.imm) {
        case 0:
            source = static_cast<i32>(minimum | (b & ~segment));
            valid = source <= static_cast<i32>(maximum);
            break;
        case 1:
            source = static_cast<i32>(t.lane) - static_cast<i32>(b);
            valid = source >= static_cast<i32>(maximum);
            break;
        case 2:
            source = static_cast<i32>(t.lane + b);
            valid = source <= static_cast<i32>(maximum);
            break;
        default:
            source = static_cast<i32>(t.lane ^ b);
            valid = source <= static_cast<i32>(maximum);
        }
        if (inst.op == Op::ShuffleValid)
            return {valid};
        const u32 from = first + (valid ? static_cast<u32>(source) : t.lane);
        return from < threads_.size() ? argument(threads_[from], inst, 0) : Vector{};
    }

    Vector argument(const Thread& t, const ir::Inst& inst, u32 k) const {
        const ir::Value v = p_.operands[inst.first + k];
        const ir::Inst& source = p_.insts[v.id];
        return source.op == Op::Const ? Vector{source.imm, source.mods} : t.values[v.id];
    }

    void set(Thread& t, Vector value) { t.values[p_.blocks[t.block].insts[t.at]] = value; }

    void advance(Thread& t) {
        while (t.stop == Stop::Running) {
            const ir::Block& block = p_.blocks[t.block];
            if (t.at < block.insts.size()) {
                const ir::Inst& inst = p_.insts[block.insts[t.at]];
                switch (inst.op) {
                case Op::Barrier:
                case Op::BarrierReduce:
                    t.stop = Stop::Barrier;
                    return;
                case Op::VoteAll:
                case Op::VoteAny:
                case Op::VoteEqual:
                case Op::Ballot:
                case Op::Shuffle:
                case Op::ShuffleValid:
                    t.stop = Stop::Warp;
                    return;
                default:
                    execute(t, inst);
                    ++t.at;
                }
                if (++steps_ > 200'000'000)
                    outcome_.error = "too many steps";
                if (!outcome_.error.empty())
                    t.stop = Stop::Failed;
                continue;
            }
            end_block(t, block.end);
        }
    }

    void end_block(Thread& t, const ir::Terminator& end) {
        using Kind = ir::Terminator::Kind;
        const auto value = [&](ir::Value v) {
            return p_.insts[v.id].op == Op::Const ? p_.insts[v.id].imm : t.values[v.id][0];
        };
        t.at = 0;
        switch (end.kind) {
        case Kind::Branch:
            t.block = end.target[0];
            return;
        case Kind::BranchIf:
            t.block = end.target[value(end.condition) ? 0 : 1];
            return;
        case Kind::Switch: {
            t.block = end.target[0];
            const u32 selector = value(end.condition);
            for (const ir::SwitchCase& c : end.cases)
                if (c.value == selector)
                    t.block = c.target;
            return;
        }
        case Kind::Exit:
            t.stop = Stop::Ended;
            return;
        default:
            outcome_.error = "reached an unreachable block";
            t.stop = Stop::Failed;
        }
    }

    std::byte* global(u64 address, u64 size) {
        for (Memory::Range& range : memory_.global)
            if (address >= range.address && address - range.address + size <= range.bytes.size())
                return range.bytes.data() + (address - range.address);
        return nullptr;
    }

    std::byte* place(Thread& t, const ir::Inst& inst, u64 address, u64 size) {
        address &= ~(size - 1);
        switch (inst.op) {
        case Op::LoadShared:
        case Op::StoreShared:
        case Op::AtomicShared:
            return address + size <= shared_.size() ? shared_.data() + address : nullptr;
        case Op::LoadLocal:
        case Op::StoreLocal:
            return address + size <= t.local.size() ? t.local.data() + address : nullptr;
        default:
            return global(address, size);
        }
    }

    void load(Thread& t, const ir::Inst& inst, u64 address) {
        constexpr u64 sizes[] = {1, 1, 2, 2, 4, 8, 16};
        const u64 size = sizes[inst.mods & 7];
        Vector value{};
        if (const std::byte* from = place(t, inst, address, size))
            std::memcpy(value.data(), from, size);
        if (inst.mods == static_cast<u32>(ir::MemorySize::S8))
            value[0] = static_cast<u32>(static_cast<i32>(static_cast<i8>(value[0])));
        if (inst.mods == static_cast<u32>(ir::MemorySize::S16))
            value[0] = static_cast<u32>(static_cast<i32>(static_cast<i16>(value[0])));
        set(t, value);
    }

    void store(Thread& t, const ir::Inst& inst, u64 address) {
        constexpr u64 sizes[] = {1, 1, 2, 2, 4, 8, 16};
        const u64 size = sizes[inst.mods & 7];
        Vector value{};
        for (u32 k = 1; k < inst.count; ++k)
            value[k - 1] = argument(t, inst, k)[0];
        if (std::byte* to = place(t, inst, address, size))
            std::memcpy(to, value.data(), size);
    }

    void atomic(Thread& t, const ir::Inst& inst, u64 address) {
        const auto type = static_cast<ir::AtomicType>(inst.mods >> 4);
        const bool wide = type == ir::AtomicType::U64 || type == ir::AtomicType::S64;
        const auto word = [&](u32 k) {
            const Vector v = argument(t, inst, k);
            return wide ? v[0] | u64{v[1]} << 32 : v[0];
        };
        u64 old = 0;
        std::byte* at = place(t, inst, address, wide ? 8 : 4);
        if (at)
            std::memcpy(&old, at, wide ? 8 : 4);
        const u64 value = word(1);
        const bool sign = type == ir::AtomicType::S32 || type == ir::AtomicType::S64;
        const auto less = [&](u64 a, u64 b) {
            if (!sign)
                return a < b;
            return wide ? static_cast<i64>(a) < static_cast<i64>(b) : static_cast<i32>(a) < static_cast<i32>(b);
        };
        u64 fresh = old;
        switch (static_cast<ir::AtomicOp>(inst.mods & 15)) {
        case ir::AtomicOp::Add:
            fresh = type == ir::AtomicType::F32
                        ? float_op(ir::float_ftz, static_cast<u32>(old), static_cast<u32>(value), 0,
                                   [](f32 x, f32 y, f32) { return x + y; })
                        : old + value;
            break;
        case ir::AtomicOp::Min:
            fresh = less(value, old) ? value : old;
            break;
        case ir::AtomicOp::Max:
            fresh = less(old, value) ? value : old;
            break;
        case ir::AtomicOp::Inc:
            fresh = old >= value ? 0 : old + 1;
            break;
        case ir::AtomicOp::Dec:
            fresh = old == 0 || old > value ? value : old - 1;
            break;
        case ir::AtomicOp::And:
            fresh = old & value;
            break;
        case ir::AtomicOp::Or:
            fresh = old | value;
            break;
        case ir::AtomicOp::Xor:
            fresh = old ^ value;
            break;
        case ir::AtomicOp::Exchange:
            fresh = value;
            break;
        case ir::AtomicOp::CompareExchange:
            fresh = old == value ? word(2) : old;
            break;
        }
        if (at)
            std::memcpy(at, &fresh, wide ? 8 : 4);
        set(t, {static_cast<u32>(old), static_cast<u32>(old >> 32)});
    }

    u32 special(const Thread& t, u32 which) const {
        using ir::Special;
        const u32 bit = 1u << t.lane;
        const auto s = static_cast<Special>(which);
        if (s >= Special::TidX && s <= Special::TidZ)
            return t.tid[which - static_cast<u32>(Special::TidX)];
        if (s >= Special::CtaidX && s <= Special::CtaidZ)
            return t.ctaid[which - static_cast<u32>(Special::CtaidX)];
        switch (s) {
        case Special::ClockLow:
            return static_cast<u32>(steps_);
        case Special::LaneId:
            return t.lane;
        case Special::EqMask:
            return bit;
        case Special::LtMask:
            return bit - 1;
        case Special::LeMask:
            return bit | (bit - 1);
        case Special::GtMask:
            return ~(bit | (bit - 1));
        case Special::GeMask:
            return ~(bit - 1);
        default:
            return 0;
        }
    }

    void execute(Thread& t, const ir::Inst& inst);

    const ir::Program& p_;
    Memory& memory_;
    Launch launch_;
    Outcome outcome_;
    std::vector<Thread> threads_;
    std::vector<std::byte> shared_;
    u64 steps_ = 0;
};

void Machine::execute(Thread& t, const ir::Inst& inst) {
    const auto w = [&](u32 k) { return argument(t, inst, k)[0]; };
    const auto s = [&](u32 k) { return static_cast<i32>(w(k)); };
    const auto q = [&](u32 k) {
        const Vector v = argument(t, inst, k);
        return v[0] | u64{v[1]} << 32;
    };
    const auto word = [&](u32 value) { set(t, {value}); };
    const auto quad = [&](u64 value) { set(t, {static_cast<u32>(value), static_cast<u32>(value >> 32)}); };
    const auto real = [&](f64 value) { quad(std::bit_cast<u64>(value)); };
    const auto source_float = [&](u32 k) {
        const f32 x = as_float(w(k));
        return flushes(inst.mods) ? flushed(x) : x;
    };
    const auto float_unary = [&](auto f) {
        word(float_op(inst.mods, w(0), 0, 0, [&](f32 x, f32, f32) { return f(x); }));
    };
    const auto wide_sum = [&] { return u64{w(0)} + w(1) + w(2); };
    switch (inst.op) {
    case Op::GetRegister:
        return word(t.registers[inst.imm]);
    case Op::SetRegister:
        t.registers[inst.imm] = w(0);
        return;
    case Op::GetPredicate:
        return word(t.predicates[inst.imm]);
    case Op::SetPredicate:
        t.predicates[inst.imm] = w(0) != 0;
        return;
    case Op::GetFlag:
        return word(t.flags[inst.imm]);
    case Op::SetFlag:
        t.flags[inst.imm] = w(0) != 0;
        return;
    case Op::Copy:
        return set(t, argument(t, inst, 0));
    case Op::Extract:
        return word(argument(t, inst, 0)[inst.imm]);
    case Op::Pack64:
        return set(t, {w(0), w(1)});
    case Op::Low:
        return word(w(0));
    case Op::High:
        return word(argument(t, inst, 0)[1]);
    case Op::Select:
        return set(t, argument(t, inst, w(0) ? 1 : 2));
    case Op::BoolToMask:
        return word(w(0) ? ~0u : 0);
    case Op::BoolAnd:
    case Op::And:
        return word(w(0) & w(1));
    case Op::BoolOr:
    case Op::Or:
        return word(w(0) | w(1));
    case Op::BoolXor:
    case Op::Xor:
        return word(w(0) ^ w(1));
    case Op::BoolNot:
        return word(w(0) ^ 1);
    case Op::Not:
        return word(~w(0));
    case Op::IAdd:
        return word(w(0) + w(1));
    case Op::ISub:
        return word(w(0) - w(1));
    case Op::IMul:
        return word(w(0) * w(1));
    case Op::IMulHighU:
        return word(static_cast<u32>(u64{w(0)} * w(1) >> 32));
    case Op::IMulHighS:
        return word(static_cast<u32>(i64{s(0)} * s(1) >> 32));
    case Op::INeg:
        return word(0 - w(0));
    case Op::IAbs:
        return word(s(0) < 0 ? 0 - w(0) : w(0));
    case Op::AddCarry:
        return word(static_cast<u32>(wide_sum() >> 32) & 1);
    case Op::AddOverflow: {
        const i64 sum = i64{s(0)} + s(1) + w(2);
        return word(sum != static_cast<i32>(sum));
    }
    case Op::IMinS:
        return word(static_cast<u32>(std::min(s(0), s(1))));
    case Op::IMinU:
        return word(std::min(w(0), w(1)));
    case Op::IMaxS:
        return word(static_cast<u32>(std::max(s(0), s(1))));
    case Op::IMaxU:
        return word(std::max(w(0), w(1)));
    case Op::ShiftLeft:
        return word(w(1) > 31 ? 0 : w(0) << w(1));
    case Op::ShiftRightU:
        return word(w(1) > 31 ? 0 : w(0) >> w(1));
    case Op::ShiftRightS:
        return word(static_cast<u32>(s(0) >> std::min(w(1), 31u)));
    case Op::FunnelLeft:
        return word(static_cast<u32>((u64{w(1)} << 32 | w(0)) << std::min(w(2), 32u) >> 32));
    case Op::FunnelRight:
        return word(static_cast<u32>((u64{w(1)} << 32 | w(0)) >> std::min(w(2), 32u)));
    case Op::BitExtractU:
        return word(extract(w(0), w(1), w(2), false));
    case Op::BitExtractS:
        return word(extract(w(0), w(1), w(2), true));
    case Op::BitInsert:
        return word(insert(w(0), w(1), w(2), w(3)));
    case Op::BitReverse:
        return word(reverse(w(0)));
    case Op::PopCount:
        return word(static_cast<u32>(std::popcount(w(0))));
    case Op::FindMsbU:
        return word(31 - static_cast<u32>(std::countl_zero(w(0))));
    case Op::FindMsbS:
        return word(31 - static_cast<u32>(std::countl_zero(s(0) < 0 ? ~w(0) : w(0))));
    case Op::ICompareS:
        return word(compare(inst.mods, s(0), s(1)));
    case Op::ICompareU:
        return word(compare(inst.mods, w(0), w(1)));
    case Op::IAdd64:
        return quad(q(0) + q(1));
    case Op::ISub64:
        return quad(q(0) - q(1));
    case Op::ShiftLeft64:
        return quad(w(1) > 63 ? 0 : q(0) << w(1));
    case Op::ShiftRightU64:
        return quad(w(1) > 63 ? 0 : q(0) >> w(1));
    case Op::ShiftRightS64:
        return quad(static_cast<u64>(static_cast<i64>(q(0)) >> std::min(w(1), 63u)));
    case Op::IMulWideU:
        return quad(u64{w(0)} * w(1));
    case Op::IMulWideS:
        return quad(static_cast<u64>(i64{s(0)} * s(1)));
    case Op::SignExtend64:
        return quad(static_cast<u64>(i64{s(0)}));
    case Op::FAdd:
        return word(float_op(inst.mods, w(0), w(1), 0, [](f32 x, f32 y, f32) { return x + y; }));
    case Op::FMul:
        return word(float_op(inst.mods, w(0), w(1), 0, [&](f32 x, f32 y, f32) { return product(inst.mods, x, y); }));
    case Op::FFma:
        return word(float_op(inst.mods, w(0), w(1), w(2), [&](f32 x, f32 y, f32 z) {
            return (inst.mods & ir::float_fmz) && (x == 0 || y == 0) ? 0.0f + z : std::fmaf(x, y, z);
        }));
    case Op::FMin:
        return word(float_op(inst.mods, w(0), w(1), 0, [](f32 x, f32 y, f32) { return std::fmin(x, y); }));
    case Op::FMax:
        return word(float_op(inst.mods, w(0), w(1), 0, [](f32 x, f32 y, f32) { return std::fmax(x, y); }));
    case Op::FNeg:
        return word(w(0) ^ 0x80000000);
    case Op::FAbs:
        return word(w(0) & 0x7fffffff);
    case Op::FSaturate: {
        const f32 x = as_float(w(0));
        return word(as_bits(x > 0 ? std::min(x, 1.0f) : 0.0f));
    }
    case Op::FFlush:
        return word(as_bits(flushed(as_float(w(0)))));
    case Op::FRoundInt:
        return word(as_bits(rounded(inst.mods, [&] { return std::nearbyint(source_float(0)); })));
    case Op::FCompare: {
        f32 x = as_float(w(0)), y = as_float(w(1));
        if (inst.mods & ir::compare_ftz) {
            x = flushed(x);
            y = flushed(y);
        }
        return word(compare(inst.mods, x, y));
    }
    case Op::FRcp:
        return float_unary([](f32 x) { return 1.0f / x; });
    case Op::FRsq:
        return float_unary([](f32 x) { return static_cast<f32>(1.0 / std::sqrt(f64{x})); });
    case Op::FSqrt:
        return float_unary([](f32 x) { return std::sqrt(x); });
    case Op::FSin:
        return float_unary([](f32 x) { return static_cast<f32>(std::sin(f64{x})); });
    case Op::FCos:
        return float_unary([](f32 x) { return static_cast<f32>(std::cos(f64{x})); });
    case Op::FEx2:
        return float_unary([](f32 x) { return static_cast<f32>(std::exp2(f64{x})); });
    case Op::FLg2:
        return float_unary([](f32 x) { return static_cast<f32>(std::log2(f64{x})); });
    case Op::Rcp64High:
        return word(static_cast<u32>(std::bit_cast<u64>(1.0 / as_double(u64{w(0)} << 32)) >> 32));
    case Op::Rsq64High:
        return word(static_cast<u32>(std::bit_cast<u64>(1.0 / std::sqrt(as_double(u64{w(0)} << 32))) >> 32));
    case Op::DAdd:
        return real(rounded(inst.mods, [&] { return as_double(q(0)) + as_double(q(1)); }));
    case Op::DMul:
        return real(rounded(inst.mods, [&] { return as_double(q(0)) * as_double(q(1)); }));
    case Op::DFma:
        return real(rounded(inst.mods, [&] { return std::fma(as_double(q(0)), as_double(q(1)), as_double(q(2))); }));
    case Op::DMin:
        return real(std::fmin(as_double(q(0)), as_double(q(1))));
    case Op::DMax:
        return real(std::fmax(as_double(q(0)), as_double(q(1))));
    case Op::DNeg:
        return quad(q(0) ^ u64{1} << 63);
    case Op::DAbs:
        return quad(q(0) & ~(u64{1} << 63));
    case Op::DRoundInt:
        return real(rounded(inst.mods, [&] { return std::nearbyint(as_double(q(0))); }));
    case Op::DCompare:
        return word(compare(inst.mods, as_double(q(0)), as_double(q(1))));
    case Op::HalfToFloat:
        return word(as_bits(half_to_float(static_cast<u16>(w(0) >> 16 * inst.imm), inst.mods)));
    case Op::FloatToHalf:
        return word(to_half(source_float(0), inst.mods & 3));
    case Op::PackHalf2:
        return word(to_half(as_float(w(0)), inst.mods) | u32{to_half(as_float(w(1)), inst.mods)} << 16);
    case Op::PackHalf2Fma: {
        u32 packed = 0;
        for (u32 k = 0; k < 2; ++k) { // exact in double: 22 product bits within the exponents of halves
            const f64 x = as_float(w(3 * k)), y = as_float(w(3 * k + 1)), z = as_float(w(3 * k + 2));
            const f64 value = (inst.mods & ir::float_fmz) && (x == 0 || y == 0) ? z : x * y + z;
            packed |= u32{to_half(value, inst.mods)} << 16 * k;
        }
        return word(packed);
    }
    case Op::F32ToS32:
        return word(static_cast<u32>(to_integer<i32>(source_float(0), inst.mods)));
    case Op::F32ToU32:
        return word(to_integer<u32>(source_float(0), inst.mods));
    case Op::F32ToS64:
        return quad(static_cast<u64>(to_integer<i64>(source_float(0), inst.mods)));
    case Op::F32ToU64:
        return quad(to_integer<u64>(source_float(0), inst.mods));
    case Op::F64ToS32:
        return word(static_cast<u32>(to_integer<i32>(as_double(q(0)), inst.mods)));
    case Op::F64ToU32:
        return word(to_integer<u32>(as_double(q(0)), inst.mods));
    case Op::F64ToS64:
        return quad(static_cast<u64>(to_integer<i64>(as_double(q(0)), inst.mods)));
    case Op::F64ToU64:
        return quad(to_integer<u64>(as_double(q(0)), inst.mods));
    case Op::S32ToF32:
        return word(as_bits(rounded(inst.mods, [&] { return static_cast<f32>(s(0)); })));
    case Op::U32ToF32:
        return word(as_bits(rounded(inst.mods, [&] { return static_cast<f32>(w(0)); })));
    case Op::S64ToF32:
        return word(as_bits(rounded(inst.mods, [&] { return static_cast<f32>(static_cast<i64>(q(0))); })));
    case Op::U64ToF32:
        return word(as_bits(rounded(inst.mods, [&] { return static_cast<f32>(q(0)); })));
    case Op::S32ToF64:
        return real(s(0));
    case Op::U32ToF64:
        return real(w(0));
    case Op::S64ToF64:
        return real(rounded(inst.mods, [&] { return static_cast<f64>(static_cast<i64>(q(0))); }));
    case Op::U64ToF64:
        return real(rounded(inst.mods, [&] { return static_cast<f64>(q(0)); }));
    case Op::F32ToF64:
        return real(source_float(0));
    case Op::F64ToF32: {
        const f32 value = rounded(inst.mods, [&] { return static_cast<f32>(as_double(q(0))); });
        return word(as_bits(flushes(inst.mods) ? flushed(value) : value));
    }
    case Op::LoadBank: {
        const auto bank = memory_.banks.find(inst.imm);
        u32 value = 0;
        if (bank != memory_.banks.end() && u64{w(0) & ~3u} + 4 <= bank->second.size())
            std::memcpy(&value, bank->second.data() + (w(0) & ~3u), 4);
        return word(value);
    }
    case Op::LoadGlobal:
        return load(t, inst, q(0));
    case Op::StoreGlobal:
        return store(t, inst, q(0));
    case Op::LoadShared:
    case Op::LoadLocal:
        return load(t, inst, w(0));
    case Op::StoreShared:
    case Op::StoreLocal:
        return store(t, inst, w(0));
    case Op::AtomicGlobal:
        return atomic(t, inst, q(0));
    case Op::AtomicShared:
        return atomic(t, inst, w(0));
    case Op::MemoryBarrier:
        return;
    case Op::ReadSpecial:
        return word(special(t, inst.imm));
    default:
        outcome_.error = std::string("operation not modelled: ") + ir::info(inst.op).text;
    }
}

} // namespace

Outcome run(const ir::Program& program, Memory& memory, const Launch& launch) {
    return Machine(program, memory, launch).run();
}

} // namespace heaviside::shader::test
