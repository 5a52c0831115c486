import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import integers, normal, report, uniform

x, y = normal(6, 4).requires_grad_(), normal(6, 4)
labels, signs, probs = integers(4, 6), torch.sign(normal(6)), uniform(6, 4)
total = 0
for loss in (
    nn.MSELoss()(x, y),
    nn.L1Loss(reduction="sum")(x, y),
    nn.SmoothL1Loss(beta=0.5)(x, y),
    nn.HuberLoss(delta=0.7)(x, y),
    nn.CrossEntropyLoss(label_smoothing=0.1)(x, labels),
    nn.CrossEntropyLoss()(x, probs.softmax(1)),
    nn.CrossEntropyLoss(ignore_index=1)(x, labels),
    nn.NLLLoss()(F.log_softmax(x, 1), labels),
    nn.BCELoss()(torch.sigmoid(x), probs),
    nn.BCEWithLogitsLoss(weight=probs)(x, probs),
    nn.KLDivLoss(reduction="batchmean")(F.log_softmax(x, 1), probs),
    nn.PoissonNLLLoss()(x, probs),
    nn.GaussianNLLLoss()(x, y, probs + 0.1),
    nn.HingeEmbeddingLoss()(x[:, 0], signs),
    nn.SoftMarginLoss()(x[:, 0], signs),
    nn.MarginRankingLoss(margin=0.2)(x[:, 0], x[:, 1], signs),
    nn.CosineEmbeddingLoss()(x, y, signs),
    nn.MultiMarginLoss()(x, labels),
    nn.MultiLabelSoftMarginLoss()(x, (probs > 0.5).to(x.dtype)),
    nn.TripletMarginLoss(swap=True)(x, y, probs),
    F.pairwise_distance(x, y).mean(),
    nn.CosineSimilarity(dim=1)(x, y).sum(),
    F.cross_entropy(x, labels, reduction="none").max(),
    F.mse_loss(x, y[:1].expand_as(x)),
    F.gaussian_nll_loss(x, y, probs + 0.2, full=True),
):
    total = total + loss
    report(loss)
total.backward()
report(*x.grad.flatten().tolist())
