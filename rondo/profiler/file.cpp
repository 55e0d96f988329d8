// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "rondo/core/kept_file.hpp"
#include "rondo/profiler/recorder.hpp"

namespace rondo::profiler {
namespace {

constexpr int most_names = 100;  // processes that were one after the other the same one (exec)

struct File {
    KeptFile kept;
    std::string path;
    bool written_at_the_end = false;
    std::vector<Sample*> samples;  // so many at once
    std::map<std::string, Text, std::less<>> texts;
};

/// Never destroyed: other libraries may still call MPI while the process ends.
File& file() {
    static File& the_file = *new File;
    return the_file;
}

void* anonymous(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

std::string open_file(const std::string& path, std::string_view owner) {
    if (owner.size() >= sizeof(Header::owner)) return "too long a name of host or library";
    File& f = file();
    std::string problem;
    for (int i = 0; i < most_names; ++i) {
        f.path = path + (i > 0 ? "-" + std::to_string(i) : "") + ".profile";
        problem = f.kept.open(f.path, image_bytes);
        if (problem != std::strerror(EEXIST)) break;
    }
    void* memory = f.kept.memory();
    if (!problem.empty()) {
        if (problem != std::strerror(EOPNOTSUPP)) return problem;
        f.written_at_the_end = true;
        memory = anonymous(image_bytes);
        if (memory == nullptr) return std::strerror(ENOMEM);
    }
    auto* const image = static_cast<Image*>(memory);
    recorder.image = image;
    image->header.functions = functions();
    for (std::uint32_t i = 0; i < functions(); ++i) {
        std::strncpy(image->functions[i].name.data(), name_of(i), sizeof(Function::name) - 1);
    }
    image->header.text_bytes = 1;
    std::ranges::copy(owner, image->header.owner.begin());
    image->header.magic = Image::kind;
    return "";
}

std::string close_file() {
    const File& f = file();
    if (!f.written_at_the_end) return "";
    std::FILE* out = std::fopen(f.path.c_str(), "wb");
    if (out == nullptr) return std::strerror(errno);
    std::fwrite(recorder.image, image_bytes, 1, out);
    for (const Sample* some : f.samples) std::fwrite(some, sizeof(Sample) * samples_at_once, 1, out);
    const bool failed = std::ferror(out) != 0;
    return std::fclose(out) != 0 || failed ? std::strerror(errno) : "";
}

Text keep(std::string_view text) {
    if (text.empty()) return 0;
    File& f = file();
    const auto known = f.texts.find(text);
    if (known != f.texts.end()) return known->second;
    Image& image = *recorder.image;
    const Text place = image.header.text_bytes;
    if (place + text.size() >= image.texts.size()) {
        ++image.header.texts_without_place;
        return 0;
    }
    std::ranges::copy(text, image.texts.begin() + place);
    image.header.text_bytes += static_cast<Text>(text.size()) + 1;
    f.texts.emplace(text, place);
    return place;
}

Sample* next_sample() {
    File& f = file();
    std::uint32_t& count = recorder.image->header.samples;
    if (count == most_samples) return nullptr;
    if (count / samples_at_once == f.samples.size()) {
        constexpr std::size_t bytes = samples_at_once * sizeof(Sample);
        void* more = f.written_at_the_end ? anonymous(bytes) : f.kept.grow(bytes);
        if (more == nullptr) return nullptr;
        f.samples.push_back(static_cast<Sample*>(more));
    }
    return &f.samples[count / samples_at_once][count % samples_at_once];
}

}  // namespace rondo::profiler
