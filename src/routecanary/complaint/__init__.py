"""Which routes may have served what a user complains of?"""
