"""The folder of transformers as CTranslate2 has it, in int8.

usage: python to_ctranslate2.py FOLDER TARGET
"""

import os
import sys

# behind the project's own packages, so that torch and transformers stay the project's
sys.path.append(os.environ["PEER_PACKAGES"])

from ctranslate2.converters import TransformersConverter

if __name__ == "__main__":
    TransformersConverter(sys.argv[1]).convert(sys.argv[2], quantization="int8")
