// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "testbed/control.hpp"

namespace rondo::testbed {

/// The control page of a cluster's directory, mapped. Throws Failure.
class ControlPage {
  public:
    static ControlPage create(const std::string& directory);
    static ControlPage open(const std::string& directory);

    ControlPage(ControlPage&& other) noexcept;
    ControlPage(const ControlPage&) = delete;
    ControlPage& operator=(const ControlPage&) = delete;
    ControlPage& operator=(ControlPage&&) = delete;
    ~ControlPage();

    Control& operator*() const { return *control_; }
    Control* operator->() const { return control_; }

  private:
    explicit ControlPage(Control* control) : control_(control) {}

    Control* control_;
};

}  // namespace rondo::testbed
