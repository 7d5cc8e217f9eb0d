"""Stage 4: what follows from a round?"""
