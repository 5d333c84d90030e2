// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Interpreter_h
#define CudaFilters_wrapping_Interpreter_h

// Helpers for functions that Python calls. A source file of the extension module includes this header first.
#ifndef PY_SSIZE_T_CLEAN
#  define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include "HostArray.h"

#include <chrono>
#include <cstdarg>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <shared_mutex>
#include <type_traits>
#include <vector>

namespace cudafilters
{
/** Thrown after a Python call has failed and set Python's error. */
struct PythonError
{};

/** Owns a Python reference and releases it in its destructor. */
class Reference
{
public:
  explicit Reference(PyObject * object)
    : m_Object(object)
  {
    if (!object)
    {
      throw PythonError();
    }
  }
  ~Reference() { Py_XDECREF(m_Object); }

  Reference(const Reference &) = delete;
  Reference &
  operator=(const Reference &) = delete;

  PyObject *
  Get() const
  {
    return m_Object;
  }

private:
  PyObject * m_Object;
};

/** Is held shared by the threads that use the library without the interpreter's lock, and alone while its global
 * objects are replaced (CudaFiltersSingletons.h). std::shared_mutex may let new threads in for as long as others hold
 * it; here they wait as soon as a thread asks to be alone. */
class LibraryMutex
{
public:
  void
  lock()
  {
    m_Entry.lock();
    m_Mutex.lock();
  }
  void
  unlock()
  {
    m_Mutex.unlock();
    m_Entry.unlock();
  }
  void
  lock_shared()
  {
    const std::lock_guard<std::mutex> entry(m_Entry);
    m_Mutex.lock_shared();
  }
  void
  unlock_shared()
  {
    m_Mutex.unlock_shared();
  }

private:
  std::mutex        m_Entry;
  std::shared_mutex m_Mutex;
};

inline LibraryMutex libraryMutex;

/** Releases the interpreter's lock until the end of the scope, so that other Python threads can run. */
class WithoutLock
{
public:
  WithoutLock() { this->Release(); }
  /** Acquires the lock again. An interpreter that has shut down may end the thread here, by an exception that no
   * handler may stop. */
  ~WithoutLock() noexcept(false) { this->Acquire(); }

  WithoutLock(const WithoutLock &) = delete;
  WithoutLock &
  operator=(const WithoutLock &) = delete;

  /** Lets Python run the handlers of signals that have arrived. Throws PythonError if one raises an exception, as that
   * of Ctrl-C does. */
  void
  CheckSignals()
  {
    constexpr auto pause = std::chrono::milliseconds(50); // the lock may take long to get
    const auto     now = std::chrono::steady_clock::now();
    if (now - m_LastCheck < pause)
    {
      return;
    }
    m_LastCheck = now;
    this->CallWithLock([] {
      if (PyErr_CheckSignals() != 0)
      {
        throw PythonError();
      }
    });
  }

  /** Calls a function with the lock. */
  template <typename TFunction>
  void
  CallWithLock(const TFunction & function)
  {
    this->Acquire();
    try
    {
      function();
    }
    catch (...)
    {
      this->Release();
      throw;
    }
    this->Release();
  }

  /** Calls `progress`, which is None or a function, with the share of the work that is done. Also checks signals. */
  void
  ReportProgress(PyObject * progress, float share)
  {
    this->CheckSignals();
    if (progress != Py_None)
    {
      this->CallWithLock(
        [&] { const Reference result(PyObject_CallFunction(progress, "d", static_cast<double>(share))); });
    }
  }

private:
  void
  Release()
  {
    m_State = PyEval_SaveThread();
    libraryMutex.lock_shared();
  }
  void
  Acquire()
  {
    libraryMutex.unlock_shared();
    PyEval_RestoreThread(m_State);
  }

  PyThreadState *                       m_State;
  std::chrono::steady_clock::time_point m_LastCheck{ std::chrono::steady_clock::now() };
};

/** Calls a function. Its exceptions become Python's; the result is then `failed`. */
template <typename TResult, typename TFunction>
TResult
CatchAll(TResult failed, const TFunction & function)
{
  try
  {
    return function();
  }
  catch (const PythonError &)
  {}
  catch (const std::bad_alloc &)
  {
    PyErr_NoMemory();
  }
  catch (const std::exception & error)
  {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

/** The form in which Python calls a function of its argument or of the tuple of them. Exceptions become Python's, the
 * result of a function without one is None. */
template <auto VFunction>
PyObject *
Call(PyObject *, PyObject * argument)
{
  return CatchAll<PyObject *>(nullptr, [argument]() -> PyObject * {
    using ResultType = decltype(VFunction(argument));
    if constexpr (std::is_void_v<ResultType>)
    {
      VFunction(argument);
      Py_RETURN_NONE;
    }
    else if constexpr (std::is_same_v<ResultType, bool>)
    {
      return PyBool_FromLong(VFunction(argument));
    }
    else
    {
      return VFunction(argument);
    }
  });
}

/** Returns the type of elements of a format of the buffer protocol. Throws PythonError if the filters do not know it.
 */
inline itk::CudaComponentType
ReadComponentType(const char * format)
{
  using Type = itk::CudaComponentType;
  constexpr struct
  {
    char Format;
    Type Component;
  } types[] = { { '?', Type::UChar },  { 'B', Type::UChar }, { 'b', Type::Char },
                { 'H', Type::UShort }, { 'h', Type::Short }, { 'I', Type::UInt },
                { 'i', Type::Int },    { 'f', Type::Float }, { 'd', Type::Double } };
  // NumPy writes the order of bytes also of native types, if it was given; others do not get here.
  format += format[0] == '<' || format[0] == '=' || format[0] == '@' ? 1 : 0;
  for (const auto & type : types)
  {
    if (format[0] == type.Format && format[1] == '\0')
    {
      return type.Component;
    }
  }
  PyErr_Format(PyExc_ValueError, "an array has elements of the format %s", format);
  throw PythonError();
}

/** A view of a Python object's memory by the buffer protocol. */
class Buffer
{
public:
  Buffer(PyObject * object, int flags)
  {
    if (PyObject_GetBuffer(object, &m_Buffer, flags | PyBUF_STRIDES | PyBUF_FORMAT) != 0)
    {
      throw PythonError();
    }
  }
  ~Buffer() { PyBuffer_Release(&m_Buffer); }

  Buffer(const Buffer &) = delete;
  Buffer &
  operator=(const Buffer &) = delete;

  /** Returns the array with the axes in this order. Throws PythonError if the filters do not take it. */
  HostArray
  Get(const std::vector<size_t> & axes) const
  {
    HostArray array{ m_Buffer.buf, ReadComponentType(m_Buffer.format ? m_Buffer.format : "B"), {}, {} };
    for (const size_t axis : axes)
    {
      const Py_ssize_t size = m_Buffer.shape[axis];
      const Py_ssize_t stride = m_Buffer.strides[axis];
      if (size > 1 && (stride < 0 || stride % m_Buffer.itemsize != 0))
      {
        PyErr_Format(PyExc_ValueError, "an array has the stride %zd along axis %zu", stride, axis);
        throw PythonError();
      }
      array.Shape.push_back(static_cast<size_t>(size));
      array.Strides.push_back(size > 1 ? static_cast<size_t>(stride / m_Buffer.itemsize) : 0);
    }
    return array;
  }

  /** Returns the array with its own order of axes. */
  HostArray
  Get() const
  {
    std::vector<size_t> axes(this->GetNumberOfAxes());
    std::iota(axes.begin(), axes.end(), size_t{ 0 });
    return this->Get(axes);
  }

  size_t
  GetNumberOfAxes() const
  {
    return static_cast<size_t>(m_Buffer.ndim);
  }

private:
  Py_buffer m_Buffer{};
};

/** Calls f(item) for the items of a tuple. */
template <typename TFunction>
void
ForEachItem(PyObject * tuple, const TFunction & f)
{
  const Py_ssize_t size = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < size; ++i)
  {
    f(PyTuple_GetItem(tuple, i));
  }
  if (PyErr_Occurred())
  {
    throw PythonError();
  }
}

/** Returns the numbers of a tuple. */
template <typename T>
std::vector<T>
ReadNumbers(PyObject * tuple)
{
  std::vector<T> numbers;
  ForEachItem(tuple, [&](PyObject * item) {
    if constexpr (std::is_integral_v<T>)
    {
      numbers.push_back(static_cast<T>(PyLong_AsLongLong(item)));
    }
    else
    {
      numbers.push_back(PyFloat_AsDouble(item));
    }
  });
  return numbers;
}

/** Reads the items of a tuple as PyArg_ParseTuple() does. Throws PythonError if they are others than the format says.
 */
inline void
ParseTuple(PyObject * tuple, const char * format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int isParsed = PyArg_VaParse(tuple, format, arguments);
  va_end(arguments);
  if (!isParsed)
  {
    throw PythonError();
  }
}
} // namespace cudafilters

#endif
