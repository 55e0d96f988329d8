// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/control_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "testbed/failure.hpp"
#include "testbed/files.hpp"

namespace rondo::testbed {
namespace {

void* map(const Descriptor& file, const std::string& path) {
    void* address = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (address == MAP_FAILED) throw system_failure("cannot map " + path);
    return address;
}

std::string path_in(const std::string& directory) { return directory + "/" + control_file; }

}  // namespace

ControlPage ControlPage::create(const std::string& directory) {
    const std::string path = path_in(directory);
    const Descriptor file = open_file(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (::ftruncate(file.number(), sizeof(Control)) != 0) throw system_failure("cannot write " + path);
    return ControlPage(new (map(file, path)) Control);
}

ControlPage ControlPage::open(const std::string& directory) {
    const std::string path = path_in(directory);
    const Descriptor file = open_file(path, O_RDWR);
    struct stat status{};
    if (::fstat(file.number(), &status) != 0) throw system_failure("cannot examine " + path);
    if (status.st_size != sizeof(Control)) throw Failure(path + " is of another version of Rondo");
    ControlPage page(static_cast<Control*>(map(file, path)));
    if (page->magic != control_magic) throw Failure(path + " is of another version of Rondo");
    return page;
}

ControlPage::ControlPage(ControlPage&& other) noexcept : control_(std::exchange(other.control_, nullptr)) {}

ControlPage::~ControlPage() {
    if (control_ != nullptr) ::munmap(control_, sizeof(Control));
}

}  // namespace rondo::testbed
