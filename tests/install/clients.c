/* Links the client programs to the installed library. */
#include <clients.h>

int main(int argc, char** argv) {
    static const ClientAssets none;
    (void)argv;
    if (argc < 2)
        return 0;
    return client_framework(&none) + client_window(&none) + client_overlay(&none) + client_hooks();
}
