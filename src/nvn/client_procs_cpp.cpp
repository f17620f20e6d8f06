// The C++ client's side of the API: pfncpp_ pointers and nvnLoadCPPProcs. Alone in its object file, as
// client_procs.cpp.
#include <nvn/nvn_cpp.h>

#include <nvn/nvn_cpp_procs_define.h>
