// Output for people: colours on a terminal only, progress on standard error, one line for each error.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heaviside::tools {

// "heaviside disasm: FILE: what is wrong" on standard error, with colour where that is a terminal.
void report_error(std::string_view command, std::string_view message);

// Reads a whole file; "-" is standard input. Errors name the file and the reason.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);
// Writes through a temporary file, so that a reader never sees half of it; "" or "-" is standard output.
[[nodiscard]] Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// A bar on standard error while work goes on; silent where that is no terminal.
class Progress {
public:
    Progress(std::string_view what, std::size_t total, bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void advance(std::size_t done);

private:
    std::string what_;
    std::size_t total_, last_percent_ = 101;
    bool show_;
};

} // namespace heaviside::tools
