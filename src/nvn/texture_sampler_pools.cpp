// Texture pools and sampler pools: tables of descriptors that shaders index with handles. What an entry means is
// announced to the sink as values, at once; objects and views are not looked at again.
#include "nvn/entry_points.h"
#include "nvn/host.h"
#include "nvn/labels.h"
#include "nvn/report.h"

namespace heaviside::nvn {

namespace {

NVNboolean initialize(const char* call, u32 object_magic, int limit, DescriptorPool* made, const NVNmemoryPool* memory,
                      i64 offset, int count, u64* descriptors) {
    const MemoryPool* pool = as_valid(memory, call);
    if (!pool)
        return NVN_FALSE;
    const u64 start = static_cast<u64>(offset);
    if (count <= 0 || count > limit) {
        report_error(call, "{} descriptors", count);
        return NVN_FALSE;
    }
    if (start % descriptor_bytes != 0 || start > pool->size ||
        u64{static_cast<u32>(count)} * descriptor_bytes > pool->size - start) {
        report_error(call, "{} descriptors at {:#x} of a pool of {:#x}", count, offset, pool->size);
        return NVN_FALSE;
    }
    *made = {.magic = object_magic,
             .count = static_cast<u32>(count),
             .pool = memory,
             .offset = offset,
             .id = host().next_pool_id++,
             .pad = 0};
    *descriptors = pool->address + start;
    return NVN_TRUE;
}

bool valid_id(const char* call, const DescriptorPool& pool, int id) {
    if (id >= 0 && static_cast<u32>(id) < pool.count)
        return true;
    report_error(call, "ID {} in a pool of {}", id, pool.count);
    return false;
}

void register_texture(const char* call, const NVNtexturePool* pool, int id, const NVNtexture* texture,
                      const NVNtextureView* view, bool storage) {
    const DescriptorPool* p = as_valid(pool, call);
    if (!p || !valid_id(call, *p, id))
        return;
    if (const Texture* t = as_valid(texture, call))
        sink().texture_registered(p->id, static_cast<u32>(id), describe(*t, layout(view)), storage);
}

} // namespace

// --- Texture pool ---

NVNboolean nvnTexturePoolInitialize(NVNtexturePool* texturePool, const NVNmemoryPool* memoryPool, ptrdiff_t offset,
                                    int numDescriptors) {
    constexpr auto call = "nvnTexturePoolInitialize";
    if (!texturePool) {
        report_bad_object(call, texturePool);
        return NVN_FALSE;
    }
    DescriptorPool made;
    u64 descriptors = 0;
    if (!initialize(call, magic::texture_pool, 1 << 20, &made, memoryPool, offset, numDescriptors, &descriptors))
        return NVN_FALSE;
    *layout(texturePool) = made;
    sink().texture_pool_created(made.id, descriptors, made.count);
    return NVN_TRUE;
}

void nvnTexturePoolFinalize(NVNtexturePool* pool) {
    DescriptorPool* p = as_valid(pool, "nvnTexturePoolFinalize");
    if (!p)
        return;
    sink().texture_pool_destroyed(p->id);
    *p = {};
}

void nvnTexturePoolSetDebugLabel(NVNtexturePool* object, const char* label) {
    set_label(object, label, __func__);
}

void nvnTexturePoolRegisterTexture(const NVNtexturePool* pool, int id, const NVNtexture* texture,
                                   const NVNtextureView* view) {
    register_texture("nvnTexturePoolRegisterTexture", pool, id, texture, view, false);
}

void nvnTexturePoolRegisterImage(const NVNtexturePool* pool, int id, const NVNtexture* texture,
                                 const NVNtextureView* view) {
    register_texture("nvnTexturePoolRegisterImage", pool, id, texture, view, true);
}

int nvnTexturePoolGetSize(const NVNtexturePool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnTexturePoolGetSize");
    return p ? static_cast<int>(p->count) : 0;
}
const NVNmemoryPool* nvnTexturePoolGetMemoryPool(const NVNtexturePool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnTexturePoolGetMemoryPool");
    return p ? p->pool : nullptr;
}
ptrdiff_t nvnTexturePoolGetMemoryOffset(const NVNtexturePool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnTexturePoolGetMemoryOffset");
    return p ? p->offset : 0;
}

// --- Sampler pool ---

NVNboolean nvnSamplerPoolInitialize(NVNsamplerPool* samplerPool, const NVNmemoryPool* memoryPool, ptrdiff_t offset,
                                    int numDescriptors) {
    constexpr auto call = "nvnSamplerPoolInitialize";
    if (!samplerPool) {
        report_bad_object(call, samplerPool);
        return NVN_FALSE;
    }
    DescriptorPool made;
    u64 descriptors = 0;
    if (!initialize(call, magic::sampler_pool, 1 << 12, &made, memoryPool, offset, numDescriptors, &descriptors))
        return NVN_FALSE;
    *layout(samplerPool) = made;
    sink().sampler_pool_created(made.id, descriptors, made.count);
    return NVN_TRUE;
}

void nvnSamplerPoolFinalize(NVNsamplerPool* pool) {
    DescriptorPool* p = as_valid(pool, "nvnSamplerPoolFinalize");
    if (!p)
        return;
    sink().sampler_pool_destroyed(p->id);
    *p = {};
}

void nvnSamplerPoolSetDebugLabel(NVNsamplerPool* object, const char* label) {
    set_label(object, label, __func__);
}

void nvnSamplerPoolRegisterSampler(const NVNsamplerPool* pool, int id, const NVNsampler* sampler) {
    constexpr auto call = "nvnSamplerPoolRegisterSampler";
    const DescriptorPool* p = as_valid(pool, call);
    if (!p || !valid_id(call, *p, id))
        return;
    if (const Sampler* s = as_valid(sampler, call))
        sink().sampler_registered(p->id, static_cast<u32>(id), describe(s->state));
}

void nvnSamplerPoolRegisterSamplerBuilder(const NVNsamplerPool* pool, int id, const NVNsamplerBuilder* builder) {
    constexpr auto call = "nvnSamplerPoolRegisterSamplerBuilder";
    const DescriptorPool* p = as_valid(pool, call);
    if (!p || !valid_id(call, *p, id))
        return;
    if (!builder) {
        report_bad_object(call, builder);
        return;
    }
    sink().sampler_registered(p->id, static_cast<u32>(id), describe(layout(builder)->state));
}

int nvnSamplerPoolGetSize(const NVNsamplerPool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnSamplerPoolGetSize");
    return p ? static_cast<int>(p->count) : 0;
}
const NVNmemoryPool* nvnSamplerPoolGetMemoryPool(const NVNsamplerPool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnSamplerPoolGetMemoryPool");
    return p ? p->pool : nullptr;
}
ptrdiff_t nvnSamplerPoolGetMemoryOffset(const NVNsamplerPool* pool) {
    const DescriptorPool* p = as_valid(pool, "nvnSamplerPoolGetMemoryOffset");
    return p ? p->offset : 0;
}

} // namespace heaviside::nvn
