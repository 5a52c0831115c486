import torch
from seeded import fill, report, uniform
from torch import nn


class autoencoder(nn.Module):
    def __init__(self):
        super(autoencoder, self).__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1),
            nn.ReLU(True),
            nn.MaxPool2d(2, stride=2),
            nn.Conv2d(4, 2, 3, padding=1),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(2, 4, 3, stride=2),
            nn.ReLU(True),
            nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1, output_padding=0),
            nn.Upsample(scale_factor=2),
            nn.AvgPool2d(2),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = (
    fill(autoencoder()).double()
    if torch.get_default_dtype() == torch.float64
    else fill(autoencoder())
)
x = uniform(3, 1, 8, 8)
criterion = nn.L1Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for _ in range(6):
    output = model(x)[..., :8, :8]
    loss = criterion(output, x[..., : output.size(-2), : output.size(-1)])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
