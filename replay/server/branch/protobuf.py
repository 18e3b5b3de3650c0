"""stub"""
def decoded(body: bytes) -> object:
    raise ValueError("x")
