"""Fits again and again in one process: nothing grows without bound."""

import gc
import threading
from pathlib import Path

import jax
import psutil

from inference.test_checkpoint import DATA, MODEL
