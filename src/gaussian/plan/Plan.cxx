// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "gaussian/plan/AccurateConstants.h"
#include "itkMacro.h"
#include "itkCudaDetailGaussianEngine.h"
#include "gaussian/plan/Tuning.h"

#include <algorithm>
#include <cmath>
#include <iterator>

// Turns a filter's parameters into a plan: computes the poles and weights of the impulse responses, and lists the
// passes along the axes.

namespace itk::CudaDetail
{
namespace
{
using Complex = std::complex<double>;

// The limit that itk::RecursiveGaussianImageFilter has.
constexpr double MinimumSpacing = 1e-8;

// In pixels. Below it derivatives are differences of neighbouring pixels.
constexpr double MinimumAccurateSigma = 0.376;

/** Half-kernels of orders 0, 1, 2 before normalisation: Re sum_j Amplitude[order][j] exp(Exponent[j] n / sigma). */
struct ExponentialSum
{
  unsigned int NumberOfPolePairs{ 0 };
  Complex      Exponent[CudaGaussianImpulseResponse::MaximumNumberOfPolePairs];
  Complex      Amplitude[3][CudaGaussianImpulseResponse::MaximumNumberOfPolePairs];
  double MinimumSigmaOfDerivatives{ 0.0 }; // in pixels; below it derivatives are differences of neighbouring pixels
};

// The constants of table 3 of Farneback and Westin (2006), with amplitudes A - iB.
ExponentialSum
MakeDericheExponentialSum()
{
  return { 2,
           { { -1.3932, 0.6681 }, { -1.3732, 2.0787 } },
           { { { 1.3530, -1.8151 }, { -0.3531, -0.0902 } },
             { { -0.6724, 3.4327 }, { 0.6724, -0.6100 } },
             { { -1.3563, -5.2318 }, { 0.3446, 2.2355 } } },
           CudaMinimumDericheSigma };
}

ExponentialSum
MakeAccurateExponentialSum()
{
  using namespace cuda::gaussian;
  static_assert(AccurateNumberOfPolePairs <= CudaGaussianImpulseResponse::MaximumNumberOfPolePairs,
                "kernels have room for it");
  const auto toComplex = [](const AccurateConstant & constant) { return Complex(constant.Real, constant.Imaginary); };
  ExponentialSum sum;
  sum.NumberOfPolePairs = AccurateNumberOfPolePairs;
  sum.MinimumSigmaOfDerivatives = MinimumAccurateSigma;
  for (unsigned int j = 0; j < AccurateNumberOfPolePairs; ++j)
  {
    sum.Exponent[j] = toComplex(AccurateExponent[j]);
    for (unsigned int order = 0; order < 3; ++order)
    {
      sum.Amplitude[order][j] = toComplex(AccurateAmplitude[order][j]);
    }
  }
  return sum;
}

// Returns a moment of the half-kernel: the sum over n >= 0 of n^k h(n), k = 0, 1, 2. With p = pole and c = weight, sum
// p^n = 1/(1-p), sum n p^n = p/(1-p)^2, sum n^2 p^n = p(1+p)/(1-p)^3.
double
HalfKernelMoment(const CudaGaussianImpulseResponse & kernel, unsigned int k)
{
  double moment = 0.0;
  for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
  {
    const Complex p = kernel.Pole[j];
    const Complex q = 1.0 / (1.0 - p);
    const Complex sum = k == 0 ? q : (k == 1 ? p * q * q : p * (1.0 + p) * q * q * q);
    moment += std::real(kernel.Weight[j] * sum);
  }
  return moment;
}

double
CentralValue(const CudaGaussianImpulseResponse & kernel)
{
  double h0 = 0.0;
  for (const Complex & weight : kernel.Weight)
  {
    h0 += weight.real();
  }
  return h0;
}

// Returns the sum of the whole even kernel, which is its response to a constant 1.
double
EvenKernelSum(const CudaGaussianImpulseResponse & kernel)
{
  return 2.0 * HalfKernelMoment(kernel, 0) - CentralValue(kernel);
}

void
Scale(CudaGaussianImpulseResponse & kernel, double factor)
{
  for (Complex & weight : kernel.Weight)
  {
    weight *= factor;
  }
  kernel.ConstantResponse *= factor;
}

void
VerifyOrder(unsigned int order)
{
  if (order > 2)
  {
    itkGenericExceptionMacro("Order is " << order << "; it must be 0, 1 or 2");
  }
}

void
VerifyBoundary(const CudaGaussianBoundary & boundary)
{
  if (boundary.Mode > CudaFiltersEnums::BoundaryMode::Constant)
  {
    itkGenericExceptionMacro("BoundaryMode is " << static_cast<unsigned int>(boundary.Mode)
                                                << "; it must be Nearest, Reflect, Mirror, Wrap or Constant");
  }
  if (boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant && !std::isfinite(boundary.Value))
  {
    itkGenericExceptionMacro("BoundaryValue is " << boundary.Value << "; it must be finite");
  }
}

/** Sets the half-kernel to h(0) = first, h(1) = second, and 0 for larger n.
 *
 * The pole i q with the weight a - i b / q has h(0) = a, h(1) = b, h(2) = -a q^2 and h(3) = -b q^2. With q = 2^-30 the
 * values beyond h(1) are below the rounding of a double, and all products are exact. */
void
SetTwoValues(CudaGaussianImpulseResponse & kernel, double first, double second)
{
  constexpr double q = 1.0 / (1 << 30);
  std::fill(std::begin(kernel.Pole), std::end(kernel.Pole), Complex(0.0, q));
  std::fill(std::begin(kernel.Weight), std::end(kernel.Weight), Complex());
  kernel.Weight[0] = Complex(first, -second / q);
}

/** Replaces a kernel of order 0 by the three central pixels of the sampled Gaussian, with the poles that the difference
 * kernels of its sigma have. The sigmas at which derivatives are differences are so small that the omitted pixels of
 * the Gaussian are below 1e-6. */
void
SetThreePixels(CudaGaussianImpulseResponse & kernel)
{
  const double neighbor = std::exp(-0.5 / (kernel.SigmaInPixels * kernel.SigmaInPixels));
  const double sum = 1.0 + 2.0 * neighbor;
  SetTwoValues(kernel, 1.0 / sum, neighbor / sum);
}

/** Makes a kernel that is sampled at the pixels and normalised as in itk::RecursiveGaussianImageFilter. */
CudaGaussianImpulseResponse
MakeKernel(const ExponentialSum & constants,
           unsigned int           order,
           double                 sigma,
           double                 spacing,
           bool                   normalizeAcrossScale)
{
  VerifyOrder(order);
  if (!(sigma > 0.0) || !std::isfinite(sigma))
  {
    itkGenericExceptionMacro("Sigma is " << sigma << "; it must be greater than zero and finite");
  }
  if (!(std::abs(spacing) >= MinimumSpacing) || !std::isfinite(spacing))
  {
    itkGenericExceptionMacro("Spacing is " << spacing << "; its magnitude must be finite and at least "
                                           << MinimumSpacing);
  }

  CudaGaussianImpulseResponse kernel;
  kernel.Order = order;
  kernel.SigmaInPixels = sigma / std::abs(spacing);
  kernel.NumberOfPolePairs = constants.NumberOfPolePairs;
  for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
  {
    kernel.Pole[j] = std::exp(constants.Exponent[j] / kernel.SigmaInPixels);
    kernel.Weight[j] = constants.Amplitude[order][j];
  }
  if (order > 0 && kernel.SigmaInPixels < constants.MinimumSigmaOfDerivatives)
  {
    // The limits of the derivatives as sigma goes to 0.
    SetTwoValues(kernel, order == 1 ? 0.0 : -2.0, order == 1 ? -0.5 : 1.0);
    const double scale = normalizeAcrossScale ? sigma : 1.0;
    Scale(kernel, order == 1 ? (spacing < 0.0 ? -scale : scale) : scale * scale);
    return kernel;
  }

  switch (order)
  {
    case 0:
      Scale(kernel, 1.0 / EvenKernelSum(kernel));
      kernel.ConstantResponse = 1.0;
      break;
    case 1: {
      // The ramp x[n] = n gives sum_m h(m) (n - m) = -2 sum_{m>0} m h(m).
      const double rampResponse = -2.0 * HalfKernelMoment(kernel, 1);
      Scale(kernel, (spacing < 0.0 ? -1.0 : 1.0) * (normalizeAcrossScale ? sigma : 1.0) / rampResponse);
      break;
    }
    default: {
      // Adds a multiple of the smoothing response, so that the response to a constant is zero.
      CudaGaussianImpulseResponse smoothing = kernel;
      std::copy(std::begin(constants.Amplitude[0]), std::end(constants.Amplitude[0]), smoothing.Weight);
      const double beta = -EvenKernelSum(kernel) / EvenKernelSum(smoothing);
      for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
      {
        kernel.Weight[j] += beta * smoothing.Weight[j];
      }
      // The response to a constant is zero, so n^2 / 2 gives sum_m h(m) m^2 / 2 = sum_{m>0} m^2 h(m).
      const double parabolaResponse = HalfKernelMoment(kernel, 2);
      Scale(kernel, (normalizeAcrossScale ? sigma * sigma : 1.0) / parabolaResponse);
    }
  }
  return kernel;
}
} // namespace

CudaGaussianImpulseResponse
MakeDericheImpulseResponse(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale)
{
  return MakeKernel(MakeDericheExponentialSum(), order, sigma, spacing, normalizeAcrossScale);
}

CudaGaussianImpulseResponse
MakeAccurateImpulseResponse(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale)
{
  return MakeKernel(MakeAccurateExponentialSum(), order, sigma, spacing, normalizeAcrossScale);
}

CudaGaussianImpulseResponse
MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation approximation,
                            unsigned int                    order,
                            double                          sigma,
                            double                          spacing,
                            bool                            normalizeAcrossScale)
{
  const auto make = approximation == CudaFiltersEnums::Approximation::Accurate ? MakeAccurateImpulseResponse
                                                                               : MakeDericheImpulseResponse;
  return make(order, sigma, spacing, normalizeAcrossScale);
}

namespace
{
/** Builds a plan as a tree. A node is an image that has been filtered along all axes from the last one down to `axis` +
 * 1, together with the terms that still need it. */
class PlanBuilder
{
public:
  PlanBuilder(const CudaGaussianParameters & parameters, CudaGaussianOutput output)
    : m_Parameters(parameters)
    , m_Output(output)
  {}

  CudaGaussianPlan
  Build(const std::vector<CudaGaussianTerm> & terms)
  {
    m_Terms = terms;
    std::vector<Leaf> leaves;
    for (const CudaGaussianTerm & term : terms)
    {
      leaves.push_back({ term, leaves.size() });
    }
    m_Plan.Boundary = m_Parameters.Boundary;
    m_Plan.Results.resize(m_Output == CudaGaussianOutput::Components ? terms.size() : 1);
    this->AddPasses(static_cast<unsigned int>(m_Parameters.Sigma.size()) - 1, 0, leaves);
    this->AddCombiningPasses();
    return m_Plan;
  }

private:
  struct Leaf
  {
    CudaGaussianTerm Term;
    size_t           Index;
  };

  /** An image that still has to be filtered along the first axis. */
  struct Source
  {
    unsigned int      Image;
    std::vector<Leaf> Leaves;
  };

  double
  GetSigma(unsigned int axis, const CudaGaussianTerm & term) const
  {
    return (term.Sigma.empty() ? m_Parameters.Sigma : term.Sigma)[axis];
  }

  CudaGaussianImpulseResponse
  MakeKernelOf(unsigned int axis, const CudaGaussianTerm & term) const
  {
    return MakeGaussianImpulseResponse(m_Parameters.Approximation,
                                       term.Orders[axis],
                                       this->GetSigma(axis, term),
                                       m_Parameters.Spacing[axis],
                                       m_Parameters.NormalizeAcrossScale);
  }

  /** Makes the kernel of a term along an axis. All orders of one sigma must have the same poles. If a derivative of
   * this sigma is a difference of pixels, the kernel of order 0 is therefore replaced by SetThreePixels(). */
  CudaGaussianImpulseResponse
  MakeKernel(unsigned int axis, const Leaf & leaf) const
  {
    CudaGaussianImpulseResponse kernel = this->MakeKernelOf(axis, leaf.Term);
    const bool                  isNarrow = kernel.Order == 0 && kernel.SigmaInPixels < MinimumAccurateSigma;
    const bool follows = isNarrow && std::any_of(m_Terms.begin(), m_Terms.end(), [&](const CudaGaussianTerm & term) {
                           return term.Orders[axis] > 0 &&
                                  this->GetSigma(axis, term) == this->GetSigma(axis, leaf.Term) &&
                                  !this->MakeKernelOf(axis, term).HasPolesOf(kernel);
                         });
    if (follows)
    {
      SetThreePixels(kernel);
    }
    return kernel;
  }

  unsigned int
  TakeImage()
  {
    if (m_Free.empty())
    {
      return m_Plan.NumberOfImages++;
    }
    const unsigned int image = m_Free.back();
    m_Free.pop_back();
    return image;
  }

  void
  GiveBack(unsigned int image)
  {
    if (image > 0 || !m_Parameters.KeepInput)
    {
      m_Free.push_back(image);
    }
  }

  void
  AddPasses(unsigned int axis, unsigned int source, const std::vector<Leaf> & leaves)
  {
    if (axis == 0 && m_Output != CudaGaussianOutput::Components)
    {
      m_Sources.push_back({ source, leaves });
      return;
    }
    if (axis == 0)
    {
      for (const Leaf & leaf : leaves)
      {
        this->AddLastPass(source, leaf);
      }
      this->GiveBack(source);
      return;
    }
    const std::vector<std::vector<Leaf>> groups = this->GroupBySigma(axis, leaves);
    for (const std::vector<Leaf> & group : groups)
    {
      CudaGaussianLinePass           pass{ axis, source, {} };
      std::vector<std::vector<Leaf>> children;
      for (unsigned int order = 0; order <= 2; ++order)
      {
        std::vector<Leaf> child;
        std::copy_if(group.begin(), group.end(), std::back_inserter(child), [axis, order](const Leaf & leaf) {
          return leaf.Term.Orders[axis] == order;
        });
        if (!child.empty())
        {
          pass.Results.push_back(
            { this->MakeKernel(axis, child.front()), this->TakeImage(), CudaGaussianCombine::Store });
          children.push_back(child);
        }
      }
      m_Plan.Passes.push_back(pass);
      if (&group == &groups.back())
      {
        this->GiveBack(source);
      }
      for (size_t i = 0; i < children.size(); ++i)
      {
        this->AddPasses(axis - 1, pass.Results[i].Destination, children[i]);
      }
    }
  }

  /** Groups the terms that can share a pass along the axis. Orders of the same sigma share their states. */
  std::vector<std::vector<Leaf>>
  GroupBySigma(unsigned int axis, const std::vector<Leaf> & leaves) const
  {
    std::vector<std::vector<Leaf>> groups;
    for (const Leaf & leaf : leaves)
    {
      const auto found = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Leaf> & group) {
        return this->GetSigma(axis, group.front().Term) == this->GetSigma(axis, leaf.Term);
      });
      (found == groups.end() ? groups.emplace_back() : *found).push_back(leaf);
    }
    return groups;
  }

  /** Adds the passes whose results are combined, one directly after the other, so that the device can keep the
   * intermediate value. */
  void
  AddCombiningPasses()
  {
    for (const Source & source : m_Sources)
    {
      for (const Leaf & leaf : source.Leaves)
      {
        this->AddLastPass(source.Image, leaf);
      }
    }
  }

  /** Adds the pass along the first axis. Each term has its own; the pass applies the term's factor and writes to the
   * output. */
  void
  AddLastPass(unsigned int source, const Leaf & leaf)
  {
    CudaGaussianImpulseResponse kernel = this->MakeKernel(0, leaf);
    Scale(kernel, leaf.Term.Factor);
    const bool   isOwnComponent = m_Output == CudaGaussianOutput::Components;
    const size_t component = isOwnComponent ? leaf.Index : 0;
    if (isOwnComponent || m_Done == 0)
    {
      // Several results have consecutive numbers, which no other image shares.
      m_Plan.Results[component] = m_Plan.Results.size() > 1 ? m_Plan.NumberOfImages++ : this->TakeImage();
    }
    m_Plan.Passes.push_back({ 0, source, { { kernel, m_Plan.Results[component], this->GetCombine() } } });
    ++m_Done;
  }

  CudaGaussianCombine
  GetCombine() const
  {
    const bool first = m_Done == 0;
    const bool last = m_Done + 1 == m_Terms.size();
    switch (m_Output)
    {
      case CudaGaussianOutput::Sum:
        return first ? CudaGaussianCombine::Store : CudaGaussianCombine::Add;
      case CudaGaussianOutput::Norm:
        return first ? CudaGaussianCombine::StoreSquare
                     : (last ? CudaGaussianCombine::AddSquareAndRoot : CudaGaussianCombine::AddSquare);
      default:
        return CudaGaussianCombine::Store;
    }
  }

  const CudaGaussianParameters & m_Parameters;
  CudaGaussianOutput             m_Output;
  CudaGaussianPlan               m_Plan;
  std::vector<unsigned int>      m_Free;
  std::vector<Source>            m_Sources;
  std::vector<CudaGaussianTerm>  m_Terms;
  size_t                         m_Done{ 0 };
};
} // namespace

namespace
{
void
VerifyNumbersOfAxes(const CudaGaussianParameters & parameters, const std::vector<CudaGaussianTerm> & terms)
{
  const size_t axes = parameters.Sigma.size();
  if (axes < 1 || axes > CudaImageView::MaximumDimension || parameters.Spacing.size() != axes)
  {
    itkGenericExceptionMacro("Sigma is given for " << axes << " axes and Spacing for " << parameters.Spacing.size()
                                                   << "; both must be given for the image's axes, one to "
                                                   << CudaImageView::MaximumDimension);
  }
  for (const CudaGaussianTerm & term : terms)
  {
    if (term.Orders.size() != axes || (!term.Sigma.empty() && term.Sigma.size() != axes))
    {
      itkGenericExceptionMacro("A term has orders for " << term.Orders.size() << " axes and sigmas for "
                                                        << term.Sigma.size() << "; it must have both for " << axes
                                                        << ", or no sigmas");
    }
    for (const unsigned int order : term.Orders)
    {
      VerifyOrder(order);
    }
  }
}
} // namespace

std::vector<double>
CudaGradientSigmas(const CudaGaussianParameters & parameters, unsigned int component)
{
  std::vector<double> sigmas = parameters.Sigma;
  if (parameters.Approximation == CudaFiltersEnums::Approximation::Deriche)
  {
    // Moves the last sigma to the component's axis, and each sigma from there on to the next axis.
    const auto begin = sigmas.begin() + component;
    std::rotate(begin, sigmas.end() - 1, sigmas.end());
  }
  return sigmas;
}

CudaGaussianTerm
MakeGaussianDerivativeTerm(const CudaGaussianParameters & parameters, unsigned int a, unsigned int b)
{
  CudaGaussianTerm term{ std::vector<unsigned int>(parameters.Sigma.size(), 0),
                         1.0 / (parameters.Spacing[a] * parameters.Spacing[b]) };
  ++term.Orders[a];
  ++term.Orders[b];
  return term;
}

std::vector<CudaGaussianTerm>
MakeGaussianGradientTerms(const CudaGaussianParameters & parameters)
{
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int d = 0; d < parameters.Sigma.size(); ++d)
  {
    CudaGaussianTerm term{ std::vector<unsigned int>(parameters.Sigma.size(), 0), 1.0 / parameters.Spacing[d] };
    term.Orders[d] = 1;
    terms.push_back(term);
  }
  return terms;
}

CudaGaussianPlan
MakeGaussianPlan(const CudaGaussianParameters &        parameters,
                 const std::vector<CudaGaussianTerm> & terms,
                 CudaGaussianOutput                    output)
{
  VerifyNumbersOfAxes(parameters, terms);
  VerifyBoundary(parameters.Boundary);
  if (terms.empty())
  {
    itkGenericExceptionMacro("The plan has no terms; it must have at least one");
  }
  return PlanBuilder(parameters, output).Build(terms);
}

CudaGaussianPlan
MakeSmoothingPlan(const CudaGaussianParameters & parameters)
{
  const std::vector<unsigned int> orders(parameters.Sigma.size(), 0);
  return MakeGaussianPlan(parameters, { { orders, 1.0 } }, CudaGaussianOutput::Components);
}

CudaGaussianPlan
MakeGradientPlan(const CudaGaussianParameters & parameters, const std::vector<double> & direction)
{
  VerifyNumbersOfAxes(parameters, {});
  const size_t dimension = parameters.Sigma.size();
  if (!direction.empty() && direction.size() != dimension * dimension)
  {
    itkGenericExceptionMacro("Direction has " << direction.size() << " elements; it must have " << dimension * dimension
                                              << ", or none");
  }
  std::vector<CudaGaussianTerm> terms = MakeGaussianGradientTerms(parameters);
  for (unsigned int d = 0; d < dimension; ++d)
  {
    terms[d].Sigma = CudaGradientSigmas(parameters, d);
  }
  CudaGaussianPlan plan = MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Components);
  plan.Rotation = direction;
  return plan;
}

CudaGaussianPlan
MakeGradientMagnitudePlan(const CudaGaussianParameters & parameters)
{
  VerifyNumbersOfAxes(parameters, {});
  return MakeGaussianPlan(parameters, MakeGaussianGradientTerms(parameters), CudaGaussianOutput::Norm);
}

CudaGaussianPlan
MakeLaplacianPlan(const CudaGaussianParameters & parameters)
{
  VerifyNumbersOfAxes(parameters, {});
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int d = 0; d < parameters.Sigma.size(); ++d)
  {
    terms.push_back(MakeGaussianDerivativeTerm(parameters, d, d));
  }
  return MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Sum);
}

CudaGaussianPlan
MakeHessianPlan(const CudaGaussianParameters & parameters)
{
  VerifyNumbersOfAxes(parameters, {});
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int a = 0; a < parameters.Sigma.size(); ++a)
  {
    for (unsigned int b = a; b < parameters.Sigma.size(); ++b)
    {
      terms.push_back(MakeGaussianDerivativeTerm(parameters, a, b));
    }
  }
  return MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Components);
}

double
CudaFindSigmaBeyondITK(const CudaGaussianPlan & plan)
{
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      const double sigma = result.Kernel.SigmaInPixels;
      if (sigma > CudaMaximumSigmaOfITK || (result.Kernel.Order > 0 && sigma < CudaMinimumDericheSigma))
      {
        return sigma;
      }
    }
  }
  return 0.0;
}

CudaGaussianPlan
MakeGaussianLinePlan(unsigned int                        axis,
                     const CudaGaussianImpulseResponse & kernel,
                     const CudaGaussianBoundary &        boundary)
{
  VerifyBoundary(boundary);
  CudaGaussianPlan plan;
  plan.Boundary = boundary;
  plan.NumberOfImages = 2;
  plan.Passes.push_back({ axis, 0, { { kernel, 1, CudaGaussianCombine::Store } } });
  plan.Results.push_back(1);
  return plan;
}

std::string
CudaGaussianHostPreference(unsigned int axis, size_t numberOfValues)
{
  using cuda::gaussian::SinglePassTime;
  using cuda::gaussian::SinglePassTimes;

  const auto   larger = std::upper_bound(std::begin(SinglePassTimes),
                                       std::end(SinglePassTimes),
                                       numberOfValues,
                                       [](size_t values, const SinglePassTime & time) { return values < time.Values; });
  const size_t kind = axis == 0 ? 0 : 1;
  if (larger != std::begin(SinglePassTimes))
  {
    const SinglePassTime & time = *std::prev(larger);
    if (time.Device[kind] < time.Host[kind])
    {
      return {};
    }
  }
  return "one pass over " + std::to_string(numberOfValues) + " values is faster on the host than by way of the device";
}
} // end namespace itk::CudaDetail
