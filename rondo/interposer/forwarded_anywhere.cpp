// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/forwarded_anywhere.hpp"

#include <new>

#include "rondo/interposer/thread_end.hpp"

namespace rondo::interposer {
namespace {

void give_back(void* own) {
    forwarded_anywhere = nullptr;
    delete static_cast<ForwardedAnywhere*>(own);
}

}  // namespace

RONDO_THREAD_LOCAL constinit ForwardedAnywhere* forwarded_anywhere = nullptr;

ForwardedAnywhere* own_forwarded_anywhere() noexcept {
    static const AtThreadEnd at_end(&give_back);
    if (forwarded_anywhere != nullptr) return forwarded_anywhere;
    auto* const own = new (std::nothrow) ForwardedAnywhere;
    if (own == nullptr || !at_end.keep(own)) {
        delete own;
        return nullptr;
    }
    return forwarded_anywhere = own;
}

}  // namespace rondo::interposer
