// The emitter's insides, shared by the emit_*.cpp files; one file per kind of operation.
#pragma once

#include "maxwell/sph.h"
#include "shader/emit.h"
#include "shader/spirv_module.h"
#include "shader/storage_address.h"

#include <spirv/unified1/GLSL.std.450.h>

namespace heaviside::shader {

using ir::Value;
using spirv::Basic;
using spirv::Id;

// A vec4 that travels between stages, or a fragment input.
struct Varying {
    Id variable = 0;
    bool perspective = false, flat = false;
};

class Emitter {
public:
    Emitter(const ir::Program& ir, const ir::FlowGraph& graph, const ir::Structure& structure,
            const program::Program& program, const VariantKey& key, const Options& options);
    Result<Translation> run();

private:
    // --- values. A value has an integer view and, except for booleans, a float view (words, doubles, vectors alike);
    // one is primary, the other a bitcast made where it is needed and remembered for the rest of the SPIR-V block.
    struct View {
        Id id = 0;
        u32 valid_in = 0; // SPIR-V block; everywhere: the whole function
    };
    static constexpr u32 everywhere = ~0u;
    struct Slot {
        View integer, floating;
    };
    [[nodiscard]] Id u(Value v); // U32: uint, U64: uint64, vectors: uvec, U1: bool
    [[nodiscard]] Id f(Value v); // the same bits as float, double, vec
    [[nodiscard]] Id b(Value v) { return u(v); }
    void define_u(Value v, Id id);
    void define_f(Value v, Id id);
    void reload(Value v);
    void note_constant(Value v);
    [[nodiscard]] Basic integer_basic(Value v) const;
    [[nodiscard]] Basic float_basic(Value v) const;

    // --- emitter.cpp: control flow
    void find_spills();
    void declare_phis();
    void statements(u32 first);
    void if_statement(const ir::Statement& s);
    void loop_statement(const ir::Statement& s);
    void once_statement(const ir::Statement& s);
    void switch_statement(const ir::Statement& s);
    void conditional(Id condition, u32 yes, u32 no);
    void block(ir::BlockId b);
    void phi_copies(ir::BlockId from, ir::BlockId to);
    void instruction(Value v);
    void begin_block(Id label);
    void branch(Id label); // ends the block
    void refuse(Value v, const char* reason);
    // if (condition) { result = body(); } else { result = 0 }; 0 as type: no result
    template <class Body>
    Id guarded(Id condition, Id type, Body&& body) {
        const Id yes = module.new_id(), merge = module.new_id();
        const Id from = current_label;
        module.none(spv::Op::OpSelectionMerge, merge, 0u);
        module.none(spv::Op::OpBranchConditional, condition, yes, merge);
        begin_block(yes);
        const Id value = body();
        const Id end = current_label;
        branch(merge);
        begin_block(merge);
        if (type == 0)
            return 0;
        return module.op(spv::Op::OpPhi, type, value, end, module.constant_null(type), from);
    }

    // --- shorthand
    [[nodiscard]] Id t(Basic basic) { return module.type(basic); }
    [[nodiscard]] Id c(u32 value) { return module.constant(value); }
    [[nodiscard]] Id cf(f32 value);
    [[nodiscard]] Id cd(f64 value);
    [[nodiscard]] Id select(Basic type, Id condition, Id yes, Id no) {
        return module.op(spv::Op::OpSelect, t(type), condition, yes, no);
    }
    [[nodiscard]] Id bitcast(Basic type, Id id) { return module.op(spv::Op::OpBitcast, t(type), id); }
    [[nodiscard]] Id load(Basic type, Id pointer) { return module.op(spv::Op::OpLoad, t(type), pointer); }
    template <class... Ids>
    [[nodiscard]] Id chain(spv::StorageClass storage, Id pointee, Id base, Ids... indices) {
        return module.op(spv::Op::OpAccessChain, module.pointer(storage, pointee), base, indices...);
    }
    [[nodiscard]] Id exact(Id id) { // not to be contracted
        module.decorate(id, spv::Decoration::NoContraction);
        return id;
    }
    [[nodiscard]] bool is_const(Value v) const { return ir.is_const(v); }
    [[nodiscard]] Value arg(Value v, unsigned i) const { return ir.arg(v, i); }

    // --- emit_arithmetic.cpp
    // How the module asks the device to treat denormal singles, where all its instructions agree.
    enum class Denormals : u8 { DeviceChoice, Flush, Preserve };
    bool table_operation(Value v, const ir::Inst& inst);
    bool arithmetic(Value v, const ir::Inst& inst);
    [[nodiscard]] static Denormals denormals_of(const ir::Program& program, const ir::FlowGraph& graph);
    [[nodiscard]] Id flush(Id value, bool wanted);
    [[nodiscard]] Id flushed(Id value);
    [[nodiscard]] Id term(Value v);
    [[nodiscard]] Id shift(spv::Op op, Value value, Value count);
    [[nodiscard]] Id compare_float(u32 mods, Id a, Id b);
    [[nodiscard]] Id float_to_integer(Id value, bool wide_source, bool wide, bool is_signed, u32 mods);
    [[nodiscard]] Id round_to_integer(Id value, Basic type, u32 mods);
    void float_arithmetic(Value v, const ir::Inst& inst);
    void float_minimum(Value v, const ir::Inst& inst, bool wide);
    void half_fma(Value v, const ir::Inst& inst);
    void pack_halves(Value v, Id low, Id high, u32 mods);
    void bit_field(Value v, const ir::Inst& inst);
    void reciprocal64(Value v, const ir::Inst& inst);

    // --- emit_repair.cpp
    void find_repairs();
    [[nodiscard]] bool repaired(Value v) const;
    [[nodiscard]] Id chosen(Value v);
    [[nodiscard]] Id unknown_zero();
    [[nodiscard]] bool in_left_loop(Value v) const;
    [[nodiscard]] bool leaves_loop(Value v, ir::BlockId to) const;
    [[nodiscard]] Id kept(Value v, Id id);
    [[nodiscard]] Id stored(Value v) { return kept(v, chosen(v)); } // to a variable that the compiler may take apart
    void phi_of_loop(Value v);
    [[nodiscard]] Id merged(Basic basic, Id id, Id zero);

    // --- emit_float.cpp: mods are the operation's
    struct Sum {
        Id near, error;
    };
    [[nodiscard]] Id to_double(Id single);
    [[nodiscard]] Sum two_sum(Id a, Id b, u32 mods);
    [[nodiscard]] Id next_double(Id value, Id up);
    [[nodiscard]] Id sum_to_odd(Id a, Id b, u32 mods);
    [[nodiscard]] Id directed_sum(Id a, Id b, u32 mods);
    [[nodiscard]] Id with_sign_of_zero(Id value, Id sign, Basic type);
    [[nodiscard]] Id high_word(Id wide);
    [[nodiscard]] Id wide_product(Id a, Id b);
    [[nodiscard]] Id wide_result(ir::Op op, Id a, Id b, Id third, u32 mods);
    [[nodiscard]] Id narrow(Id wide, u32 mods);
    [[nodiscard]] Id flush_narrowed(Id single, Id wide, u32 mods);
    [[nodiscard]] Id half_bits(Id single, u32 mods);
    [[nodiscard]] Id half_value(Id half, bool flush_denormals);
    [[nodiscard]] Id narrow_to_odd(Id wide);
    void integer_to_float(Value v, const ir::Inst& inst);

    // --- emit_double.cpp
    struct WideInteger;
    [[nodiscard]] bool double_in_integers(const ir::Inst& inst) const;
    [[nodiscard]] Id double_fma_function();
    void double_arithmetic(Value v, const ir::Inst& inst);

    // --- emit_memory.cpp
    bool memory(Value v, const ir::Inst& inst);
    void load_bank(Value v, const ir::Inst& inst);
    [[nodiscard]] BankUse& bank_use(u8 bank);
    [[nodiscard]] Id bank_variable(u8 bank);
    [[nodiscard]] Id bank_word_by_address(u8 bank, Id offset);
    static constexpr u32 root_viewport = 2;
    static constexpr u32 root_flags = 10;  // member of RootConstants, 0
    static constexpr u32 root_levels = 11; // and the first of six: outer, then inner levels
    [[nodiscard]] Id root(u32 member, Basic type);
    [[nodiscard]] Id locate(Id guest_address, u32 bytes);
    [[nodiscard]] Id locate_function();
    [[nodiscard]] Id device_pointer(Basic pointee, Id device_address);
    void load_global(Value v, const ir::Inst& inst);
    void store_global(Value v, const ir::Inst& inst);
    void atomic_global(Value v, const ir::Inst& inst);
    [[nodiscard]] Id array_word(spv::StorageClass storage, Id index);
    void load_array(Value v, const ir::Inst& inst, spv::StorageClass storage);
    void store_array(const ir::Inst& inst, spv::StorageClass storage);
    void atomic_shared(Value v, const ir::Inst& inst);
    // A pointer to a 32- or 64-bit integer; or to one of 64 bits of which the 32 from bit `shift` on are meant.
    struct Cell {
        Id pointer, shift = 0;
    };
    // The atomic itself; 0 and an error if it has none.
    [[nodiscard]] Id atomic(Value v, Cell cell, ir::AtomicOp op, ir::AtomicType type, std::span<const Value> operands,
                            spv::Scope scope);
    // Writes `next` of the cell's old value unless another thread was faster, then again. Gives the old value.
    template <class Next>
    Id exchange_loop(Cell cell, Basic basic, Id scope, Next&& next);
    [[nodiscard]] Cell shared_cell(Id word_index);
    [[nodiscard]] Id shared_variable();
    [[nodiscard]] Id local_variable();
    [[nodiscard]] Id extend_part(Id word, Id byte, ir::MemorySize size);

    // --- emit_storage.cpp
    struct Place {
        Id device, found; // address, and whether there is memory
    };
    [[nodiscard]] bool find_storage();
    void load_windows();
    [[nodiscard]] Place place(Value access, u32 bytes);

    // --- emit_texture.cpp
    bool texture(Value v, const ir::Inst& inst);
    [[nodiscard]] NumericClass texture_class(Value handle) const;
    [[nodiscard]] NumericClass image_class(Value handle) const;
    [[nodiscard]] Id image_type(Dimension dimension, NumericClass numeric, bool depth, u32 sampled, u32 format);
    [[nodiscard]] Id heap_variable(Dimension dimension, NumericClass numeric, bool depth, u32 kind);
    [[nodiscard]] Id load_image(Value handle, Dimension dimension, NumericClass numeric, bool depth, u32 kind);
    [[nodiscard]] Id image_pointer(Value handle, Dimension dimension, NumericClass numeric, u32 kind);
    [[nodiscard]] Id load_sampler(Value handle, NumericClass numeric);
    [[nodiscard]] Id texture_id(Value handle, u32 last);
    void sample(Value v, const ir::Inst& inst);
    void query(Value v, const ir::Inst& inst);
    void image_access(Value v, const ir::Inst& inst);
    void define_texels(Value v, Id vector, NumericClass numeric);
    [[nodiscard]] Id vector_of(Basic scalar, std::span<const Id> parts);
    [[nodiscard]] Dimension query_dimension(Value handle, u32 dimension) const;
    [[nodiscard]] Id image_in_bounds(Id image, Dimension dimension, std::span<const Id> coordinates);
    void mark_nonuniform(Id id, Value handle);

    // --- emit_interface.cpp
    void declare_interface();
    bool interface_operation(Value v, const ir::Inst& inst);
    void load_attribute(Value v, const ir::Inst& inst);
    void store_attribute(Value v, const ir::Inst& inst);
    [[nodiscard]] bool store_patch_selected(const ir::Inst& inst);
    void interpolate(Value v, const ir::Inst& inst);
    struct FragmentRead {
        ir::InterpolationMode mode;
        ir::InterpolationSampling sampling;
        Value offset;
    };
    struct FragmentValue {
        Id value = 0;
        bool perspective = false; // the machine would deliver value / w
    };
    [[nodiscard]] FragmentValue fragment_input(u32 address, const FragmentRead& how);
    void declare_fragment_input(Varying& input, u32 address, ir::InterpolationMode mode);
    void special(Value v, const ir::Inst& inst);
    void end_invocation(); // alpha test, point size, ...
    void reset_outputs();
    [[nodiscard]] Id builtin(spv::BuiltIn which, Basic type, spv::StorageClass storage = spv::StorageClass::Input);
    [[nodiscard]] Id builtin_input(spv::BuiltIn which, Basic type); // its value
    [[nodiscard]] Id input_word(u32 address, Value vertex, Id vertex_id);
    [[nodiscard]] Id output_pointer(u32 address, bool patch, bool for_store);
    [[nodiscard]] Id one_over_w();
    [[nodiscard]] bool is_w(Value v) const;
    [[nodiscard]] u32 location_of(u32 address) const; // ~0u: not a vec4 varying
    static constexpr u32 component_of(u32 address) { return address >> 2 & 3; }
    void stage_modes(Id entry);

    // --- emit_feedback.cpp
    void declare_feedback();
    void declare_viewport_mask();
    void route_to_viewport();
    void leave_vertex(); // the stage's outputs are complete: captures them, then swizzles the position

    // --- emit_tessellation.cpp
    void default_levels();

    // --- emit_subgroup.cpp
    bool subgroup(Value v, const ir::Inst& inst);
    [[nodiscard]] Id lane_id();
    void barrier_reduce(Value v, const ir::Inst& inst);
    void shuffle(Value v, const ir::Inst& inst, bool one_lane);
    struct ShuffleLanes {
        Id source, valid;
    };
    [[nodiscard]] ShuffleLanes shuffle_lanes(u32 mode, Value index, Value control);
    void meet(Value v);
    [[nodiscard]] Id warp_words();
    [[nodiscard]] Id warp_read(Id value, Id lane);
    [[nodiscard]] Id warp_ballot(Id value);
    void warp_vote(Value v, const ir::Inst& inst, Id value);
    void group_barrier();

    const ir::Program& ir;
    const ir::FlowGraph& graph;
    const ir::Structure& structure;
    const program::Program& program;
    const VariantKey& key;
    const Options& options;
    const bool exact_floats; // denormals and halves as the machine has them, whatever the device does by itself
    const Denormals denormals;
    const bool explicit_flush; // denormals are flushed by instructions
    const bool repairs_zeros;  // signs of zeros are, behind a compiler that drops them
    spirv::Module module;
    Reflection reflection;
    maxwell::ShaderProgramHeader header;
    std::optional<Error> error;

    std::vector<Slot> slots;
    std::vector<Id> spill;          // variable of a value that is used outside the loop that defines it
    std::vector<Id> phi_variables;  // by value id
    std::vector<u8> from_constants; // by value id: computed from constants alone
    u32 unknown_zeros = 0;
    Id turn_zero = 0;              // variable: 0, which a compiler does not know
    std::vector<Id> flags;         // Structure's flags
    std::vector<ir::BlockId> home; // block that defines a value
    u32 block_serial = 1;          // of the SPIR-V block being written
    Id current_label = 0;
    bool terminated = false;
    ir::BlockId current_block = 0;
    struct Construct {
        bool loop;
        Id merge, proceed;
    };
    std::vector<Construct> constructs;

    // memory
    std::array<Id, banks::count + 1> bank_variables{}; // the last: of the windows
    struct Window {
        Id device = 0, size = 0;
    };
    std::array<Window, 2 * banks::window_slots> windows{}; // by row
    std::vector<ir::StorageAddress> storage_addresses;
    std::vector<u32> storage_index; // by access; ~0u: not through a window
    Id bank_block = 0, root_variable = 0, locate_id = 0, map_variable = 0;
    Id double_fma_id = 0;
    Id shared_id = 0, local_id = 0, shared_reduce = 0, warp_variable = 0;
    u32 warp_threads = 0;
    u32 shared_words = 0, local_words = 0;
    bool shared_wide = false; // 64-bit atomics: an array of 64-bit words
    struct Physical {
        Basic basic;
        Id type;
    };
    std::vector<Physical> physical_pointers;

    // textures
    struct ImageType {
        u32 key;
        Id type, variable;
    };
    std::vector<ImageType> images;
    std::vector<std::pair<u32, Id>> image_types;
    Id sampler_type = 0;
    std::array<Id, heap::sampler_binding_count> sampler_variables{}; // of floats, of integers
    std::vector<std::pair<Id, Id>> sampled_types;                    // image type, OpTypeSampledImage of it

    // interface
    struct BuiltinVariable {
        spv::BuiltIn which;
        spv::StorageClass storage;
        Id id;
    };
    std::vector<BuiltinVariable> builtins;
    std::array<Varying, 64> inputs{}, outputs{};
    std::array<Id, 8> colors{};
    std::array<Id, 64> patch_values{};
    Id alpha_variable = 0;
    Id position_in = 0, position_out = 0, clip_in = 0, clip_out = 0, point_size_out = 0, tess_outer = 0, tess_inner = 0;
    Id depth_out = 0, sample_mask_out = 0, layer_out = 0, viewport_out = 0, viewport_mask = 0;
    u32 clip_count = 0;
    bool feedback = false;
    struct FeedbackCopy {
        Id source, variable; // vec4 (0: zeros) and a vector of `components` that gets its part from `first` on
        u32 first, components;
    };
    std::vector<FeedbackCopy> feedback_copies;
    u32 input_vertices = 0, output_vertices = 0; // array sizes of per-vertex inputs and outputs; 0: not arrayed
};

} // namespace heaviside::shader
