// State of the guest that this device, or this house, does not carry out: named once, never dropped in silence.
#pragma once

#include "gpu/device.h"
#include "replay/guest_state.h"

#include <string>
#include <vector>

namespace heaviside::replay {

// Names of what is set and has no effect on a pass of `samples` samples. Pure; any thread.
[[nodiscard]] std::vector<std::string> lost_state(const GuestState& state, const gpu::Capabilities& device,
                                                  u32 samples);

} // namespace heaviside::replay
