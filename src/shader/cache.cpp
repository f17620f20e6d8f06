#include "shader/cache.h"

#include "base/log.h"
#include "translator_version.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <fstream>
#include <span>
#include <type_traits>
#include <unistd.h>

namespace heaviside::shader {

const u64 TranslationCache::version = HEAVISIDE_TRANSLATOR_VERSION;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view entry_suffix = ".spirv", part_suffix = ".part";
constexpr u64 largest_entry = u64{64} << 20;

// An entry is this header, the reflection and the words of the module.
struct EntryHeader {
    u64 magic = 0x3150535645414548; // "HEAVESP1"; its last character counts this layout's changes
    u64 translator = TranslationCache::version;
    Hash128 key, content; // content: of all that follows
    u64 reflection_bytes = 0, module_bytes = 0;
};
static_assert(std::has_unique_object_representations_v<EntryHeader>);

class Writer {
public:
    std::vector<std::byte> bytes;
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void operator()(const T& value) {
        const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
        bytes.insert(bytes.end(), raw.begin(), raw.end());
    }
};

class Reader {
public:
    explicit Reader(Bytes bytes) : bytes_(bytes) {}
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void operator()(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            u8 byte = 0;
            (*this)(byte);
            value = byte != 0;
        } else {
            const auto read = read_at<T>(bytes_, at_);
            whole_ = whole_ && read;
            value = read.value_or(T{});
            at_ += sizeof(T);
        }
    }
    [[nodiscard]] bool ended() const { return whole_ && at_ == bytes_.size(); }
    [[nodiscard]] u64 left() const { return at_ < bytes_.size() ? bytes_.size() - at_ : 0; }

private:
    Bytes bytes_;
    u64 at_ = 0;
    bool whole_ = true;
};

// The members of each type, all of them: one that is added does not compile until it is named here.
template <class F>
void members(const BankUse& use, F&& f) {
    const auto& [bank, binding, by_address, size] = use;
    f(bank), f(binding), f(by_address), f(size);
}
template <class F>
void members(const HandleUse& use, F&& f) {
    const auto& [bank, offset, dimension, storage, written, depth_compare] = use;
    f(bank), f(offset), f(dimension), f(storage), f(written), f(depth_compare);
}
template <class F>
void members(const Reflection& reflection, F&& f) {
    const auto& [stage, banks, handles, reads_global, writes_global, inputs, outputs, writes_depth, writes_sample_mask,
                 kills, per_sample, writes_layer, writes_viewport_index, writes_point_size, writes_viewport_mask,
                 clip_distances, workgroup_size, shared_bytes] = reflection;
    f(stage), f(banks), f(handles), f(reads_global), f(writes_global), f(inputs), f(outputs), f(writes_depth);
    f(writes_sample_mask), f(kills), f(per_sample), f(writes_layer), f(writes_viewport_index), f(writes_point_size);
    f(writes_viewport_mask), f(clip_distances), f(workgroup_size), f(shared_bytes);
}
template <class F>
void members(const VariantKey& key, F&& f) {
    const auto& [vertex_inputs, converted_inputs, fragment_outputs, uint_textures, sint_textures, provided_inputs,
                 alpha_test, points, uint_images, sint_images, geometry_input_vertices, tess_domain, tess_spacing,
                 tess_clockwise, tess_points, feedback, scattered_storage, viewport_swizzle] = key;
    f(vertex_inputs), f(converted_inputs), f(fragment_outputs), f(uint_textures), f(sint_textures), f(provided_inputs),
        f(alpha_test);
    f(points), f(uint_images), f(sint_images), f(geometry_input_vertices), f(tess_domain), f(tess_spacing);
    f(tess_clockwise), f(tess_points), f(feedback), f(scattered_storage), f(viewport_swizzle);
}
template <class F>
void members(const Options& options, F&& f) {
    const auto& [indexed_banks_by_address, subgroup_size, exact_denormals, unfused, denormal_modes, drops_added_zeros,
                 mixes_left_loops, storage_windows, transform_feedback, validate] = options;
    f(indexed_banks_by_address), f(subgroup_size), f(exact_denormals), f(unfused), f(denormal_modes);
    f(drops_added_zeros), f(mixes_left_loops), f(storage_windows), f(transform_feedback), f(validate);
}

template <class T>
void write(Writer& writer, const T& value);
template <class T>
void write(Writer& writer, const std::vector<T>& values) {
    writer(static_cast<u32>(values.size()));
    for (const T& each : values)
        write(writer, each);
}
template <class T, std::size_t N>
void write(Writer& writer, const std::array<T, N>& values) {
    for (const T& each : values)
        write(writer, each);
}
template <class T>
void write(Writer& writer, const T& value) {
    if constexpr (std::is_class_v<T>)
        members(value, [&](const auto& member) { write(writer, member); });
    else
        writer(value);
}

template <class T>
void read(Reader& reader, T& value);
template <class T>
void read(Reader& reader, std::vector<T>& values) {
    u32 count = 0;
    reader(count);
    values.resize(std::min<u64>(count, reader.left())); // each takes a byte or more
    for (T& each : values)
        read(reader, each);
}
template <class T, std::size_t N>
void read(Reader& reader, std::array<T, N>& values) {
    for (T& each : values)
        read(reader, each);
}
template <class T>
void read(Reader& reader, T& value) {
    if constexpr (std::is_class_v<T>)
        members(value, [&]<class M>(const M& member) { read(reader, const_cast<M&>(member)); });
    else
        reader(value);
}

Hash128 key_of(const program::Program& program, const VariantKey& key, const Options& options) {
    const Hash128 identity = program::identity(program);
    Writer writer;
    writer(TranslationCache::version);
    writer(identity.low);
    writer(identity.high);
    write(writer, key);
    write(writer, options);
    return hash_bytes(writer.bytes);
}

enum class Found : u8 { No, Damaged, Yes };

Found load(const fs::path& path, const Hash128& key, Translation& translation) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        return Found::No;
    const auto length = static_cast<u64>(static_cast<std::streamoff>(file.tellg()));
    EntryHeader header;
    if (length < sizeof header || length > largest_entry)
        return Found::Damaged;
    std::vector<std::byte> bytes(length);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(length));
    const EntryHeader expected;
    std::memcpy(&header, bytes.data(), sizeof header);
    const Bytes content = Bytes(bytes).subspan(sizeof header);
    if (!file || header.magic != expected.magic || header.translator != expected.translator || header.key != key ||
        header.reflection_bytes > content.size() || header.module_bytes % sizeof(u32) != 0 ||
        header.module_bytes != content.size() - header.reflection_bytes || hash_bytes(content) != header.content)
        return Found::Damaged;
    Reader reader(content.first(header.reflection_bytes));
    read(reader, translation.reflection);
    if (!reader.ended())
        return Found::Damaged;
    translation.spirv.resize(header.module_bytes / sizeof(u32));
    std::memcpy(translation.spirv.data(), content.data() + header.reflection_bytes, header.module_bytes);
    return Found::Yes;
}

} // namespace

TranslationCache::TranslationCache(fs::path folder) : TranslationCache(std::move(folder), Limits{}) {}
TranslationCache::TranslationCache(fs::path folder, Limits limits) : folder_(std::move(folder)), limits_(limits) {}

fs::path TranslationCache::path_of(const program::Program& program, const VariantKey& key,
                                   const Options& options) const {
    const std::string name = to_string(key_of(program, key, options));
    return folder_ / name.substr(0, 2) / (name + std::string(entry_suffix));
}

Result<Translation> TranslationCache::translate(const program::Program& program, const VariantKey& key,
                                                const Options& options) {
    const u64 code_bytes = program.code.size() + program.second_code.size();
    const bool kept = !folder_.empty() && writable_ && code_bytes >= limits_.smallest_code;
    fs::path path;
    Hash128 name;
    if (kept) {
        name = key_of(program, key, options);
        path = path_of(program, key, options);
        Translation translation;
        switch (load(path, name, translation)) {
        case Found::Yes: {
            std::error_code ignored; // what is used stays
            fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
            ++found_;
            return translation;
        }
        case Found::Damaged:
            ++damaged_;
            break;
        case Found::No:
            break;
        }
    }
    ++translated_;
    Result<Translation> translation = shader::translate(program, key, options);
    if (kept && translation)
        store(path, name, *translation);
    return translation;
}

void TranslationCache::store(const fs::path& path, const Hash128& key, const Translation& translation) {
    Writer writer;
    write(writer, translation.reflection);
    EntryHeader header;
    header.key = key;
    header.reflection_bytes = writer.bytes.size();
    header.module_bytes = translation.spirv.size() * sizeof(u32);
    const auto module = std::as_bytes(std::span(translation.spirv));
    writer.bytes.insert(writer.bytes.end(), module.begin(), module.end());
    header.content = hash_bytes(writer.bytes);

    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    static std::atomic<u32> serial = 0; // tells apart the threads of a process
    fs::path part = path;
    part += fmt::format(".{}.{}{}", getpid(), serial++, part_suffix);
    bool written = false;
    {
        std::ofstream file(part, std::ios::binary);
        file.write(reinterpret_cast<const char*>(&header), sizeof header);
        file.write(reinterpret_cast<const char*>(writer.bytes.data()),
                   static_cast<std::streamsize>(writer.bytes.size()));
        file.close();
        written = static_cast<bool>(file);
    }
    if (written)
        fs::rename(part, path, error);
    if (!written || error) {
        std::error_code ignored;
        fs::remove(part, ignored);
        writable_ = false;
        log::error_once("translation cache: cannot write {}", path.string());
        return;
    }
    ++stored_;
    const std::lock_guard lock(mutex_);
    unseen_ += sizeof header + writer.bytes.size();
    if (!measured_ || unseen_ > limits_.bytes / 16)
        keep_limit();
}

// Under the lock. Other processes may write and remove at the same time: whatever is gone is not missed.
void TranslationCache::keep_limit() {
    struct Entry {
        fs::file_time_type used;
        u64 bytes;
        fs::path path;
    };
    measured_ = true;
    unseen_ = 0;
    std::vector<Entry> entries;
    u64 total = 0;
    const auto now = fs::file_time_type::clock::now();
    std::error_code error;
    for (fs::recursive_directory_iterator each(folder_, error), end; !error && each != end; each.increment(error)) {
        std::error_code gone;
        const fs::path& path = each->path();
        const bool part = path.extension() == part_suffix;
        if (!part && path.extension() != entry_suffix)
            continue;
        const auto used = each->last_write_time(gone);
        const u64 bytes = gone ? 0 : each->file_size(gone);
        if (gone)
            continue;
        if (!part) {
            entries.push_back({used, bytes, path});
            total += bytes;
        } else if (now - used > std::chrono::hours(1)) { // its process ended before it was done
            fs::remove(path, gone);
        }
    }
    if (total <= limits_.bytes)
        return;
    std::ranges::sort(entries, {}, &Entry::used);
    for (const Entry& entry : entries) {
        if (total <= limits_.bytes / 4 * 3)
            break;
        std::error_code gone;
        if (fs::remove(entry.path, gone))
            ++removed_;
        total -= entry.bytes;
    }
}

TranslationCache::Statistics TranslationCache::statistics() const {
    return {found_, translated_, stored_, damaged_, removed_};
}

} // namespace heaviside::shader
