// heaviside asm: instructions or whole programs from text.
#include "maxwell/assembler.h"
#include "program/build.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <cstdio>
#include <filesystem>
#include <iostream>

namespace heaviside::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view command = "asm";

// One instruction a line in, its word in hex or "error: ..." out.
int assemble_words() {
    std::ios::sync_with_stdio(false);
    std::string line, out;
    bool ok = true;
    while (std::getline(std::cin, line)) {
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        if (line.find_first_not_of(" \t") == std::string::npos)
            continue;
        if (const auto encoded = maxwell::encode(line)) {
            fmt::format_to(std::back_inserter(out), "{:016x}\n", encoded->word);
        } else {
            ok = false;
            fmt::format_to(std::back_inserter(out), "error: column {}: {}\n", encoded.error().column + 1,
                           encoded.error().message);
        }
        if (out.size() > 1 << 16) {
            std::fwrite(out.data(), 1, out.size(), stdout);
            out.clear();
        }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return ok ? success : failed;
}

Result<std::string> read_text(const fs::path& path) {
    const auto bytes = read_file(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<program::Blobs> build(const fs::path& path, std::string_view source) {
    maxwell::AssembleOptions options;
    options.file = path.string();
    options.include = [&](std::string_view file) { return read_text(path.parent_path() / file); };
    const auto assembled = maxwell::assemble(source, options);
    if (!assembled)
        return tl::unexpected(assembled.error());
    const auto input = program::build_input(*assembled);
    if (!input)
        return fail("{}: {}", path.string(), input.error().message);
    return program::build(*input);
}

void append_array(std::string& out, const std::string& name, Bytes bytes) {
    fmt::format_to(std::back_inserter(out), "inline constexpr unsigned char {}[{}] = {{", name, bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i)
        fmt::format_to(std::back_inserter(out), "{}{},", i % 32 == 0 ? "\n    " : "", static_cast<unsigned>(bytes[i]));
    out += "\n};\n";
}

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> write(const program::Blobs& blobs, const AsmOptions& options) {
    if (options.embed.empty()) {
        if (auto written = write_file(options.output + ".gpu.bin", text_of(blobs.gpu)); !written)
            return written;
        return write_file(options.output + ".ctrl.bin", text_of(blobs.control));
    }
    std::string header = fmt::format("// Made by `heaviside asm` from {}.\n#pragma once\n\n",
                                     fs::path(options.file).filename().string());
    append_array(header, options.embed + "_gpu", blobs.gpu);
    append_array(header, options.embed + "_control", blobs.control);
    return write_file(options.output, header);
}

} // namespace

int run_asm(const AsmOptions& options) {
    if (options.words)
        return assemble_words();
    const auto source = read_text(options.file);
    if (!source) {
        report_error(command, source.error().message);
        return unavailable;
    }
    const auto blobs = build(options.file, *source);
    if (!blobs) {
        report_error(command, blobs.error().message);
        return failed;
    }
    if (const auto written = write(*blobs, options); !written) {
        report_error(command, written.error().message);
        return unavailable;
    }
    return success;
}

} // namespace heaviside::tools
