// heaviside run: kernels and shaders on the reference interpreter.
#include "archive/cubin.h"
#include "interpreter/stage.h"
#include "maxwell/assembler.h"
#include "program/program.h"
#include "tools/commands.h"
#include "tools/kernel_case.h"
#include "tools/kernel_launch.h"
#include "tools/run_hardware.h"
#include "tools/run_observer.h"
#include "tools/terminal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace heaviside::tools {
namespace {

using Json = nlohmann::json;

constexpr std::string_view command = "run";

// What went wrong and what the process says about it.
struct Failure {
    ExitCode code;
    std::string message;
};
template <class T>
using Attempt = tl::expected<T, Failure>;

template <class... Args>
tl::unexpected<Failure> give_up(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected(Failure{code, fmt::format(format, std::forward<Args>(args)...)});
}

// "5", "-1", "0x10". What does not fit, as the signed or the unsigned number of that many bits, is none.
bool parse_integer(std::string_view text, unsigned width, u64& value) {
    const bool negative = text.starts_with('-');
    if (negative)
        text.remove_prefix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    u64 magnitude = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
    value = negative ? ~magnitude + 1 : magnitude;
    const u64 largest = negative ? u64{1} << (width - 1) : ~u64{0} >> (64 - width);
    return error == std::errc{} && end == text.data() + text.size() && magnitude <= largest;
}
bool parse_integer(std::string_view text, u64& value) {
    return parse_integer(text, 64, value);
}
bool parse_integer(std::string_view text, u32& value) {
    u64 wide = 0;
    const bool parsed = parse_integer(text, 32, wide);
    value = static_cast<u32>(wide);
    return parsed;
}

// An integer or a float: floats by their point.
bool parse_word(const std::string& text, u32& value) {
    if (text.find('.') == std::string::npos)
        return parse_integer(text, value);
    char* end = nullptr;
    value = std::bit_cast<u32>(std::strtof(text.c_str(), &end));
    return end == text.c_str() + text.size();
}

Attempt<std::array<u32, 3>> parse_size(const std::string& text, const char* option) {
    std::array<u32, 3> size{1, 1, 1};
    std::size_t axis = 0;
    for (std::string_view rest = text;; ++axis) {
        const std::size_t comma = rest.find(',');
        if (axis == size.size() || !parse_integer(rest.substr(0, comma), size[axis]) || size[axis] == 0)
            return give_up(usage, "{} {}: give X[,Y[,Z]], each at least 1", option, text);
        if (comma == std::string_view::npos)
            return size;
        rest.remove_prefix(comma + 1);
    }
}

Attempt<std::vector<std::byte>> load(const std::string& path) {
    auto bytes = read_file(path);
    if (!bytes)
        return give_up(unavailable, "{}", bytes.error().message);
    return *std::move(bytes);
}

// Words of up to 8 digits with commas or blanks between them; a longer run of digits is bytes in order.
std::optional<std::vector<std::byte>> parse_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    const auto append = [&](u64 value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i)
            bytes.push_back(static_cast<std::byte>(value >> 8 * i));
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(", "), text.size());
        std::string_view digits = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (digits.starts_with("0x"))
            digits.remove_prefix(2);
        const std::size_t step = digits.size() <= 8 ? std::max<std::size_t>(digits.size(), 1) : 2;
        if (digits.size() > 8 && digits.size() % 2 != 0)
            return std::nullopt;
        for (std::size_t at = 0; at < std::max<std::size_t>(digits.size(), 1); at += step) {
            u64 value = 0;
            const char* const first = digits.data() + at;
            const auto [last, error] = std::from_chars(first, first + std::min(step, digits.size()), value, 16);
            if (error != std::errc{} || last != first + step)
                return std::nullopt;
            append(value, digits.size() <= 8 ? 4 : 1);
        }
    }
    return bytes;
}

struct OutputFile {
    std::size_t buffer;
    std::string path;
};

// Everything that a run needs, kept alive.
struct Setup {
    KernelLaunch launch;
    std::vector<std::byte> file; // what `launch.code` may be a view of
    std::vector<std::byte> code;
    std::vector<interpreter::RegisterValue> registers;
    std::vector<OutputFile> outputs;
    std::vector<std::size_t> argument_buffers;
    std::optional<maxwell::ShaderProgramHeader> header; // of a graphics program
    std::vector<Place> print;
};

Attempt<void> use_source(Setup& setup, const std::string& path) {
    const std::string_view text(reinterpret_cast<const char*>(setup.file.data()), setup.file.size());
    maxwell::AssembleOptions options;
    options.file = path;
    options.include = [&](std::string_view name) -> Result<std::string> {
        const auto bytes = read_file(std::filesystem::path(path).parent_path() / name);
        if (!bytes)
            return tl::unexpected(bytes.error());
        return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    };
    auto assembled = maxwell::assemble(text, options);
    if (!assembled)
        return give_up(failed, "{}", assembled.error().message);
    setup.code = std::move(assembled->code);
    setup.launch.code = setup.code;
    setup.launch.banks[1] = std::move(assembled->data);
    setup.launch.block = assembled->workgroup;
    setup.launch.shared_bytes = assembled->shared_bytes;
    setup.launch.local_bytes = assembled->local_bytes;
    if (assembled->stage != maxwell::Stage::None && assembled->stage != maxwell::Stage::Compute)
        setup.header = assembled->header;
    return {};
}

Attempt<void> use_cubin(Setup& setup, const std::string& path, const std::string& kernel) {
    auto image = archive::load_kernel(setup.file, kernel, setup.launch.next_address());
    if (!image)
        return give_up(failed, "{}: {}", path, image.error().message);
    setup.launch.use(*std::move(image));
    return {};
}

bool is_text(Bytes bytes) {
    return std::ranges::none_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Attempt<void> use_program(Setup& setup, const RunOptions& options) {
    const std::string& path = !options.cubin.empty() ? options.cubin
                              : !options.raw.empty() ? options.raw
                                                     : options.file;
    auto bytes = load(path);
    if (!bytes)
        return tl::unexpected(bytes.error());
    setup.file = *std::move(bytes);
    if (!options.raw.empty()) {
        setup.launch.code = setup.file;
        return {};
    }
    if (!options.cubin.empty() || archive::is_elf(setup.file))
        return use_cubin(setup, path, options.kernel);
    if (setup.file.empty())
        return give_up(failed, "{}: the file is empty", path);
    if (is_text(setup.file))
        return use_source(setup, path);
    const auto program = program::parse_code(setup.file);
    if (!program)
        return give_up(failed, "{}: {}", path, program.error().message);
    setup.launch.code = program->code;
    setup.launch.local_bytes = program->local_bytes;
    if (program->stage != program::Stage::Compute)
        setup.header = program->sph;
    return {};
}

Attempt<void> set_banks(Setup& setup, const std::vector<std::string>& banks) {
    for (const std::string& text : banks) {
        const std::size_t equals = text.find('=');
        u32 number = 0;
        if (equals == std::string::npos || !parse_integer(std::string_view(text).substr(0, equals), number) ||
            number >= interpreter::bank_count)
            return give_up(usage, "--bank {}: give N=FILE or N=HEX, N below {}", text, interpreter::bank_count);
        const std::string value = text.substr(equals + 1);
        if (std::error_code error; std::filesystem::exists(value, error)) {
            auto bytes = load(value);
            if (!bytes)
                return tl::unexpected(bytes.error());
            setup.launch.banks[number] = *std::move(bytes);
        } else if (auto bytes_of_text = parse_hex(value)) {
            setup.launch.banks[number] = *std::move(bytes_of_text);
        } else {
            return give_up(unavailable, "--bank {}: '{}' is no file, and not hexadecimal", text, value);
        }
    }
    return {};
}

// FILE or zero:SIZE, then maybe :out=FILE.
Attempt<std::size_t> add_buffer(Setup& setup, const std::string& text) {
    constexpr std::string_view zero = "zero:", out = ":out=";
    std::string source = text, output;
    if (const std::size_t at = text.find(out); at != std::string::npos) {
        output = text.substr(at + out.size());
        source = text.substr(0, at);
    }
    std::vector<std::byte> bytes;
    if (source.starts_with(zero)) {
        u64 size = 0;
        if (!parse_integer(std::string_view(source).substr(zero.size()), size) || size > u64{1} << 32)
            return give_up(usage, "--buffer {}: zero:SIZE takes a number of bytes", text);
        bytes.resize(size);
    } else {
        auto loaded = load(source);
        if (!loaded)
            return tl::unexpected(loaded.error());
        bytes = *std::move(loaded);
    }
    const std::size_t index = setup.launch.add_buffer(std::move(bytes));
    if (!output.empty())
        setup.outputs.push_back({index, output});
    setup.argument_buffers.push_back(index);
    return index;
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

// TYPE=VALUE.
std::optional<std::vector<std::byte>> parse_scalar(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
        return std::nullopt;
    const std::string type = text.substr(0, equals), value = text.substr(equals + 1);
    if (type == "bytes")
        return parse_hex(value);
    if (type == "f32" || type == "f64") {
        char* end = nullptr;
        const bool wide = type == "f64";
        auto bytes = wide ? bytes_of(std::strtod(value.c_str(), &end)) : bytes_of(std::strtof(value.c_str(), &end));
        return value.empty() || *end != 0 ? std::nullopt : std::optional(std::move(bytes));
    }
    u32 bits = 0;
    u64 number = 0;
    if (type.size() < 2 || (type[0] != 'u' && type[0] != 's') || !parse_integer(type.substr(1), bits) ||
        (bits != 8 && bits != 16 && bits != 32 && bits != 64) || !parse_integer(value, bits, number))
        return std::nullopt;
    auto bytes = bytes_of(number);
    bytes.resize(bits / 8);
    return bytes;
}

// The kernel says where its parameters lie; where it does not, each is aligned to its size.
Attempt<void> set_arguments(Setup& setup, const RunOptions& options,
                            std::span<const archive::KernelParameter> parameters) {
    u32 next = 0;
    for (std::size_t i = 0; i < options.arguments.size(); ++i) {
        const auto& argument = options.arguments[i];
        std::vector<std::byte> value;
        if (argument.is_buffer) {
            const auto index = add_buffer(setup, argument.text);
            if (!index)
                return tl::unexpected(index.error());
            value = bytes_of(setup.launch.address(*index));
        } else if (auto scalar = parse_scalar(argument.text); scalar && !scalar->empty()) {
            value = *std::move(scalar);
        } else {
            return give_up(
                usage, "--param {}: give TYPE=VALUE, TYPE one of u8 s8 ... u64 s64 f32 f64 bytes, a VALUE that fits",
                argument.text);
        }
        const auto size = static_cast<u32>(value.size());
        u32 offset = align_up(next, std::min(std::bit_ceil(size), 8u));
        if (i < parameters.size()) {
            offset = parameters[i].offset;
            if (parameters[i].size != size)
                return give_up(usage, "argument {} ({}) has {} bytes, the kernel's parameter {}", i, argument.text,
                               size, parameters[i].size);
        } else if (!parameters.empty()) {
            return give_up(usage, "{} arguments for {} parameters", options.arguments.size(), parameters.size());
        }
        if (offset + size > 4096)
            return give_up(usage, "arguments of more than 4096 bytes");
        setup.launch.set_parameter(offset, value);
        next = offset + size;
    }
    if (!options.arguments.empty() && options.arguments.size() < parameters.size())
        return give_up(usage, "{} arguments for {} parameters", options.arguments.size(), parameters.size());
    return {};
}

Attempt<void> set_registers(Setup& setup, const RunOptions& options) {
    for (const std::string& text : options.registers) {
        const std::size_t equals = text.find('=');
        const auto place = parse_place(text.substr(0, equals));
        u32 value = 0;
        if (equals == std::string::npos || !place || place->kind != Place::Register ||
            !parse_word(text.substr(equals + 1), value))
            return give_up(usage, "--reg {}: give R0 to R254 = VALUE", text);
        setup.registers.push_back({place->index, value});
    }
    for (std::string_view rest = options.print; !rest.empty();) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const auto place = parse_place(rest.substr(0, comma));
        if (!place)
            return give_up(usage, "--print {}: '{}' is no register, predicate or CC", options.print,
                           rest.substr(0, comma));
        setup.print.push_back(*place);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return {};
}

// Values at the end of every warp.
class FinalState : public interpreter::Observer {
public:
    FinalState(const RunOptions& options, const Setup& setup) : options_(options), print_(setup.print) {}
    bool before(const interpreter::Warp&, const interpreter::Instruction&, u32) override { return true; }
    void after(const interpreter::Warp&, const interpreter::Instruction&, u32) override {}
    void done(const interpreter::Warp& warp) override {
        const u32 lanes = options_.lane < 0 ? warp.exited : warp.exited & 1u << options_.lane;
        std::vector<Place> places = print_;
        if (options_.dump)
            add_all(warp, lanes, places);
        if (places.empty() || lanes == 0)
            return;
        const auto& id = warp.workgroup->id;
        if (options_.json) {
            Json values = Json::object();
            for (const Place& place : places) {
                Json each = Json::object();
                interpreter::for_lanes(lanes,
                                       [&](unsigned lane) { each[std::to_string(lane)] = place.value(warp, lane); });
                values[place.name()] = std::move(each);
            }
            warps.push_back({{"workgroup", {id[0], id[1], id[2]}},
                             {"warp", warp.first_thread / interpreter::warp_size},
                             {"values", std::move(values)}});
            return;
        }
        for (const Place& place : places)
            std::fputs(fmt::format("{},{},{}/{} {}\n", id[0], id[1], id[2], warp.first_thread / interpreter::warp_size,
                                   describe(warp, place, lanes))
                           .c_str(),
                       stdout);
    }
    Json warps = Json::array();

private:
    static void add_all(const interpreter::Warp& warp, u32 lanes, std::vector<Place>& places) {
        const auto add_if_set = [&](const Place& place) {
            bool set = false;
            interpreter::for_lanes(lanes, [&](unsigned lane) { set = set || place.value(warp, lane) != 0; });
            if (set && std::ranges::find(places, place) == places.end())
                places.push_back(place);
        };
        for (u8 i = 0; i < maxwell::zero_register; ++i)
            add_if_set({Place::Register, i});
        for (u8 i = 0; i < maxwell::true_predicate; ++i)
            add_if_set({Place::Predicate, i});
        add_if_set({Place::ConditionCode, 0});
    }
    const RunOptions& options_;
    const std::vector<Place>& print_;
};

void dump_buffer(std::size_t number, u64 address, Bytes bytes) {
    std::string text = fmt::format("buffer {} at {:#x}, {} bytes\n", number, address, bytes.size());
    constexpr std::size_t row = 32;
    for (std::size_t at = 0; at < bytes.size(); at += row) {
        text += fmt::format("  {:06x} ", at);
        for (std::size_t i = at; i < std::min(at + row, bytes.size()); ++i)
            text += fmt::format("{}{:02x}", i % 4 == 0 ? " " : "", static_cast<unsigned>(bytes[i]));
        text += '\n';
    }
    std::fputs(text.c_str(), stdout);
}

std::string hex_text(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

struct StageInputs {
    std::vector<interpreter::Attributes> vertices;
    interpreter::Attributes patch;
};

// [WHOM:]ADDRESS=VALUE[,VALUE...], WHOM a vertex' number or `patch`; without it all of `count` or more vertices.
Attempt<StageInputs> parse_attributes(const std::vector<std::string>& texts, std::size_t count) {
    constexpr u32 most_vertices = 32, all = most_vertices, patch = all + 1;
    struct Given {
        u32 whom = all, address = 0;
        std::vector<u32> words;
    };
    std::vector<Given> given;
    for (const std::string& text : texts) {
        Given each;
        const std::size_t equals = text.find('=');
        std::string_view place = std::string_view(text).substr(0, equals);
        const std::size_t colon = place.find(':');
        bool good = equals != std::string::npos;
        if (good && colon != std::string_view::npos) {
            const std::string_view whom = place.substr(0, colon);
            good = whom == "patch" || (parse_integer(whom, each.whom) && each.whom < most_vertices);
            if (whom == "patch")
                each.whom = patch;
            else if (good)
                count = std::max<std::size_t>(count, each.whom + 1);
            place.remove_prefix(colon + 1);
        }
        if (!good || !parse_integer(place, each.address))
            return give_up(usage, "--in {}: give [N:|patch:]ADDRESS=VALUE[,VALUE...], N below {}", text, most_vertices);
        for (std::string_view rest = std::string_view(text).substr(equals + 1); !rest.empty();) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            if (!parse_word(std::string(rest.substr(0, comma)), each.words.emplace_back()) ||
                each.address + 4 * each.words.size() > 0x400)
                return give_up(usage, "--in {}: values are integers or floats, addresses below 0x400", text);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
        given.push_back(std::move(each));
    }
    StageInputs inputs;
    inputs.vertices.resize(count);
    for (const Given& each : given)
        for (u32 i = 0; i < each.words.size(); ++i)
            for (u32 vertex = 0; vertex <= count; ++vertex)
                if (vertex == count ? each.whom == patch : each.whom == all || each.whom == vertex)
                    (vertex == count ? inputs.patch : inputs.vertices[vertex]).set(each.address + 4 * i, each.words[i]);
    return inputs;
}

// Runs a graphics program for one primitive, patch or quad with the given attributes; prints what leaves it.
Attempt<Json> run_stage(const Setup& setup, const RunOptions& options, interpreter::Launch launch) {
    using maxwell::ShaderType;
    const ShaderType type = setup.header->type;
    const bool alone = type == ShaderType::Vertex || type == ShaderType::VertexA || type == ShaderType::Pixel;
    const auto inputs = parse_attributes(options.attributes, alone ? 1 : 3);
    if (!inputs)
        return tl::unexpected(inputs.error());
    interpreter::StageProgram program{launch, *setup.header, {}};
    Json result = Json::object();
    const auto show = [&](const std::string& name, const std::vector<u32>& words) {
        if (options.json) {
            result[name] = words;
            return;
        }
        std::string text = name;
        for (const u32 word : words)
            text += fmt::format(" {:08x} ({:g})", word, std::bit_cast<f32>(word));
        std::puts(text.c_str());
    };
    if (type == ShaderType::Pixel) {
        interpreter::PixelInputs planes;
        for (std::size_t i = 0; i < planes.planes.size(); ++i)
            planes.planes[i] = {static_cast<f64>(std::bit_cast<f32>(inputs->vertices[0].words[i])), 0, 0,
                                inputs->vertices[0].words[i]};
        interpreter::Quad quad;
        quad.inputs = &planes;
        for (u32 i = 0; i < 4; ++i) {
            quad.pixels[i].x = i & 1;
            quad.pixels[i].y = i >> 1;
        }
        const auto pixels = interpreter::run_pixels(program, {&quad, 1});
        if (!pixels)
            return give_up(failed, "{}", pixels.error().message);
        for (std::size_t i = 0; i < pixels->size(); ++i) {
            const auto& pixel = (*pixels)[i];
            if (pixel.killed) {
                show(fmt::format("pixel {} killed", i), {});
                continue;
            }
            for (std::size_t target = 0; target < pixel.targets.size(); ++target)
                if ((setup.header->target_mask >> 4 * target & 0xf) != 0)
                    show(fmt::format("pixel {} target {}", i, target),
                         {pixel.targets[target].begin(), pixel.targets[target].end()});
            if (pixel.sample_mask)
                show(fmt::format("pixel {} sample mask", i), {*pixel.sample_mask});
            if (pixel.depth)
                show(fmt::format("pixel {} depth", i), {std::bit_cast<u32>(*pixel.depth)});
        }
        return result;
    }
    const auto show_vertex = [&](const std::string& name, const interpreter::Attributes& vertex) {
        for (u32 address = 0; address < 0x400; address += 16)
            if (const auto* const first = vertex.words.data() + address / 4;
                setup.header->outputs.components[address >> 4] != 0)
                show(fmt::format("{}a[{:#x}]", name, address), {first, first + 4});
    };
    const auto show_vertices = [&](const std::string& name, const std::vector<interpreter::Attributes>& vertices) {
        for (std::size_t i = 0; i < vertices.size(); ++i)
            show_vertex(vertices.size() == 1 ? std::string() : fmt::format("{} {} ", name, i), vertices[i]);
    };
    if (type == ShaderType::Geometry) {
        const auto invocations =
            interpreter::run_geometry(program, inputs->vertices, static_cast<u32>(inputs->vertices.size()));
        if (!invocations)
            return give_up(failed, "{}", invocations.error().message);
        for (std::size_t i = 0; i < invocations->size(); ++i)
            for (std::size_t k = 0; k < (*invocations)[i].size(); ++k) {
                const interpreter::EmittedVertex& vertex = (*invocations)[i][k];
                const std::string name = fmt::format("invocation {} stream {} vertex {} ", i, vertex.stream, k);
                show_vertex(name, vertex.attributes);
                if (vertex.ends_primitive)
                    show(name + "ends its primitive", {});
            }
    } else if (type == ShaderType::TessControl) {
        const auto patch = interpreter::run_tess_control(program, inputs->vertices);
        if (!patch)
            return give_up(failed, "{}", patch.error().message);
        show_vertices("point", patch->points);
        for (u32 address = 0; address < 0x400; address += 16) {
            const auto* const first = patch->words.words.data() + address / 4;
            if (std::any_of(first, first + 4, [](u32 word) { return word != 0; }))
                show(fmt::format("patch a[{:#x}]", address), {first, first + 4});
        }
    } else {
        constexpr u32 tess_coord = 0x2f0;
        const interpreter::TessPoint point{inputs->vertices[0].number(tess_coord),
                                           inputs->vertices[0].number(tess_coord + 4)};
        const auto vertices = type == ShaderType::TessEval
                                  ? interpreter::run_tess_eval(program, {inputs->vertices, inputs->patch}, {&point, 1})
                                  : interpreter::run_vertices(program, inputs->vertices);
        if (!vertices)
            return give_up(failed, "{}", vertices.error().message);
        show_vertices("vertex", *vertices);
    }
    return result;
}

Attempt<void> write_outputs(const Setup& setup) {
    for (const OutputFile& output : setup.outputs) {
        const Bytes bytes = setup.launch.contents(output.buffer);
        const auto written = write_file(output.path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        if (!written)
            return give_up(unavailable, "{}", written.error().message);
    }
    return {};
}

Attempt<void> run_program(const RunOptions& options) {
    Setup setup;
    if (auto used = use_program(setup, options); !used)
        return used;
    std::vector<archive::KernelParameter> parameters;
    if (archive::is_elf(setup.file))
        if (const auto image = archive::load_kernel(setup.file, options.kernel, 0))
            parameters = image->parameters;
    if (!options.attributes.empty() && !setup.header)
        return give_up(usage, "--in: a kernel has no attributes");
    if (auto done = set_banks(setup, options.banks); !done)
        return done;
    if (auto done = set_arguments(setup, options, parameters); !done)
        return done;
    if (auto done = set_registers(setup, options); !done)
        return done;
    const auto grid = parse_size(options.grid, "--grid");
    if (!grid)
        return tl::unexpected(grid.error());
    setup.launch.grid = *grid;
    if (!options.block.empty()) {
        const auto block = parse_size(options.block, "--block");
        if (!block)
            return tl::unexpected(block.error());
        setup.launch.block = *block;
    }
    setup.launch.shared_bytes += options.shared_bytes;
    if (options.local_bytes != 0)
        setup.launch.local_bytes = options.local_bytes;
    interpreter::Launch launch = setup.launch.prepare();
    launch.step_limit = options.step_limit;
    launch.registers = setup.registers;
    Observers observers;
    Tracer tracer(options.lane < 0 ? std::nullopt : std::optional(static_cast<unsigned>(options.lane)), options.json);
    Debugger debugger(launch.code);
    FinalState final_state(options, setup);
    if (options.trace)
        observers.add(tracer);
    if (options.step)
        observers.add(debugger);
    if (!setup.print.empty() || options.dump)
        observers.add(final_state);
    if (!observers.empty())
        launch.observer = &observers;
    Json attributes = Json::object();
    if (setup.header) {
        auto outputs = run_stage(setup, options, launch);
        if (!outputs && !debugger.quitted())
            return tl::unexpected(outputs.error());
        if (outputs)
            attributes = *std::move(outputs);
    } else if (const auto ran = interpreter::run(launch); !ran && !debugger.quitted()) {
        return give_up(failed, "{}", ran.error().message);
    }
    if (auto written = write_outputs(setup); !written)
        return written;
    if (options.json) {
        Json buffers = Json::array();
        for (const std::size_t index : setup.argument_buffers) {
            const Bytes bytes = setup.launch.contents(index);
            buffers.push_back({{"address", setup.launch.address(index)}, {"size", bytes.size()}});
            if (options.dump)
                buffers.back()["bytes"] = hex_text(bytes);
        }
        Json result{{"warps", std::move(final_state.warps)}, {"buffers", std::move(buffers)}};
        if (setup.header)
            result["outputs"] = std::move(attributes);
        std::puts(result.dump().c_str());
    } else if (options.dump) {
        for (std::size_t i = 0; i < setup.argument_buffers.size(); ++i)
            dump_buffer(i, setup.launch.address(setup.argument_buffers[i]),
                        setup.launch.contents(setup.argument_buffers[i]));
    }
    return {};
}

// Both kinds of checks end in the same summary.
int summarize(std::size_t passed, std::size_t all, Json results, bool json) {
    if (json)
        std::puts(Json{{"passed", passed}, {"failed", all - passed}, {"results", std::move(results)}}.dump().c_str());
    else
        std::puts(fmt::format("{} passed, {} failed", passed, all - passed).c_str());
    return passed == all ? success : failed;
}

int run_hardware(const RunOptions& options) {
    const auto bytes = read_file(options.hardware);
    if (!bytes) {
        report_error(command, bytes.error().message);
        return unavailable;
    }
    const auto results = run_hardware_table({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    std::size_t passed = 0;
    Json list = Json::array();
    for (const HardwareResult& result : results) {
        passed += result.passed;
        if (options.json)
            list.push_back({{"line", result.line}, {"passed", result.passed}, {"difference", result.difference}});
        else if (result.passed)
            std::puts(fmt::format("pass line {}: {}", result.line, result.text).c_str());
        else
            std::puts(fmt::format("FAIL line {}: {}: {}", result.line, result.text, result.difference).c_str());
    }
    return summarize(passed, results.size(), std::move(list), options.json);
}

int run_cases(const RunOptions& options) {
    std::size_t passed = 0, all = 0;
    Json list = Json::array();
    int worst = success;
    for (const std::string& folder : options.cases) {
        const auto results = run_case(folder, options.step_limit);
        if (!results) {
            std::error_code error;
            const bool there = std::filesystem::exists(std::filesystem::path(folder) / "case.json", error);
            report_error(command, results.error().message);
            worst = std::max<int>(worst, there ? failed : unavailable);
            continue;
        }
        for (const VariantResult& result : *results) {
            ++all;
            passed += result.passed;
            if (options.json)
                list.push_back({{"case", folder},
                                {"variant", result.variant},
                                {"passed", result.passed},
                                {"difference", result.difference}});
            else if (result.passed)
                std::puts(fmt::format("pass {} {}", folder, result.variant).c_str());
            else
                std::puts(fmt::format("FAIL {} {}: {}", folder, result.variant, result.difference).c_str());
        }
    }
    return std::max(worst, summarize(passed, all, std::move(list), options.json));
}

} // namespace

int run_run(const RunOptions& options) {
    if (!options.hardware.empty())
        return run_hardware(options);
    if (!options.cases.empty())
        return run_cases(options);
    const auto done = run_program(options);
    if (done)
        return success;
    std::fflush(stdout);
    report_error(command, done.error().message);
    return done.error().code;
}

} // namespace heaviside::tools
