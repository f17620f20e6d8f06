// Decoding, disassembling and assembling single instructions: the corpus's programs, or words of every row where there
// is no corpus. The other side of the ratio is a memcpy of the same words.
#include "maxwell/assembler.h"
#include "maxwell/control.h"
#include "maxwell/form.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace heaviside;
using namespace heaviside::maxwell;

std::vector<u64> corpus_words() {
    std::vector<u64> words;
    std::error_code error;
    std::filesystem::recursive_directory_iterator files(HEAVISIDE_SOURCE_DIR "/../shared/corpus/glsl/dev", error);
    if (!error) {
        for (const auto& entry : files) {
            if (!entry.path().string().ends_with(".code.bin"))
                continue;
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string code(std::istreambuf_iterator<char>(file), {});
            for (const CodeWord word : CodeView(std::as_bytes(std::span(code))))
                words.push_back(word.word);
        }
    }
    if (words.empty())
        for (const Form& form : Table::get().forms())
            if (decode(form.value))
                words.push_back(form.value);
    return words;
}

const std::vector<u64>& words() {
    static const std::vector<u64> all = corpus_words();
    return all;
}

void count(benchmark::State& state, std::size_t items) {
    state.SetItemsProcessed(static_cast<i64>(state.iterations()) * static_cast<i64>(items));
}

void copy(benchmark::State& state) {
    std::vector<u64> target(words().size());
    for (auto _ : state) {
        std::memcpy(target.data(), words().data(), target.size() * 8);
        benchmark::DoNotOptimize(target.data());
        benchmark::ClobberMemory();
    }
    count(state, words().size());
}
BENCHMARK(copy);

void decode_words(benchmark::State& state) {
    for (auto _ : state)
        for (const u64 word : words())
            benchmark::DoNotOptimize(decode(word));
    count(state, words().size());
}
BENCHMARK(decode_words);

void disassemble_words(benchmark::State& state) {
    std::string text;
    for (auto _ : state) {
        for (const u64 word : words()) {
            text.clear();
            if (const auto instruction = decode(word))
                disassemble_to(text, *instruction);
            benchmark::DoNotOptimize(text.data());
        }
    }
    count(state, words().size());
}
BENCHMARK(disassemble_words);

void assemble_texts(benchmark::State& state) {
    std::vector<std::string> texts;
    for (const u64 word : words())
        if (const auto instruction = decode(word))
            texts.push_back(disassemble(*instruction));
    for (auto _ : state)
        for (const std::string& text : texts)
            benchmark::DoNotOptimize(encode(text));
    count(state, texts.size());
}
BENCHMARK(assemble_texts);

} // namespace
