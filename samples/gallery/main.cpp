// gallery: an NVN program that draws one picture for each thing that the API can do, and an animation in a window.
#include "picture.h"
#include "scenes.h"

#include <SDL.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

namespace {

struct Arguments {
    std::filesystem::path output = "out/gallery";
    std::string only;
    int frames = 60;
    bool window = false;
};

void print_help(std::FILE* stream) {
    std::fprintf(stream, "Usage: gallery [options]\n"
                         "Draws the gallery through the NVN API and writes one PNG for each picture.\n\n"
                         "  --out DIR      where the pictures go (out/gallery)\n"
                         "  --only NAME    draw one picture\n"
                         "  --frames N     frames of the animation (60)\n"
                         "  --window       show the animation in a window, until it is closed\n"
                         "  --help         this text\n\nPictures:\n");
    for (const gallery::Scene& scene : gallery::scenes())
        std::fprintf(stream, "  %-18s %s\n", scene.name, scene.shows);
    std::fprintf(stream, "  %-18s %s\n", "window", "the animation: acquire, draw, present");
}

bool known(const std::string& name) {
    for (const gallery::Scene& scene : gallery::scenes())
        if (name == scene.name)
            return true;
    return name == "window";
}

// Exits by itself on --help and on arguments that make no sense.
Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == argc) {
                std::fprintf(stderr, "gallery: %s needs a value\n", argument.c_str());
                std::exit(2);
            }
            return argv[++i];
        };
        if (argument == "--help" || argument == "-h") {
            print_help(stdout);
            std::exit(0);
        } else if (argument == "--out") {
            arguments.output = value();
        } else if (argument == "--only") {
            arguments.only = value();
        } else if (argument == "--frames") {
            arguments.frames = std::atoi(value().c_str());
        } else if (argument == "--window") {
            arguments.window = true;
        } else {
            std::fprintf(stderr, "gallery: unknown option %s; try --help\n", argument.c_str());
            std::exit(2);
        }
    }
    if (arguments.frames < 1) {
        std::fprintf(stderr, "gallery: --frames takes a number of at least 1\n");
        std::exit(2);
    }
    if (!arguments.only.empty() && !known(arguments.only)) {
        std::fprintf(stderr, "gallery: no picture is called %s; try --help\n", arguments.only.c_str());
        std::exit(2);
    }
    return arguments;
}

bool save(gallery::Context& context, const gallery::Texture& texture, const std::filesystem::path& path) {
    const auto texels = gallery::read_back(context, texture);
    if (!gallery::write_png(path.string(), texture.width, texture.height, texels)) {
        std::fprintf(stderr, "gallery: cannot write %s\n", path.c_str());
        return false;
    }
    std::printf("  %s\n", path.c_str());
    return true;
}

} // namespace

int main(int argc, char** argv) {
    const Arguments arguments = parse(argc, argv);
    std::error_code error;
    std::filesystem::create_directories(arguments.output, error);
    if (error) {
        std::fprintf(stderr, "gallery: cannot create %s: %s\n", arguments.output.c_str(), error.message().c_str());
        return 1;
    }

    SDL_Window* window = nullptr;
    if (arguments.window) {
        if (SDL_Init(SDL_INIT_VIDEO) == 0)
            window = SDL_CreateWindow("Heaviside gallery", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, 1280, 720,
                                      SDL_WINDOW_VULKAN);
        if (!window)
            std::fprintf(stderr, "gallery: no window (%s); writing pictures instead\n", SDL_GetError());
    }

    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const auto start = Clock::now();
    const auto context = std::make_unique<gallery::Context>();
    if (!context->create()) {
        std::fprintf(stderr, "gallery: no NVN device; the lines above or `heaviside info` say why\n");
        return 1;
    }
    bool ok = true;
    if (!window)
        for (const gallery::Scene& scene : gallery::scenes())
            if (arguments.only.empty() || arguments.only == scene.name)
                ok &= save(*context, scene.draw(*context), arguments.output / (std::string(scene.name) + ".png"));

    if (arguments.only.empty() || arguments.only == "window") {
        const auto keep_going = [&] {
            SDL_Event event;
            while (window && SDL_PollEvent(&event))
                if (event.type == SDL_QUIT || (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_ESCAPE))
                    return false;
            return true;
        };
        const auto animation_start = Clock::now();
        const int width = window ? 1280 : 640, height = window ? 720 : 360;
        int frames = 0;
        const gallery::Texture* const last =
            &gallery::animate(*context, window, width, height, window ? 1 << 30 : arguments.frames, [&] {
                const bool more = keep_going();
                frames += more;
                return more;
            });
        const double seconds = seconds_since(animation_start);
        if (!window)
            ok &= save(*context, *last, arguments.output / "window.png");
        std::printf("%d frames in %.2f s: %.1f frames per second\n", frames, seconds, frames / seconds);
    }
    std::printf("%d draws, %d dispatches, %zu programs, %d memory callbacks, %.2f s in all\n", context->draws,
                context->dispatches, context->programs.size(), context->memory_callbacks, seconds_since(start));
    context->destroy();
    if (window)
        SDL_DestroyWindow(window);
    if (arguments.window)
        SDL_Quit();
    return ok ? 0 : 1;
}
