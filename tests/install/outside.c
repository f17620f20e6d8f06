/* The public headers are C, and the installed library links into a C program. */
#include <heaviside/heaviside.h>
#include <nvn/nvn.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    heaviside_config config;
    heaviside_config_default(&config);
    if (config.size != sizeof config)
        return 1;
    size_t count = 0;
    const heaviside_symbol* symbols = heaviside_guest_symbols(&count);
    size_t with_nvn = 0;
    for (size_t i = 0; i < count; ++i)
        with_nvn += strncmp(symbols[i].name, "nvn", 3) == 0;
    printf("heaviside %s, %zu guest symbols\n", heaviside_version(), count);
    return with_nvn > 0 && nvnBootstrapLoader("nvnDeviceInitialize") != NULL ? 0 : 1;
}
