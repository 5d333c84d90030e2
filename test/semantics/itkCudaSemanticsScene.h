// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSemanticsScene_h
#define itkCudaSemanticsScene_h

#include "itkCudaFiltersEnums.h"
#include "itkImage.h"
#include "itkProcessObject.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace itk::cuda::test
{
using SemanticsImage = Image<float, 2>;
using SemanticsMask = Image<unsigned char, 2>;
using SemanticsRegion = SemanticsImage::RegionType;

/** A filter as the cases see it, this module's or ITK's. */
class SemanticsSubject
{
public:
  virtual ~SemanticsSubject() = default;

  virtual ProcessObject *
  GetFilter() = 0;
  virtual void
  SetInput(SemanticsImage * image) = 0;
  /** Number 0 or 1 of two sets of good parameters. */
  virtual void
  SetParameters(unsigned int set) = 0;
  virtual void
  SetInPlace(bool inPlace) = 0;
  virtual ImageBase<2> *
  GetOutput() = 0;
  /** Lets the filter write to a new image of that region. */
  virtual void
  GraftOutput(const SemanticsRegion & region) = 0;
  /** All components of all pixels in memory. */
  virtual std::vector<double>
  GetValues(const DataObject * image) const = 0;

  /** Inputs and the output that the snake alone has. */
  virtual void
  SetInitialMask(SemanticsMask *)
  {}
  virtual void
  SetValidMask(SemanticsMask *)
  {}
  virtual DataObject *
  GetContour()
  {
    return nullptr;
  }
};
using SemanticsSubjectPointer = std::unique_ptr<SemanticsSubject>;

/** A kind of filter. */
struct SemanticsKind
{
  using BackendEnum = CudaFiltersEnums::Backend;

  std::string                                         Name;
  std::function<SemanticsSubjectPointer(BackendEnum)> MakeSubject;
  std::function<SemanticsSubjectPointer()>            MakeITKSubject; // empty where ITK has no such class
  bool                                                CanRunInPlace;
  // How far values may be from the expected ones: this many times the largest pixel value, 100.
  double Tolerance;
};

/** Returns the kinds of all filters of the table (contract/itkCudaFilterTable.h). */
const std::vector<SemanticsKind> &
GetSemanticsKinds();

// The kinds of each filter.
using SemanticsKindsFunction = std::vector<SemanticsKind>();
SemanticsKindsFunction MakeRecursiveSemantics;
SemanticsKindsFunction MakeSmoothingSemantics;
SemanticsKindsFunction MakeMagnitudeSemantics;
SemanticsKindsFunction MakeLaplacianSemantics;
SemanticsKindsFunction MakeGradientSemantics;
SemanticsKindsFunction MakeHessianSemantics;
SemanticsKindsFunction MakeDiscreteSemantics;
SemanticsKindsFunction MakePartitionedSemantics;
SemanticsKindsFunction MakeSnakeSemantics;

/** What a step of a case gave, or is to give. */
struct SemanticsOutcome
{
  bool                Threw{ false };
  std::string         Message;
  SemanticsRegion     Region; // in memory
  std::vector<double> Values;
};

struct SemanticsStep
{
  std::string      Name;
  SemanticsOutcome Outcome;
  SemanticsOutcome Wanted; // only of kinds that ITK does not have
};

/** Leads a filter through a case and keeps what its steps gave. */
class SemanticsScene
{
public:
  /** `makeAnother` makes filters that say what is wanted; empty where ITK's class does. */
  SemanticsScene(SemanticsSubject & subject, std::function<SemanticsSubjectPointer()> makeAnother)
    : m_Subject(subject)
    , m_MakeAnother(std::move(makeAnother))
  {
    this->SetParameters(0);
  }

  SemanticsSubject *
  operator->()
  {
    return &m_Subject;
  }
  void
  SetParameters(unsigned int set)
  {
    m_ParameterSet = set;
    m_Subject.SetParameters(set);
  }

  /** Calls `update` and keeps the output, or the exception. What ITK's class does is expected. The filters that ITK
   * does not have make the whole of their output, whatever is requested: theirs is to be that of a new filter on
   * `wanted`, or an exception (nullptr), as ITK's filters give for such inputs. */
  void
  Step(const std::string & name, const SemanticsImage * wanted, const std::function<void()> & update);
  void
  Update(const std::string & name, const SemanticsImage * wanted)
  {
    this->Step(name, wanted, [this] { m_Subject.GetFilter()->Update(); });
  }
  void
  UpdateLargest(const std::string & name, const SemanticsImage * wanted)
  {
    this->Step(name, wanted, [this] { m_Subject.GetFilter()->UpdateLargestPossibleRegion(); });
  }
  /** Compares an image that an earlier step has made. */
  void
  Look(const std::string & name, const SemanticsImage * wanted, const ImageBase<2> * output);

  const std::vector<SemanticsStep> &
  GetSteps() const
  {
    return m_Steps;
  }

private:
  SemanticsOutcome
  GetWanted(const SemanticsImage * image) const;

  SemanticsSubject &                       m_Subject;
  std::function<SemanticsSubjectPointer()> m_MakeAnother;
  unsigned int                             m_ParameterSet{ 0 };
  std::vector<SemanticsStep>               m_Steps;
};

/** A row of the table. */
struct SemanticsCase
{
  enum class Applies
  {
    ToAll,
    ToThoseInPlace,
    ToSnake
  };
  std::string Name;
  void (*Run)(SemanticsScene & scene);
  Applies To{ Applies::ToAll };
  /** Why ITK's class cannot show what is expected; what the case says holds instead. Empty: it can. */
  std::string WhyNotITK{};
  /** The kinds that this is so for; empty: all. */
  std::vector<std::string> Kinds{};
};

const std::vector<SemanticsCase> &
GetSemanticsCases();

/** An ellipse in noise, values from 0 to 100: something to filter, and to segment. */
SemanticsImage::Pointer
MakeSemanticsImage(const SemanticsRegion & region, unsigned int seed = 0);
void
FillSemanticsImage(SemanticsImage * image, unsigned int seed);

/** The case's steps and one more, on a good image: what is not as expected, in words. Empty if all is.
 * `note` gets to know which class is about to run. */
std::vector<std::string>
RunSemanticsCase(const SemanticsKind &                            kind,
                 CudaFiltersEnums::Backend                        backend,
                 const SemanticsCase &                            row,
                 const std::function<void(const std::string &)> & note);
} // namespace itk::cuda::test

#endif
