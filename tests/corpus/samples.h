// Programs that carry the single samples of multisampled textures to and from plain memory, which NVN's copies do not:
// written in our own assembly language.
#pragma once

#include "tests/corpus/case.h"

namespace corpus {

// The blobs of an assembled program. Throws std::runtime_error with the assembler's message.
Stage assemble(NVNshaderStage stage, const std::string& source);

// A compute program for a grid of {width * samples, height}: reads texture 0, stores every sample as four words into
// storage buffer 0, by row, column and sample. `samples` is a power of two.
Stage sample_reader(int width, int samples);

// A draw of three vertices without attributes that fills a target: each sample gets the texel (x * samples + sample, y)
// of texture 0.
std::vector<Stage> sample_writer(int samples);

} // namespace corpus
