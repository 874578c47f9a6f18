// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=acos_f32 --input=4xf32=-1.0,-0.5,0.25,0.9990000128746033 --expected_output=4xf32=3.14159265,2.0943951,1.31811607,0.0447247992 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=acosh_f32 --input=4xf32=1.0000009536743164,1.5,3.0,1.0000000150474662e+30 --expected_output=4xf32=0.00138106782,0.96242365,1.76274717,69.7707 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=asin_f32 --input=4xf32=-1.0,-0.5,9.999999974752427e-07,0.9990000128746033 --expected_output=4xf32=-1.57079633,-0.523598776,9.99999997e-7,1.52607153 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=asinh_f32 --input=4xf32=-3.0,9.999999974752427e-07,0.5,1.0000000150474662e+30 --expected_output=4xf32=-1.81844646,9.99999997e-7,0.481211825,69.7707 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=atanh_f32 --input=4xf32=-0.9990000128746033,9.999999974752427e-07,0.5,0.25 --expected_output=4xf32=-3.80020761,9.99999997e-7,0.549306144,0.255412812 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=bessel_i1e_f32 --input=4xf32=-3.0,0.5,8.0,20.0 --expected_output=4xf32=-0.196826713,0.156420803,0.134142493,0.0875062222 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=cosh_f32 --input=4xf32=-80.0,0.5,3.0,0.0010000000474974513 --expected_output=4xf32=2.77031119e+34,1.12762597,10.067662,1.0000005 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=sinh_f32 --input=4xf32=-80.0,0.5,3.0,0.0010000000474974513 --expected_output=4xf32=-2.77031119e+34,0.521095305,10.0178749,0.00100000021 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=digamma_f32 --input=4xf32=0.5,3.0,30.0,-2.5 --expected_output=4xf32=-1.96351003,0.922784335,3.38443813,1.10315664 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erf_f32 --input=4xf32=-0.5,9.999999974752427e-07,1.5,3.0 --expected_output=4xf32=-0.520499878,1.12837916e-6,0.966105146,0.99997791 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erfc_f32 --input=4xf32=-2.0,0.5,3.0,9.0 --expected_output=4xf32=1.99532227,0.479500122,2.2090497e-5,4.13703175e-37 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erf_inv_f32 --input=4xf32=-0.8999999761581421,9.999999974752427e-07,0.5,0.9998999834060669 --expected_output=4xf32=-1.16308707,8.86226923e-7,0.476936276,2.75103544 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=lgamma_f32 --input=4xf32=0.5,3.0,30.0,-2.5 --expected_output=4xf32=0.572364943,0.693147181,71.257039,-0.0562437165 --relative-tolerance=2e-6 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=acos_f64 --input=4xf64=-1,-0.5,0.25,0.999 --expected_output=4xf64=3.1415926535897932,2.0943951023931955,1.318116071652818,0.044725087168733451 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=acosh_f64 --input=4xf64=1.000001,1.5,3,1e+30 --expected_output=4xf64=0.0014142134444638201,0.96242365011920689,1.7627471740390861,69.770699970381316 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=asin_f64 --input=4xf64=-1,-0.5,1e-06,0.999 --expected_output=4xf64=-1.5707963267948966,-0.52359877559829887,1.0000000000001666e-6,1.5260712396261632 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=asinh_f64 --input=4xf64=-3,1e-06,0.5,1e+30 --expected_output=4xf64=-1.8184464592320668,9.9999999999983329e-7,0.48121182505960345,69.770699970381316 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=atanh_f64 --input=4xf64=-0.999,1e-06,0.5,0.25 --expected_output=4xf64=-3.8002011672501996,1.0000000000003333e-6,0.54930614433405485,0.25541281188299534 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=bessel_i1e_f64 --input=4xf64=-3,0.5,8,20 --expected_output=4xf64=-0.19682671329730085,0.1564208031848717,0.13414249329269818,0.087506222183288665 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=cosh_f64 --input=4xf64=-80,0.5,3,0.001 --expected_output=4xf64=2.770311192196755e+34,1.1276259652063808,10.067661995777766,1.0000005000000417 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=sinh_f64 --input=4xf64=-80,0.5,3,0.001 --expected_output=4xf64=-2.770311192196755e+34,0.52109530549374736,10.017874927409902,0.001000000166666675 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=digamma_f64 --input=4xf64=0.5,3,30,-2.5 --expected_output=4xf64=-1.9635100260214235,0.92278433509846714,3.3844381326855249,1.1031566406452432 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erf_f64 --input=4xf64=-0.5,1e-06,1.5,3 --expected_output=4xf64=-0.52049987781304654,1.1283791670951364e-6,0.96610514647531073,0.99997790950300141 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erfc_f64 --input=4xf64=-2,0.5,3,9 --expected_output=4xf64=1.9953222650189527,0.47950012218695346,2.2090496998585441e-5,4.1370317465138102e-37 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=erf_inv_f64 --input=4xf64=-0.9,1e-06,0.5,0.9999 --expected_output=4xf64=-1.1630871536766742,8.8622692545298999e-7,0.47693627620446987,2.7510639057120797 --relative-tolerance=2e-14 --absolute-tolerance=0
// RUN: alula-interpret %s --passes=input-convert-chlo-to-stablehlo --function=lgamma_f64 --input=4xf64=0.5,3,30,-2.5 --expected_output=4xf64=0.57236494292470009,0.69314718055994531,71.257038967168009,-0.056243716497674051 --relative-tolerance=2e-14 --absolute-tolerance=0

// Numbers from mpmath with 200 bits, rounded to the type.

func.func @acos_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @acosh_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @asin_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @asinh_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @atanh_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @bessel_i1e_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @cosh_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @sinh_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @digamma_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @erf_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @erfc_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @erf_inv_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @lgamma_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @acos_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.acos %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @acosh_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.acosh %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @asin_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.asin %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @asinh_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.asinh %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @atanh_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.atanh %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @bessel_i1e_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.bessel_i1e %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @cosh_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.cosh %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @sinh_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.sinh %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @digamma_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.digamma %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @erf_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.erf %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @erfc_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.erfc %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @erf_inv_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.erf_inv %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @lgamma_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = chlo.lgamma %x : tensor<4xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
