# Writes the files of this folder that torch.save makes. They were made with PyTorch 1.12.1.
import os

import torch

folder = os.path.dirname(os.path.abspath(__file__))


def save(name, value, **how):
    torch.save(value, os.path.join(folder, name), **how)


torch.manual_seed(1)
linear = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(linear.parameters())
linear(torch.ones(1, 3)).sum().backward()
optimizer.step()
with torch.no_grad():
    linear.weight.copy_(torch.arange(6.).view(2, 3) / 4)
    linear.bias.copy_(torch.tensor([-1.5, 2.]))
save("optimizer.pth", {"model": linear.state_dict(), "optimizer": optimizer.state_dict()})
save("legacy.pth", linear.state_dict(), _use_new_zipfile_serialization=False)
save("module.pth", linear)
save("protocol4.pth", linear.state_dict(), pickle_protocol=4)
shared = torch.arange(10.)
save("types.pth", {
    "double": torch.tensor([[0.1, -2.5]], dtype=torch.float64),
    "half": torch.tensor([1.5, -0.0999755859375, 6e-8, 65504, 0], dtype=torch.float16),
    "bfloat16": torch.tensor([1.5, -3.140625], dtype=torch.bfloat16),
    "scalar": torch.tensor(7.),
    "late": shared[6:].view(2, 2),
    "early": shared[1:4],
    "parameter": torch.nn.Parameter(torch.ones(1, 2)),
    "empty": torch.zeros(3, 0),
})
save("integers.pth", {"count": torch.tensor([1, -2])})
save("overlap.pth", {"a": shared[:5], "b": shared[4:]})
save("transposed.pth", {"t": torch.arange(6.).view(2, 3).t()})
save("infinite.pth", {"w": torch.tensor([1., float("inf")])})
