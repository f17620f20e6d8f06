// What `heaviside run` shows of a run: values that instructions read and write, state at the end, a debugger.
#pragma once

#include "interpreter/warp.h"

#include <optional>
#include <string>
#include <vector>

namespace heaviside::tools {

// A register, a predicate or the condition code, as named on the command line: R12, P3, CC; or a word of a constant
// bank.
struct Place {
    enum Kind : u8 { Register, Predicate, ConditionCode, Constant } kind = Register;
    u8 index = 0; // a constant's: the bank
    u8 index_register = maxwell::zero_register;
    i32 offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] u32 value(const interpreter::Warp& warp, unsigned lane) const;
};
[[nodiscard]] std::optional<Place> parse_place(std::string_view text);

// "R2=0000002a" if the lanes agree, else "R2={0:00000000 1:00000001}".
[[nodiscard]] std::string describe(const interpreter::Warp& warp, const Place& place, u32 lanes);

// What an instruction reads and writes besides memory.
[[nodiscard]] std::vector<Place> reads(const interpreter::Instruction& instruction);
[[nodiscard]] std::vector<Place> writes(const interpreter::Instruction& instruction);

// Prints one line for each instruction of a warp: workgroup, warp, address, lanes, text, values read -> values written.
class Tracer : public interpreter::Observer {
public:
    // `lane`: only instructions that this lane executes, and its values. `json`: objects instead of text.
    Tracer(std::optional<unsigned> lane, bool json) : lane_(lane), json_(json) {}
    bool before(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes) override;
    void after(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes) override;
    void done(const interpreter::Warp&) override {}

private:
    [[nodiscard]] u32 shown(u32 lanes) const { return lane_ ? lanes & 1u << *lane_ : lanes; }
    std::optional<unsigned> lane_;
    bool json_;
    std::string line_;
};

// Stops before instructions and takes commands from standard input; `help` lists them.
class Debugger : public interpreter::Observer {
public:
    explicit Debugger(Bytes code) : code_(code) {}
    bool before(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes) override;
    void after(const interpreter::Warp&, const interpreter::Instruction&, u32) override {}
    void done(const interpreter::Warp& warp) override;
    [[nodiscard]] bool quitted() const { return quit_; }

private:
    enum class Wait : u8 { Any, SameWarp, Breakpoint };
    bool stops_at(const interpreter::Warp& warp, u32 address) const;
    // Null: the run goes on. Else what to do with the next line.
    bool command(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes,
                 const std::string& line);
    void set_breakpoint(std::string_view where);
    void list(u32 around) const;

    Bytes code_;
    Wait wait_ = Wait::Any;
    const interpreter::Warp* warp_ = nullptr; // of the last stop
    std::size_t depth_ = 0;                   // calls on its stack then
    std::vector<u32> breakpoints_;
    bool quit_ = false;
    std::string last_ = "step";
};

// Passes everything on to several.
class Observers : public interpreter::Observer {
public:
    void add(interpreter::Observer& observer) { all_.push_back(&observer); }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    bool before(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes) override {
        bool goes_on = true;
        for (Observer* const each : all_)
            goes_on = each->before(warp, instruction, lanes) && goes_on;
        return goes_on;
    }
    void after(const interpreter::Warp& warp, const interpreter::Instruction& instruction, u32 lanes) override {
        for (Observer* const each : all_)
            each->after(warp, instruction, lanes);
    }
    void done(const interpreter::Warp& warp) override {
        for (Observer* const each : all_)
            each->done(warp);
    }

private:
    std::vector<Observer*> all_;
};

} // namespace heaviside::tools
