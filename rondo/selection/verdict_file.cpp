// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/verdict_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "rondo/core/error.hpp"
#include "rondo/selection/shared_file.hpp"
#include "rondo/selection/text_file.hpp"

namespace rondo {

std::string name_of_hosts(std::string_view host) {
    const std::string_view name = host.substr(0, host.find('.'));
    const std::size_t digits = name.find_last_not_of("0123456789");
    const std::size_t last = digits != std::string_view::npos ? name.find_last_not_of("-_", digits) : digits;
    return std::string(last != std::string_view::npos ? name.substr(0, last + 1) : name);
}

namespace {

std::string file_name(std::string words) {
    for (char& letter : words) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
    }
    return words;
}

}  // namespace

std::string measured_machine_file_name(std::string_view host, std::string_view library_version) {
    return file_name(name_of_hosts(host) + " " + std::string(library_version)) + ".machine";
}

void make_parents(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        mkdir(path.substr(0, end).c_str(), 0777);
    }
}

std::string verdict_file_name(std::string_view host, std::string_view library_version, std::string_view rondo_version,
                              std::uint64_t machine) {
    const std::string name =
        file_name(name_of_hosts(host) + " " + std::string(library_version) + " " + std::string(rondo_version));
    char figures[17];
    std::snprintf(figures, sizeof figures, "%016llx", static_cast<unsigned long long>(machine));
    return name + "." + figures + ".verdicts";
}

std::string update_verdicts(const std::string& path, const std::function<void(Verdicts&)>& change) {
    make_parents(path);  // the user's home may be another on this node; what cannot be made is noticed below
    const FileLock lock(path + ".lock");
    if (lock.error() != 0) return path + ".lock: " + std::strerror(lock.error());
    std::string text;
    if (access(path.c_str(), F_OK) != 0) {
        if (errno != ENOENT) return path + ": " + std::strerror(errno);
    } else {
        try {
            text = read_text_file(path, "what was learned");
        } catch (const Error& error) {
            return error.what();
        }
    }
    std::vector<Verdicts::Complaint> complaints;
    Verdicts verdicts = Verdicts::parse(text, complaints);
    change(verdicts);
    const int error = write_shared(path, verdicts.text());
    return error != 0 ? path + ": " + std::strerror(error) : "";
}

}  // namespace rondo
