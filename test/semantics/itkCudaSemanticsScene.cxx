// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSemanticsScene.h"

#include "contract/itkCudaFilterTable.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace itk::cuda::test
{
namespace
{
SemanticsOutcome
MakeOutcome(const SemanticsSubject & subject, const ImageBase<2> * output)
{
  return { false, "", output->GetBufferedRegion(), subject.GetValues(output) };
}

SemanticsImage::Pointer
CopyOf(const SemanticsImage * image)
{
  const auto copy = SemanticsImage::New();
  copy->CopyInformation(image);
  copy->SetRegions(image->GetBufferedRegion());
  copy->Allocate();
  std::copy_n(image->GetBufferPointer(), image->GetBufferedRegion().GetNumberOfPixels(), copy->GetBufferPointer());
  return copy;
}

std::string
Describe(const SemanticsOutcome & outcome)
{
  std::ostringstream text;
  if (outcome.Threw)
  {
    text << "an exception (" << outcome.Message << ")";
  }
  else
  {
    text << outcome.Region.GetSize() << " pixels from " << outcome.Region.GetIndex();
  }
  return text.str();
}

/** What is wrong with an outcome, or nothing. */
std::string
Compare(const SemanticsOutcome & outcome, const SemanticsOutcome & expected, double bound)
{
  if (outcome.Threw && expected.Threw)
  {
    return "";
  }
  if (outcome.Threw != expected.Threw || outcome.Region != expected.Region ||
      outcome.Values.size() != expected.Values.size())
  {
    return "gave " + Describe(outcome) + "; expected " + Describe(expected);
  }
  const auto isWrong = [bound](double a, double b) { return !(std::abs(a - b) <= bound); };
  const auto wrong =
    std::mismatch(outcome.Values.begin(), outcome.Values.end(), expected.Values.begin(), std::not_fn(isWrong));
  if (wrong.first == outcome.Values.end())
  {
    return "";
  }
  std::ostringstream text;
  text << "gave " << *wrong.first << " at value " << wrong.first - outcome.Values.begin() << " of "
       << outcome.Values.size() << "; expected " << *wrong.second << " within " << bound;
  return text.str();
}
} // namespace

void
FillSemanticsImage(SemanticsImage * image, unsigned int seed)
{
  const auto                                   region = image->GetBufferedRegion();
  ImageRegionIteratorWithIndex<SemanticsImage> it(image, region);
  for (uint32_t noise = seed * 7919 + 1; !it.IsAtEnd(); ++it)
  {
    noise = noise * 1664525u + 1013904223u;
    double radius = 0.0;
    for (unsigned int d = 0; d < 2; ++d)
    {
      const double position = static_cast<double>(it.GetIndex()[d] - region.GetIndex(d)) / region.GetSize(d) - 0.5;
      radius += position * position;
    }
    it.Set((radius < 0.08 ? 70.0F : 0.0F) + 30.0F * static_cast<float>(noise >> 8) / 16777216.0F);
  }
  image->Modified();
}

SemanticsImage::Pointer
MakeSemanticsImage(const SemanticsRegion & region, unsigned int seed)
{
  const auto image = SemanticsImage::New();
  image->SetRegions(region);
  const double spacing[] = { 0.8, 1.3 };
  image->SetSpacing(spacing);
  image->Allocate();
  FillSemanticsImage(image, seed);
  return image;
}

SemanticsOutcome
SemanticsScene::GetWanted(const SemanticsImage * image) const
{
  if (!m_MakeAnother)
  {
    return {};
  }
  if (!image)
  {
    return { true, "as the case says", {}, {} };
  }
  const auto another = m_MakeAnother();
  const auto copy = CopyOf(image);
  another->SetParameters(m_ParameterSet);
  another->SetInput(copy);
  another->GetFilter()->UpdateLargestPossibleRegion();
  return MakeOutcome(*another, another->GetOutput());
}

void
SemanticsScene::Step(const std::string & name, const SemanticsImage * wanted, const std::function<void()> & update)
{
  SemanticsStep step{ name, {}, this->GetWanted(wanted) };
  try
  {
    update();
    step.Outcome = MakeOutcome(m_Subject, m_Subject.GetOutput());
  }
  catch (const ExceptionObject & error)
  {
    step.Outcome = { true, error.GetDescription(), {}, {} };
  }
  m_Steps.push_back(step);
}

void
SemanticsScene::Look(const std::string & name, const SemanticsImage * wanted, const ImageBase<2> * output)
{
  m_Steps.push_back({ name, MakeOutcome(m_Subject, output), this->GetWanted(wanted) });
}

const std::vector<SemanticsKind> &
GetSemanticsKinds()
{
  static const std::vector<SemanticsKind> kinds = [] {
    std::vector<SemanticsKind> all;
    for (const FilterRow & row : GetFilterRows())
    {
      const auto ofRow = row.MakeSemanticsKinds ? row.MakeSemanticsKinds() : std::vector<SemanticsKind>{};
      all.insert(all.end(), ofRow.begin(), ofRow.end());
    }
    return all;
  }();
  return kinds;
}

std::vector<std::string>
RunSemanticsCase(const SemanticsKind &                            kind,
                 CudaFiltersEnums::Backend                        backend,
                 const SemanticsCase &                            row,
                 const std::function<void(const std::string &)> & note)
{
  const auto good = MakeSemanticsImage({ { { 2, 3 } }, { { 36, 44 } } }, 99);
  const auto lead = [&row, &good](SemanticsScene & scene) {
    row.Run(scene);
    scene.SetParameters(0);
    scene->SetInPlace(false);
    scene->SetInitialMask(nullptr);
    scene->SetValidMask(nullptr);
    scene->SetInput(good);
    scene.UpdateLargest("a good input afterwards", good);
  };
  const auto isListed = std::find(row.Kinds.begin(), row.Kinds.end(), kind.Name) != row.Kinds.end();
  const bool withITK = kind.MakeITKSubject && (row.WhyNotITK.empty() || (!row.Kinds.empty() && !isListed));

  std::vector<SemanticsOutcome> expected;
  if (withITK)
  {
    note("ITK's class");
    const auto     subject = kind.MakeITKSubject();
    SemanticsScene scene(*subject, nullptr);
    lead(scene);
    for (const SemanticsStep & step : scene.GetSteps())
    {
      expected.push_back(step.Outcome);
    }
    // After an exception ITK's composites may take their inner filters for up to date: a new one says what is good.
    const auto     another = kind.MakeITKSubject();
    SemanticsScene anotherScene(*another, nullptr);
    anotherScene->SetInput(good);
    anotherScene.UpdateLargest("", good);
    expected.back() = anotherScene.GetSteps().back().Outcome;
  }
  note("this module's class");
  const auto     subject = kind.MakeSubject(backend);
  SemanticsScene scene(*subject, [&kind, backend] { return kind.MakeSubject(backend); });
  lead(scene);

  std::vector<std::string> failures;
  for (size_t i = 0; i < scene.GetSteps().size(); ++i)
  {
    const SemanticsStep & step = scene.GetSteps()[i];
    const std::string failure = Compare(step.Outcome, withITK ? expected.at(i) : step.Wanted, 100.0 * kind.Tolerance);
    if (!failure.empty())
    {
      failures.push_back(step.Name + ": " + failure);
    }
  }
  return failures;
}
} // namespace itk::cuda::test
