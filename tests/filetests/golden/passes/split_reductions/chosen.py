# from tvm.script import ir as I
# from tvm.script import tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def argmax(A: T.Buffer((5, 77), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(5):
            with T.sblock("Most"):
                vi = T.axis.spatial(5, i)
                At_lanes = T.sblock_alloc_buffer((16,), "int32")
                Most_lanes = T.sblock_alloc_buffer((16,))
                At[vi] = -1
                Most[vi] = T.float32(-3.402823466e38)
                for lane in T.vectorized(16):
                    At_lanes[lane] = -1
                    Most_lanes[lane] = T.float32(-3.402823466e38)
                for k_outer in range(4):
                    for lane in T.vectorized(16):
                        own: T.let[T.int32] = At_lanes[lane]
                        own_1: T.let[T.float32] = Most_lanes[lane]
                        new: T.let[T.int32] = k_outer * 16 + lane
                        new_1: T.let[T.float32] = A[vi, k_outer * 16 + lane]
                        At_lanes[lane] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                        Most_lanes[lane] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own_1, new_1)
                for lane in range(16):
                    own: T.let[T.int32] = At[vi]
                    own_1: T.let[T.float32] = Most[vi]
                    new: T.let[T.int32] = At_lanes[lane]
                    new_1: T.let[T.float32] = Most_lanes[lane]
                    At[vi] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                    Most[vi] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own_1, new_1)
                for k_rest in range(13):
                    at: T.let[T.int32] = T.Select(Most[vi] > A[vi, k_rest + 64] or Most[vi] == A[vi, k_rest + 64] and At[vi] < k_rest + 64, At[vi], k_rest + 64)
                    most: T.let[T.float32] = T.Select(Most[vi] > A[vi, k_rest + 64] or Most[vi] == A[vi, k_rest + 64] and At[vi] < k_rest + 64, Most[vi], A[vi, k_rest + 64])
                    At[vi] = at
                    Most[vi] = most

    @T.prim_func(s_tir=True)
    def last_of_least(A: T.Buffer((5, 64), "int32"), At: T.Buffer((5,), "int64"), Least: T.Buffer((5,), "int32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(5):
            with T.sblock("Least"):
                vi = T.axis.spatial(5, i)
                Least_lanes = T.sblock_alloc_buffer((16,), "int32")
                At_lanes = T.sblock_alloc_buffer((16,), "int64")
                Least[vi] = 2147483647
                At[vi] = T.int64(-1)
                for lane in T.vectorized(16):
                    Least_lanes[lane] = 2147483647
                    At_lanes[lane] = T.int64(-1)
                for k_outer in range(4):
                    for lane in T.vectorized(16):
                        own: T.let[T.int32] = Least_lanes[lane]
                        own_1: T.let[T.int64] = At_lanes[lane]
                        new: T.let[T.int32] = A[vi, k_outer * 16 + lane]
                        new_1: T.let[T.int64] = T.Cast("int64", k_outer * 16 + lane)
                        Least_lanes[lane] = T.Select(new_1 < own_1 and new == own or new > own, own, new)
                        At_lanes[lane] = T.Select(new_1 < own_1 and new == own or new > own, own_1, new_1)
                for lane in range(16):
                    own: T.let[T.int32] = Least[vi]
                    own_1: T.let[T.int64] = At[vi]
                    new: T.let[T.int32] = Least_lanes[lane]
                    new_1: T.let[T.int64] = At_lanes[lane]
                    Least[vi] = T.Select(new_1 < own_1 and new == own or new > own, own, new)
                    At[vi] = T.Select(new_1 < own_1 and new == own or new > own, own_1, new_1)

    @T.prim_func(s_tir=True)
    def any_of_greatest(A: T.Buffer((5, 64), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i, k in T.grid(5, 64):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.402823466e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk], At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] > A[vi, vk], Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most

    @T.prim_func(s_tir=True)
    def symbolic(A: T.Buffer(("m", "n"), "float32"), At: T.Buffer((m,), "int32"), Most: T.Buffer((m,), "float32")):
        m = T.int32()
        n = T.int32()
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in T.parallel(m, annotations={"chipdock.grain": "auto"}):
            with T.sblock("Most"):
                vi = T.axis.spatial(m, i)
                T.where(n > 0)
                At_lanes = T.sblock_alloc_buffer((16,), "int32")
                Most_lanes = T.sblock_alloc_buffer((16,))
                At[vi] = -1
                Most[vi] = T.float32(-3.402823466e38)
                if n >= 16:
                    for lane in T.vectorized(16):
                        At_lanes[lane] = -1
                        Most_lanes[lane] = T.float32(-3.402823466e38)
                    for k_outer in range(n // 16):
                        for lane in T.vectorized(16):
                            own: T.let[T.int32] = At_lanes[lane]
                            own_1: T.let[T.float32] = Most_lanes[lane]
                            new: T.let[T.int32] = k_outer * 16 + lane
                            new_1: T.let[T.float32] = A[vi, k_outer * 16 + lane]
                            At_lanes[lane] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                            Most_lanes[lane] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own_1, new_1)
                    for lane in range(16):
                        own: T.let[T.int32] = At[vi]
                        own_1: T.let[T.float32] = Most[vi]
                        new: T.let[T.int32] = At_lanes[lane]
                        new_1: T.let[T.float32] = Most_lanes[lane]
                        At[vi] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                        Most[vi] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own_1, new_1)
                for k_rest in range(n % 16):
                    at: T.let[T.int32] = T.Select(Most[vi] > A[vi, n // 16 * 16 + k_rest] or Most[vi] == A[vi, n // 16 * 16 + k_rest] and At[vi] < n // 16 * 16 + k_rest, At[vi], n // 16 * 16 + k_rest)
                    most: T.let[T.float32] = T.Select(Most[vi] > A[vi, n // 16 * 16 + k_rest] or Most[vi] == A[vi, n // 16 * 16 + k_rest] and At[vi] < n // 16 * 16 + k_rest, Most[vi], A[vi, n // 16 * 16 + k_rest])
                    At[vi] = at
                    Most[vi] = most

    @T.prim_func(s_tir=True)
    def by_value(A: T.Buffer((5, 77), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i in range(5):
            with T.sblock("Most"):
                vi = T.axis.spatial(5, i)
                At_lanes = T.sblock_alloc_buffer((16,), "int32")
                Most_lanes = T.sblock_alloc_buffer((16,))
                At[vi] = -1
                Most[vi] = T.float32(-3.402823466e38)
                for lane in T.vectorized(16):
                    At_lanes[lane] = -1
                    Most_lanes[lane] = T.float32(-3.402823466e38)
                for k_outer in range(4):
                    for lane in T.vectorized(16):
                        own: T.let[T.int32] = At_lanes[lane]
                        own_1: T.let[T.float32] = Most_lanes[lane]
                        new: T.let[T.int32] = k_outer * 16 + lane
                        new_1: T.let[T.float32] = A[vi, k_outer * 16 + lane]
                        At_lanes[lane] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                        Most_lanes[lane] = T.Select(own_1 > new_1, own_1, new_1)
                for lane in range(16):
                    own: T.let[T.int32] = At[vi]
                    own_1: T.let[T.float32] = Most[vi]
                    new: T.let[T.int32] = At_lanes[lane]
                    new_1: T.let[T.float32] = Most_lanes[lane]
                    At[vi] = T.Select(own_1 > new_1 or own_1 == new_1 and own < new, own, new)
                    Most[vi] = T.Select(own_1 > new_1, own_1, new_1)
                for k_rest in range(13):
                    at: T.let[T.int32] = T.Select(Most[vi] > A[vi, k_rest + 64] or Most[vi] == A[vi, k_rest + 64] and At[vi] < k_rest + 64, At[vi], k_rest + 64)
                    most: T.let[T.float32] = T.Select(Most[vi] > A[vi, k_rest + 64], Most[vi], A[vi, k_rest + 64])
                    At[vi] = at
                    Most[vi] = most

    @T.prim_func(s_tir=True)
    def other_way(A: T.Buffer((5, 64), "float32"), At: T.Buffer((5,), "int32"), Most: T.Buffer((5,), "float32")):
        T.func_attr({"target": T.target({"keys": [], "kind": "host-kind", "tag": ""}), "tirx.noalias": True})
        # with T.sblock("root"):
        for i, k in T.grid(5, 64):
            with T.sblock("Most"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    At[vi] = -1
                    Most[vi] = T.float32(-3.402823466e38)
                at: T.let[T.int32] = T.Select(Most[vi] > A[vi, vk] or Most[vi] == A[vi, vk] and At[vi] < vk, At[vi], vk)
                most: T.let[T.float32] = T.Select(Most[vi] < A[vi, vk], Most[vi], A[vi, vk])
                At[vi] = at
                Most[vi] = most
