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

}  // namespace extensor::EX_ISA
