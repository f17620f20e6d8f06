// Whole programs: lines, labels, directives, bundles.
#include "maxwell/assembler.h"

#include "base/bytes.h"
#include "maxwell/program_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

namespace heaviside::maxwell {
namespace {

constexpr unsigned include_depth_limit = 16;
constexpr std::size_t data_limit = 1 << 20, instruction_limit = 1 << 20;

u32 address_of_slot(std::size_t slot) {
    return static_cast<u32>(slot / 3 * bundle_size + 8 + slot % 3 * 8);
}
// Branches to the first instruction of a bundle go to its control word, as the vendor's do.
u32 target_of_slot(std::size_t slot) {
    return slot % 3 == 0 ? static_cast<u32>(slot / 3 * bundle_size) : address_of_slot(slot);
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}
bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// A position in the source, for errors.
struct Place {
    std::size_t file = 0;
    u32 line = 0, column = 0;
};

struct Statement {
    std::string text;
    Place place;
    std::optional<Control> control;
};

// Splits one line into words at blanks and commas; remembers where.
class Words {
public:
    explicit Words(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

    [[nodiscard]] std::string_view next() {
        while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == ','))
            ++at_;
        begin_ = at_;
        if (at_ < text_.size() && text_[at_] == '"') {
            const auto end = text_.find('"', at_ + 1);
            at_ = end == text_.npos ? text_.size() : end + 1;
        } else {
            while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',')
                ++at_;
        }
        return text_.substr(begin_, at_ - begin_);
    }
    [[nodiscard]] std::size_t column() const { return offset_ + begin_; }
    [[nodiscard]] bool done() {
        const auto at = at_;
        const bool empty = next().empty();
        at_ = at;
        return empty;
    }

private:
    std::string_view text_;
    std::size_t offset_, at_ = 0, begin_ = 0;
};

class Assembler {
public:
    explicit Assembler(const AssembleOptions& options) : options_(options) {}

    Result<Program> run(std::string_view source) {
        files_.push_back(options_.file);
        read(source, 0, 0);
        if (!failed_)
            finish();
        if (failed_)
            return tl::unexpected(Error{error_});
        return std::move(program_);
    }

private:
    void fail_at(const Place& place, std::string_view message) {
        if (failed_)
            return;
        failed_ = true;
        error_ = fmt::format("{}:{}:{}: {}", files_[place.file], place.line, place.column + 1, message);
    }

    // ---- lines

    void read(std::string_view source, std::size_t file, unsigned depth) {
        u32 number = 0;
        in_comment_ = false;
        while (!source.empty() && !failed_) {
            const auto end = source.find('\n');
            std::string line(source.substr(0, end));
            source.remove_prefix(end == source.npos ? source.size() : end + 1);
            strip_comments(line);
            read_line(line, {file, ++number, 0}, depth);
        }
    }

    // Comments become blanks so that columns stay.
    void strip_comments(std::string& line) {
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (in_comment_) {
                const bool ends = line.compare(i, 2, "*/") == 0;
                line[i] = ' ';
                if (ends) {
                    line[++i] = ' ';
                    in_comment_ = false;
                }
            } else if (line[i] == '"') {
                quoted = !quoted;
            } else if (!quoted && line.compare(i, 2, "/*") == 0) {
                line[i] = line[i + 1] = ' ';
                ++i;
                in_comment_ = true;
            } else if (!quoted && (line[i] == ';' || line.compare(i, 2, "//") == 0)) {
                line.resize(i);
            }
        }
    }

    void read_line(std::string_view line, Place place, unsigned depth) {
        std::size_t at = 0;
        const auto skip = [&] {
            while (at < line.size() && is_blank(line[at]))
                ++at;
        };
        skip();
        // Labels.
        for (;;) {
            std::size_t end = at;
            while (end < line.size() && is_name(line[end]))
                ++end;
            if (end == at || end == line.size() || line[end] != ':')
                break;
            place.column = static_cast<u32>(at);
            define_label(line.substr(at, end - at), place);
            at = end + 1;
            skip();
        }
        while (!line.empty() && is_blank(line.back()))
            line.remove_suffix(1);
        if (at >= line.size() || failed_)
            return;
        place.column = static_cast<u32>(at);
        if (line[at] == '.')
            return directive(line.substr(at), place, depth);
        instruction(line, at, place);
    }

    void define_label(std::string_view name, const Place& place) {
        const i64 value = in_data_ ? static_cast<i64>(program_.data.size()) : target_of_slot(statements_.size());
        define(name, value, place);
        if (!in_data_)
            code_labels_[std::string(name)] = statements_.size();
    }

    void define(std::string_view name, i64 value, const Place& place) {
        if (!symbols_.emplace(std::string(name), value).second)
            fail_at(place, fmt::format("{} is defined twice", name));
    }

    void instruction(std::string_view line, std::size_t at, Place place) {
        if (in_data_)
            return fail_at(place, "an instruction in .data");
        if (statements_.size() == instruction_limit)
            return fail_at(place, "too many instructions");
        std::optional<Control> control;
        if (line[at] == '{') {
            const auto end = line.find('}', at);
            if (end == line.npos)
                return fail_at(place, "expected '}'");
            control = read_control(line.substr(at + 1, end - at - 1), place);
            if (failed_)
                return;
            at = end + 1;
            while (at < line.size() && is_blank(line[at]))
                ++at;
            place.column = static_cast<u32>(at);
            if (at == line.size())
                return fail_at(place, "expected an instruction behind the control fields");
        }
        statements_.push_back({std::string(line.substr(at)), place, control});
    }

    // stall=6 yield wr=0 rd=1 wait=0,2 reuse=1
    Control read_control(std::string_view text, Place place) {
        Control control;
        const auto base = place.column + 1;
        std::size_t at = 0;
        while (at < text.size()) {
            if (is_blank(text[at])) {
                ++at;
                continue;
            }
            const auto end = std::min(text.find_first_of(" \t", at), text.size());
            const std::string_view word = text.substr(at, end - at);
            place.column = static_cast<u32>(base + at);
            at = end;
            if (word == "yield") {
                control.yield = true;
                continue;
            }
            const auto equals = word.find('=');
            const std::string_view key = word.substr(0, equals);
            std::string_view list = equals == word.npos ? std::string_view{} : word.substr(equals + 1);
            const auto number = [&](unsigned limit) {
                unsigned value = 0;
                const auto result = std::from_chars(list.data(), list.data() + list.size(), value);
                if (result.ec != std::errc{} || value > limit)
                    fail_at(place, fmt::format("{} takes 0 to {}", key, limit));
                list.remove_prefix(static_cast<std::size_t>(result.ptr - list.data()));
                return static_cast<u8>(value);
            };
            if (key == "stall") {
                control.stall = number(15);
            } else if (key == "wr") {
                control.write_barrier = number(5);
            } else if (key == "rd") {
                control.read_barrier = number(5);
            } else if (key == "reuse") {
                control.reuse = number(15);
            } else if (key == "wait") {
                for (;;) {
                    control.wait = static_cast<u8>(control.wait | 1u << number(5));
                    if (failed_ || list.empty() || list[0] != ',')
                        break;
                    list.remove_prefix(1);
                }
            } else {
                fail_at(place, fmt::format("unknown control field '{}'", word));
            }
            if (!list.empty())
                fail_at(place, fmt::format("unexpected '{}'", list));
            if (failed_)
                break;
        }
        return control;
    }

    // ---- directives

    void directive(std::string_view text, Place place, unsigned depth) {
        Words words(text, place.column);
        const std::string_view name = words.next().substr(1);
        using Handler = void (Assembler::*)(Words&, const Place&);
        static const std::map<std::string_view, Handler> handlers{
            {"stage", &Assembler::on_stage},
            {"entry", &Assembler::on_entry},
            {"in", &Assembler::on_in},
            {"out", &Assembler::on_out},
            {"target", &Assembler::on_target},
            {"workgroup", &Assembler::on_workgroup},
            {"topology", &Assembler::on_topology},
            {"store_required", &Assembler::on_store_required},
            {"explicit_header", &Assembler::on_explicit_header},
            {"code", &Assembler::on_code},
            {"data", &Assembler::on_data},
            {"align", &Assembler::on_align},
            {"zero", &Assembler::on_zero},
            {"set", &Assembler::on_set},
        };
        if (const auto flag = flag_directives().find(name); flag != flag_directives().end()) {
            flag->second(program_) = true;
        } else if (const auto number = number_directives().find(name); number != number_directives().end()) {
            if (const auto value = integer(words, place, 0, number->second.limit))
                number->second.store(*this, static_cast<u32>(*value));
        } else if (const auto handler = handlers.find(name); handler != handlers.end()) {
            (this->*handler->second)(words, place);
        } else if (const unsigned size = data_size(name); size != 0) {
            on_values(words, place, name, size);
        } else if (name == "include") {
            on_include(words, place, depth);
        } else {
            return fail_at(place, fmt::format("unknown directive .{}", name));
        }
        if (!failed_ && !words.done()) {
            const std::string_view rest = words.next();
            fail_at(at(place, words), fmt::format("unexpected '{}'", rest));
        }
    }

    static Place at(Place place, const Words& words) {
        place.column = static_cast<u32>(words.column());
        return place;
    }

    using FlagDirective = bool& (*)(Program&);
    static const std::map<std::string_view, FlagDirective>& flag_directives() {
        static const std::map<std::string_view, FlagDirective> table{
            {"depth", [](Program& p) -> bool& { return p.header.writes_depth; }},
            {"sample_mask", [](Program& p) -> bool& { return p.header.writes_sample_mask; }},
            {"kill", [](Program& p) -> bool& { return p.header.kills_pixels; }},
            {"passthrough", [](Program& p) -> bool& { return p.header.passthrough; }},
            {"multiple_targets", [](Program& p) -> bool& { return p.header.multiple_targets; }},
            {"global_store", [](Program& p) -> bool& { return p.header.does_global_store; }},
            {"load_store", [](Program& p) -> bool& { return p.header.does_load_or_store; }},
            {"fp64", [](Program& p) -> bool& { return p.header.does_fp64; }},
            {"vendor_bit", [](Program& p) -> bool& { return p.header.vendor_vertex_bit; }},
            {"early_tests", [](Program& p) -> bool& { return p.early_fragment_tests; }},
            {"per_sample", [](Program& p) -> bool& { return p.per_sample; }},
        };
        return table;
    }

    struct NumberDirective {
        i64 limit;
        void (*store)(Assembler&, u32);
    };
    static const std::map<std::string_view, NumberDirective>& number_directives() {
        static const std::map<std::string_view, NumberDirective> table{
            {"registers", {255, [](Assembler& a, u32 v) { a.program_.registers = v; }}},
            {"local", {0xffffff, [](Assembler& a, u32 v) { a.program_.local_bytes = v; }}},
            {"shared", {1 << 16, [](Assembler& a, u32 v) { a.program_.shared_bytes = v; }}},
            {"barriers", {16, [](Assembler& a, u32 v) { a.program_.barriers = v; }}},
            {"local_high", {0xffffff, [](Assembler& a, u32 v) { a.program_.header.local_memory_high = v; }}},
            {"sph_version", {31, [](Assembler& a, u32 v) { a.program_.header.version = static_cast<u8>(v); }}},
            {"sass_version", {15, [](Assembler& a, u32 v) { a.program_.header.sass_version = static_cast<u8>(v); }}},
            {"call_stack", {0xffffff, [](Assembler& a, u32 v) { a.program_.header.call_stack_bytes = v; }}},
            {"patch", {255, [](Assembler& a, u32 v) { a.program_.header.patch_attributes = static_cast<u8>(v); }}},
            {"threads",
             {255, [](Assembler& a, u32 v) { a.program_.header.threads_per_primitive = static_cast<u8>(v); }}},
            {"streams", {15, [](Assembler& a, u32 v) { a.program_.header.stream_mask = static_cast<u8>(v); }}},
            {"max_vertices",
             {4095, [](Assembler& a, u32 v) { a.program_.header.max_output_vertices = static_cast<u16>(v); }}},
        };
        return table;
    }

    // A number or a name.
    std::optional<i64> integer(Words& words, const Place& place, i64 low, i64 high) {
        std::string_view text = words.next();
        const Place where = at(place, words);
        const bool negative = text.starts_with('-');
        const std::string_view digits = negative ? text.substr(1) : text;
        const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
        u64 value = 0;
        const char* end = digits.data() + digits.size();
        const auto result =
            hex ? std::from_chars(digits.data() + 2, end, value, 16) : std::from_chars(digits.data(), end, value, 10);
        if (digits.empty() || result.ec != std::errc{} || result.ptr != end) {
            const auto symbol = symbols_.find(std::string(digits));
            if (symbol == symbols_.end()) {
                fail_at(where, text.empty() ? "expected a number" : fmt::format("'{}' is no number", text));
                return std::nullopt;
            }
            value = static_cast<u64>(symbol->second);
        }
        const i64 number = static_cast<i64>(negative ? u64{0} - value : value);
        if (number < low || number > high) {
            fail_at(where, fmt::format("{} is not in {} to {}", text, low, high));
            return std::nullopt;
        }
        return number;
    }

    void on_stage(Words& words, const Place& place) {
        static const std::map<std::string_view, Stage> stages{
            {"vertexa", Stage::VertexA},          {"vertex", Stage::Vertex},     {"tess_control", Stage::TessControl},
            {"tess_eval", Stage::TessEvaluation}, {"geometry", Stage::Geometry}, {"fragment", Stage::Fragment},
            {"compute", Stage::Compute},
        };
        const std::string_view name = words.next();
        const auto stage = stages.find(name);
        if (stage == stages.end())
            return fail_at(at(place, words), fmt::format("unknown stage '{}'", name));
        program_.stage = stage->second;
        ShaderProgramHeader& header = program_.header;
        switch (program_.stage) {
        case Stage::VertexA:
            header.type = ShaderType::VertexA;
            break;
        case Stage::TessControl:
            header.type = ShaderType::TessControl;
            break;
        case Stage::TessEvaluation:
            header.type = ShaderType::TessEval;
            break;
        case Stage::Geometry:
            header.type = ShaderType::Geometry;
            break;
        case Stage::Fragment:
            header.type = ShaderType::Pixel;
            header.pixel = true;
            break;
        default:
            header.type = ShaderType::Vertex;
            break;
        }
        header.vendor_vertex_bit = program_.stage == Stage::Vertex;
    }

    void on_entry(Words& words, const Place& place) {
        program_.entry = std::string(words.next());
        entry_place_ = at(place, words);
        if (program_.entry.empty())
            fail_at(entry_place_, "expected a name");
    }

    // "0 xyz_": a generic attribute; "position": a system one, all its words; "0x2fc": one word.
    bool attribute(Words& words, const Place& place, AttributeMap& map, u32& first, unsigned& mask) {
        static const std::map<std::string_view, std::pair<u32, unsigned>> names{
            {"primitive_id", {attribute::primitive_id, 1}},
            {"layer", {attribute::layer, 1}},
            {"viewport_index", {attribute::viewport_index, 1}},
            {"point_size", {attribute::point_size, 1}},
            {"position", {attribute::position, 15}},
            {"front_diffuse", {attribute::front_diffuse, 15}},
            {"front_specular", {attribute::front_specular, 15}},
            {"back_diffuse", {attribute::back_diffuse, 15}},
            {"back_specular", {attribute::back_specular, 15}},
            {"clip_distance_0123", {attribute::clip_distance, 15}},
            {"clip_distance_4567", {attribute::clip_distance + 16, 15}},
            {"point_coord", {attribute::point_coord, 3}},
            {"fog", {attribute::fog, 1}},
            {"tess_coord", {attribute::tess_coord, 3}},
            {"instance_id", {attribute::instance_id, 1}},
            {"vertex_id", {attribute::vertex_id, 1}},
            {"viewport_mask", {attribute::viewport_mask, 1}},
            {"front_facing", {attribute::front_facing, 1}},
        };
        Words ahead = words;
        const std::string_view name = ahead.next();
        if (const auto found = names.find(name); found != names.end()) {
            words = ahead;
            first = found->second.first;
            mask = found->second.second;
        } else {
            const auto number = integer(words, place, 0, 0x3fc);
            if (!number)
                return false;
            if (name.starts_with("0x")) {
                first = static_cast<u32>(*number) & ~3u;
                mask = 1;
            } else {
                if (*number > 31) {
                    fail_at(at(place, words), "generic attributes are 0 to 31");
                    return false;
                }
                first = attribute::generic + static_cast<u32>(*number) * 16;
                mask = 15;
            }
        }
        ahead = words;
        const std::string_view components = ahead.next();
        if (!components.empty() && components.find_first_not_of("xyzw_") == components.npos) {
            words = ahead;
            mask = 0;
            for (unsigned i = 0; i < 4; ++i)
                if (components.find("xyzw"[i]) != components.npos)
                    mask |= 1u << i;
        }
        for (unsigned i = 0; i < 4; ++i)
            if (mask >> i & 1)
                map.set(first + 4 * i);
        return true;
    }

    void on_in(Words& words, const Place& place) {
        u32 first = 0;
        unsigned mask = 0;
        if (!attribute(words, place, program_.header.inputs, first, mask))
            return;
        Words ahead = words;
        const std::string_view mode = ahead.next();
        if (mode.empty())
            return;
        static const std::map<std::string_view, PixelInput> modes{{"perspective", PixelInput::Perspective},
                                                                  {"linear", PixelInput::ScreenLinear},
                                                                  {"constant", PixelInput::Constant},
                                                                  {"flat", PixelInput::Constant}};
        const auto found = modes.find(mode);
        words = ahead;
        if (found == modes.end())
            return fail_at(at(place, words), fmt::format("unknown interpolation '{}'", mode));
        for (unsigned i = 0; i < 4; ++i)
            if (mask >> i & 1)
                program_.header.interpolation[(first + 4 * i) / 4] = found->second;
    }

    void on_out(Words& words, const Place& place) {
        u32 first = 0;
        unsigned mask = 0;
        attribute(words, place, program_.header.outputs, first, mask);
    }

    void on_target(Words& words, const Place& place) {
        const auto number = integer(words, place, 0, 7);
        if (!number)
            return;
        const std::string_view components = words.done() ? std::string_view("rgba") : words.next();
        for (unsigned i = 0; i < 4; ++i)
            if (components.find("rgba"[i]) != components.npos)
                program_.header.target_mask |= 1u << (4 * *number + i);
        if (components.find_first_not_of("rgba_") != components.npos)
            fail_at(at(place, words), fmt::format("'{}' are no components", components));
    }

    void on_workgroup(Words& words, const Place& place) {
        for (u32& size : program_.workgroup) {
            if (words.done())
                break;
            const auto value = integer(words, place, 1, 1024);
            if (!value)
                return;
            size = static_cast<u32>(*value);
        }
    }

    void on_explicit_header(Words&, const Place&) {
        explicit_header_ = true;
        program_.header.vendor_vertex_bit = false;
    }

    void on_topology(Words& words, const Place& place) {
        static const std::map<std::string_view, OutputTopology> names{
            {"points", OutputTopology::Points},
            {"line_strip", OutputTopology::LineStrip},
            {"triangle_strip", OutputTopology::TriangleStrip}};
        Words ahead = words;
        const std::string_view name = ahead.next();
        if (!name.empty() && name[0] >= '0' && name[0] <= '9') { // one that the hardware does not name
            if (const auto number = integer(words, place, 0, 15))
                program_.header.topology = static_cast<OutputTopology>(*number);
            return;
        }
        words = ahead;
        const auto found = names.find(name);
        if (found == names.end())
            return fail_at(at(place, words), fmt::format("unknown topology '{}'", name));
        program_.header.topology = found->second;
    }

    void on_store_required(Words& words, const Place& place) {
        const auto first = integer(words, place, 0, 255);
        const auto last = first ? integer(words, place, 0, 255) : std::nullopt;
        if (!last)
            return;
        program_.header.store_required_first = static_cast<u8>(*first);
        program_.header.store_required_last = static_cast<u8>(*last);
    }

    void on_code(Words&, const Place&) { in_data_ = false; }
    void on_data(Words&, const Place&) { in_data_ = true; }

    void on_set(Words& words, const Place& place) {
        const std::string_view name = words.next();
        const Place where = at(place, words);
        if (name.empty() || !is_name(name[0]) || (name[0] >= '0' && name[0] <= '9'))
            return fail_at(where, "expected a name");
        if (const auto value = integer(words, place, std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()))
            define(name, *value, where);
    }

    void on_include(Words& words, const Place& place, unsigned depth) {
        std::string_view path = words.next();
        const Place where = at(place, words);
        if (path.size() < 2 || path.front() != '"' || path.back() != '"')
            return fail_at(where, "expected a path in quotes");
        path = path.substr(1, path.size() - 2);
        if (!options_.include)
            return fail_at(where, "no includes here");
        if (depth == include_depth_limit)
            return fail_at(where, "includes nest too deep");
        const auto text = options_.include(path);
        if (!text)
            return fail_at(where, text.error().message);
        files_.emplace_back(path);
        read(*text, files_.size() - 1, depth + 1);
    }

    // ---- data

    static unsigned data_size(std::string_view name) {
        if (name == "u8" || name == "s8")
            return 1;
        if (name == "u16" || name == "s16")
            return 2;
        if (name == "u32" || name == "s32" || name == "f32")
            return 4;
        if (name == "u64" || name == "s64" || name == "f64")
            return 8;
        return 0;
    }

    bool room(std::size_t bytes, const Place& place) {
        if (!in_data_)
            fail_at(place, "data outside .data");
        else if (bytes > data_limit - program_.data.size())
            fail_at(place, "too much data");
        return !failed_;
    }

    void on_values(Words& words, const Place& place, std::string_view type, unsigned size) {
        do {
            if (!room(size, place))
                return;
            u64 bits = 0;
            if (type[0] == 'f') {
                const std::string_view text = words.next();
                double value = 0;
                const bool plus = text.starts_with('+');
                const auto result = std::from_chars(text.data() + plus, text.data() + text.size(), value);
                if (result.ec != std::errc{} || result.ptr != text.data() + text.size())
                    return fail_at(at(place, words), fmt::format("'{}' is no number", text));
                bits = size == 8 ? std::bit_cast<u64>(value) : std::bit_cast<u32>(static_cast<f32>(value));
            } else {
                const i64 all = size == 8 ? std::numeric_limits<i64>::max() : (i64{1} << (8 * size)) - 1;
                const i64 low = size == 8 ? std::numeric_limits<i64>::min() : -(i64{1} << (8 * size - 1));
                const auto value = integer(words, place, low, all);
                if (!value)
                    return;
                bits = static_cast<u64>(*value);
            }
            for (unsigned i = 0; i < size; ++i)
                program_.data.push_back(static_cast<std::byte>(bits >> (8 * i) & 255));
        } while (!words.done());
    }

    void on_align(Words& words, const Place& place) {
        const auto value = integer(words, place, 1, 256);
        if (!value)
            return;
        if ((*value & (*value - 1)) != 0)
            return fail_at(at(place, words), "an alignment is a power of two");
        const std::size_t size = align_up(program_.data.size(), static_cast<std::size_t>(*value));
        if (room(size - program_.data.size(), place))
            program_.data.resize(size);
    }

    void on_zero(Words& words, const Place& place) {
        const auto value = integer(words, place, 0, static_cast<i64>(data_limit));
        if (value && room(static_cast<std::size_t>(*value), place))
            program_.data.resize(program_.data.size() + static_cast<std::size_t>(*value));
    }

    // ---- code

    void finish() {
        if (!program_.entry.empty()) {
            const auto entry = code_labels_.find(program_.entry);
            if (entry == code_labels_.end())
                return fail_at(entry_place_, fmt::format("no label {}", program_.entry));
            if (entry->second != 0)
                return fail_at(entry_place_, "the entry must be the first instruction");
        }
        std::vector<ScheduledWord> words;
        words.reserve(statements_.size() + 9);
        const SymbolLookup lookup = [this](std::string_view name) -> std::optional<i64> {
            const auto found = symbols_.find(std::string(name));
            return found == symbols_.end() ? std::nullopt : std::optional(found->second);
        };
        for (const Statement& statement : statements_) {
            const auto encoded = encode(statement.text, address_of_slot(words.size()), lookup);
            if (!encoded) {
                Place place = statement.place;
                place.column += static_cast<u32>(encoded.error().column);
                return fail_at(place, encoded.error().message);
            }
            words.push_back({encoded->word, statement.control, encoded->reuse});
        }
        gather_facts(words);
        close(words);
        schedule(words);
        for (std::size_t i = 0; i < words.size(); i += 3) {
            append(pack_control_word(*words[i].control, *words[i + 1].control, *words[i + 2].control));
            for (std::size_t k = 0; k < 3; ++k)
                append(words[i + k].word);
        }
    }

    // A branch to itself behind the last instruction, if the source has none, then NOPs to a multiple of two bundles:
    // instruction fetch runs ahead of EXIT, and vendor code ends so.
    void close(std::vector<ScheduledWord>& words) {
        const u64 nop = encode("NOP")->word;
        std::size_t end = words.size();
        while (end != 0 && words[end - 1].word == nop)
            --end;
        const auto branch_at = [](std::size_t slot) {
            return encode(fmt::format("BRA {:#x}", target_of_slot(slot)), address_of_slot(slot))->word;
        };
        if (end == 0 || words[end - 1].word != branch_at(end - 1))
            words.push_back({branch_at(words.size()), std::nullopt, 0});
        while (words.size() % 6 != 0)
            words.push_back({nop, std::nullopt, 0});
    }

    void append(u64 word) {
        std::array<std::byte, 8> bytes;
        std::memcpy(bytes.data(), &word, 8);
        program_.code.insert(program_.code.end(), bytes.begin(), bytes.end());
    }

    void gather_facts(const std::vector<ScheduledWord>& words) {
        ProgramFacts facts;
        for (std::size_t i = 0; i < words.size(); ++i)
            if (const auto instruction = decode(words[i].word, address_of_slot(i)))
                facts.add(*instruction);
        program_.registers = std::max(program_.registers, facts.registers);
        program_.header.local_memory_low = program_.local_bytes;
        if (program_.stage == Stage::Compute) {
            program_.barriers = std::max(program_.barriers, facts.barriers);
        } else if (!explicit_header_) {
            facts.apply(program_.header);
            // Output 0 goes to target 0 alone, as in all programs of the corpus.
            program_.header.multiple_targets = program_.stage == Stage::Fragment;
        }
    }

    const AssembleOptions& options_;
    std::vector<std::string> files_;
    Program program_;
    std::vector<Statement> statements_;
    std::unordered_map<std::string, i64> symbols_;
    std::unordered_map<std::string, std::size_t> code_labels_;
    Place entry_place_;
    bool in_data_ = false, in_comment_ = false, failed_ = false, explicit_header_ = false;
    std::string error_;
};

} // namespace

Result<Program> assemble(std::string_view source, const AssembleOptions& options) {
    return Assembler(options).run(source);
}

} // namespace heaviside::maxwell
