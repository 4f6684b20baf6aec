"""PLINK files: what bed-reader writes is what is read, in any stripes, with tables joined by sample id."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamsieve import read
from streamsieve.sources import BadData
from streamsieve.sources.readers import bed

bed_reader = pytest.importorskip("bed_reader", reason="bed-reader, which writes the files, is not installed")

N, P = 103, 37


@pytest.fixture
def study(tmp_path):
    rng = np.random.default_rng(0)
    genotypes = rng.choice([0.0, 1.0, 2.0, np.nan], size=(N, P), p=[0.5, 0.3, 0.15, 0.05])
    ids = [f"s{i}" for i in range(N)]
    names = [f"rs{j}" for j in range(P)]
    names[3] = names[5] = "."
    bed_reader.to_bed(
        tmp_path / "g.bed",
        genotypes,
        properties={
            "fid": ids, "iid": ids, "sid": names, "bp_position": np.arange(P) + 100,
            "pheno": [str(v) for v in np.round(rng.normal(size=N), 3)],
            "allele_1": ["A"] * P, "allele_2": ["C"] * P, "chromosome": ["1"] * P,
        },
    )  # fmt: skip
    order = rng.permutation(N)
    lines = ["FID\tIID\tage\theight"] + [f"{ids[i]}\t{ids[i]}\t{20 + i}\t{150 + i / 10}" for i in order]
    (tmp_path / "pheno.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path, genotypes


def whole(stream):
    blocks = list(stream)
    return np.vstack([b.X for b in blocks]), np.concatenate([b.y for b in blocks])


@pytest.mark.parametrize(("packed", "values"), [(1 << 28, 1 << 18), (1, 1), (1 << 28, 300)])
def test_genotypes_equal_those_written_in_any_stripes(study, monkeypatch, packed, values):
    folder, genotypes = study
    monkeypatch.setattr(bed, "PACKED", packed)
    monkeypatch.setattr(bed, "ALIGNED", 16)
    monkeypatch.setattr(bed, "VALUES", values)
    X, y = whole(read(folder / "g.bed", missing="keep"))
    assert_array_equal(X, genotypes)
    fam = [line.split() for line in (folder / "g.fam").read_text().splitlines()]
    assert_array_equal(y, [float(line[5]) for line in fam])


def test_tables_are_joined_by_sample_id(study):
    folder, genotypes = study
    stream = read([folder / "g.bed", folder / "pheno.tsv"], target="height", missing="zero", drop=["rs2"])
    X, y = whole(stream)
    assert_array_equal(y, 150 + np.arange(N) / 10)
    assert_array_equal(X[:, -1], 20 + np.arange(N))
    assert_array_equal(X[:, :-1], np.nan_to_num(np.delete(genotypes, 2, axis=1)))
    assert stream.feature_names[2] == "1:103:A:C"
    assert stream.feature_names[-1] == "age"
    again = read(
        [folder / "g.bed", folder / "pheno.tsv"],
        target="height", missing="zero", feature_names=["age", "rs7", "rs0"],
    )  # fmt: skip
    assert_array_equal(whole(again)[0], np.nan_to_num(np.column_stack([X[:, -1], genotypes[:, [7, 0]]])))


def test_going_on_from_a_position_equals_an_uninterrupted_run(study):
    folder, _ = study
    options = dict(missing="keep", block_size=10)
    expected = whole(read(folder / "g.bed", **options))[0]
    stream = read(folder / "g.bed", **options)
    blocks = iter(stream)
    first = [next(blocks).X for _ in range(4)]
    other = read(folder / "g.bed", **options)
    other.seek(stream.position())
    assert_array_equal(np.vstack([*first, whole(other)[0]]), expected)


def test_missing_genotypes_and_samples_are_named_or_skipped(study):
    folder, genotypes = study
    with pytest.raises(BadData, match=r"g.bed: .*sample 's\d+' has a missing value of"):
        list(read(folder / "g.bed"))
    stream = read(folder / "g.bed", on_bad_row="skip")
    X, _ = whole(stream)
    assert_array_equal(X, genotypes[~np.isnan(genotypes).any(axis=1)])
    assert stream.rows_bad == np.isnan(genotypes).any(axis=1).sum()
    lines = (folder / "pheno.tsv").read_text().splitlines()
    (folder / "pheno.tsv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(BadData, match="has no phenotype"):
        list(read([folder / "g.bed", folder / "pheno.tsv"], target="height", missing="zero", drop=["age"]))


def test_cases_and_controls_have_two_labels(study):
    folder, _ = study
    lines = [line.split() for line in (folder / "g.fam").read_text().splitlines()]
    codes = ["1", "2", "-9"]
    (folder / "g.fam").write_text(
        "".join(" ".join([*line[:5], codes[i % 3]]) + "\n" for i, line in enumerate(lines))
    )
    _, y = whole(read(folder / "g.bed", missing="zero", on_bad_row="skip"))
    assert set(y) == {1.0, 2.0}
    assert len(y) == N - N // 3


def test_files_that_do_not_belong_together_are_refused(study):
    folder, _ = study
    raw = (folder / "g.bed").read_bytes()
    (folder / "g.bed").write_bytes(raw[:-5])
    with pytest.raises(BadData, match="do not match, or it is truncated"):
        read(folder / "g.bed")
    (folder / "g.bed").write_bytes(raw[:2] + b"\x00" + raw[3:])
    with pytest.raises(BadData, match="variants one after the other"):
        read(folder / "g.bed")
    (folder / "g.bed").write_bytes(raw)
    os.remove(folder / "g.bim")
    with pytest.raises(FileNotFoundError, match=r"g\.bim"):
        read(folder / "g.bed")


def test_an_unknown_target_is_named(study):
    folder, _ = study
    with pytest.raises(BadData, match="there is no 'weight_kg' among the variants"):
        read([folder / "g.bed", folder / "pheno.tsv"], target="weight_kg")
