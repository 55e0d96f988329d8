// SPDX-License-Identifier: BSD-3-Clause
// The rest of what happens in a call: when the thread has seen none like it, and for the samples.
#include "rondo/profiler/recorder.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/profiler/communicators.hpp"
#include "rondo/profiler/file.hpp"
#include "rondo/profiler/sites.hpp"

namespace rondo::profiler {

Recorder recorder;

namespace {

std::mutex mutex;  // of all that is below, and of what takes turns

template <class Handle>
Handle handle(Word word) {
    if constexpr (std::is_pointer_v<Handle>) return std::bit_cast<Handle>(word);
    else return static_cast<Handle>(word);
}

struct TypeFacts {
    std::int64_t size = 0;
    std::string name;
};

TypeFacts facts_of_type(Word word) {
    const auto type = handle<MPI_Datatype>(word);
    const mpi::Library& library = mpi::library();
    TypeFacts facts;
    if (type == library.datatype_null) return facts;
    MPI_Count size = 0;
    if (library.Type_size_x(type, &size) == MPI_SUCCESS && size > 0) facts.size = size;
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    library.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        facts.name = "derived";
        return facts;
    }
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    library.Type_get_name(type, text, &length);
    facts.name = text;
    return facts;
}

std::string name_of_operator(Word word) {
    static const std::pair<MPI_Op, const char*> known[] = {
        {MPI_SUM, "MPI_SUM"},         {MPI_PROD, "MPI_PROD"},   {MPI_MAX, "MPI_MAX"},       {MPI_MIN, "MPI_MIN"},
        {MPI_LAND, "MPI_LAND"},       {MPI_LOR, "MPI_LOR"},     {MPI_LXOR, "MPI_LXOR"},     {MPI_BAND, "MPI_BAND"},
        {MPI_BOR, "MPI_BOR"},         {MPI_BXOR, "MPI_BXOR"},   {MPI_MAXLOC, "MPI_MAXLOC"}, {MPI_MINLOC, "MPI_MINLOC"},
        {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"},
    };
    for (const auto& [op, name] : known) {
        if (op == handle<MPI_Op>(word)) return name;
    }
    return handle<MPI_Op>(word) == mpi::library().op_null ? "MPI_OP_NULL" : "user function";
}

template <std::size_t size>
void copy_text(std::array<char, size>& to, std::string_view text) {
    text = text.substr(0, size - 1);
    std::ranges::copy(text, to.begin());
}

bool is_one_of(std::string_view function, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, function) != names.end();
}

/// What a call's function makes of its arguments.
struct Family {
    bool reduces, neighbours, parts_equal, lengths_differ;

    explicit Family(std::string_view base)
        : reduces(base.starts_with("MPI_Reduce") || is_one_of(base, {"MPI_Allreduce", "MPI_Scan", "MPI_Exscan"})),
          neighbours(base.starts_with("MPI_Neighbor")),
          parts_equal(is_one_of(
              base, {"MPI_Allgather", "MPI_Alltoall", "MPI_Gather", "MPI_Scatter", "MPI_Reduce_scatter_block"})),
          lengths_differ(neighbours ||
                         is_one_of(base, {"MPI_Alltoallv", "MPI_Alltoallw", "MPI_Gatherv", "MPI_Scatterv"})) {}
};

using LineKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t, Word, Word,
                           std::string, std::int64_t>;

/// nullptr: there is no room for it.
Line* line_of(const Call& call, const Communicator& communicator, std::uint32_t site, std::uint32_t size_class,
              const TypeFacts& type, bool reduces) {
    static auto& lines = *new std::map<LineKey, Line*>;
    const Word op = reduces ? call.op : 0;
    LineKey key{call.function, communicator.kind, site, size_class, call.root, op, reduces ? mpi::epoch() : 0,
                type.name,     type.size};
    std::string name;
    int commutes = 0;
    if (reduces) {
        name = name_of_operator(call.op);
        // A null operator is an error of the program's call. One of this call would end the program.
        if (handle<MPI_Op>(call.op) != mpi::library().op_null)
            mpi::library().Op_commutative(handle<MPI_Op>(call.op), &commutes);
        // User's operators are all alike but for that.
        std::get<5>(key) = name == "user function" ? static_cast<Word>(commutes) : call.op;
        std::get<6>(key) = name == "user function" ? 1 : 0;
    }
    const auto found = lines.find(key);
    if (found != lines.end()) return found->second;
    Image& image = *recorder.image;
    const std::uint32_t number = image.header.lines;
    if (number == image.lines.size()) return nullptr;
    Line& line = image.lines[number];
    line.function = call.function;
    line.site = site;
    line.communicator = communicator.kind;
    line.size_class = size_class;
    line.root = call.root;
    line.commutative = commutes != 0 ? 1 : 0;
    copy_text(line.datatype, type.name);
    copy_text(line.op, name);
    line.element = type.size;
    line.smallest = std::numeric_limits<std::uint64_t>::max();
    ++image.header.lines;
    lines.emplace(std::move(key), &line);
    return &line;
}

std::uint32_t counter_of(const Call& call, std::uint32_t size_class) {
    const std::uint32_t mixed =
        (call.base * 97U + static_cast<std::uint32_t>(call.root + 1) * 31U + size_class) * 0x9E3779B1U;
    return mixed >> 26U;  // of 64
}
static_assert(counters == 64);

void look_up(Slot& slot, const Call& call, std::string_view frames) {
    const Communicator* const communicator = &communicator_of(handle<MPI_Comm>(call.comm));
    const Family family(name_of(call.base));
    const bool is_inter = communicator->is_inter();
    const bool is_root = is_inter ? call.root == MPI_ROOT : call.root == communicator->rank;
    const int ranks = is_inter ? communicator->remote_size : communicator->size;
    slot.epoch = mpi::epoch();
    slot.comm = call.comm;
    slot.datatype = call.datatype;
    slot.part_type = call.part_type;
    slot.op = call.op;
    slot.caller = std::bit_cast<Word>(call.caller);
    slot.frames = call.frames;
    slot.function = call.function;
    slot.root = call.root;
    slot.by_part = call.lengths.of_a_part_elsewhere && !is_root;
    slot.ranks = family.neighbours ? 0 : ranks;
    TypeFacts type;
    if (call.lengths.of != Lengths::Of::nothing) type = facts_of_type(slot.by_part ? call.part_type : call.datatype);
    slot.factor = type.size * (family.parts_equal ? ranks : 1);
    const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(slot.length_of(call) * slot.factor, 0));
    const bool one_class = family.lengths_differ || call.lengths.of == Lengths::Of::nothing;
    const std::uint32_t size_class = one_class ? 0 : static_cast<std::uint32_t>(std::bit_width(bytes));
    slot.low = size_class > 0 ? std::uint64_t{1} << (size_class - 1) : 0;
    slot.span = one_class ? std::numeric_limits<std::int64_t>::max() : size_class > 0 ? slot.low - 1 : 0;
    slot.line =
        line_of(call, *communicator, site_of(call.caller, call.frames, frames), size_class, type, family.reduces);
    const bool waits = call.blocks && !family.neighbours && communicator->instance != none;
    slot.counter_number = counter_of(call, size_class);
    slot.counter = waits ? const_cast<std::uint32_t*>(&communicator->calls[slot.counter_number]) : nullptr;
    slot.instance = communicator->instance;
    if (slot.line == nullptr) slot.low = ~std::uint64_t{0}, slot.span = 0;
}

}  // namespace

void look_up_type(Thread::Type& type, Word word) { type = {mpi::epoch(), word, facts_of_type(word).size}; }

const Slot& slot_for(const Call& call, std::uint64_t& bytes) {
    constexpr std::uint32_t ways = 4;
    const auto first = static_cast<std::size_t>(&place_of(call) - thread.slots.data());
    Slot* free = nullptr;
    for (std::uint32_t way = 0; way < ways; ++way) {
        Slot& slot = thread.slots[first ^ way];
        if (slot.holds(call, bytes)) return slot;
        if (free == nullptr && slot.epoch != mpi::epoch()) free = &slot;
    }
    Slot& slot = free != nullptr ? *free : thread.slots[first ^ thread.next_way++ % ways];
    slot = {};
    slot.function = call.function;
    bytes = 0;
    if (call.comm == static_cast<Word>(std::bit_cast<HandleWord>(mpi::library().comm_null))) return slot;  // an error
    std::unique_lock lock(mutex);
    std::string frames;
    if (recorder.python && !knows_site(call.caller, call.frames)) {
        // Reading frames takes the lock of the interpreter, whose holder may be waiting for this one.
        lock.unlock();
        frames = text_of_python_frames();
        lock.lock();
    }
    look_up(slot, call, frames);
    bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(slot.length_of(call) * slot.factor, 0));
    return slot;
}

void count_carefully(const Slot& slot, std::uint64_t bytes, Ticks entry) {
    const Ticks exit = ticks();
    recorder.image->header.last = exit;
    const std::uint32_t number =
        slot.counter != nullptr ? (*slot.counter)++ : 0;  // calls on one communicator take turns
    if (slot.line == nullptr) {
        Function& counts = recorder.image->functions[slot.function];
        add(recorder.image->header.calls_without_line, 1);
        add(counts.calls, 1);
        add(counts.ticks, exit - entry);
        return;
    }
    Line& line = *slot.line;
    add(line.bytes, bytes);
    add(line.ticks, exit - entry);
    add(line.calls, 1);
    const auto improve = [](std::uint64_t& kept, std::uint64_t value, auto is_better) {
        std::atomic_ref atomic(kept);
        std::uint64_t before = atomic.load(std::memory_order_relaxed);
        while (is_better(value, before) && !atomic.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
        }
    };
    improve(line.smallest, bytes, std::less<>());
    improve(line.largest, bytes, std::greater<>());
    if (slot.counter != nullptr && is_sampled(number)) keep_sample(slot, number, entry, exit);
}

void keep_sample(const Slot& slot, std::uint32_t number, Ticks entry, Ticks exit) {
    const std::lock_guard lock(mutex);
    Header& header = recorder.image->header;
    Sample* const sample = next_sample();
    if (sample == nullptr) {
        ++header.samples_without_place;
        return;
    }
    const auto line = static_cast<std::uint32_t>(slot.line - recorder.image->lines.data());
    *sample = {entry, exit, slot.instance, line, number, slot.counter_number};
    ++header.samples;
    header.later = moment();
}

void note_communicator(HandleWord word, const char* made_by) {
    const std::lock_guard lock(mutex);
    made(handle<MPI_Comm>(word), made_by);
}

void rename_communicator(HandleWord word) {
    const std::lock_guard lock(mutex);
    renamed(handle<MPI_Comm>(word));
}

void announce_communicator(HandleWord word, const char* made_by) {
    const std::lock_guard lock(mutex);
    announced(handle<MPI_Comm>(word), made_by);
}

void forget_communicator(HandleWord word) {
    const std::lock_guard lock(mutex);
    forgotten(handle<MPI_Comm>(word));
}

}  // namespace rondo::profiler
