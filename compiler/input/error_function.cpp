// erf, erfc and the inverse of erf.
//
// f64: the rational approximations of Cephes' ndtr.c; f32: those of ndtrf.c.
// Both evaluate exp(-x^2) with the rounding error of x^2 put back, which
// alone costs erfc a hundred ULP at its far end. The inverse: the polynomials
// of M. Giles, "Approximating the erfinv function" (2010).

#include "compiler/input/special_functions.h"

#include <cmath>

using namespace llvm;
using namespace alula::input;

namespace {
constexpr double erfcNearP[] = {
    2.46196981473530512524e-10, 5.64189564831068821977e-1,
    7.46321056442269912687,     4.86371970985681366614e1,
    1.96520832956077098242e2,   5.26445194995477358631e2,
    9.34528527171957607540e2,   1.02755188689515710272e3,
    5.57535335369399327526e2};

constexpr double erfcNearQ[] = {
    1.00000000000000000000,   1.32281951154744992508e1,
    8.67072140885989742329e1, 3.54937778887819891062e2,
    9.75708501743205489753e2, 1.82390916687909736289e3,
    2.24633760818710981792e3, 1.65666309194161350182e3,
    5.57535340817727675546e2};

constexpr double erfcFarP[] = {
    5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414,
    6.16021097993053585195,    7.40974269950448939160, 2.97886665372100240670};

constexpr double erfcFarQ[] = {
    1.00000000000000000000,   2.26052863220117276590,   9.39603524938001434673,
    1.20489539808096656605e1, 1.70814450747565897222e1, 9.60896809063285878198,
    3.36907645100081516050};

constexpr double erfP[] = {9.60497373987051638749, 9.00260197203842689217e1,
                           2.23200534594684319226e3, 7.00332514112805075473e3,
                           5.55923013010394962768e4};

constexpr double erfQ[] = {1.00000000000000000000,   3.35617141647503099647e1,
                           5.21357949780152679795e2, 4.59432382970980127987e3,
                           2.26290000613890934246e4, 4.92673942608635921086e4};

constexpr double erfcNear32[] = {
    2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
    -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
    3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};

constexpr double erfcFar32[] = {-1.047766399936249e1,  1.297719955372516e1,
                                -7.495518717768503,    2.921019019210786,
                                -1.015265279202700,    4.218463358204948e-1,
                                -2.820767439740514e-1, 5.641895067754075e-1};

constexpr double erf32[] = {7.853861353153693e-5, -8.010193625184903e-4,
                            5.188327685732524e-3, -2.685381193529856e-2,
                            1.128358514861418e-1, -3.761262582423300e-1,
                            1.128379165726710};

constexpr double inverseNear32[] = {
    2.81022636e-8,  3.43273939e-7, -3.5233877e-6,
    -4.39150654e-6, 0.00021858087, -0.00125372503,
    -0.00417768164, 0.246640727,   1.50140941};

constexpr double inverseFar32[] = {
    -0.000200214257, 0.000100950558, 0.00134934322,
    -0.00367342844,  0.00573950773,  -0.0076224613,
    0.00943887047,   1.00167406,     2.83297682};

constexpr double inverseNear[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,
    1.2858480715256400167e-18,  1.115787767802518096e-17,
    -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14,
    -8.1519341976054721522e-14, 2.6335093153082322977e-12,
    -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-9,    -4.1126339803469836976e-9,
    -2.9070369957882005086e-8,  4.2347877827932403518e-7,
    -1.3654692000834678645e-6,  -1.3882523362786468719e-5,
    0.0001867342080340571352,   -0.00074070253416626697512,
    -0.0060336708714301490533,  0.24015818242558961693,
    1.6536545626831027356};

constexpr double inverseMiddle[] = {
    2.2137376921775787049e-9,  9.0756561938885390979e-8,
    -2.7517406297064545428e-7, 1.8239629214389227755e-8,
    1.5027403968909827627e-6,  -4.013867526981545969e-6,
    2.9234449089955446044e-6,  1.2475304481671778723e-5,
    -4.7318229009055733981e-5, 6.8284851459573175448e-5,
    2.4031110387097893999e-5,  -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313,
    0.0024914420961078508066,  -0.0037512085075692412107,
    0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635};

constexpr double inverseFar[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10,
    1.5076572693500548083e-9,   -3.7894654401267369937e-9,
    7.6157012080783393804e-9,   -1.4960026627149240478e-8,
    2.9147953450901080826e-8,   -6.7711997758452339498e-8,
    2.2900482228026654717e-7,   -9.9298272942317002539e-7,
    4.5260625972231537039e-6,   -1.9681778105531670567e-5,
    7.5995277030017761139e-5,   -0.00021503011930044477347,
    -0.00013871931833623122026, 1.0103004648645343977,
    4.8499064014085844221};

/// exp(-x^2) for 0 <= x: with z the upper half of the bits of x, z^2 is exact
/// and the rest, (z - x)(z + x), is small.
Num buildExpOfMinusSquare(Num x) {
  // Beyond, the result is 0; the bound keeps the splitting, and the second
  // exponential, from overflowing.
  Num bounded = min(x, x.math->constant(x.element(), 64.0));
  Num scaled = bounded * (x.isF64() ? 0x1p27 + 1 : 0x1p12 + 1);
  Num upper = scaled - (scaled - bounded);
  return exp(-(upper * upper)) * exp((upper - bounded) * (upper + bounded));
}

/// erf(x) for |x| <= 1.
Num buildErfNearZero(Num x) {
  Num square = x * x;
  if (x.isF64())
    return x * polynomial(square, erfP) / polynomial(square, erfQ);
  return x * polynomial(square, erf32);
}

/// erfc(x) for x >= 1. Smaller x give a number that nobody uses.
Num buildErfcFromOne(Num x) {
  Num power = buildExpOfMinusSquare(x);
  if (x.isF64()) {
    Num near = polynomial(x, erfcNearP) / polynomial(x, erfcNearQ);
    // At infinity the quotient would be NaN.
    Num bounded = min(x, x.math->constant(x.element(), 1024.0));
    Num far = polynomial(bounded, erfcFarP) / polynomial(bounded, erfcFarQ);
    return power * select(x < 8.0, near, far);
  }
  Num inverse = 1.0 / x;
  Num square = inverse * inverse;
  Num factor = select(x < 2.0, polynomial(square, erfcNear32),
                      polynomial(square, erfcFar32));
  return power * inverse * factor;
}
} // namespace

Num alula::input::buildErf(Num x) {
  Num magnitude = abs(x);
  Num far = sign(x) * (1.0 - buildErfcFromOne(magnitude));
  return select(magnitude <= 1.0, buildErfNearZero(x), far);
}

Num alula::input::buildErfc(Num x) {
  Num magnitude = abs(x);
  Num far = buildErfcFromOne(magnitude);
  Num folded = select(x < 0.0, 2.0 - far, far);
  return select(magnitude <= 1.0, 1.0 - buildErfNearZero(x), folded);
}

Num alula::input::buildErfInv(Num x) {
  // (1 - x)(1 + x) would round twice near 0, x * x near 1: log1p of each
  // factor is exact in its argument.
  Num w = -(log1p(-x) + log1p(x));
  Num p = w;
  if (x.isF64()) {
    Num root = sqrt(w);
    p = select(w < 6.25, polynomial(w - 3.125, inverseNear),
               select(w < 16.0, polynomial(root - 3.25, inverseMiddle),
                      polynomial(root - 5.0, inverseFar)));
  } else {
    p = select(w < 5.0, polynomial(w - 2.5, inverseNear32),
               polynomial(sqrt(w) - 3.0, inverseFar32));
  }
  return select(abs(x) == 1.0, x * INFINITY, p * x);
}
