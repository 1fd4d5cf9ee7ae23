"""How a prefill is cut: what is chosen fits the TCM, and hardly more would."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.capture.kernels.prefill_room import Cut, Room
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import ConfigError, KernelError
from kerntape.topologies.loader import resolve_topology
from prefill_captures import RING_OF_EIGHT, VARIANTS, prefilled

AHBM = resolve_topology("ahbm_2sip").pe


def room(*, rotates: bool, heads: int = 1, variant: str = "opt2") -> Room:
    return Room(AHBM, variant, heads, 128, 64, DType.BF16, 2, rotates)


def test_streamed_keys_meet_a_tile_of_queries():
    assert room(rotates=False, heads=8).cut(queries=4096, keys=4096) == Cut(64, 64, 4096)
    assert room(rotates=False, heads=8).cut(queries=50, keys=4096) == Cut(50, 64, 4096)


def test_what_rotates_is_as_large_as_fits_and_cut_alike():
    # q, O, m, l, two score tiles and the mask of 640 queries are 2.66 of 3 MiB, of 704 3.09:
    # 2048 queries are 4 chunks of 512. Beside two tiles' P and vectors, 368 KiB of 512 are left, at
    # 512 bytes a key of K and V for 735 keys, 704 in whole tiles: 2048 keys are 3 blocks of up to 704
    assert room(rotates=True).cut(queries=2048, keys=2048) == Cut(512, 64, 704)
    assert room(rotates=True).cut(queries=512, keys=512) == Cut(512, 64, 512)


def test_what_is_given_stands():
    assert room(rotates=True).cut(2048, 2048, chunk=100, block=30) == Cut(100, 64, 30)


def test_more_than_there_is_is_all_of_it():
    # room for a million queries would leave none for a block, whose 512 keys would go around one by one
    rotating, streaming = room(rotates=True), room(rotates=False)
    assert rotating.cut(512, 512, chunk=10**6, block=10**6) == Cut(512, 64, 512)
    assert rotating.cut(512, 512, chunk=10**6) == Cut(512, 64, 512)
    assert streaming.cut(50, 4096, chunk=10**6) == Cut(50, 64, 4096)


def test_the_header_holds_the_chunk_and_the_block_that_were_used():
    # 2 CUBEs of 2 PEs: 20 of the 40 queries a PE, a slice of 20 keys a CUBE
    sizes = {"g": 2, "c": 2, "p": 2, "s_kv": 40}
    for asked in ({}, {"chunk": 10**6, "block": 10**6}):
        arguments = prefilled(**sizes, **asked).trace.header.arguments
        assert (arguments["chunk"], arguments["block"]) == (20, 20)
    arguments = prefilled(**sizes, chunk=7, block=3).trace.header.arguments
    assert (arguments["chunk"], arguments["block"]) == (7, 3)


def test_a_chunk_beside_which_no_tile_of_keys_fits_is_refused():
    # opt1's two tiles need some 2.8 KB a query: of 187 nearly the whole half of the scratch, 512 KiB
    one = {"variant": "opt1", "g": 8, "c": 8, "d": 128, "tile": 64, "dtype": "bf16", "s_kv": 4096}
    with pytest.raises(ConfigError) as error:
        prefilled(resolve_topology("ahbm_2sip"), chunk=187, **one)
    assert str(error.value) == (
        "gqa_prefill: a chunk of 187 queries leaves less room than a tile of keys needs; give a"
        " smaller chunk, or the block too"
    )
    assert room(rotates=True, variant="opt1").cut(4096, 512, chunk=187).block < 64
    assert room(rotates=True, variant="opt1").cut(4096, 512, chunk=128).block >= 64


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_query_more_than_is_chosen_does_not_fit(variant: str):
    sizes = {"variant": variant, "g": 8, "d": 64, "tile": 64, "s_kv": 64}
    most = Room(RING_OF_EIGHT.pe, variant, 8, 64, 64, DType.F32, 2, rotates=False).cut(64, 64).chunk
    assert 1 < most < 64
    prefilled(chunk=most, **sizes)
    with pytest.raises(KernelError) as error:
        prefilled(chunk=most + 1, **sizes)
    assert str(error.value).startswith("the TCM's ")


@settings(max_examples=30)
@given(
    variant=st.sampled_from(VARIANTS),
    dtype=st.sampled_from(["f16", "bf16", "f32"]),
    g=st.sampled_from([1, 2]),
    rotates=st.booleans(),
    d=st.integers(1, 100),
    s_kv=st.integers(1, 120),
    tile=st.integers(1, 40),
    slots=st.integers(1, 3),
)
def test_what_is_chosen_fits(
    variant: str, dtype: str, g: int, rotates: bool, d: int, s_kv: int, tile: int, slots: int
):
    sizes = {"d": d, "s_kv": s_kv, "tile": max(tile, s_kv // 8), "slots": slots}
    prefilled(variant=variant, dtype=dtype, g=g, c=g if rotates else 1, **sizes)
