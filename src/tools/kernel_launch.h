// One launch of a compute kernel on the interpreter: what the driver puts into c[0], buffers, windows.
#pragma once

#include "archive/kernel_image.h"
#include "interpreter/machine.h"

#include <array>
#include <vector>

namespace heaviside::tools {

// Where a launch places things. Windows have an upper word of 0, so that 32 bits reach them; buffers lie behind those.
inline constexpr u32 shared_window = 0x01000000, local_window = 0x02000000;
inline constexpr u64 first_buffer = u64{1} << 32, end_of_windows = 0x03000000, end_of_global = u64{1} << 40;

class KernelLaunch {
public:
    Bytes code;
    std::array<std::vector<std::byte>, interpreter::bank_count> banks;
    std::array<u32, 3> grid{1, 1, 1}, block{1, 1, 1};
    u32 shared_bytes = 0, local_bytes = 0;
    u32 parameters_at = 0x140; // offset in c[0]

    // Address of the next buffer: 256-byte aligned, with a gap behind the last one, so that no overrun goes unseen.
    [[nodiscard]] u64 next_address() const { return next_; }
    // Gives its index.
    std::size_t add_buffer(std::vector<std::byte> bytes);
    [[nodiscard]] std::size_t buffer_count() const { return buffers_.size(); }
    [[nodiscard]] u64 address(std::size_t buffer) const { return addresses_[buffer]; }
    [[nodiscard]] Bytes contents(std::size_t buffer) const { return buffers_[buffer]; }

    // Takes over code, banks, variables and sizes; `image` was loaded for next_address(). The file's bytes must live as
    // long as the launch.
    void use(archive::KernelImage image);
    // Writes a parameter, `offset` bytes into the parameter area.
    void set_parameter(u32 offset, Bytes value);
    // Fills in the driver's words of c[0]. Valid until this object changes or goes.
    [[nodiscard]] interpreter::Launch prepare();

private:
    void set_word(u32 offset, u32 value);

    u64 next_ = first_buffer;
    std::vector<u64> addresses_;
    std::vector<std::vector<std::byte>> buffers_;
    std::vector<interpreter::MemoryRange> ranges_;
};

} // namespace heaviside::tools
