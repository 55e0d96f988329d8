// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/site/object.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>

namespace rondo::site {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t slot_of_call = R_X86_64_JUMP_SLOT, slot_of_address = R_X86_64_GLOB_DAT, word = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint32_t slot_of_call = R_AARCH64_JUMP_SLOT, slot_of_address = R_AARCH64_GLOB_DAT,
                        word = R_AARCH64_ABS64;
#else
#error "name the kinds of relocations of this processor"
#endif

std::uint32_t gnu_hash_of(const char* text) {
    std::uint32_t hash = 5381;
    for (; *text != '\0'; ++text) hash = hash * 33 + static_cast<unsigned char>(*text);
    return hash;
}

std::uint32_t old_hash_of(const char* text) {
    std::uint32_t hash = 0;
    for (; *text != '\0'; ++text) {
        hash = (hash << 4U) + static_cast<unsigned char>(*text);
        const std::uint32_t high = hash & 0xf0000000U;
        hash = (hash ^ (high >> 24U)) & ~high;
    }
    return hash;
}

/// While it lives, these bytes may be written; afterwards as before, which was read-only.
class Writable {
  public:
    Writable(const void* begin, std::size_t bytes) {
        const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
        const auto address = reinterpret_cast<std::uintptr_t>(begin);
        begin_ = address & ~(page - 1);
        bytes_ = ((address + bytes + page - 1) & ~(page - 1)) - begin_;
        worked_ = mprotect(std::bit_cast<void*>(begin_), bytes_, PROT_READ | PROT_WRITE) == 0;
    }
    Writable(const Writable&) = delete;
    Writable& operator=(const Writable&) = delete;
    ~Writable() {
        if (worked_) mprotect(std::bit_cast<void*>(begin_), bytes_, PROT_READ);
    }
    [[nodiscard]] bool worked() const { return worked_; }

  private:
    std::uintptr_t begin_;
    std::size_t bytes_;
    bool worked_;
};

}  // namespace

Name::Name(const char* name) : text(name), gnu_hash(gnu_hash_of(name)), old_hash(old_hash_of(name)) {}

Object::Object(const dl_phdr_info& info)
    : path_(info.dlpi_name), base_(info.dlpi_addr), headers_(info.dlpi_phdr), number_of_headers_(info.dlpi_phnum) {
    for (std::size_t i = 0; i < number_of_headers_; ++i) {
        if (headers_[i].p_type != PT_DYNAMIC) continue;
        const auto* entry = std::bit_cast<const ElfW(Dyn)*>(base_ + headers_[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; ++entry) read(*entry);
    }
}

/// The loader has added the base to addresses, but not where the section is read-only.
template <class Pointer>
Pointer Object::pointer(const ElfW(Dyn) & entry) const {
    const ElfW(Addr) address = entry.d_un.d_ptr;
    return std::bit_cast<Pointer>(address < base_ ? base_ + address : address);
}

void Object::read(const ElfW(Dyn) & entry) {
    switch (entry.d_tag) {
        case DT_TEXTREL: has_slots_in_code_ = true; break;
        case DT_STRTAB: strings_ = pointer<const char*>(entry); break;
        case DT_SYMTAB: symbols_ = pointer<const ElfW(Sym)*>(entry); break;
        case DT_VERSYM: versions_ = pointer<ElfW(Half)*>(entry); break;
        case DT_GNU_HASH: gnu_table_ = pointer<const std::uint32_t*>(entry); break;
        case DT_HASH: old_table_ = pointer<const std::uint32_t*>(entry); break;
        case DT_RELA: relocations_ = pointer<const Relocation*>(entry); break;
        case DT_RELASZ: bytes_of_relocations_ = entry.d_un.d_val; break;
        case DT_JMPREL: calls_ = pointer<const Relocation*>(entry); break;
        case DT_PLTRELSZ: bytes_of_calls_ = entry.d_un.d_val; break;
        case DT_SONAME: soname_ = entry.d_un.d_val; break;
        default: break;
    }
}

const char* Object::name() const {
    if (soname_ != 0 && strings_ != nullptr) return strings_ + soname_;
    const char* const slash = std::strrchr(path_, '/');
    return slash != nullptr ? slash + 1 : path_;
}

bool Object::contains(const void* address) const {
    const auto place = reinterpret_cast<ElfW(Addr)>(address);
    for (std::size_t i = 0; i < number_of_headers_; ++i) {
        const ElfW(Addr) begin = base_ + headers_[i].p_vaddr;
        if (headers_[i].p_type == PT_LOAD && place >= begin && place - begin < headers_[i].p_memsz) return true;
    }
    return false;
}

bool Object::is(std::uint32_t symbol, const Name& name) const {
    const ElfW(Sym) & found = symbols_[symbol];
    return found.st_shndx != SHN_UNDEF && found.st_value != 0 && std::strcmp(strings_ + found.st_name, name.text) == 0;
}

std::uint32_t Object::find_by_gnu_hash(const Name& name) const {
    const std::uint32_t buckets = gnu_table_[0], first = gnu_table_[1], words = gnu_table_[2], shift = gnu_table_[3];
    const auto* filter = reinterpret_cast<const ElfW(Addr)*>(gnu_table_ + 4);
    const auto* bucket = reinterpret_cast<const std::uint32_t*>(filter + words);
    const std::uint32_t* chain = bucket + buckets;
    constexpr std::uint32_t bits = sizeof(ElfW(Addr)) * 8;
    if (buckets == 0 || words == 0) return 0;
    const ElfW(Addr) seen = filter[name.gnu_hash / bits % words];
    if ((seen >> (name.gnu_hash % bits) & seen >> ((name.gnu_hash >> shift) % bits) & 1U) == 0) return 0;
    std::uint32_t symbol = bucket[name.gnu_hash % buckets];
    if (symbol < first) return 0;
    for (;; ++symbol) {
        const std::uint32_t hash = chain[symbol - first];
        if ((hash | 1U) == (name.gnu_hash | 1U) && is(symbol, name)) return symbol;
        if ((hash & 1U) != 0) return 0;
    }
}

std::uint32_t Object::find_by_old_hash(const Name& name) const {
    const std::uint32_t buckets = old_table_[0];
    if (buckets == 0) return 0;
    std::uint32_t symbol = old_table_[2 + name.old_hash % buckets];
    while (symbol != 0 && !is(symbol, name)) symbol = old_table_[2 + buckets + symbol];
    return symbol;
}

bool Object::defines(const Name& name) const {
    if (symbols_ == nullptr || strings_ == nullptr) return false;
    if (gnu_table_ != nullptr) return find_by_gnu_hash(name) != 0;
    return old_table_ != nullptr && find_by_old_hash(name) != 0;
}

std::uint32_t Object::number_of_symbols() const {
    if (old_table_ != nullptr) return old_table_[1];
    if (gnu_table_ == nullptr) return 0;
    const std::uint32_t buckets = gnu_table_[0], first = gnu_table_[1], words = gnu_table_[2];
    const auto* bucket =
        reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const ElfW(Addr)*>(gnu_table_ + 4) + words);
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
    if (last < first) return 0;
    while ((bucket[buckets + last - first] & 1U) == 0) ++last;
    return last + 1;
}

/// True if code lies on the pages of these bytes: it could not run while they are written.
bool Object::has_code_beside(const void* begin, std::size_t bytes) const {
    const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<ElfW(Addr)>(begin);
    const ElfW(Addr) first = address & ~(page - 1), end = (address + bytes + page - 1) & ~(page - 1);
    for (std::size_t i = 0; i < number_of_headers_; ++i) {
        const ElfW(Phdr) & each = headers_[i];
        const ElfW(Addr) start = base_ + each.p_vaddr;
        const bool has_code = each.p_type == PT_LOAD && (each.p_flags & PF_X) != 0;
        if (has_code && start < end && start + each.p_memsz > first) return true;
    }
    return false;
}

bool Object::change_version(ElfW(Half) from, ElfW(Half) to) {
    const std::uint32_t symbols = number_of_symbols();
    if (versions_ == nullptr || symbols == 0) return false;
    const std::size_t bytes = symbols * sizeof *versions_;
    if (has_code_beside(versions_, bytes)) return false;
    const Writable writable(versions_, bytes);
    if (!writable.worked()) return false;
    for (std::uint32_t i = 0; i < symbols; ++i) {
        if (versions_[i] == from) versions_[i] = to;
    }
    return true;
}

/// The name of the symbol whose address stands in the slot; nullptr if the slot is for something else.
const char* Object::used_function(const Relocation& relocation) const {
    const std::uint64_t kind = ELF64_R_TYPE(relocation.r_info), symbol = ELF64_R_SYM(relocation.r_info);
    if (symbol == 0 || (kind != slot_of_call && kind != slot_of_address && kind != word)) return nullptr;
    if (kind == word && relocation.r_addend != 0) return nullptr;
    return strings_ + symbols_[symbol].st_name;
}

/// The loader has protected whole pages only.
bool Object::is_protected(ElfW(Addr) place) const {
    const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    for (std::size_t i = 0; i < number_of_headers_; ++i) {
        const ElfW(Addr) begin = base_ + headers_[i].p_vaddr, end = begin + headers_[i].p_memsz;
        if (headers_[i].p_type == PT_GNU_RELRO && place >= (begin & ~(page - 1)) && place < (end & ~(page - 1)))
            return true;
    }
    return false;
}

bool Object::write(Function* slot, Function value) {
    if (!is_protected(reinterpret_cast<ElfW(Addr)>(slot))) {
        *slot = value;
        return true;
    }
    const Writable writable(static_cast<const void*>(slot), sizeof *slot);
    if (writable.worked()) *slot = value;
    return writable.worked();
}

bool Object::redirect(const Relocation* first, std::size_t bytes, Replace replace) {
    const std::size_t relocations = bytes / sizeof(Relocation);
    for (const Relocation* each = first; each < first + relocations; ++each) {
        const char* const name = used_function(*each);
        const Function value = name != nullptr ? replace(name) : nullptr;
        auto* const slot = std::bit_cast<Function*>(base_ + each->r_offset);
        if (value != nullptr && *slot != nullptr && !write(slot, value)) return false;
    }
    return true;
}

bool Object::redirect(Replace replace) {
    if (symbols_ == nullptr || strings_ == nullptr || has_slots_in_code_) return true;
    return redirect(relocations_, bytes_of_relocations_, replace) && redirect(calls_, bytes_of_calls_, replace);
}

}  // namespace rondo::site
