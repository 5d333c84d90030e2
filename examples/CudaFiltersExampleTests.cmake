set(x)
