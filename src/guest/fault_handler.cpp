#include "guest/write_tracker.h"

#include <array>
#include <csignal>
#include <utility>

#include <ucontext.h>

namespace heaviside::guest {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<WriteTracker*> handling = nullptr;
constexpr std::array signals{SIGSEGV, SIGBUS};
std::array<struct sigaction, signals.size()> previous{};

bool is_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__) && defined(__linux__)
    // Bit 1 of the page fault error code: the access was a write.
    return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    return true; // handle_fault() says no for pages that it did not protect
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
    WriteTracker* const tracker = handling.load(std::memory_order_acquire);
    if (tracker && tracker->handle_fault(reinterpret_cast<u64>(info->si_addr), is_write(context)))
        return;
    const struct sigaction& old = previous[signal == SIGBUS];
    if (old.sa_flags & SA_SIGINFO) {
        old.sa_sigaction(signal, info, context);
    } else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
        // Back to the default: the access faults again when this returns and ends the process as it should.
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        sigaction(signal, &standard, nullptr);
    } else {
        old.sa_handler(signal);
    }
}

} // namespace

Result<FaultHandler> FaultHandler::install(WriteTracker& tracker) {
    WriteTracker* none = nullptr;
    if (!handling.compare_exchange_strong(none, &tracker))
        return fail("another write tracker handles this process's faults already");
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i)
        if (sigaction(signals[i], &action, &previous[i]) != 0) {
            handling = nullptr;
            return fail("cannot install a handler for signal {}", signals[i]);
        }
    FaultHandler handler;
    handler.owner_ = true;
    return handler;
}

FaultHandler::FaultHandler(FaultHandler&& other) noexcept : owner_(std::exchange(other.owner_, false)) {}

FaultHandler::~FaultHandler() {
    if (!owner_)
        return;
    for (std::size_t i = 0; i < signals.size(); ++i) {
        struct sigaction now {};
        sigaction(signals[i], nullptr, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
            sigaction(signals[i], &previous[i], nullptr);
    }
    handling.store(nullptr, std::memory_order_release);
}

} // namespace heaviside::guest
