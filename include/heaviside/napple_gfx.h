/*
 * napple_gfx.h: heaviside.h under other names, so that glue code written to them compiles unchanged. Thin inline
 * forwards; each says nothing that heaviside.h does not. Needs heaviside.h's library and C11.
 *
 * What differs: metal_layer, gmem_base, gmem_size and shader_translator are taken and not needed (windows come with the
 * guest's nvnWindowInitialize, shaders reach all memory pools); present_interval_override is 0, not -1, where the
 * guest's interval holds; internal_res_scale is taken and ignored.
 */
#ifndef HEAVISIDE_NAPPLE_GFX_H
#define HEAVISIDE_NAPPLE_GFX_H

#include <heaviside/heaviside.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NAPPLE_PACING_GAME = 0, NAPPLE_PACING_FIXED = 1 };

typedef struct napple_gfx_hooks {
    void* user;
    void (*on_present)(void* user, uint64_t frame, int swap_interval);
    void* (*core_away)(void* user);
    void (*core_back)(void* user, void* token);
    void* (*wrap_guest_callable)(void* user, void* fn, const char* name);
} napple_gfx_hooks;

typedef struct napple_gfx_settings {
    int output_width, output_height;
    float internal_res_scale;
    int upscaler;
    int pacing;
    int target_fps;
    int game_fps_divisor_fix;
    int present_interval_override; /* 0: honour the guest */
    int unimplemented_abort;
} napple_gfx_settings;

typedef struct napple_gfx_config {
    void* metal_layer; /* NULL: headless */
    uint64_t title_id;
    const char* cache_dir;
    int nvn_major, nvn_minor;
    uintptr_t gmem_base;
    size_t gmem_size;
    void* shader_translator; /* reserved */
    napple_gfx_hooks hooks;
    napple_gfx_settings settings;
} napple_gfx_config;

typedef struct napple_gfx_override {
    const char* symbol;
    void* fn;
} napple_gfx_override;

typedef struct napple_gfx_count {
    const char* name;
    uint64_t count;
} napple_gfx_count;

typedef struct napple_gfx_stats {
    uint64_t frames, draws, pipelines_compiled, shader_cache_hits, pending_async_compiles;
} napple_gfx_stats;

static inline void napple_gfx_config_default(napple_gfx_config* config) {
    memset(config, 0, sizeof *config);
    config->settings.internal_res_scale = 1;
}

/* The hooks' user pointer is heaviside's; functions and data pointers are of one size wherever this runs. */
static inline int napple_gfx_init(const napple_gfx_config* config) {
    heaviside_config c;
    heaviside_config_default(&c);
    c.user = config->hooks.user;
    c.on_present = config->hooks.on_present;
    c.core_away = config->hooks.core_away;
    c.core_back = config->hooks.core_back;
    c.wrap_guest_callable = (heaviside_function(*)(void*, heaviside_function, const char*))(
                                void (*)(void))config->hooks.wrap_guest_callable;
    c.host_forwards_faults = 1;
    c.title_id = config->title_id;
    c.cache_dir = config->cache_dir;
    c.nvn_major = config->nvn_major;
    c.nvn_minor = config->nvn_minor;
    c.output_width = config->settings.output_width;
    c.output_height = config->settings.output_height;
    c.upscaler = config->settings.upscaler;
    c.pacing = config->settings.pacing == NAPPLE_PACING_FIXED ? HEAVISIDE_PACING_FIXED : HEAVISIDE_PACING_GAME;
    c.target_fps = config->settings.target_fps;
    c.game_fps_divisor_fix = config->settings.game_fps_divisor_fix;
    c.present_interval_override =
        config->settings.present_interval_override ? config->settings.present_interval_override : -1;
    c.unimplemented_abort = config->settings.unimplemented_abort;
    return (int)heaviside_init(&c);
}

static inline void napple_gfx_shutdown(void) {
    heaviside_shutdown();
}

/* An array of *count entries; the same one at every call. Works before init. */
static inline const napple_gfx_override* napple_gfx_hle_table(size_t* count) {
    return (const napple_gfx_override*)(const void*)heaviside_guest_symbols(count);
}

/* 1: retry the instruction; 0: not ours. */
static inline int napple_gfx_handle_fault(uintptr_t address, int is_write, void* ucontext) {
    (void)ucontext;
    return heaviside_handle_fault(address, is_write);
}
static inline void napple_gfx_guest_write_prepare(uintptr_t address, size_t length) {
    heaviside_guest_write_prepare(address, length);
}

static inline uint64_t napple_gfx_vsync_period_ns(void) {
    return heaviside_vsync_period_ns();
}
static inline int napple_gfx_screenshot(const char* path) {
    return (int)heaviside_screenshot_next(path);
}

/* Fill up to `capacity` entries; how many there are. */
static inline size_t napple_gfx_diag_unimplemented(napple_gfx_count* entries, size_t capacity) {
    return heaviside_unimplemented((heaviside_call_count*)(void*)entries, capacity);
}
static inline size_t napple_gfx_diag_unknown_lookups(napple_gfx_count* entries, size_t capacity) {
    return heaviside_unknown_lookups((heaviside_call_count*)(void*)entries, capacity);
}
static inline void napple_gfx_diag_dump(void) {
    heaviside_diag_dump();
}

static inline void napple_gfx_get_stats(napple_gfx_stats* stats) {
    heaviside_stats s;
    s.size = sizeof s;
    memset(stats, 0, sizeof *stats);
    if (heaviside_get_stats(&s) != HEAVISIDE_OK)
        return;
    stats->frames = s.frames;
    stats->draws = s.draws;
    stats->pipelines_compiled = s.programs;
    stats->shader_cache_hits = s.program_cache_hits;
    stats->pending_async_compiles = s.programs_pending;
}

/* Pure. */
static inline heaviside_rect napple_display_fit_rect(int source_width, int source_height, int output_width,
                                                     int output_height, int fit) {
    return heaviside_fit_rect(source_width, source_height, output_width, output_height, (heaviside_fit)fit);
}

static inline int napple_display_effective_upscaler(int upscaler) {
    return (int)heaviside_effective_upscaler(upscaler);
}

#ifdef __cplusplus
}
#endif

#endif
