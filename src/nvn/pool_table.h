// The live memory pools with storage. Pools may overlap (two objects over one storage, an object initialised again
// without Finalize), guest::Memory's ranges may not: a range is the union of the pools that touch it and goes with the
// last.
#pragma once

#include "guest/memory.h"

#include <mutex>
#include <vector>

namespace heaviside::nvn {

class PoolTable {
public:
    struct Pool {
        u64 serial, address, size;
        bool cpu_access;
    };
    // Any thread. Errors: the memory refuses the range.
    [[nodiscard]] Result<void> add(const Pool& pool, guest::Memory& memory);
    void remove(u64 serial, guest::Memory& memory);
    // Whether other live pools have some of its storage.
    [[nodiscard]] bool is_shared(u64 serial) const;

private:
    mutable std::mutex mutex_;
    std::vector<Pool> pools_;
};

} // namespace heaviside::nvn
