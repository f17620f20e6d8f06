// The live memory pools with storage. Pools may overlap (two objects over one storage), guest::Memory's ranges may not:
// a range is the union of the pools that touch it and goes with the last.
//
// Objects are initialised again without Finalize. What they had before may live on in a copy by value, or its storage
// may have been freed: it stays until another pool takes any of its memory.
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
        u64 object;             // address of the NVNmemoryPool
        bool abandoned = false; // the object is another pool now
        [[nodiscard]] u64 end() const { return address + size; }
    };
    // Any thread. Errors: the memory refuses the range.
    [[nodiscard]] Result<void> add(const Pool& pool, guest::Memory& memory);
    void remove(u64 serial, guest::Memory& memory);
    // Not yet removed. Copies of an object share its pool, which the first Finalize of any of them ends.
    [[nodiscard]] bool contains(u64 serial) const;
    // Whether other live pools have some of its storage, or one of them all of it.
    [[nodiscard]] bool is_shared(u64 serial) const;
    [[nodiscard]] bool is_covered(u64 serial) const;

private:
    // The ranges of these pools, which overlap no other pool.
    [[nodiscard]] static Result<void> add_ranges(std::vector<Pool> pools, guest::Memory& memory);
    // Whether another pool than this one, not an abandoned one, is as `test` wants it; false without the pool.
    template <class Test>
    [[nodiscard]] bool any_other(u64 serial, Test test) const;

    mutable std::mutex mutex_;
    std::vector<Pool> pools_;
};

} // namespace heaviside::nvn
