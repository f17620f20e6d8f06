// A replay on the default device, with one memory pool and one queue, driven by records as nvn/ would send them.
#pragma once

#include "gpu/device.h"
#include "guest/memory.h"
#include "replay/replay.h"
#include "stream/records.h"
#include "texture/format.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

namespace heaviside::replay {

// Writes records into a stream buffer.
class Recorder {
public:
    Recorder() : buffer_(std::make_shared<stream::BufferPool>()->take()) {}
    template <class T>
    Recorder& add(T record) {
        record.header = stream::header_of<T>;
        buffer_.append(std::as_bytes(std::span(&record, 1)));
        return *this;
    }
    template <class T, class Element>
    Recorder& add(T record, std::span<const Element> tail) {
        record.header = {stream::RecordTraits<T>::type, static_cast<u16>((sizeof(T) + tail.size_bytes()) / 4)};
        buffer_.append(std::as_bytes(std::span(&record, 1)));
        buffer_.append(std::as_bytes(tail));
        return *this;
    }
    [[nodiscard]] stream::Buffer take() { return std::move(buffer_); }

private:
    stream::Buffer buffer_;
};

class ReplayTest : public testing::Test {
protected:
    static constexpr u64 pool_size = u64{4} << 20;
    static constexpr stream::QueueId queue = 1;

    void SetUp() override {
        auto created = gpu::Device::create(device_options());
        ASSERT_TRUE(created) << created.error().message;
        device = std::move(*created);
        memory = static_cast<std::byte*>(std::aligned_alloc(65536, pool_size));
        std::memset(memory, 0, pool_size);
        ASSERT_TRUE(guest.add(at(0), pool_size));
        auto made = Replay::create(*device, guest, options());
        ASSERT_TRUE(made) << made.error().message;
        replay = std::move(*made);
        replay->queue_created(queue, {});
    }
    void TearDown() override {
        if (replay) {
            replay->finish(queue);
            replay->memory_pool_destroyed(at(0).value);
        }
        replay.reset();
        if (device) {
            EXPECT_EQ(device->validation_messages.load(), 0u);
        }
        device.reset();
        std::free(memory);
    }
    virtual Options options() { return {}; }
    virtual gpu::DeviceOptions device_options() { return gpu::DeviceOptions::from_environment(); }

    [[nodiscard]] GuestAddress at(u64 offset) const { return GuestAddress{reinterpret_cast<u64>(memory) + offset}; }
    [[nodiscard]] std::byte* bytes_at(u64 offset) const { return reinterpret_cast<std::byte*>(at(offset).value); }
    template <class T>
    [[nodiscard]] T read(u64 offset) const {
        T value;
        std::memcpy(&value, bytes_at(offset), sizeof value);
        return value;
    }
    void run(Recorder& r, stream::DeviceModes modes = {0, 1}) {
        replay->submit(queue, modes, r.take());
        replay->finish(queue);
    }

    // A 2D texture at an offset of the pool, and the view of all of it.
    [[nodiscard]] stream::ImageDescription image(u64 offset, const char* format, u32 width, u32 height,
                                                 u8 levels = 1) const {
        stream::ImageDescription d{};
        d.texture.address = at(offset).value;
        d.texture.size = pool_size - offset;
        d.texture.width = width;
        d.texture.height = static_cast<u16>(height);
        d.texture.depth = 1;
        d.texture.format = static_cast<u16>(texture::format_named(format));
        d.texture.target = 1; // 2D
        d.texture.levels = levels;
        d.texture.samples = 1;
        d.view.format = d.texture.format;
        d.view.target = 1;
        d.view.level_count = levels;
        d.view.layer_count = 1;
        for (u8 i = 0; i < 4; ++i)
            d.texture.swizzle[i] = d.view.swizzle[i] = static_cast<u8>(2 + i);
        return d;
    }
    static void set_targets(Recorder& r, std::span<const stream::ImageDescription> colors,
                            const stream::ImageDescription* depth = nullptr) {
        std::vector<stream::ImageDescription> all(colors.begin(), colors.end());
        stream::SetRenderTargets record{};
        record.present = static_cast<u16>((1u << colors.size()) - 1);
        record.color_count = static_cast<u16>(colors.size());
        if (depth) {
            all.push_back(*depth);
            record.present |= stream::depth_stencil_present;
        }
        r.add(record, std::span<const stream::ImageDescription>(all));
    }
    void copy_out(Recorder& r, const stream::ImageDescription& image, u64 to, i32 width, i32 height) const {
        stream::CopyTextureToBuffer copy{};
        copy.buffer = at(to).value;
        copy.region = {0, 0, 0, width, height, 1};
        copy.image = image;
        r.add(copy);
    }
    static stream::ClearColor clear(f32 red, f32 green, f32 blue, f32 alpha, u8 mask = 0xf, u8 target = 0) {
        stream::ClearColor c{};
        c.target = target;
        c.value_class = stream::ClearClass::Float;
        c.mask = mask;
        const f32 values[] = {red, green, blue, alpha};
        std::memcpy(c.value, values, sizeof values);
        return c;
    }

    std::unique_ptr<gpu::Device> device;
    guest::Memory guest;
    std::byte* memory = nullptr;
    std::unique_ptr<Replay> replay;
};

} // namespace heaviside::replay
