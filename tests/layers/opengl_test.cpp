// EGL's thread state as EGL 1.5 states it, and the lookup of names (ledger REN-228).
#include "layers/opengl/entry_points.h"

#include <gmock/gmock.h>

#include <thread>

using namespace heaviside::layers::opengl;

namespace {

TEST(OpenGl, ANameThatIsNotBuiltIsNullAndIsRemembered) {
    EXPECT_EQ(look_up("glDrawTeapot"), nullptr);
    EXPECT_EQ(egl::get_proc_address("glDrawTeapot"), nullptr);
    EXPECT_EQ(egl::get_proc_address("glAlsoMissing"), nullptr);
    EXPECT_THAT(missing_names(), testing::ElementsAre("glAlsoMissing", "glDrawTeapot"));
    EXPECT_EQ(egl::get_proc_address(nullptr), nullptr);
}

TEST(OpenGl, EveryBuiltNameIsFoundThroughItsOwnLookup) {
    for (const char* name : {"eglBindAPI", "eglGetError", "eglGetProcAddress", "eglQueryAPI", "eglReleaseThread"})
        EXPECT_NE(egl::get_proc_address(name), nullptr) << name;
    EXPECT_EQ(look_up("eglGetProcAddress"), reinterpret_cast<Function>(egl::get_proc_address));
}

TEST(OpenGl, EglErrorsAreReadOnceAndBelongToTheirThread) {
    egl::release_thread();
    EXPECT_EQ(egl::query_api(), 0x30a0u); // EGL_OPENGL_ES_API at first
    EXPECT_EQ(egl::bind_api(0x30a1), 0u); // EGL_OPENVG_API
    std::thread([] { EXPECT_EQ(egl::get_error(), 0x3000); }).join();
    EXPECT_EQ(egl::get_error(), 0x300c); // EGL_BAD_PARAMETER
    EXPECT_EQ(egl::get_error(), 0x3000); // EGL_SUCCESS
    EXPECT_EQ(egl::query_api(), 0x30a0u) << "a refused binding changes nothing";
    EXPECT_EQ(egl::bind_api(0x30a2), 1u); // EGL_OPENGL_API
    EXPECT_EQ(egl::query_api(), 0x30a2u);
    std::thread([] { EXPECT_EQ(egl::query_api(), 0x30a0u); }).join();
    EXPECT_EQ(egl::release_thread(), 1u);
    EXPECT_EQ(egl::query_api(), 0x30a0u);
}

} // namespace
