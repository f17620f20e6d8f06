/* The name under which C++ clients include the methods of the classes: nvn_cpp.h has them. */
#include "nvn_cpp.h"
