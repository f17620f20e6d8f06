// The public headers compile as C++, and the installed library links into a C++ program.
#include <heaviside/heaviside.h>
#include <nvn/nvn.h>

#include <cstdio>
#include <string_view>

int main() {
    heaviside_config config;
    heaviside_config_default(&config);
    std::printf("heaviside %s\n", heaviside_version());
    const std::string_view version = heaviside_version();
    return config.size == sizeof config && version.starts_with("0.1.") &&
                   nvnBootstrapLoader("nvnDeviceInitialize") != nullptr
               ? 0
               : 1;
}
