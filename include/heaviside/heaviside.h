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
 * Guest memory is identity mapped: a GPU address that the guest passes is the host address of the same byte. What the
 * guest gave to a memory pool is watched by page protection: only the library changes the protection of its pages until
 * the pool is finalized.
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

/* When presented pictures are shown. */
typedef enum heaviside_pacing {
    HEAVISIDE_PACING_OFF = 0,  /* as they come */
    HEAVISIDE_PACING_GAME = 1, /* each for the present interval that the guest asks for, in 60ths of a second, also
                                  without a window: game time is wall time */
    HEAVISIDE_PACING_FIXED = 2 /* target_fps of them a second */
} heaviside_pacing;

/* How a picture fits an output of another shape. */
typedef enum heaviside_fit {
    HEAVISIDE_FIT_LETTERBOX = 0, /* in proportion, with black bars */
    HEAVISIDE_FIT_STRETCH = 1,
    HEAVISIDE_FIT_FILL = 2,   /* in proportion, the long side is cut off evenly */
    HEAVISIDE_FIT_INTEGER = 3 /* the largest whole multiple, with black bars */
} heaviside_fit;

/* How a picture is made larger for its output. An unknown value is NONE. */
typedef enum heaviside_upscaler {
    HEAVISIDE_UPSCALER_NONE = 0,     /* bilinear */
    HEAVISIDE_UPSCALER_PLATFORM = 1, /* the system's own; there is none, EDGES is used */
    HEAVISIDE_UPSCALER_EDGES = 2,    /* along edges, then a sharpening that rings nowhere */
    HEAVISIDE_UPSCALER_CONTRAST = 3  /* Catmull-Rom, then a sharpening that spares what has contrast already */
} heaviside_upscaler;

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

    /* API version that nvnDeviceGetInteger reports, and by whose generation it answers: 53.x, 55.x, 231.x (231, 0: the
     * newest known). 0, 0: what fits the guest's SDK, or 55.15. HEAVISIDE_NVN ("53.313") */
    int nvn_major, nvn_minor;

    int output_width, output_height; /* of headless output and screenshots; 0, 0: the presented texture's size */
    int present_interval_override;   /* -1: honour the guest; else vsyncs per present */

    uint64_t title_id; /* what the guest is: caches go to a folder of that name (16 hexadecimal digits); 0: none */
    int pacing;        /* heaviside_pacing, by default GAME. HEAVISIDE_PACING: off, game, fixed */
    int target_fps;    /* pictures a second of PACING_FIXED, and the rate of the guest's vsync; 0: 60 */
    int game_fps_divisor_fix; /* 1: with PACING_FIXED a guest that counts vsyncs sees as many between two presents as it
                                 asked for, however short they are */
    int fit;                  /* heaviside_fit of windows and output_width, output_height. HEAVISIDE_FIT: letterbox,
                                 stretch, fill, integer */
    int unimplemented_abort;  /* 1: abort() at the first call of an entry point that is not built, for CI.
                                 HEAVISIDE_UNIMPLEMENTED_ABORT */
    int unconditional_rendering; /* 1: what conditional rendering would leave out is drawn. For titles whose counters
                                    are never written. HEAVISIDE_UNCONDITIONAL_RENDERING */

    /* The SDK's major version that the guest was built with (its API version follows, unless nvn_major is set); 0: not
     * known. The minor GPU code version of the shader compiler that the guest carries (glslcGetVersion); 0: none. */
    int guest_sdk_major, guest_compiler_minor;

    int upscaler;    /* heaviside_upscaler of windows and output_width, output_height that are larger than the picture.
                        HEAVISIDE_UPSCALER: none, platform, edges, contrast */
    float sharpness; /* of EDGES and CONTRAST: 0 none, 1 the most; by default 0.5 */
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

/* A texture object of the guest (an NVNtexture), for hosts that decode pictures into it. */
typedef struct heaviside_texture {
    size_t size; /* set to sizeof(heaviside_texture) before the call */
    int width, height, depth, levels;
    int format; /* NVNformat */
} heaviside_texture;

/* HEAVISIDE_ERROR_BAD_ARGUMENT: `texture` is none that is initialised. Works before init. */
HEAVISIDE_API heaviside_result heaviside_texture_info(const void* texture, heaviside_texture* info);

/* Writes all of level 0 (of layer or slice 0) from rows of red, green, blue and alpha bytes, `stride` bytes apart, 0:
 * without gaps. For formats of normalised unsigned components that are not compressed; sRGB ones take the bytes as they
 * are. Work that is submitted later sees it. */
HEAVISIDE_API heaviside_result heaviside_texture_write_rgba(const void* texture, const void* texels, size_t stride);

/* Nanoseconds between the vsync events that the guest shall see: 1/60 s or 1/target_fps, never the display's period and
 * not the guest's present interval. Ask again after each present: game_fps_divisor_fix changes it. Works before init.
 */
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
/* Writes the next frame that the guest presents; returns at once. Errors are logged. */
HEAVISIDE_API heaviside_result heaviside_screenshot_next(const char* path);

/* What the guest's window system (not NVN) wants shown of its pictures, in texels: the crop of presents whose window
 * has none of its own. One that reaches over the presented texture is ignored, with one log line. Width or height 0:
 * all. */
HEAVISIDE_API void heaviside_set_layer_crop(int x, int y, int width, int height);

/* Where a picture goes on an output. Pure. FILL reaches over the edges. */
typedef struct heaviside_rect {
    int x, y, width, height;
} heaviside_rect;
HEAVISIDE_API heaviside_rect heaviside_fit_rect(int picture_width, int picture_height, int output_width,
                                                int output_height, heaviside_fit fit);

/* The upscaler that a value of heaviside_config.upscaler really gives: never PLATFORM. Pure. */
HEAVISIDE_API heaviside_upscaler heaviside_effective_upscaler(int upscaler);

/* The size that a guest who can choose should draw at for an output: the output's, with an upscaler that divided by
 * HEAVISIDE_UPSCALE_FACTOR and rounded. Pure; either pointer may be NULL. */
#define HEAVISIDE_UPSCALE_FACTOR 1.5f
HEAVISIDE_API void heaviside_render_size(int output_width, int output_height, int upscaler, int* width, int* height);

/* The process goes to the background: when suspend returns the GPU is idle and stays so until resume, while guest
 * threads may go on recording and submitting, and programs are still translated. Both are harmless when not started;
 * shutdown resumes. */
HEAVISIDE_API void heaviside_suspend(void);
HEAVISIDE_API void heaviside_resume(void);

/* Logs what a run has to say at its end: counts, entry points that are missing, names nobody knows. */
HEAVISIDE_API void heaviside_diag_dump(void);

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
