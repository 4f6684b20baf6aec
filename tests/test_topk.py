import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from streamsieve import _core


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, 3.0]), min_size=1, max_size=30), st.integers(0, 32))
def test_the_k_largest_positive_scores_ties_to_the_lower_index(scores, k):
    score = np.array(scores)
    out = np.empty(k, dtype=np.int64)
    found = out[: _core.top_k(score, out)]
    order = np.lexsort([np.arange(len(score)), -score])
    assert_array_equal(found, np.sort([j for j in order if score[j] > 0][:k]))
