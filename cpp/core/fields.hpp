// Named values of a Python object, by reference: the state of a method (attributes), or its rule (a dict).
//
// A binding reads them into a struct with named fields before it releases the GIL. Wrong types and shapes are
// a TypeError that names the field; nothing is converted. Arrays are held until the Fields are gone.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/bind.hpp"

namespace streamsieve {

// A matrix in row order.
template <class T>
struct Table {
    T* data = nullptr;
    Index rows = 0, cols = 0;
    explicit operator bool() const { return data != nullptr; }
};

// Equal matrices in row order, one after the other.
template <class T>
struct Cube {
    T* data = nullptr;
    Index tables = 0, rows = 0, cols = 0;
};

class Fields {
  public:
    explicit Fields(nb::handle source) : source_(source), held_(std::make_shared<Held>()) {}

    // Whether there is such a field, and it is not None.
    bool has(const char* name) { return !find(name).is_none(); }
    Fields fields(const char* name) { return Fields(find(name), held_); }

    template <class T>
    std::span<T> vector(const char* name) {
        Vector<T> a = cast<Vector<T>>(name, "a contiguous 1-D array of the kernel's type");
        return {a.data(), a.shape(0)};
    }
    template <class T>
    Table<T> table(const char* name) {
        Matrix<T> a = cast<Matrix<T>>(name, "a contiguous 2-D array of the kernel's type");
        return {a.data(), Index(a.shape(0)), Index(a.shape(1))};
    }
    template <class T>
    Table<T> table_or_none(const char* name) {
        return has(name) ? table<T>(name) : Table<T>{};
    }
    template <class T>
    Cube<T> cube(const char* name) {
        using Array = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
        Array a = cast<Array>(name, "a contiguous 3-D array of the kernel's type");
        return {a.data(), Index(a.shape(0)), Index(a.shape(1)), Index(a.shape(2))};
    }
    // An array of NumPy records of doubles as the struct that names them in the same order.
    template <class Struct>
    std::span<Struct> records(const char* name) {
        Py_buffer view;
        if (PyObject_GetBuffer(find(name).ptr(), &view, PyBUF_WRITABLE | PyBUF_SIMPLE) != 0)
            throw nb::python_error();
        void* data = view.buf;
        const Py_ssize_t size = view.len, item = view.itemsize;
        PyBuffer_Release(&view);  // the array itself is held
        if (item != Py_ssize_t(sizeof(Struct))) fail(name, "records with the kernel's fields");
        return {static_cast<Struct*>(data), std::size_t(size) / sizeof(Struct)};
    }
    // One of them.
    template <class Struct>
    Struct& record(const char* name) {
        const auto one = records<Struct>(name);
        if (one.size() != 1) fail(name, "a single record");
        return one[0];
    }
    double number(const char* name) { return cast<double>(name, "a number", true); }
    Index integer(const char* name) { return cast<std::int64_t>(name, "an integer"); }
    std::uint64_t natural(const char* name) { return cast<std::uint64_t>(name, "an integer >= 0"); }
    bool flag(const char* name) { return cast<bool>(name, "a bool"); }
    std::string word(const char* name) { return cast<nb::str>(name, "a string").c_str(); }

  private:
    using Held = std::vector<nb::object>;
    Fields(nb::handle source, std::shared_ptr<Held> held) : source_(source), held_(std::move(held)) {}

    nb::handle find(const char* name) {
        PyObject* found;
        if (PyDict_Check(source_.ptr())) {
            found = PyDict_GetItemString(source_.ptr(), name);
            Py_XINCREF(found);
        } else {
            found = PyObject_GetAttrString(source_.ptr(), name);
        }
        if (!found) {
            PyErr_Clear();
            fail(name, "a field of that name");
        }
        held_->push_back(nb::steal(found));
        return held_->back();
    }
    template <class T>
    T cast(const char* name, const char* expected, bool convert = false) {
        T out;
        if (!nb::try_cast(find(name), out, convert)) fail(name, expected);
        return out;
    }
    [[noreturn]] static void fail(const char* name, const char* expected) {
        throw nb::type_error((std::string(name) + ": the kernel expects " + expected).c_str());
    }

    nb::handle source_;
    std::shared_ptr<Held> held_;
};

}  // namespace streamsieve
