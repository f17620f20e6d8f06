/* The name under which many clients include the definitions of the pointers and of nvnLoadCProcs. */
#include "nvn_procs_define.h"
