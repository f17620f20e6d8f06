// Random valid words of a row, for round trips.
#pragma once

#include "maxwell/form.h"

#include <random>

namespace heaviside::maxwell {

// A word of `form` with every open bit random, redrawn until the row's checks hold; nothing if none was found.
inline std::optional<u64> random_word(const Form& form, std::mt19937_64& random) {
    for (int attempt = 0; attempt < 2000; ++attempt) {
        u64 word = (random() & ~form.mask) | form.value;
        for (unsigned i = 0; i < form.check_count; ++i) {
            const Form::Check& check = form.checks[i];
            u64 value = check.field.get(word);
            while (!(check.valid[value >> 6] >> (value & 63) & 1))
                value = random() & ((u64{1} << check.field.size()) - 1);
            word = (word & ~check.field.mask()) | check.field.put(value);
        }
        if (const auto instruction = decode(word); instruction && &instruction->form() == &form)
            return word;
    }
    return std::nullopt;
}

} // namespace heaviside::maxwell
