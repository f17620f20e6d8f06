// What the guest's driver keeps in constant banks for the shaders: handles of bound slots, storage buffer descriptors,
// draw and dispatch parameters. Where, says the program's DriverBankLayout.
#pragma once

#include "program/program.h"
#include "replay/guest_state.h"

#include <span>

namespace heaviside::replay {

struct DriverParameters {
    std::array<u32, 3> workgroups{};
    u32 base_vertex = 0, base_instance = 0, draw_id = 0;
    u32 samples = 1; // of the render targets
};

[[nodiscard]] bool is_driver_bank(const program::DriverBankLayout& layout, u32 bank);

// Writes bank `bank` of a stage; words the layout says nothing about are zero, words past `out` are left out.
void fill_driver_bank(const program::DriverBankLayout& layout, program::Stage stage, const StageBindings& bindings,
                      const DriverParameters& parameters, u32 bank, std::span<std::byte> out);

// The handle word that a program reads from a driver bank, without filling it. 0 where nothing is.
[[nodiscard]] u32 driver_bank_word(const program::DriverBankLayout& layout, program::Stage stage,
                                   const StageBindings& bindings, u32 bank, u32 offset);

} // namespace heaviside::replay
