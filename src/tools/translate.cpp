// heaviside translate: programs, one or whole folders, as SPIR-V, GLSL, MSL, IR or reflection.
#include "archive/dksh.h"
#include "program/program.h"
#include "shader/cross.h"
#include "shader/interface.h"
#include "shader/ir_text.h"
#include "tools/commands.h"
#include "tools/terminal.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

namespace heaviside::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view command = "translate";
constexpr std::string_view gpu_suffix = ".gpu.bin", control_suffix = ".ctrl.bin";

struct Job {
    fs::path gpu, control; // control may be empty: the stage is then read from the program's header
    fs::path output;       // empty: standard output
    std::string error;
};

std::string_view extension(const std::string& form) {
    if (form == "spirv")
        return ".spv";
    if (form == "glsl")
        return ".glsl";
    if (form == "msl")
        return ".metal";
    return form == "ir" ? ".ir" : ".json";
}

Result<std::string> translate_to(const std::string& form, const program::Program& program) {
    const shader::Options options{.validate = true};
    if (form == "ir") {
        const auto ir = shader::lift_and_optimise(program, options);
        if (!ir)
            return tl::unexpected(ir.error());
        return shader::ir::print(*ir);
    }
    const auto translation = shader::translate(program, {}, options);
    if (!translation)
        return tl::unexpected(translation.error());
    if (form == "json")
        return shader::reflection_json(translation->reflection) + "\n";
    if (form == "glsl")
        return shader::to_glsl(translation->spirv);
    if (form == "msl")
        return shader::to_msl(translation->spirv);
    return std::string(reinterpret_cast<const char*>(translation->spirv.data()), translation->spirv.size() * 4);
}

// A program without its control section: bare, or the only one of a DKSH.
Result<program::Program> parse_alone(Bytes bytes) {
    if (!archive::is_dksh(bytes))
        return program::parse_code(bytes);
    auto programs = archive::parse_dksh(bytes);
    if (!programs)
        return tl::unexpected(programs.error());
    if (programs->size() != 1)
        return fail("a DKSH of {} programs; only those of one can be translated", programs->size());
    return std::move(programs->front().program);
}

Result<void> run(const Job& job, const std::string& form) {
    const auto gpu = read_file(job.gpu);
    if (!gpu)
        return tl::unexpected(gpu.error());
    Result<program::Program> program;
    std::vector<std::byte> control;
    if (job.control.empty()) {
        program = parse_alone(*gpu);
    } else {
        auto bytes = read_file(job.control);
        if (!bytes)
            return tl::unexpected(bytes.error());
        control = *std::move(bytes);
        program = program::parse(control, *gpu);
    }
    if (!program)
        return tl::unexpected(program.error());
    const auto text = translate_to(form, *program);
    if (!text)
        return tl::unexpected(text.error());
    return write_file(job.output, *text);
}

// "FOLDER/frag.gpu.bin" has its control section in "FOLDER/frag.ctrl.bin".
fs::path control_beside(const fs::path& gpu) {
    const std::string name = gpu.string();
    if (!name.ends_with(gpu_suffix))
        return {};
    const fs::path control = name.substr(0, name.size() - gpu_suffix.size()) + std::string(control_suffix);
    std::error_code error;
    return fs::exists(control, error) ? control : fs::path{};
}

Result<std::vector<fs::path>> programs_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().string().ends_with(gpu_suffix))
            found.push_back(entry->path());
    if (error)
        return fail("{}: {}", folder.string(), error.message());
    std::sort(found.begin(), found.end());
    return found;
}

// A program in a folder keeps its path below that folder: "out/case/frag.spv".
fs::path output_in(const fs::path& folder, const fs::path& gpu, const fs::path& root, const std::string& form) {
    std::string name = fs::relative(gpu, root).string();
    if (name.ends_with(gpu_suffix))
        name.resize(name.size() - gpu_suffix.size());
    return folder / (name + std::string(extension(form)));
}

Result<std::vector<Job>> plan(const TranslateOptions& options) {
    std::vector<Job> jobs;
    std::error_code error;
    const bool several = options.inputs.size() > 1 || fs::is_directory(options.inputs.front(), error);
    if (several && !options.control.empty())
        return fail("--control goes with a single input; folders hold NAME{} beside NAME{}", control_suffix,
                    gpu_suffix);
    if (!several) {
        const fs::path input = options.inputs.front();
        return std::vector<Job>{
            {input, options.control.empty() ? control_beside(input) : fs::path(options.control), options.output, {}}};
    }
    for (const std::string& input : options.inputs) {
        const bool folder = fs::is_directory(input, error);
        const auto programs = folder ? programs_in(input) : Result<std::vector<fs::path>>(std::vector<fs::path>{input});
        if (!programs)
            return tl::unexpected(programs.error());
        const fs::path root = folder ? fs::path(input) : fs::path(input).parent_path();
        for (const fs::path& gpu : *programs)
            jobs.push_back({gpu,
                            control_beside(gpu),
                            options.output.empty() ? fs::path{} : output_in(options.output, gpu, root, options.to),
                            {}});
    }
    if (jobs.empty())
        return fail("no NAME{} in {}", gpu_suffix, options.inputs.front());
    if (options.output.empty() && options.to == "spirv" && jobs.size() > 1)
        return fail("SPIR-V of {} programs needs an output folder: -o DIR", jobs.size());
    return jobs;
}

void run_all(std::vector<Job>& jobs, const TranslateOptions& options) {
    unsigned threads = options.jobs ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    threads = static_cast<unsigned>(std::min<std::size_t>(threads, jobs.size()));
    if (options.output.empty())
        threads = 1; // standard output in the inputs' order
    Progress progress("translating", jobs.size(), options.quiet);
    std::atomic<std::size_t> next = 0, done = 0;
    std::mutex screen;
    const auto work = [&] {
        for (std::size_t i = next++; i < jobs.size(); i = next++) {
            if (jobs[i].output != options.output) { // in a folder, which -o may name before it exists
                std::error_code ignored;            // writing reports it
                fs::create_directories(jobs[i].output.parent_path(), ignored);
            }
            if (const auto result = run(jobs[i], options.to); !result)
                jobs[i].error = result.error().message;
            const std::size_t count = ++done;
            std::lock_guard lock(screen);
            progress.advance(count);
        }
    };
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < threads; ++i)
        pool.emplace_back(work);
    work();
    for (std::thread& thread : pool)
        thread.join();
}

// Failures by reason, most frequent first: addresses and numbers are left out, so that equal faults count as one.
void print_summary(const std::vector<Job>& jobs) {
    std::map<std::string, std::size_t> reasons;
    std::size_t failures = 0;
    for (const Job& job : jobs) {
        if (job.error.empty())
            continue;
        ++failures;
        std::string reason;
        for (std::size_t i = 0; i < job.error.size(); ++i) {
            if (job.error.compare(i, 2, "0x") == 0) {
                reason += '#';
                i = std::min(job.error.find_first_not_of("0123456789abcdef", i + 2), job.error.size()) - 1;
            } else {
                reason += job.error[i];
            }
        }
        ++reasons[reason];
    }
    fmt::print(stderr, "{} of {} programs translated\n", jobs.size() - failures, jobs.size());
    std::vector<std::pair<std::size_t, std::string>> order;
    order.reserve(reasons.size());
    for (const auto& [reason, count] : reasons)
        order.emplace_back(count, reason);
    std::sort(order.rbegin(), order.rend());
    for (const auto& [count, reason] : order)
        fmt::print(stderr, "{:6}  {}\n", count, reason);
}

} // namespace

int run_translate(const TranslateOptions& options) {
    auto jobs = plan(options);
    if (!jobs) {
        report_error(command, jobs.error().message);
        return usage;
    }
    for (const Job& job : *jobs) {
        std::error_code error;
        if (job.gpu != "-" && !fs::exists(job.gpu, error)) {
            report_error(command, fmt::format("{}: no such file", job.gpu.string()));
            return unavailable;
        }
    }
    run_all(*jobs, options);
    bool ok = true;
    for (const Job& job : *jobs)
        if (!job.error.empty()) {
            ok = false;
            report_error(command, fmt::format("{}: {}", job.gpu.string(), job.error));
        }
    if (jobs->size() > 1 && !options.quiet)
        print_summary(*jobs);
    return ok ? success : failed;
}

} // namespace heaviside::tools
