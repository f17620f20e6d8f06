// PNG files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gallery {

// RGBA8 texels, top row first. False when the file cannot be written.
bool write_png(const std::string& path, int width, int height, std::span<const uint8_t> rgba);

} // namespace gallery
