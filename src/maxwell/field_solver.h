// The bits of a word that a text leaves to choose. Some fields have values at once (operands); of others the text
// allows several values, because they print alike; and fields may share bits. For encode.cpp.
#pragma once

#include "maxwell/form.h"

namespace heaviside::maxwell {

class FieldSolver {
public:
    // A set of numbers 0-127.
    struct Values {
        std::array<u64, 2> bits{};
        void add(u64 value) { bits[value >> 6] |= u64{1} << (value & 63); }
        [[nodiscard]] bool has(u64 value) const { return (bits[value >> 6] >> (value & 63) & 1) != 0; }
    };

    // Starts anew with the bits of `known`, which `word` holds.
    void start(u64 known, u64 word) {
        known_ = known;
        word_ = word;
        count_ = 0;
    }

    // Sets the bits of a field. False: some are known already and differ.
    [[nodiscard]] bool assign(const Field& field, u64 value);
    // Allows a field some values. False: there are more constraints than an instruction has fields.
    [[nodiscard]] bool constrain(const Field& field, const Values& allowed);
    [[nodiscard]] unsigned constraint_count() const { return count_; }
    void drop_constraints(unsigned first) { count_ = first; }
    // Gives the constrained fields values: the lowest that satisfy all constraints on the bits they share. False: none
    // do.
    [[nodiscard]] bool solve();
    [[nodiscard]] u64 word() const { return word_; }

private:
    struct Constraint {
        Field field;
        Values allowed;
    };
    static constexpr unsigned most = 40;

    bool solve_bits(u64 bits);

    u64 word_ = 0, known_ = 0;
    std::array<Constraint, most> constraints_;
    unsigned count_ = 0;
};

} // namespace heaviside::maxwell
