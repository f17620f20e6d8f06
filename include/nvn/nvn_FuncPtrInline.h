/* The name under which many clients include the wrappers of the C functions: nvn.h has them. */
#include "nvn.h"
