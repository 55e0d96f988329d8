// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/msccl.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/written/xml.hpp"

namespace rondo::written {
namespace {

constexpr Rank most_ranks = 1 << 16;
constexpr Count most_chunks = Count{1} << 24;
constexpr std::int64_t most_steps = 1 << 24;  // of a thread block

constexpr MscclKind kinds[] = {
    {"nop"},
    {"s", false, false, false, true},
    {"r", true, false, true, false},
    {"rcs", true, false, true, true},
    {"rrs", true, true, false, true},
    {"rrc", true, true, true, false},
    {"rrcs", true, true, true, true},
    {"cpy", false, false, true, false},
    {"re", false, true, true, false},
};

/// A collective of MSCCL: its names there and here, and whether a rank puts in a part of the vector, or gets one.
struct Known {
    std::string_view msccl, rondo;
    bool input_is_part = false, output_is_part = false, may_be_in_place = false;
};

constexpr Known collectives[] = {
    {"allgather", "allgather", true, false, true},
    {"allreduce", "allreduce", false, false, true},
    {"alltoall", "alltoall", false, false, true},
    {"broadcast", "bcast", false, false, true},
    {"gather", "gather", true, false},
    {"reduce", "reduce"},
    {"reduce_scatter", "reduce_scatter", false, true, true},
    {"reducescatter", "reduce_scatter", false, true, true},
    {"scatter", "scatter", false, true},
};

const Known& known_as(std::string_view name, std::string_view Known::* which) {
    for (const Known& each : collectives) {
        if (each.*which == name) return each;
    }
    std::string names;
    for (const Known& each : collectives) names += (names.empty() ? "" : ", ") + std::string(each.msccl);
    throw Error("coll=\"" + std::string(name) + "\" is none of the collectives that MPI has, too: " + names);
}

const MscclKind& kind_of(const Element& element) {
    const std::string& name = element.text("type");
    for (const MscclKind& kind : kinds) {
        if (kind.name == name) return kind;
    }
    throw Error("line " + std::to_string(element.line) + ": type=\"" + name +
                "\"; expected s, r, rcs, rrc, rrs, rrcs, cpy, re or nop");
}

[[noreturn]] void refuse(const Element& element, const std::string& what) {
    throw Error("line " + std::to_string(element.line) + ": " + what);
}

class ProgramReader {
  public:
    explicit ProgramReader(const Element& top) : top_(top) {}

    MscclProgram read() && {
        if (top_.name != "algo") refuse(top_, "<" + top_.name + "> is no schedule of MSCCL, which is an <algo>");
        const Known& known = known_as(top_.text("coll"), &Known::msccl);
        program_.name = top_.text("name");
        program_.collective = known.rondo;
        program_.ranks = static_cast<Rank>(top_.number("ngpus", 1, most_ranks));
        program_.chunks = top_.number("nchunksperloop", 1, most_chunks);
        program_.root = static_cast<Rank>(top_.number_or("root", 0, program_.ranks - 1, 0));
        program_.in_place = top_.number_or("inplace", 0, 1, 0) == 1;
        if (program_.in_place && !known.may_be_in_place) {
            refuse(top_, "MPI has no " + std::string(known.rondo) + " in which input and output are one as in MSCCL");
        }
        const bool has_parts = known.input_is_part || known.output_is_part || known.rondo == "alltoall";
        if (has_parts && program_.chunks % program_.ranks != 0) {
            refuse(top_, "nchunksperloop=\"" + std::to_string(program_.chunks) + "\" is no multiple of ngpus=\"" +
                             std::to_string(program_.ranks) + "\"");
        }
        read_ranks();
        return std::move(program_);
    }

  private:
    void read_ranks() {
        const auto ranks = static_cast<std::size_t>(program_.ranks);
        program_.scratch.resize(ranks);
        program_.blocks.resize(ranks);
        std::vector<char> seen(ranks);
        for (const Element& gpu : top_.children) {
            if (gpu.name != "gpu") refuse(gpu, "<" + gpu.name + ">; expected <gpu>");
            rank_ = static_cast<Rank>(gpu.number("id", 0, program_.ranks - 1));
            const auto rank = static_cast<std::size_t>(rank_);
            if (std::exchange(seen[rank], 1) != 0) refuse(gpu, "gpu " + std::to_string(rank_) + " is there twice");
            program_.scratch[rank] = gpu.number("s_chunks", 0, most_chunks);
            read_blocks(gpu, program_.blocks[rank]);
        }
        const auto missing = std::ranges::find(seen, 0);
        if (missing != seen.end()) {
            throw Error("gpu " + std::to_string(missing - seen.begin()) + " is missing; ngpus=\"" +
                        std::to_string(ranks) + "\"");
        }
    }

    void read_blocks(const Element& gpu, std::vector<MscclBlock>& blocks) {
        std::set<std::tuple<bool, int, Rank>> connections;
        for (const Element& tb : gpu.children) {
            if (tb.name != "tb") refuse(tb, "<" + tb.name + ">; expected <tb>");
            expect_number(tb, "id", blocks.size());
            MscclBlock& block = blocks.emplace_back();
            block.send = peer(tb, "send");
            block.receive = peer(tb, "recv");
            block.channel = static_cast<int>(tb.number("chan", -1, most_ranks));
            for (const auto& [sends, other] : {std::pair(true, block.send), std::pair(false, block.receive)}) {
                if (other == no_rank || connections.insert({sends, block.channel, other}).second) continue;
                refuse(tb, "gpu " + std::to_string(rank_) + " has two thread blocks that " +
                               (sends ? "send to " : "receive from ") + std::to_string(other) + " in channel " +
                               std::to_string(block.channel));
            }
            for (const Element& step : tb.children) read_step(step, block);
        }
        for (std::size_t number = 0; number < blocks.size(); ++number) check_waits(gpu, blocks, number);
    }

    [[nodiscard]] Rank peer(const Element& tb, std::string_view direction) const {
        const auto found = static_cast<Rank>(tb.number(direction, -1, program_.ranks - 1));
        if (found == rank_) refuse(tb, std::string(direction) + "=\"" + std::to_string(found) + "\" is the gpu itself");
        return found;
    }

    static void expect_number(const Element& element, std::string_view attribute, std::size_t wanted) {
        if (element.number(attribute, 0, most_steps) == static_cast<std::int64_t>(wanted)) return;
        refuse(element, std::string(attribute) + "=\"" + element.text(attribute) + "\"; expected \"" +
                            std::to_string(wanted) + "\", for they are numbered from 0 on");
    }

    void read_step(const Element& element, MscclBlock& block) {
        if (element.name != "step") refuse(element, "<" + element.name + ">; expected <step>");
        expect_number(element, "s", block.steps.size());
        MscclStep step{.kind = &kind_of(element), .source = {}, .target = {}};
        const MscclKind& kind = *step.kind;
        const auto needs = [&](bool has, const char* what) {
            if (!has)
                refuse(element, "a step of type " + std::string(kind.name) + " in a thread block without " + what);
        };
        needs(!kind.sends || block.send != no_rank, "send");
        needs(!kind.receives || block.receive != no_rank, "recv");
        const bool uses_source = !kind.receives || kind.reduces;
        if (kind.name != "nop") {
            const Count count = element.number("cnt", 1, most_chunks);
            if (uses_source) step.source = place(element, "src", count);
            if (kind.writes) step.target = place(element, "dst", count);
        }
        step.block = static_cast<int>(element.number("depid", -1, most_steps));
        step.step = static_cast<int>(element.number("deps", -1, most_steps));
        step.is_waited_for = element.number_or("hasdep", 0, 1, 0) == 1;
        block.steps.push_back(step);
    }

    [[nodiscard]] Block place(const Element& element, const std::string& end, Count count) const {
        const std::string& name = element.text(end + "buf");
        const auto rank = static_cast<std::size_t>(rank_);
        Buffer buffer = Buffer::scratch;
        Count chunks = program_.scratch[rank];
        if (name == "i") buffer = Buffer::input, chunks = program_.input_chunks();
        else if (name == "o") buffer = Buffer::output, chunks = program_.output_chunks();
        else if (name != "s") refuse(element, end + "buf=\"" + name + "\"; expected i, o or s");
        const Count first = element.number(end + "off", 0, most_chunks);
        if (first + count > chunks) {
            refuse(element, end + "off=\"" + std::to_string(first) + "\" with cnt=\"" + std::to_string(count) +
                                "\" is beyond the " + std::to_string(chunks) + " chunks of the buffer " + name);
        }
        return {first, count, buffer};
    }

    void check_waits(const Element& gpu, const std::vector<MscclBlock>& blocks, std::size_t number) const {
        const std::vector<MscclStep>& steps = blocks[number].steps;
        for (std::size_t at = 0; at < steps.size(); ++at) {
            const MscclStep& step = steps[at];
            if (step.block < 0) continue;
            const auto other = static_cast<std::size_t>(step.block), awaited = static_cast<std::size_t>(step.step);
            const bool is_there = step.step >= 0 && other < blocks.size() && awaited < blocks[other].steps.size();
            const auto complain = [&](const char* why) {
                throw Error("gpu " + gpu.text("id") + ", thread block " + std::to_string(number) + ", step " +
                            std::to_string(at) + ": it waits for step " + std::to_string(step.step) +
                            " of thread block " + std::to_string(other) + ", which " + why);
            };
            if (!is_there) complain("is not there");
            if (other == number && awaited >= at) complain("comes later");
            if (!blocks[other].steps[awaited].is_waited_for) complain("has no hasdep=\"1\" and would not tell");
        }
    }

    const Element& top_;
    MscclProgram program_;
    Rank rank_ = 0;
};

}  // namespace

Count MscclProgram::input_chunks() const {
    return known_as(collective, &Known::rondo).input_is_part ? chunks / ranks : chunks;
}

Count MscclProgram::output_chunks() const {
    return known_as(collective, &Known::rondo).output_is_part ? chunks / ranks : chunks;
}

MscclProgram read_msccl(std::string_view text) {
    const Element top = parse_xml(text);
    return ProgramReader(top).read();
}

std::string where(const MscclProgram& program, Rank rank, std::size_t block, std::size_t step) {
    const MscclStep& found = program.blocks[static_cast<std::size_t>(rank)][block].steps[step];
    return "rank " + std::to_string(rank) + ", thread block " + std::to_string(block) + ", step " +
           std::to_string(step) + " (" + std::string(found.kind->name) + "): ";
}

}  // namespace rondo::written
