// Made by benchmarks/accuracy/coefficients.py; lowest power first. Do not edit by hand.
#pragma once

#include "../simd/native.h"

namespace extensor::EX_ISA {

// exp(r) = 1 + r + r^2 P(r) on [-0.34675, 0.34675], error 2^-28.18.
inline constexpr float kExpFloat[] = {0x1.fffffc0000000p-2f, 0x1.5554920000000p-3f,
                                      0x1.5558d60000000p-5f, 0x1.123a1c0000000p-7f,
                                      0x1.6a236c0000000p-10f};

// exp(r) = 1 + r + r^2 P(r) on [-0.39, 0.39], error 2^-30.71.
inline constexpr float kExpWideFloat[] = {0x1.0000000000000p-1f,  0x1.5555520000000p-3f,
                                          0x1.55544e0000000p-5f,  0x1.1113900000000p-7f,
                                          0x1.6deec00000000p-10f, 0x1.9eba2c0000000p-13f};

// exp(2 r) = 1 + 2 r + 2 r^2 P(r) on [-0.215, 0.215], error 2^-29.5.
inline constexpr float kExpHalfFloat[] = {0x1.0000000000000p+0f, 0x1.5555500000000p-1f,
                                          0x1.5553ce0000000p-2f, 0x1.11145c0000000p-3f,
                                          0x1.6e52720000000p-5f, 0x1.9e681c0000000p-7f};

// exp(r) = 1 + r + r^2 P(r) on [-0.34675, 0.34675], error 2^-28.28.
inline constexpr double kExpMixed[] = {0x1.fffffb97613f1p-2, 0x1.555491084dff2p-3,
                                       0x1.5558f35d86a0dp-5, 0x1.123a1cad2494bp-7,
                                       0x1.6a236e0eabf12p-10};

// exp(r) = 1 + r + r^2 P(r) on [-0.34675, 0.34675], error 2^-56.32.
inline constexpr double kExpDouble[] = {
    0x1.000000000000ap-1,  0x1.55555555554f9p-3,  0x1.555555555083fp-5,  0x1.1111111127d07p-7,
    0x1.6c16c18438983p-10, 0x1.a01a012a11423p-13, 0x1.a01999e297c34p-16, 0x1.71df25afe5176p-19,
    0x1.28ad9b59f3e15p-22, 0x1.ad7f413b943fep-26};

// expm1(r) = r + r^2 / 2 + r^3 P(r) on [-0.51, 0.51], error 2^-27.34.
inline constexpr float kExpm1Float[] = {0x1.5555500000000p-3f, 0x1.5553860000000p-5f,
                                        0x1.1114860000000p-7f, 0x1.6e9b720000000p-10f,
                                        0x1.9f54ac0000000p-13f};

// expm1(r) = r + r^2 P(r) on [-0.34675, 0.34675], error 2^-30.29.
inline constexpr float kSeluFloat[] = {0x1.0000000000000p-1f,  0x1.5555540000000p-3f,
                                       0x1.5554d00000000p-5f,  0x1.1112280000000p-7f,
                                       0x1.6d723a0000000p-10f, 0x1.a0329c0000000p-13f};

// log(1 + f) = f - f^2 / 2 + f^3 P(f) on [-0.29289, 0.41421], error 2^-27.32.
inline constexpr float kLogFloat[] = {
    0x1.5555540000000p-2f, -0x1.0002260000000p-2f, 0x1.99a00c0000000p-3f, -0x1.54725c0000000p-3f,
    0x1.22da2c0000000p-3f, -0x1.0d85320000000p-3f, 0x1.055bb00000000p-3f, -0x1.38b6be0000000p-4f};

// log(1 + f) = f - f^2 / 2 + f^3 P(f) on [-0.33333, 0.33333], error 2^-27.65.
inline constexpr float kLogThirdFloat[] = {
    0x1.5555060000000p-2f, -0x1.fffef00000000p-3f, 0x1.99d0340000000p-3f, -0x1.559dce0000000p-3f,
    0x1.1ed7260000000p-3f, -0x1.f311640000000p-4f, 0x1.1e669c0000000p-3f, -0x1.08053c0000000p-3f};

// 2 atanh(s) = 2 s + s z P(z), z = s^2 on [0.0, 0.11111], error 2^-27.74.
inline constexpr double kLog1pMixed[] = {0x1.55550153c0ff7p-1, 0x1.99d20764c610dp-2,
                                         0x1.1ebd1b5b22f7ap-2, 0x1.1ed77bffa87d7p-2};

// 2 atanh(s) = 2 s + s z (2/3 + z P(z)), z = s^2 on [0.0, 0.029437], error 2^-65.51.
inline constexpr double kPowDouble[] = {
    0x1.9999999999b2fp-2, 0x1.2492492457fe4p-2, 0x1.c71c722d2f28fp-3, 0x1.745ce9f5cdeb9p-3,
    0x1.3b1ee8ccb32eep-3, 0x1.0f803369bec85p-3, 0x1.0e400e7f66a55p-3};

// 2 atanh(s) = 2 s + s z P(z), z = s^2 on [0.0, 0.029437], error 2^-59.32.
inline constexpr double kLogDouble[] = {
    0x1.5555555555592p-1, 0x1.999999997feedp-2, 0x1.24924941e0884p-2, 0x1.c71c521679352p-3,
    0x1.74663c4a911e1p-3, 0x1.39a1fc82b9570p-3, 0x1.2f02dc7cc9f7fp-3};

// log1p(e) = e - e^2 / 4 + e^2 P(e - 1/2) on [-0.5, 0.5], error 2^-26.98.
inline constexpr float kLog1pFloat[] = {
    -0x1.066e080000000p-3f, 0x1.6f0d740000000p-3f,  -0x1.7de0b00000000p-4f,
    0x1.a285860000000p-5f,  -0x1.d9945a0000000p-6f, 0x1.10e8700000000p-6f,
    -0x1.4d80b80000000p-7f, 0x1.c6360e0000000p-8f,  -0x1.b2f66e0000000p-9f};

// tanh(x) = x + x w P(w), w = x^2 on [0.0, 1.0], error 2^-28.08.
inline constexpr float kTanhFloat[] = {
    -0x1.5555520000000p-2f, 0x1.11105e0000000p-3f, -0x1.b9fbdc0000000p-5f,  0x1.64ebc60000000p-6f,
    -0x1.19a5080000000p-7f, 0x1.9384640000000p-9f, -0x1.b8ff5e0000000p-11f, 0x1.fd7be80000000p-14f};

// tanh(x) = x + x w P(w), w = x^2 on [0.0, 0.3025], error 2^-54.98.
inline constexpr double kTanhDouble[] = {
    -0x1.555555555549ep-2,  0x1.111111110295ep-3, -0x1.ba1ba1ad707e6p-5,  0x1.664f45c2b2aa8p-6,
    -0x1.226ddd4472630p-7,  0x1.d6c61d4ece27dp-9, -0x1.7cf3ba25bdf1fp-10, 0x1.2fa276a572648p-11,
    -0x1.b9094d025a0dbp-13, 0x1.abfff4b80339ap-15};

// sinh(x) = x + x w P(w), w = x^2 on [0.0, 1.0], error 2^-29.47.
inline constexpr float kSinhFloat[] = {0x1.5555560000000p-3f, 0x1.1111240000000p-7f,
                                       0x1.9ffe8a0000000p-13f, 0x1.7a15ac0000000p-19f};

// sinh(x) = x + x w P(w), w = x^2 on [0.0, 1.0], error 2^-56.77.
inline constexpr double kSinhDouble[] = {
    0x1.5555555555555p-3,  0x1.1111111111111p-7,  0x1.a01a01a019fc1p-13, 0x1.71de3a5573f78p-19,
    0x1.ae6456741b9f0p-26, 0x1.61246afa243ddp-33, 0x1.ae756e9efc5ecp-41, 0x1.9a793f77d3da2p-49};

// sin(r) = r + r w P(w), w = r^2 on [0.0, 0.61716], error 2^-27.97.
inline constexpr double kSinMixed[] = {-0x1.5555452045dc6p-3, 0x1.110738758ec28p-7,
                                       -0x1.9943019be1825p-13};

// cos(r) = 1 - w / 2 + w^2 P(w), w = r^2 on [0.0, 0.61716], error 2^-33.28.
inline constexpr double kCosMixed[] = {0x1.55554aaff5478p-5, -0x1.6c0c8925dc037p-10,
                                       0x1.9a01964ebc4c0p-16};

// sin(r) = r + r w P(w), w = r^2 on [0.0, 0.61716], error 2^-30.39.
inline constexpr float kSinFloat[] = {-0x1.5555560000000p-3f, 0x1.11111e0000000p-7f,
                                      -0x1.a00f780000000p-13f, 0x1.6cd1520000000p-19f};

// cos(r) = 1 - w / 2 + w^2 P(w), w = r^2 on [0.0, 0.61716], error 2^-32.92.
inline constexpr float kCosFloat[] = {0x1.55554a0000000p-5f, -0x1.6c0c640000000p-10f,
                                      0x1.9a01c60000000p-16f};

// sin(r) = r + r w P(w), w = r^2 on [0.0, 0.61716], error 2^-56.51.
inline constexpr double kSinDouble[] = {-0x1.5555555555548p-3,  0x1.111111110f7c0p-7,
                                        -0x1.a01a019bfbe1ap-13, 0x1.71de3565f9f59p-19,
                                        -0x1.ae5e59120a36ep-26, 0x1.5d8f5f018947fp-33};

// cos(r) = 1 - w / 2 + w^2 P(w), w = r^2 on [0.0, 0.61716], error 2^-59.88.
inline constexpr double kCosDouble[] = {0x1.555555555554cp-5,  -0x1.6c16c16c15174p-10,
                                        0x1.a01a019cb0b87p-16, -0x1.27e4f8092bde8p-22,
                                        0x1.1ee9eb5e3f031p-29, -0x1.8fae51f5083e5p-37};

// asin(x) = x + x w P(w), w = x^2 on [0.0, 0.25], error 2^-55.77.
inline constexpr double kAsinDouble[] = {
    0x1.5555555555390p-3, 0x1.333333336e7bfp-4, 0x1.6db6db427cd35p-5,  0x1.f1c72c38514d6p-6,
    0x1.6e89f44da1c88p-6, 0x1.1c6be0f3ec733p-6, 0x1.c6fdce00d2007p-7,  0x1.8ec2b2d818a77p-7,
    0x1.abd1aae2920fbp-8, 0x1.3ff33021fddd8p-6, -0x1.09d0f93e87563p-6, 0x1.056cb652fe08cp-5};

// atan(x) = x + x w P(w), w = x^2 on [0.0, 0.17157], error 2^-57.57.
inline constexpr double kAtanDouble[] = {
    -0x1.555555555553dp-2, 0x1.99999999957cdp-3, -0x1.24924922aa4adp-3, 0x1.c71c70e50ce2dp-4,
    -0x1.745cf8c34bdc5p-4, 0x1.3b111792681e5p-4, -0x1.10eba8aa9e238p-4, 0x1.df0e7e92ca6bfp-5,
    -0x1.9ccf7841b0ac2p-5, 0x1.37ce1052bbcb9p-5, -0x1.255b1fa135601p-6};

// erf(x) = x + x P(w), w = x^2 on [0.0, 0.85], error 2^-28.57.
inline constexpr float kErfFloat[] = {
    0x1.06eba80000000p-3f, -0x1.8127440000000p-2f,  0x1.ce2e240000000p-4f, -0x1.b810780000000p-6f,
    0x1.54daac0000000p-8f, -0x1.aae7f00000000p-11f, 0x1.5f0bd60000000p-14f};

// erf(x) = 1 - exp(P(x)) on [0.92, 4.0], error 2^-33.13.
inline constexpr float kLogErfcFloat[] = {
    0x1.5063820000000p-13f, -0x1.2122980000000p+0f,  -0x1.445fd00000000p-1f,
    -0x1.ba6ab20000000p-4f, 0x1.97e1ea0000000p-6f,   -0x1.09a5420000000p-8f,
    0x1.9ff42c0000000p-12f, -0x1.e013060000000p-17f, -0x1.18593e0000000p-21f};

// erf(x) = x + x P(w), w = x^2 on [0.0, 1.0], error 2^-56.3.
inline constexpr double kErfDouble[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,  -0x1.b82ce3128499dp-6,
    0x1.565bcd0db02ffp-8,  -0x1.c02db3d8ed74fp-11, 0x1.f9a321a1274eap-14, -0x1.f4d1df3a05c30p-17,
    0x1.b9def1a770688p-20, -0x1.5f1d3713aa3d0p-23, 0x1.f7a415a1f7a43p-27, -0x1.386acb84c6486p-30,
    0x1.0579c7f956d52p-34};

// 2 Phi(-t) = exp(-t (7/16 t + 1405905 / 2^21) - s P(s)), s = t - 127/64 on [-1.9844, 2.52], error
// 2^-28.16.
inline constexpr float kGeluExponentFloat[] = {
    -0x1.83bf600000000p-5f,  0x1.40c1020000000p-8f,  0x1.478c060000000p-7f,
    -0x1.b396240000000p-10f, 0x1.0108520000000p-12f, -0x1.e3083c0000000p-16f,
    0x1.d8eb9e0000000p-20f,  0x1.55484a0000000p-22f, -0x1.4f0b300000000p-23f,
    0x1.20c71a0000000p-25f,  -0x1.b44b100000000p-29f};

// 2 Phi(-t) = exp(2 s P(s) - t (7/16 t + 343/512)), s = t - 0x1.0087c2p1 on [-2.0041, 2.5059],
// error 2^-26.19.
inline constexpr float kGeluHalfFloat[] = {
    0x1.7e40140000000p-6f,   -0x1.67595c0000000p-9f,  -0x1.4345cc0000000p-8f,
    0x1.ad463a0000000p-11f,  -0x1.faf02c0000000p-14f, 0x1.df1cd80000000p-17f,
    -0x1.e639440000000p-21f, -0x1.3c3a000000000p-23f, 0x1.42a9940000000p-24f,
    -0x1.1797500000000p-26f, 0x1.a5f5720000000p-30f};

// t Phi(-t) = exp(-t^2 / 2 - 29/32 - P(2 / t^2)) on [0.011765, 0.1], error 2^-27.47.
inline constexpr float kGeluFarFloat[] = {0x1.9fc8f80000000p-7f,  0x1.fff5840000000p-2f,
                                          -0x1.3e99e20000000p-1f, 0x1.7306ee0000000p+0f,
                                          -0x1.e4d9de0000000p+1f, 0x1.9146560000000p+2f};

// gelu'(-t) = exp(-t^2 / 2) (1/2 - t P((t - 3) / (t + 3))) on [-1.0, 0.62963], error 2^-24.06.
inline constexpr float kGeluBendFloat[] = {0x1.0cda780000000p-1f,   -0x1.77db120000000p-3f,
                                           0x1.2da9460000000p-4f,   -0x1.193ad80000000p-6f,
                                           -0x1.29f5d60000000p-12f, 0x1.5f4e580000000p-10f,
                                           -0x1.bc5e120000000p-15f, -0x1.0088180000000p-13f};

// (t + 4) exp(t^2 / 2) Phi(-t) = P((t - 4) / (t + 4)) on [-1.0, 0.57672], error 2^-29.54.
inline constexpr double kTailMixed[] = {
    0x1.82b4bb93e83d5p-1,  -0x1.373e3ac987cdbp-1,  0x1.8c6db8ede5f94p-2,  -0x1.7dff054ae2067p-3,
    0x1.eec87150e00fbp-5,  -0x1.ee511683a10b9p-8,  -0x1.c9b57dba304f1p-9, 0x1.acd14948170ebp-10,
    0x1.681009b2209e7p-13, -0x1.cd021c337ce1dp-13, -0x1.7c14d0965b031p-15};

// (t + 4) exp(t^2 / 2) Phi(-t) = P((t - 4) / (t + 4)) on [-1.0, 0.81395], error 2^-53.68.
inline constexpr double kTailDouble[] = {
    0x1.82b4bb8c94dcep-1,  -0x1.373e3a893c28ap-1,  0x1.8c6dbf2cfc308p-2,   -0x1.7dff2bff6848ep-3,
    0x1.eec4cc3e4435cp-5,  -0x1.ee276104394b2p-8,  -0x1.c81719c9571a9p-9,  0x1.ab825fb0b1679p-10,
    0x1.17a4a5f7fbf90p-13, -0x1.e4a421b83c8fdp-13, -0x1.00110514ebad6p-19, 0x1.26d0638178780p-15,
    0x1.7fd97d065f5bfp-21, -0x1.8d4904edfa94fp-18, -0x1.4faabe30f9040p-21, 0x1.124d7e4ae7377p-20,
    0x1.1ba2408324968p-22, -0x1.50476d2e1f3f8p-23, -0x1.4b9dbf6c9ae68p-24, 0x1.14115797272dfp-26,
    0x1.f64e34c1aa0a4p-27, -0x1.74c8c3c0b5ed9p-32, -0x1.48e6cbfa5da8cp-30};

// t Phi(-t) = c + (c_low + c1 d + d^2 P(d)), d = t - node: nodes near the multiples of 3/16,
// then c, c_low, c1 and P, 32 entries each. Up to 4.5 the error is 2^-27.65.
// clang-format off
alignas(64) inline constexpr float kGeluTable[] = {
    0x0p+0f, 0x1.801a6p-3f, 0x1.7fe18p-2f, 0x1.20182p-1f, 0x1.7fe74p-1f,
    0x1.dff8ep-1f, 0x1.1ffdep+0f, 0x1.4fcep+0f, 0x1.8016cp+0f, 0x1.b0256p+0f,
    0x1.dfd9p+0f, 0x1.080b4p+1f, 0x1.1fed6p+1f, 0x1.38306p+1f, 0x1.4fff4p+1f,
    0x1.6815ap+1f, 0x1.8027ap+1f, 0x1.97e34p+1f, 0x1.afdc6p+1f, 0x1.c80dcp+1f,
    0x1.e00fp+1f, 0x1.f7f2ap+1f, 0x1.0823cp+2f, 0x1.13d58p+2f, 0x1.1fdc2p+2f,
    0x1.2beecp+2f, 0x1.381cp+2f, 0x1.44056p+2f, 0x1.4fd1cp+2f, 0x1.5c2c8p+2f,
    0x1.6805cp+2f, 0x1.73ef2p+2f,
    0x0p+0f, 0x1.46f5bp-4f, 0x1.0fb0c6p-3f, 0x1.4a87d2p-3f, 0x1.5c196cp-3f,
    0x1.4e919cp-3f, 0x1.2c34acp-3f, 0x1.fd5f54p-4f, 0x1.9a483ep-4f, 0x1.3bfa32p-4f,
    0x1.d35e6cp-5f, 0x1.4a9ab2p-5f, 0x1.c331c6p-6f, 0x1.264916p-6f, 0x1.74ae82p-7f,
    0x1.c437b8p-8f, 0x1.08749ep-8f, 0x1.2c9c88p-9f, 0x1.47b948p-10f, 0x1.568becp-11f,
    0x1.5b1442p-12f, 0x1.547c2cp-13f, 0x1.3ddac6p-14f, 0x1.273ddap-15f, 0x1.030b84p-16f,
    0x1.b523d8p-18f, 0x1.610722p-19f, 0x1.18b2c2p-20f, 0x1.b3164cp-22f, 0x1.36dafp-23f,
    0x1.bf4a36p-25f, 0x1.35237cp-26f,
    0x0p+0f, -0x1.500e42p-29f, 0x1.311b88p-29f, -0x1.49ae52p-29f, -0x1.9ef572p-29f,
    0x1.76017cp-28f, -0x1.8b58ap-29f, -0x1.a17c92p-31f, 0x1.7af65ap-29f, -0x1.1f214ep-31f,
    -0x1.00d33ap-35f, 0x1.d1f452p-32f, -0x1.820cecp-32f, 0x1.1720f6p-32f, 0x1.340d72p-32f,
    -0x1.3f892ep-33f, 0x1.2e6828p-33f, -0x1.728818p-35f, -0x1.5e08a4p-36f, 0x1.a20c7ap-37f,
    0x1.fe5a3p-37f, 0x1.a9a22ap-38f, -0x1.619cc6p-39f, 0x1.548a6cp-40f, 0x1.47f56ap-43f,
    -0x1.0f4c1ap-43f, 0x1.d94e88p-44f, -0x1.33962p-45f, -0x1.b0966ep-47f, 0x1.13c5c4p-51f,
    0x1.f5fab4p-50f, -0x1.329bep-51f,
    0x1p-1f, 0x1.688c3p-2f, 0x1.b7397p-3f, 0x1.85fdf8p-4f, 0x1.c0cec4p-11f,
    -0x1.115e64p-4f, -0x1.ba9edep-4f, -0x1.03358ep-3f, -0x1.0508aap-3f, -0x1.dc6142p-4f,
    -0x1.940778p-4f, -0x1.416272p-4f, -0x1.e555c8p-5f, -0x1.5ad92cp-5f, -0x1.dc4838p-6f,
    -0x1.3769b6p-6f, -0x1.86351p-7f, -0x1.d8739p-8f, -0x1.11584p-8f, -0x1.2e4e72p-9f,
    -0x1.42ed76p-10f, -0x1.4cf782p-11f, -0x1.462c9ep-12f, -0x1.3ca27ap-13f, -0x1.221f78p-14f,
    -0x1.fe6714p-16f, -0x1.ad211ep-17f, -0x1.625dbep-18f, -0x1.1cba82p-19f, -0x1.a5f24ap-21f,
    -0x1.39f93p-22f, -0x1.c07246p-24f,
    -0x1.988454p-2f, -0x1.8a55d8p-2f, -0x1.6209c2p-2f, -0x1.2580b4p-2f, -0x1.bb6ca6p-3f,
    -0x1.2729a8p-3f, -0x1.3eb4acp-4f, -0x1.8232p-6f, 0x1.0a37ecp-6f, 0x1.4df61cp-5f,
    0x1.aadf5cp-5f, 0x1.b6fb8p-5f, 0x1.8e5198p-5f, 0x1.499a3ep-5f, 0x1.fdccbap-6f,
    0x1.7191f6p-6f, 0x1.faf6c2p-7f, 0x1.4c6d1cp-7f, 0x1.9ddf1cp-8f, 0x1.e9c568p-9f,
    0x1.16567ep-9f, 0x1.2ffa9cp-10f, 0x1.3a902ap-11f, 0x1.40e61ap-12f, 0x1.34914cp-13f,
    0x1.1c2f96p-14f, 0x1.f36544p-16f, 0x1.adb398p-17f, 0x1.66fb78p-18f, 0x1.149a3ep-19f,
    0x1.aabd5ep-21f, 0x1.3b9034p-22f,
    -0x1.47833cp-27f, 0x1.8df8a8p-5f, 0x1.6f4d7ep-4f, 0x1.e1d02p-4f, 0x1.08fe4cp-3f,
    0x1.00c24ep-3f, 0x1.bcf4c8p-4f, 0x1.587622p-4f, 0x1.cfc7f4p-5f, 0x1.fceae4p-6f,
    0x1.5706fp-7f, -0x1.116p-8f, -0x1.9dd1cp-7f, -0x1.0879fap-6f, -0x1.07a5d8p-6f,
    -0x1.cab4eep-7f, -0x1.6a69ep-7f, -0x1.0a80b6p-7f, -0x1.6e3f16p-8f, -0x1.d8e436p-9f,
    -0x1.2249a4p-9f, -0x1.53d54p-10f, -0x1.772e66p-11f, -0x1.95630cp-12f, -0x1.9bdef8p-13f,
    -0x1.8f7626p-14f, -0x1.70a10cp-15f, -0x1.4be51ep-16f, -0x1.215888p-17f, -0x1.d13b3ep-19f,
    -0x1.7517bep-20f, -0x1.1e66bap-21f,
    0x1.1058acp-4f, 0x1.f66adp-5f, 0x1.815da4p-5f, 0x1.b5f6fap-6f, 0x1.38fdaep-8f,
    -0x1.e42864p-7f, -0x1.d725b2p-6f, -0x1.24da9cp-5f, -0x1.279b0ep-5f, -0x1.0063fp-5f,
    -0x1.83d35p-6f, -0x1.f24034p-7f, -0x1.f8c4acp-8f, -0x1.f5cf42p-10f, 0x1.c314dap-10f,
    0x1.d3f1ccp-9f, 0x1.0a3d1ep-8f, 0x1.e9a1bp-9f, 0x1.8c32a6p-9f, 0x1.23243p-9f,
    0x1.8d7f48p-10f, 0x1.fd7c28p-11f, 0x1.30fbfap-11f, 0x1.615b16p-12f, 0x1.7f2f76p-13f,
    0x1.8a9e0ap-14f, 0x1.811ac2p-15f, 0x1.6ce18ep-16f, 0x1.4d91aep-17f, 0x1.18f9c2p-18f,
    0x1.d637c4p-20f, 0x1.77e8bep-21f,
    -0x1.0fb08cp-17f, -0x1.60e2a6p-7f, -0x1.38f16cp-6f, -0x1.7db756p-6f, -0x1.757614p-6f,
    -0x1.2b417p-6f, -0x1.7195e2p-7f, -0x1.ed0524p-9f, 0x1.64dcb4p-9f, 0x1.ccde7ep-8f,
    0x1.240e6ap-7f, 0x1.1e0948p-7f, 0x1.d65bdap-8f, 0x1.47190ap-8f, 0x1.78e7p-9f,
    0x1.2e76f4p-10f, -0x1.cd42d4p-21f, -0x1.4449eep-11f, -0x1.ba959p-11f, -0x1.ad3e7ap-11f,
    -0x1.606c48p-11f, -0x1.036c9cp-11f, -0x1.5c03bp-12f, -0x1.ba2252p-13f, -0x1.045738p-13f,
    -0x1.208c86p-14f, -0x1.2d0f7ap-15f, -0x1.2ec4aep-16f, -0x1.243dc8p-17f, -0x1.03aecep-18f,
    -0x1.c7c026p-20f, -0x1.7d1e68p-21f,
    -0x1.44e60ep-7f, -0x1.223258p-7f, -0x1.7a0be6p-8f, -0x1.ac8dacp-10f, 0x1.3cc3bcp-9f,
    0x1.618fe6p-8f, 0x1.b992eep-8f, 0x1.a4c836p-8f, 0x1.3efb5cp-8f, 0x1.663f8p-9f,
    0x1.5a6a8p-11f, -0x1.d8720ep-11f, -0x1.cf43p-10f, -0x1.043d68p-9f, -0x1.c98ab6p-10f,
    -0x1.4e8d14p-10f, -0x1.943afep-11f, -0x1.6fd7d8p-12f, -0x1.0bd1cp-14f, 0x1.8ad75ap-14f,
    0x1.442acap-13f, 0x1.4556fp-13f, 0x1.0b164cp-13f, 0x1.82e426p-14f, 0x1.fe3462p-15f,
    0x1.3766f6p-15f, 0x1.635f16p-16f, 0x1.7db49cp-17f, 0x1.83a816p-18f, 0x1.751e7p-19f,
    0x1.55a852p-20f, 0x1.2a0bc2p-21f,
};
// clang-format on

}  // namespace extensor::EX_ISA
