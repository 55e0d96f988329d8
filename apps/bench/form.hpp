// SPDX-License-Identifier: BSD-3-Clause
// The three forms of MPI's collectives: a call that returns when it is done, one that only begins (MPI_Ibcast), and one
// that is started again and again (MPI_Bcast_init).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "choice.hpp"

namespace rondo::bench {

enum class Form : std::int32_t { blocking, nonblocking, persistent };

const char* name_of(Form form);
std::optional<Form> find_form(const std::string& name);

/// The name of a collective's function in this form: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init.
std::string name_in_form(const std::string& blocking, Form form);

/// A collective's function in one of its forms. All take the arguments of the blocking one, and then their own.
struct Callee {
    Function function = nullptr;
    Form form = Form::blocking;
    MPI_Request* request = nullptr;  ///< gets the request, unless the form is blocking

    /// `Types`: of the blocking function's parameters.
    template <class... Types>
    void call(std::type_identity_t<Types>... arguments) const {
        switch (form) {
            case Form::blocking: reinterpret_cast<int (*)(Types...)>(function)(arguments...); break;
            case Form::nonblocking:
                reinterpret_cast<int (*)(Types..., MPI_Request*)>(function)(arguments..., request);
                break;
            case Form::persistent:
                reinterpret_cast<int (*)(Types..., MPI_Info, MPI_Request*)>(function)(arguments..., MPI_INFO_NULL,
                                                                                      request);
                break;
        }
    }
};

}  // namespace rondo::bench
