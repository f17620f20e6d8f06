/* A client in C11 that defines the pointers itself: the header as C code includes it. */
#define NVN_DEFINE_PROCS
#include <nvn/nvn.h>

/* Starts as programs do and reads one field back; 0 on success. */
int c_client_runs(void);

int c_client_runs(void) {
    PFNNVNDEVICEGETPROCADDRESSPROC get = (PFNNVNDEVICEGETPROCADDRESSPROC)nvnBootstrapLoader("nvnDeviceGetProcAddress");
    if (!get)
        return 1;
    nvnLoadCProcs(NULL, get);
    int major = 0;
    nvnDeviceGetInteger(NULL, NVN_DEVICE_INFO_API_MAJOR_VERSION, &major);
    if (major != NVN_API_MAJOR_VERSION)
        return 2;
    NVNtextureBuilder builder;
    nvnTextureBuilderSetDefaults(&builder);
    nvnTextureBuilderSetSize2D(&builder, 640, 360);
    return nvnTextureBuilderGetWidth(&builder) == 640 && nvnTextureBuilderGetHeight(&builder) == 360 ? 0 : 3;
}
