// Records: their layout, and reading streams that anything may have written.
#include "stream/walk.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heaviside::stream {
namespace {

struct Shape {
    const char* name;
    RecordType type;
    std::size_t bytes;
    bool fixed;
};
const Shape shapes[] = {
#define SHAPE(name, shape) {#name, RecordType::name, sizeof(name), RecordTraits<name>::fixed},
    HEAVISIDE_STREAM_RECORDS(SHAPE)
#undef SHAPE
};

// A record of zeros behind its header, `words` long.
std::vector<u32> zeros(RecordType type, std::size_t words) {
    std::vector<u32> record(words, 0);
    record[0] = static_cast<u32>(type) | static_cast<u32>(words) << 16;
    return record;
}

Bytes bytes(const std::vector<u32>& words) {
    return std::as_bytes(std::span(words));
}

TEST(Records, HaveTheirNames) {
    EXPECT_STREQ(name(RecordType::DrawArrays), "DrawArrays");
    EXPECT_STREQ(name(RecordType::Hint), "Hint");
    EXPECT_STREQ(name(RecordType::first), "?");
    EXPECT_STREQ(name(RecordType::end), "?");
    EXPECT_STREQ(name(static_cast<RecordType>(0)), "?");
}

// Ledger OBJ-122: an engine rewrites the handle there in recorded memory.
TEST(Records, ASingleTextureBindHasItsHandleAtByte16) {
    EXPECT_EQ(offsetof(BindTexture, handle), 16u);
}

// Applications size memory by the hardware's commands (ledger OBJ-105): a stack buffer of 256 bytes holds a copy with
// both strides; a uniform buffer bind is 5 words on the hardware, a draw 6.
TEST(Records, AreNoLargerThanTheHardwaresCommands) {
    EXPECT_LE(sizeof(CopyBufferToTexture) + sizeof(CopyStrides), 256u);
    EXPECT_LE(sizeof(BindUniformBuffer), 20u);
    EXPECT_LE(sizeof(DrawArrays), 24u);
    EXPECT_LE(sizeof(FenceSync), 16u);
}

TEST(RecordAt, AcceptsAFixedRecordOfExactlyItsSize) {
    for (const Shape& shape : shapes) {
        if (!shape.fixed)
            continue;
        auto record = zeros(shape.type, shape.bytes / 4);
        const auto found = record_at(bytes(record));
        ASSERT_TRUE(found) << shape.name << found.error().message;
        EXPECT_EQ(found->type(), shape.type);
        EXPECT_EQ(found->bytes().size(), shape.bytes);
        record = zeros(shape.type, shape.bytes / 4 + 1);
        EXPECT_FALSE(record_at(bytes(record))) << shape.name;
    }
}

TEST(RecordAt, RefusesEveryRecordThatTheBytesEndIn) {
    for (const Shape& shape : shapes) {
        const auto record = zeros(shape.type, shape.bytes / 4);
        for (std::size_t size = 0; size < shape.bytes; size += 4)
            EXPECT_FALSE(record_at(bytes(record).first(size))) << shape.name << " in " << size;
    }
}

TEST(RecordAt, RefusesWhatIsNoHeader) {
    for (const u32 word : {0u, 0x0001'0000u, 0xffff'ffffu, 0x0001'4800u, 0x3f80'0000u, 0x0004'0001u})
        EXPECT_FALSE(record_at(bytes({word, 0, 0, 0}))) << std::hex << word;
}

TEST(RecordAt, ChecksCountsAgainstTheRecord) {
    const auto handles = [](u8 kind, u8 stage, u8 first, u8 count, std::size_t words) {
        auto record = zeros(RecordType::BindHandles, 2 + words);
        record[1] = u32{kind} | u32{stage} << 8 | u32{first} << 16 | u32{count} << 24;
        return record_at(bytes(record)).has_value();
    };
    EXPECT_TRUE(handles(0, 0, 0, 32, 32));
    EXPECT_FALSE(handles(0, 0, 1, 32, 32)); // slots 1..32 of 32
    EXPECT_FALSE(handles(0, 0, 0, 3, 2));   // claims more handles than it has (ledger OBJ-123)
    EXPECT_FALSE(handles(0, 0, 0, 2, 3));
    EXPECT_FALSE(handles(4, 0, 0, 1, 1)); // no such kind
    EXPECT_FALSE(handles(0, 6, 0, 1, 1)); // no such stage
    EXPECT_TRUE(handles(3, 5, 7, 1, 1));  // the last of a stage's 8 images

    auto targets = zeros(RecordType::SetRenderTargets, 2 + 2 * sizeof(ImageDescription) / 4);
    targets[1] = 0x101 | 1 << 16; // colour 0 and depth
    EXPECT_TRUE(record_at(bytes(targets)));
    targets[1] = 0x103 | 2 << 16;
    EXPECT_FALSE(record_at(bytes(targets)));
    targets[1] = 0x201 | 1 << 16;
    EXPECT_FALSE(record_at(bytes(targets)));

    auto update = zeros(RecordType::UpdateUniformBuffer, sizeof(UpdateUniformBuffer) / 4 + 2);
    update[5] = 5; // 5 bytes: two words
    EXPECT_TRUE(record_at(bytes(update)));
    update[5] = 9;
    EXPECT_FALSE(record_at(bytes(update)));
    update[5] = 0xffff'fffd; // would round up to 0 in 32 bits
    EXPECT_FALSE(record_at(bytes(update)));

    auto viewports = zeros(RecordType::SetViewports, 2 + 4);
    viewports[1] = 15 | 1 << 16;
    EXPECT_TRUE(record_at(bytes(viewports)));
    viewports[1] = 16 | 1 << 16;
    EXPECT_FALSE(record_at(bytes(viewports)));
}

// Where the next record begins can be known although a record is not valid.
TEST(RecordSizeAt, NeedsASoundHeaderOnly) {
    auto handles = zeros(RecordType::BindHandles, 5);
    handles[1] = 0xff00'0000; // 255 handles
    EXPECT_FALSE(record_at(bytes(handles)));
    EXPECT_EQ(record_size_at(bytes(handles)), 20u);
    EXPECT_EQ(record_size_at(bytes(handles).first(16)), 0u);
    EXPECT_EQ(record_size_at(bytes(zeros(RecordType::BindHandles, 1))), 0u);
    EXPECT_EQ(record_size_at(bytes(zeros(RecordType::Barrier, 3))), 0u);
    EXPECT_EQ(record_size_at(bytes({7, 7})), 0u);
}

TEST(ForEachRecord, VisitsInOrderAndSaysWhereItStopped) {
    std::vector<u32> stream = zeros(RecordType::DiscardDepthStencil, 1);
    const auto barrier = zeros(RecordType::Barrier, 2);
    stream.insert(stream.end(), barrier.begin(), barrier.end());
    std::vector<RecordType> seen;
    const auto visit = [&](const Record& record) { seen.push_back(record.type()); };
    EXPECT_TRUE(for_each_record(bytes(stream), visit));
    EXPECT_EQ(seen, (std::vector{RecordType::DiscardDepthStencil, RecordType::Barrier}));

    stream.push_back(7);
    const auto result = for_each_record(bytes(stream), visit);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("at byte 12 of 16"), std::string::npos) << result.error().message;
}

// Whatever the bytes, a walk stays inside them (the sanitizers look on) and ends.
TEST(ForEachRecord, SurvivesRandomBytes) {
    std::mt19937 random(1);
    u64 records = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<u32> stream(random() % 40);
        for (u32& word : stream) {
            word = static_cast<u32>(random());
            if (random() % 2 == 0) // likely headers
                word = (0x4801 + word % record_type_count) | (word >> 8) % 24 << 16;
        }
        (void)for_each_record(bytes(stream), [&](const Record& record) {
            EXPECT_LE(record.bytes().data() + record.bytes().size(), bytes(stream).data() + bytes(stream).size());
            ++records;
        });
    }
    EXPECT_GT(records, 100u);
}

} // namespace
} // namespace heaviside::stream
