@T.prim_func(s_tir=True)
def f(Ä: T.Buffer((8,), "float32")):
	"""Tabs, and letters of more than one byte."""
	Ä[0] = Ä[0] + ünknown
	Ä[0] = T.Select(Ä[0] < 1.0, Ä[1] + Ä[2] + Ä[3] + Ä[4] + Ä[5] + Ä[6] + Ä[7], Ä[1] + Ä[2] + Ä[3] + Ä[4] + Ä[5] + Ä[6] + Ä[7] + far_away + Ä[1] + Ä[2] + Ä[3])
	Ä[0] = T.Select(
		Ä[0] < 1.0,
		nowhere,
		1.0)
