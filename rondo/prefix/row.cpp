// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/row.hpp"

#include <algorithm>

namespace rondo::prefix {
namespace {

using mpi::Datatype;
using mpi::library;

/// What a derived datatype was made of. The inner one is given back with it.
class Contents {
  public:
    explicit Contents(MPI_Datatype handle) : combiner_(mpi::combiner_of(handle)) {
        switch (combiner_) {
            case MPI_COMBINER_DUP: read(handle, 0, 0); break;
            case MPI_COMBINER_CONTIGUOUS: read(handle, 1, 0); break;
            case MPI_COMBINER_VECTOR: read(handle, 3, 0); break;
            case MPI_COMBINER_HVECTOR: read(handle, 2, 1); break;
            case MPI_COMBINER_RESIZED: read(handle, 0, 2); break;
            case MPI_UNDEFINED: read_large(handle); break;
            default: break;
        }
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;
    ~Contents() {
        if (is_known()) mpi::give_back(inner_);
    }

    [[nodiscard]] bool is_known() const { return inner_ != library().datatype_null; }
    [[nodiscard]] MPI_Datatype inner() const { return inner_; }

    struct Grid {
        Count blocks, each, stride;  ///< the stride in bytes, from block to block
    };
    [[nodiscard]] Grid grid(Count inner_extent) const {
        switch (combiner_) {
            case MPI_COMBINER_CONTIGUOUS: return {1, numbers_[0], 0};
            case MPI_COMBINER_VECTOR: return {numbers_[0], numbers_[1], numbers_[2] * inner_extent};
            case MPI_COMBINER_HVECTOR: return {numbers_[0], numbers_[1], numbers_[2]};
            default: return {1, 1, 0};
        }
    }

  private:
    void read(MPI_Datatype handle, int integers, int addresses) {
        int found[3] = {};
        MPI_Aint places[2] = {};
        library().Type_get_contents(handle, integers, addresses, 1, found, places, &inner_);
        std::copy_n(found, integers, numbers_);
        std::copy_n(places, addresses, numbers_ + integers);
    }

    /// Made with large counts: they are all that it has of numbers.
    void read_large([[maybe_unused]] MPI_Datatype handle) {
#ifdef RONDO_HAVE_LARGE_COUNT_API
        const mpi::Library& mpi_library = library();
        if (mpi_library.Type_get_envelope_c == nullptr || mpi_library.Type_get_contents_c == nullptr) return;
        MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
        mpi_library.Type_get_envelope_c(handle, &integers, &addresses, &large_counts, &types, &combiner_);
        const bool is_simple = combiner_ == MPI_COMBINER_CONTIGUOUS || combiner_ == MPI_COMBINER_VECTOR ||
                               combiner_ == MPI_COMBINER_HVECTOR || combiner_ == MPI_COMBINER_RESIZED;
        if (!is_simple || integers != 0 || addresses != 0 || large_counts > 3 || types != 1) return;
        MPI_Count found[3] = {};
        mpi_library.Type_get_contents_c(handle, 0, 0, large_counts, 1, nullptr, nullptr, found, &inner_);
        std::copy_n(found, large_counts, numbers_);
#endif
    }

    int combiner_;
    Count numbers_[3] = {};
    MPI_Datatype inner_ = library().datatype_null;
};

void add(Row& row, Count offset) {
    ++row.columns;
    if (!row.runs.empty()) {
        Run& last = row.runs.back();
        if (last.offset + last.columns * row.basic->extent == offset) {
            ++last.columns;
            return;
        }
    }
    row.runs.push_back({offset, 1});
}

/// Adds the columns of an element at this offset. False if nobody knows them.
bool add_element(Row& row, const Datatype& type, Count offset) {
    if (type.predefined) {
        if (row.basic == nullptr) row.basic = &type;
        add(row, offset);
        return row.basic == &type;
    }
    const Contents contents(type.handle);
    Datatype derived;
    const Datatype* const inner = contents.is_known() ? mpi::describe(contents.inner(), derived) : nullptr;
    if (inner == nullptr) return false;
    const Contents::Grid grid = contents.grid(inner->extent);
    for (Count block = 0; block < grid.blocks; ++block) {
        for (Count i = 0; i < grid.each; ++i) {
            if (!add_element(row, *inner, offset + block * grid.stride + i * inner->extent)) return false;
        }
    }
    return true;
}

}  // namespace

std::optional<Row> row_of(const Datatype& type) {
    Row row{.basic = nullptr, .extent = type.extent, .columns = 0, .runs = {}};
    if (!add_element(row, type, 0)) return std::nullopt;
    return row;
}

}  // namespace rondo::prefix
