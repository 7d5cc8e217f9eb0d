"""Stage 2: what do we ask, and what came back?"""
