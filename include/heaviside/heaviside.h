/*
 * heaviside.h: the interface between libheaviside and the program that hosts it (a static recompiler's runtime, a
 * native port, an emulator). Plain C11, usable from C++.
 *
 * Two ways to use the library:
 *
 *  - A native NVN program needs none of this: it includes nvn/nvn.h and links libheaviside; nvnDeviceInitialize starts
 * the runtime with the defaults below (environment variables override them).
 *  - A host that runs guest code calls heaviside_init() first, hands the symbols of heaviside_guest_symbols() to its
 *    loader in place of the guest's own imports, forwards page faults, and lets the guest run.
 *
 *      heaviside_config config;
 *      heaviside_config_default(&config);
 *      config.on_present = my_present;
 *      if (heaviside_init(&config) != HEAVISIDE_OK)
 *          fprintf(stderr, "%s\n", heaviside_last_error());
 *      size_t count;
 *      const heaviside_symbol *symbols = heaviside_guest_symbols(&count);
 *      ...run the guest...
 *      heaviside_shutdown();
 *
 * Guest memory is identity mapped: a GPU address that the guest passes is the host address of the same byte.
 *
 * Threads: init and shutdown from one thread, with no guest thread inside an NVN call. Everything else from any thread.
 * Callbacks run on the thread that their comment names and must not call init or shutdown.
 *
 * Errors: functions that can fail return a heaviside_result; heaviside_last_error() then has one line that says what
 * and where. Nothing here aborts the process.
 */
#ifndef HEAVISIDE_HEAVISIDE_H
#define HEAVISIDE_HEAVISIDE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define HEAVISIDE_API
#else
#define HEAVISIDE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HEAVISIDE_VERSION_MAJOR 0
#define HEAVISIDE_VERSION_MINOR 1
#define HEAVISIDE_VERSION_PATCH 0

typedef enum heaviside_result {
    HEAVISIDE_OK = 0,
    HEAVISIDE_ERROR_ALREADY_STARTED = 1, /* init was called before, or an NVN device started the runtime itself */
    HEAVISIDE_ERROR_NOT_STARTED = 2,     /* the call needs a started runtime */
    HEAVISIDE_ERROR_BAD_ARGUMENT = 3,
    HEAVISIDE_ERROR_NO_DEVICE = 4, /* no Vulkan 1.3 device, or the one asked for is absent */
    HEAVISIDE_ERROR_DEVICE = 5,    /* the Vulkan driver refused something it must do */
    HEAVISIDE_ERROR_IO = 6,        /* a file could not be written or read */
    HEAVISIDE_ERROR_NOTHING_PRESENTED = 7
} heaviside_result;

typedef enum heaviside_log_level {
    HEAVISIDE_LOG_DEBUG = 0,
    HEAVISIDE_LOG_INFO = 1,
    HEAVISIDE_LOG_WARNING = 2,
    HEAVISIDE_LOG_ERROR = 3
} heaviside_log_level;

typedef void (*heaviside_function)(void);

/* What a host can set. Fill it with heaviside_config_default() first: `size` tells the library which version of the
 * structure the host was compiled against, so new fields can be added at the end. Strings are copied by init. */
typedef struct heaviside_config {
    size_t size; /* sizeof(heaviside_config) */

    void* user; /* handed to every callback */

    /* One line, without a newline. Called from any thread, one call at a time. NULL: lines go to stderr. */
    void (*log)(void* user, heaviside_log_level level, const char* line);
    heaviside_log_level log_level; /* lowest level that is written; HEAVISIDE_LOG */

    /* After each guest present, on the thread that called nvnQueuePresentTexture. `frame` counts from 1. The host fires
     * the guest's vsync event every heaviside_vsync_period_ns(), independent of this. */
    void (*on_present)(void* user, uint64_t frame, int present_interval);

    /* Asked for each function pointer that the guest receives, on the guest's thread: returns the pointer that guest
     * code shall call (a thunk that runs `function` with host conventions), NULL to use `function` itself. */
    heaviside_function (*wrap_guest_callable)(void* user, heaviside_function function, const char* name);

    /* Around waits inside an NVN call (sync waits, acquire, finish), on the guest's thread. The token that `away`
     * returns is given to `back`. Both or neither. */
    void* (*core_away)(void* user);
    void (*core_back)(void* user, void* token);

    /* The host forwards page faults to heaviside_handle_fault(). 0: the library installs its own SIGSEGV handler. */
    int host_forwards_faults;

    const char* device;  /* part of a Vulkan device's name, or its index; NULL: the best one. HEAVISIDE_DEVICE */
    const char* disable; /* comma-separated capabilities to do without ("shader_object,geometry"). HEAVISIDE_DISABLE */
    const char* cache_dir; /* folder of the driver's shader binaries, made if missing; NULL, "": none on disk.
                              HEAVISIDE_CACHE */
    int validation;    /* 1: enable the Khronos validation layer; one warning if it is missing. HEAVISIDE_VALIDATION */
    int stop_on_error; /* 1: after the first guest error every later submission is dropped. HEAVISIDE_STOP_ON_ERROR */

    int nvn_major, nvn_minor; /* API version that nvnDeviceGetInteger reports; 0, 0: 55.15 */

    int output_width, output_height; /* of headless output and screenshots; 0, 0: the presented texture's size */
    int present_interval_override;   /* -1: honour the guest; else vsyncs per present */
} heaviside_config;

/* Defaults: everything off, NULL or "as the guest says", log level INFO. */
HEAVISIDE_API void heaviside_config_default(heaviside_config* config);

/* Starts the runtime: picks a device, creates it, starts the replay thread. NULL: defaults plus environment. On failure
 * nothing stays allocated and init may be called again. */
HEAVISIDE_API heaviside_result heaviside_init(const heaviside_config* config);

/* Waits for the GPU, frees everything. Harmless when not started. NVN objects that still exist must not be used after.
 */
HEAVISIDE_API void heaviside_shutdown(void);

/* The last error of the calling thread, one line, never NULL, valid until the thread's next failing call. */
HEAVISIDE_API const char* heaviside_last_error(void);

/* "0.1.0", and the commit where it is known. Static. */
HEAVISIDE_API const char* heaviside_version(void);

/* Symbols of the guest's imports that a loader must bind to host functions. The table is static; works before init. */
typedef struct heaviside_symbol {
    const char* name;
    heaviside_function function; /* plain C calling convention of the host, no stack arguments */
} heaviside_symbol;
HEAVISIDE_API const heaviside_symbol* heaviside_guest_symbols(size_t* count);

/* An access fault in the process at `address`. 1: it was the library's own page protection, now lifted: retry the
 * instruction. 0: not ours. Async-signal-safe; call it from the fault handler before anything else. */
HEAVISIDE_API int heaviside_handle_fault(uintptr_t address, int is_write);

/* The host is about to write [address, address + size) on the guest's behalf, through the kernel (read(2) into guest
 * memory fails on a protected page instead of faulting). Call before each such write. */
HEAVISIDE_API void heaviside_guest_write_prepare(uintptr_t address, size_t size);

/* Nanoseconds between the vsync events that the guest shall see (1/60 s). */
HEAVISIDE_API uint64_t heaviside_vsync_period_ns(void);

typedef struct heaviside_stats {
    size_t size;      /* set to sizeof(heaviside_stats) before the call */
    uint64_t frames;  /* presents */
    uint64_t submits; /* streams of commands and fences handed to the GPU */
    uint64_t draws;
    uint64_t dispatches;
    uint64_t programs;           /* shader programs translated */
    uint64_t program_cache_hits; /* translated in an earlier run; 0: translations are not kept on disk yet */
    uint64_t programs_pending;   /* being compiled now */
    uint64_t errors;             /* guest errors reported (each with a log line the first time) */
    uint64_t unimplemented;      /* calls of entry points that are not built yet */
    uint64_t validation_messages;
} heaviside_stats;
HEAVISIDE_API heaviside_result heaviside_get_stats(heaviside_stats* stats);

/* Writes the last presented frame as a PNG once the GPU has finished it. */
HEAVISIDE_API heaviside_result heaviside_screenshot(const char* path);

/* Entry points that the guest called but that are not built yet, with the number of calls, and names that it looked up
 * but that are not NVN's. Fills up to `capacity` entries, returns how many there are. Names live until shutdown. */
typedef struct heaviside_call_count {
    const char* name;
    uint64_t count;
} heaviside_call_count;
HEAVISIDE_API size_t heaviside_unimplemented(heaviside_call_count* entries, size_t capacity);
HEAVISIDE_API size_t heaviside_unknown_lookups(heaviside_call_count* entries, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
