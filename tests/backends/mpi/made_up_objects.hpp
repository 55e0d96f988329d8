// SPDX-License-Identifier: BSD-3-Clause
// What a made-up library keeps.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/kernels/kernels.hpp"
#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi::made_up {

/// Objects by their handles. The handle that was given back last is the next one, as in MPICH.
template <class Handle, class Object>
class Objects {
  public:
    explicit Objects(std::uintptr_t first) : next_(first) {}

    Handle add(Object object) {
        std::uintptr_t word = 0;
        if (free_.empty()) {
            word = next_;
            next_ += 16;
        } else {
            word = free_.back();
            free_.pop_back();
        }
        const Handle handle = handle_of(word);
        words_[handle] = word;
        objects_.insert_or_assign(handle, std::move(object));
        return handle;
    }
    void add(Handle handle, Object object) { objects_.insert_or_assign(handle, std::move(object)); }
    Object* find(Handle handle) {
        const auto found = objects_.find(handle);
        return found != objects_.end() ? &found->second : nullptr;
    }
    void remove(Handle handle) {
        objects_.erase(handle);
        free_.push_back(words_.at(handle));
        words_.erase(handle);
    }
    /// Those that were made.
    [[nodiscard]] std::size_t size() const { return words_.size(); }

  private:
    static Handle handle_of(std::uintptr_t word) {
        if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<Handle>(word);
        else return static_cast<Handle>(word);
    }

    std::uintptr_t next_;
    std::vector<std::uintptr_t> free_;
    std::map<Handle, std::uintptr_t> words_;
    std::map<Handle, Object> objects_;
};

struct Communicator {
    std::vector<int> ranks;  // of the world
    int rank = 0;            // this process
    std::uint64_t context = 0;
    MPI_Errhandler errors{};
    std::function<void(int)> handler = {};
    bool is_inter = false;
    int remote_size = 0;
    std::vector<std::pair<int, void*>> attributes = {};  // in the order in which they were set
    std::uint64_t children = 0;
    int collectives = 0;
};

struct Key {
    MPI_Comm_delete_attr_function* erase = nullptr;
    void* extra = nullptr;
    bool is_freed = false;
};

struct Type {
    MPI_Count size = 0;
    MPI_Aint lower_bound = 0, extent = 0;
    std::vector<std::pair<MPI_Aint, MPI_Aint>> pieces = {};  // offset and bytes, as the signature has them
    int combiner = MPI_COMBINER_NAMED;
    MPI_Datatype inner{};
    MPI_Count count = 0;
    bool is_large = false;
    bool is_committed = true;
    std::optional<kernels::Element> element = std::nullopt;
    std::string name = {};
};

struct Operator {
    std::optional<kernels::Operation> operation = std::nullopt;
    Function function = {};
    bool commutes = true;
};

struct Request {
    bool is_receive = false, is_done = false, is_cancelled = false;
    int error = MPI_SUCCESS;
    void* buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type{};
    int from = 0, tag = 0;
    std::uint64_t context = 0;
};

struct State {
    Behaviour behaviour;
    std::map<std::string, int> calls;
    std::size_t longest_allreduce = 0;
    struct Failing {
        int code, after, times;
    };
    std::map<std::string, Failing> failing;
    std::vector<Handled> handled;
    bool is_initialised = false, is_finalized = false;
    Objects<MPI_Comm, Communicator> communicators{0x44100000};
    Objects<MPI_Group, std::vector<int>> groups{0x48100000};
    Objects<MPI_Datatype, Type> types{0x4d100000};
    Objects<MPI_Op, Operator> operators{0x58100000};
    Objects<MPI_Request, Request> requests{0x6c100000};
    std::map<int, Key> keys;
    int next_key = 0x6c40000;
    std::list<MPI_Request> receiving;  // in the order of their calls
};
State& state();

/// Tells the communicator's error handler.
int raise(MPI_Comm comm, int code);

Type* find_type(MPI_Datatype handle);
void add_predefined();
std::vector<std::byte> packed(const void* data, MPI_Count count, MPI_Datatype type);
/// As many bytes as there are, whatever room there is.
void unpack(const void* bytes, std::size_t length, void* data, MPI_Count count, MPI_Datatype type);
MPI_Count bytes_of(MPI_Count count, MPI_Datatype type);
int reduce(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);

/// The library's own functions, by their names without MPI_.
// NOLINTBEGIN(readability-identifier-naming): MPI's names
namespace functions {
#define RONDO_MADE_UP(name) std::remove_pointer_t<decltype(&PMPI_##name)> name;
RONDO_MPI_FUNCTIONS(RONDO_MADE_UP)
RONDO_MPI_LARGE_COUNT_FUNCTIONS(RONDO_MADE_UP)
RONDO_FUNCTIONS_BY_HAND(RONDO_MADE_UP)
RONDO_SERVED_FUNCTIONS(RONDO_MADE_UP)
#undef RONDO_MADE_UP
}  // namespace functions
// NOLINTEND(readability-identifier-naming)

}  // namespace rondo::mpi::made_up
