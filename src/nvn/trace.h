// Every call of an entry point as one line of text: its name, its arguments by meaning, its result.
//
//   nvnTextureBuilderSetTarget(TextureBuilder#2, TEXTURE_TARGET_2D)
//   nvnMemoryPoolGetBufferAddress(MemoryPool#1) = memory#1+0x0
//   nvnCommandBufferBarrier(CommandBuffer#1, BARRIER_ORDER_FRAGMENTS_BIT|BARRIER_INVALIDATE_TEXTURE_BIT)
//   nvnSamplerGetLodClamp(Sampler#1, pointer, pointer) {min: 0, max: 8}
//
// Objects are numbered by type in the order in which they are first seen, addresses are given inside their memory pool,
// so that two runs of a program give texts that compare. Lines of other threads than the first begin with t2, t3, ...
// Calls that callbacks make come before the call that made the callback.
#pragma once

#include "nvn/api_types.h"

#include <string>
#include <string_view>

namespace heaviside::nvn {

// From now on look_up() hands out functions that write to this file. False: it cannot be opened. Any thread.
bool start_trace(const char* path);
// The functions handed out go on working, silently.
void stop_trace();
// Starts the trace that the environment asks for (HEAVISIDE_TRACE=file), the first time it is called.
void start_requested_trace();
[[nodiscard]] bool tracing();
// The function that writes and calls `name`; null for names without a prototype.
[[nodiscard]] PFNNVNGENERICFUNCPTRPROC traced(std::string_view name);

struct ConstantName {
    int value;
    const char* name;
};

// One line in the making; written when it ends.
class TraceLine {
public:
    explicit TraceLine(const char* call);
    ~TraceLine();
    TraceLine(const TraceLine&) = delete;
    TraceLine& operator=(const TraceLine&) = delete;

    TraceLine& object(const char* type, const void* object);
    TraceLine& pointer(const void* pointer); // only whether there is one
    TraceLine& text(const char* text);
    TraceLine& number(long long value);
    TraceLine& real(double value);
    TraceLine& flag(bool value);
    TraceLine& address(u64 address);
    TraceLine& handle(u64 value);
    template <std::size_t Count>
    TraceLine& constant(const ConstantName (&names)[Count], int value) {
        return constant(names, Count, value);
    }
    template <std::size_t Count>
    TraceLine& bits(const ConstantName (&names)[Count], int value) {
        return bits(names, Count, value);
    }
    TraceLine& commands(u64 handle);
    TraceLine& structure(const NVNcopyRegion& region);
    TraceLine& structure(const NVNbufferRange& range);
    TraceLine& structure(const NVNdrawTextureRegion& region);
    TraceLine& structure(const NVNshaderData& stage);
    TraceLine& structure(const NVNshaderDataExt& stage);
    TraceLine& structure(const NVNmappingRequest& request);
    // The first list_limit values; show(value) adds one.
    template <class T, class Show>
    TraceLine& list(const T* values, long long count, Show&& show) {
        if (!on_)
            return *this;
        if (!values)
            return pointer(nullptr);
        open("[");
        for (long long i = 0; i < count && i < list_limit; ++i)
            show(values[i]);
        return close(count > list_limit ? ", ...]" : "]");
    }
    template <class T, class Show>
    TraceLine& optional(const T* value, Show&& show) {
        if (!on_ || !value)
            return pointer(value);
        show(*value);
        return *this;
    }
    TraceLine& result();                 // what follows is the result
    TraceLine& output(const char* name); // what follows was written through that pointer

    static constexpr long long list_limit = 64;

private:
    TraceLine& constant(const ConstantName* names, std::size_t count, int value);
    TraceLine& bits(const ConstantName* names, std::size_t count, int value);
    std::string& next();
    TraceLine& open(const char* bracket);
    TraceLine& close(const char* bracket);

    std::string line_;
    bool first_ = true, in_result_ = false, in_outputs_ = false, on_;
};

} // namespace heaviside::nvn
