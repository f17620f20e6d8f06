#include "maxwell/field_solver.h"

namespace heaviside::maxwell {

bool FieldSolver::assign(const Field& field, u64 value) {
    const u64 mask = field.mask(), bits = field.put(value);
    if (((word_ ^ bits) & mask & known_) != 0)
        return false;
    word_ |= bits;
    known_ |= mask;
    return true;
}

bool FieldSolver::constrain(const Field& field, const Values& allowed) {
    if (count_ == most)
        return false;
    constraints_[count_++] = {field, allowed};
    return true;
}

bool FieldSolver::solve() {
    std::array<bool, most> done{};
    for (unsigned i = 0; i < count_; ++i) {
        if (done[i])
            continue;
        u64 bits = constraints_[i].field.mask();
        for (bool grown = true; grown;) {
            grown = false;
            for (unsigned k = 0; k < count_; ++k) {
                const u64 mask = constraints_[k].field.mask();
                if (!done[k] && (mask & bits) != 0) {
                    done[k] = true;
                    grown = grown || (mask & ~bits) != 0;
                    bits |= mask;
                }
            }
        }
        if (!solve_bits(bits))
            return false;
    }
    return true;
}

// Fields that share bits, all at once.
bool FieldSolver::solve_bits(u64 bits) {
    const u64 open = bits & ~known_;
    for (u64 subset = 0;; subset = (subset - open) & open) {
        const u64 word = word_ | subset;
        bool fits = true;
        for (unsigned k = 0; k < count_ && fits; ++k)
            if ((constraints_[k].field.mask() & bits) != 0)
                fits = constraints_[k].allowed.has(constraints_[k].field.get(word));
        if (fits) {
            word_ = word;
            known_ |= bits;
            return true;
        }
        if (subset == open)
            return false;
    }
}

} // namespace heaviside::maxwell
