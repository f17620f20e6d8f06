#include "layers/vulkan/spirv_repair.h"

#include <spirv/unified1/spirv.hpp11>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

namespace heaviside::layers::vulkan {
namespace {

constexpr std::size_t header_words = 5;

struct Instruction {
    spv::Op op;
    std::size_t at; // index of its first word
    std::span<const u32> words;
};

// Calls visit(Instruction) for each instruction of a module.
template <class Visit>
Result<void> for_each_instruction(const std::vector<u32>& module, Visit&& visit) {
    if (module.size() < header_words || module[0] != spv::MagicNumber)
        return fail("SPIR-V: {} words without the magic number", module.size());
    for (std::size_t at = header_words; at < module.size();) {
        const std::size_t count = module[at] >> spv::WordCountShift;
        if (count == 0 || count > module.size() - at)
            return fail("SPIR-V: the instruction at word {} has {} words, {} are left", at, count, module.size() - at);
        visit(
            Instruction{static_cast<spv::Op>(module[at] & spv::OpCodeMask), at, std::span(module).subspan(at, count)});
        at += count;
    }
    return {};
}

constexpr u32 word_of(spv::Op op, u32 count) {
    return count << spv::WordCountShift | static_cast<u32>(op);
}

} // namespace

Result<unsigned> move_array_strides(std::vector<u32>& module) {
    struct Member {
        u32 structure, index, stride;
        std::size_t at;
    };
    std::vector<Member> members;
    std::set<u32> arrays, with_stride;
    std::map<u32, std::vector<u32>> structures;
    const auto scanned = for_each_instruction(module, [&](const Instruction& in) {
        const auto decoration = static_cast<u32>(spv::Decoration::ArrayStride);
        if (in.op == spv::Op::OpMemberDecorate && in.words.size() == 5 && in.words[3] == decoration)
            members.push_back({in.words[1], in.words[2], in.words[4], in.at});
        else if (in.op == spv::Op::OpDecorate && in.words.size() == 4 && in.words[2] == decoration)
            with_stride.insert(in.words[1]);
        else if ((in.op == spv::Op::OpTypeArray || in.op == spv::Op::OpTypeRuntimeArray) && in.words.size() >= 3)
            arrays.insert(in.words[1]);
        else if (in.op == spv::Op::OpTypeStruct && in.words.size() >= 2)
            structures[in.words[1]].assign(in.words.begin() + 2, in.words.end());
    });
    if (!scanned)
        return tl::unexpected(scanned.error());

    // From the back, so that places found earlier stay right.
    unsigned mended = 0;
    for (auto member = members.rbegin(); member != members.rend(); ++member) {
        const auto structure = structures.find(member->structure);
        if (structure == structures.end() || member->index >= structure->second.size())
            continue;
        const u32 type = structure->second[member->index];
        const auto at = module.begin() + static_cast<std::ptrdiff_t>(member->at);
        ++mended;
        if (arrays.contains(type) && with_stride.insert(type).second) {
            const u32 decoration[] = {word_of(spv::Op::OpDecorate, 4), type,
                                      static_cast<u32>(spv::Decoration::ArrayStride), member->stride};
            std::copy(std::begin(decoration), std::end(decoration), at);
            module.erase(at + 4);
        } else {
            module.erase(at, at + 5);
        }
    }
    return mended;
}

Result<bool> make_dual_source(std::vector<u32>& module) {
    std::set<u32> outputs;
    std::vector<Instruction> at_location_1;
    bool fragment = false;
    const auto scanned = for_each_instruction(module, [&](const Instruction& in) {
        if (in.op == spv::Op::OpEntryPoint && in.words.size() > 1)
            fragment |= in.words[1] == static_cast<u32>(spv::ExecutionModel::Fragment);
        else if (in.op == spv::Op::OpVariable && in.words.size() >= 4 &&
                 in.words[3] == static_cast<u32>(spv::StorageClass::Output))
            outputs.insert(in.words[2]);
        else if (in.op == spv::Op::OpDecorate && in.words.size() == 4 && in.words[3] == 1 &&
                 in.words[2] == static_cast<u32>(spv::Decoration::Location))
            at_location_1.push_back(in);
    });
    if (!scanned)
        return tl::unexpected(scanned.error());
    if (!fragment)
        return false;
    for (const Instruction& decoration : at_location_1) {
        const u32 variable = decoration.words[1];
        if (!outputs.contains(variable))
            continue;
        const std::size_t at = decoration.at;
        module[at + 3] = 0;
        const u32 index[] = {word_of(spv::Op::OpDecorate, 4), variable, static_cast<u32>(spv::Decoration::Index), 1};
        module.insert(module.begin() + static_cast<std::ptrdiff_t>(at) + 4, std::begin(index), std::end(index));
        return true;
    }
    return false;
}

} // namespace heaviside::layers::vulkan
