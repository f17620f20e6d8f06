// What the floors above install in this one. All of it is optional: with nothing installed the API works without a GPU.
#pragma once

#include "guest/memory.h"
#include "nvn/api_types.h"

namespace heaviside::stream {
class Sink;
}

namespace heaviside::nvn {

// Brings the graphics runtime up: called by nvnDeviceInitialize, on its thread, while no sink is connected. It connects
// one with set_sink() before it returns true; false makes nvnDeviceInitialize fail. Null: no runtime.
struct RuntimeStarter {
    bool (*start)(void* user) = nullptr;
    void* user = nullptr;
};
void set_runtime_starter(RuntimeStarter starter);

// Where submissions and announcements go; null disconnects. The sink outlives its connection. Set while no entry point
// runs.
void set_sink(stream::Sink* sink);
// The connected sink, or one that completes everything at once.
[[nodiscard]] stream::Sink& sink();
// Calls the starter if nothing is connected yet. False if it failed. Any thread.
[[nodiscard]] bool start_runtime();

// The ranges of process memory that memory pools have made visible to the GPU. Lives as long as the process.
[[nodiscard]] guest::Memory& guest_memory();

// Applied to every function pointer that the application is given (name: the entry point's). Null: none.
struct CallableWrapper {
    PFNNVNGENERICFUNCPTRPROC (*wrap)(void* user, PFNNVNGENERICFUNCPTRPROC function, const char* name) = nullptr;
    void* user = nullptr;
};
void set_callable_wrapper(CallableWrapper wrapper);

// The API version that nvnDeviceGetInteger reports, and by whose generation it answers: 53.x, 55.x, 231.x (231, 0: the
// newest known). 0, 0: what fits the SDK.
struct ApiVersion {
    int major = 0, minor = 0;
};
void set_api_version(int major, int minor);
// The major version of the SDK that the application was built with: up to 10 means API 53.313, later ones and 0 (not
// known) 55.15.
void set_sdk_version(int major);
// The minor GPU code version that the application's own shader compiler writes (1.20: 20; 0: it has none). The range
// that nvnDeviceGetInteger reports always reaches it: applications compare the two and do without shaders otherwise.
void set_compiler_version(int minor);

// Brackets a call that may block (finish, waits, acquire), so that a runtime can give the core away meanwhile.
struct BlockingHooks {
    void* (*away)(void* user) = nullptr; // the result is handed to back
    void (*back)(void* user, void* token) = nullptr;
    void* user = nullptr;
};
void set_blocking_hooks(BlockingHooks hooks);
class BlockingCall {
public:
    BlockingCall();
    ~BlockingCall();
    BlockingCall(const BlockingCall&) = delete;
    BlockingCall& operator=(const BlockingCall&) = delete;

private:
    void* token_ = nullptr;
};

// Stop the process at the first call of an entry point that is not built (for CI).
void set_unimplemented_abort(bool abort);

} // namespace heaviside::nvn
