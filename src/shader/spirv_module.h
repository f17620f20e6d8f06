// A SPIR-V module under construction: sections that grow independently, types and constants made once.
#pragma once

#include "base/types.h"

#include <initializer_list>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string_view>
#include <vector>

namespace heaviside::shader::spirv {

using Id = u32;

// Types that every program may need. Made at first use.
enum class Basic : u8 {
    Void,
    Bool,
    U32,
    U32x2,
    U32x3,
    U32x4,
    S32,
    S32x2,
    S32x3,
    S32x4,
    F32,
    F32x2,
    F32x3,
    F32x4,
    U64,
    F64,
    U16,
    U8,
    U32Pair, // struct {u32, u32}: results of extended arithmetic
    Count,
};

class Module {
public:
    using Section = std::vector<u32>;

    Module();

    Id new_id() { return bound++; }

    void capability(spv::Capability capability);
    void extension(std::string_view name); // call once per name
    void mode(Id entry, spv::ExecutionMode mode, std::initializer_list<u32> operands = {});
    void decorate(Id target, spv::Decoration decoration, std::initializer_list<u32> operands = {});
    void decorate_member(Id type, u32 member, spv::Decoration decoration, std::initializer_list<u32> operands = {});
    [[nodiscard]] Id glsl() const { return glsl_import; } // GLSL.std.450

    Id type(Basic basic);
    [[nodiscard]] bool has(Basic basic) const { return basics[static_cast<unsigned>(basic)] != 0; }
    Id pointer(spv::StorageClass storage, Id pointee);
    Id function_type(Id result, std::span<const Id> parameters);
    // Types that are made by hand: the caller keeps them.
    Id make_type(spv::Op op, std::initializer_list<u32> operands);
    Id make_struct(std::span<const Id> members);

    Id constant(u32 value) { return constant(Basic::U32, value); }
    Id constant(Basic basic, u64 bits); // scalars
    Id constant_true();
    Id constant_false();
    Id constant_null(Id type);
    Id constant_composite(Id type, std::span<const Id> parts);

    // A global; joins the entry point's interface.
    Id variable(spv::StorageClass storage, Id pointee, Id initializer = 0);
    // A variable of the current function.
    Id local(Id pointee, Id initializer = 0);

    // Instructions with a result: `op(OpFAdd, type, a, b)`.
    template <class... Ids>
    Id op(spv::Op op, Id result_type, Ids... operands) {
        const Id result = new_id();
        const u32 words[] = {result_type, result, static_cast<u32>(operands)...};
        emit(code, op, words);
        return result;
    }
    Id op(spv::Op op, Id result_type, std::span<const u32> operands);
    // Instructions without one.
    template <class... Ids>
    void none(spv::Op op, Ids... operands) {
        const u32 words[] = {static_cast<u32>(operands)..., 0};
        emit(code, op, std::span<const u32>(words, sizeof...(operands)));
    }
    Id ext(u32 instruction, Id result_type, std::initializer_list<u32> operands); // GLSL.std.450

    static void emit(Section& section, spv::Op op, std::span<const u32> operands);

    // Functions: begin_function .. end_function; locals come to stand at the start of the first block.
    Id begin_function(Id result, Id type); // also opens the first block
    void parameter(Id type, Id id);        // between begin_function and start_body
    Id start_body();                       // the first block's label
    void end_function();

    [[nodiscard]] std::vector<u32> finish(spv::ExecutionModel model, Id entry, std::string_view name);

    Section code; // of the function being written

private:
    struct Pointer {
        spv::StorageClass storage;
        Id pointee, id;
    };
    struct Constant {
        Id type;
        u64 bits;
        Id id;
    };
    void string(Section& section, std::string_view text);

    u32 bound = 1;
    Id glsl_import = 0;
    std::vector<spv::Capability> capabilities;
    std::vector<std::string_view> extensions;
    Section modes, decorations, globals, functions, locals;
    std::vector<Id> interface;
    Id basics[static_cast<unsigned>(Basic::Count)] = {};
    std::vector<Pointer> pointers;
    std::vector<Constant> constants; // hash set
    std::size_t constant_count = 0;
    std::vector<std::pair<Id, Id>> nulls;
    Id true_id = 0, false_id = 0;
    std::size_t first_block = 0; // where locals go in `code`
};

} // namespace heaviside::shader::spirv
