// Entry points of which no open source states the prototype, built after their nearest documented sibling. A client
// that passes other arguments passes them in registers all the same, so reading these is safe.
#pragma once

#include "nvn/api_types.h"

namespace heaviside::nvn {

// As the calls without "Deferred": these may take effect with the next draw at the latest, which binding at once does.
void nvnCommandBufferBindUniformBuffersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                const NVNbufferRange* buffers);
void nvnCommandBufferBindStorageBuffersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                const NVNbufferRange* buffers);
void nvnCommandBufferBindTexturesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                          const NVNtextureHandle* textures);
void nvnCommandBufferBindImagesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                        const NVNimageHandle* images);
void nvnCommandBufferBindSeparateTexturesDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                  const NVNseparateTextureHandle* handles);
void nvnCommandBufferBindSeparateSamplersDeferred(NVNcommandBuffer* cmdBuf, NVNshaderStage stage, int first, int count,
                                                  const NVNseparateSamplerHandle* handles);

// As SetCommandMemoryCallbackEnabled.
void nvnCommandBufferSetControlMemoryCallbackEnabled(NVNcommandBuffer* cmdBuf, BooleanArgument enable);
// 0 first, 1 last: the hardware register's values (ledger GFX-169).
void nvnCommandBufferSetProvokingVertexMode(NVNcommandBuffer* cmdBuf, u32 mode);

} // namespace heaviside::nvn
