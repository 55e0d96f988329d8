// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <limits>

#include "rondo/kernels/elements.hpp"
#include "rondo/kernels/prefix.hpp"

namespace rondo::kernels {
namespace {

template <class T>
bool put_number(Operation operation, void* into) {
    using Limits = std::numeric_limits<T>;
    T value{};
    switch (operation) {
        case Operation::sum:
        case Operation::lor:
        case Operation::bor:
        case Operation::lxor:
        case Operation::bxor: value = T{0}; break;
        case Operation::prod:
        case Operation::land: value = T{1}; break;
        case Operation::max: value = Limits::has_infinity ? -Limits::infinity() : Limits::lowest(); break;
        case Operation::min: value = Limits::has_infinity ? Limits::infinity() : Limits::max(); break;
        case Operation::band:
            if constexpr (std::is_integral_v<T>) value = static_cast<T>(~T{0});
            break;
        default: return false;
    }
    std::memcpy(into, &value, sizeof value);
    return true;
}

template <class Part>
bool put_complex(Operation operation, void* into) {
    const Complex<Part> value{static_cast<Part>(operation == Operation::prod ? 1 : 0), Part{0}};
    std::memcpy(into, &value, sizeof value);
    return is_arithmetic(operation);
}

}  // namespace

bool put_identity(Operation operation, Element element, void* into) noexcept {
    if (find(operation, element) == nullptr) return false;
    switch (element) {
        case Element::int8: return put_number<std::int8_t>(operation, into);
        case Element::int16: return put_number<std::int16_t>(operation, into);
        case Element::int32: return put_number<std::int32_t>(operation, into);
        case Element::int64: return put_number<std::int64_t>(operation, into);
        case Element::uint8:
        case Element::boolean:
        case Element::byte: return put_number<std::uint8_t>(operation, into);
        case Element::uint16: return put_number<std::uint16_t>(operation, into);
        case Element::uint32: return put_number<std::uint32_t>(operation, into);
        case Element::uint64: return put_number<std::uint64_t>(operation, into);
        case Element::float32: return put_number<float>(operation, into);
        case Element::float64: return put_number<double>(operation, into);
        case Element::long_double: return put_number<long double>(operation, into);
        case Element::complex64: return put_complex<float>(operation, into);
        case Element::complex128: return put_complex<double>(operation, into);
        case Element::complex_long_double: return put_complex<long double>(operation, into);
        default: return false;
    }
}

}  // namespace rondo::kernels
