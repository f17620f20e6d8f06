#include "program/program.h"

namespace heaviside::program {

// Ledger rows SHD-004, SHD-069, SHD-123, SHD-125, SHD-127, SHD-128, SHD-147, GFX-129. Tables of tessellation stages are
// inferred from the stage order. The word at c[0][0x640], which some vertex programs add to the vertex ID, reads 0.
const DriverBankLayout vendor_layout = {
    .name = "vendor",
    .handle_bank = 2,
    .texture_handles = 0x20,
    .texture_stride = 8,
    .separate_textures = 0x168,
    .separate_samplers = 0x568,
    .image_handles = 0x120,
    .image_stride = 8,
    .first_uniform_bank = 3,
    .compute_uniform_banks = 5,
    .compute_uniform_addresses = 0x210,
    .compute_uniform_stride = 16,
    .compute_uniform_first = 0,
    // Vertex, fragment, geometry, tessellation control, tessellation evaluation, compute.
    .storage_buffers = {0x110, 0x510, 0x410, 0x210, 0x310, 0x310},
    .workgroup_count = 0x200,
    .base_vertex = ~0u,
    .base_instance = 0x644,
    .draw_id = ~0u,
    .point_size_limit = 0x610,
};

// Read off the code of the test corpus (its README).
const DriverBankLayout open_compiler_layout = {
    .name = "open compiler",
    .handle_bank = 0,
    .texture_handles = 0x20,
    .texture_stride = 8,
    .separate_textures = 0,
    .separate_samplers = 0,
    .image_handles = 0xa0,
    .image_stride = 4,
    .first_uniform_bank = 3,
    .compute_uniform_banks = 5,
    .compute_uniform_addresses = 0x50,
    .compute_uniform_stride = 8,
    .compute_uniform_first = 5,
    .storage_buffers = {0xc0, 0xc8, 0x5a0, 0x260, 0x400, 0x150},
    .workgroup_count = 0x0c,
    .base_vertex = ~0u,
    .base_instance = ~0u,
    .draw_id = ~0u,
    .point_size_limit = ~0u,
};

// The kernels of the compute corpus (its README).
const DriverBankLayout kernel_layout = {
    .name = "kernel",
    .handle_bank = 2,
    .texture_handles = ~0u,
    .texture_stride = 8,
    .separate_textures = 0,
    .separate_samplers = 0,
    .image_handles = ~0u,
    .image_stride = 8,
    .first_uniform_bank = 3,
    .compute_uniform_banks = 5,
    .compute_uniform_addresses = ~0u,
    .compute_uniform_stride = 16,
    .compute_uniform_first = 0,
    .storage_buffers = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u},
    .workgroup_count = 0x14,
    .base_vertex = ~0u,
    .base_instance = ~0u,
    .draw_id = ~0u,
    .point_size_limit = ~0u,
};

const DriverBankLayout& driver_bank_layout(Bytes control_section) {
    constexpr u32 section_size = 0x7c0;
    const bool open = read_at<u32>(control_section, 0x14) == section_size &&
                      read_at<u32>(control_section, 0x20) == section_size + 1 &&
                      read_at<u32>(control_section, 0x6f0) == section_size + 1;
    return open ? open_compiler_layout : vendor_layout;
}

} // namespace heaviside::program
