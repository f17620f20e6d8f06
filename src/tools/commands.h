// The subcommands of `heaviside`. main.cpp fills the options from the command line; each run_ function does the work,
// prints to stdout what was asked for, to stderr what went wrong, and returns the process's exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heaviside::tools {

enum ExitCode : int {
    success = 0,
    failed = 1,     // the input was read but is bad, or some of several inputs failed
    usage = 2,      // the command line makes no sense
    unavailable = 3 // a file, device or library that the command needs is not there
};

struct InfoOptions {
    bool json = false;
    bool unimplemented = false; // list entry points that are not built
};
int run_info(const InfoOptions& options);

struct DisasmOptions {
    std::string file;   // "-": standard input
    bool words = false; // hex words from standard input, one a line
    // What the file is; by its magic where none is named.
    bool raw = false;   // bare code: control words and instructions, no header
    bool cubin = false; // ELF
    std::string kernel; // of a cubin; empty: all
    // What to print; a listing where none is named.
    bool json = false;
    bool source = false; // text that assembles back
    bool graph = false;  // control flow, for Graphviz
    bool no_hex = false; // leave the words out of the listing
};
int run_disasm(const DisasmOptions& options);

struct AsmOptions {
    std::string file, output;
    bool words = false; // one instruction a line from standard input, hex to standard output
    std::string embed;  // write a C++ header that defines this name instead of the two blobs
};
int run_asm(const AsmOptions& options);

struct TranslateOptions {
    std::vector<std::string> inputs; // GPU areas and containers, or folders with *.gpu.bin, *.ctrl.bin and containers
    std::string control;             // control section of a single input
    std::string to = "spirv";        // spirv, glsl, msl, ir, json
    std::string output;              // file, or folder for several inputs; empty: standard output
    std::vector<unsigned> block;     // threads of a workgroup, up to three axes; empty: 32, or what the program says
    unsigned jobs = 0;               // 0: as many as cores
    bool quiet = false;
};
int run_translate(const TranslateOptions& options);

struct RunOptions {
    // What runs: one of these.
    std::string file;               // assembly text, a cubin or a GPU code area, told by what it holds
    std::string cubin;              // ELF
    std::string raw;                // bare code
    std::string hardware;           // a table of measured results
    std::vector<std::string> cases; // folders of the kernel corpus
    std::string kernel;             // of a cubin; empty: its only one
    // With what. Texts as on the command line.
    std::string grid = "1", block;       // "X,Y,Z"; no block: what the source says, else 1
    std::vector<std::string> banks;      // "N=FILE" or "N=HEX"
    std::vector<std::string> registers;  // "R2=5"
    std::vector<std::string> attributes; // "0x80=1.0,2.0": inputs of graphics programs
    struct Argument {
        bool is_buffer = false;
        std::string text;
    };
    std::vector<Argument> arguments; // of the kernel, in order
    std::uint32_t shared_bytes = 0;  // on top of what the kernel declares
    std::uint32_t local_bytes = 0;   // of a thread; 0: what the kernel declares
    std::uint64_t step_limit = std::uint64_t{1} << 28;
    // What to show.
    std::string print; // "R2,P0": of every warp at its end
    bool dump = false; // all registers and predicates that are not 0, and the buffers
    bool trace = false, step = false, json = false;
    int lane = -1; // only this lane; -1: all
};
int run_run(const RunOptions& options);

struct TraceOptions {
    std::string file;    // "-": standard input
    std::string compare; // a second trace; run_trace() then returns failed where they differ
    std::vector<std::string> functions, objects;
    unsigned thread = 0; // 0: all
    std::string frames;  // "N", "N-M"; empty: all
    bool ignore_numbers = false;
    bool counts = false; // calls of each function instead of the calls
    bool json = false;
};
int run_trace(const TraceOptions& options);

struct FormatsOptions {
    std::string name; // only this one; empty: all
    bool json = false;
};
int run_formats(const FormatsOptions& options);

struct TextureOptions {
    std::string file;               // storage; with `tile` a PNG or rows; "-": standard input
    std::string format;             // NVN's name without NVN_FORMAT_
    std::string size;               // "WxHxD"
    std::string target;             // "2d", ...; empty: 2D, or 3D where the size has a depth
    std::uint32_t block_height = 0; // GOBs; 0: automatic
    std::uint32_t block_depth = 0;  // GOBs; 0: automatic
    int levels = 1;                 // 0: as many as there can be
    bool linear = false, sparse = false, switch2 = false;
    std::uint32_t stride = 0; // of linear textures, bytes; 0: the smallest
    bool tile = false;        // the way back
    std::string png, rows;    // what to write, of storage
    std::string output;       // storage, of `tile`
};
int run_texture(const TextureOptions& options);

} // namespace heaviside::tools
