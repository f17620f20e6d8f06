// A device per test, its log captured: a test fails if the device reported a validation message or a leak.
#pragma once

#include "base/log.h"
#include "gpu/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

namespace heaviside::gpu::test {

// Error lines of the library while this lives.
class ErrorLines {
public:
    ErrorLines() {
        log::set_sink([this](log::Level level, std::string_view line) {
            std::lock_guard lock(mutex_);
            if (level == log::Level::Error)
                lines_.emplace_back(line);
            else if (level == log::Level::Warning)
                fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
        });
    }
    ~ErrorLines() { log::set_sink({}); }
    [[nodiscard]] std::vector<std::string> take() {
        std::lock_guard lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

class DeviceTest : public ::testing::Test {
protected:
    // `more` is added to what HEAVISIDE_DISABLE says. Skips the test if the machine has no Vulkan device.
    void open(const std::string& more = {}) {
        DeviceOptions options = DeviceOptions::from_environment();
        options.disable += "," + more;
        options.cache_directory = cache_directory;
        auto made = Device::create(options);
        if (!made && made.error().message.starts_with("no Vulkan"))
            GTEST_SKIP() << made.error().message;
        ASSERT_TRUE(made) << made.error().message;
        device = std::move(*made);
        auto l = create_binding_layout(*device);
        ASSERT_TRUE(l) << l.error().message;
        layout = std::make_unique<BindingLayout>(std::move(*l));
        auto h = DescriptorHeap::create(*device, *layout);
        ASSERT_TRUE(h) << h.error().message;
        heap = std::move(*h);
        auto s = ShaderLibrary::create(*device, *layout);
        ASSERT_TRUE(s) << s.error().message;
        shaders = std::move(*s);
        auto q = Queue::create(*device, *layout, heap.get(), shaders.get());
        ASSERT_TRUE(q) << q.error().message;
        queue = std::move(*q);
    }
    void close() {
        queue.reset();
        shaders.reset();
        heap.reset();
        layout.reset();
        device.reset();
    }
    void TearDown() override {
        close();
        EXPECT_EQ(errors.take(), expected_errors);
    }

    Commands& begin() {
        auto c = queue->begin();
        EXPECT_TRUE(c) << c.error().message;
        return **c;
    }
    void finish(Commands& commands) {
        auto n = queue->submit(commands);
        ASSERT_TRUE(n) << n.error().message;
        auto done = queue->wait(*n);
        ASSERT_TRUE(done) << done.error().message;
        ASSERT_TRUE(*done);
    }
    Buffer buffer(u64 size, MemoryKind kind) {
        auto b = create_buffer(*device, size, kind, "test");
        EXPECT_TRUE(b) << b.error().message;
        return std::move(*b);
    }
    Image image(const ImageDescription& description) {
        auto i = create_image(*device, description, "test");
        EXPECT_TRUE(i) << i.error().message;
        return std::move(*i);
    }
    Owned<VkImageView> view(const Image& of, const ViewDescription& description) {
        auto v = create_view(*device, of, description);
        EXPECT_TRUE(v) << v.error().message;
        return std::move(*v);
    }
    Shader* shader(shader::Stage stage, std::span<const u32> spirv) {
        Shader* s = shaders->request(stage, spirv, "test");
        auto done = shaders->wait(*s);
        EXPECT_TRUE(done) << done.error().message;
        return s;
    }

    ErrorLines errors;
    std::vector<std::string> expected_errors;
    std::filesystem::path cache_directory;
    std::unique_ptr<Device> device;
    std::unique_ptr<BindingLayout> layout;
    std::unique_ptr<DescriptorHeap> heap;
    std::unique_ptr<ShaderLibrary> shaders;
    std::unique_ptr<Queue> queue;
};

#define OPEN_DEVICE(...)                                                                                               \
    open(__VA_ARGS__);                                                                                                 \
    if (IsSkipped() || HasFatalFailure())                                                                              \
    return

} // namespace heaviside::gpu::test
