// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

namespace rondo::bench {
Calls::Calls(const Plan& plan, Problem& problem, MPI_Comm comm)
    : plan_(plan), problem_(problem), arguments_(problem.arguments(comm)), persistent_(plan.candidates.size()) {}

Calls::~Calls() {
    for (Persistent& each : persistent_) {
        if (each.request != MPI_REQUEST_NULL) MPI_Request_free(&each.request);
    }
}

void Calls::prepare(std::int32_t candidate, Form form) {
    candidate_ = static_cast<std::size_t>(candidate);
    Persistent& persistent = persistent_[candidate_];
    const Collective& collective = problem_.collective();
    callee_ = {nullptr, form, form == Form::persistent ? &persistent.request : &begun_};
    if (collective.function == nullptr) return;
    callee_.function = function_of(collective, form, is_native());
    if (form != Form::persistent || persistent.request == MPI_REQUEST_NULL) {
        if (!is_native()) choose(collective.name, plan_.candidates[candidate_]);
    }
    if (form != Form::persistent) return;
    // MPI_Start is wrapped, too, where Rondo stands before the library.
    start_ = is_native() ? reinterpret_cast<Starter>(library_function("MPI_Start")) : MPI_Start;
    if (persistent.request != MPI_REQUEST_NULL) return;
    collective.call(callee_, arguments_);
    persistent.left_to_library = asks_left_to_library(persistent.reason);
}

void Calls::begin() {
    if (callee_.form == Form::persistent) start_(callee_.request);
    else problem_.collective().call(callee_, arguments_);
}

void Calls::finish() {
    if (callee_.form != Form::blocking) MPI_Wait(callee_.request, MPI_STATUS_IGNORE);
}

bool Calls::left_to_library(std::string& reason) const {
    if (callee_.form != Form::persistent) return asks_left_to_library(reason);
    const Persistent& persistent = persistent_[candidate_];
    reason = persistent.reason;
    return persistent.left_to_library;
}

bool Calls::asks_left_to_library(std::string& reason) const {
    return !is_native() && rondo::bench::left_to_library(problem_.collective().name, reason) > 0;
}

}  // namespace rondo::bench
