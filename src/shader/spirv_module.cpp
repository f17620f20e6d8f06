#include "shader/spirv_module.h"

#include <algorithm>

namespace heaviside::shader::spirv {

namespace {

constexpr u32 version_1_6 = 0x00010600;

u32 first_word(spv::Op op, std::size_t operands) {
    return static_cast<u32>(op) | static_cast<u32>(operands + 1) << 16;
}

std::size_t hash(Id type, u64 bits) {
    return static_cast<std::size_t>(((bits + type) * 0x9e3779b97f4a7c15ull) >> 32);
}

} // namespace

Module::Module() {
    code.reserve(8192);
    globals.reserve(2048);
    decorations.reserve(1024);
    glsl_import = new_id();
}

void Module::emit(Section& section, spv::Op op, std::span<const u32> operands) {
    section.push_back(first_word(op, operands.size()));
    section.insert(section.end(), operands.begin(), operands.end());
}

void Module::string(Section& section, std::string_view text) {
    const std::size_t start = section.size();
    section.resize(start + text.size() / 4 + 1, 0);
    for (std::size_t i = 0; i < text.size(); ++i)
        section[start + i / 4] |= static_cast<u32>(static_cast<unsigned char>(text[i])) << (8 * (i % 4));
}

void Module::capability(spv::Capability capability) {
    if (std::find(capabilities.begin(), capabilities.end(), capability) == capabilities.end())
        capabilities.push_back(capability);
}

void Module::extension(std::string_view name) {
    if (std::find(extensions.begin(), extensions.end(), name) == extensions.end())
        extensions.push_back(name);
}

void Module::mode(Id entry, spv::ExecutionMode mode, std::initializer_list<u32> operands) {
    modes.push_back(first_word(spv::Op::OpExecutionMode, operands.size() + 2));
    modes.push_back(entry);
    modes.push_back(static_cast<u32>(mode));
    modes.insert(modes.end(), operands.begin(), operands.end());
}

void Module::decorate(Id target, spv::Decoration decoration, std::initializer_list<u32> operands) {
    decorations.push_back(first_word(spv::Op::OpDecorate, operands.size() + 2));
    decorations.push_back(target);
    decorations.push_back(static_cast<u32>(decoration));
    decorations.insert(decorations.end(), operands.begin(), operands.end());
}

void Module::decorate_member(Id type, u32 member, spv::Decoration decoration, std::initializer_list<u32> operands) {
    decorations.push_back(first_word(spv::Op::OpMemberDecorate, operands.size() + 3));
    decorations.push_back(type);
    decorations.push_back(member);
    decorations.push_back(static_cast<u32>(decoration));
    decorations.insert(decorations.end(), operands.begin(), operands.end());
}

Id Module::make_type(spv::Op op, std::initializer_list<u32> operands) {
    const Id id = new_id();
    globals.push_back(first_word(op, operands.size() + 1));
    globals.push_back(id);
    globals.insert(globals.end(), operands.begin(), operands.end());
    return id;
}

Id Module::make_struct(std::span<const Id> members) {
    const Id id = new_id();
    globals.push_back(first_word(spv::Op::OpTypeStruct, members.size() + 1));
    globals.push_back(id);
    globals.insert(globals.end(), members.begin(), members.end());
    return id;
}

Id Module::type(Basic basic) {
    using spv::Op;
    Id& id = basics[static_cast<unsigned>(basic)];
    if (id != 0)
        return id;
    const auto vector = [&](Basic component, u32 count) {
        const Id c = type(component);
        return make_type(Op::OpTypeVector, {c, count});
    };
    Id made = 0;
    switch (basic) {
    case Basic::Void:
        made = make_type(Op::OpTypeVoid, {});
        break;
    case Basic::Bool:
        made = make_type(Op::OpTypeBool, {});
        break;
    case Basic::U8:
        capability(spv::Capability::Int8);
        made = make_type(Op::OpTypeInt, {8, 0});
        break;
    case Basic::U16:
        capability(spv::Capability::Int16);
        made = make_type(Op::OpTypeInt, {16, 0});
        break;
    case Basic::U32:
        made = make_type(Op::OpTypeInt, {32, 0});
        break;
    case Basic::S32:
        made = make_type(Op::OpTypeInt, {32, 1});
        break;
    case Basic::F32:
        made = make_type(Op::OpTypeFloat, {32});
        break;
    case Basic::U64:
        capability(spv::Capability::Int64);
        made = make_type(Op::OpTypeInt, {64, 0});
        break;
    case Basic::F64:
        capability(spv::Capability::Float64);
        made = make_type(Op::OpTypeFloat, {64});
        break;
    case Basic::U32x2:
    case Basic::U32x3:
    case Basic::U32x4:
        made = vector(Basic::U32, static_cast<u32>(basic) - static_cast<u32>(Basic::U32) + 1);
        break;
    case Basic::S32x2:
    case Basic::S32x3:
    case Basic::S32x4:
        made = vector(Basic::S32, static_cast<u32>(basic) - static_cast<u32>(Basic::S32) + 1);
        break;
    case Basic::F32x2:
    case Basic::F32x3:
    case Basic::F32x4:
        made = vector(Basic::F32, static_cast<u32>(basic) - static_cast<u32>(Basic::F32) + 1);
        break;
    case Basic::U32Pair: {
        const Id word = type(Basic::U32);
        made = make_type(Op::OpTypeStruct, {word, word});
        break;
    }
    case Basic::Count:
        break;
    }
    return basics[static_cast<unsigned>(basic)] = made;
}

Id Module::pointer(spv::StorageClass storage, Id pointee) {
    for (const Pointer& p : pointers)
        if (p.storage == storage && p.pointee == pointee)
            return p.id;
    const Id id = make_type(spv::Op::OpTypePointer, {static_cast<u32>(storage), pointee});
    pointers.push_back({storage, pointee, id});
    return id;
}

Id Module::function_type(Id result, std::span<const Id> parameters) {
    const Id id = new_id();
    globals.push_back(first_word(spv::Op::OpTypeFunction, parameters.size() + 2));
    globals.push_back(id);
    globals.push_back(result);
    globals.insert(globals.end(), parameters.begin(), parameters.end());
    return id;
}

Id Module::constant(Basic basic, u64 bits) {
    const Id t = type(basic);
    if (constants.size() < 2 * (constant_count + 1)) {
        std::vector<Constant> larger(std::max<std::size_t>(64, constants.size() * 2), Constant{0, 0, 0});
        for (const Constant& c : constants) {
            if (c.id == 0)
                continue;
            std::size_t slot = hash(c.type, c.bits);
            while (larger[slot & (larger.size() - 1)].id != 0)
                ++slot;
            larger[slot & (larger.size() - 1)] = c;
        }
        constants.swap(larger);
    }
    std::size_t slot = hash(t, bits);
    const std::size_t mask = constants.size() - 1;
    for (; constants[slot & mask].id != 0; ++slot)
        if (constants[slot & mask].type == t && constants[slot & mask].bits == bits)
            return constants[slot & mask].id;
    const Id id = new_id();
    const bool wide = basic == Basic::U64 || basic == Basic::F64;
    const u32 words[] = {t, id, static_cast<u32>(bits), static_cast<u32>(bits >> 32)};
    emit(globals, spv::Op::OpConstant, std::span<const u32>(words, wide ? 4 : 3));
    constants[slot & mask] = {t, bits, id};
    ++constant_count;
    return id;
}

Id Module::constant_true() {
    if (true_id == 0) {
        const u32 words[] = {type(Basic::Bool), true_id = new_id()};
        emit(globals, spv::Op::OpConstantTrue, words);
    }
    return true_id;
}

Id Module::constant_false() {
    if (false_id == 0) {
        const u32 words[] = {type(Basic::Bool), false_id = new_id()};
        emit(globals, spv::Op::OpConstantFalse, words);
    }
    return false_id;
}

Id Module::constant_null(Id type) {
    for (const auto& [t, id] : nulls)
        if (t == type)
            return id;
    const Id id = new_id();
    const u32 words[] = {type, id};
    emit(globals, spv::Op::OpConstantNull, words);
    nulls.emplace_back(type, id);
    return id;
}

Id Module::constant_composite(Id type, std::span<const Id> parts) {
    const Id id = new_id();
    globals.push_back(first_word(spv::Op::OpConstantComposite, parts.size() + 2));
    globals.push_back(type);
    globals.push_back(id);
    globals.insert(globals.end(), parts.begin(), parts.end());
    return id;
}

Id Module::variable(spv::StorageClass storage, Id pointee, Id initializer) {
    const Id type = pointer(storage, pointee);
    const Id id = new_id();
    const u32 words[] = {type, id, static_cast<u32>(storage), initializer};
    emit(globals, spv::Op::OpVariable, std::span<const u32>(words, initializer != 0 ? 4 : 3));
    interface.push_back(id);
    return id;
}

Id Module::local(Id pointee, Id initializer) {
    const Id type = pointer(spv::StorageClass::Function, pointee);
    const Id id = new_id();
    const u32 words[] = {type, id, static_cast<u32>(spv::StorageClass::Function), initializer};
    emit(locals, spv::Op::OpVariable, std::span<const u32>(words, initializer != 0 ? 4 : 3));
    return id;
}

Id Module::op(spv::Op op, Id result_type, std::span<const u32> operands) {
    const Id result = new_id();
    code.push_back(first_word(op, operands.size() + 2));
    code.push_back(result_type);
    code.push_back(result);
    code.insert(code.end(), operands.begin(), operands.end());
    return result;
}

Id Module::ext(u32 instruction, Id result_type, std::initializer_list<u32> operands) {
    const Id result = new_id();
    code.push_back(first_word(spv::Op::OpExtInst, operands.size() + 4));
    code.push_back(result_type);
    code.push_back(result);
    code.push_back(glsl_import);
    code.push_back(instruction);
    code.insert(code.end(), operands.begin(), operands.end());
    return result;
}

Id Module::begin_function(Id result, Id type) {
    code.clear();
    locals.clear();
    const Id id = new_id();
    none(spv::Op::OpFunction, result, id, 0u, type);
    return id;
}

void Module::parameter(Id type, Id id) {
    none(spv::Op::OpFunctionParameter, type, id);
}

Id Module::start_body() {
    const Id label = new_id();
    none(spv::Op::OpLabel, label);
    first_block = code.size();
    return label;
}

void Module::end_function() {
    none(spv::Op::OpFunctionEnd);
    functions.insert(functions.end(), code.begin(), code.begin() + static_cast<std::ptrdiff_t>(first_block));
    functions.insert(functions.end(), locals.begin(), locals.end());
    functions.insert(functions.end(), code.begin() + static_cast<std::ptrdiff_t>(first_block), code.end());
    code.clear();
    locals.clear();
}

std::vector<u32> Module::finish(spv::ExecutionModel model, Id entry, std::string_view name) {
    std::vector<u32> words;
    words.reserve(64 + capabilities.size() * 2 + interface.size() + modes.size() + decorations.size() + globals.size() +
                  functions.size());
    words.insert(words.end(), {spv::MagicNumber, version_1_6, 0u, 0u, 0u});
    for (spv::Capability c : capabilities) {
        const u32 operand[] = {static_cast<u32>(c)};
        emit(words, spv::Op::OpCapability, operand);
    }
    const auto with_length = [&](spv::Op op, auto&& write) {
        const std::size_t start = words.size();
        words.push_back(0);
        write();
        words[start] = static_cast<u32>(op) | static_cast<u32>(words.size() - start) << 16;
    };
    for (std::string_view e : extensions)
        with_length(spv::Op::OpExtension, [&] { string(words, e); });
    with_length(spv::Op::OpExtInstImport, [&] {
        words.push_back(glsl_import);
        string(words, "GLSL.std.450");
    });
    const bool physical = std::find(capabilities.begin(), capabilities.end(),
                                    spv::Capability::PhysicalStorageBufferAddresses) != capabilities.end();
    const u32 model_words[] = {
        static_cast<u32>(physical ? spv::AddressingModel::PhysicalStorageBuffer64 : spv::AddressingModel::Logical),
        static_cast<u32>(spv::MemoryModel::GLSL450)};
    emit(words, spv::Op::OpMemoryModel, model_words);
    with_length(spv::Op::OpEntryPoint, [&] {
        words.push_back(static_cast<u32>(model));
        words.push_back(entry);
        string(words, name);
        words.insert(words.end(), interface.begin(), interface.end());
    });
    words.insert(words.end(), modes.begin(), modes.end());
    words.insert(words.end(), decorations.begin(), decorations.end());
    words.insert(words.end(), globals.begin(), globals.end());
    words.insert(words.end(), functions.begin(), functions.end());
    words[3] = bound;
    return words;
}

} // namespace heaviside::shader::spirv
