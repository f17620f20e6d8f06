#include "replay/programs.h"

#include "base/log.h"

#include <algorithm>
#include <chrono>

namespace heaviside::replay {

namespace {

std::filesystem::path translations_in(const std::filesystem::path& cache) {
    return cache.empty() ? cache : cache / "translations";
}

} // namespace

static_assert(static_cast<int>(stream::Stage::Compute) == static_cast<int>(program::Stage::Compute));

shader::VariantKey first_key(const program::Program& program) {
    using Key = shader::VariantKey;
    static_assert(static_cast<int>(Key::TessDomain::Quads) == static_cast<int>(program::TessDomain::Quads) &&
                  static_cast<int>(Key::TessSpacing::FractionalEven) ==
                      static_cast<int>(program::TessSpacing::FractionalEven));
    Key key;
    key.tess_domain = static_cast<Key::TessDomain>(program.tessellation.domain);
    key.tess_spacing = static_cast<Key::TessSpacing>(program.tessellation.spacing);
    key.tess_clockwise = program.tessellation.clockwise;
    key.tess_points = program.tessellation.points;
    return key;
}

Programs::Programs(const gpu::Device& device, gpu::ShaderLibrary& library, shader::Options options, unsigned threads)
    : device_(&device), library_(&library), options_(options), cache_(translations_in(device.options.cache_directory)) {
    for (unsigned i = 0; i < std::max(1u, threads); ++i)
        threads_.emplace_back([this] { work(); });
}

Programs::~Programs() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    work_ready_.notify_all();
    for (std::thread& t : threads_)
        t.join();
}

std::shared_ptr<StageCode> Programs::take(const stream::ProgramStage& stage) {
    const auto control_size = program::control_section_size(stage.control);
    const auto code_size = program::gpu_area_size(stage.control);
    if (!control_size || !code_size) {
        log::error("program stage {}: {}", program::name(static_cast<program::Stage>(stage.stage)),
                   control_size ? code_size.error().message : control_size.error().message);
        return nullptr;
    }
    auto code = std::make_shared<StageCode>();
    const Bytes control = stage.control.first(std::min<std::size_t>(*control_size, stage.control.size()));
    const Bytes area = stage.code.first(std::min<std::size_t>(*code_size, stage.code.size()));
    code->control.assign(control.begin(), control.end());
    code->code.assign(area.begin(), area.end());
    const auto parsed = program::parse(code->control, code->code);
    if (!parsed) {
        log::error("program stage {}: {}", program::name(static_cast<program::Stage>(stage.stage)),
                   parsed.error().message);
        return nullptr;
    }
    code->program = *parsed;
    return code;
}

void Programs::create(const stream::ProgramDescription& description) {
    Stages stages;
    for (const stream::ProgramStage& stage : description.stages) {
        std::shared_ptr<StageCode> code = take(stage);
        if (!code)
            continue;
        const Hash128 content = program::identity(code->program);
        const auto index = static_cast<std::size_t>(code->program.stage);
        const std::lock_guard lock(mutex_);
        std::weak_ptr<StageCode>& known = by_content_[content];
        if (auto same = known.lock()) {
            code = std::move(same);
        } else {
            known = code;
            queue_.push_back(code);
        }
        if (index < stages.size())
            stages[index] = std::move(code);
    }
    {
        const std::lock_guard lock(mutex_);
        programs_[description.id] = std::move(stages);
        ++statistics_.programs;
    }
    work_ready_.notify_all();
}

void Programs::destroy(stream::ProgramId id) {
    const std::lock_guard lock(mutex_);
    programs_.erase(id);
}

StageCode* Programs::find(stream::ProgramId id, program::Stage stage) {
    const std::lock_guard lock(mutex_);
    const auto it = programs_.find(id);
    return it == programs_.end() ? nullptr : it->second[static_cast<std::size_t>(stage)].get();
}

Variant& Programs::translate_locked(StageCode& code, const shader::VariantKey& key) {
    const auto start = std::chrono::steady_clock::now();
    auto variant = std::make_unique<Variant>();
    variant->key = key;
    auto translation = cache_.translate(code.program, key, options_);
    if (translation) {
        variant->reflection = std::move(translation->reflection);
        variant->shader = library_->request(code.program.stage, translation->spirv);
    } else {
        log::error("{} program {}: {}", program::name(code.program.stage), to_string(program::identity(code.program)),
                   translation.error().message);
    }
    const auto spent = std::chrono::steady_clock::now() - start;
    code.variants.push_back(std::move(variant));
    const std::lock_guard lock(mutex_);
    ++(code.variants.back()->shader ? statistics_.translated : statistics_.failed);
    statistics_.nanoseconds += static_cast<u64>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
    return *code.variants.back();
}

Variant& Programs::variant(StageCode& code, const shader::VariantKey& key) {
    const std::lock_guard lock(code.mutex);
    for (const auto& v : code.variants)
        if (v->key == key)
            return *v;
    {
        const std::lock_guard count(mutex_);
        ++statistics_.translated_at_draw;
    }
    return translate_locked(code, key);
}

void Programs::work() {
    for (;;) {
        std::shared_ptr<StageCode> code;
        {
            std::unique_lock lock(mutex_);
            work_ready_.wait(lock, [this] { return stop_ || !queue_.empty(); });
            if (stop_)
                return;
            code = std::move(queue_.front());
            queue_.pop_front();
        }
        const std::lock_guard lock(code->mutex);
        if (code->variants.empty())
            translate_locked(*code, first_key(code->program));
    }
}

Programs::Statistics Programs::statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
}

} // namespace heaviside::replay
