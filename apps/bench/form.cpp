// SPDX-License-Identifier: BSD-3-Clause
#include "form.hpp"

#include <cctype>

namespace rondo::bench {

const char* name_of(Form form) {
    switch (form) {
        case Form::nonblocking: return "nonblocking";
        case Form::persistent: return "persistent";
        default: return "blocking";
    }
}

std::optional<Form> find_form(const std::string& name) {
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
        if (name == name_of(form)) return form;
    }
    return std::nullopt;
}

std::string name_in_form(const std::string& blocking, Form form) {
    constexpr std::size_t prefix = 4;  // MPI_
    std::string name = blocking;
    if (form == Form::persistent) name += "_init";
    if (form == Form::nonblocking) {
        name[prefix] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[prefix])));
        name.insert(prefix, 1, 'I');
    }
    return name;
}

}  // namespace rondo::bench
