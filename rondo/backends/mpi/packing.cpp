// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/packing.hpp"

#include <limits>
#include <mutex>

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

/// Copies data at addresses of their own (MPI_BOTTOM), which the packing functions of MPICH 4.0 do not take: by a
/// message to this rank.
int copy_by_message(const void* from, Count count, MPI_Datatype type, void* into, Count into_count,
                    MPI_Datatype into_type, MPI_Comm comm) {
    int self = 0;
    library().Comm_rank(comm, &self);
    static std::recursive_mutex& one_at_a_time = *new std::recursive_mutex;  // all such messages are alike
    const std::lock_guard lock(one_at_a_time);
    constexpr Count largest_int = std::numeric_limits<int>::max();
    if (count <= largest_int && into_count <= largest_int) {
        return library().Sendrecv(from, static_cast<int>(count), type, self, 0, into, static_cast<int>(into_count),
                                  into_type, self, 0, comm, MPI_STATUS_IGNORE);
    }
#ifdef RONDO_HAVE_LARGE_COUNT_API
    return library().Sendrecv_c(from, count, type, self, 0, into, into_count, into_type, self, 0, comm,
                                MPI_STATUS_IGNORE);
#else
    return MPI_ERR_COUNT;
#endif
}

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
    if (from.buffer == nullptr) {
        return copy_by_message(from.buffer, from.count, from.type.handle, into, from.bytes(), library().byte, comm);
    }
    if (fits_int(from)) {
        int position = 0;
        return library().Pack(from.buffer, static_cast<int>(from.count), from.type.handle, into,
                              static_cast<int>(from.bytes()), &position, comm);
    }
#ifdef RONDO_HAVE_LARGE_COUNT_API
    MPI_Count position = 0;
    return library().Pack_c(from.buffer, from.count, from.type.handle, into, from.bytes(), &position, comm);
#else
    return MPI_ERR_COUNT;  // such calls go to the library's collective
#endif
}

int unpack(const char* from, const UserData& into, bool plain, MPI_Comm comm) {
    if (plain) return copy_memory(into.buffer, from, static_cast<std::size_t>(into.bytes()));
    if (into.buffer == nullptr) {
        return copy_by_message(from, into.bytes(), library().byte, into.buffer, into.count, into.type.handle, comm);
    }
    if (fits_int(into)) {
        int position = 0;
        return library().Unpack(from, static_cast<int>(into.bytes()), &position, into.buffer,
                                static_cast<int>(into.count), into.type.handle, comm);
    }
#ifdef RONDO_HAVE_LARGE_COUNT_API
    MPI_Count position = 0;
    return library().Unpack_c(from, into.bytes(), &position, into.buffer, into.count, into.type.handle, comm);
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
