"""Networks for inference, built of either library's modules, and the same as graphs of ONNX."""
