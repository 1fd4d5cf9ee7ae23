"""A kernel file whose two PEs meet in one HBM tensor: PE 0 stores where PE 1 loads, without a message."""

RACE = """\
def kernel(x, y, *, tl):
    if tl.program_id(0) == 0:
        tl.store(tl.part_of(x, pe=1), tl.load(x))
    else:
        tl.store(y, tl.load(x))


def launch(rt):
    by_pe = rt.split(axis=0, over="pe")
    x = rt.random((64,), "f32", placement=by_pe)
    y = rt.output(rt.empty((64,), "f32", placement=by_pe))
    rt.launch(kernel, (2, 1, 1), x, y)
"""
