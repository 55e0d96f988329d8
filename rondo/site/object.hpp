// SPDX-License-Identifier: BSD-3-Clause
// An object that the process has loaded (a library, or the program), as its dynamic section describes it: which
// symbols it defines, and where it keeps the addresses of those that it uses.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace rondo::site {

/// A name, and its hash values in the tables of symbols of objects.
struct Name {
    const char* text;
    std::uint32_t gnu_hash, old_hash;

    explicit Name(const char* name);
};

class Object {
  public:
    explicit Object(const dl_phdr_info& info);

    [[nodiscard]] const char* path() const { return path_; }
    /// The last part of its path, or its DT_SONAME if it has one.
    [[nodiscard]] const char* name() const;
    [[nodiscard]] bool contains(const void* address) const;
    /// True if others find this symbol in it.
    [[nodiscard]] bool defines(const Name& name) const;

    using Function = void (*)();
    using Replace = Function (*)(const char* name);
    /// Replaces the addresses of functions that the object uses where `replace` returns one for a symbol's name. Those
    /// that are null stay null. False if its memory cannot be changed.
    bool redirect(Replace replace);

    /// Changes the version of all symbols of one version, in the table that lookups read. False if the memory cannot be
    /// changed, or holds code, too. (A version's highest bit says that it is no default one.)
    bool change_version(ElfW(Half) from, ElfW(Half) to);

  private:
    using Relocation = ElfW(Rela);

    template <class Pointer>
    [[nodiscard]] Pointer pointer(const ElfW(Dyn) & entry) const;
    void read(const ElfW(Dyn) & entry);
    [[nodiscard]] std::uint32_t find_by_gnu_hash(const Name& name) const;
    [[nodiscard]] std::uint32_t find_by_old_hash(const Name& name) const;
    [[nodiscard]] bool is(std::uint32_t symbol, const Name& name) const;
    [[nodiscard]] std::uint32_t number_of_symbols() const;
    [[nodiscard]] bool has_code_beside(const void* begin, std::size_t bytes) const;
    [[nodiscard]] const char* used_function(const Relocation& relocation) const;
    bool redirect(const Relocation* first, std::size_t bytes, Replace replace);
    [[nodiscard]] bool is_protected(ElfW(Addr) place) const;
    bool write(Function* slot, Function value);

    const char* path_;
    ElfW(Addr) base_;
    const ElfW(Phdr) * headers_;
    std::size_t number_of_headers_;
    const char* strings_ = nullptr;
    const ElfW(Sym) * symbols_ = nullptr;
    ElfW(Half) * versions_ = nullptr;
    const std::uint32_t *gnu_table_ = nullptr, *old_table_ = nullptr;
    const Relocation *relocations_ = nullptr, *calls_ = nullptr;
    std::size_t bytes_of_relocations_ = 0, bytes_of_calls_ = 0, soname_ = 0;
    bool has_slots_in_code_ = false;
};

/// Calls `visit` with every loaded object, in the order in which they were loaded, until it returns true. Returns
/// whether it did.
template <class Visit>
bool any_object(Visit visit) {
    const auto call = [](dl_phdr_info* info, std::size_t, void* data) -> int {
        return (*static_cast<Visit*>(data))(Object(*info)) ? 1 : 0;
    };
    return dl_iterate_phdr(call, static_cast<void*>(&visit)) != 0;
}

}  // namespace rondo::site
