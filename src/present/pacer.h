// When pictures are shown, and how often the guest sees a vertical blank. Times in nanoseconds of any steady clock.
#pragma once

#include "base/types.h"

namespace heaviside::present {

enum class Pacing : u8 {
    Off,   // as they come
    Game,  // as many 60ths of a second apart as the guest asks for, whatever the display's rate
    Fixed, // 1 / target_fps apart
};

struct PacingSettings {
    Pacing mode = Pacing::Game;
    u32 target_fps = 0;       // 0: 60
    bool divisor_fix = false; // a guest that counts blanks sees as many in a frame as it asked for, however long it is
};

// Between the blanks that the guest sees: 1/60 s or 1/target_fps, never the display's own period (ledger GFX-011). With
// the fix a frame of fixed length has `interval` of them (GFX-047).
[[nodiscard]] u64 blank_period(const PacingSettings& settings, u32 interval);

// A picture is held for its whole interval, so that a guest of 30 pictures a second is not sped up by a display of 120.
class Pacer {
public:
    explicit Pacer(const PacingSettings& settings) : settings_(settings) {}
    // The time at which the next picture is to be shown: now, or when the one before it has had its time. The picture
    // counts as shown then and stays for `interval` blanks. A guest that was late does not catch up.
    [[nodiscard]] u64 show(u64 now, u32 interval);

private:
    PacingSettings settings_;
    u64 free_at_ = 0; // when the picture that is shown has had its time
};

} // namespace heaviside::present
