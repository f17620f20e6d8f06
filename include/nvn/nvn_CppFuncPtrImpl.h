/* The name under which C++ clients include the definitions of the pfncpp_ pointers and of nvnLoadCPPProcs. */
#include "nvn_cpp_procs_define.h"
