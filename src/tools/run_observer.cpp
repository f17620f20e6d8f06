#include "tools/run_observer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace heaviside::tools {
namespace {

using namespace interpreter;
using maxwell::Test;

constexpr u32 all_predicates = 7;

void add_registers(std::vector<Place>& places, u8 first, unsigned count) {
    for (unsigned i = 0; i < count && first + i < maxwell::zero_register; ++i)
        places.push_back({Place::Register, static_cast<u8>(first + i)});
}

void add_operand(std::vector<Place>& places, const Operand& operand) {
    switch (operand.kind) {
    case OperandKind::Register:
        return add_registers(places, operand.reg, operand.count);
    case OperandKind::Predicate:
        if (operand.reg != maxwell::true_predicate)
            places.push_back({Place::Predicate, operand.reg});
        return;
    case OperandKind::Constant:
        add_registers(places, operand.reg, 1);
        places.push_back({Place::Constant, operand.bank, operand.reg, operand.offset});
        return;
    case OperandKind::Attribute:
        return add_registers(places, operand.reg, 1);
    case OperandKind::Memory:
        return add_registers(places, operand.reg, operand.wide_index ? 2 : 1);
    case OperandKind::ConditionCode:
        places.push_back({Place::ConditionCode, 0});
        return;
    default:
        return;
    }
}

void add_all_predicates(std::vector<Place>& places) {
    for (u8 i = 0; i < all_predicates; ++i)
        places.push_back({Place::Predicate, i});
}

bool is_destination(Slot slot) {
    return slot == Slot::D || slot == Slot::P || slot == Slot::Q || slot == Slot::D2;
}

template <class Wanted>
std::vector<Place> operands(const Instruction& instruction, Wanted wanted) {
    std::vector<Place> places;
    for (unsigned i = 0; i < static_cast<unsigned>(Slot::Count_); ++i)
        if (const auto slot = static_cast<Slot>(i); wanted(slot) && instruction.has(slot))
            add_operand(places, instruction.operand(slot));
    return places;
}

std::string flags_text(u32 flags) {
    std::string text;
    for (unsigned i = 0; i < 4; ++i)
        text += (flags >> i & 1) != 0 ? "ZSCO"[i] : '-';
    return text;
}

std::string value_text(const Place& place, u32 value) {
    switch (place.kind) {
    case Place::Predicate:
        return value != 0 ? "1" : "0";
    case Place::ConditionCode:
        return flags_text(value);
    case Place::Register:
    case Place::Constant:
        break;
    }
    return fmt::format("{:08x}", value);
}

nlohmann::json values_json(const Warp& warp, const std::vector<Place>& places, u32 lanes) {
    auto object = nlohmann::json::object();
    for (const Place& place : places) {
        auto values = nlohmann::json::object();
        for_lanes(lanes, [&](unsigned lane) { values[std::to_string(lane)] = place.value(warp, lane); });
        object[place.name()] = std::move(values);
    }
    return object;
}

std::string values_text(const Warp& warp, const std::vector<Place>& places, u32 lanes) {
    std::string text;
    for (const Place& place : places)
        text += " " + describe(warp, place, lanes);
    return text;
}

std::string position(const Warp& warp, u32 address, u32 lanes) {
    const auto& id = warp.workgroup->id;
    return fmt::format("{},{},{}/{} {:04x} {:08x}", id[0], id[1], id[2], warp.first_thread / warp_size, address, lanes);
}

std::size_t calls(const Warp& warp) {
    return static_cast<std::size_t>(
        std::ranges::count_if(warp.stack, [](const Token& token) { return token.kind == TokenKind::Call; }));
}

std::optional<u32> parse_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal)
        text.remove_prefix(2);
    u32 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

void print_stack(const Warp& warp) {
    static constexpr const char* names[]{"branch", "SSY", "PBK", "PCNT", "call", "PLONGJMP", "PEXIT"};
    for (std::size_t i = warp.stack.size(); i-- > 0;)
        std::cout << fmt::format("  {:8} lanes {:08x} go on at {:04x}\n", names[static_cast<int>(warp.stack[i].kind)],
                                 warp.stack[i].mask, warp.stack[i].pc);
    if (warp.stack.empty())
        std::cout << "  empty\n";
}

constexpr std::string_view help_text =
    "step (s)          one instruction, of whatever warp is next\n"
    "next (n)          one instruction of this warp; calls count as one\n"
    "continue (c)      on to a breakpoint or the end\n"
    "break WHERE (b)   stop at an address (0x48) or a line of `list`; again: no longer\n"
    "print WHAT (p)    R2, P0, CC or c[0x0][0x140], several separated by blanks\n"
    "lanes             what the lanes of this warp do\n"
    "stack             the branch stack of this warp, top first\n"
    "warps             the warps of this workgroup\n"
    "list (l)          the code around here, with line numbers\n"
    "quit (q), help (h); an empty line repeats\n";

} // namespace

std::string Place::name() const {
    if (kind == Constant)
        return index_register == maxwell::zero_register
                   ? fmt::format("c[{:#x}][{:#x}]", index, offset)
                   : fmt::format("c[{:#x}][R{}+{:#x}]", index, index_register, offset);
    return kind == ConditionCode ? "CC" : fmt::format("{}{}", kind == Register ? 'R' : 'P', index);
}

u32 Place::value(const Warp& warp, unsigned lane) const {
    switch (kind) {
    case Predicate:
        return u32{warp.predicates[lane]} >> index & 1;
    case ConditionCode:
        return warp.flags[lane];
    case Constant:
        return constant_word(warp, index, static_cast<u32>(offset) + warp.get(index_register, lane));
    case Register:
        break;
    }
    return warp.get(index, lane);
}

std::optional<Place> parse_place(std::string_view text) {
    if (text == "CC")
        return Place{Place::ConditionCode, 0};
    if (text.size() < 2 || (text[0] != 'R' && text[0] != 'P'))
        return std::nullopt;
    const auto index = parse_number(text.substr(1));
    const bool is_register = text[0] == 'R';
    if (!index || *index >= (is_register ? maxwell::zero_register : all_predicates))
        return std::nullopt;
    return Place{is_register ? Place::Register : Place::Predicate, static_cast<u8>(*index)};
}

std::string describe(const Warp& warp, const Place& place, u32 lanes) {
    if (lanes == 0)
        return place.name();
    const u32 first = place.value(warp, static_cast<unsigned>(std::countr_zero(lanes)));
    bool same = true;
    std::string each;
    for_lanes(lanes, [&](unsigned lane) {
        const u32 value = place.value(warp, lane);
        same = same && value == first;
        each += fmt::format("{}{}:{}", each.empty() ? "" : " ", lane, value_text(place, value));
    });
    return same ? place.name() + "=" + value_text(place, first) : place.name() + "={" + each + "}";
}

std::vector<Place> reads(const Instruction& instruction) {
    std::vector<Place> places;
    if (const auto guard = instruction.guard(); guard.predicate != maxwell::true_predicate)
        places.push_back({Place::Predicate, guard.predicate});
    for (const Place& place : operands(instruction, [](Slot slot) { return !is_destination(slot); }))
        places.push_back(place);
    if (instruction.opcode() == Opcode::P2R && !instruction.has(Modifier::ToConditionCode))
        add_all_predicates(places);
    if (instruction.has(Modifier::Extended) || instruction.get<Test>() != Test::True ||
        (instruction.opcode() == Opcode::P2R && instruction.has(Modifier::ToConditionCode)))
        places.push_back({Place::ConditionCode, 0});
    return places;
}

std::vector<Place> writes(const Instruction& instruction) {
    std::vector<Place> places = operands(instruction, is_destination);
    const bool to_flags = instruction.has(Modifier::ToConditionCode);
    if (instruction.opcode() == Opcode::R2P && !to_flags)
        add_all_predicates(places);
    if (instruction.has(Modifier::WriteCC) || (instruction.opcode() == Opcode::R2P && to_flags))
        places.push_back({Place::ConditionCode, 0});
    return places;
}

bool Tracer::before(const Warp& warp, const Instruction& instruction, u32 lanes) {
    const u32 wanted = shown(lanes);
    line_.clear();
    if (lane_ && wanted == 0)
        return true;
    if (json_) {
        const auto& id = warp.workgroup->id;
        line_ =
            nlohmann::json{
                {"workgroup", {id[0], id[1], id[2]}},        {"warp", warp.first_thread / warp_size},
                {"address", instruction.address()},          {"lanes", lanes},
                {"text", maxwell::disassemble(instruction)}, {"read", values_json(warp, reads(instruction), wanted)}}
                .dump();
    } else {
        line_ = position(warp, instruction.address(), lanes) + "  " + maxwell::disassemble(instruction);
        line_ += values_text(warp, reads(instruction), wanted);
    }
    return true;
}

void Tracer::after(const Warp& warp, const Instruction& instruction, u32 lanes) {
    if (line_.empty())
        return;
    const std::vector<Place> written = writes(instruction);
    if (json_) {
        line_.pop_back(); // the object goes on
        line_ += ",\"written\":" + values_json(warp, written, shown(lanes)).dump() + "}";
    } else if (!written.empty() && lanes != 0) {
        line_ += " ->" + values_text(warp, written, shown(lanes));
    }
    line_ += '\n';
    std::fwrite(line_.data(), 1, line_.size(), stdout);
}

bool Debugger::stops_at(const Warp& warp, u32 address) const {
    if (wait_ == Wait::Any || std::ranges::find(breakpoints_, address) != breakpoints_.end())
        return true;
    return wait_ == Wait::SameWarp && &warp == warp_ && calls(warp) <= depth_;
}

bool Debugger::before(const Warp& warp, const Instruction& instruction, u32 lanes) {
    if (quit_)
        return false;
    if (!stops_at(warp, instruction.address()))
        return true;
    std::cout << position(warp, instruction.address(), lanes) << "  " << maxwell::disassemble(instruction) << "\n";
    for (std::string line;;) {
        std::cout << "> " << std::flush;
        if (!std::getline(std::cin, line)) {
            quit_ = true;
            return false;
        }
        if (line.empty())
            line = last_;
        last_ = line;
        if (command(warp, instruction, lanes, line))
            break;
    }
    warp_ = &warp;
    depth_ = calls(warp);
    return !quit_;
}

// True if the run goes on (or ends).
bool Debugger::command(const Warp& warp, const Instruction& instruction, u32 lanes, const std::string& line) {
    std::istringstream words(line);
    std::string name, argument;
    words >> name;
    if (name == "step" || name == "s") {
        wait_ = Wait::Any;
        return true;
    }
    if (name == "next" || name == "n") {
        wait_ = Wait::SameWarp;
        return true;
    }
    if (name == "continue" || name == "c") {
        wait_ = Wait::Breakpoint;
        return true;
    }
    if (name == "quit" || name == "q") {
        quit_ = true;
        return true;
    }
    if (name == "break" || name == "b") {
        words >> argument;
        set_breakpoint(argument);
    } else if (name == "print" || name == "p") {
        while (words >> argument) {
            int bank = 0, offset = 0;
            if (const auto place = parse_place(argument))
                std::cout << "  " << describe(warp, *place, lanes != 0 ? lanes : warp.active) << "\n";
            else if (std::sscanf(argument.c_str(), "c[%i][%i]", &bank, &offset) == 2)
                std::cout << fmt::format("  {}={:08x}\n", argument,
                                         constant_word(warp, static_cast<u32>(bank), static_cast<u32>(offset)));
            else
                std::cout << "  " << argument << " is no register, predicate or constant\n";
        }
    } else if (name == "lanes") {
        u32 waiting = ~(warp.active | warp.exited);
        const u32 here =
            std::min(warp_size, static_cast<u32>(warp.workgroup->launch->block[0] * warp.workgroup->launch->block[1] *
                                                     warp.workgroup->launch->block[2] -
                                                 warp.first_thread));
        if (here < warp_size)
            waiting &= (1u << here) - 1;
        std::cout << fmt::format("  active {:08x}  executing {:08x}  waiting {:08x}  left {:08x}\n", warp.active, lanes,
                                 waiting, warp.exited);
    } else if (name == "stack") {
        print_stack(warp);
    } else if (name == "warps") {
        for (const Warp& each : warp.workgroup->warps)
            std::cout << fmt::format("  {} {:08x} at {:04x}{}\n", each.first_thread / warp_size, each.active, each.pc,
                                     each.waits_at == no_barrier ? ""
                                                                 : fmt::format(", waits at barrier {}", each.waits_at));
    } else if (name == "list" || name == "l") {
        list(instruction.address());
    } else if (name == "help" || name == "h") {
        std::cout << help_text;
    } else {
        std::cout << "  '" << name << "' is no command; `help` lists them\n";
    }
    return false;
}

// Three instructions a bundle, the control word before them: line n is the instruction at this address.
void Debugger::set_breakpoint(std::string_view where) {
    const auto number = parse_number(where);
    const bool is_address = where.starts_with("0x");
    const u32 address = !number ? 0 : is_address ? *number : (*number - 1) / 3 * 32 + 8 * ((*number - 1) % 3 + 1);
    if (!number || (!is_address && *number == 0) || address % 8 != 0 || address % 32 == 0 || address >= code_.size()) {
        std::cout << "  '" << where << "' is no address of an instruction and no line\n";
        return;
    }
    if (std::erase(breakpoints_, address) != 0) {
        std::cout << fmt::format("  no longer stops at {:04x}\n", address);
        return;
    }
    breakpoints_.push_back(address);
    std::cout << fmt::format("  stops at {:04x}\n", address);
}

void Debugger::list(u32 around) const {
    constexpr u32 bytes_before = 128, bytes_behind = 192;
    const u32 start = around > bytes_before ? (around - bytes_before) / 32 * 32 : 0;
    for (u32 at = start; at + 8 <= code_.size() && at < around + bytes_behind; at += 8) {
        if (at % 32 == 0)
            continue;
        const auto instruction = maxwell::decode(*read_at<u64>(code_, at), at);
        std::cout << fmt::format("{}{:4}  {:04x}  {}\n", at == around ? '*' : ' ', at / 32 * 3 + at % 32 / 8, at,
                                 instruction ? maxwell::disassemble(*instruction) : "invalid");
    }
}

void Debugger::done(const Warp& warp) {
    const auto& id = warp.workgroup->id;
    std::cout << fmt::format("{},{},{}/{} is done\n", id[0], id[1], id[2], warp.first_thread / warp_size);
    if (wait_ == Wait::SameWarp && &warp == warp_)
        wait_ = Wait::Any; // there is no next instruction of this one
}

} // namespace heaviside::tools
