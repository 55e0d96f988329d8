// SPDX-License-Identifier: BSD-3-Clause
// The frames of Python, by the functions that every CPython since 3.9 shows: found by name, since most programs have
// none.
#include <dlfcn.h>

#include <array>
#include <string>

#include "rondo/profiler/sites.hpp"

namespace rondo::profiler {
namespace {

constexpr int deepest = 8;

/// PyObject, PyFrameObject, PyCodeObject and PyThreadState: only their addresses are used.
struct Object;

struct Python {
    int (*IsInitialized)();
    int (*Ensure)();
    void (*Release)(int state);
    Object* (*ThisThreadState)();
    Object* (*Frame)(Object* thread);
    Object* (*Code)(Object* frame);
    Object* (*Back)(Object* frame);
    int (*Line)(Object* frame);
    Object* (*Attribute)(Object* object, const char* name);
    const char* (*Utf8)(Object* text);
    void (*Fetch)(Object** type, Object** value, Object** trace);
    void (*Restore)(Object* type, Object* value, Object* trace);
    void (*DecRef)(Object* object);
};

Python python{};

template <class Function>
bool found(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
}

/// Calls `each` with the code and line of every frame of this thread, the innermost first. mpi4py releases the lock of
/// the interpreter in its calls of MPI; here it has to be held.
template <class Each>
void for_each_frame(Each each) {
    if (python.IsInitialized() == 0) return;
    Object* const thread_state = python.ThisThreadState();
    if (thread_state == nullptr) return;  // no thread of Python's
    const int lock = python.Ensure();
    Object* frame = python.Frame(thread_state);
    for (int depth = 0; frame != nullptr && depth < deepest; ++depth) {
        Object* const code = python.Code(frame);
        each(code, python.Line(frame));
        python.DecRef(code);
        Object* const outer = python.Back(frame);
        python.DecRef(frame);
        frame = outer;
    }
    if (frame != nullptr) python.DecRef(frame);
    python.Release(lock);
}

std::string text_of(Object* code, const char* attribute) {
    Object* const value = python.Attribute(code, attribute);
    if (value == nullptr) return "?";
    const char* const text = python.Utf8(value);
    std::string result = text != nullptr ? text : "?";
    python.DecRef(value);
    return result;
}

}  // namespace

void look_for_python() {
    recorder.python = found(python.IsInitialized, "Py_IsInitialized") && found(python.Ensure, "PyGILState_Ensure") &&
                      found(python.Release, "PyGILState_Release") &&
                      found(python.ThisThreadState, "PyGILState_GetThisThreadState") &&
                      found(python.Frame, "PyThreadState_GetFrame") && found(python.Code, "PyFrame_GetCode") &&
                      found(python.Back, "PyFrame_GetBack") && found(python.Line, "PyFrame_GetLineNumber") &&
                      found(python.Attribute, "PyObject_GetAttrString") && found(python.Utf8, "PyUnicode_AsUTF8") &&
                      found(python.Fetch, "PyErr_Fetch") && found(python.Restore, "PyErr_Restore") &&
                      found(python.DecRef, "Py_DecRef");
}

Word python_frames() {
    Word hash = 0;
    for_each_frame([&](const Object* code, int line) {
        hash = (hash ^ std::bit_cast<Word>(code) ^ static_cast<Word>(line) << 32U) * 0x9E3779B97F4A7C15U;
    });
    return hash;
}

std::string text_of_python_frames() {
    std::string text;
    for_each_frame([&](Object* code, int line) {
        std::array<Object*, 3> error{};
        python.Fetch(error.data(), &error[1], &error[2]);
        text += (text.empty() ? "" : "\n") + text_of(code, "co_filename") + ":" + std::to_string(line) + " in " +
                text_of(code, "co_name");
        python.Restore(error[0], error[1], error[2]);
    });
    return text;
}

}  // namespace rondo::profiler
