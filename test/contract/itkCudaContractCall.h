// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaContractCall_h
#define itkCudaContractCall_h

#include "itkCommand.h"
#include "itkCudaFiltersEnums.h"
#include "itkProcessObject.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace itk::cuda::test
{
/** A region of an image of up to three dimensions. Further axes have the size 1. */
struct ContractRegion
{
  std::array<IndexValueType, 3> Index{ { 0, 0, 0 } };
  std::array<SizeValueType, 3>  Size{ { 1, 1, 1 } };
  unsigned int                  Dimension{ 0 };

  /** Returns piece number `piece` of `pieces` along an axis. */
  ContractRegion
  GetPiece(unsigned int axis, SizeValueType piece, SizeValueType pieces) const
  {
    ContractRegion      part = *this;
    const SizeValueType begin = Size[axis] * piece / pieces;
    part.Index[axis] += static_cast<IndexValueType>(begin);
    part.Size[axis] = Size[axis] * (piece + 1) / pieces - begin;
    return part;
  }
};

/** The pixels that an image holds. */
struct ContractPixels
{
  ContractRegion        Region;
  const unsigned char * Data{ nullptr };
  size_t                BytesPerPixel{ 0 };

  const unsigned char *
  Get(const std::array<IndexValueType, 3> & index) const
  {
    size_t position = 0;
    for (unsigned int d = 3; d-- > 0;)
    {
      position = position * Region.Size[d] + static_cast<size_t>(index[d] - Region.Index[d]);
    }
    return Data + position * BytesPerPixel;
  }
  size_t
  GetNumberOfBytes() const
  {
    return BytesPerPixel * Region.Size[0] * Region.Size[1] * Region.Size[2];
  }
};

/** Spacing, origin and direction of an image, and its largest possible region. */
using ContractGeometry = std::vector<double>;

/** A filter of any type. */
class FilterCall
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;

  virtual ~FilterCall() = default;

  virtual ProcessObject *
  GetFilter() = 0;
  /** Sets a parameter out of range. */
  virtual void
  Spoil() = 0;
  virtual void
  SetBackendByName(const std::string & name) = 0;
  virtual void
  SetDeviceIndex(int index) = 0;
  virtual BackendEnum
  GetBackendUsed() const = 0;
  virtual std::string
  GetBackendReason() const = 0;
  virtual bool
  CanRunInPlace() const = 0;
};

/** A filter that is set up with the input and the parameters of a case: what the properties do to any filter. */
class ContractCall : public FilterCall
{
public:
  // Parameters

  /** Sets the case's parameters again. */
  virtual void
  SetParameters() = 0;
  /** Sets the parameters of another call, if its filter has the same type. Returns whether it has. */
  virtual bool
  SetParametersOf(const ContractCall & other) = 0;
  virtual void
  SetBackend(BackendEnum backend) = 0;
  virtual void
  SetDeviceMemoryLimit(size_t bytes) = 0;
  virtual BackendEnum
  GetBackend() const = 0;
  virtual int
  GetDeviceIndex() const = 0;
  /** Lets the filter write over its input, or not. Returns whether it can. */
  virtual bool
  SetInPlace(bool inPlace) = 0;

  // Images

  virtual void
  RemoveInput() = 0;
  virtual void
  ReleaseInput() = 0;
  /** Sets all components of all pixels of the input, and marks it as modified. */
  virtual void
  FillInput(double value) = 0;
  virtual ContractPixels
  GetInputPixels() const = 0;
  virtual ContractPixels
  GetOutputPixels() const = 0;
  virtual ContractGeometry
  GetInputGeometry() const = 0;
  virtual ContractGeometry
  GetOutputGeometry() const = 0;
  /** Returns the components of all pixels that the output holds. */
  virtual std::vector<double>
  GetOutputValues() const = 0;
  /** Gives the output memory of the user, with some more behind it, and fills all with a pattern. */
  virtual void
  GiveOutputMemory() = 0;
  /** Returns whether the output is still in that memory. */
  virtual bool
  UsesGivenMemory() const = 0;
  /** Returns whether nothing was written behind the output in that memory. */
  virtual bool
  IsGivenMemoryIntact() const = 0;

  // Runs

  virtual void
  Request(const ContractRegion & region) = 0;
  virtual void
  Update() = 0;
  virtual void
  UpdateWhole() = 0;
  /** Returns the hashes of all outputs. */
  virtual std::vector<uint64_t>
  GetBits() = 0;
};

/** Calls a function at a filter's events, until the end of the scope. */
class ScopedObserver
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(ScopedObserver);

  template <typename TFunction>
  ScopedObserver(Object * filter, const EventObject & event, const TFunction & function)
    : m_Filter(filter)
    , m_Tag(filter->AddObserver(event, [function](const EventObject &) { function(); }))
  {}
  ~ScopedObserver() { m_Filter->RemoveObserver(m_Tag); }

private:
  Object *      m_Filter;
  unsigned long m_Tag;
};

/** A case that can be set up for the properties. */
class ContractCase
{
public:
  virtual ~ContractCase() = default;

  /** Returns a new filter with a copy of the input, not in place. */
  virtual std::unique_ptr<ContractCall>
  Begin() const = 0;
  /** Returns whether ITK's own class does the work on the host. */
  virtual bool
  RunsITKOnTheHost() const = 0;
};
} // namespace itk::cuda::test

#endif
