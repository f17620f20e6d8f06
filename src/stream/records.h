// The command records: what nvn/ writes into an application's command memory, what a submission is made of, what
// capture/ saves and replay/ executes. Records are plain data. They hold copies of objects, never pointers to them;
// addresses are GPU addresses of guest memory.
//
// A record is a whole number of 32-bit words, little endian, 4-byte aligned, and begins with a Header. Types carry 'H'
// in their upper byte so that bytes that are no record are told from one (command memory can be overwritten after
// recording; stream/walk.h checks). An array record says in its text what follows the struct; the rest of the record
// holds exactly that.
//
// Applications size their memory by what the hardware's commands take, so records stay as small as those; nothing is
// recorded for what is command-buffer state (copy strides).
#pragma once

#include "stream/description.h"
#include "stream/state.h"

#include <span>
#include <string_view>

namespace heaviside::stream {

// X(name, shape): Fixed records are exactly their struct, Array records their struct and a tail.
#define HEAVISIDE_STREAM_RECORDS(X)                                                                                    \
    X(BindBlendState, Fixed)                                                                                           \
    X(BindColorState, Fixed)                                                                                           \
    X(BindChannelMaskState, Fixed)                                                                                     \
    X(BindDepthStencilState, Fixed)                                                                                    \
    X(BindPolygonState, Fixed)                                                                                         \
    X(BindMultisampleState, Fixed)                                                                                     \
    X(BindVertexAttribState, Array)                                                                                    \
    X(BindVertexStreamState, Array)                                                                                    \
    X(BindCoverageModulationTable, Fixed)                                                                              \
    X(BindProgram, Fixed)                                                                                              \
    X(BindVertexBuffer, Fixed)                                                                                         \
    X(BindUniformBuffer, Fixed)                                                                                        \
    X(BindStorageBuffer, Fixed)                                                                                        \
    X(BindTransformFeedbackBuffer, Fixed)                                                                              \
    X(BindTexture, Fixed)                                                                                              \
    X(BindHandles, Array)                                                                                              \
    X(SetTexturePool, Fixed)                                                                                           \
    X(SetSamplerPool, Fixed)                                                                                           \
    X(SetRenderTargets, Array)                                                                                         \
    X(SetViewports, Array)                                                                                             \
    X(SetScissors, Array)                                                                                              \
    X(SetDepthRanges, Array)                                                                                           \
    X(SetViewportSwizzles, Array)                                                                                      \
    X(SetBlendColor, Fixed)                                                                                            \
    X(SetAlphaRef, Fixed)                                                                                              \
    X(SetStencilRef, Fixed)                                                                                            \
    X(SetStencilMask, Fixed)                                                                                           \
    X(SetStencilValueMask, Fixed)                                                                                      \
    X(SetStencilCullCriteria, Fixed)                                                                                   \
    X(SetLineWidth, Fixed)                                                                                             \
    X(SetPointSize, Fixed)                                                                                             \
    X(SetPolygonOffset, Fixed)                                                                                         \
    X(SetPrimitiveRestart, Fixed)                                                                                      \
    X(SetProvokingVertex, Fixed)                                                                                       \
    X(SetDepthBounds, Fixed)                                                                                           \
    X(SetDepthClamp, Fixed)                                                                                            \
    X(SetRasterizerDiscard, Fixed)                                                                                     \
    X(SetSampleMask, Fixed)                                                                                            \
    X(SetConservativeRaster, Fixed)                                                                                    \
    X(SetConservativeRasterDilate, Fixed)                                                                              \
    X(SetSubpixelPrecisionBias, Fixed)                                                                                 \
    X(SetPatchSize, Fixed)                                                                                             \
    X(SetInnerTessellationLevels, Fixed)                                                                               \
    X(SetOuterTessellationLevels, Fixed)                                                                               \
    X(SetShaderScratchMemory, Fixed)                                                                                   \
    X(SetRenderEnable, Fixed)                                                                                          \
    X(SetRenderEnableConditional, Fixed)                                                                               \
    X(ClearColor, Fixed)                                                                                               \
    X(ClearDepthStencil, Fixed)                                                                                        \
    X(ClearTexture, Fixed)                                                                                             \
    X(ClearBuffer, Fixed)                                                                                              \
    X(DiscardColor, Fixed)                                                                                             \
    X(DiscardDepthStencil, Fixed)                                                                                      \
    X(ResolveDepthBuffer, Fixed)                                                                                       \
    X(DrawArrays, Fixed)                                                                                               \
    X(DrawArraysInstanced, Fixed)                                                                                      \
    X(DrawArraysIndirect, Fixed)                                                                                       \
    X(DrawArraysIndirectCount, Fixed)                                                                                  \
    X(DrawElements, Fixed)                                                                                             \
    X(DrawElementsInstanced, Fixed)                                                                                    \
    X(DrawElementsIndirect, Fixed)                                                                                     \
    X(DrawElementsIndirectCount, Fixed)                                                                                \
    X(DrawTransformFeedback, Fixed)                                                                                    \
    X(DrawTexture, Fixed)                                                                                              \
    X(Dispatch, Fixed)                                                                                                 \
    X(DispatchIndirect, Fixed)                                                                                         \
    X(TransformFeedback, Fixed)                                                                                        \
    X(CopyBufferToBuffer, Fixed)                                                                                       \
    X(CopyBufferToTexture, Array)                                                                                      \
    X(CopyTextureToBuffer, Array)                                                                                      \
    X(CopyTextureToTexture, Fixed)                                                                                     \
    X(Downsample, Fixed)                                                                                               \
    X(UpdateUniformBuffer, Array)                                                                                      \
    X(Barrier, Fixed)                                                                                                  \
    X(ResetCounter, Fixed)                                                                                             \
    X(ReportCounter, Fixed)                                                                                            \
    X(ReportValue, Fixed)                                                                                              \
    X(FenceSync, Fixed)                                                                                                \
    X(WaitSync, Fixed)                                                                                                 \
    X(SignalEvent, Fixed)                                                                                              \
    X(WaitEvent, Fixed)                                                                                                \
    X(DebugMarker, Array)                                                                                              \
    X(Hint, Fixed)                                                                                                     \
    X(BindHandlesDeferred, Fixed)

enum class RecordType : u16 {
    first = 0x4800, // no record
#define HEAVISIDE_TYPE(name, shape) name,
    HEAVISIDE_STREAM_RECORDS(HEAVISIDE_TYPE)
#undef HEAVISIDE_TYPE
        end,
};
inline constexpr unsigned record_type_count = static_cast<unsigned>(RecordType::end) - 0x4801;

struct Header {
    RecordType type;
    u16 words; // of the whole record, this header included
};
static_assert(sizeof(Header) == 4);

// Numbered as NVNshaderStage.
enum class Stage : u8 { Vertex, Fragment, Geometry, TessControl, TessEval, Compute };
inline constexpr unsigned stage_count = 6;

// Identity of a program's contents as Sink::program_created() announced it; 0: none.
using ProgramId = u64;
// Of a texture or sampler pool, as announced to the Sink; 0: none.
using PoolId = u32;
// Of a sync object (a counter of its fences: stream/sync.h); 0: none.
using SyncId = u32;

#pragma pack(push, 4)

// --- State objects: bits as stream/state.h ---

struct BindBlendState {
    Header header;
    BlendState state; // of the one target that it names
};
struct BindColorState {
    Header header;
    ColorState state;
};
struct BindChannelMaskState {
    Header header;
    ChannelMaskState state;
};
struct BindDepthStencilState {
    Header header;
    DepthStencilState state;
};
struct BindPolygonState {
    Header header;
    PolygonState state;
};
struct BindMultisampleState {
    Header header;
    MultisampleState state;
};
// Then VertexAttribState[count], count = the rest of the record, 0..16. Attributes from count on are not fetched.
struct BindVertexAttribState {
    Header header;
};
// Then VertexStreamState[count], count = the rest of the record, 0..16.
struct BindVertexStreamState {
    Header header;
};
struct BindCoverageModulationTable {
    Header header;
    f32 table[16];
};

// --- Bindings ---

struct BindProgram {
    Header header;
    u32 stages;        // NVNshaderStageBits; other stages stay as they are
    ProgramId program; // 0 unbinds the stages
};
struct BindVertexBuffer {
    Header header;
    u32 index;
    u64 address, size; // fetches past size read 0
};
struct BindUniformBuffer {
    Header header;
    Stage stage;
    u8 index;
    u16 pad;
    u64 address; // 0: unbound, reads 0
    u32 size;
};
struct BindStorageBuffer {
    Header header;
    Stage stage;
    u8 index;
    u16 pad;
    u64 address;
    u32 size;
};
struct BindTransformFeedbackBuffer {
    Header header;
    u32 index;
    u64 address, size;
};
// One combined handle. Its place, 16 bytes into the record, is the hardware command's: applications rewrite it there
// after recording (ledger OBJ-122), so nothing else in the record may depend on it.
struct BindTexture {
    Header header;
    Stage stage;
    u8 index;
    u16 pad;
    u32 unused[2]; // 0
    u32 handle;    // texture ID bits 0-19, sampler ID bits 20-31; all ones: empty slot
};
enum class HandleKind : u8 { Texture, SeparateTexture, SeparateSampler, Image };
inline constexpr unsigned handle_kind_count = 4;
// Slots of a stage of each HandleKind.
inline constexpr u8 handle_slots[handle_kind_count] = {32, 128, 32, 8};
// Then u32 handles[count] for the slots from first on. A separate sampler's ID is in bits 20-31 too.
struct BindHandles {
    Header header;
    HandleKind kind;
    Stage stage;
    u8 first, count; // count 1..handle_slots[kind]
};
// The same, of 64-bit handles in memory, which are read when this is executed (ledger SHD-135).
struct BindHandlesDeferred {
    Header header;
    HandleKind kind;
    Stage stage;
    u8 first, count;
    u64 address;
};
struct SetTexturePool {
    Header header;
    PoolId pool;
};
struct SetSamplerPool {
    Header header;
    PoolId pool;
};

// --- Targets, viewports ---

inline constexpr unsigned color_target_count = 8;
inline constexpr unsigned viewport_count = 16;

// Then an ImageDescription for each set bit of `present`, lowest bit first. A target whose bit is clear is unbound.
struct SetRenderTargets {
    Header header;
    u16 present;     // bits 0-7 colour targets, bit 8 depth-stencil
    u16 color_count; // as passed, 0..8
};
inline constexpr u16 depth_stencil_present = 1u << 8;

struct Viewport {
    f32 x, y, width, height;
};
struct Scissor {
    i32 x, y, width, height; // 0x7FFFFFFF stands for "to the end"
};
struct DepthRange {
    f32 near_value, far_value;
};
struct ViewportSwizzle {
    u8 x, y, z, w; // NVNviewportSwizzle
};
// Then Viewport[count]. first + count <= viewport_count, here and in the three below.
struct SetViewports {
    Header header;
    u16 first, count;
};
struct SetScissors { // then Scissor[count]
    Header header;
    u16 first, count;
};
struct SetDepthRanges { // then DepthRange[count]
    Header header;
    u16 first, count;
};
struct SetViewportSwizzles { // then ViewportSwizzle[count]
    Header header;
    u16 first, count;
};

// --- Values ---

struct SetBlendColor {
    Header header;
    f32 color[4];
};
struct SetAlphaRef {
    Header header;
    f32 reference;
};
struct SetStencilRef {
    Header header;
    u8 faces; // NVNface
    u8 value;
    u16 pad;
};
struct SetStencilMask { // of writes
    Header header;
    u8 faces, value;
    u16 pad;
};
struct SetStencilValueMask { // of the comparison
    Header header;
    u8 faces, value;
    u16 pad;
};
// A hint for the hardware's hierarchical stencil test; pixels never depend on it.
struct SetStencilCullCriteria {
    Header header;
    u8 func, reference, mask, pad;
};
struct SetLineWidth {
    Header header;
    f32 width;
};
struct SetPointSize {
    Header header;
    f32 size;
};
struct SetPolygonOffset {
    Header header;
    f32 factor, units, clamp; // clamp 0: none
};
struct SetPrimitiveRestart {
    Header header;
    u32 enable;
    u32 index; // compared after masking to the index type's width
};
struct SetProvokingVertex {
    Header header;
    u32 mode; // 0 first, 1 last
};
struct SetDepthBounds {
    Header header;
    u32 enable;
    f32 minimum, maximum;
};
struct SetDepthClamp {
    Header header;
    u32 enable;
};
struct SetRasterizerDiscard {
    Header header;
    u32 discard;
};
struct SetSampleMask {
    Header header;
    u32 mask;
};
struct SetConservativeRaster {
    Header header;
    u32 enable;
};
struct SetConservativeRasterDilate {
    Header header;
    f32 pixels;
};
struct SetSubpixelPrecisionBias {
    Header header;
    i16 x, y; // bits
};
struct SetPatchSize {
    Header header;
    u32 control_points; // 1..32
};
struct SetInnerTessellationLevels {
    Header header;
    f32 levels[2];
};
struct SetOuterTessellationLevels {
    Header header;
    f32 levels[4];
};
struct SetShaderScratchMemory {
    Header header;
    u64 address, size;
};
struct SetRenderEnable {
    Header header;
    u32 enable;
};
// Draws and clears are skipped while the two u64 at address and address + 16, read at this place of the stream, compare
// against `mode` (NVNconditionalRenderMode), until a SetRenderEnable.
struct SetRenderEnableConditional {
    Header header;
    u32 mode;
    u64 address;
};

// --- Clears ---

enum class ClearClass : u8 { Float, Sint, Uint };

struct ClearColor { // obeys scissor 0 and the render enable, not the channel mask state
    Header header;
    u8 target;
    ClearClass value_class;
    u8 mask; // 1 red, 2 green, 4 blue, 8 alpha
    u8 pad;
    u32 value[4]; // bits of the class
};
struct ClearDepthStencil {
    Header header;
    f32 depth;
    u8 depth_mask; // 0: depth stays
    u8 stencil_mask;
    u8 stencil;
    u8 pad;
};
struct ClearTexture { // no scissor, no render state
    Header header;
    ClearClass value_class;
    u8 mask;
    u16 pad;
    u32 value[4];
    Region region;
    ImageDescription image;
};
struct ClearBuffer { // a u32 repeated
    Header header;
    u64 address, size;
    u32 value;
};
struct DiscardColor {
    Header header;
    u32 target;
};
struct DiscardDepthStencil {
    Header header;
};
struct ResolveDepthBuffer { // decompress the bound depth buffer; content unchanged
    Header header;
};

// --- Draws and dispatches: primitive is NVNdrawPrimitive, index_type NVNindexType ---

struct DrawArrays {
    Header header;
    u32 primitive;
    i32 first, count;
};
struct DrawArraysInstanced {
    Header header;
    u32 primitive;
    i32 first, count, base_instance, instance_count;
};
// The GPU reads {u32 count, instances, first, base instance} at `arguments`.
struct DrawArraysIndirect {
    Header header;
    u32 primitive;
    u64 arguments;
};
// min(u32 at `count`, max_draws) argument sets, `stride` bytes apart.
struct DrawArraysIndirectCount {
    Header header;
    u32 primitive;
    u64 arguments, count;
    u32 max_draws;
    i32 stride;
};
struct DrawElements {
    Header header;
    u16 primitive, index_type;
    i32 count;
    u64 indices;
};
struct DrawElementsInstanced { // also base vertex: base_instance 0, instance_count 1
    Header header;
    u16 primitive, index_type;
    i32 count;
    u64 indices;
    i32 base_vertex, base_instance, instance_count;
};
// The GPU reads {u32 count, instances, first index; i32 base vertex; u32 base instance} at `arguments`.
struct DrawElementsIndirect {
    Header header;
    u16 primitive, index_type;
    u64 arguments, indices;
};
struct DrawElementsIndirectCount {
    Header header;
    u16 primitive, index_type;
    u64 arguments, count, indices;
    u32 max_draws;
    i32 stride;
};
struct DrawTransformFeedback { // as many vertices as the control buffer says were captured
    Header header;
    u32 primitive;
    u64 control;
};
struct DrawTexture { // corners {x0, y0, x1, y1}: pixels of the bound colour targets, texels of the texture
    Header header;
    u32 handle;
    f32 target[4], source[4];
};
struct Dispatch {
    Header header;
    u32 groups[3];
};
struct DispatchIndirect { // the GPU reads u32 groups[3]
    Header header;
    u64 arguments;
};
enum class FeedbackAction : u32 { Begin, End, Pause, Resume };
struct TransformFeedback {
    Header header;
    FeedbackAction action;
    u64 control; // control buffer: holds the counters, layout is replay's own
};

// --- Copies ---

struct CopyBufferToBuffer {
    Header header;
    u32 flags; // NVNcopyFlags, in the records below too
    u64 source, dest, size;
};
// Bytes between rows and between layers or slices in the buffer; 0: tight. The tail of the two records below if the
// command buffer had strides set, absent if both are 0.
struct CopyStrides {
    u64 row, image;
};
struct CopyBufferToTexture { // then nothing or CopyStrides
    Header header;
    u32 flags;
    u64 buffer;
    Region region;
    ImageDescription image;
};
struct CopyTextureToBuffer { // then nothing or CopyStrides
    Header header;
    u32 flags;
    u64 buffer;
    Region region;
    ImageDescription image;
};
struct CopyTextureToTexture { // regions may differ in size: scales, flags say how
    Header header;
    u32 flags;
    Region source_region;
    ImageDescription source;
    Region dest_region;
    ImageDescription dest;
};
struct Downsample { // multisample resolve of the whole view
    Header header;
    u32 tiled; // 1: nvnCommandBufferTiledDownsample*
    ImageDescription source, dest;
};
// Then `size` bytes, padded with zeros to a word. Draws see the value current at their place in the stream.
struct UpdateUniformBuffer {
    Header header;
    u64 address; // of the uniform buffer; the bytes go to address + offset
    u32 buffer_size;
    u32 offset, size;
};

// --- Order ---

struct Barrier {
    Header header;
    u32 bits; // NVNbarrierBits; 0 occurs and orders nothing
};
struct ResetCounter {
    Header header;
    u32 counter; // NVNcounterType
};
struct ReportCounter { // writes {u64 counter, u64 timestamp}
    Header header;
    u32 counter;
    u64 address;
};
struct ReportValue {
    Header header;
    u32 value;
    u64 address;
};
// When everything before it is done, and its writes to guest memory are, the sync has reached `value`
// (Sink::sync_reached). In command memory `value` is 0: submission fills it in (a recorded fence does not exist
// before).
struct FenceSync {
    Header header;
    SyncId sync;
    u32 value;
    u8 condition; // NVNsyncCondition
    u8 flags;     // NVNsyncFlagBits
    u16 pad;
};
// Waits until `sync` has reached `value`; value 0: no wait. Submission fills `value` in: the newest fence at that time.
struct WaitSync {
    Header header;
    SyncId sync;
    u32 value;
};
struct SignalEvent {
    Header header;
    u8 mode;     // NVNeventSignalMode
    u8 location; // NVNeventSignalLocation
    u16 flags;
    u64 address; // of the event's u32
    u32 value;
};
struct WaitEvent {
    Header header;
    u32 mode; // NVNeventWaitMode
    u64 address;
    u32 value;
};

// --- No effect on pixels ---

enum class MarkerKind : u8 { Insert, Push, Pop };
inline constexpr unsigned marker_text_limit = 60; // bytes kept of a text
// Then the text, padded with zeros to a word; Pop has none.
struct DebugMarker {
    Header header;
    MarkerKind kind;
    u8 length; // bytes of text
    u16 domain;
};
enum class HintKind : u32 {
    TiledCacheAction,
    TiledCacheTileSize,
    ColorReductionEnable,
    ColorReductionThresholds,
    SaveZCull,
    RestoreZCull,
    ZCullZF32Compression,
    OverrideSubtileSize,
    Subroutines,
    Checkpoint
};
struct Hint {
    Header header;
    HintKind kind;
    u32 a, b;
};

#pragma pack(pop)

// The record type of a struct, and a struct's Header when it has no tail.
template <class Record>
struct RecordTraits;
#define HEAVISIDE_TRAITS(name, shape)                                                                                  \
    template <>                                                                                                        \
    struct RecordTraits<name> {                                                                                        \
        static constexpr RecordType type = RecordType::name;                                                           \
        static constexpr bool fixed = std::string_view(#shape) == "Fixed";                                             \
        static_assert(sizeof(name) % 4 == 0 && alignof(name) <= 4 && std::is_trivially_copyable_v<name>);              \
    };
HEAVISIDE_STREAM_RECORDS(HEAVISIDE_TRAITS)
#undef HEAVISIDE_TRAITS
static_assert(offsetof(BindTexture, handle) == 16);

template <class Record>
inline constexpr Header header_of{RecordTraits<Record>::type, sizeof(Record) / 4};

[[nodiscard]] const char* name(RecordType type); // "DrawArrays"; "?" for what is no type

} // namespace heaviside::stream
