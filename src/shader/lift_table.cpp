#include "shader/lift_context.h"

#include <array>

namespace heaviside::shader::lifting {
namespace {

using Table = std::array<const LiftRow*, maxwell::opcode_count>;

Table make_table() {
    Table table{};
    for (const auto rows :
         {lift_float_rows(), lift_double_rows(), lift_half_rows(), lift_integer_rows(), lift_bits_rows(),
          lift_predicate_rows(), lift_convert_rows(), lift_memory_rows(), lift_attribute_rows(), lift_texture_rows(),
          lift_image_rows(), lift_warp_rows(), lift_video_rows(), lift_video_byte_rows()})
        for (const LiftRow& row : rows)
            table[static_cast<std::size_t>(row.opcode)] = &row;
    return table;
}

} // namespace

const LiftRow* find_lift_row(Opcode opcode) {
    static const Table table = make_table();
    return table[static_cast<std::size_t>(opcode)];
}

} // namespace heaviside::shader::lifting
