// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/passes.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "rondo/core/fingerprint.hpp"
#include "rondo/kernels/prefix.hpp"
#include "rondo/prefix/row.hpp"

namespace rondo::prefix {
namespace {

using mpi::Datatype;
using mpi::Reduction;

/// Of local work, between looks at messages.
constexpr Count piece_bytes = Count{256} << 10;
/// Arrays up to this stay in a core's own cache from one pass to the next.
constexpr Count cached_bytes = Count{512} << 10;
/// Of copies of the prefix, to be combined with as many elements at a time.
constexpr Count copies_bytes = 4096;

Count pieces_of(Count element_bytes) {
    const Count block = kernels::prefix_block;
    return std::max(block, piece_bytes / std::max<Count>(1, element_bytes) / block * block);
}

/// Columns of a basic type, by Rondo's own kernels.
class RowPasses : public Passes {
  public:
    RowPasses(const Array& array, Row row, const Reduction& reduction, kernels::Element element)
        : Passes(pieces_of(row.columns * row.basic->extent), bytes_of(array, row) > cached_bytes), array_(array),
          row_(std::move(row)), reduction_(reduction), element_(element), size_(row_.basic->extent),
          past_caches_(bytes_of(array, row_) >= static_cast<Count>(kernels::streaming_bytes())),
          is_dense_(row_.runs.size() == 1 && row_.columns * size_ == row_.extent), sum_(bytes_of_row()),
          spare_(bytes_of_row()) {
        if (size_ == row_.extent) kernels_ = kernels::find_prefix(reduction_.operation(), element_);
        if (is_dense_ && !reduces_first()) copies_.reserve(bytes_of_copies());
    }

    void restart() override { any_ = false; }
    [[nodiscard]] TotalCombiner combiner() const override {
        return {reduction_, row_.columns, row_.columns * size_, 0};
    }
    [[nodiscard]] bool is_commutative() const override { return reduction_.commutative(); }
    [[nodiscard]] std::uint64_t signature() const override {
        Fingerprint fingerprint;
        fingerprint.add(static_cast<std::uint64_t>(reduction_.operation()));
        fingerprint.add(static_cast<std::uint64_t>(element_));
        fingerprint.add(static_cast<std::uint64_t>(row_.columns));
        return fingerprint.value();
    }
    [[nodiscard]] const char* sum() const override { return sum_.data(); }

    int reduce(Count first, Count count) override {
        for_each_run([&](const Run& run, char* sum) {
            const char* from = address(array_.from, run, first);
            if (has_kernels(run)) {
                kernels_.reduce(from, static_cast<std::size_t>(count), sum, any_);
                return;
            }
            Count i = 0;
            if (!any_) copy(address(array_.from, run, first + i++), sum, run.columns);
            for (; i < count; ++i) apply(sum, address(array_.from, run, first + i), sum, run.columns);
        });
        any_ = true;
        return MPI_SUCCESS;
    }

    int scan(Count first, Count count, const char* prefix) override {
        for_each_run([&](const Run& run, char* sum) {
            const char* const before = prefix == nullptr ? nullptr : prefix + (sum - sum_.data());
            if (has_kernels(run)) {
                kernels_.scan(address(array_.from, run, first), address(array_.into, run, first),
                              static_cast<std::size_t>(count),
                              {.sum = sum,
                               .any = any_,
                               .prefix = before,
                               .exclusive = array_.exclusive,
                               .past_caches = past_caches_});
            } else {
                scan_rows(run, first, count, sum, before);
            }
        });
        any_ = true;
        return MPI_SUCCESS;
    }

    int add(Count first, Count count, const char* prefix) override {
        if (array_.exclusive && first == 0) {
            put(prefix, array_.into);
            ++first, --count;
        }
        if (is_dense_) {
            add_to_all(first, count, prefix);
            return MPI_SUCCESS;
        }
        for_each_run([&](const Run& run, char* sum) {
            const char* const before = prefix + (sum - sum_.data());
            for (Count i = first; i < first + count; ++i) {
                char* const row = address(array_.into, run, i);
                apply(before, row, row, run.columns);
            }
        });
        return MPI_SUCCESS;
    }

    int put(const char* data, void* element) override {
        for_each_run([&](const Run& run, char* sum) {
            copy(data + (sum - sum_.data()), address(element, run, 0), run.columns);
        });
        return MPI_SUCCESS;
    }

    int put_identity(void* element) override {
        char* const identity = spare_.data();
        if (!kernels::put_identity(reduction_.operation(), element_, identity)) return MPI_SUCCESS;
        for (const Run& run : row_.runs) {
            for (Count column = 0; column < run.columns; ++column) {
                std::memcpy(address(element, run, 0) + column * size_, identity, static_cast<std::size_t>(size_));
            }
        }
        return MPI_SUCCESS;
    }

  private:
    static Count bytes_of(const Array& array, const Row& row) { return array.count * row.columns * row.basic->extent; }
    [[nodiscard]] std::size_t bytes_of_row() const { return static_cast<std::size_t>(row_.columns * size_); }
    [[nodiscard]] Count copied_rows() const { return std::max<Count>(1, copies_bytes / row_.extent); }
    [[nodiscard]] std::size_t bytes_of_copies() const { return static_cast<std::size_t>(copied_rows() * row_.extent); }
    [[nodiscard]] bool has_kernels(const Run& run) const { return run.columns == 1 && kernels_.scan != nullptr; }
    [[nodiscard]] const char* address(const void* array, const Run& run, Count row) const {
        return static_cast<const char*>(array) + row * row_.extent + run.offset;
    }
    [[nodiscard]] char* address(void* array, const Run& run, Count row) const {
        return static_cast<char*>(array) + row * row_.extent + run.offset;
    }
    /// With the place of its columns in sums, where they stand one behind the other.
    template <class Each>
    void for_each_run(Each&& each) {
        char* sum = sum_.data();
        for (const Run& run : row_.runs) {
            each(run, sum);
            sum += run.columns * size_;
        }
    }
    void apply(const char* left, const char* right, char* into, Count columns) const {
        reduction_.run_kernel(left, right, into, columns);
    }
    /// Pairs have gaps, which are the user's; their operators make of an element and itself the same.
    void copy(const char* from, char* into, Count columns) const {
        if (row_.basic->contiguous) std::memcpy(into, from, static_cast<std::size_t>(columns * size_));
        else apply(from, from, into, columns);
    }

    void scan_rows(const Run& run, Count first, Count count, char* sum, const char* prefix) {
        char* const next = spare_.data();
        for (Count i = first; i < first + count; ++i) {
            const bool any = any_ || i > first;
            const char* const from = address(array_.from, run, i);
            char* const into = address(array_.into, run, i);
            if (any) apply(sum, from, next, run.columns);
            else copy(from, next, run.columns);
            const char* const shown = array_.exclusive ? sum : next;
            if (!any && array_.exclusive) {
                if (prefix != nullptr) copy(prefix, into, run.columns);
            } else if (prefix != nullptr) {
                apply(prefix, shown, into, run.columns);
            } else {
                copy(shown, into, run.columns);
            }
            std::memcpy(sum, next, static_cast<std::size_t>(run.columns * size_));
        }
    }

    /// Elements without gaps, with as many copies of the prefix at a time.
    void add_to_all(Count first, Count count, const char* prefix) {
        const Count rows = copied_rows();
        if (copies_.empty()) {
            copies_.resize(bytes_of_copies());
            for (Count i = 0; i < rows; ++i) std::memcpy(copies_.data() + i * row_.extent, prefix, bytes_of_row());
        }
        for (Count i = first; i < first + count; i += rows) {
            char* const into = address(array_.into, row_.runs.front(), i);
            apply(copies_.data(), into, into, std::min(rows, first + count - i) * row_.columns);
        }
    }

    Array array_;
    Row row_;
    Reduction reduction_;
    kernels::Element element_;
    Count size_;  // bytes from column to column
    kernels::PrefixKernels kernels_;
    bool past_caches_, is_dense_;
    bool any_ = false;                        // the sum means something
    std::vector<char> sum_, spare_, copies_;  // with memory from the start: later, others would wait in vain
};

/// Elements of any datatype, which only MPI_Reduce_local can combine.
class ElementPasses : public Passes {
  public:
    ElementPasses(const Array& array, const Datatype& type, const Reduction& reduction, MPI_Comm messages)
        : Passes(pieces_of(type.extent), false), array_(array), type_(type), reduction_(reduction), messages_(messages),
          bytes_(static_cast<std::size_t>(type.true_extent)),
          copies_count_(std::max<Count>(1, copies_bytes / std::max<Count>(1, type.extent))), sum_(bytes_),
          spare_(bytes_) {
        copies_.reserve(bytes_of_copies());
    }

    void restart() override { any_ = false; }

    [[nodiscard]] TotalCombiner combiner() const override {
        return {reduction_, 1, type_.true_extent, type_.true_lower_bound};
    }
    [[nodiscard]] bool is_commutative() const override { return reduction_.commutative(); }
    [[nodiscard]] std::uint64_t signature() const override {
        Fingerprint fingerprint;
        fingerprint.add(static_cast<std::uint64_t>(type_.size));
        return fingerprint.value();
    }
    [[nodiscard]] const char* sum() const override { return sum_.data(); }

    int reduce(Count /*first*/, Count /*count*/) override { return MPI_ERR_INTERN; }  // never first

    int scan(Count first, Count count, const char* prefix) override {
        const int error = array_.exclusive ? scan_exclusively(first, count) : scan_inclusively(first, count);
        any_ = true;
        return error == MPI_SUCCESS && prefix != nullptr ? add(first, count, prefix) : error;
    }

    int add(Count first, Count count, const char* prefix) override {
        if (array_.exclusive && first == 0) {
            if (const int error = put(prefix, into(0)); error != MPI_SUCCESS) return error;
            ++first, --count;
        }
        make_copies(prefix);
        for (Count i = first; i < first + count; i += copies_count_) {
            const int error = apply(element(copies_.data()), into(i), std::min(copies_count_, first + count - i));
            if (error != MPI_SUCCESS) return error;
        }
        return MPI_SUCCESS;
    }

    int put(const char* data, void* element_of_user) override {
        return copy(element(data), static_cast<char*>(element_of_user), 1);
    }
    int put_identity(void* /*element_of_user*/) override { return MPI_SUCCESS; }  // nobody knows it

  private:
    [[nodiscard]] const char* from(Count i) const { return static_cast<const char*>(array_.from) + i * type_.extent; }
    [[nodiscard]] char* into(Count i) const { return static_cast<char*>(array_.into) + i * type_.extent; }
    /// The address of an element whose first byte stands there.
    [[nodiscard]] const char* element(const char* bytes) const { return bytes - type_.true_lower_bound; }
    [[nodiscard]] char* element(char* bytes) const { return bytes - type_.true_lower_bound; }
    /// All bytes of an element of the user, its gaps included.
    void take(const char* address, std::vector<char>& kept) const {
        std::memcpy(kept.data(), address + type_.true_lower_bound, bytes_);
    }
    int apply(const char* left, char* right_and_into, Count count) const {
        return reduction_.apply(left, right_and_into, right_and_into, count,
                                [](const void*, void*, Count) { return MPI_ERR_INTERN; });
    }
    /// Elements without their gaps.
    int copy(const char* source, char* target, Count count) const {
        if (type_.contiguous) {
            std::memcpy(target, source, static_cast<std::size_t>(count * type_.extent));
            return MPI_SUCCESS;
        }
        int self = 0;
        mpi::library().Comm_rank(messages_, &self);
        const int number = static_cast<int>(count);  // of a piece
        return mpi::library().Sendrecv(source, number, type_.handle, self, 0, target, number, type_.handle, self, 0,
                                       messages_, MPI_STATUS_IGNORE);
    }

    int scan_inclusively(Count first, Count count) {
        if (array_.from != array_.into) {
            if (const int error = copy(from(first), into(first), count); error != MPI_SUCCESS) return error;
        }
        for (Count i = first; i < first + count; ++i) {
            const char* const before = i > first ? into(i - 1) : element(sum_.data());
            if (!any_ && i == first) continue;
            if (const int error = apply(before, into(i), 1); error != MPI_SUCCESS) return error;
        }
        take(into(first + count - 1), sum_);
        return MPI_SUCCESS;
    }

    int scan_exclusively(Count first, Count count) {
        for (Count i = first; i < first + count; ++i) {
            take(from(i), spare_);
            if (any_ || i > first) {
                int error = copy(element(std::as_const(sum_).data()), into(i), 1);
                if (error == MPI_SUCCESS) error = apply(element(std::as_const(sum_).data()), element(spare_.data()), 1);
                if (error != MPI_SUCCESS) return error;
            }
            std::swap(sum_, spare_);
        }
        return MPI_SUCCESS;
    }

    [[nodiscard]] std::size_t bytes_of_copies() const { return static_cast<std::size_t>(type_.span(copies_count_)); }
    void make_copies(const char* prefix) {
        if (!copies_.empty()) return;
        copies_.resize(bytes_of_copies());
        for (Count i = 0; i < copies_count_; ++i) std::memcpy(copies_.data() + i * type_.extent, prefix, bytes_);
    }

    Array array_;
    const Datatype& type_;
    Reduction reduction_;
    MPI_Comm messages_;
    std::size_t bytes_;
    Count copies_count_;
    bool any_ = false;  // the sum means something
    std::vector<char> sum_, spare_, copies_;
};

/// What this rank would have to combine, it does not know how to.
class NoCombiner : public mpi::Combiner {
  public:
    int combine(const void* /*left*/, const void* /*right*/, void* /*into*/, Count /*count*/) const override {
        return MPI_ERR_OP;
    }
};

class NoPasses : public Passes {
  public:
    explicit NoPasses(Count bytes_of_total) : Passes(1, false), bytes_(bytes_of_total) {}

    void restart() override {}
    [[nodiscard]] TotalCombiner combiner() const override { return {reduction_, 1, bytes_, 0}; }
    [[nodiscard]] bool is_commutative() const override { return true; }
    [[nodiscard]] std::uint64_t signature() const override { return 0; }
    [[nodiscard]] const char* sum() const override { return nullptr; }
    int reduce(Count /*first*/, Count /*count*/) override { return MPI_ERR_INTERN; }
    int scan(Count /*first*/, Count /*count*/, const char* /*prefix*/) override { return MPI_ERR_INTERN; }
    int add(Count /*first*/, Count /*count*/, const char* /*prefix*/) override { return MPI_ERR_INTERN; }
    int put(const char* /*data*/, void* /*element*/) override { return MPI_ERR_INTERN; }
    int put_identity(void* /*element*/) override { return MPI_ERR_INTERN; }

  private:
    Count bytes_;
    NoCombiner combiner_;
    Reduction reduction_{combiner_, true};
};

}  // namespace

std::unique_ptr<Passes> no_passes(Count bytes_of_total) { return std::make_unique<NoPasses>(bytes_of_total); }

Count bytes_of_total(const Datatype& type) {
    const std::optional<Row> row = row_of(type);
    return row ? row->columns * row->basic->extent : type.true_extent;
}

std::unique_ptr<Passes> passes_for(const Array& array, const Datatype& type, MPI_Op op, MPI_Comm self_messages) {
    const bool predefined = Reduction(op, mpi::byte_type()).predefined();
    const Reduction whole(op, type);
    if (whole.objection() == nullptr && !whole.is_kernel()) {
        return std::make_unique<ElementPasses>(array, type, whole, self_messages);
    }
    std::optional<Row> row = predefined ? row_of(type) : std::nullopt;
    if (!row) return nullptr;
    const Reduction by_column(op, *row->basic);
    if (by_column.objection() != nullptr || !by_column.is_kernel() || !row->basic->element) return nullptr;
    const kernels::Element element = *row->basic->element;
    return std::make_unique<RowPasses>(array, *std::move(row), by_column, element);
}

}  // namespace rondo::prefix
