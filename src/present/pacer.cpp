#include "present/pacer.h"

#include <algorithm>

namespace heaviside::present {
namespace {

constexpr u64 second = 1'000'000'000;

u64 period_of(u64 rate) {
    return (second + rate / 2) / rate;
}

} // namespace

u64 blank_period(const PacingSettings& settings, u32 interval) {
    const u64 rate = settings.target_fps ? settings.target_fps : 60;
    const bool divided = settings.divisor_fix && settings.mode == Pacing::Fixed;
    return period_of(divided ? rate * std::max(interval, 1u) : rate);
}

u64 Pacer::show(u64 now, u32 interval) {
    u64 hold = 0;
    if (settings_.mode == Pacing::Game)
        hold = u64{interval} * second / 60;
    else if (settings_.mode == Pacing::Fixed)
        hold = period_of(settings_.target_fps ? settings_.target_fps : 60);
    const u64 at = std::max(now, free_at_);
    free_at_ = at + hold;
    return at;
}

} // namespace heaviside::present
