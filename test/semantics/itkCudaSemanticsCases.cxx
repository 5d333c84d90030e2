// SPDX-License-Identifier: Apache-2.0
// The table of cases: what a program may do to a filter, its inputs and its outputs.
#include "itkCudaSemanticsScene.h"
#include "itkImageSource.h"

#include <algorithm>

namespace itk::cuda::test
{
namespace
{
const SemanticsRegion Whole{ { { 5, -7 } }, { { 40, 32 } } };
const SemanticsRegion Part{ { { 8, -3 } }, { { 12, 10 } } };
const SemanticsRegion OtherPart{ { { 20, 4 } }, { { 17, 15 } } };
const SemanticsRegion Smaller{ { { 5, -7 } }, { { 20, 18 } } };
const SemanticsRegion Larger{ { { 0, -12 } }, { { 64, 61 } } };

SemanticsImage::Pointer
MakeWhole()
{
  return MakeSemanticsImage(Whole);
}

/** Upper rows of an image, as an image. */
SemanticsImage::Pointer
MakeRows(const SemanticsImage * image, SizeValueType rows)
{
  SemanticsRegion region = image->GetBufferedRegion();
  region.SetSize(1, rows);
  const auto result = MakeSemanticsImage(region);
  std::copy_n(image->GetBufferPointer(), region.GetNumberOfPixels(), result->GetBufferPointer());
  return result;
}

/** Makes an image again whenever it is asked; of so many rows, whatever is requested. */
class RowSource : public ImageSource<SemanticsImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RowSource);
  using Self = RowSource;
  using Superclass = ImageSource<SemanticsImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  itkNewMacro(Self);
  itkTypeMacro(RowSource, ImageSource);
  itkSetMacro(Rows, SizeValueType);

protected:
  RowSource() = default;

  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->CopyInformation(MakeWhole());
  }
  void
  EnlargeOutputRequestedRegion(DataObject * output) override
  {
    output->SetRequestedRegionToLargestPossibleRegion();
  }
  void
  GenerateData() override
  {
    const auto rows = MakeRows(MakeWhole(), m_Rows);
    this->GetOutput()->SetBufferedRegion(rows->GetBufferedRegion());
    this->GetOutput()->SetPixelContainer(rows->GetPixelContainer());
  }

private:
  SizeValueType m_Rows{ Whole.GetSize(1) };
};

/** What ITK asks for once a requested region was refused: where that of an input was, the filter takes itself for being
 * updated ever after. */
void
ResetPipeline(SemanticsScene & scene)
{
  scene->GetFilter()->ResetPipeline();
}

// --- requested regions

void
Plain(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("first update", image);
  scene.Update("nothing has changed", image);
  scene.SetParameters(1);
  scene.Update("other parameters", image);
}

void
LargestAfterPart(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GetOutput()->SetRequestedRegion(Part);
  scene.Update("a part", image);
  scene.UpdateLargest("the whole", image);
}

void
PartAfterPart(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GetOutput()->SetRequestedRegion(Part);
  scene.Update("a part", image);
  scene->GetOutput()->SetRequestedRegion(OtherPart);
  scene.Update("another part", image);
  scene->GetOutput()->SetRequestedRegion(Part);
  scene.SetParameters(1);
  scene.Update("the first part, with other parameters", image);
}

void
RequestOutside(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GetOutput()->SetRequestedRegion({ { { 100, 100 } }, { { 8, 8 } } });
  scene.Update("outside of the image", image);
  ResetPipeline(scene);
}

void
RequestHalfOutside(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("the whole", image);
  scene->GetOutput()->SetRequestedRegion({ { { 40, 10 } }, { { 10, 12 } } });
  scene.Update("partly outside of the image", image);
  ResetPipeline(scene);
}

// --- other inputs

void
ReplacedInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto larger = MakeSemanticsImage(Larger, 1);
  const auto smaller = MakeSemanticsImage(Smaller, 2);
  scene->SetInput(image);
  scene.Update("an image", image);
  scene->SetInput(larger);
  scene.UpdateLargest("a larger one", larger);
  scene->SetInput(smaller);
  scene.UpdateLargest("a smaller one", smaller);
  scene->SetInput(larger);
  scene.Update("the larger one, the region as it was", larger);
  scene->SetInput(smaller);
  scene.UpdateLargest("the smaller one again", smaller);
}

void
ReplacedBySmaller(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto smaller = MakeSemanticsImage(Smaller, 2);
  scene->SetInput(image);
  scene.Update("an image", image);
  scene->SetInput(smaller);
  scene.Update("a smaller one, the region as it was", smaller);
  ResetPipeline(scene);
}

void
GrownInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  image->SetRegions(Larger);
  image->Allocate();
  FillSemanticsImage(image, 3);
  scene.Update("grown, the region as it was", image);
  scene.UpdateLargest("grown", image);
}

void
ShrunkInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  image->SetRegions(Smaller);
  image->Allocate();
  FillSemanticsImage(image, 4);
  scene.UpdateLargest("shrunk", image);
}

void
ShrunkInputRegionAsItWas(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  image->SetRegions(Smaller);
  image->Allocate();
  FillSemanticsImage(image, 4);
  scene.Update("shrunk, the region as it was", image);
  ResetPipeline(scene);
}

void
GraftedInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto larger = MakeSemanticsImage(Larger, 5);
  scene->SetInput(image);
  scene.Update("an image", image);
  image->Graft(larger);
  scene.UpdateLargest("another one grafted onto it", larger);
}

void
BufferSmallerThanLargest(SemanticsScene & scene)
{
  const auto image = MakeRows(MakeWhole(), 17);
  const auto rows = MakeRows(image, 17);
  image->SetLargestPossibleRegion(Whole);
  scene->SetInput(image);
  scene.Update("rows in memory", rows);
  scene.UpdateLargest("all that is there", rows);
}

void
BufferShrinks(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto rows = MakeRows(image, 17);
  scene->SetInput(image);
  scene.Update("an image", image);
  image->SetBufferedRegion(rows->GetBufferedRegion());
  image->SetPixelContainer(rows->GetPixelContainer());
  image->Modified();
  scene.Update("fewer rows in memory, the region as it was", rows);
}

// --- inputs without pixels

/** Inputs that the contract suite does not have: regions, containers and memory that do not fit each other. */
template <int VKind>
void
UnreadableInput(SemanticsScene & scene)
{
  const auto image = SemanticsImage::New();
  switch (VKind)
  {
    case 0: // no size at all
      break;
    case 1: // no columns
      image->SetRegions({ { { 5, -7 } }, { { 0, 8 } } });
      image->Allocate();
      break;
    case 2: // no rows
      image->SetRegions({ { { 5, -7 } }, { { 8, 0 } } });
      image->Allocate();
      break;
    case 3: // regions, but no pixels
      image->SetRegions(Whole);
      break;
    case 4: // a container without memory
      image->SetRegions(Whole);
      image->GetPixelContainer()->SetImportPointer(nullptr, Whole.GetNumberOfPixels(), false);
      break;
    default: // a container of fewer pixels
      image->SetRegions(Smaller);
      image->Allocate();
      image->SetRegions(Whole);
  }
  scene->SetInput(image);
  scene.Update("an image that cannot be read", nullptr);
}

void
InitializedInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  image->Initialize();
  scene.SetParameters(1);
  scene.Update("without pixels and source", nullptr);
}

void
ReleaseFlagOnInput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto same = MakeWhole();
  image->ReleaseDataFlagOn();
  scene->SetInput(image);
  scene.Update("an image", same);
  scene.SetParameters(1);
  scene.Update("after the filter has released it", nullptr);
}

// --- sources

void
SourceThatReleases(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto source = RowSource::New();
  source->ReleaseDataFlagOn();
  scene->SetInput(source->GetOutput());
  scene.Update("made by a source", image);
  scene.SetParameters(1);
  scene.Update("made again", image);
}

void
SourceThatMakesLess(SemanticsScene & scene)
{
  const auto source = RowSource::New();
  source->SetRows(17);
  scene->SetInput(source->GetOutput());
  scene.Update("the source makes fewer rows than asked for", nullptr);
}

// --- outputs

void
ReleaseFlagOnOutput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GetFilter()->ReleaseDataFlagOn();
  scene.Update("an image", image);
  scene.SetParameters(1);
  scene.Update("other parameters", image);
}

void
ReleasedOutput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  scene->GetOutput()->ReleaseData();
  scene.Update("made again", image);
}

void
DisconnectedOutput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("an image", image);
  const ImageBase<2>::Pointer kept = scene->GetOutput();
  kept->DisconnectPipeline();
  scene.SetParameters(1);
  scene.Update("a new output", image);
  scene.SetParameters(0);
  scene.Look("the old one", image, kept);
}

void
GraftedOutput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GraftOutput(Whole);
  scene.Update("onto memory of the user", image);
  scene.SetParameters(1);
  scene.Update("once more", image);
}

void
GraftedSmallOutput(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->GraftOutput(Part);
  scene.Update("onto memory of a part", image);
  scene.UpdateLargest("the whole", image);
}

// --- in place

void
InPlaceTwice(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInPlace(true);
  scene->SetInput(image);
  scene.Update("over an image without source", MakeWhole());
  scene.SetParameters(1);
  scene.Update("once more, when its pixels are gone", nullptr);
}

void
InPlaceWithSource(SemanticsScene & scene)
{
  const auto source = RowSource::New();
  scene->SetInPlace(true);
  scene->SetInput(source->GetOutput());
  scene.Update("over what a source made", MakeWhole());
  scene.SetParameters(1);
  scene.Update("the source makes it again", MakeWhole());
}

// --- what only the snake has

void
UpdateContour(SemanticsScene & scene, const std::string & name, const SemanticsImage * wanted)
{
  scene.Step(name, wanted, [&scene] { scene->GetContour()->Update(); });
}

void
ContourFirst(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  UpdateContour(scene, "the contour before the labels", image);
  scene.Update("then the labels", image);
}

void
ContourOfLargerImage(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto larger = MakeSemanticsImage(Larger, 7);
  scene->SetInput(image);
  scene.Update("the labels", image);
  scene->SetInput(larger);
  UpdateContour(scene, "the contour of a larger image", larger);
}

void
ContourOfSmallerImage(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto smaller = MakeSemanticsImage(Smaller, 7);
  scene->SetInput(image);
  scene.Update("the labels", image);
  scene->SetInput(smaller);
  UpdateContour(scene, "the contour of a smaller image", smaller);
}

void
ContourDisconnected(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene.Update("the labels", image);
  const DataObject::Pointer kept = scene->GetContour();
  kept->DisconnectPipeline();
  scene.SetParameters(1);
  UpdateContour(scene, "a new contour", image);
}

SemanticsMask::Pointer
MakeMask(const SemanticsRegion & region)
{
  const auto mask = SemanticsMask::New();
  mask->CopyInformation(MakeWhole());
  mask->SetRegions(region);
  mask->Allocate();
  mask->FillBuffer(1);
  return mask;
}

void
ReleasedMask(SemanticsScene & scene, void (SemanticsSubject::*setMask)(SemanticsMask *))
{
  const auto image = MakeWhole();
  const auto mask = MakeMask(Whole);
  mask->ReleaseData();
  scene->SetInput(image);
  ((*scene.operator->()).*setMask)(mask);
  scene.Update("a mask without pixels and source", nullptr);
}

void
ReleasedInitialMask(SemanticsScene & scene)
{
  ReleasedMask(scene, &SemanticsSubject::SetInitialMask);
}
void
ReleasedValidMask(SemanticsScene & scene)
{
  ReleasedMask(scene, &SemanticsSubject::SetValidMask);
}

void
UnallocatedValidMask(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto mask = SemanticsMask::New();
  mask->CopyInformation(image);
  mask->SetRegions(Whole);
  scene->SetInput(image);
  scene->SetValidMask(mask);
  scene.Update("a mask of regions, but no pixels", nullptr);
}

void
MaskOfAnotherSize(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  scene->SetInput(image);
  scene->SetValidMask(MakeMask(Smaller));
  scene.Update("a mask smaller than the image", nullptr);
}

void
MaskBufferedInPart(SemanticsScene & scene)
{
  const auto image = MakeWhole();
  const auto mask = MakeMask(Smaller);
  mask->SetLargestPossibleRegion(Whole);
  scene->SetInput(image);
  scene->SetValidMask(mask);
  scene.Update("a mask of which a part is in memory", nullptr);
}
} // namespace

const std::vector<SemanticsCase> &
GetSemanticsCases()
{
  using Applies = SemanticsCase::Applies;
  const char * const readsBeyond = "ITK's discrete filter reads beyond the buffer instead of throwing";
  const char * const readsPastMemory =
    "ITK's iterators compare regions only: its classes read where there is no memory, and the process may die";
  static const std::vector<SemanticsCase> cases{
    { "plain", Plain },
    { "largest_after_part", LargestAfterPart },
    { "part_after_part", PartAfterPart },
    { "request_outside", RequestOutside },
    { "request_half_outside", RequestHalfOutside },
    { "replaced_input", ReplacedInput },
    { "replaced_by_smaller", ReplacedBySmaller },
    { "grown_input", GrownInput },
    { "shrunk_input", ShrunkInput },
    { "shrunk_input_region_as_it_was", ShrunkInputRegionAsItWas },
    { "grafted_input", GraftedInput },
    { "buffer_smaller_than_largest", BufferSmallerThanLargest },
    { "buffer_shrinks", BufferShrinks },
    { "initialized_input", InitializedInput, Applies::ToAll, readsBeyond, { "discrete" } },
    { "empty_input", UnreadableInput<0> },
    { "empty_along_x", UnreadableInput<1> },
    { "empty_along_y", UnreadableInput<2> },
    { "unallocated_input", UnreadableInput<3>, Applies::ToAll, readsPastMemory },
    { "container_of_nothing", UnreadableInput<4>, Applies::ToAll, readsPastMemory },
    { "container_that_holds_less", UnreadableInput<5>, Applies::ToAll, readsPastMemory },
    { "release_flag_on_input", ReleaseFlagOnInput, Applies::ToAll, readsBeyond, { "discrete" } },
    { "source_that_releases", SourceThatReleases },
    { "source_that_makes_less", SourceThatMakesLess },
    { "release_flag_on_output", ReleaseFlagOnOutput },
    { "released_output", ReleasedOutput },
    { "disconnected_output", DisconnectedOutput },
    { "grafted_output", GraftedOutput },
    { "grafted_small_output", GraftedSmallOutput },
    { "in_place_twice", InPlaceTwice, Applies::ToThoseInPlace },
    { "in_place_with_source", InPlaceWithSource, Applies::ToThoseInPlace },
    { "contour_first", ContourFirst, Applies::ToSnake },
    { "contour_of_larger_image", ContourOfLargerImage, Applies::ToSnake },
    { "contour_of_smaller_image", ContourOfSmallerImage, Applies::ToSnake },
    { "contour_disconnected", ContourDisconnected, Applies::ToSnake },
    { "released_initial_mask", ReleasedInitialMask, Applies::ToSnake },
    { "released_valid_mask", ReleasedValidMask, Applies::ToSnake },
    { "unallocated_valid_mask", UnallocatedValidMask, Applies::ToSnake },
    { "mask_of_another_size", MaskOfAnotherSize, Applies::ToSnake },
    { "mask_buffered_in_part", MaskBufferedInPart, Applies::ToSnake },
  };
  return cases;
}
} // namespace itk::cuda::test
