// heaviside: the command line.
#include "tools/commands.h"

#include <heaviside/heaviside.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <vector>

using namespace heaviside::tools;

namespace {

constexpr const char* footer =
    "Exit codes: 0 success, 1 bad or failed input, 2 wrong command line, 3 something needed is "
    "not there.\nDocumentation: docs/ in the source tree.";

void add_info(CLI::App& app, InfoOptions& options) {
    CLI::App* const command = app.add_subcommand("info", "Show the device, its driver, capabilities and lowerings");
    command->add_flag("--json", options.json, "Print JSON");
    command->add_flag("--unimplemented", options.unimplemented, "List NVN entry points that only report themselves");
}

void add_disasm(CLI::App& app, DisasmOptions& options) {
    CLI::App* const command = app.add_subcommand("disasm", "Disassemble Maxwell code");
    command->add_option("file", options.file,
                        "A GPU code area, a cubin, a DKSH or a GLSLC output, told by its magic; - is standard input");
    command->add_flag("--words", options.words, "Read hex words from standard input, one a line: WORD<TAB>TEXT");
    CLI::Option* const raw = command->add_flag(
        "--raw", options.raw, "The file is bare code: bundles of one control word and three instructions");
    command->add_flag("--cubin", options.cubin, "The file is a cubin and nothing else (ELF64, SM 50 to 53)")
        ->excludes(raw);
    command->add_option("--kernel", options.kernel, "Only this kernel of a cubin; default all")->excludes(raw);
    CLI::Option* const json = command->add_flag("--json", options.json, "Print JSON");
    CLI::Option* const source =
        command->add_flag("--source", options.source, "Print source that `heaviside asm` takes, with labels")
            ->excludes(json);
    command->add_flag("--cfg", options.graph, "Print the control-flow graph, one Graphviz digraph for each program")
        ->excludes(json)
        ->excludes(source);
    command->add_flag("--no-hex", options.no_hex, "Leave the words out of the listing");
    command->callback([command, &options] {
        if (options.words == !options.file.empty())
            throw CLI::ValidationError(command->get_name(), "give a FILE, or --words with standard input");
        if (options.words && (options.raw || options.cubin || !options.kernel.empty() || options.json ||
                              options.source || options.graph || options.no_hex))
            throw CLI::ValidationError(command->get_name(), "--words takes no other option");
    });
}

void add_asm(CLI::App& app, AsmOptions& options) {
    CLI::App* const command = app.add_subcommand("asm", "Assemble Maxwell code");
    command->add_option("file", options.file, "Assembly text");
    command->add_option("-o,--output", options.output,
                        "Writes OUT.gpu.bin and OUT.ctrl.bin; with --embed the header OUT");
    command->add_option("--embed", options.embed, "Write a C++ header that defines NAME_gpu and NAME_control");
    command->add_flag("--words", options.words, "Read one instruction a line from standard input, print hex words");
    command->callback([command, &options] {
        if (options.words == !options.file.empty())
            throw CLI::ValidationError(command->get_name(), "give a FILE, or --words with standard input");
        if (!options.words && options.output.empty())
            throw CLI::ValidationError(command->get_name(), "--output is missing");
    });
}

void add_translate(CLI::App& app, TranslateOptions& options) {
    CLI::App* const command =
        app.add_subcommand("translate", "Translate programs to SPIR-V, GLSL, MSL, IR or reflection");
    command
        ->add_option("inputs", options.inputs,
                     "GPU code areas, cubins, DKSH, GLSLC and BNSH files, or folders of them and of *.gpu.bin with "
                     "*.ctrl.bin beside")
        ->required();
    command->add_option("--control", options.control, "Control section of a single input");
    command->add_option("--to", options.to, "spirv, glsl, msl, ir or json")
        ->check(CLI::IsMember({"spirv", "glsl", "msl", "ir", "json"}))
        ->capture_default_str();
    command->add_option("-o,--output", options.output, "File, or folder for several inputs; default standard output");
    command
        ->add_option("--block", options.block,
                     "Threads of a workgroup, X[,Y[,Z]], for kernels of cubins, which do not say; default 32")
        ->delimiter(',')
        ->expected(1, 3)
        ->check(CLI::Range(1, 1024));
    command->add_option("-j,--jobs", options.jobs, "Threads; 0 takes as many as there are cores");
    command->add_flag("-q,--quiet", options.quiet, "No progress, no summary");
}

// Buffers and scalars are one list of arguments: their order is that of the command line.
void collect_arguments(const CLI::App& command, const CLI::Option& buffer, const CLI::Option& param,
                       RunOptions& options) {
    std::size_t buffers = 0, params = 0;
    for (const CLI::Option* const each : command.parse_order()) {
        if (each == &buffer && buffers < buffer.results().size())
            options.arguments.push_back({true, buffer.results()[buffers++]});
        else if (each == &param && params < param.results().size())
            options.arguments.push_back({false, param.results()[params++]});
    }
}

void add_run(CLI::App& app, RunOptions& options) {
    CLI::App* const command = app.add_subcommand("run", "Run a kernel or a shader on the reference interpreter");
    std::vector<CLI::Option*> what{
        command->add_option("file", options.file, "Assembly text, a cubin or a GPU code area, told by what it holds"),
        command->add_option("--cubin", options.cubin, "A cubin"),
        command->add_option("--raw", options.raw, "Bare code: bundles of a control word and three instructions"),
        command->add_option("--hardware", options.hardware, "Run a table of measured results and count what matches"),
        command->add_option("--case", options.cases, "Run folders of the kernel corpus and compare"),
    };
    command->add_option("--kernel", options.kernel, "The kernel of a cubin; default its only one");
    command->add_option("--grid", options.grid, "Workgroups, X[,Y[,Z]]")->capture_default_str();
    command->add_option("--block", options.block, "Threads of a workgroup, X[,Y[,Z]]; default what the source says");
    command->add_option("--bank", options.banks,
                        "N=FILE or N=HEX: a constant bank; words of up to 8 digits (commas between), or longer bytes");
    CLI::Option* const buffer =
        command
            ->add_option("--buffer",
                         "FILE or zero:SIZE, then maybe :out=FILE: a buffer in global memory, its address an argument")
            ->expected(1)
            ->take_all();
    CLI::Option* const param =
        command->add_option("--param", "TYPE=VALUE: a scalar argument; u8 s8 u16 s16 u32 s32 u64 s64 f32 f64 or bytes")
            ->expected(1)
            ->take_all();
    command->add_option("--reg", options.registers, "R2=VALUE: what a register holds at first");
    command->add_option(
        "--in", options.attributes,
        "[N:|patch:]ADDRESS=VALUE[,VALUE...]: input attributes of a graphics program's vertices, or of vertex N, or of "
        "the patch; integers or floats");
    command->add_option("--shared", options.shared_bytes, "Bytes of shared memory on top of the kernel's own");
    command->add_option("--local", options.local_bytes, "Bytes of local memory of a thread");
    command->add_option("--print", options.print, "R2,P0,CC: values at the end of every warp");
    command->add_flag("--dump", options.dump, "Print all registers and predicates that are not 0, and the buffers");
    command->add_flag("--trace", options.trace, "Print every instruction with the values read and written");
    command->add_option("--lane", options.lane, "Trace and print only this lane")->check(CLI::Range(0, 31));
    command->add_flag("--step", options.step,
                      "Debug: step, next, continue, break, print, lanes, ... (help lists them)");
    command->add_flag("--json", options.json, "Print JSON");
    command->add_option("--step-limit", options.step_limit, "Instructions of a warp before it counts as endless")
        ->capture_default_str();
    command->callback([command, what, buffer, param, &options] {
        if (std::ranges::count_if(what, [](const CLI::Option* each) { return each->count() != 0; }) != 1)
            throw CLI::ValidationError(command->get_name(), "give one of FILE, --cubin, --raw, --hardware, --case");
        collect_arguments(*command, *buffer, *param, options);
    });
}

void add_trace(CLI::App& app, TraceOptions& options) {
    CLI::App* const command =
        app.add_subcommand("trace", "Print, filter and compare the calls that HEAVISIDE_TRACE=FILE wrote");
    command->add_option("file", options.file, "A trace; - is standard input")->required();
    CLI::Option* const compare = command->add_option(
        "--compare", options.compare, "Print what this trace has otherwise, thread by thread; exit code 1 if anything");
    command->add_option("--function", options.functions, "Only these functions; * stands for any characters")
        ->expected(1)
        ->take_all();
    command->add_option("--object", options.objects, "Only calls that name one of these, as in CommandBuffer#2")
        ->expected(1)
        ->take_all();
    command->add_option("--thread", options.thread, "Only this thread; 1 is the first that called")
        ->check(CLI::PositiveNumber);
    command->add_option("--frame", options.frames, "N, N-M, N- or -M: only these frames; each ends with its present");
    command->add_flag("--ignore-numbers", options.ignore_numbers, "Compare objects by type alone")->needs(compare);
    command->add_flag("--counts", options.counts, "Print how often each function was called")->excludes(compare);
    command->add_flag("--json", options.json, "Print JSON");
}

void add_formats(CLI::App& app, FormatsOptions& options) {
    CLI::App* const command =
        app.add_subcommand("formats", "List the NVN formats and what the current device makes of them");
    command->add_option("name", options.name, "Only this format, without NVN_FORMAT_");
    command->add_flag("--json", options.json, "Print JSON");
}

void add_texture(CLI::App& app, TextureOptions& options) {
    CLI::App* const command =
        app.add_subcommand("texture", "De-tile and decode a raw dump of a texture's storage, or tile texels");
    command->add_option("file", options.file, "The storage; with --tile a PNG or rows of texels; - is standard input")
        ->required();
    command->add_option("--format", options.format, "NVN's name without NVN_FORMAT_: RGBA8, BPTC_UNORM, ...")
        ->required();
    command->add_option("--size", options.size, "WxH or WxHxD; layers of arrays are the last number")->required();
    command->add_option("--target", options.target, "1d, 2d, 3d, 1d-array, 2d-array, cube, cube-array")
        ->check(CLI::IsMember({"1d", "2d", "3d", "1d-array", "2d-array", "cube", "cube-array"}));
    const CLI::IsMember gobs({1, 2, 4, 8, 16, 32});
    command->add_option("--block-height", options.block_height, "GOBs of a block upwards; default automatic")
        ->check(gobs);
    command->add_option("--block-depth", options.block_depth, "GOBs of a block in depth; default automatic")
        ->check(gobs);
    CLI::Option* const levels =
        command->add_option("--levels", options.levels, "Levels in the storage; without a number all there can be")
            ->expected(0, 1)
            ->default_str("0")
            ->check(CLI::Range(0, 16));
    CLI::Option* const sparse = command->add_flag("--sparse", options.sparse, "The layout of sparse textures");
    CLI::Option* const linear =
        command->add_flag("--linear", options.linear, "Rows instead of blocks")->excludes(sparse);
    command->add_option("--stride", options.stride, "Bytes from row to row of a linear texture")->needs(linear);
    command->add_flag("--switch2", options.switch2, "The other order of pieces inside a GOB");
    CLI::Option* const png = command->add_option(
        "--png", options.png, "Picture to write: slices and layers below each other; of several levels OUT.LEVEL.png");
    CLI::Option* const rows =
        command->add_option("--rows", options.rows, "Texels to write as they are, level by level");
    CLI::Option* const tile = command->add_flag("--tile", options.tile, "The way back: FILE is a picture or rows")
                                  ->excludes(png)
                                  ->excludes(rows);
    command->add_option("-o,--output", options.output, "Storage to write")->needs(tile);
    command->callback([command, levels, &options] {
        if (levels->count() == 0)
            options.levels = 1;
        if (options.tile ? options.output.empty() : options.png.empty() && options.rows.empty())
            throw CLI::ValidationError(command->get_name(),
                                       options.tile ? "--output is missing" : "give --png, --rows or --tile");
    });
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app{"Runs and studies software written for the NVN graphics API", "heaviside"};
    app.set_version_flag("--version", heaviside_version());
    app.require_subcommand(1);
    app.footer(footer);
    InfoOptions info;
    DisasmOptions disasm;
    AsmOptions assemble;
    TranslateOptions translate;
    add_info(app, info);
    add_disasm(app, disasm);
    add_asm(app, assemble);
    add_translate(app, translate);
    RunOptions run;
    add_run(app, run);
    FormatsOptions formats;
    add_formats(app, formats);
    TextureOptions texture;
    add_texture(app, texture);
    TraceOptions trace;
    add_trace(app, trace);
    if (argc == 1) {
        std::fputs(app.help().c_str(), stderr);
        return usage;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? success : usage;
    }
    if (app.got_subcommand("info"))
        return run_info(info);
    if (app.got_subcommand("disasm"))
        return run_disasm(disasm);
    if (app.got_subcommand("asm"))
        return run_asm(assemble);
    if (app.got_subcommand("run"))
        return run_run(run);
    if (app.got_subcommand("trace"))
        return run_trace(trace);
    if (app.got_subcommand("formats"))
        return run_formats(formats);
    if (app.got_subcommand("texture"))
        return run_texture(texture);
    return run_translate(translate);
}
