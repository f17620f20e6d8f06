// The library's own nvnBootstrapLoader stands in api/, which brings a GPU along; these tests do without.
#include "nvn/entry_table.h"

PFNNVNGENERICFUNCPTRPROC nvnBootstrapLoader(const char* name) {
    return heaviside::nvn::look_up(name);
}
