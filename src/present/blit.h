// A part of a picture over a part of another image.
#pragma once

#include "gpu/commands.h"

namespace heaviside::present {

// Both images are in the GENERAL layout; prepare_transfer() was called. Linear where the sizes differ.
void blit(gpu::Commands& commands, const gpu::Device& device, VkImage image, const VkRect2D& source, bool flip_y,
          VkImage target, const VkRect2D& place);

} // namespace heaviside::present
