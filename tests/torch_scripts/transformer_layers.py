import torch
import torch.nn as nn
from seeded import fill, normal, report

mha = fill(nn.MultiheadAttention(8, 2, batch_first=True))
x = normal(2, 5, 8)
padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
out, weights = mha(x, x, x, key_padding_mask=padding)
report(*out[0, 0].tolist(), *weights[1, 0].tolist())
causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), diagonal=1)
out2, none = mha(x, x, x, attn_mask=causal, need_weights=False)
report(*out2[0, -1].tolist(), float(none is None))
q, k, v = (normal(2, 2, 4, 3) for _ in range(3))
sdpa = torch.nn.functional.scaled_dot_product_attention
report(*sdpa(q, k, v).flatten()[:4].tolist(), *sdpa(q, k, v, is_causal=True).flatten()[:4].tolist())
layer = fill(
    nn.TransformerEncoderLayer(
        d_model=8,
        nhead=2,
        dim_feedforward=12,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
    )
)
opt = torch.optim.Adam(layer.parameters(), lr=1e-2)
for _ in range(5):
    loss = layer(x, src_key_padding_mask=padding)[0].pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
