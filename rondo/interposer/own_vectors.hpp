// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "rondo/backends/mpi/exchanging.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from a vector of each rank with a part for each to one with a part from each (MPI_Alltoall, MPI_Alltoallv,
/// MPI_Alltoallw). Lengths are in bytes: ranks may describe them by different datatypes. Where the parts differ, all
/// that others know alike is that there is such a call: so it is never empty, and nothing about its lengths may decide.
class OwnVectors {
  public:
    static constexpr bool takes_empty_type = true;
    /// True if an array is missing.
    static bool is_empty(const UserCall& call) {
        if (call.counts.is_missing() || call.displacements.is_missing() || call.types.is_missing()) return true;
        return call.input != MPI_IN_PLACE && (call.input_counts.is_missing() || call.input_displacements.is_missing() ||
                                              call.input_types.is_missing());
    }
    static Count bytes_of(const SeenCall& seen) {
        return seen.call.counts.is_argument() ? 0 : seen.call.count * seen.type.size * seen.communicator.size();
    }

    explicit OwnVectors(const SeenCall& seen)
        : seen_(seen), input_type_(has_one_input_type() ? described(seen.call.input_type, derived_) : seen.type),
          types_(facts_of(seen.call.types, seen.call.counts)),
          input_types_(facts_of(is_in_place() ? mpi::Datatypes() : seen.call.input_types, seen.call.input_counts)),
          outgoing_{outgoing()}, incoming_{incoming()},
          fits_(is_in_place() || outgoing_[rank()].bytes() == incoming_[rank()].bytes()), data_(exchanging()) {}

    OwnVectors(const OwnVectors&) = delete;  // members refer to others
    OwnVectors& operator=(const OwnVectors&) = delete;
    ~OwnVectors() = default;

    /// Bytes of a rank's vector; if parts differ, the bytes that this rank receives.
    [[nodiscard]] Count bytes() const { return data_.incoming().bytes(); }
    [[nodiscard]] bool is_nothing() const { return !parts_differ() && seen_.call.count * seen_.type.size <= 0; }
    [[nodiscard]] Count bytes_to_a_count() const { return seen_.type.size * seen_.communicator.size(); }

    [[nodiscard]] mpi::CallKey key() const {
        mpi::CallKey key = seen_.key(parts_differ() ? 0 : bytes(), 1, data_.in_place());
        if (parts_differ()) key.division = data_.hash_of_places();
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count> starts) const {
        return !lacks_memory_ && data_.has_places(starts);
    }
    [[nodiscard]] std::vector<Count> starts() const {
        if (lacks_memory_) throw std::bad_alloc();
        return data_.places();
    }

    /// Why the library would report an error; nullptr if it would not. Never names an error that the library lets pass.
    [[nodiscard]] const char* wrong() const {
        const UserCall& call = seen_.call;
        if (call.output == MPI_IN_PLACE && !parts_differ()) return doubtful;
        if (has_one_input_type() && call.input_type == mpi::library().datatype_null) return doubtful;
        if (lacks_type(call.types, call.counts)) return doubtful;
        if (!is_in_place() && lacks_type(call.input_types, call.input_counts)) return doubtful;
        if (has_negative_count()) return "negative count";
        const bool sends = !is_in_place() && data_.outgoing().bytes() > 0, receives = data_.incoming().bytes() > 0;
        if ((receives || reported::places_of_nothing) && call.output == MPI_IN_PLACE) return doubtful;
        if (is_reported_null(incoming_) || (!is_in_place() && is_reported_null(outgoing_))) return doubtful;
        const bool alike_types = call.input_type == call.datatype && call.input_types.array() == call.types.array();
        const bool alike_counts =
            parts_differ() ? call.input_counts.array() == call.counts.array() : call.input_count == call.count;
        if (seen_.type.predefined && sends && alike_types && alike_counts && call.input == call.output &&
            reported::aliases())
            return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const {
        return has_negative_count() || refuses(incoming_, data_.incoming()) ||
               (!is_in_place() && refuses(outgoing_, data_.outgoing()));
    }

    template <class Runner>
    int run(Runner& runner, const Plan& plan, bool /*is_wrong*/) const {
        return run_exchange(runner, plan, data_);
    }
    /// Sending itself another length than it gets is an error of this rank alone. If all parts are alike, the others
    /// get what stands in its output.
    [[nodiscard]] int own_error() const {
        return fits_ ? MPI_SUCCESS : error_of_lengths(outgoing_[rank()].bytes(), incoming_[rank()].bytes());
    }
    int keep_types(mpi::KeptHandles& kept) {
        int error = kept.keep(derived_);
        for (std::vector<mpi::Datatype>* const types : {&types_, &input_types_}) {
            const mpi::Datatype* last = nullptr;  // ranks that follow one another often have the same type
            MPI_Datatype given_last{};
            for (mpi::Datatype& type : *types) {
                const MPI_Datatype given = type.handle;
                if (last != nullptr && given == given_last) type.handle = last->handle;
                else if (error == MPI_SUCCESS) error = kept.keep(type);
                last = &type;
                given_last = given;
            }
        }
        return error;
    }

  private:
    [[nodiscard]] bool parts_differ() const { return seen_.call.counts.is_argument(); }
    [[nodiscard]] bool is_in_place() const { return seen_.call.input == MPI_IN_PLACE; }
    [[nodiscard]] bool has_one_input_type() const { return !is_in_place() && !seen_.call.types.is_argument(); }
    [[nodiscard]] Rank rank() const { return seen_.communicator.rank(); }
    /// The facts of each part's type, if it has one of its own. A null type, and that of an empty part, has no bytes:
    /// it may be anything. Without memory the call has no plan, which is found out in its turn.
    [[nodiscard]] std::vector<mpi::Datatype> facts_of(const mpi::Datatypes& types, const mpi::Numbers& counts) {
        std::vector<mpi::Datatype> facts;
        if (!types.is_argument()) return facts;
        try {
            facts.reserve(static_cast<std::size_t>(seen_.communicator.size()));
        } catch (const std::bad_alloc&) {
            lacks_memory_ = true;
            return facts;
        }
        for (Rank each = 0; each < seen_.communicator.size(); ++each) {
            mpi::Datatype derived;
            facts.push_back(counts[each] > 0 ? described(types[each], derived) : mpi::Datatype{});
        }
        return facts;
    }
    /// True if a part has no type that has to have one.
    [[nodiscard]] bool lacks_type(const mpi::Datatypes& types, const mpi::Numbers& counts) const {
        for (Rank each = 0; types.is_argument() && each < seen_.communicator.size(); ++each) {
            const bool needs_type = reported::types_of_nothing || counts[each] > 0;
            if (needs_type && types[each] == mpi::library().datatype_null) return true;
        }
        return false;
    }
    /// True if the library refuses to move the parts.
    [[nodiscard]] bool refuses(const mpi::PlacedParts& parts, const mpi::ExchangedParts& data) const {
        if (parts.types.empty()) return is_refused(seen_, parts.buffer, parts.type, data.bytes());
        const MPI_Datatype* last = nullptr;  // ranks that follow one another often have the same type
        for (Rank each = 0; each < parts.counts.size(); ++each) {
            const mpi::UserData part = parts[each];
            if (part.count <= 0 || (last != nullptr && *last == part.type.handle)) continue;
            if (is_refused(seen_, part.buffer, part.type, part.bytes())) return true;
            last = &part.type.handle;
        }
        return false;
    }
    [[nodiscard]] bool has_negative_count() const {
        return incoming_.counts.any_negative() || (!is_in_place() && outgoing_.counts.any_negative());
    }
    mpi::Exchanging exchanging() const {
        mpi::notice_device_runtimes();  // memory of a device has to be packed
        if (fits_ || !parts_differ()) return {outgoing_, incoming_, is_in_place() || !fits_};
        return {mpi::ExchangedParts(outgoing_, rank()), mpi::ExchangedParts(incoming_, rank())};
    }
    [[nodiscard]] mpi::PlacedParts incoming() const {
        const UserCall& call = seen_.call;
        return {static_cast<char*>(call.output), seen_.type, counts(call.counts, call.count), call.displacements,
                types_};
    }
    [[nodiscard]] mpi::PlacedParts outgoing() const {
        const UserCall& call = seen_.call;
        if (is_in_place()) return incoming();
        return {static_cast<char*>(const_cast<void*>(call.input)), input_type_,
                counts(call.input_counts, call.input_count), call.input_displacements, input_types_};
    }
    [[nodiscard]] mpi::PartCounts counts(const mpi::Numbers& of_each, Count each) const {
        const Rank size = seen_.communicator.size();
        return of_each.is_argument() ? mpi::PartCounts(of_each, size) : mpi::PartCounts(each, size);
    }

    const SeenCall& seen_;
    mpi::Datatype derived_;
    const mpi::Datatype& input_type_;
    bool lacks_memory_ = false;
    std::vector<mpi::Datatype> types_, input_types_;  // of each part; empty if all have the same
    const mpi::PlacedParts outgoing_, incoming_;
    const bool fits_;
    const mpi::Exchanging data_;
};

}  // namespace rondo::interposer
