// Textures and images: the heap is indexed with the handle's bits.
#include "shader/emitter.h"
#include "shader/trace.h"

#include <algorithm>

namespace heaviside::shader {

using ir::ImageMods;
using ir::Inst;
using ir::LodMode;
using ir::Op;
using ir::TextureMods;
using spv::StorageClass;

namespace {

enum Kind : u32 { Sampled, Storage, Raw, RawAtomic }; // of heap_variable()

struct Shape {
    spv::Dim dim;
    u32 axes;
    bool array, multisample;
};
constexpr Shape shapes[dimension_count] = {{spv::Dim::Dim1D, 1, false, false}, {spv::Dim::Dim1D, 1, true, false},
                                           {spv::Dim::Dim2D, 2, false, false}, {spv::Dim::Dim2D, 2, true, false},
                                           {spv::Dim::Dim3D, 3, false, false}, {spv::Dim::Cube, 3, false, false},
                                           {spv::Dim::Cube, 3, true, false},   {spv::Dim::Buffer, 1, false, false},
                                           {spv::Dim::Dim2D, 2, false, true},  {spv::Dim::Dim2D, 2, true, true}};

const Shape& shape_of(Dimension dimension) {
    return shapes[static_cast<unsigned>(dimension) % dimension_count];
}

Basic scalar_of(NumericClass numeric) {
    return numeric == NumericClass::Uint ? Basic::U32 : numeric == NumericClass::Sint ? Basic::S32 : Basic::F32;
}
Basic widen(Basic scalar, u32 count) {
    return static_cast<Basic>(static_cast<u32>(scalar) + count - 1);
}

bool is_image(Op op) {
    return op == Op::ImageLoad || op == Op::ImageStore || op == Op::ImageAtomic || op == Op::QueryImageSize;
}
bool is_lookup(Op op) {
    return op == Op::Sample || op == Op::SampleGradient || op == Op::Gather || op == Op::Fetch || op == Op::QueryLod;
}

} // namespace

// --- handles

NumericClass Emitter::texture_class(Value handle) const {
    const program::DriverBankLayout& layout = *program.layout;
    for (const ir::HandleSource& s : ir::trace_handle(ir, handle, layout)) {
        if (s.bank != layout.handle_bank || s.offset < layout.texture_handles || layout.texture_stride == 0)
            continue;
        const u32 slot = (s.offset - layout.texture_handles) / layout.texture_stride;
        if (slot < 64 && (key.uint_textures >> slot & 1) != 0)
            return NumericClass::Uint;
        if (slot < 64 && (key.sint_textures >> slot & 1) != 0)
            return NumericClass::Sint;
    }
    return NumericClass::Float;
}

NumericClass Emitter::image_class(Value handle) const {
    const program::DriverBankLayout& layout = *program.layout;
    for (const ir::HandleSource& s : ir::trace_handle(ir, handle, layout)) {
        if (s.bank != layout.handle_bank || s.offset < layout.image_handles || layout.image_stride == 0)
            continue;
        const u32 slot = (s.offset - layout.image_handles) / layout.image_stride;
        if (slot < 32 && (key.uint_images >> slot & 1) != 0)
            return NumericClass::Uint;
        if (slot < 32 && (key.sint_images >> slot & 1) != 0)
            return NumericClass::Sint;
    }
    return NumericClass::Float;
}

void Emitter::mark_nonuniform(Id id, Value handle) {
    if (!ir::same_for_all(ir, handle))
        module.decorate(id, spv::Decoration::NonUniform);
}

Id Emitter::texture_id(Value handle, u32 last) {
    const Id bits = module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), u(handle), c(0xfffff));
    return module.ext(GLSLstd450UMin, t(Basic::U32), {bits, c(last)});
}

Id Emitter::image_type(Dimension dimension, NumericClass numeric, bool depth, u32 sampled, u32 format) {
    const Shape& shape = shape_of(dimension);
    const bool storage = sampled == 2;
    switch (shape.dim) {
    case spv::Dim::Dim1D:
        module.capability(storage ? spv::Capability::Image1D : spv::Capability::Sampled1D);
        break;
    case spv::Dim::Buffer:
        module.capability(storage ? spv::Capability::ImageBuffer : spv::Capability::SampledBuffer);
        break;
    case spv::Dim::Cube:
        if (shape.array)
            module.capability(storage ? spv::Capability::ImageCubeArray : spv::Capability::SampledCubeArray);
        break;
    default:
        if (storage && shape.multisample)
            module.capability(spv::Capability::StorageImageMultisample);
    }
    // Raw and formatted access may come to the same type, which must be declared once.
    const u32 wanted =
        static_cast<u32>(dimension) | static_cast<u32>(numeric) << 8 | u32{depth} << 12 | sampled << 16 | format << 20;
    for (const auto& [known, id] : image_types)
        if (known == wanted)
            return id;
    const Id id =
        module.make_type(spv::Op::OpTypeImage, {t(scalar_of(numeric)), static_cast<u32>(shape.dim), depth ? 1u : 0u,
                                                shape.array ? 1u : 0u, shape.multisample ? 1u : 0u, sampled, format});
    image_types.emplace_back(wanted, id);
    return id;
}

// The runtime array of one dimension, class and kind; all that share a binding alias.
Id Emitter::heap_variable(Dimension dimension, NumericClass numeric, bool depth, u32 kind) {
    const u32 wanted = static_cast<u32>(dimension) | static_cast<u32>(numeric) << 8 | u32{depth} << 12 | kind << 16;
    for (const ImageType& known : images)
        if (known.key == wanted)
            return known.variable;
    module.capability(spv::Capability::RuntimeDescriptorArray);
    module.capability(spv::Capability::ShaderNonUniform);
    const bool buffer = dimension == Dimension::Buffer;
    if (kind == Sampled)
        module.capability(buffer ? spv::Capability::UniformTexelBufferArrayNonUniformIndexing
                                 : spv::Capability::SampledImageArrayNonUniformIndexing);
    else
        module.capability(buffer ? spv::Capability::StorageTexelBufferArrayNonUniformIndexing
                                 : spv::Capability::StorageImageArrayNonUniformIndexing);
    const auto format = static_cast<u32>(kind == RawAtomic ? spv::ImageFormat::R32ui : spv::ImageFormat::Unknown);
    const Id type = image_type(dimension, numeric, depth, kind == Sampled ? 1 : 2, format);
    const Id array = module.make_type(spv::Op::OpTypeRuntimeArray, {type});
    const Id variable = module.variable(StorageClass::UniformConstant, array);
    const u32 first = kind == Sampled   ? heap::first_sampled
                      : kind == Storage ? heap::first_storage
                                        : heap::first_raw_storage;
    module.decorate(variable, spv::Decoration::DescriptorSet, {heap::set});
    module.decorate(variable, spv::Decoration::Binding, {first + static_cast<u32>(dimension)});
    if (kind != Sampled)
        module.decorate(variable, spv::Decoration::Aliased);
    images.push_back({wanted, type, variable});
    return variable;
}

Id Emitter::image_pointer(Value handle, Dimension dimension, NumericClass numeric, u32 kind) {
    const bool depth = (kind & 0x100) != 0;
    kind &= 0xff;
    const Id variable = heap_variable(dimension, numeric, depth, kind);
    Id type = 0;
    for (const ImageType& known : images)
        if (known.variable == variable)
            type = known.type;
    // Mesa 25 merges non-uniform accesses whose indices are one value although their bindings differ: an ID that is
    // read as a one-dimensional texture and as a buffer is clamped in two ways.
    const u32 last = heap::texture_capacity - (dimension == Dimension::Buffer && kind == Sampled ? 2 : 1);
    const Id pointer = chain(StorageClass::UniformConstant, type, variable, texture_id(handle, last));
    mark_nonuniform(pointer, handle);
    return pointer;
}

Id Emitter::load_image(Value handle, Dimension dimension, NumericClass numeric, bool depth, u32 kind) {
    const Id pointer = image_pointer(handle, dimension, numeric, kind | (depth ? 0x100u : 0));
    const u32 wanted = static_cast<u32>(dimension) | static_cast<u32>(numeric) << 8 | u32{depth} << 12 | kind << 16;
    Id type = 0;
    for (const ImageType& known : images)
        if (known.key == wanted)
            type = known.type;
    const Id image = module.op(spv::Op::OpLoad, type, pointer);
    mark_nonuniform(image, handle);
    bool storage = kind != Sampled, written = false;
    (void)written;
    for (const ir::HandleSource& s : ir::trace_handle(ir, handle, *program.layout)) {
        HandleUse use;
        use.bank = s.bank;
        use.offset = s.offset;
        use.dimension = dimension;
        use.storage = storage;
        use.depth_compare = depth;
        bool merged = false;
        for (HandleUse& known : reflection.handles)
            if (known.bank == use.bank && known.offset == use.offset && known.dimension == dimension &&
                known.storage == storage) {
                known.depth_compare |= depth;
                merged = true;
            }
        if (!merged)
            reflection.handles.push_back(use);
    }
    return image;
}

Id Emitter::load_sampler(Value handle, NumericClass numeric) {
    const bool integers = numeric != NumericClass::Float;
    Id& sampler_variable = sampler_variables[integers];
    if (sampler_variable == 0) {
        sampler_type = module.make_type(spv::Op::OpTypeSampler, {});
        const Id array = module.make_type(spv::Op::OpTypeRuntimeArray, {sampler_type});
        sampler_variable = module.variable(StorageClass::UniformConstant, array);
        module.decorate(sampler_variable, spv::Decoration::DescriptorSet, {heap::set});
        module.decorate(sampler_variable, spv::Decoration::Binding,
                        {integers ? heap::integer_samplers : heap::samplers});
    }
    static_assert(heap::sampler_capacity == 1u << 12, "12 bits need no clamp");
    const Id index = module.op(spv::Op::OpShiftRightLogical, t(Basic::U32), u(handle), c(20));
    const Id pointer = chain(StorageClass::UniformConstant, sampler_type, sampler_variable, index);
    mark_nonuniform(pointer, handle);
    const Id sampler = module.op(spv::Op::OpLoad, sampler_type, pointer);
    mark_nonuniform(sampler, handle);
    return sampler;
}

// --- texture operations

Id Emitter::vector_of(Basic scalar, std::span<const Id> parts) {
    if (parts.size() == 1)
        return parts[0];
    return module.op(spv::Op::OpCompositeConstruct, t(widen(scalar, static_cast<u32>(parts.size()))), parts);
}

void Emitter::define_texels(Value v, Id vector, NumericClass numeric) {
    if (numeric == NumericClass::Float)
        define_f(v, vector);
    else if (numeric == NumericClass::Uint)
        define_u(v, vector);
    else
        define_u(v, bitcast(Basic::U32x4, vector));
}

void Emitter::sample(Value v, const Inst& inst) {
    const TextureMods mods = TextureMods::unpack(inst.mods);
    if (mods.dimension >= dimension_count)
        return refuse(v, "unknown texture dimension");
    const auto dimension = static_cast<Dimension>(mods.dimension);
    const Shape& shape = shape_of(dimension);
    const std::span<const Value> args = ir.args(inst);
    const bool fetch = inst.op == Op::Fetch, gather = inst.op == Op::Gather, gradient = inst.op == Op::SampleGradient;
    const bool has_level = mods.lod == LodMode::Bias || mods.lod == LodMode::Level;
    const u32 needed = 1 + shape.axes + (shape.array ? 1 : 0) + (gradient ? 2 * shape.axes : 0) + (has_level ? 1 : 0) +
                       (shape.multisample ? 1 : 0) + (mods.depth_compare ? 1 : 0) +
                       (mods.gather_offsets ? 8
                        : mods.offset       ? shape.axes
                                            : 0) +
                       (mods.min_lod ? 1 : 0);
    if (args.size() != needed)
        return refuse(v, "wrong number of operands");
    if (!fetch && (shape.dim == spv::Dim::Buffer || shape.multisample))
        return refuse(v, "sampling a buffer or multisample texture");
    const bool fragment = program.stage == Stage::Fragment;
    const NumericClass numeric = mods.depth_compare ? NumericClass::Float : texture_class(args[0]);
    const Basic coordinate = fetch ? Basic::U32 : Basic::F32;
    const auto part = [&](Value x) { return fetch ? u(x) : f(x); };
    std::size_t next = 1;
    std::vector<Id> coordinates;
    for (u32 i = 0; i < shape.axes; ++i)
        coordinates.push_back(part(args[next++]));
    if (shape.array) {
        const Id layer = u(args[next++]);
        coordinates.push_back(fetch ? layer : module.op(spv::Op::OpConvertUToF, t(Basic::F32), layer));
    }
    std::vector<Id> dx, dy;
    if (gradient)
        for (u32 i = 0; i < shape.axes; ++i) {
            dx.push_back(f(args[next++]));
            dy.push_back(f(args[next++]));
        }
    const Value level = has_level ? args[next++] : ir::none;
    const Value sample_index = shape.multisample ? args[next++] : ir::none;
    const Id reference = mods.depth_compare ? f(args[next++]) : 0;
    const std::span<const Value> offsets = args.subspan(next, mods.gather_offsets ? 8 : mods.offset ? shape.axes : 0);
    next += offsets.size();
    const Id min_lod = mods.min_lod ? f(args[next++]) : 0;

    const Id image = load_image(args[0], dimension, numeric, mods.depth_compare, Sampled);
    Id image_type_id = 0;
    const u32 wanted = mods.dimension | static_cast<u32>(numeric) << 8 | u32{mods.depth_compare} << 12 |
                       static_cast<u32>(Sampled) << 16;
    for (const ImageType& known : images)
        if (known.key == wanted)
            image_type_id = known.type;

    // offsets
    bool constant_offsets = !offsets.empty();
    for (Value o : offsets)
        constant_offsets &= is_const(o);
    const auto signed_constant = [&](Value o) { return module.constant(Basic::S32, ir.const_word(o)); };
    const auto offset_vector = [&](std::span<const Value> values) {
        if (values.size() == 1)
            return signed_constant(values[0]);
        std::vector<Id> parts;
        for (Value o : values)
            parts.push_back(signed_constant(o));
        return module.constant_composite(t(widen(Basic::S32, static_cast<u32>(parts.size()))), parts);
    };
    const auto dynamic_vector = [&](std::span<const Value> values) {
        std::vector<Id> parts;
        for (Value o : values)
            parts.push_back(bitcast(Basic::S32, u(o)));
        return vector_of(Basic::S32, parts);
    };
    std::vector<u32> image_operands; // words behind the mask, in the order of its bits
    u32 mask = 0;
    const auto operand = [&](spv::ImageOperandsMask bit, std::initializer_list<u32> words) {
        mask |= static_cast<u32>(bit);
        image_operands.insert(image_operands.end(), words);
    };
    using Operand = spv::ImageOperandsMask;

    if (fetch) {
        for (std::size_t i = 0; i < offsets.size(); ++i)
            coordinates[i] = module.op(spv::Op::OpIAdd, t(Basic::U32), coordinates[i], u(offsets[i]));
        const Id at = vector_of(coordinate, coordinates);
        if (shape.multisample)
            operand(Operand::Sample, {u(sample_index)});
        else if (shape.dim != spv::Dim::Buffer)
            operand(Operand::Lod, {level.valid() ? u(level) : c(0)});
        std::vector<u32> words{image, at};
        if (mask != 0)
            words.push_back(mask);
        words.insert(words.end(), image_operands.begin(), image_operands.end());
        const Id texel = module.op(spv::Op::OpImageFetch, t(widen(scalar_of(numeric), 4)), std::span<const u32>(words));
        if (dimension == Dimension::D1) {
            // The instruction is the same for buffer textures. An ID has a view in one of the two bindings only and
            // reads as zero in the other.
            const Id buffer = load_image(args[0], Dimension::Buffer, numeric, false, Sampled);
            const Id other = module.op(spv::Op::OpImageFetch, t(widen(scalar_of(numeric), 4)), buffer, at);
            const auto bits = [&](Id x) { return numeric == NumericClass::Uint ? x : bitcast(Basic::U32x4, x); };
            return define_u(v, module.op(spv::Op::OpBitwiseOr, t(Basic::U32x4), bits(texel), bits(other)));
        }
        return define_texels(v, texel, numeric);
    }

    const Id sampler = load_sampler(args[0], numeric);
    Id combined_type = 0;
    for (const auto& [from, made] : sampled_types)
        if (from == image_type_id)
            combined_type = made;
    if (combined_type == 0) {
        combined_type = module.make_type(spv::Op::OpTypeSampledImage, {image_type_id});
        sampled_types.emplace_back(image_type_id, combined_type);
    }
    // OpSampledImage must stand in the block that uses it
    const auto combined = [&] {
        const Id id = module.op(spv::Op::OpSampledImage, combined_type, image, sampler);
        mark_nonuniform(id, args[0]);
        return id;
    };

    if (gather) {
        const auto one = [&](std::span<const Value> at_offset, bool as_array) {
            std::vector<u32> words{combined(), vector_of(coordinate, coordinates),
                                   mods.depth_compare ? reference : c(mods.component)};
            if (as_array) {
                module.capability(spv::Capability::ImageGatherExtended);
                std::vector<Id> rows;
                for (u32 i = 0; i < 4; ++i)
                    rows.push_back(offset_vector(at_offset.subspan(2 * i, 2)));
                const Id array = module.make_type(spv::Op::OpTypeArray, {t(Basic::S32x2), c(4)});
                words.push_back(static_cast<u32>(Operand::ConstOffsets));
                words.push_back(module.constant_composite(array, rows));
            } else if (!at_offset.empty()) {
                bool constant = true;
                for (Value o : at_offset)
                    constant &= is_const(o);
                if (!constant)
                    module.capability(spv::Capability::ImageGatherExtended);
                words.push_back(static_cast<u32>(constant ? Operand::ConstOffset : Operand::Offset));
                words.push_back(constant ? offset_vector(at_offset) : dynamic_vector(at_offset));
            }
            return module.op(mods.depth_compare ? spv::Op::OpImageDrefGather : spv::Op::OpImageGather,
                             t(widen(scalar_of(numeric), 4)), std::span<const u32>(words));
        };
        if (!mods.gather_offsets || constant_offsets)
            return define_texels(v, one(offsets, mods.gather_offsets), numeric);
        std::vector<Id> parts; // each offset's texel is component w of a gather there
        for (u32 i = 0; i < 4; ++i)
            parts.push_back(module.op(spv::Op::OpCompositeExtract, t(scalar_of(numeric)),
                                      one(offsets.subspan(2 * i, 2), false), 3u));
        return define_texels(v, vector_of(scalar_of(numeric), parts), numeric);
    }

    if (!offsets.empty() && !constant_offsets) {
        // only gathers take offsets known at run time: moved by texels of the base level instead
        module.capability(spv::Capability::ImageQuery);
        const u32 count = shape.axes + (shape.array ? 1 : 0);
        const Id size = module.op(spv::Op::OpImageQuerySizeLod, t(widen(Basic::U32, count)), image, c(0));
        for (u32 i = 0; i < shape.axes; ++i) {
            const Id extent = count == 1 ? size : module.op(spv::Op::OpCompositeExtract, t(Basic::U32), size, i);
            const Id texels = module.op(spv::Op::OpConvertUToF, t(Basic::F32), extent);
            const Id by = module.op(spv::Op::OpConvertSToF, t(Basic::F32), u(offsets[i]));
            const Id step = module.op(spv::Op::OpFDiv, t(Basic::F32), by, texels);
            coordinates[i] = module.op(spv::Op::OpFAdd, t(Basic::F32), coordinates[i], step);
        }
    }
    const Id at = vector_of(coordinate, coordinates);
    // MinLod is rare among devices: a clamped level is worked out and given.
    Id clamped = 0;
    if (min_lod != 0) {
        const auto larger = [&](Id x) { return module.ext(GLSLstd450FMax, t(Basic::F32), {x, min_lod}); };
        const Id axes = vector_of(Basic::F32, std::span(coordinates).first(shape.axes));
        if (gradient) {
            module.capability(spv::Capability::ImageQuery);
            const u32 count = shape.axes + (shape.array ? 1 : 0);
            const u32 sized = shape.dim == spv::Dim::Cube ? count - 1 : count;
            const Id size = module.op(spv::Op::OpImageQuerySizeLod, t(widen(Basic::U32, sized)), image, c(0));
            const auto length = [&](const std::vector<Id>& slope) {
                std::vector<Id> steps;
                for (u32 i = 0; i < shape.axes; ++i) {
                    const u32 axis = shape.dim == spv::Dim::Cube ? 0 : i;
                    const Id extent =
                        sized == 1 ? size : module.op(spv::Op::OpCompositeExtract, t(Basic::U32), size, axis);
                    steps.push_back(module.op(spv::Op::OpFMul, t(Basic::F32), slope[i],
                                              module.op(spv::Op::OpConvertUToF, t(Basic::F32), extent)));
                }
                return module.ext(GLSLstd450Length, t(Basic::F32), {vector_of(Basic::F32, steps)});
            };
            const Id texels = module.ext(GLSLstd450FMax, t(Basic::F32), {length(dx), length(dy)});
            clamped = larger(module.ext(GLSLstd450Log2, t(Basic::F32), {texels}));
        } else if (fragment && (mods.lod == LodMode::Implicit || mods.lod == LodMode::Bias)) {
            module.capability(spv::Capability::ImageQuery);
            const Id levels = module.op(spv::Op::OpImageQueryLod, t(Basic::F32x2), combined(), axes);
            Id lod = module.op(spv::Op::OpCompositeExtract, t(Basic::F32), levels, 1u);
            if (mods.lod == LodMode::Bias)
                lod = module.op(spv::Op::OpFAdd, t(Basic::F32), lod, f(level));
            clamped = larger(lod);
        } else {
            clamped = larger(mods.lod == LodMode::Level ? f(level) : cf(0));
        }
    }
    bool explicit_lod = clamped != 0 || gradient || mods.lod == LodMode::Zero || mods.lod == LodMode::Level;
    if (!fragment && !explicit_lod)
        explicit_lod = true;
    if (clamped != 0)
        operand(Operand::Lod, {clamped});
    else if (explicit_lod && !gradient)
        operand(Operand::Lod, {mods.lod == LodMode::Level ? f(level) : cf(0)});
    else if (gradient)
        operand(Operand::Grad, {vector_of(Basic::F32, dx), vector_of(Basic::F32, dy)});
    else if (mods.lod == LodMode::Bias)
        operand(Operand::Bias, {f(level)});
    if (constant_offsets)
        operand(Operand::ConstOffset, {offset_vector(offsets)});
    std::vector<u32> words{combined(), at};
    if (mods.depth_compare)
        words.push_back(reference);
    if (mask != 0) {
        words.push_back(mask);
        words.insert(words.end(), image_operands.begin(), image_operands.end());
    }
    if (!mods.depth_compare)
        return define_texels(
            v,
            module.op(explicit_lod ? spv::Op::OpImageSampleExplicitLod : spv::Op::OpImageSampleImplicitLod,
                      t(widen(scalar_of(numeric), 4)), std::span<const u32>(words)),
            numeric);
    const Id result =
        module.op(explicit_lod ? spv::Op::OpImageSampleDrefExplicitLod : spv::Op::OpImageSampleDrefImplicitLod,
                  t(Basic::F32), std::span<const u32>(words));
    define_f(v, module.op(spv::Op::OpCompositeConstruct, t(Basic::F32x4), result, result, result, result));
}

// --- queries

Dimension Emitter::query_dimension(Value handle, u32 dimension) const {
    if (dimension < dimension_count)
        return static_cast<Dimension>(dimension);
    // The same value, or the same number in the code; then, less surely, one that comes from the same words.
    const auto wanted = ir::trace_handle(ir, handle, *program.layout);
    const auto same = [&](Value other) {
        constexpr u32 texture_bits = 0xfffff;
        return other.id == handle.id || (is_const(handle) && is_const(other) &&
                                         ((ir.const_word(handle) ^ ir.const_word(other)) & texture_bits) == 0);
    };
    const auto alike = [&](Value other) {
        return !wanted.empty() && ir::trace_handle(ir, other, *program.layout) == wanted;
    };
    for (const bool sure : {true, false})
        for (ir::BlockId b : graph.order)
            for (u32 id : ir.blocks[b].insts) {
                const Inst& inst = ir.insts[id];
                if ((!is_lookup(inst.op) && !is_image(inst.op)) || (inst.mods & 15) >= dimension_count)
                    continue;
                const Value other = arg(Value{id}, 0);
                if (sure ? same(other) : alike(other))
                    return static_cast<Dimension>((inst.mods & 15) | (is_image(inst.op) ? 0x80u : 0));
            }
    return Dimension::D2;
}

void Emitter::query(Value v, const Inst& inst) {
    module.capability(spv::Capability::ImageQuery);
    const u32 found = static_cast<u32>(query_dimension(arg(v, 0), inst.mods & 15));
    const auto dimension = static_cast<Dimension>(found & 0x7f);
    const Shape& shape = shape_of(dimension);
    const bool storage = (found & 0x80) != 0 || inst.op == Op::QueryImageSize;
    const NumericClass numeric = storage ? image_class(arg(v, 0)) : texture_class(arg(v, 0));
    const Id image = load_image(arg(v, 0), dimension, numeric, false, storage ? Storage : Sampled);
    if (inst.op == Op::QuerySamples) {
        define_u(v, shape.multisample ? module.op(spv::Op::OpImageQuerySamples, t(Basic::U32), image) : c(1));
        return;
    }
    const u32 axes = shape.dim == spv::Dim::Cube ? 2 : shape.axes;
    const u32 count = axes + (shape.array ? 1 : 0);
    const bool levels = !storage && !shape.multisample && shape.dim != spv::Dim::Buffer;
    const Id size = levels ? module.op(spv::Op::OpImageQuerySizeLod, t(widen(Basic::U32, count)), image, u(arg(v, 1)))
                           : module.op(spv::Op::OpImageQuerySize, t(widen(Basic::U32, count)), image);
    std::array<Id, 4> parts{c(1), c(1), c(1), c(1)};
    for (u32 i = 0; i < count; ++i) {
        const Id part = count == 1 ? size : module.op(spv::Op::OpCompositeExtract, t(Basic::U32), size, i);
        parts[shape.array && i == axes ? 2 : i] = part; // layers stand where depth does
    }
    if (shape.array && axes == 1)
        parts[1] = parts[2];
    if (dimension == Dimension::D1 && !storage) { // or a buffer texture, as in sample()
        const Id buffer = load_image(arg(v, 0), Dimension::Buffer, numeric, false, Sampled);
        parts[0] = module.op(spv::Op::OpBitwiseOr, t(Basic::U32), parts[0],
                             module.op(spv::Op::OpImageQuerySize, t(Basic::U32), buffer));
    }
    parts[3] = levels ? module.op(spv::Op::OpImageQueryLevels, t(Basic::U32), image) : c(1);
    define_u(v, vector_of(Basic::U32, parts));
}

bool Emitter::texture(Value v, const Inst& inst) {
    switch (inst.op) {
    case Op::Sample:
    case Op::SampleGradient:
    case Op::Gather:
    case Op::Fetch:
        sample(v, inst);
        break;
    case Op::QuerySize:
    case Op::QuerySamples:
    case Op::QueryImageSize:
        query(v, inst);
        break;
    case Op::QueryLod: {
        const auto dimension = static_cast<Dimension>(inst.mods & 15);
        const Shape& shape = shape_of(dimension);
        const std::span<const Value> args = ir.args(inst);
        if ((inst.mods & 15) >= dimension_count || args.size() < 1 + shape.axes)
            return refuse(v, "unknown texture dimension"), true;
        if (program.stage != Stage::Fragment)
            return define_u(v, module.constant_null(t(Basic::U32x2))), true;
        module.capability(spv::Capability::ImageQuery);
        std::vector<Id> coordinates;
        for (u32 i = 0; i < shape.axes; ++i)
            coordinates.push_back(f(args[1 + i]));
        const NumericClass numeric = texture_class(args[0]);
        const Id image = load_image(args[0], dimension, numeric, false, Sampled);
        const Id sampler = load_sampler(args[0], numeric);
        Id image_type_id = 0, combined_type = 0;
        const u32 wanted = static_cast<u32>(dimension) | static_cast<u32>(numeric) << 8;
        for (const ImageType& known : images)
            if (known.key == wanted)
                image_type_id = known.type;
        for (const auto& [from, made] : sampled_types)
            if (from == image_type_id)
                combined_type = made;
        if (combined_type == 0) {
            combined_type = module.make_type(spv::Op::OpTypeSampledImage, {image_type_id});
            sampled_types.emplace_back(image_type_id, combined_type);
        }
        const Id both = module.op(spv::Op::OpSampledImage, combined_type, image, sampler);
        mark_nonuniform(both, args[0]);
        define_f(v, module.op(spv::Op::OpImageQueryLod, t(Basic::F32x2), both, vector_of(Basic::F32, coordinates)));
        break;
    }
    case Op::ImageLoad:
    case Op::ImageStore:
    case Op::ImageAtomic:
        image_access(v, inst);
        break;
    default:
        return false;
    }
    return true;
}

// --- images

Id Emitter::image_in_bounds(Id image, Dimension dimension, std::span<const Id> coordinates) {
    module.capability(spv::Capability::ImageQuery);
    (void)dimension;
    const auto count = static_cast<u32>(coordinates.size());
    const Id size = module.op(spv::Op::OpImageQuerySize, t(widen(Basic::U32, count)), image);
    Id inside = 0;
    for (u32 i = 0; i < count; ++i) {
        const Id extent = count == 1 ? size : module.op(spv::Op::OpCompositeExtract, t(Basic::U32), size, i);
        const Id below = module.op(spv::Op::OpULessThan, t(Basic::Bool), coordinates[i], extent);
        inside = inside == 0 ? below : module.op(spv::Op::OpLogicalAnd, t(Basic::Bool), inside, below);
    }
    return inside;
}

void Emitter::image_access(Value v, const Inst& inst) {
    const ImageMods mods = ImageMods::unpack(inst.mods);
    if (mods.dimension >= dimension_count)
        return refuse(v, "unknown image dimension");
    auto dimension = static_cast<Dimension>(mods.dimension);
    if (dimension == Dimension::Cube || dimension == Dimension::CubeArray)
        dimension = Dimension::D2Array;
    const Shape& shape = shape_of(dimension);
    const std::span<const Value> args = ir.args(inst);
    const u32 count = shape.axes + (shape.array ? 1 : 0);
    if (args.size() < 1 + count)
        return refuse(v, "too few operands");
    const bool atomic_access = inst.op == Op::ImageAtomic, raw = mods.raw || atomic_access;
    std::vector<Id> coordinates;
    for (u32 i = 0; i < count; ++i)
        coordinates.push_back(u(args[1 + i]));
    const NumericClass numeric = raw ? NumericClass::Uint : image_class(args[0]);
    const u32 kind = atomic_access ? RawAtomic : raw ? Raw : Storage;
    const Id image = load_image(args[0], dimension, numeric, false, kind);
    if (mods.bounds == ir::ImageBounds::Clamp) {
        module.capability(spv::Capability::ImageQuery);
        const Id size = module.op(spv::Op::OpImageQuerySize, t(widen(Basic::U32, count)), image);
        for (u32 i = 0; i < count; ++i) {
            const Id extent = count == 1 ? size : module.op(spv::Op::OpCompositeExtract, t(Basic::U32), size, i);
            const Id last = module.op(spv::Op::OpISub, t(Basic::U32), extent, c(1));
            const Id low = module.ext(GLSLstd450SMax, t(Basic::U32), {coordinates[i], c(0)});
            coordinates[i] = module.ext(GLSLstd450SMin, t(Basic::U32), {low, last});
        }
    }
    const Id at = vector_of(Basic::U32, coordinates);
    const std::span<const Value> values = args.subspan(1 + count);
    const auto mark_written = [&] {
        for (const ir::HandleSource& s : ir::trace_handle(ir, args[0], *program.layout))
            for (HandleUse& use : reflection.handles)
                if (use.storage && use.bank == s.bank && use.offset == s.offset)
                    use.written = true;
    };
    if (inst.op == Op::ImageLoad) {
        module.capability(spv::Capability::StorageImageReadWithoutFormat);
        const Id texel = module.op(spv::Op::OpImageRead, t(widen(scalar_of(numeric), 4)), image, at);
        if (!raw || mods.size > ir::MemorySize::S16)
            return define_texels(v, texel, numeric);
        // narrow texels arrive as unsigned numbers
        const Id word = module.op(spv::Op::OpCompositeExtract, t(Basic::U32), texel, 0u);
        const Id extended = extend_part(word, c(0), mods.size);
        return define_u(v, module.op(spv::Op::OpCompositeConstruct, t(Basic::U32x4), extended, c(0), c(0), c(0)));
    }
    mark_written();
    if (inst.op == Op::ImageStore) {
        module.capability(spv::Capability::StorageImageWriteWithoutFormat);
        std::vector<Id> parts;
        Id old = 0;
        if (!raw && mods.components != 15) { // what the mask leaves out stays
            module.capability(spv::Capability::StorageImageReadWithoutFormat);
            old = module.op(spv::Op::OpImageRead, t(widen(scalar_of(numeric), 4)), image, at);
        }
        for (u32 i = 0; i < 4; ++i) {
            if (old != 0 && (mods.components >> i & 1) == 0)
                parts.push_back(module.op(spv::Op::OpCompositeExtract, t(scalar_of(numeric)), old, i));
            else if (i >= values.size())
                parts.push_back(raw ? c(0) : module.constant_null(t(scalar_of(numeric))));
            else if (numeric == NumericClass::Float)
                parts.push_back(f(values[i]));
            else if (raw && mods.size < ir::MemorySize::B32) // devices clamp what is too large for a texel
                parts.push_back(module.op(spv::Op::OpBitwiseAnd, t(Basic::U32), u(values[i]),
                                          c(mods.size <= ir::MemorySize::S8 ? 0xff : 0xffff)));
            else
                parts.push_back(numeric == NumericClass::Uint ? u(values[i]) : bitcast(Basic::S32, u(values[i])));
        }
        module.none(spv::Op::OpImageWrite, image, at, vector_of(scalar_of(numeric), parts));
        return;
    }
    // atomics: a coordinate outside touches nothing and gives 0
    if (mods.type == ir::AtomicType::U64 || mods.type == ir::AtomicType::S64)
        return refuse(v, "64-bit image atomics");
    for (Value value : values)
        (void)u(value);
    const Id inside = image_in_bounds(image, dimension, coordinates);
    const Id old = guarded(inside, t(Basic::U32), [&] {
        const Id texels = image_pointer(args[0], dimension, NumericClass::Uint, RawAtomic);
        const Id pointer = module.op(spv::Op::OpImageTexelPointer, module.pointer(StorageClass::Image, t(Basic::U32)),
                                     texels, at, c(0));
        mark_nonuniform(pointer, args[0]);
        return atomic(v, {pointer}, mods.op, mods.type, values, spv::Scope::Device);
    });
    if (!error)
        define_u(v, old);
}

} // namespace heaviside::shader
