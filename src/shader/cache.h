// Translations on disk, by content: program, variant, options and the translator itself are the key, so an entry is
// never out of date. Several processes may use one folder at once: entries are written beside their place and moved
// there, and what is found is checked before it is used. A folder that cannot be written turns the cache off, nothing
// more.
#pragma once

#include "shader/interface.h"

#include <atomic>
#include <filesystem>
#include <mutex>

namespace heaviside::shader {

class TranslationCache {
public:
    // A hash of the translator's sources.
    static const u64 version;
    // Programs below this many bytes of code are translated faster than a file is read (docs/performance.md): they are
    // not kept.
    static constexpr u32 smallest_code = 1024;

    struct Limits {
        u64 bytes = u64{256} << 20; // of all entries; the least recently used ones go
        u32 smallest_code = TranslationCache::smallest_code;
    };

    // An empty folder: nothing is kept.
    explicit TranslationCache(std::filesystem::path folder);
    TranslationCache(std::filesystem::path folder, Limits limits);

    // As shader::translate(). Errors are not kept. Any thread.
    [[nodiscard]] Result<Translation> translate(const program::Program& program, const VariantKey& key,
                                                const Options& options);

    struct Statistics {
        u64 found = 0, translated = 0, stored = 0;
        u64 damaged = 0; // entries that were there but not whole; they are made anew
        u64 removed = 0; // to keep the limit
    };
    [[nodiscard]] Statistics statistics() const;

    // Where a translation lies. For tests and tools.
    [[nodiscard]] std::filesystem::path path_of(const program::Program& program, const VariantKey& key,
                                                const Options& options) const;

private:
    void store(const std::filesystem::path& path, const Hash128& key, const Translation& translation);
    void keep_limit();

    std::filesystem::path folder_;
    Limits limits_;
    std::mutex mutex_; // keep_limit()
    u64 unseen_ = 0;   // bytes written since the folder was measured
    bool measured_ = false;
    std::atomic<u64> found_ = 0, translated_ = 0, stored_ = 0, damaged_ = 0, removed_ = 0;
    std::atomic<bool> writable_ = true;
};

} // namespace heaviside::shader
