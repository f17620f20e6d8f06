#include "shader/lift.h"

#include "shader/lift_context.h"
#include "shader/lift_graph.h"

#include <algorithm>

namespace heaviside::shader {
namespace lifting {
namespace {

bool writes_predicate(const Instruction& inst, u8 predicate) {
    if (inst.opcode() == Opcode::R2P)
        return true;
    const auto is_it = [&](Slot slot) {
        const Operand operand = inst.operand(slot);
        return operand.kind == OperandKind::Predicate && operand.reg == predicate;
    };
    return is_it(Slot::P) || is_it(Slot::Q);
}

// What a pixel program leaves in its registers at EXIT.
void store_pixel_outputs(Lifter& l) {
    if (!l.program.sph || !l.program.sph->pixel)
        return;
    const auto& sph = *l.program.sph;
    const auto registers = maxwell::pixel_output_registers(sph);
    for (u32 component = 0; component < 32; ++component)
        if (sph.target_mask >> component & 1)
            l.b.op(Op::StoreColor, {l.reg(registers.target[component / 4] + component % 4)}, component);
    if (sph.writes_sample_mask)
        l.b.op(Op::StoreSampleMask, {l.reg(registers.sample_mask)});
    if (sph.writes_depth)
        l.b.op(Op::StoreDepth, {l.reg(registers.depth)});
}

class ProgramLifter {
public:
    ProgramLifter(const program::Program& source, FlowGraph graph) : graph_(std::move(graph)), l_(source, ir_) {
        ir_.stage = source.stage;
        reads_calls_ = std::ranges::any_of(
            graph_.code, [](const Instruction& inst) { return inst.opcode() == maxwell::Opcode::GETCRSPTR; });
    }

    Result<ir::Program> lift() {
        const ir::BlockId entry = l_.b.new_block();
        for (const FlowBlock& block : graph_.blocks)
            blocks_.push_back(l_.b.new_block(block.address));
        l_.b.set_block(entry);
        l_.b.branch(blocks_[0]);
        for (std::size_t i = 0; i < graph_.blocks.size(); ++i) {
            l_.b.set_block(blocks_[i]);
            if (auto lifted = lift_block(graph_.blocks[i]); !lifted)
                return tl::unexpected(lifted.error());
        }
        ir::compute_predecessors(ir_);
        return std::move(ir_);
    }

private:
    Result<void> lift_block(const FlowBlock& block) {
        if (reads_calls_)
            l_.b.set_register(scratch::call_stack, l_.b.word(block.calls));
        for (u32 at = block.first; at < block.last;) {
            const u32 end = end_of_guarded_run(at, block.last);
            if (auto lifted = lift_run(at, end); !lifted)
                return lifted;
            at = end;
        }
        end_block(block);
        if (!l_.error.empty())
            return failure(*block.branch);
        return {};
    }

    // Instructions in a row under one guard, whose predicate only the last may write.
    [[nodiscard]] u32 end_of_guarded_run(u32 first, u32 last) const {
        const maxwell::Guard guard = graph_.code[first].guard();
        u32 end = first + 1;
        if (guard.predicate == maxwell::true_predicate)
            return end;
        while (end < last && !writes_predicate(graph_.code[end - 1], guard.predicate) &&
               graph_.code[end].guard().predicate == guard.predicate &&
               graph_.code[end].guard().negated == guard.negated)
            ++end;
        return end;
    }

    Result<void> lift_run(u32 first, u32 end) {
        const maxwell::Guard guard = graph_.code[first].guard();
        if (guard.never())
            return {};
        if (guard.always())
            return lift_instructions(first, end);
        const Value condition = guard_value(guard);
        const bool branches = std::any_of(graph_.code.begin() + first, graph_.code.begin() + end, [](const auto& inst) {
            const LiftRow* row = find_lift_row(inst.opcode());
            return row && row->guarded == Guarded::Branch;
        });
        if (!branches) {
            l_.guard = condition;
            auto lifted = lift_instructions(first, end);
            l_.guard = {};
            return lifted;
        }
        const ir::BlockId body = l_.b.new_block(graph_.code[first].address()), after = l_.b.new_block();
        l_.b.branch_if(condition, body, after);
        l_.b.set_block(body);
        if (auto lifted = lift_instructions(first, end); !lifted)
            return lifted;
        l_.b.branch(after);
        l_.b.set_block(after);
        return {};
    }

    Result<void> lift_instructions(u32 first, u32 end) {
        for (u32 at = first; at < end; ++at) {
            const Instruction& inst = graph_.code[at];
            const LiftRow* row = find_lift_row(inst.opcode());
            if (!row)
                l_.unsupported("instruction not supported");
            else
                row->lift(l_, inst);
            if (!l_.error.empty())
                return failure(inst);
        }
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> failure(const Instruction& inst) const {
        return fail("{:#06x}: {} ({:#018x}): {}", inst.address(), maxwell::disassemble(inst), inst.word(), l_.error);
    }

    Value guard_value(maxwell::Guard guard) {
        if (guard.predicate == maxwell::true_predicate)
            return l_.b.boolean(!guard.negated);
        const Value value = l_.pred(guard.predicate);
        return guard.negated ? l_.bnot(value) : value;
    }

    Value branch_condition(const Instruction& inst) {
        const Value guard = guard_value(inst.guard());
        const auto test = inst.get<maxwell::Test>();
        return test == maxwell::Test::True ? guard : l_.band(guard, l_.test(test));
    }

    void end_block(const FlowBlock& block) {
        if (block.next != no_flow_block) {
            const Value condition = branch_condition(*block.branch);
            if (block.end == FlowBlock::End::Branch)
                return l_.b.branch_if(condition, blocks_[block.taken], blocks_[block.next]);
            const ir::BlockId taken = l_.b.new_block(block.branch->address());
            l_.b.branch_if(condition, taken, blocks_[block.next]);
            l_.b.set_block(taken);
        }
        switch (block.end) {
        case FlowBlock::End::Branch:
            return l_.b.branch(blocks_[block.taken]);
        case FlowBlock::End::Exit:
            store_pixel_outputs(l_);
            return l_.b.exit();
        case FlowBlock::End::Table:
            return switch_on_table(block);
        }
    }

    void switch_on_table(const FlowBlock& block) {
        const u32 base = jump_table_base(*block.branch);
        const Value selector = l_.add(l_.reg(block.branch->operand(Slot::A).reg), base);
        std::vector<ir::SwitchCase> cases;
        for (const FlowCase& c : block.cases)
            cases.push_back({c.address, blocks_[c.target]});
        const ir::BlockId from = l_.b.block(), otherwise = l_.b.new_block();
        l_.b.switch_on(selector, otherwise, std::move(cases));
        l_.b.set_block(otherwise);
        l_.b.unreachable();
        l_.b.set_block(from);
    }

    FlowGraph graph_;
    bool reads_calls_ = false;
    ir::Program ir_;
    Lifter l_;
    std::vector<ir::BlockId> blocks_; // of each flow block
};

} // namespace
} // namespace lifting

Result<ir::Program> lift(const program::Program& program, const Options&) {
    auto graph = lifting::build_flow_graph(program);
    if (!graph)
        return tl::unexpected(std::move(graph.error()));
    return lifting::ProgramLifter(program, *std::move(graph)).lift();
}

} // namespace heaviside::shader
