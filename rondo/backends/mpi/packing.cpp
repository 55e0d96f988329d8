// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/packing.hpp"

#include <limits>

#include "rondo/backends/mpi/device_memory.hpp"

namespace rondo::mpi {
namespace {

bool fits_int(const UserData& data) { return data.bytes() <= std::numeric_limits<int>::max(); }

/// The datatype that this one repeats without adding gaps; MPI_DATATYPE_NULL if it was made otherwise.
MPI_Datatype repeated_type(MPI_Datatype handle) {
    const int combiner = combiner_of(handle);
    MPI_Datatype inner = library().datatype_null;
    if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return inner;
    int count = 0;
    MPI_Aint none = 0;
    library().Type_get_contents(handle, combiner == MPI_COMBINER_CONTIGUOUS ? 1 : 0, 0, 1, &count, &none, &inner);
    return inner;
}

/// Data as the packing functions take them. Those of MPICH 4.0 take no data at addresses of their own (MPI_BOTTOM):
/// such data are given an address, and a type that begins as many bytes before it.
class Packable {
  public:
    explicit Packable(const UserData& data) : buffer_(data.buffer), type_(data.type.handle) {
        if (buffer_ != nullptr) return;
        static char somewhere;
        const int one = 1;
        const MPI_Aint before = -reinterpret_cast<MPI_Aint>(&somewhere);
        error_ = library().Type_create_hindexed(1, &one, &before, data.type.handle, &own_);
        if (error_ == MPI_SUCCESS) error_ = library().Type_commit(&own_);
        if (error_ != MPI_SUCCESS) return;
        buffer_ = &somewhere;
        type_ = own_;
    }
    Packable(const Packable&) = delete;
    Packable& operator=(const Packable&) = delete;
    ~Packable() {
        if (own_ != library().datatype_null) library().Type_free(&own_);
    }

    [[nodiscard]] int error() const { return error_; }
    [[nodiscard]] void* buffer() const { return buffer_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }

  private:
    void* buffer_;
    MPI_Datatype type_, own_ = library().datatype_null;
    int error_ = MPI_SUCCESS;
};

}  // namespace

/// True only for known orders. No gaps are not enough: the parts of an element may lie in another order than in its
/// signature.
bool lies_as_packed(const Datatype& type) {
    if (!type.contiguous || type.predefined) return type.contiguous;
    const MPI_Datatype inner = repeated_type(type.handle);
    if (inner == library().datatype_null) return false;
    Datatype derived;
    const Datatype* facts = describe(inner, derived);
    const bool plain = facts != nullptr && lies_as_packed(*facts);
    give_back(inner);
    return plain;
}

int pack(const UserData& from, bool plain, char* into, MPI_Comm comm) {
    if (plain) return copy_memory(into, from.buffer, static_cast<std::size_t>(from.bytes()));
    const Packable data(from);
    if (data.error() != MPI_SUCCESS) return data.error();
    if (fits_int(from)) {
        int position = 0;
        return library().Pack(data.buffer(), static_cast<int>(from.count), data.type(), into,
                              static_cast<int>(from.bytes()), &position, comm);
    }
#ifdef RONDO_HAVE_LARGE_COUNT_API
    MPI_Count position = 0;
    return library().Pack_c(data.buffer(), from.count, data.type(), into, from.bytes(), &position, comm);
#else
    return MPI_ERR_COUNT;  // such calls go to the library's collective
#endif
}

int unpack(const char* from, const UserData& into, bool plain, MPI_Comm comm) {
    if (plain) return copy_memory(into.buffer, from, static_cast<std::size_t>(into.bytes()));
    const Packable data(into);
    if (data.error() != MPI_SUCCESS) return data.error();
    if (fits_int(into)) {
        int position = 0;
        return library().Unpack(from, static_cast<int>(into.bytes()), &position, data.buffer(),
                                static_cast<int>(into.count), data.type(), comm);
    }
#ifdef RONDO_HAVE_LARGE_COUNT_API
    MPI_Count position = 0;
    return library().Unpack_c(from, into.bytes(), &position, data.buffer(), into.count, data.type(), comm);
#else
    return MPI_ERR_COUNT;
#endif
}

Moved::Moved(const UserData& data) : data_(data), bytes_(data.bytes()), plain_(lies_as_packed(data.type)) {
    if (plain_ && !on_device(data.buffer)) place_ = static_cast<char*>(data.buffer);
}

int Moved::enter(char* at, MPI_Comm comm) const {
    return bytes_ > 0 && at != place_ ? pack(data_, plain_, at, comm) : MPI_SUCCESS;
}

int Moved::leave(const char* at, MPI_Comm comm) const {
    return bytes_ > 0 && at != place_ ? unpack(at, data_, plain_, comm) : MPI_SUCCESS;
}

}  // namespace rondo::mpi
