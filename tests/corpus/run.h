// Draws or dispatches a case through NVN entry points and reads its outputs back.
#pragma once

#include "tests/corpus/case.h"
#include "tests/corpus/machine.h"

namespace corpus {

// One blob per output of the case, in its order and in the layout of its reference. Throws std::runtime_error if an NVN
// object cannot be made.
std::vector<Blob> run_case(Machine& machine, const Case& test);

} // namespace corpus
