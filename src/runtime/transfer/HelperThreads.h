// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_HelperThreads_h
#define CudaFilters_runtime_transfer_HelperThreads_h

#include <functional>
#include <memory>

namespace itk::cuda
{
class HelperTeam;

/** \class HelperThreads
 * \brief Threads of ITK's pool that help the calling thread with one piece of work after the other.
 *
 * The number of these threads in the process is bounded, however many filters transfer at the same time. A later
 * transfer gets fewer threads, in the worst case only the calling one. The caller never waits for a thread that has not
 * begun, so transfers inside the pool's own tasks cannot wait for each other.
 *
 * The threads busy-wait for the next piece of work, also of a later object, because waking a thread takes tens of
 * microseconds on a virtual machine. A thread returns to the pool if there is no work for half a millisecond, or if the
 * pool has other work to do.
 */
class HelperThreads
{
public:
  /** Takes over the threads that an earlier object has left, if there are any. */
  HelperThreads();

  /** Joins the threads and leaves them to the next object. */
  ~HelperThreads();

  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &
  operator=(const HelperThreads &) = delete;

  /** Returns the number of threads that are waiting for work, or are about to. */
  unsigned int
  GetNumberOfWaiting() const;

  /** Reserves threads until there are `wanted` or the limit of the process is reached.
   * \return the number of reserved threads, at most `wanted` */
  unsigned int
  Reserve(unsigned int wanted);

  /** Requests calls of `function(1)` to `function(number)`, which must not throw, by reserved threads. A call is made
   * only if a thread becomes free before Join(). */
  void
  Start(unsigned int number, std::function<void(unsigned int)> function) noexcept;

  /** Prevents further threads from beginning and waits for those that have begun. */
  void
  Join();

private:
  unsigned int                      m_Number{ 0 };
  const std::shared_ptr<HelperTeam> m_Team;
};
} // namespace itk::cuda

#endif
