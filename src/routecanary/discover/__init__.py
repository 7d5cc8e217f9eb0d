"""Stage 1: who serves this model?"""
