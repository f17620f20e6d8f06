#include "nvn/trace.h"

#include "base/log.h"
#include "nvn/entry_points.h"
#include "nvn/runtime.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <span>

namespace heaviside::nvn {

namespace {

// Process-wide, as the functions that write to it are.
struct Trace {
    std::atomic<bool> on = false;
    std::mutex mutex; // the rest
    std::FILE* file = nullptr;
    std::map<std::string_view, std::map<const void*, unsigned>> objects; // by type: numbers from 1
    std::map<u64, unsigned> pools;                                       // by guest::Range::serial
    std::map<u64, unsigned> lists;                                       // by command handle
    std::atomic<unsigned> threads = 0;
};
Trace& trace() {
    static Trace* const instance = new Trace;
    return *instance;
}

unsigned thread_number() {
    thread_local const unsigned number = ++trace().threads;
    return number;
}

template <class Key>
unsigned number_of(std::map<Key, unsigned>& numbers, Key key) {
    return numbers.emplace(key, static_cast<unsigned>(numbers.size() + 1)).first->second;
}

} // namespace

bool start_trace(const char* path) {
    Trace& t = trace();
    const std::lock_guard lock(t.mutex);
    std::FILE* file = std::fopen(path, "w");
    if (!file) {
        log::error("trace: cannot write {}: {}", path, std::strerror(errno));
        return false;
    }
    std::setvbuf(file, nullptr, _IOLBF, 1 << 16); // whole lines, also of a program that crashes
    if (t.file)
        std::fclose(t.file);
    t.file = file;
    t.objects.clear();
    t.pools.clear();
    t.lists.clear();
    t.on = true;
    return true;
}

void stop_trace() {
    Trace& t = trace();
    const std::lock_guard lock(t.mutex);
    t.on = false;
    if (t.file)
        std::fclose(t.file);
    t.file = nullptr;
}

void start_requested_trace() {
    static const bool once = [] {
        const char* path = std::getenv("HEAVISIDE_TRACE");
        return path && *path && start_trace(path);
    }();
    (void)once;
}

bool tracing() {
    return trace().on.load(std::memory_order_relaxed);
}

TraceLine::TraceLine(const char* call) : on_(tracing()) {
    if (!on_)
        return;
    if (const unsigned thread = thread_number(); thread != 1)
        line_ = fmt::format("t{} ", thread);
    line_ += call;
    line_ += '(';
}

TraceLine::~TraceLine() {
    if (!on_)
        return;
    line_ += in_outputs_ ? "}\n" : in_result_ ? "\n" : ")\n";
    Trace& t = trace();
    const std::lock_guard lock(t.mutex);
    if (t.file)
        std::fwrite(line_.data(), 1, line_.size(), t.file);
}

std::string& TraceLine::next() {
    if (!first_)
        line_ += ", ";
    first_ = false;
    return line_;
}

TraceLine& TraceLine::object(const char* type, const void* object) {
    if (!on_)
        return *this;
    if (!object) {
        next() += "null";
        return *this;
    }
    Trace& t = trace();
    unsigned number = 0;
    {
        const std::lock_guard lock(t.mutex);
        number = number_of(t.objects[type], object);
    }
    next() += fmt::format("{}#{}", type, number);
    return *this;
}

TraceLine& TraceLine::pointer(const void* pointer) {
    if (on_)
        next() += pointer ? "pointer" : "null";
    return *this;
}

TraceLine& TraceLine::text(const char* text) {
    if (on_)
        next() += text ? fmt::format("\"{:.100}\"", std::string_view(text)) : "null";
    return *this;
}

TraceLine& TraceLine::number(long long value) {
    if (on_)
        next() += fmt::format("{}", value);
    return *this;
}

TraceLine& TraceLine::real(double value) {
    if (on_)
        next() += fmt::format("{:g}", value);
    return *this;
}

TraceLine& TraceLine::flag(bool value) {
    if (on_)
        next() += value ? "true" : "false";
    return *this;
}

TraceLine& TraceLine::address(u64 address) {
    if (!on_)
        return *this;
    const auto range = guest_memory().find(GuestAddress{address});
    if (!range) {
        next() += fmt::format("{:#x}", address);
        return *this;
    }
    Trace& t = trace();
    unsigned number = 0;
    {
        const std::lock_guard lock(t.mutex);
        number = number_of(t.pools, range->serial);
    }
    next() += fmt::format("memory#{}+{:#x}", number, GuestAddress{address} - range->start);
    return *this;
}

TraceLine& TraceLine::handle(u64 value) {
    if (on_)
        next() += fmt::format("{:#x}", value);
    return *this;
}

TraceLine& TraceLine::constant(const ConstantName* names, std::size_t count, int value) {
    if (!on_)
        return *this;
    const auto* const end = names + count;
    const auto* const found = std::find_if(names, end, [&](const ConstantName& n) { return n.value == value; });
    next() += found != end ? found->name : std::to_string(value);
    return *this;
}

TraceLine& TraceLine::bits(const ConstantName* names, std::size_t count, int value) {
    if (!on_)
        return *this;
    std::string text;
    u32 rest = static_cast<u32>(value);
    for (const ConstantName& name : std::span(names, count)) {
        const u32 bit = static_cast<u32>(name.value);
        if (bit == 0 && value == 0 && text.empty())
            text = name.name;
        if (bit != 0 && (bit & (bit - 1)) == 0 && rest & bit) { // names of several bits would say them twice
            text += fmt::format("{}{}", text.empty() ? "" : "|", name.name);
            rest &= ~bit;
        }
    }
    if (rest != 0 || text.empty())
        text += fmt::format("{}{:#x}", text.empty() ? "" : "|", rest);
    next() += text;
    return *this;
}

TraceLine& TraceLine::commands(u64 handle) {
    if (!on_)
        return *this;
    if (handle == 0) {
        next() += "null";
        return *this;
    }
    Trace& t = trace();
    unsigned number = 0;
    {
        const std::lock_guard lock(t.mutex);
        number = number_of(t.lists, handle);
    }
    next() += fmt::format("commands#{}", number);
    return *this;
}

TraceLine& TraceLine::open(const char* bracket) {
    next() += bracket;
    first_ = true;
    return *this;
}

TraceLine& TraceLine::close(const char* bracket) {
    line_ += bracket;
    first_ = false;
    return *this;
}

TraceLine& TraceLine::structure(const NVNcopyRegion& r) {
    if (on_)
        next() += fmt::format("{{{},{},{} {}x{}x{}}}", r.xoffset, r.yoffset, r.zoffset, r.width, r.height, r.depth);
    return *this;
}
TraceLine& TraceLine::structure(const NVNbufferRange& range) {
    return on_ ? open("{").address(range.address).number(static_cast<long long>(range.size)).close("}") : *this;
}
TraceLine& TraceLine::structure(const NVNdrawTextureRegion& r) {
    if (on_)
        next() += fmt::format("{{{:g},{:g} {:g},{:g}}}", r.x0, r.y0, r.x1, r.y1);
    return *this;
}
TraceLine& TraceLine::structure(const NVNshaderData& stage) {
    return on_ ? open("{").address(stage.data).pointer(stage.control).close("}") : *this;
}
TraceLine& TraceLine::structure(const NVNshaderDataExt& stage) {
    return on_ ? open("{").address(stage.data).pointer(stage.control).close("}") : *this;
}
TraceLine& TraceLine::structure(const NVNmappingRequest& r) {
    if (!on_)
        return *this;
    open("{").object("MemoryPool", r.physicalPool);
    next() += fmt::format("physical {:#x}, virtual {:#x}, size {:#x}, class {}", r.physicalOffset, r.virtualOffset,
                          r.size, static_cast<unsigned>(r.storageClass));
    return close("}");
}
TraceLine& TraceLine::output(const char* name) {
    if (!on_)
        return *this;
    line_ += in_outputs_ ? ", " : in_result_ ? " {" : ") {";
    in_outputs_ = true;
    first_ = true;
    line_ += name;
    line_ += ": ";
    return *this;
}

TraceLine& TraceLine::result() {
    if (on_)
        line_ += ") = ";
    first_ = in_result_ = true;
    return *this;
}

namespace {

#include "nvn/trace_calls.inc"

} // namespace

PFNNVNGENERICFUNCPTRPROC traced(std::string_view name) {
    const auto* const row = std::lower_bound(std::begin(traced_calls), std::end(traced_calls), name,
                                             [](const TracedCall& c, std::string_view n) { return c.name < n; });
    return row != std::end(traced_calls) && row->name == name ? row->function : nullptr;
}

} // namespace heaviside::nvn
