// Draws and dispatches.
#include "nvn/command_buffer.h"
#include "nvn/entry_points.h"
#include "nvn/report.h"

namespace heaviside::nvn {

using namespace stream;

void nvnCommandBufferDrawArrays(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, int first, int count) {
    record(cmdBuf, __func__, DrawArrays{{}, static_cast<u32>(mode), first, count});
}

void nvnCommandBufferDrawArraysInstanced(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, int first, int count,
                                         int baseInstance, int instanceCount) {
    record(cmdBuf, __func__,
           DrawArraysInstanced{{}, static_cast<u32>(mode), first, count, baseInstance, instanceCount});
}

void nvnCommandBufferDrawArraysIndirect(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, DrawArraysIndirect{{}, static_cast<u32>(mode), buffer});
}

void nvnCommandBufferMultiDrawArraysIndirectCount(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode,
                                                  NVNbufferAddress indirectBuffer, NVNbufferAddress countBuffer,
                                                  int maxDrawCount, ptrdiff_t stride) {
    record(cmdBuf, __func__,
           DrawArraysIndirectCount{{},
                                   static_cast<u32>(mode),
                                   indirectBuffer,
                                   countBuffer,
                                   maxDrawCount > 0 ? static_cast<u32>(maxDrawCount) : 0,
                                   static_cast<i32>(stride)});
}

void nvnCommandBufferDrawElements(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type, int count,
                                  NVNbufferAddress indexBuffer) {
    record(cmdBuf, __func__, DrawElements{{}, static_cast<u16>(mode), static_cast<u16>(type), count, indexBuffer});
}

void nvnCommandBufferDrawElementsBaseVertex(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type,
                                            int count, NVNbufferAddress indexBuffer, int baseVertex) {
    record(cmdBuf, __func__,
           DrawElementsInstanced{
               {}, static_cast<u16>(mode), static_cast<u16>(type), count, indexBuffer, baseVertex, 0, 1});
}

void nvnCommandBufferDrawElementsInstanced(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type,
                                           int count, NVNbufferAddress indexBuffer, int baseVertex, int baseInstance,
                                           int instanceCount) {
    record(cmdBuf, __func__,
           DrawElementsInstanced{{},
                                 static_cast<u16>(mode),
                                 static_cast<u16>(type),
                                 count,
                                 indexBuffer,
                                 baseVertex,
                                 baseInstance,
                                 instanceCount});
}

void nvnCommandBufferDrawElementsIndirect(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type,
                                          NVNbufferAddress indexBuffer, NVNbufferAddress indirectBuffer) {
    record(cmdBuf, __func__,
           DrawElementsIndirect{{}, static_cast<u16>(mode), static_cast<u16>(type), indirectBuffer, indexBuffer});
}

void nvnCommandBufferMultiDrawElementsIndirectCount(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNindexType type,
                                                    NVNbufferAddress indexBuffer, NVNbufferAddress indirectBuffer,
                                                    NVNbufferAddress countBuffer, int maxDrawCount, ptrdiff_t stride) {
    record(cmdBuf, __func__,
           DrawElementsIndirectCount{{},
                                     static_cast<u16>(mode),
                                     static_cast<u16>(type),
                                     indirectBuffer,
                                     countBuffer,
                                     indexBuffer,
                                     maxDrawCount > 0 ? static_cast<u32>(maxDrawCount) : 0,
                                     static_cast<i32>(stride)});
}

void nvnCommandBufferDrawTexture(NVNcommandBuffer* cmdBuf, NVNtextureHandle handle,
                                 const NVNdrawTextureRegion* dstRegion, const NVNdrawTextureRegion* srcRegion) {
    if (!dstRegion || !srcRegion) {
        report_error(__func__, "null region");
        return;
    }
    DrawTexture value{};
    value.handle = static_cast<u32>(handle);
    std::memcpy(value.target, dstRegion, sizeof value.target);
    std::memcpy(value.source, srcRegion, sizeof value.source);
    record(cmdBuf, __func__, value);
}

void nvnCommandBufferDispatchCompute(NVNcommandBuffer* cmdBuf, int groupsX, int groupsY, int groupsZ) {
    record(cmdBuf, __func__,
           Dispatch{{}, {static_cast<u32>(groupsX), static_cast<u32>(groupsY), static_cast<u32>(groupsZ)}});
}

void nvnCommandBufferDispatchComputeIndirect(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, DispatchIndirect{{}, buffer});
}

// --- Transform feedback ---

void nvnCommandBufferBeginTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, TransformFeedback{{}, FeedbackAction::Begin, buffer});
}
void nvnCommandBufferEndTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, TransformFeedback{{}, FeedbackAction::End, buffer});
}
void nvnCommandBufferPauseTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, TransformFeedback{{}, FeedbackAction::Pause, buffer});
}
void nvnCommandBufferResumeTransformFeedback(NVNcommandBuffer* cmdBuf, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, TransformFeedback{{}, FeedbackAction::Resume, buffer});
}
void nvnCommandBufferDrawTransformFeedback(NVNcommandBuffer* cmdBuf, NVNdrawPrimitive mode, NVNbufferAddress buffer) {
    record(cmdBuf, __func__, DrawTransformFeedback{{}, static_cast<u32>(mode), buffer});
}

} // namespace heaviside::nvn
