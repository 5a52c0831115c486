"""Cases that are not run, each with its reason."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto

from .graph import kinds_of

# ONNX's names of our dtypes. What is no tensor has the type UNDEFINED.
OUR_TYPES = frozenset(
    TensorProto.DataType.Value(name)
    for name in (
        "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FLOAT16 BFLOAT16 FLOAT DOUBLE "
        "UNDEFINED"
    ).split()
)


def _by_word(reasons: dict[str, str]) -> dict[str, str]:
    """From the words of each reason to the reason."""
    return {word: reason for reason, words in reasons.items() for word in words.split()}


NO_TENSOR = "sequences and optional values are Python's"
# Kinds of nodes without a counterpart.
KINDS = _by_word(
    {
        "control flow is Python's": "If Loop Scan",
        NO_TENSOR: (
            "OptionalGetElement OptionalHasElement SequenceEmpty SequenceInsert SequenceLength "
            "SequenceMap SplitToSequence"
        ),
        "text": "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
        "trees, labels and features of classical learning": (
            "ArrayFeatureExtractor Binarizer LabelEncoder TreeEnsemble"
        ),
        "quantized arithmetic": (
            "ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv "
            "QLinearMatMul QuantizeLinear"
        ),
        "no such op on bits": "BitCast BitShift",
        "random numbers can not be compared": "Bernoulli RandomUniformLike",
        "signals": "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
        "images and boxes": (
            "AffineGrid CenterCropPad GridSample ImageDecoder NonMaxSuppression Resize RoiAlign"
        ),
        "windows that we do not have": "Col2Im DeformConv LRN LpPool MaxUnpool",
        "no such op; the case's expanded form runs where it has one": (
            "CausalConvWithState FlexAttention LinearAttention "
            "RotaryEmbedding Shrink SwiGLU TensorScatter"
        ),
        "no such op": "CumProd Det NonZero ReverseSequence Unique",
    }
)

# Single cases of kinds that are in the table, without the "test_" of their names.
CASES = _by_word(
    {
        "random numbers can not be compared": (
            "training_dropout training_dropout_default training_dropout_default_mask "
            "training_dropout_mask"
        ),
        "no convolution or pooling along three axes": (
            "averagepool_3d_default convtranspose_3d maxpool_3d_default maxpool_3d_dilations "
            "maxpool_3d_dilations_use_ref_impl maxpool_3d_dilations_use_ref_impl_large"
        ),
        "no averages of windows with gaps": (
            "averagepool_2d_dilations averagepool_3d_dilations_small "
            "averagepool_3d_dilations_large_count_include_pad_is_0_ceil_mode_is_False "
            "averagepool_3d_dilations_large_count_include_pad_is_0_ceil_mode_is_True "
            "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_False "
            "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True"
        ),
        "max_pool2d gives no indices": (
            "maxpool_with_argmax_2d_precomputed_pads maxpool_with_argmax_2d_precomputed_strides"
        ),
        "attention does not cap its scores": (
            "attention_3d_diff_heads_sizes_softcap attention_3d_gqa_softcap attention_3d_softcap "
            "attention_4d_diff_heads_sizes_softcap attention_4d_gqa_softcap attention_4d_softcap "
            "attention_4d_softcap_neginf_mask attention_4d_softcap_neginf_mask_poison"
        ),
        "attention does not give its scores": (
            "attention_23_fullymasked_qk_matmul_output_mode3_zero "
            "attention_24_fullymasked_qk_matmul_output_mode3_zero "
            "attention_24_qk_matmul_output_mode3_softmax_precision "
            "attention_3d_with_past_and_present_qk_matmul "
            "attention_3d_with_past_and_present_qk_matmul_bias "
            "attention_3d_with_past_and_present_qk_matmul_softcap "
            "attention_3d_with_past_and_present_qk_matmul_softmax "
            "attention_4d_with_past_and_present_qk_matmul "
            "attention_4d_with_past_and_present_qk_matmul_bias "
            "attention_4d_with_past_and_present_qk_matmul_bias_3d_mask "
            "attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal "
            "attention_4d_with_past_and_present_qk_matmul_bias_4d_mask "
            "attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal "
            "attention_4d_with_qk_matmul attention_4d_with_qk_matmul_bias "
            "attention_4d_with_qk_matmul_softcap attention_4d_with_qk_matmul_softmax "
            "attention_local_window_gqa_rank4_mask"
        ),
        # The largest relative errors against float64: ONNX 8.7e-4, ours 6.9e-4, tolerance 1e-3.
        "differs: ONNX rounds to float16 within each product, we after it": (
            "attention_4d_causal_fp16_expanded"
        ),
        "gru resets the product with the state, as PyTorch, not the state": (
            "gru_bidirectional gru_reverse gru_seq_length"
        ),
        "lstm has no weights from cells to gates": "lstm_with_peepholes",
        "an index out of range is an error": "onehot_out_of_range_indices",
        "prelu has a slope for each channel, not for each element": "prelu_example",
        "the largest or smallest of nothing is an error, as in NumPy": (
            "reduce_max_empty_set reduce_max_empty_set_bool reduce_min_empty_set"
        ),
        "scattered values are set or added, not multiplied or compared": (
            "scatter_elements_with_reduction_max scatter_elements_with_reduction_min "
            "scatter_elements_with_reduction_mul scatternd_max "
            "scatternd_max_with_element_indices scatternd_min "
            "scatternd_min_with_element_indices scatternd_multiply"
        ),
    }
)


def _types_of(case: Any) -> set[int]:
    """The element types of what goes into the graph and comes out of it."""
    graph = case.model.graph
    return {described.type.tensor_type.elem_type for described in (*graph.input, *graph.output)}


def reason_for(case: Any) -> str | None:
    """Why ``case`` is not run, None if it is."""
    for foreign in sorted(_types_of(case) - OUR_TYPES):
        return f"no dtype {TensorProto.DataType.Name(foreign)}"
    if TensorProto.UNDEFINED in _types_of(case):
        return NO_TENSOR
    for kind in sorted(kinds_of(case) & KINDS.keys()):
        return KINDS[kind]
    return CASES.get(case.name.removeprefix("test_"))
