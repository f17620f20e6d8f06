// heaviside: the command line.
#include "tools/commands.h"

#include <heaviside/heaviside.h>

#include <CLI/CLI.hpp>

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
    command->add_option("inputs", options.inputs, "GPU code areas, or folders of *.gpu.bin with *.ctrl.bin beside them")
        ->required();
    command->add_option("--control", options.control, "Control section of a single input");
    command->add_option("--to", options.to, "spirv, glsl, msl, ir or json")
        ->check(CLI::IsMember({"spirv", "glsl", "msl", "ir", "json"}))
        ->capture_default_str();
    command->add_option("-o,--output", options.output, "File, or folder for several inputs; default standard output");
    command->add_option("-j,--jobs", options.jobs, "Threads; 0 takes as many as there are cores");
    command->add_flag("-q,--quiet", options.quiet, "No progress, no summary");
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
    return run_translate(translate);
}
