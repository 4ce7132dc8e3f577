#!/usr/bin/env bash
# From a bare Debian 12 to an answer: installs what is missing, builds llmc, compiles EfficientNet-Lite0 and asks it what is in a
# photograph. Run again it finishes in seconds.
#
#   ./quickstart.sh [PHOTO]      PHOTO: a picture file, or chelsea (default), coffee, rocket, motorcycle, china, flower
#
# LLMC_JOBS: build jobs. LLMC_THREADS: threads to run the model with (default 1). LLMC_CACHE: folder of the test models.
cd "$(dirname "$0")" || exit 1
source tools/setup/setup.sh

photo=${1:-chelsea}
setup_packages
setup_venv
setup_build release llmc llmc-run llmc-bench
say "getting the model and the picture"
model=$(setup_models efficientnet_l0)
names=$(setup_models imagenet_classes)
[ -f "$photo" ] || photo=$(setup_models "$photo")
say "compiling and running"
"$PYTHON" tools/quickstart.py --tools build/release/bin --model "$model" --photo "$photo" --names "$names" \
  --work build/quickstart --threads "${LLMC_THREADS:-1}"
