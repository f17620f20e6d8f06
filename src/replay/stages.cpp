// What the bound programs need: variants, the textures they may read, their constant banks.
#include "replay/executor.h"

#include "base/log.h"
#include "replay/state_mapping.h"

#include <algorithm>
#include <cstring>

namespace heaviside::replay {
namespace {

using program::Stage;
using shader::NumericClass;

constexpr Stage graphics_stages[] = {Stage::Vertex, Stage::TessControl, Stage::TessEval, Stage::Geometry,
                                     Stage::Fragment};
constexpr u32 driver_bank_limit = 0x1000; // bytes of a driver bank that programs index by register
constexpr u32 texture_id(u32 handle) {
    return handle & 0xfffff;
}

std::size_t index(Stage s) {
    return static_cast<std::size_t>(s);
}

// Vertices of a primitive as a geometry program sees them, by NVNdrawPrimitive.
u8 geometry_vertices(u32 primitive) {
    constexpr u8 counts[] = {1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 6, 6, 3};
    return primitive < std::size(counts) ? counts[primitive] : u8{3};
}

constexpr u32 patch_primitive = 14; // NVNdrawPrimitive

bool reads_whole_pool(const shader::HandleUse& use) {
    return use.offset == ~0u;
}

} // namespace

std::optional<gpu::BufferSlice> Executor::resolve(u64 address, u64 size) {
    if (!address)
        return std::nullopt;
    if (s_.gpu_memory->is_virtual(GuestAddress{address}))
        return resolve_virtual(address, size);
    const auto range = s_.memory->find(GuestAddress{address});
    if (!range) {
        log::error_once("address {:#x} lies in no memory pool", address);
        return std::nullopt;
    }
    const auto slice =
        size == ~u64{0} ? s_.gpu_memory->resolve_open_ended(GuestAddress{address})
                        : s_.gpu_memory->resolve(GuestAddress{address}, std::min(size, range->end().value - address));
    if (!slice) {
        log::error_once("{:#x}, {} bytes: {}", address, size, slice.error().message);
        return std::nullopt;
    }
    return *slice;
}

u32 Executor::handle_word(Stage stage, const shader::HandleUse& use) const {
    const Resolved& r = stages_[index(stage)];
    const StageBindings& b = g_->stages[index(stage)];
    const auto& layout = *r.code->program.layout;
    if (is_driver_bank(layout, use.bank))
        return driver_bank_word(layout, stage, b, use.bank, use.offset);
    if (use.bank == r.code->program.constants_bank)
        return read_at<u32>(r.code->program.constants, use.offset).value_or(0);
    const u32 slot = use.bank - layout.first_uniform_bank;
    if (use.bank < layout.first_uniform_bank || slot >= uniform_slots || use.offset + 4 > b.uniforms[slot].size)
        return 0;
    if (const auto updated = updates_.word(b.uniforms[slot].address + use.offset)) // in this submission (SHD-137)
        return *updated;
    const auto bytes =
        s_.memory->bytes(s_.gpu_memory->physical(GuestAddress{b.uniforms[slot].address + use.offset}), 4);
    return bytes ? *read_at<u32>(*bytes, 0) : 0;
}

void Executor::add_texture_classes(Stage stage, const shader::Reflection& reflection, shader::VariantKey& key) const {
    const StageCode* code = stages_[index(stage)].code;
    const auto& layout = *code->program.layout;
    for (const shader::HandleUse& use : reflection.handles) {
        const u32 first = use.storage ? layout.image_handles : layout.texture_handles;
        const u32 slots = use.storage ? image_slots : texture_slots;
        if (use.bank != layout.handle_bank || use.offset < first)
            continue;
        const u32 slot = (use.offset - first) / (use.storage ? layout.image_stride : layout.texture_stride);
        if (slot >= slots)
            continue;
        const NumericClass c = s_.pools->numeric_class(texture_id(handle_word(stage, use)));
        if (use.storage) {
            key.uint_images |= c == NumericClass::Uint ? 1u << slot : 0;
            key.sint_images |= c == NumericClass::Sint ? 1u << slot : 0;
        } else {
            key.uint_textures |= c == NumericClass::Uint ? u64{1} << slot : 0;
            key.sint_textures |= c == NumericClass::Sint ? u64{1} << slot : 0;
        }
    }
}

bool Executor::resolve_stage(Stage stage, const shader::VariantKey& wanted) {
    Resolved& r = stages_[index(stage)];
    shader::VariantKey key = wanted;
    Variant& base = s_.programs->variant(*r.code, r.variant ? r.variant->key : first_key(r.code->program));
    add_texture_classes(stage, base.reflection, key);
    key.scattered_storage = scatters_storage(stage, base.reflection);
    r.variant = base.key == key ? &base : &s_.programs->variant(*r.code, key);
    return r.variant->shader != nullptr;
}

// Vulkan draws patches with both tessellation programs and everything else with none.
bool Executor::stages_fit(u32 primitive) const {
    const bool patches = primitive == patch_primitive;
    const bool evaluation = stages_[index(Stage::TessEval)].code != nullptr;
    if (!stages_[index(Stage::Vertex)].code) {
        log::error_once("draw without a vertex program is skipped");
        return false;
    }
    if (patches != evaluation || (stages_[index(Stage::TessControl)].code && !evaluation)) {
        log::error_once("draw of primitive {} {} a tessellation evaluation program is skipped", primitive,
                        evaluation ? "with" : "without");
        return false;
    }
    if (evaluation && (g_->patch_size < 1 || g_->patch_size > 32)) {
        log::error_once("draw of patches of {} control points is skipped", g_->patch_size);
        return false;
    }
    return true;
}

u8 Executor::geometry_input_vertices(u32 primitive) const {
    const StageCode* evaluation = stages_[index(Stage::TessEval)].code;
    if (!evaluation)
        return geometry_vertices(primitive);
    const program::Tessellation& t = evaluation->program.tessellation;
    return t.points ? 1 : t.domain == program::TessDomain::Isolines ? 2 : 3;
}

gpu::Shader* Executor::pass_through_control(u64 provided) {
    const auto locations = static_cast<u32>(provided);
    gpu::Shader*& shader = pass_through_controls_[u64{g_->patch_size} << 32 | locations];
    if (!shader)
        shader = s_.library->request(Stage::TessControl, shader::pass_through_tess_control(g_->patch_size, locations),
                                     "pass through");
    return shader;
}

bool Executor::resolve_programs(u32 primitive) {
    const u32 relevant = dirty::programs | dirty::vertex_input | dirty::targets | dirty::handles |
                         (s_.gpu_memory->page_table().empty() ? 0u : u32{dirty::storage});
    const bool points = primitive == 0 || g_->polygon.polygon_mode == 0;
    const bool same_primitive = (primitive == 0) == (primitive_ == 0) &&
                                (primitive == patch_primitive) == (primitive_ == patch_primitive) &&
                                geometry_vertices(primitive) == geometry_vertices(primitive_);
    if (!(g_->dirty & relevant) && same_primitive)
        return stages_[index(Stage::Vertex)].variant != nullptr;
    for (const Stage stage : graphics_stages) {
        Resolved& r = stages_[index(stage)];
        StageCode* code = s_.programs->find(g_->stages[index(stage)].program, stage);
        if (code != r.code)
            r = Resolved{};
        r.code = code;
    }
    if (!stages_fit(primitive))
        return false;
    const bool tessellates = stages_[index(Stage::TessEval)].code != nullptr;
    const Stage last = stages_[index(Stage::Geometry)].code ? Stage::Geometry
                       : tessellates                        ? Stage::TessEval
                                                            : Stage::Vertex;
    u64 provided = ~u64{0};
    for (const Stage stage : graphics_stages) {
        Resolved& r = stages_[index(stage)];
        if (!r.code) {
            const bool passed = stage == Stage::TessControl && tessellates;
            c_->set_shader(stage, passed ? pass_through_control(provided) : nullptr);
            continue;
        }
        shader::VariantKey key = first_key(r.code->program);
        key.feedback = stage == last || !r.code->program.feedback;
        const shader::Reflection& known = s_.programs->variant(*r.code, r.variant ? r.variant->key : key).reflection;
        if (stage == Stage::Vertex) {
            for (u32 i = 0; i < g_->attribute_count; ++i)
                if (known.inputs >> i & 1) {
                    const auto format = static_cast<texture::Format>(g_->attributes[i].format);
                    key.vertex_inputs[i] = s_.formats->vertex_class(format);
                    key.converted_inputs |= static_cast<u16>(s_.formats->converts_vertex(format) << i);
                }
        } else if (known.inputs & ~provided) {
            key.provided_inputs = provided;
        }
        if (stage == Stage::Fragment) {
            for (u32 i = 0; i < stream::color_target_count; ++i)
                if ((known.outputs >> i & 1) && (g_->targets_present >> i & 1))
                    key.fragment_outputs[i] =
                        Formats::numeric_class(static_cast<texture::Format>(g_->targets[i].view.format));
            if (g_->color.alpha_func >= 1 && g_->color.alpha_func < 8 && key.fragment_outputs[0] == NumericClass::Float)
                key.alpha_test = static_cast<u8>(g_->color.alpha_func - 1);
        } else {
            key.points = points || (stage == Stage::TessEval && key.tess_points);
        }
        if (stage == last && !s_.device->has(gpu::Feature::ViewportSwizzle)) {
            const u16 swizzle = swizzle_bits(g_->swizzles[0]);
            key.viewport_swizzle = swizzle == flipped_swizzle ? identity_swizzle : swizzle;
        }
        if (stage == Stage::Geometry)
            key.geometry_input_vertices = geometry_input_vertices(primitive);
        if (!resolve_stage(stage, key))
            return false;
        provided = r.variant->reflection.outputs;
        if (stage == last && r.variant->reflection.writes_viewport_index &&
            !s_.device->has(gpu::Feature::ViewportSwizzle) &&
            std::any_of(g_->swizzles.begin(), g_->swizzles.end(), [this](const stream::ViewportSwizzle& w) {
                return swizzle_bits(w) != swizzle_bits(g_->swizzles[0]);
            }))
            log::error_once("viewport swizzles that differ between viewports: all have the first one's");
        c_->set_shader(stage, r.variant->shader);
    }
    g_->dirty |= dirty::uniforms | dirty::blend;
    return true;
}

// Brings every texture that the stage may read into the heap, and into the image what the CPU wrote.
void Executor::use_textures(Stage stage) {
    const Resolved& r = stages_[index(stage)];
    if (!r.variant)
        return;
    const auto use_one = [&](u32 id, const shader::HandleUse& use) {
        const Pools::Use used = s_.pools->use(id, use.dimension);
        if (!used.texture)
            return;
        if (s_.textures->needs_refresh(*used.texture)) {
            if (s_.textures->is_recorded(*used.texture))
                leave_pass();
            if (auto done = s_.textures->refresh(*c_, *used.texture); !done)
                log::error_once("texture ID {}: {}", id, done.error().message);
        }
        s_.textures->mark_recorded(*used.texture);
        if (use.written) {
            const stream::ViewDescription& v = used.image->view;
            s_.textures->mark_gpu_written(
                *used.texture, Textures::whole_level(*used.texture, v.first_level, v.first_layer,
                                                     used.texture->image.description().type == VK_IMAGE_TYPE_3D
                                                         ? ~0u >> 1
                                                         : std::max<u32>(1, v.layer_count)));
            stores_in_pass_ = true;
        }
        for (const Target& t : targets_)
            samples_attachment_ |= t.texture == used.texture;
    };
    for (const shader::HandleUse& use : r.variant->reflection.handles) {
        if (!reads_whole_pool(use)) {
            if (const u32 word = handle_word(stage, use); word != 0 && word != empty_handle)
                use_one(texture_id(word), use);
            continue;
        }
        for (u32 id = 0; id < s_.pools->capacity(); ++id)
            if (s_.pools->image(id))
                use_one(id, use);
    }
}

gpu::BufferSlice Executor::uniform_slice(const Range& bound) {
    if (!bound.address || !bound.size)
        return {};
    const Range range{bound.address, std::min<u64>(bound.size, 65536)};
    if (const auto version = updates_.version(range, *s_.memory, s_.queue->arena()); version && *version)
        return *version;
    const auto slice = resolve(range.address, range.size);
    if (!slice)
        return {};
    if (slice->offset % s_.device->capabilities.limits.minUniformBufferOffsetAlignment == 0)
        return *slice;
    const auto bytes = s_.memory->bytes(GuestAddress{range.address}, slice->size);
    if (!bytes)
        return {};
    const auto copy = s_.queue->arena().push(*bytes);
    return copy ? *copy : gpu::BufferSlice{};
}

// From the buffer's beginning on, as far as memory goes on in one piece.
shader::BankAddress Executor::window(const Range& bound) {
    const auto range = s_.memory->find(GuestAddress{bound.address});
    if (!bound.address || !range)
        return {};
    auto slice = s_.gpu_memory->resolve_open_ended(GuestAddress{bound.address});
    const u64 wanted = std::min(bound.size, range->end().value - bound.address);
    if (slice && slice->size < wanted)
        if (auto whole = s_.gpu_memory->resolve(GuestAddress{bound.address}, wanted))
            slice = whole;
    if (!slice || (slice->address - bound.address) % 16 != 0) {
        log::error_once("storage at {:#x}: {}", bound.address,
                        slice ? "not where its alignment is kept" : slice.error().message);
        return {};
    }
    const u64 end = (bound.address + std::min<u64>(slice->size, shader::banks::largest_window)) & ~u64{15};
    return {slice->address, end > bound.address ? static_cast<u32>(end - bound.address) : 0, 0};
}

gpu::BufferSlice Executor::window_rows(Stage stage, u32 size) {
    const StageBindings& b = g_->stages[index(stage)];
    std::array<shader::BankAddress, 2 * shader::banks::window_slots> rows{};
    static_assert(storage_slots <= shader::banks::window_slots && uniform_slots <= shader::banks::window_slots);
    const u32 count = std::min<u32>(size / sizeof rows[0], static_cast<u32>(rows.size()));
    for (u32 row = 0; row < count; ++row)
        rows[row] =
            window(row < shader::banks::uniform_row ? b.storage[row] : b.uniforms[row - shader::banks::uniform_row]);
    const auto slice = s_.queue->arena().push(std::as_bytes(std::span(rows).first(count)));
    return slice ? *slice : gpu::BufferSlice{};
}

// Some storage of the stage lies in a virtual pool, whose pages may be anywhere.
bool Executor::scatters_storage(Stage stage, const shader::Reflection& reflection) const {
    if (s_.gpu_memory->page_table().empty() || !(reflection.reads_global || reflection.writes_global))
        return false;
    const StageBindings& b = g_->stages[index(stage)];
    const auto is_virtual = [this](const Range& r) { return s_.gpu_memory->is_virtual(GuestAddress{r.address}); };
    return std::any_of(b.storage.begin(), b.storage.end(), is_virtual) ||
           (stage == Stage::Compute && std::any_of(b.uniforms.begin(), b.uniforms.end(), is_virtual));
}

gpu::BufferSlice Executor::bank_slice(Stage stage, const shader::BankUse& use) {
    if (use.bank == shader::banks::windows)
        return window_rows(stage, use.size);
    Resolved& r = stages_[index(stage)];
    const StageBindings& b = g_->stages[index(stage)];
    const auto& layout = *r.code->program.layout;
    if (is_driver_bank(layout, use.bank)) {
        const u32 size = align_up(std::clamp(use.size, 16u, driver_bank_limit), 16u);
        const auto slice = s_.queue->arena().allocate(size);
        if (!slice)
            return {};
        std::array<std::byte, driver_bank_limit> bytes; // filled in cache: upload memory is slow to revisit
        fill_driver_bank(layout, stage, b, parameters_, use.bank, std::span(bytes).first(size));
        std::memcpy(slice->mapped, bytes.data(), size);
        return *slice;
    }
    if (use.bank == r.code->program.constants_bank) {
        const Bytes constants = r.code->program.constants;
        if (constants.empty())
            return {};
        if (!r.code->constants) {
            auto buffer = gpu::create_buffer(*s_.device, align_up<u64>(constants.size(), 16), gpu::MemoryKind::Upload,
                                             "program constants");
            if (!buffer)
                return {};
            std::memset(buffer->whole().mapped, 0, buffer->whole().size);
            std::memcpy(buffer->whole().mapped, constants.data(), constants.size());
            gpu::flush(*s_.device, *buffer);
            r.code->constants = std::move(*buffer);
        }
        gpu::BufferSlice slice = r.code->constants.whole();
        slice.size = std::min<u64>(slice.size, 65536);
        return slice;
    }
    if (use.bank < layout.first_uniform_bank)
        return {};
    const u32 slot = use.bank - layout.first_uniform_bank;
    if (slot >= uniform_slots || (stage == Stage::Compute && slot >= layout.compute_uniform_banks))
        return {};
    return uniform_slice(b.uniforms[slot]);
}

void Executor::set_banks(Stage stage) {
    Resolved& r = stages_[index(stage)];
    if (!r.variant)
        return;
    for (const shader::BankUse& use : r.variant->reflection.banks) {
        if (use.bank >= std::size(r.banks))
            continue;
        gpu::BufferSlice& slice = r.banks[use.bank];
        slice = bank_slice(stage, use);
        if (use.binding == ~0u)
            continue;
        if (stage == Stage::Compute)
            c_->set_compute_bank(use.binding, slice);
        else
            c_->set_bank(use.binding, slice);
    }
}

// The root block; the table of bank addresses only where a stage reads it.
void Executor::set_root(bool compute) {
    const auto reads_table = [this](Stage stage) {
        const Variant* v = stages_[index(stage)].variant;
        return v && std::any_of(v->reflection.banks.begin(), v->reflection.banks.end(),
                                [](const shader::BankUse& b) { return b.by_address || b.binding == ~0u; });
    };
    bool table = compute && reads_table(Stage::Compute);
    for (const Stage stage : graphics_stages)
        table |= !compute && reads_table(stage);
    shader::RootConstants root{};
    if (table) {
        std::array<std::array<shader::BankAddress, shader::banks::count>, program::stage_count> addresses{};
        for (u32 s = 0; s < program::stage_count; ++s)
            for (u32 b = 0; b < shader::banks::count; ++b)
                addresses[s][b] = {stages_[s].banks[b].address, static_cast<u32>(stages_[s].banks[b].size), 0};
        if (const auto slice = s_.queue->arena().push(std::as_bytes(std::span(addresses))))
            root.bank_table = slice->address;
    }
    root.y_direction = g_->modes.window_origin == origin_lower_left ? -1 : 1;
    root.point_size = g_->point_size;
    root.alpha_reference = g_->alpha_reference;
    root.base_vertex = 0; // the vertex ID counts with the first vertex and the base vertex in it
    root.base_instance = parameters_.base_instance;
    std::copy(g_->outer_levels.begin(), g_->outer_levels.end(), root.outer_levels);
    std::copy(g_->inner_levels.begin(), g_->inner_levels.end(), root.inner_levels);
    std::copy(parameters_.workgroups.begin(), parameters_.workgroups.end(), root.workgroups);
    if (compute) {
        c_->set_compute_root(root);
    } else {
        c_->set_root(root);
        root_ = root;
    }
}

} // namespace heaviside::replay
