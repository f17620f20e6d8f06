#include "nvn/mapped.h"

#include <cstring>

#ifdef __linux__
#include <sys/uio.h>
#include <unistd.h>
#endif

namespace heaviside::nvn {

namespace {

#ifdef __linux__
bool read_own_memory(void* out, u64 address, std::size_t size) {
    const iovec to{out, size}, from{reinterpret_cast<void*>(address), size};
    return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(size);
}
#endif

} // namespace

bool copy_mapped(void* out, u64 address, std::size_t size) {
#ifdef __linux__
    static const bool works = [] { // sandboxes may forbid the call
        u32 copy = 0;
        const u32 value = 0x4856;
        return read_own_memory(&copy, reinterpret_cast<u64>(&value), sizeof value) && copy == value;
    }();
    if (works)
        return read_own_memory(out, address, size);
#endif
    std::memcpy(out, reinterpret_cast<const void*>(address), size);
    return true;
}

} // namespace heaviside::nvn
