"""The source's experiment as printed: seed 004, chapter 6, tables 5 to 8."""

from __future__ import annotations

from typing import Final

import numpy as np

__all__ = [
    "ALONE_200_H",
    "ALONE_H",
    "ASSIGNED",
    "BALANCED_200_H",
    "EVEN_H",
    "FASTEST",
    "GAIN_MEASURED",
    "GAIN_PREDICTED",
    "HOSTS",
    "MEASURED_H",
    "MEDIAN_KB",
    "MEDIAN_URLS",
    "NAMES",
    "RANDOM_H",
    "RATIO_MEAN",
    "RATIO_MEDIAN",
    "SLOWEST",
    "THREADS",
    "TOP_SHARE",
    "TOTAL_KB",
    "TOTAL_URLS",
]

NAMES: Final = tuple(f"PRS{number:02}" for number in range(1, 18))

# Section 6.2. The mean of 615 URLs that is printed contradicts the total, which gives 716.
HOSTS: Final = 6_500
TOTAL_URLS, MEDIAN_URLS = 4_653_140, 82
TOTAL_KB, MEDIAN_KB = 22e6, 339
TOP_SHARE: Final = 0.43
"""Of the bytes, of the largest 1% of the hosts."""

# Section 6.3: how many times slower the slowest agent is than the fastest, over hosts.
RATIO_MEAN, RATIO_MEDIAN = 67.5, 48.2

# Table 5: for how many hosts each is the fastest and the slowest.
FASTEST: Final = np.array(
    [94, 14, 191, 314, 225, 3040, 152, 290, 200, 0, 76, 229, 336, 114, 1101, 15, 40]
)
SLOWEST: Final = np.array([3, 3, 7, 19, 1, 6, 0, 2, 4, 425, 3, 4, 5, 4, 2, 6004, 8])

# Table 6: hosts given to each by the equalisation.
ASSIGNED: Final = np.array(
    [397, 739, 417, 388, 390, 52, 392, 479, 433, 35, 375, 471, 466, 376, 393, 318, 379]
)

# Table 7, hours: a random deal (predicted), equalised (predicted), equalised (measured).
RANDOM_H: Final = np.array(
    [
        68.8,
        71.1,
        88.3,
        61.5,
        51.7,
        33.8,
        57.6,
        50.8,
        43.1,
        335.5,
        51.8,
        63.9,
        70.6,
        66.4,
        37.1,
        1216.1,
        61.0,
    ]
)
EVEN_H: Final = np.array(
    [
        41.7,
        107.9,
        35.0,
        55.1,
        63.7,
        146.2,
        55.2,
        80.7,
        39.0,
        32.8,
        38.3,
        39.3,
        56.1,
        61.7,
        51.4,
        107.9,
        61.0,
    ]
)
MEASURED_H: Final = np.array(
    [
        28.2,
        104.5,
        43.7,
        29.6,
        53.7,
        96.7,
        44.7,
        71.1,
        38.7,
        11.0,
        28.8,
        46.2,
        13.7,
        40.8,
        52.4,
        109.5,
        52.1,
    ]
)
GAIN_PREDICTED, GAIN_MEASURED = 8.3, 11.1

# Table 8, hours alone for all hosts: one thread, 200 threads; and all 17 together with 200.
THREADS: Final = 200
ALONE_H: Final = np.array(
    [1008, 1518, 1201, 975, 987, 793, 1066, 953, 1033, 6121, 1158, 904, 1025, 904, 691, 17085, 1663]
)
ALONE_200_H: Final = np.array(
    [32, 55, 55, 32, 24, 23, 59, 27, 34, 244, 42, 26, 31, 26, 26, 544, 53]
)
BALANCED_200_H: Final = 1.9
