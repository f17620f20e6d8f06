#include "shader/lift_context.h"

namespace heaviside::shader::lifting {

std::span<const LiftRow> lift_video_rows() {
    return {};
}

} // namespace heaviside::shader::lifting
