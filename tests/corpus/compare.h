// Compares an output with its reference by the case's tolerance.
#pragma once

#include "tests/corpus/case.h"

namespace corpus {

// Empty if the output is good, otherwise how many elements differ and the first of them.
std::string difference(const Output& output, const Blob& result, const Tolerance& tolerance);

} // namespace corpus
