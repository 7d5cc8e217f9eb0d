"""Stage 5: what must a caller avoid?"""
