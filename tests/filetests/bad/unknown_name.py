@T.prim_func(s_tir=True)
def f(Input: T.Buffer((8,), "float32"), Output: T.Buffer((8,), "float32")):
    for i in range(8):
        Output[i] = Imput[i] + exp(Input[j])
    for k in range(m):
        Output[k] = numpy.exp(1.0)
    scratch = T.alloc_bufer((8,))
    scratch[0] = Output[0]
