#include "tools/terminal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <unistd.h>

namespace heaviside::tools {
namespace {

bool colours() {
    return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

} // namespace

void report_error(std::string_view command, std::string_view message) {
    if (colours())
        fmt::print(stderr, "\033[1mheaviside {}:\033[0m \033[31m{}\033[0m\n", command, message);
    else
        fmt::print(stderr, "heaviside {}: {}\n", command, message);
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
    std::vector<char> bytes;
    if (path == "-") {
        bytes.assign(std::istreambuf_iterator<char>(std::cin), {});
    } else {
        std::error_code error;
        if (std::filesystem::is_directory(path, error))
            return fail("{}: is a folder", path.string());
        std::ifstream file(path, std::ios::binary);
        if (!file)
            return fail("{}: {}", path.string(), std::strerror(errno));
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const auto content = std::as_bytes(std::span(bytes));
    return std::vector<std::byte>(content.begin(), content.end());
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
    if (path.empty() || path == "-") {
        std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
        if (!std::cout)
            return fail("standard output: {}", std::strerror(errno));
        return {};
    }
    std::filesystem::path temporary = path;
    temporary += fmt::format(".{}.tmp", getpid());
    std::ofstream file(temporary, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    std::error_code error;
    if (!file)
        error = std::error_code(errno, std::generic_category());
    else
        std::filesystem::rename(temporary, path, error);
    if (error) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        return fail("{}: {}", path.string(), error.message());
    }
    return {};
}

Progress::Progress(std::string_view what, std::size_t total, bool quiet)
    : what_(what), total_(total), show_(!quiet && total > 1 && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    if (show_)
        fmt::print(stderr, "\r\033[K");
}

void Progress::advance(std::size_t done) {
    const std::size_t percent = total_ ? done * 100 / total_ : 100;
    if (!show_ || percent == last_percent_)
        return;
    last_percent_ = percent;
    constexpr std::size_t width = 30;
    const std::size_t filled = percent * width / 100;
    fmt::print(stderr, "\r{} [{}{}] {}/{}", what_, std::string(filled, '#'), std::string(width - filled, ' '), done,
               total_);
    std::fflush(stderr);
}

} // namespace heaviside::tools
