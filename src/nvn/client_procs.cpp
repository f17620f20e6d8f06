// The client's side of the API, for programs that link the library: pfnc_ pointers and nvnLoadCProcs. Alone in its
// object file, so that a program which defines them itself never pulls this one in.
#define NVN_DEFINE_PROCS
#include <nvn/nvn.h>
