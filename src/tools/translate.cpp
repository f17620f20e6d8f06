// heaviside translate: programs, one or whole folders, as SPIR-V, GLSL, MSL, IR or reflection.
#include "program/program.h"
#include "shader/cross.h"
#include "shader/interface.h"
#include "shader/ir_text.h"
#include "tools/commands.h"
#include "tools/terminal.h"
#include "tools/translate_input.h"

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

// One input file, which may hold several programs.
struct Job {
    fs::path input, control; // control may be empty
    fs::path output;         // of one program: the file; of several: the folder for them; empty: standard output
    std::size_t programs = 0;
    struct Failure {
        std::string where, why;
    };
    std::vector<Failure> failures; // of programs, or of the file itself
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

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

// Where a program of several goes: "cubin-file/kernel.spv".
fs::path output_of(const Job& job, const std::string& name, const std::string& form) {
    if (job.output.empty() || name.empty())
        return job.output;
    fs::path folder = job.output;
    if (folder.extension() == extension(form))
        folder.replace_extension();
    std::string file = name; // names are the file's: no path may come of them
    std::ranges::replace(file, '/', '_');
    return folder / (file + std::string(extension(form)));
}

Result<void> write_text(const fs::path& path, std::string_view text) {
    if (path.has_parent_path()) {
        std::error_code ignored; // writing reports it
        fs::create_directories(path.parent_path(), ignored);
    }
    return write_file(path, text);
}

void run(Job& job, const TranslateOptions& options) {
    const std::string& form = options.to;
    const std::string label = job.input.string();
    const auto file = read_programs(job.input, job.control);
    if (!file) {
        job.programs = 1;
        job.failures.push_back({label, file.error().message});
        return;
    }
    job.programs = file->programs.size();
    const bool several = job.programs > 1, to_screen = job.output.empty() || job.output == "-";
    if (several && to_screen && form == "spirv") {
        for (const NamedProgram& each : file->programs)
            job.failures.push_back(
                {label + ": " + each.name, "SPIR-V of several programs needs an output folder: -o DIR"});
        return;
    }
    for (const NamedProgram& each : file->programs) {
        const auto fault = [&](const Error& error) {
            job.failures.push_back({several ? label + ": " + each.name : label, first_line(error.message)});
        };
        if (!each.program) {
            fault(each.program.error());
            continue;
        }
        program::Program program = *each.program;
        if (program.layout == &program::kernel_layout)
            std::ranges::copy(options.block, program.workgroup_size.begin());
        const auto text = translate_to(form, program);
        if (!text) {
            fault(text.error());
            continue;
        }
        if (several && to_screen && form != "json")
            fmt::print("// {}\n", each.name);
        if (const auto written = write_text(output_of(job, each.name, form), *text); !written)
            fault(written.error());
    }
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
        if (std::error_code ignored; entry->is_regular_file(ignored) &&
                                     (entry->path().string().ends_with(gpu_suffix) || is_container(entry->path())))
            found.push_back(entry->path());
    if (error)
        return fail("{}: {}", folder.string(), error.message());
    std::sort(found.begin(), found.end());
    return found;
}

// A program in a folder keeps its path below that folder: "out/case/frag.spv".
fs::path output_in(const fs::path& folder, const fs::path& input, const fs::path& root, const std::string& form) {
    std::string name = input.lexically_relative(root).string();
    if (name.ends_with(gpu_suffix))
        name.resize(name.size() - gpu_suffix.size());
    return folder / (name + std::string(extension(form)));
}

Result<std::vector<Job>> plan(const TranslateOptions& options) {
    std::vector<Job> jobs;
    std::error_code error;
    const bool several = options.inputs.size() > 1 || fs::is_directory(options.inputs.front(), error);
    const auto control_of = [&](const fs::path& input) {
        return options.control.empty() ? control_beside(input) : fs::path(options.control);
    };
    const auto add = [&](const fs::path& input, const fs::path& output) {
        Job& job = jobs.emplace_back();
        job.input = input;
        job.control = control_of(input);
        job.output = output;
    };
    if (several && !options.control.empty())
        return fail("--control goes with a single input; folders hold NAME{} beside NAME{}", control_suffix,
                    gpu_suffix);
    if (!several) {
        add(options.inputs.front(), options.output);
        return jobs;
    }
    for (const std::string& input : options.inputs) {
        const bool folder = fs::is_directory(input, error);
        const auto programs = folder ? programs_in(input) : Result<std::vector<fs::path>>(std::vector<fs::path>{input});
        if (!programs)
            return tl::unexpected(programs.error());
        const fs::path root = folder ? fs::path(input) : fs::path(input).parent_path();
        for (const fs::path& path : *programs)
            add(path, options.output.empty() ? fs::path{} : output_in(options.output, path, root, options.to));
    }
    if (jobs.empty())
        return fail("no NAME{} and no shader container in {}", gpu_suffix, options.inputs.front());
    if (options.output.empty() && options.to == "spirv" && jobs.size() > 1)
        return fail("SPIR-V of {} files needs an output folder: -o DIR", jobs.size());
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
            run(jobs[i], options);
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

// What is wrong, without the numbers in which equal faults differ.
std::string reason_of(std::string_view why) {
    std::string reason;
    for (std::size_t i = 0; i < why.size(); ++i) {
        if (why.compare(i, 2, "0x") == 0) {
            reason += '#';
            i = std::min(why.find_first_not_of("0123456789abcdef", i + 2), why.size()) - 1;
        } else {
            reason += why[i];
        }
    }
    return reason;
}

// Failures by reason, most frequent first.
void print_summary(const std::vector<Job>& jobs) {
    std::map<std::string, std::size_t> reasons;
    std::size_t programs = 0, failures = 0;
    for (const Job& job : jobs) {
        programs += job.programs;
        failures += job.failures.size();
        for (const Job::Failure& failure : job.failures)
            ++reasons[reason_of(failure.why)];
    }
    fmt::print(stderr, "{} of {} programs translated\n", programs - failures, programs);
    std::vector<std::pair<std::size_t, std::string>> order;
    order.reserve(reasons.size());
    for (const auto& [reason, count] : reasons)
        order.emplace_back(count, reason);
    std::ranges::sort(order, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (!order.empty())
        fmt::print(stderr, " count  reason\n");
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
        for (const fs::path& path : {job.input, job.control})
            if (!path.empty() && path != "-" && !fs::exists(path, error)) {
                report_error(command, fmt::format("{}: no such file", path.string()));
                return unavailable;
            }
    }
    run_all(*jobs, options);
    bool ok = true;
    for (const Job& job : *jobs)
        for (const Job::Failure& failure : job.failures) {
            ok = false;
            report_error(command, fmt::format("{}: {}", failure.where, failure.why));
        }
    if ((jobs->size() > 1 || jobs->front().programs > 1) && !options.quiet)
        print_summary(*jobs);
    return ok ? success : failed;
}

} // namespace heaviside::tools
