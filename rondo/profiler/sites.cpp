// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/sites.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "rondo/profiler/file.hpp"

namespace rondo::profiler {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The build-id in a module's notes; empty without one.
std::string build_id_in(const char* notes, std::size_t bytes) {
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes, sizeof note);
        const std::size_t name = sizeof note, text = name + aligned(note.n_namesz);
        const std::size_t end = text + aligned(note.n_descsz);
        if (end > bytes) break;
        if (note.n_type == NT_GNU_BUILD_ID &&
            std::string_view(notes + name, note.n_namesz) == std::string_view("GNU\0", 4)) {
            constexpr std::string_view digits = "0123456789abcdef";
            std::string result;
            for (std::size_t i = 0; i < note.n_descsz; ++i) {
                const auto byte = static_cast<unsigned char>(notes[text + i]);
                result += {digits[byte / 16U], digits[byte % 16U]};
            }
            return result;
        }
        notes += end;
        bytes -= end;
    }
    return "";
}

struct Search {
    ElfW(Addr) address;
    std::string build_id;
};

int look_into(dl_phdr_info* module, std::size_t /*bytes*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    const auto* const first = module->dlpi_phdr;
    const auto* const last = first + module->dlpi_phnum;
    const auto holds = [&](const ElfW(Phdr) & part) {
        const ElfW(Addr) start = module->dlpi_addr + part.p_vaddr;
        return part.p_type == PT_LOAD && start <= search.address && search.address < start + part.p_memsz;
    };
    bool found = false;
    for (const auto* part = first; part != last; ++part) found |= holds(*part);
    if (!found) return 0;
    for (const auto* part = first; part != last && search.build_id.empty(); ++part) {
        if (part->p_type != PT_NOTE) continue;
        search.build_id = build_id_in(std::bit_cast<const char*>(module->dlpi_addr + part->p_vaddr), part->p_memsz);
    }
    return 1;
}

std::string executable() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

Site site_at(const void* caller) {
    Site site{};
    Dl_info info{};
    link_map* module = nullptr;
    const auto address = std::bit_cast<ElfW(Addr)>(caller);
    if (dladdr1(caller, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0) {
        site.offset = address;
        return site;
    }
    Search search{address, ""};
    dl_iterate_phdr(look_into, &search);
    site.offset = address - module->l_addr;
    // The name of the program is as it was called.
    site.module = keep(module->l_name[0] == '\0' ? executable() : std::string(info.dli_fname));
    site.build_id = keep(search.build_id);
    site.symbol = keep(info.dli_sname != nullptr ? info.dli_sname : "");
    return site;
}

std::map<std::pair<const void*, Word>, std::uint32_t>& sites() {
    static auto& all = *new std::map<std::pair<const void*, Word>, std::uint32_t>;
    return all;
}

}  // namespace

bool knows_site(const void* caller, Word frames) { return sites().contains({caller, frames}); }

std::uint32_t site_of(const void* caller, Word frames, std::string_view text_of_frames) {
    const auto found = sites().find({caller, frames});
    if (found != sites().end()) return found->second;
    Image& image = *recorder.image;
    const std::uint32_t number = image.header.sites;
    if (number == image.sites.size()) return none;  // then there is no room for a line, either
    Site site = site_at(caller);
    site.frames = keep(text_of_frames);
    image.sites[number] = site;
    ++image.header.sites;
    sites().emplace(std::pair{caller, frames}, number);
    return number;
}

}  // namespace rondo::profiler
