// Every call of an entry point as one line of text: its name, its arguments by meaning, its result.
//
//   nvnTextureBuilderSetTarget(TextureBuilder#2, TEXTURE_TARGET_2D)
//   nvnMemoryPoolGetBufferAddress(MemoryPool#1) = memory#1+0x0
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
    TraceLine& result(); // what follows is the result

private:
    TraceLine& constant(const ConstantName* names, std::size_t count, int value);
    std::string& next();

    std::string line_;
    bool first_ = true, in_result_ = false, on_;
};

} // namespace heaviside::nvn
