"""Stage 3: what does a transcript prove?"""
