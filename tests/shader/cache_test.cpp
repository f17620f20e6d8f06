// The disk cache: gives what a translation gives, whatever happened to its files.
#include "shader/cache.h"

#include "maxwell/assembler.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heaviside::shader {
namespace {

namespace fs = std::filesystem;

// A compute program whose text, and so whose content, differs by `number`.
struct Sample {
    std::vector<std::byte> code;
    program::Program program;
    explicit Sample(u32 number) {
        const auto assembled = maxwell::assemble(
            fmt::format("MOV32I R4, {}\nMOV R2, c[0x0][0x140]\nMOV R3, c[0x0][0x144]\nSTG.E [R2], R4\nEXIT\n", number));
        code = assembled.value().code;
        program.stage = Stage::Compute;
        program.code = code;
        program.workgroup_size = {4, 2, 1};
        program.layout = &program::kernel_layout;
    }
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;
};

class Cache : public testing::Test {
protected:
    const fs::path folder = fs::path(testing::TempDir()) / fmt::format("heaviside_cache_test.{}", getpid());
    static constexpr TranslationCache::Limits all{u64{1} << 20, 0};
    void SetUp() override { fs::remove_all(folder); }
    void TearDown() override { fs::remove_all(folder); }
    [[nodiscard]] u64 entries() const {
        u64 count = 0;
        for (const auto& each : fs::recursive_directory_iterator(folder))
            count += each.path().extension() == ".spirv";
        return count;
    }
};

void expect_same(const Translation& got, const Translation& want) {
    EXPECT_EQ(got.spirv, want.spirv);
    const Reflection &a = got.reflection, &b = want.reflection;
    EXPECT_EQ(a.stage, b.stage);
    ASSERT_EQ(a.banks.size(), b.banks.size());
    for (std::size_t i = 0; i < a.banks.size(); ++i) {
        EXPECT_EQ(a.banks[i].bank, b.banks[i].bank);
        EXPECT_EQ(a.banks[i].binding, b.banks[i].binding);
        EXPECT_EQ(a.banks[i].size, b.banks[i].size);
    }
    EXPECT_EQ(a.handles.size(), b.handles.size());
    EXPECT_EQ(a.writes_global, b.writes_global);
    EXPECT_EQ(a.outputs, b.outputs);
    EXPECT_EQ(a.workgroup_size, b.workgroup_size);
    EXPECT_EQ(a.shared_bytes, b.shared_bytes);
}

TEST_F(Cache, GivesTheNextProcessWhatThisOneTranslated) {
    const Sample sample(7);
    const Translation want = translate(sample.program, {}, {}).value();
    EXPECT_TRUE(want.reflection.writes_global);
    {
        TranslationCache cache(folder, all);
        expect_same(cache.translate(sample.program, {}, {}).value(), want);
        EXPECT_EQ(cache.statistics().found, 0u);
        EXPECT_EQ(cache.statistics().stored, 1u);
    }
    TranslationCache next(folder, all);
    expect_same(next.translate(sample.program, {}, {}).value(), want);
    EXPECT_EQ(next.statistics().found, 1u);
    EXPECT_EQ(next.statistics().translated, 0u);
}

TEST_F(Cache, ProgramVariantAndOptionsAreTheKey) {
    const Sample one(1), two(2);
    TranslationCache cache(folder, all);
    VariantKey points;
    points.points = true;
    Options wide;
    wide.subgroup_size = 64;
    const std::array paths{cache.path_of(one.program, {}, {}), cache.path_of(two.program, {}, {}),
                           cache.path_of(one.program, points, {}), cache.path_of(one.program, {}, wide)};
    for (std::size_t i = 0; i < paths.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            EXPECT_NE(paths[i], paths[k]);
    EXPECT_EQ(paths[0], TranslationCache(folder, all).path_of(Sample(1).program, {}, {}));
    EXPECT_NE(TranslationCache::version, 0u);
}

TEST_F(Cache, EntriesOfAnotherTranslatorAreMadeAnew) {
    const Sample sample(7);
    {
        TranslationCache cache(folder, all);
        ASSERT_TRUE(cache.translate(sample.program, {}, {}));
    }
    const fs::path path = TranslationCache(folder, all).path_of(sample.program, {}, {});
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        const u64 other = TranslationCache::version + 1; // behind the magic number
        file.seekp(8);
        file.write(reinterpret_cast<const char*>(&other), sizeof other);
    }
    TranslationCache next(folder, all);
    ASSERT_TRUE(next.translate(sample.program, {}, {}));
    EXPECT_EQ(next.statistics().found, 0u);
    EXPECT_EQ(next.statistics().translated, 1u);
}

TEST_F(Cache, EachByteOfTheCodeIsInTheKey) {
    const Sample sample(7);
    TranslationCache cache(folder, all);
    const fs::path path = cache.path_of(sample.program, {}, {});
    std::vector<std::byte> code(sample.program.code.begin(), sample.program.code.end());
    program::Program changed = sample.program;
    changed.code = code;
    EXPECT_EQ(cache.path_of(changed, {}, {}), path);
    for (const std::size_t at : {std::size_t{0}, code.size() / 2, code.size() - 1}) {
        code[at] ^= std::byte{1};
        EXPECT_NE(cache.path_of(changed, {}, {}), path) << at;
        code[at] ^= std::byte{1};
    }
}

// What the neighbours of a stage decide is in its variant, and so changes its key and no other's.
TEST_F(Cache, WhatPartnersWriteIsInTheKey) {
    const Sample reader(1), writer(2);
    TranslationCache cache(folder, all);
    VariantKey less;
    less.provided_inputs = 0b101;
    EXPECT_NE(cache.path_of(reader.program, less, {}), cache.path_of(reader.program, {}, {}));
    EXPECT_EQ(cache.path_of(writer.program, {}, {}), TranslationCache(folder, all).path_of(writer.program, {}, {}));
}

// Every single byte of an entry counts, and so does its end.
TEST_F(Cache, DamagedEntriesAreFoundAndMadeAnew) {
    const Sample sample(7);
    const Translation want = translate(sample.program, {}, {}).value();
    TranslationCache cache(folder, all);
    ASSERT_TRUE(cache.translate(sample.program, {}, {}));
    const fs::path path = cache.path_of(sample.program, {}, {});
    const u64 size = fs::file_size(path);
    std::string whole;
    {
        std::ifstream file(path, std::ios::binary);
        whole.assign(std::istreambuf_iterator<char>(file), {});
    }
    u64 damaged = 0;
    const auto expect_rebuilt = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        expect_same(cache.translate(sample.program, {}, {}).value(), want);
        ASSERT_EQ(cache.statistics().damaged, ++damaged);
        ASSERT_EQ(fs::file_size(path), size);
    };
    for (std::size_t i = 0; i < whole.size(); i += i < 200 ? 1 : 61) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
        expect_rebuilt(bytes);
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{8}, whole.size() / 2, whole.size() - 1})
        expect_rebuilt(whole.substr(0, length));
    expect_rebuilt(whole + "x");
    ASSERT_TRUE(cache.translate(sample.program, {}, {}));
    EXPECT_EQ(cache.statistics().found, 1u) << "what was made anew is whole";
}

// An entry that stands in another's place is that other's no more.
TEST_F(Cache, AnEntryUnderAWrongNameIsNotTaken) {
    const Sample one(1), two(2);
    TranslationCache cache(folder, all);
    ASSERT_TRUE(cache.translate(one.program, {}, {}));
    const fs::path wrong = cache.path_of(two.program, {}, {});
    fs::create_directories(wrong.parent_path());
    fs::copy_file(cache.path_of(one.program, {}, {}), wrong);
    expect_same(cache.translate(two.program, {}, {}).value(), translate(two.program, {}, {}).value());
    EXPECT_EQ(cache.statistics().damaged, 1u);
}

// Both write and read the same entries over and over while a third sees nothing but whole ones.
TEST_F(Cache, TwoProcessesShareAFolder) {
    constexpr u32 programs = 8, rounds = 20;
    const auto work = [&] {
        bool good = true;
        for (u32 round = 0; round < rounds; ++round) {
            TranslationCache cache(folder, all);
            for (u32 n = 0; n < programs; ++n) {
                const Sample sample(n);
                const auto got = cache.translate(sample.program, {}, {});
                good = good && got && got->spirv == translate(sample.program, {}, {})->spirv;
                if ((round + n) % 3 == 0) {
                    std::error_code ignored;
                    fs::remove(cache.path_of(sample.program, {}, {}), ignored);
                }
            }
            good = good && cache.statistics().damaged == 0;
        }
        return good;
    };
    std::array<pid_t, 2> children{};
    for (pid_t& child : children) {
        child = fork();
        ASSERT_GE(child, 0);
        if (child == 0)
            _exit(work() ? 0 : 1);
    }
    EXPECT_TRUE(work());
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    for (const auto& each : fs::recursive_directory_iterator(folder))
        EXPECT_NE(each.path().extension(), ".part") << each.path();
}

TEST_F(Cache, ThreadsOfAProcessShareOne) {
    TranslationCache cache(folder, all);
    std::vector<std::thread> threads;
    for (u32 t = 0; t < 4; ++t)
        threads.emplace_back([&cache] {
            for (u32 n = 0; n < 16; ++n)
                EXPECT_TRUE(cache.translate(Sample(n % 4).program, {}, {}));
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(cache.statistics().found + cache.statistics().translated, 64u);
    EXPECT_EQ(cache.statistics().damaged, 0u);
    EXPECT_EQ(entries(), 4u);
}

TEST_F(Cache, TheLeastRecentlyUsedGoWhenThereAreTooMany) {
    const Sample first(0);
    TranslationCache probe(folder, all);
    ASSERT_TRUE(probe.translate(first.program, {}, {}));
    const u64 size = fs::file_size(probe.path_of(first.program, {}, {}));
    const auto age = [&](u32 number, int hours) {
        fs::last_write_time(probe.path_of(Sample(number).program, {}, {}),
                            fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    for (u32 n = 1; n < 10; ++n)
        ASSERT_TRUE(probe.translate(Sample(n).program, {}, {}));
    for (u32 n = 0; n < 10; ++n)
        age(n, 20 - static_cast<int>(n));
    TranslationCache small(folder, {10 * size + size / 2, 0});
    ASSERT_TRUE(small.translate(first.program, {}, {})); // found: it becomes the youngest
    ASSERT_EQ(small.statistics().found, 1u);
    ASSERT_TRUE(small.translate(Sample(10).program, {}, {})); // the eleventh is one too many
    EXPECT_EQ(entries(), 7u) << "three quarters of the limit";
    EXPECT_TRUE(fs::exists(small.path_of(first.program, {}, {})));
    EXPECT_TRUE(fs::exists(small.path_of(Sample(10).program, {}, {})));
    EXPECT_FALSE(fs::exists(small.path_of(Sample(1).program, {}, {})));
    EXPECT_FALSE(fs::exists(small.path_of(Sample(2).program, {}, {})));
}

TEST_F(Cache, WhatAnAbortedProcessLeftIsSweptUp) {
    const fs::path young = folder / "ab" / "x.spirv.1.0.part", old = folder / "ab" / "y.spirv.1.0.part";
    fs::create_directories(old.parent_path());
    for (const fs::path& path : {young, old})
        std::ofstream(path) << "half of an entry";
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    TranslationCache cache(folder, all);
    ASSERT_TRUE(cache.translate(Sample(1).program, {}, {}));
    EXPECT_TRUE(fs::exists(young));
    EXPECT_FALSE(fs::exists(old));
}

TEST_F(Cache, WithoutAFolderItOnlyTranslates) {
    for (const char* path : {"", "/proc/no/such/folder"}) { // the second cannot be made
        TranslationCache cache(path, all);
        const Sample sample(3);
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(cache.translate(sample.program, {}, {}));
        EXPECT_EQ(cache.statistics().translated, 2u);
        EXPECT_EQ(cache.statistics().stored, 0u);
    }
}

TEST_F(Cache, SmallProgramsAreNotWorthAFile) {
    TranslationCache cache(folder);
    const Sample sample(3);
    ASSERT_LT(sample.code.size(), TranslationCache::smallest_code);
    EXPECT_TRUE(cache.translate(sample.program, {}, {}));
    EXPECT_FALSE(fs::exists(folder));
}

TEST_F(Cache, ErrorsAreNotKept) {
    TranslationCache cache(folder, all);
    Sample sample(3);
    sample.code.assign(32, std::byte{0xff});
    sample.program.code = sample.code;
    for (int i = 0; i < 2; ++i)
        EXPECT_FALSE(cache.translate(sample.program, {}, {}));
    EXPECT_FALSE(fs::exists(folder));
}

} // namespace
} // namespace heaviside::shader
