// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"

#include <mutex>

// Implements FaultHook with one state for the whole process.

namespace itk::cuda
{
namespace
{
struct FaultHookState
{
  std::mutex    Mutex;
  unsigned long Target{ 0 };
  unsigned long Count{ 0 };
  cudaError_t   Error{ cudaSuccess };
  bool          Fired{ false };
  std::string   Call;
};

FaultHookState &
GetFaultHookState()
{
  static FaultHookState * const state =
    new FaultHookState; // never deleted, because destructors of static objects may still make calls
  return *state;
}

template <typename T>
T
Read(T FaultHookState::*member)
{
  FaultHookState &                  state = GetFaultHookState();
  const std::lock_guard<std::mutex> lock(state.Mutex);
  return state.*member;
}
} // namespace

std::atomic<bool> FaultHook::s_Active{ false };

void
FaultHook::FailCall(unsigned long n, cudaError_t error)
{
  FaultHookState &                  state = GetFaultHookState();
  const std::lock_guard<std::mutex> lock(state.Mutex);
  state.Target = n;
  state.Count = 0;
  state.Error = error;
  state.Fired = false;
  state.Call.clear();
  s_Active = true;
}

void
FaultHook::Clear()
{
  s_Active = false;
}

unsigned long
FaultHook::GetNumberOfCalls()
{
  return Read(&FaultHookState::Count);
}

bool
FaultHook::GetFired()
{
  return Read(&FaultHookState::Fired);
}

std::string
FaultHook::GetCall()
{
  return Read(&FaultHookState::Call);
}

cudaError_t
FaultHook::Count(const char * call)
{
  FaultHookState &                  state = GetFaultHookState();
  const std::lock_guard<std::mutex> lock(state.Mutex);
  ++state.Count;
  if (state.Count != state.Target)
  {
    return cudaSuccess;
  }
  state.Fired = true;
  state.Call = call;
  return state.Error;
}
} // namespace itk::cuda
