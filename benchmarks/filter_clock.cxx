// SPDX-License-Identifier: Apache-2.0

// Measures the time that an unmodified program spends in Gaussian filters, ITK's or this module's. The library is
// loaded by LD_PRELOAD, in front of the shared library ITKCommon, whose function for events it takes: every filter
// calls it when its inputs are ready, and when it is done. At the program's end there is one line for each class, with
// its calls and seconds, in the file that the environment variable FILTER_CLOCK names. Filters inside another Gaussian
// filter are part of it.

#include "itkProcessObject.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace
{
using Clock = std::chrono::steady_clock;

/** Written when the library is finalised. */
class Report
{
public:
  ~Report()
  {
    // A program without filters, as the shell that starts another one, leaves the file as it is.
    const char * const path = std::getenv("FILTER_CLOCK");
    if (path != nullptr && !m_Sums.empty())
    {
      std::ofstream file(path);
      for (const auto & [name, sum] : m_Sums)
      {
        file << name << ' ' << sum.calls << ' ' << sum.seconds << '\n';
      }
    }
  }

  void
  Add(const char * name, double seconds)
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    Sum &                             sum = m_Sums[name];
    ++sum.calls;
    sum.seconds += seconds;
  }

private:
  struct Sum
  {
    int    calls = 0;
    double seconds = 0.0;
  };

  std::mutex                 m_Mutex;
  std::map<std::string, Sum> m_Sums;
};

Report report;

/** The outermost Gaussian filter that this thread is in. */
thread_local const itk::Object * outermost = nullptr;
thread_local Clock::time_point   start;
} // namespace

namespace itk
{
void
Object::InvokeEvent(const EventObject & event)
{
  using Function = void (*)(Object *, const EventObject &);
  static const auto next =
    reinterpret_cast<Function>(dlsym(RTLD_NEXT, "_ZN3itk6Object11InvokeEventERKNS_11EventObjectE"));

  // Compare names, not types: where there is no ITKCommon, the types of events would be missing when this is loaded.
  const std::string name = event.GetEventName();
  if (name == "StartEvent" && outermost == nullptr &&
      std::strstr(this->GetNameOfClass(), "GaussianImageFilter") != nullptr)
  {
    outermost = this;
    start = Clock::now();
  }
  else if (outermost == this && name == "EndEvent")
  {
    report.Add(this->GetNameOfClass(), std::chrono::duration<double>(Clock::now() - start).count());
    outermost = nullptr;
  }
  next(this, event);
}
} // namespace itk
