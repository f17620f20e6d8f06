// Runs the command as a shell does, in a folder that each test has for itself.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/wait.h>

namespace heaviside::test {

struct Outcome {
    int code = -1;
    std::string out; // standard output and, where the arguments say 2>&1, standard error
};

inline Outcome run_command(const std::string& arguments, const std::filesystem::path& folder = ".") {
    Outcome outcome;
    const std::string line = "cd '" + folder.string() + "' && '" HEAVISIDE_COMMAND "' " + arguments;
    std::FILE* const pipe = popen(line.c_str(), "r");
    if (!pipe)
        return outcome;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
        outcome.out.append(buffer.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

class CommandTest : public testing::Test {
protected:
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) /
        (std::string("heaviside_") + testing::UnitTest::GetInstance()->current_test_info()->test_suite_name());

    void SetUp() override {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
    // Gives the file's path.
    std::string write(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder / name, std::ios::binary) << bytes;
        return path(name);
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(folder / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

} // namespace heaviside::test
