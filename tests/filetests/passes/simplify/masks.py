# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func
    def lanes(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        # Masks of all lanes and of none, and one that is neither.
        for o in range(3):
            mask: T.let[T.boolx8] = T.Ramp(o * 8, 1, 8) < T.Broadcast(24, 8)
            B.vstore([T.Ramp(o * 8, 1, 8)], A.vload([T.Ramp(o * 8, 1, 8)], predicate=mask), predicate=mask)
            none: T.let[T.boolx8] = T.Ramp(o * 8, 1, 8) >= T.Broadcast(24, 8)
            B.vstore([T.Ramp(o * 8 + 24, 1, 8)], A.vload([T.Ramp(o * 8, 1, 8)], predicate=none))
            B.vstore([T.Ramp(o * 8, 1, 8)], T.Broadcast(T.float32(5), 8), predicate=none)
            some: T.let[T.boolx8] = T.Ramp(o * 8, 1, 8) < T.Broadcast(17, 8)
            B.vstore([T.Ramp(o * 8, 1, 8)], T.Broadcast(T.float32(7), 8), predicate=some)
